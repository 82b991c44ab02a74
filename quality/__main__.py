"""The command: `python -m quality`, from the root of the repository."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from quality import report, runner


def arguments(given: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m quality", description="Answers of lookalike on labelled data.")
    parser.add_argument(
        "data", type=Path, nargs="?", metavar="DATA", help="folder of data sets; without it nothing is scored"
    )
    parser.add_argument(
        "--eval", type=Path, metavar="DIR", help="folder of the metrics; `eval` beside the data by default"
    )
    parser.add_argument(
        "--rivals", type=Path, metavar="DIR", help="folder where other tools are installed; they join the same run"
    )
    parser.add_argument("--only", choices=runner.SETS, help="one set, and no page is written")
    parser.add_argument("--page", type=Path, default=report.FILE, metavar="FILE", help="where the page goes")
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    """Score the sets; 1 when something wanted was missed, 2 when there are no metrics, 0 otherwise."""
    options = arguments(given)
    if options.data is None:
        print("quality: skipped, no labelled data given; use make quality DATA=DIR")
        return 0
    metrics = options.eval or options.data.resolve().parent / "eval"
    outcomes = {}
    try:
        for name, outcome in runner.run(
            [options.only] if options.only else runner.SETS, options.data, metrics, options.rivals
        ):
            print(*report.lines(name, outcome), sep="\n", flush=True)
            outcomes[name] = outcome
    except FileNotFoundError as error:
        print(f"quality: {error}", file=sys.stderr)
        return 2
    if options.only:
        print("", report.section(options.only, outcomes[options.only]), sep="\n")
    else:
        options.page.write_text(report.page(outcomes), "utf-8")
        print(f"written: {options.page.name}")
    return int(any(figure.is_met is False for outcome in outcomes.values() for figure in outcome.figures))


if __name__ == "__main__":
    sys.exit(main())
