"""``lookalike dedup``: near-duplicates out of a corpus, and back in again."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import click

from lookalike import params
from lookalike.cli.shell import REFUSED, Command, given, option
from lookalike.errors import ParameterError


def dedup_options(command: Command) -> Command:
    """Add the options that decide who goes."""
    for parameter in reversed(params.DEDUPLICATION.values()):
        command = option(parameter)(command)
    return command


def _file(name: str, text: str, *more: str) -> Callable[[Command], Command]:
    # As it was typed: a path object would forget the slash of a folder, and one of those of an address.
    return click.option(name, *more, type=click.Path(), help=text)


@click.command()
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@_file("--out", "The corpus without near-duplicates: a file, or a folder for several inputs.", "-o")
@dedup_options
@click.option(
    "--against", multiple=True, help="A corpus to stay clear of: only what resembles a row of it goes. Repeatable."
)
@_file("--clusters", "Write all rows of clusters: id, cluster, representative, resemblance.")
@_file("--pairs", "Write every pair that was found: left, right, resemblance.")
@_file("--ledger", "Write what goes, row by row, with its survivor: --restore gives the input back.")
@_file("--restore", "Give back the input of this ledger from its clean output INPUT, to --out.")
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    help="Write an HTML report with a sampled exact audit to this folder.",
)
@click.option(
    "--dry-run", is_flag=True, help="Look at the beginning of the inputs; tell rows, memory and time to expect."
)
@click.option("--overwrite", is_flag=True, help="Replace outputs that exist.")
@click.option("--strict", is_flag=True, help="Exit with 3 when anything could not be read.")
@click.option("--json", "as_json", is_flag=True, help="Print the facts as one JSON document.")
def dedup(
    inputs: tuple[str, ...],
    out: str | None,
    against: tuple[str, ...],
    clusters: str | None,
    pairs: str | None,
    ledger: str | None,
    restore: str | None,
    report: Path | None,
    dry_run: bool,
    overwrite: bool,
    strict: bool,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Take near-duplicates out of a corpus: JSON Lines (.gz, .zst), Parquet, CSV, text folders, WARC, - for stdin.

    Every row that goes is verified against the one that stays; kept rows stay byte for byte what they were.

    \b
    Examples:
      lookalike dedup corpus.jsonl -o clean.jsonl
      lookalike dedup shards/*.parquet -o clean/ --threshold 0.85 --ledger gone.jsonl.zst
      lookalike dedup train.jsonl --against test.jsonl -o train.clean.jsonl --method containment
      lookalike dedup corpus.jsonl --dry-run
      lookalike dedup clean.jsonl --restore gone.jsonl.zst -o again.jsonl
    """
    from lookalike.deduplication.job import dedup as run
    from lookalike.deduplication.outputs import Outputs
    from lookalike.rendering.terminal import deduplication as printed
    from lookalike.rendering.terminal.progress import progress

    if threading.current_thread() is threading.main_thread():
        # Whatever was begun is removed on the way out.
        signal.signal(signal.SIGTERM, _interrupted)
    if not inputs:
        raise ParameterError("no input: give files, folders or addresses, or - for standard input")
    if restore is not None:
        return _restore(inputs, restore, out, overwrite, as_json)
    if dry_run:
        return _dry_run([*against, *inputs], chosen, as_json)
    asked = Outputs(out, clusters, pairs, ledger, overwrite)
    if not asked.any and report is None and not as_json:
        raise ParameterError(
            "nothing to write: give -o, --clusters, --pairs or --report, or --json or --dry-run to look"
        )
    with progress() as tell:
        files = {"out": out, "clusters": clusters, "pairs": pairs, "ledger": ledger, "report": report}
        others = given(against) or None
        answer = run(given(inputs), against=others, overwrite=overwrite, progress=tell, **files, **chosen)
    if as_json:
        click.echo(printed.as_json(answer))
    else:
        printed.print_facts(answer, asked, report)
    if strict and answer.problems:
        raise SystemExit(REFUSED)
    return None


def _restore(inputs: tuple[str, ...], ledger: str, out: str | None, overwrite: bool, as_json: bool) -> None:
    """Write the original input again from its clean output and its ledger."""
    from lookalike.corpora import restore
    from lookalike.rendering.terminal import deduplication as printed

    if len(inputs) != 1 or out is None:
        raise ParameterError("to restore, give the clean output as the one INPUT, and -o for what it was made of")
    done = restore(ledger, inputs[0], out, overwrite=overwrite)
    if as_json:
        click.echo(printed.restored_json(done))
    else:
        printed.print_restored(done, out)


def _dry_run(inputs: list[str], chosen: dict[str, Any], as_json: bool) -> None:
    """Print what a run would take."""
    from lookalike.deduplication.expecting import expect
    from lookalike.rendering.terminal import deduplication as printed

    started = time.process_time()
    expected = expect(inputs, chosen)
    if as_json:
        click.echo(json.dumps(expected.to_json(), indent=2))
    else:
        printed.print_expected(expected, time.process_time() - started)


def _interrupted(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
