"""``lookalike similarity``: resemblance and containment of two documents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from lookalike import params
from lookalike.cli.shell import Command, option
from lookalike.errors import ParameterError


def sketching_options(command: Command) -> Command:
    """Add the options that decide what a sketch is; without a name all of them are shown."""
    for name, parameter in reversed(params.SKETCHING.items()):
        command = option(replace(parameter, default=None) if name == "sketch" else parameter)(command)
    return command


@click.command()
@click.argument("left", metavar="A")
@click.argument("right", metavar="B")
@sketching_options
@option(params.HOMOGLYPHS)
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON document instead of a table.")
def similarity(left: str, right: str, sketch: str | None, as_json: bool, **chosen: Any) -> None:
    """Tell how much A and B resemble and contain each other, exactly and by every sketch with its interval.

    A and B are files of any format that `compare` reads, or - for standard input.

    \b
    Examples:
      lookalike similarity draft.txt final.pdf
      lookalike similarity a.txt b.txt --shingle 5 --labelled
      lookalike similarity chapter.txt book.txt --sketch modulo --modulus 64
      cat a.txt | lookalike similarity - b.txt --json
    """
    from lookalike import documents
    from lookalike.rendering.terminal import similarity as printed
    from lookalike.sketches import pair

    if left == right == "-":
        raise ParameterError("standard input can be read once: give a file for one of the two")
    a, b = (
        pair.read("standard input", documents.read_stdin()) if path == "-" else pair.read(path, documents.read(path))
        for path in (left, right)
    )
    found = pair.similarity(a, b, (sketch,) if sketch else params.SKETCHES, **chosen)
    if as_json:
        click.echo(printed.as_json(found))
    else:
        printed.print_table(found)
