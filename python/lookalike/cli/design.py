"""``lookalike design``: filters, sketch sizes and Hamming tables for a goal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lookalike import params
from lookalike.cli import options
from lookalike.cli.command import Command
from lookalike.cli.writing import check_json, write_json

if TYPE_CHECKING:
    from lookalike.designs.solve import Design

#: What a filter is designed for; a filter that is given has none of it.
GOAL = ("recall", "false_accept", "at", "bytes", "elements")
#: Options that ask for a sketch, and those that ask for tables of fingerprints.
SKETCHED, TABLED = ("error", "confidence"), ("distance", "fingerprints", "tables", "prefix")
#: Options that every design has.
OUTPUT = ("out", "overwrite", "as_json", "quiet")
#: The sketches whose curve is simulated.
USERS = {"trials": ("fast",), "seed": ("fast",)}
PARAMETERS = (
    params.THRESHOLD, params.RECALL, params.FALSE_ACCEPT, params.AT, params.BYTES, params.ELEMENTS, params.SKETCH,
    params.FILTER, params.DOCUMENTS, params.TRIALS, params.SEED, params.ERROR, params.CONFIDENCE, params.DISTANCE,
    params.FINGERPRINTS, params.TABLES, params.PREFIX,
)  # fmt: skip


@click.command(
    cls=Command,
    short_help="Choose a filter, a sketch size or Hamming tables.",
    groups={
        "Filter (the default)": [
            *("threshold", *GOAL, "sketch", "filter", "documents", "trials", "seed", "plot"),
        ],
        "Sketch size (if one of these is given)": SKETCHED,
        "Tables for fingerprints (if one of these is given)": TABLED,
        "Output": OUTPUT,
    },
)
@options.all_options(PARAMETERS)
@click.option("--plot", type=click.Path(path_type=Path), help="Also draw the curve to this .png or .svg file.")
@options.out("the design as JSON, a file that ends in .json. Default: tables on standard output")
@options.overwrite
@options.as_json
@options.quiet
@click.pass_context
def design(
    context: click.Context,
    /,
    out: str | None,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
    **chosen: Any,
) -> None:
    """Find the filter for a goal, with its curve and its cost.

    With --error or --confidence: the size of a sketch. With --distance, --fingerprints, --tables or --prefix: the
    tables that find all fingerprints within a Hamming distance.

    \b
    Examples:
      lookalike design --threshold 0.8 --recall 0.99
      lookalike design --threshold 0.9 --bytes 120 --plot curve.png
      lookalike design --filter 6,14,2
      lookalike design --error 0.05 --confidence 0.95
      lookalike design --distance 3 --fingerprints 8e9
      lookalike design --distance 3 --prefix 28
    """
    check_json(out, overwrite=overwrite)
    if tabled := _typed(context, TABLED):
        _refuse_others(context, tabled, (*TABLED, "bytes"))
        document = _tables(context, chosen, is_json=as_json or out is not None)
    elif sketched := _typed(context, SKETCHED):
        _refuse_others(context, sketched, (*SKETCHED, "documents"))
        document = _sketch(chosen, is_json=as_json or out is not None)
    else:
        document = _filter(context, chosen, overwrite=overwrite, is_json=as_json or out is not None, quiet=quiet)
    if document is not None:
        write_json([document], out, as_json=as_json, overwrite=overwrite, quiet=quiet)


def _typed(context: click.Context, names: tuple[str, ...]) -> str | None:
    """Return the first of some options that was given."""
    found = options.given(context, names)
    return next((f"--{name}" for name in names if name in found), None)


def _refuse_others(context: click.Context, asked: str, used: tuple[str, ...]) -> None:
    """Refuse the options that a design does not use."""
    others = {one.name or "" for one in context.command.params} - {*used, *OUTPUT}
    options.refuse_unused(context, others, f"with {asked}")


def _tables(context: click.Context, chosen: dict[str, Any], *, is_json: bool) -> str | None:
    """Return the tables for a Hamming distance as JSON, or print them."""
    from lookalike.designs.tables import design_tables
    from lookalike.rendering.terminal import table_designs

    tables = chosen["tables"] if options.given(context, {"tables"}) else None
    found = design_tables(
        chosen["distance"], chosen["fingerprints"], tables=tables, bytes=chosen["bytes"], prefix=chosen["prefix"]
    )
    if is_json:
        return table_designs.to_json(found)
    table_designs.show(found)
    return None


def _sketch(chosen: dict[str, Any], *, is_json: bool) -> str | None:
    """Return the size of a sketch as JSON, or print it."""
    from lookalike.designs import sketch_size
    from lookalike.rendering.terminal import designs as printed

    found = sketch_size.design_sketch(chosen["error"], chosen["confidence"], chosen["documents"])
    if is_json:
        return printed.sketch_json(found)
    printed.print_sketch(found)
    return None


def _filter(
    context: click.Context, chosen: dict[str, Any], *, overwrite: bool, is_json: bool, quiet: bool
) -> str | None:
    """Return a filter as JSON, or print it; draw its curve if that is asked for."""
    from lookalike.rendering.terminal import designs as printed

    options.refuse_unused_by(context, "sketch", USERS)
    plot, documents = chosen["plot"], chosen["documents"]
    if plot:
        printed.check_plot(plot, overwrite)
    found = _designed(context, chosen)
    trials = chosen["trials"] if options.given(context, {"trials"}) else None
    measured = printed.measure(found, trials, chosen["seed"], quiet=quiet)
    if plot:
        printed.save_plot(found, measured, plot)
    if is_json:
        return printed.design_json(found, measured, documents)
    printed.print_design(found, measured, documents)
    return None


def _designed(context: click.Context, chosen: dict[str, Any]) -> Design:
    """Solve for a filter, or take the one that was given."""
    from lookalike.designs import solve
    from lookalike.designs.filters import Filter

    if chosen["filter"] is None:
        goal = {name: chosen[name] for name in GOAL}
        return solve.design(sketch=chosen["sketch"], threshold=chosen["threshold"], **goal)
    options.refuse_unused(context, GOAL, "with --filter, which names the filter itself")
    threshold = chosen["threshold"] if options.given(context, {"threshold"}) else None
    return solve.look(Filter.parse(chosen["filter"]), threshold, chosen["sketch"])
