"""Tables for a Hamming distance at the command line: what each design costs, or everything as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from rich.console import Console
from rich.table import Table
from rich.text import Text as Line

from lookalike import _core
from lookalike.designs.tables import TableDesign, TableDesigns

HEADINGS = ("design", "tables", "prefix", "radius", "lookups", "rows seen", "B each", "memory", "µs")
UNITS = ("B", "KB", "MB", "GB", "TB", "PB", "EB")


def show(found: TableDesigns) -> None:
    """Print what was chosen, the table, and the notes."""
    console = Console(highlight=False)
    asked = f"{found.fingerprints:,} fingerprints within {found.distance} bits"
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


#: What the figures rest on.
MODEL = (
    "every design finds all of them; lookups are of at most as many bits as the directory of a table has",
    "µs by the cost model: {:g} ns a table, {:g} ns a lookup in memory that no cache holds, {:g} ns a candidate, "
    "uniform fingerprints".format(*_core.HAMMING_COST_NS),
    "memory is that of tables and directories without ids; B each are the bytes of one fingerprint",
    "all probed, all stored (§3): one sorted table, probed with every pattern or holding every neighbour",
)


def title(one: TableDesign) -> str:
    """Say what a design is."""
    if one.name == "scan":
        return "scan them, since no table pays"
    count = "1 table" if len(one.tables) == 1 else f"{len(one.tables)} tables"
    return f"{count}, {one.prefixes} bits at the top, {one.radii} of which may differ"


def rows(found: TableDesigns) -> Iterator[TableDesign]:
    """Yield the designs: the simple ones, the best of each size, the paper's."""
    yield from found.baselines
    seen = set()
    for one in (*found.frontier, *found.paper):
        if one.tables not in seen:
            yield one
        seen.add(one.tables)


def cells(one: TableDesign, found: TableDesigns) -> tuple[str, ...]:
    """Return what a row of the table says; the chosen design is marked."""
    mark = " ←" if one.tables == found.chosen.tables and one.nanoseconds is not None else ""
    each = short(one.bytes / found.fingerprints) if found.fingerprints else "–"
    time = "–" if one.nanoseconds is None else short(one.nanoseconds / 1000)
    cost = (short(one.lookups), short(one.candidates), each, size(one.bytes), time)
    return (one.name + mark, str(len(one.tables)), one.prefixes, one.radii, *cost)


def short(value: float) -> str:
    """Print three digits, or a whole number below a million."""
    return f"{value:,.0f}" if value == int(value) < 1e6 or 100 <= value < 1e6 else f"{value:.3g}"


def size(count: float) -> str:
    """Print bytes in a unit that fits."""
    unit = 0
    while count >= 1000 and unit + 1 < len(UNITS):
        count, unit = count / 1000, unit + 1
    return f"{count:.3g} {UNITS[unit]}"


def to_json(found: TableDesigns) -> str:
    """Return everything as one JSON document."""
    return json.dumps(asdict(found), indent=1, ensure_ascii=False) + "\n"
