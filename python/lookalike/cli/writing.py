"""Results of a command as a JSON file that appears whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable

import click

from lookalike.errors import ParameterError
from lookalike.rendering.safe import visible


def check_json(out: str | None, *, overwrite: bool) -> None:
    """Refuse a file before any work is done. Errors: ``ParameterError``, ``FileExistsError``, ``OSError``."""
    from lookalike.corpora import Staging

    if out is None:
        return
    if not out.lower().endswith(".json"):
        raise ParameterError(f"out `{out}` has no known format: use a name that ends in .json")
    with Staging(overwrite=overwrite) as staging:
        staging.check(out)


def write_json(pieces: Iterable[str], out: str | None, *, as_json: bool, overwrite: bool, quiet: bool) -> None:
    """Write a JSON document to a file, or to stdout without one; with ``as_json`` to both. Errors: ``OSError``."""
    from lookalike.corpora import Staging

    if out is None or as_json:
        pieces = list(pieces) if out is not None else pieces
        for piece in pieces:
            click.echo(piece, nl=False)
    if out is None:
        return
    with Staging(overwrite=overwrite) as staging:
        with open(staging.file(out), "w", encoding="utf-8") as file:
            file.writelines(pieces)
        staging.commit()
    note(f"written: {out}", quiet=quiet)


def note(text: str, *, quiet: bool) -> None:
    """Print a line on stderr that a user may not want to see."""
    if not quiet:
        click.echo(visible(text), err=True)
