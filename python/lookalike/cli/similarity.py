"""``lookalike similarity``: resemblance and containment of two documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from lookalike import params
from lookalike.cli import options
from lookalike.cli.command import Command
from lookalike.cli.writing import check_json, write_json
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    from lookalike.sketches.pair import Side

#: Without --sketch every kind is shown.
SKETCHING = [replace(one, default=None) if one.name == "sketch" else one for one in params.SKETCHING.values()]
#: The kinds of sketches that use an option.
USERS = {
    "size": ("fast", "permutations", "smallest", "smallest-modulo"),
    "modulus": ("modulo", "smallest-modulo"),
}


@click.command(
    cls=Command,
    short_help="Measure how similar two documents are.",
    groups={
        "Shingles": ["unit", "shingle", "labelled", "homoglyphs"],
        "Sketches": ["sketch", "size", "modulus", "bits", "confidence"],
        "Output": ["out", "overwrite", "as_json", "quiet"],
    },
)
@click.argument("left", metavar="A", type=click.Path())
@click.argument("right", metavar="B", type=click.Path())
@options.all_options([*SKETCHING, params.HOMOGLYPHS])
@options.out("the result as JSON, a file that ends in .json. Default: two tables on standard output")
@options.overwrite
@options.as_json
@options.quiet
@click.pass_context
def similarity(
    context: click.Context,
    /,
    left: str,
    right: str,
    sketch: str | None,
    out: str | None,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
    **chosen: Any,
) -> None:
    """Measure how much A and B resemble each other, and how much of each is contained in the other.

    The tables show the exact values, and the estimate of every kind of sketch with its interval. A and B are files of
    any format that `compare` reads, or - for standard input.

    \b
    Examples:
      lookalike similarity draft.txt final.pdf
      lookalike similarity a.txt b.txt --shingle 5 --labelled
      lookalike similarity chapter.txt book.txt --sketch modulo --modulus 64
      cat a.txt | lookalike similarity - b.txt --json
    """
    from lookalike.rendering.terminal import similarity as printed
    from lookalike.rendering.terminal.progress import SLOW_SECONDS, waiting
    from lookalike.sketches import pair

    if sketch is not None:
        options.refuse_unused_by(context, "sketch", USERS)
    if left == right == "-":
        raise ParameterError("only one of A and B can be standard input: give a file for the other")
    check_json(out, overwrite=overwrite)
    with waiting("comparing", quiet=quiet, after=SLOW_SECONDS):
        confidence, kinds = chosen.pop("confidence"), (sketch,) if sketch else params.SKETCHES
        found = pair.compared(_read(left), _read(right), kinds, params.sketching(**chosen), confidence)
    if as_json or out is not None:
        write_json([printed.as_json(found), "\n"], out, as_json=as_json, overwrite=overwrite, quiet=quiet)
    else:
        printed.print_table(found, quiet=quiet)


def _read(path: str) -> Side:
    from lookalike import documents
    from lookalike.sketches import pair

    if path == "-":
        return pair.read("standard input", documents.read_stdin())
    return pair.read(path, documents.read(path))
