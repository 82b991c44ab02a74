"""``lookalike fingerprint``: which fingerprints the engine selects from a document."""

from __future__ import annotations

from typing import Any

import click

from lookalike import params
from lookalike.cli.shell import Command, option
from lookalike.errors import FrontendError


def selection_options(command: Command) -> Command:
    """Add the options that decide which fingerprints a text has."""
    chosen = (params.K, params.T, params.SCHEME, params.UNIT, params.HOMOGLYPHS, params.MODULUS, params.COUNT)
    for parameter in reversed(chosen):
        command = option(parameter)(command)
    return command


@click.command()
@click.argument("path")
@selection_options
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON document instead of a table.")
@click.option("-n", "--top", "rows", type=click.IntRange(min=0), default=20, show_default=True, help="Rows; 0 for all.")
def fingerprint(path: str, as_json: bool, rows: int, **chosen: Any) -> None:
    """Show what the engine selects from PATH (- for standard input).

    \b
    Examples:
      lookalike fingerprint essay.txt
      lookalike fingerprint essay.txt --unit word -k 5 -t 12
      cat essay.txt | lookalike fingerprint - --scheme compact --json
    """
    from lookalike import documents, fingerprints
    from lookalike.rendering.terminal import fingerprints as printed

    data = documents.read_stdin() if path == "-" else documents.read(path)
    try:
        found = fingerprints.fingerprint(data, **chosen)
    except FrontendError as error:
        raise FrontendError(f"`{path}`: {error}") from None
    if as_json:
        for piece in printed.fingerprints_json(found, path):
            click.echo(piece, nl=False)
    else:
        printed.fingerprints_table(found, path, rows)
