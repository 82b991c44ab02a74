"""``lookalike design``: filters, sketch sizes and Hamming tables for a goal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lookalike import params
from lookalike.cli.shell import Command, option
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    from lookalike.designs.solve import Design


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _designed(chosen: dict[str, Any], given: set[str]) -> Design:
    """Solve for a filter, or take the one that was given."""
    from lookalike.designs import solve
    from lookalike.designs.filters import Filter

    goal = ("recall", "false_accept", "at", "bytes", "elements")
    if chosen["filter"] is None:
        return solve.design(sketch=chosen["sketch"], threshold=chosen["threshold"], **{n: chosen[n] for n in goal})
    if others := [name for name in goal if name in given]:
        raise ParameterError(f"{_flag(others[0])} is part of a goal and --filter names a filter: ask for one")
    threshold = chosen["threshold"] if "threshold" in given else None
    return solve.look(Filter.parse(chosen["filter"]), threshold, chosen["sketch"])


#: Options that ask for tables of fingerprints.
TABLED = {"distance", "fingerprints", "tables"}


def _design_tables(chosen: dict[str, Any], given: set[str], as_json: bool) -> None:
    """Print the tables for a Hamming distance."""
    from lookalike.designs.tables import design_tables
    from lookalike.rendering.terminal import table_designs

    if others := sorted(given - TABLED - {"bytes"}):
        raise ParameterError(f"{_flag(others[0])} belongs to a filter or a sketch, --distance to tables: ask for one")
    tables = chosen["tables"] if "tables" in given else None
    found = design_tables(chosen["distance"], chosen["fingerprints"], tables=tables, bytes=chosen["bytes"])
    click.echo(table_designs.to_json(found), nl=False) if as_json else table_designs.show(found)


def design_options(command: Command) -> Command:
    """Add the options that say what a filter or a sketch is designed for."""
    chosen = (
        params.THRESHOLD, params.RECALL, params.FALSE_ACCEPT, params.AT, params.BYTES, params.ELEMENTS, params.SKETCH,
        params.FILTER, params.ERROR, params.CONFIDENCE, params.DOCUMENTS, params.TRIALS, params.SEED, params.DISTANCE,
        params.FINGERPRINTS, params.TABLES,
    )  # fmt: skip
    for parameter in reversed(chosen):
        command = option(parameter, **({"type": click.IntRange(min=1)} if parameter is params.DOCUMENTS else {}))(
            command
        )
    return command


@click.command()
@design_options
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the curve into this .png or .svg too.")
@click.option("--overwrite", is_flag=True, help="Replace the file that --plot names.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON document instead of a table.")
@click.pass_context
def design(
    context: click.Context, /, documents: int, plot: Path | None, overwrite: bool, as_json: bool, **chosen: Any
) -> None:
    """Find the filter for a goal, with its curve and its cost; with --error or --confidence, the size of a sketch.

    With --distance or --fingerprints, the tables in which all fingerprints within a Hamming distance are found.

    \b
    Examples:
      lookalike design --threshold 0.8 --recall 0.99
      lookalike design --threshold 0.9 --bytes 120 --documents 200000000 --plot curve.png
      lookalike design --filter 6,14,2
      lookalike design --error 0.05 --confidence 0.95 --documents 30000000
      lookalike design --distance 3 --fingerprints 8e9
    """
    from lookalike.designs import sketch_size
    from lookalike.rendering.terminal import designs as printed

    given = {name for name in chosen if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE}
    if given & TABLED:
        _design_tables(chosen, given, as_json)
        return
    if given & {"error", "confidence"}:
        if others := sorted(given - {"error", "confidence"}) + ["plot"] * bool(plot):
            raise ParameterError(
                f"{_flag(others[0])} belongs to a filter, --error and --confidence to a sketch: ask for one"
            )
        sketch = sketch_size.design_sketch(chosen["error"], chosen["confidence"], documents)
        click.echo(printed.sketch_json(sketch), nl=False) if as_json else printed.print_sketch(sketch)
        return
    if plot:
        printed.check_plot(plot, overwrite)
    found = _designed(chosen, given)
    measured = printed.measure(found, chosen["trials"], chosen["seed"])
    if plot:
        printed.save_plot(found, measured, plot)
    if as_json:
        click.echo(printed.design_json(found, measured, documents), nl=False)
    else:
        printed.print_design(found, measured, documents)
