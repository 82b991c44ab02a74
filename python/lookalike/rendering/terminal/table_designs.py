"""Prints the tables for a Hamming distance: the cost of each design; or everything as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from rich.console import Console
from rich.table import Table
from rich.text import Text as Line

from lookalike import _core
from lookalike._types import counted
from lookalike.designs.tables import TableDesign, TableDesigns
from lookalike.rendering.wording import in_bytes

HEADINGS = ("design", "tables", "prefix", "radius", "lookups", "rows seen", "B each", "memory", "µs")


def show(found: TableDesigns) -> None:
    """Print the chosen design, the table of designs, and notes."""
    console = Console(highlight=False)
    asked = f"{counted(found.fingerprints, 'fingerprint')} within {counted(found.distance, 'bit')}"
    console.print(Line(f"{asked}: {title(found.chosen)}", style="bold"), soft_wrap=True)
    table = Table(*HEADINGS, box=None, header_style="bold", padding=(0, 1, 0, 0))
    for column in table.columns:
        column.no_wrap = True
    for column in table.columns[1:]:
        column.justify = "right"
    for one in rows(found):
        table.add_row(*cells(one, found))
    console.print(table)
    for note in (*MODEL, *(f"note: {note}" for note in found.notes)):
        console.print(Line(note), soft_wrap=True)


#: How the figures are computed.
MODEL = (
    "every design finds all pairs; a lookup uses at most as many bits as the directory of a table has",
    "µs by the cost model for uniform fingerprints: {:g} ns per table, {:g} ns per lookup in uncached memory, "
    "{:g} ns per candidate".format(*_core.HAMMING_COST_NS),
    "memory: tables and directories, without ids; B each: bytes per fingerprint",
    "all probed, all stored (§3): one sorted table that is probed with every pattern, or that stores every neighbour",
)


def title(one: TableDesign) -> str:
    """Return a design in words."""
    if one.name == "scan":
        return "scan them; a table would not be faster"
    return f"{counted(len(one.tables), 'table')}, prefixes of {one.prefixes} bits, of which {one.radii} may differ"


def rows(found: TableDesigns) -> Iterator[TableDesign]:
    """Yield the designs: the simple ones, the best of each size, those of the paper."""
    yield from found.baselines
    seen = set()
    for one in (*found.frontier, *found.paper):
        if one.tables not in seen:
            yield one
        seen.add(one.tables)


def cells(one: TableDesign, found: TableDesigns) -> tuple[str, ...]:
    """Return the cells of a row; the chosen design is marked."""
    mark = " ←" if one.tables == found.chosen.tables and one.nanoseconds is not None else ""
    each = short(one.bytes / found.fingerprints) if found.fingerprints else "–"
    time = "–" if one.nanoseconds is None else short(one.nanoseconds / 1000)
    cost = (short(one.lookups), short(one.candidates), each, in_bytes(one.bytes), time)
    return (one.name + mark, str(len(one.tables)), one.prefixes, one.radii, *cost)


def short(value: float) -> str:
    """Return three digits, or a whole number below a million."""
    return f"{value:,.0f}" if value == int(value) < 1e6 or 100 <= value < 1e6 else f"{value:.3g}"


def to_json(found: TableDesigns) -> str:
    """Return everything as one JSON document."""
    return json.dumps(asdict(found), indent=1, ensure_ascii=False) + "\n"
