"""The command: `python -m bench`, from the root of the repository."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench import definition, measure, report, runner
from bench.definition import Definition
from bench.works import Run

FULL_MINUTES, RIVAL_MINUTES = 6, 12
#: Above this load before the run begins, somebody else is at work.
QUIET = 0.5


def arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Speeds of lookalike, with expected answers.")
    parser.add_argument(
        "--rivals", type=Path, metavar="DIR", help="folder with the scripts of other tools; adds about 12 minutes"
    )
    parser.add_argument(
        "--only", metavar="NAME", help="rows whose name contains this, and those they are measured against"
    )
    parser.add_argument("--quick", action="store_true", help="small texts, once: are the answers right?")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything for programs")
    parser.add_argument("--record", action="store_true", help="write bench/record/DATE-MACHINE.csv")
    parser.add_argument(
        "--definitions", type=Path, default=definition.FOLDER, metavar="DIR", help="another folder of rows"
    )
    parser.add_argument("--bless", action="store_true", help="write the answers found into the definitions")
    return parser.parse_args(given)


def chosen(options: argparse.Namespace) -> list[Definition]:
    rows = definition.load(options.definitions)
    names = [name for name in rows if not options.only or options.only in name]
    if not names:
        print(f"no row has `{options.only}` in its name: use a part of one of {', '.join(rows)}", file=sys.stderr)
        sys.exit(2)
    return definition.with_references(names, rows)


def introduce(rows: list[Definition], options: argparse.Namespace) -> None:
    minutes = FULL_MINUTES + (RIVAL_MINUTES if options.rivals else 0)
    length = "some seconds" if options.quick or options.only else f"about {minutes} minutes"
    load = measure.load_average()
    noise = "others are at work, so figures may be low" if load > QUIET else "quiet"
    print(f"lookalike bench: {len(rows)} rows, {length}; {measure.machine()}; load average {load:.2f}: {noise}")
    print("CPU time on one core, best of the repetitions; MB are 10^6 raw bytes; ~ marks rows whose core was shared")
    print("rows that miss what is wanted come again at the end, with what they are measured against")
    if options.rivals:
        print(
            "rivals hash all characters as they are; ours normalises the text first; MB/s are of the raw text for both"
        )
        print(
            "of near-duplicates rivals tell what collides; ours verifies every pair, and writes the corpus without them"
        )
        print("whole jobs are not equal ones: dolos writes no report, and copydetect is timed without its start-up")
    print(report.HEADER, flush=True)


def main(given: list[str] | None = None) -> int:
    """Run the rows; 1 when an answer is wrong, 0 otherwise."""
    options = arguments(given)
    definitions = chosen(options)
    introduce(definitions, options)
    run = Run(options.quick, options.rivals and options.rivals.resolve(), bool(options.only))
    done: dict[str, runner.Row] = {}
    for row in runner.run_rows(definitions, run):
        if options.bless:
            bless(row, run)
        print(*report.lines(row), sep="\n", flush=True)
        done[row.name] = row
    rows = list(done.values())
    print(report.summary(rows))
    print(f"load average at the end {measure.load_average():.2f}")
    write(rows, options)
    return int(any(row.answer == "wrong" for row in rows))


def bless(row: runner.Row, run: Run) -> None:
    """Take the answer found for the right one, unless it is known to be at fault."""
    if row.outcome and row.outcome.answer and not row.outcome.fault:
        definition.bless(row.definition, run.size, row.outcome.answer)
        row.answer, row.note = "blessed", ""


def write(rows: list[runner.Row], options: argparse.Namespace) -> None:
    if options.json:
        report.write_json(rows, options.json)
    if options.record:
        print(f"written: {report.write_record(rows).name}")


if __name__ == "__main__":
    sys.exit(main())
