"""``lookalike simhash``: the fingerprints of a corpus, as a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from lookalike import params
from lookalike.cli.shell import REFUSED, Command, given, option
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    from lookalike.simhashes.corpus import SimhashReport

#: Options that are those of a deduplication.
SHARED = ("text_column", "id_column", "format", "threads", "max_errors")
#: Problems shown at the terminal.
SHOWN_PROBLEMS = 5
_STATES = {
    "without_features": "without a feature",
    "missing": "without a text",
    "bad": "unreadable",
    "blank": "blank lines",
}


def simhash_options(command: Command) -> Command:
    """Add the options that decide what a fingerprint is, and what is read."""
    shared = [params.DEDUPLICATION[name] for name in SHARED]
    for parameter in reversed([*params.SIMHASHING.values(), *shared]):
        command = option(parameter)(command)
    return command


@click.command()
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@click.option("-o", "--out", type=click.Path(), help="The file of fingerprints: .parquet or .csv.")
@simhash_options
@click.option("--overwrite", is_flag=True, help="Replace an output that exists.")
@click.option("--strict", is_flag=True, help="Exit with 3 when anything could not be read.")
@click.option("--json", "as_json", is_flag=True, help="Print the facts as one JSON document.")
def simhash(
    inputs: tuple[str, ...], out: str | None, overwrite: bool, strict: bool, as_json: bool, **chosen: Any
) -> None:
    """Fingerprint every document of a corpus: JSON Lines (.gz, .zst), Parquet, CSV, text folders, WARC, - for stdin.

    The output has an id, a 64-bit fingerprint and a length a row. Near-duplicates differ in few bits of 64; a row
    without features has no fingerprint.

    \b
    Examples:
      lookalike simhash corpus.jsonl -o prints.parquet
      lookalike simhash shards/*.parquet -o prints.csv --text-column body
      zcat pages.jsonl.gz | lookalike simhash - -o prints.parquet
    """
    from lookalike.rendering.terminal.progress import progress
    from lookalike.simhashes.corpus import simhash_corpus

    if not inputs:
        raise ParameterError("no input: give files, folders or addresses, or - for standard input")
    if out is None:
        raise ParameterError("nothing to write: give -o with a file that ends in .parquet or .csv")
    with progress() as tell:
        report = simhash_corpus(given(inputs), out, overwrite=overwrite, progress=tell, **chosen)
    if as_json:
        click.echo(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
    else:
        for line in _facts(report):
            click.echo(line)
    if strict and report.problems:
        raise SystemExit(REFUSED)


def _facts(report: SimhashReport) -> Iterator[str]:
    """Say what was fingerprinted, what was not, and where the fingerprints are."""
    from lookalike.rendering.safe import visible

    made = report.states["fingerprinted"]
    yield f"{report.rows:,} rows read, {made:,} have a fingerprint"
    without = [f"{report.states[name]:,} {text}" for name, text in _STATES.items() if report.states[name]]
    if without:
        yield "  without one: " + ", ".join(without)
    if made:
        yield f"  {report.distinct:,} distinct fingerprints, the most common is that of {report.largest:,} rows"
    for problem in report.problems[:SHOWN_PROBLEMS]:
        place = f", {problem.place}" if problem.place else ""
        yield visible(f"not read: {problem.source}{place}: {problem.reason}")
    if len(report.problems) > SHOWN_PROBLEMS:
        yield f"  and {len(report.problems) - SHOWN_PROBLEMS:,} more; --json lists them"
    yield visible(f"fingerprints: {report.out}")
