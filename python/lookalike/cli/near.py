"""``lookalike near``: all fingerprints within a Hamming distance."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from lookalike import params
from lookalike._types import counted
from lookalike.cli import cluster, options
from lookalike.cli.command import Command
from lookalike.cli.shell import REFUSED
from lookalike.cli.writing import note
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    from lookalike._types import Problem
    from lookalike.neighbours.files import NearReport

#: Problems shown at the terminal.
SHOWN_PROBLEMS = 5
#: Options that only name columns of a file.
COLUMNS = ("id_column", "fingerprint_column")
#: Options that need further columns of a file.
LIMITS = ("length_within", "same_language")


@click.command(
    cls=Command,
    short_help="Find all fingerprints within a few bits.",
    groups={
        "Search": ["query", "given", "distance", *LIMITS],
        "Input": [*COLUMNS, "strict"],
        "Output": ["out", "overwrite", "as_json", "quiet"],
        "Saved table": ["save", "insert", "remove"],
        "Run": ["threads", *cluster.NAMES],
    },
)
@click.argument("file", type=click.Path())
@click.option("--query", type=click.Path(), help="File of fingerprints to look for. Default: those of FILE itself.")
@click.option("--fingerprint", "given", multiple=True, help="Fingerprint to look for, such as 0x1f. Repeatable.")
@click.option("--save", type=click.Path(file_okay=False), help="Save FILE as a table in this new folder.")
@click.option("--insert", type=click.Path(), help="Insert the rows of this file into the saved table FILE.")
@click.option("--remove", type=click.Path(), help="Remove the rows of this file from it, before any are inserted.")
@options.all_options(params.NEAR.values())
@options.out("the pairs: a file that ends in .csv, .csv.gz or .parquet. Default: CSV on standard output")
@options.overwrite
@options.strict
@options.as_json
@options.quiet
@options.option(params.DEDUPLICATION["threads"])
@options.all_options(params.CLUSTER.values())
@click.pass_context
def near(
    context: click.Context,
    /,
    file: str,
    query: str | None,
    given: tuple[str, ...],
    save: str | None,
    insert: str | None,
    remove: str | None,
    out: str | None,
    overwrite: bool,
    strict: bool,
    as_json: bool,
    quiet: bool,
    threads: int,
    **chosen: Any,
) -> None:
    """Find all pairs of fingerprints within a Hamming distance.

    FILE has one column with ids and one with 64-bit fingerprints (Parquet, CSV, JSON Lines, compressed or not), or is
    the folder of a saved table. Without a query, all pairs of FILE are found, each once. Queries are held in memory;
    FILE is streamed. Ids may be any strings, such as addresses of pages.

    \b
    Examples:
      lookalike near prints.parquet --query today.parquet --distance 3
      lookalike near prints.csv.gz --fingerprint 0x5ed8b3a1f0c24d77
      lookalike near prints.csv -o pairs.csv
      lookalike near prints.csv --length-within 0.2 --same-language
      lookalike near prints.csv --save seen
      lookalike near seen --query today.csv
      lookalike near seen --insert today.csv --remove gone.csv
      lookalike near prints/ -o pairs/ --engine spark --master spark://host:7077
    """
    from lookalike.neighbours import output
    from lookalike.neighbours.files import near as find
    from lookalike.rendering.terminal.progress import progress

    if cluster.is_asked(context, chosen):
        return cluster.near(context)
    options.use_threads(threads)
    if save is not None or insert is not None or remove is not None:
        changes: dict[str, Any] = {"save": save, "insert": insert, "remove": remove}
        _refuse_beside_changes(context, file, save)
        return _change(file, changes, chosen, strict=strict, as_json=as_json, quiet=quiet)
    if query is not None and given:
        raise ParameterError("--query and --fingerprint cannot be combined: give one of them")
    if query is None and os.path.isdir(file):
        options.refuse_unused(context, COLUMNS, "on a saved table")
    with progress(counts_bytes=False, quiet=quiet) as tell:
        report = find(file, _parsed(given) or query, out=out, overwrite=overwrite, progress=tell, **chosen)
    if as_json:
        click.echo(json.dumps(report.to_json(), ensure_ascii=False, indent=1))
    elif out is None:
        output.write_csv(sys.stdout, report)
    _tell(report, out, quiet=quiet)
    if strict and report.left_out:
        raise SystemExit(REFUSED)
    return None


def _refuse_beside_changes(context: click.Context, file: str, save: str | None) -> None:
    """Errors: ``ParameterError`` for options that have no effect when a table is saved or changed."""
    unused = {"query", "given", "out", "overwrite"}
    if save is not None:
        options.refuse_unused(context, {"insert", "remove"}, "with --save", "change the saved folder afterwards")
        options.refuse_unused(context, unused, "with --save", "search the saved folder")
        return
    options.refuse_unused(context, unused | {"distance"}, "with --insert and --remove", "search the table afterwards")
    if not os.path.isdir(file):
        raise ParameterError(f"`{file}` is no saved table: save one with --save FOLDER, then change that folder")


def _change(
    file: str, changes: dict[str, Any], chosen: dict[str, Any], *, strict: bool, as_json: bool, quiet: bool
) -> None:
    """Save a file as a table, or change a saved one."""
    from lookalike.neighbours.files import near as find
    from lookalike.rendering.terminal.progress import waiting

    with waiting("saving the table", quiet=quiet):
        report = find(file, **changes, **chosen)
    if as_json:
        shown = {name: report.to_json()[name] for name in ("inserted", "removed", "left_out", "problems")}
        click.echo(json.dumps({"rows": report.fingerprints, **shown}, ensure_ascii=False, indent=1))
    told = f"{counted(report.fingerprints, 'fingerprint')} in {changes['save'] or file}"
    if changes["save"] is None:
        told += f"; {report.inserted:,} inserted, {report.removed:,} removed"
    note(told, quiet=quiet)
    _tell_problems(report.problems, report.left_out, quiet=quiet)
    if strict and report.left_out:
        raise SystemExit(REFUSED)


def _parsed(given: Iterable[str]) -> list[int]:
    from lookalike.neighbours.files import parse

    found = []
    for text in given:
        value = parse(text)
        if value is None:
            raise ParameterError(
                f"fingerprint `{text}` is not a 64-bit number: use 0 to 2^64 − 1, or 0x and hexadecimal digits"
            )
        found.append(value)
    return found


def _tell(report: NearReport, out: str | None, *, quiet: bool) -> None:
    """Print on stderr how many pairs there are, and what could not be read."""
    where = "" if out is None else f" in {out}"
    found = f"{counted(len(report.left), 'pair')} within {counted(report.distance, 'bit')}{where}"
    searched = f"{counted(report.queries, 'query', 'queries')}, {counted(report.fingerprints, 'fingerprint')}"
    note(f"{found}; {searched}", quiet=quiet)
    _tell_problems(report.problems, report.left_out, quiet=quiet)


def _tell_problems(problems: list[Problem], left_out: int, *, quiet: bool) -> None:
    for problem in problems[:SHOWN_PROBLEMS]:
        note(f"left out: {problem.source}, {problem.place}: {problem.reason}", quiet=quiet)
    if left_out > SHOWN_PROBLEMS:
        note(f"left out: {counted(left_out, 'row')} in all", quiet=quiet)
