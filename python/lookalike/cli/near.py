"""``lookalike near``: all fingerprints within a Hamming distance."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from lookalike import params
from lookalike.cli.shell import REFUSED, Command, option
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    from lookalike._types import Problem
    from lookalike.neighbours.files import NearReport

#: Problems shown at the terminal.
SHOWN_PROBLEMS = 5


def near_options(command: Command) -> Command:
    """Add the options that say what is near, and where it stands."""
    for parameter in reversed(params.NEAR.values()):
        command = option(parameter)(command)
    return command


@click.command()
@click.argument("file", type=click.Path())
@click.option("--query", type=click.Path(), help="A file of fingerprints to look for; by default those of FILE itself.")
@click.option("--fingerprint", "given", multiple=True, help="A fingerprint to look for, such as 0x1f. Repeatable.")
@click.option(
    "--save", "folder", type=click.Path(), help="Keep FILE, whose ids are whole numbers, as a table in this new folder."
)
@near_options
@click.option("-o", "--out", type=click.Path(), help="Write the pairs to this .csv or .parquet.")
@click.option("--overwrite", is_flag=True, help="Replace an output that exists.")
@click.option("--strict", is_flag=True, help="Exit with 3 when anything could not be read.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON document.")
def near(
    file: str,
    query: str | None,
    given: tuple[str, ...],
    folder: str | None,
    out: str | None,
    overwrite: bool,
    strict: bool,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Find all fingerprints within a Hamming distance; without a query, all pairs of FILE, each once.

    FILE has a column of ids and one of 64-bit fingerprints (Parquet, CSV, JSON Lines), or is the folder of a saved
    table. Queries are held in memory, FILE is streamed past them.

    \b
    Examples:
      lookalike near prints.parquet --query today.parquet --distance 3
      lookalike near prints.csv --fingerprint 0x5ed8b3a1f0c24d77
      lookalike near prints.csv -o pairs.csv
      lookalike near prints.csv --save seen && lookalike near seen --query today.csv
    """
    from lookalike.neighbours import output
    from lookalike.neighbours.files import near as find
    from lookalike.neighbours.files import save
    from lookalike.rendering.terminal.progress import progress

    if folder is not None:
        if query is not None or given or out is not None:
            raise ParameterError("--save makes a table and asks it nothing: ask the folder afterwards")
        kept = save(file, folder, **chosen)
        click.echo(f"{kept.rows:,} fingerprints in {folder}", err=True)
        _tell_problems(kept.problems, kept.left_out)
        raise SystemExit(REFUSED if strict and kept.left_out else 0)
    if query is not None and given:
        raise ParameterError("--query and --fingerprint both say what to look for: give one of them")
    with progress(counts_bytes=False) as tell:
        report = find(file, _parsed(given) or query, out=out, overwrite=overwrite, progress=tell, **chosen)
    if as_json:
        click.echo(json.dumps(asdict(report), ensure_ascii=False, indent=1))
    elif out is None:
        output.write_csv(sys.stdout, report)
    _tell(report, out)
    if strict and report.left_out:
        raise SystemExit(REFUSED)


def _parsed(given: Iterable[str]) -> list[int]:
    from lookalike.neighbours.files import parse

    found = []
    for text in given:
        value = parse(text)
        if value is None:
            raise ParameterError(f"fingerprint `{text}` is not one: use 0 to 2^64 − 1, or 0x and hexadecimal digits")
        found.append(value)
    return found


def _tell(report: NearReport, out: str | None) -> None:
    """Say on stderr what was compared, and what could not be read."""
    where = "" if out is None else f" in {out}"
    click.echo(
        f"{len(report.left):,} pairs within {report.distance} bits{where}; {report.queries:,} queries, "
        f"{report.fingerprints:,} fingerprints",
        err=True,
    )
    _tell_problems(report.problems, report.left_out)


def _tell_problems(problems: list[Problem], left_out: int) -> None:
    for problem in problems[:SHOWN_PROBLEMS]:
        click.echo(f"left out: {problem.source}, {problem.place}: {problem.reason}", err=True)
    if left_out > SHOWN_PROBLEMS:
        click.echo(f"left out: {left_out:,} rows in all", err=True)
