"""The tables for a Hamming distance: which to keep for so many fingerprints, and what they cost (Manku 2007, §3).

The core solves (`crates/core/src/hamming/solve.rs` says over which designs, `design.rs` by which cost model); here its
answers get names, and the two simple approaches of §3 stand beside them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from lookalike import _core, params
from lookalike._types import counted
from lookalike.errors import ParameterError

#: Bits of a fingerprint, and bytes.
BITS, ROW_BYTES = 64, 8
#: Numbers of tables of which the paper speaks, for distance 3.
PAPER_TABLES = (4, 10, 16, 20)
#: Fingerprints that a design can be asked for: more than there are pages.
MAX_FINGERPRINTS = 1 << 48


@dataclass(frozen=True)
class TableDesign:
    """Tables that find everything within a distance, and what they cost for a number of fingerprints."""

    #: How it came about: ``compact``, ``fast``, ``paper``, ``scan``, ``solved`` or the name of a baseline.
    name: str
    #: Bits of the prefix and differences that are allowed in it, table by table.
    tables: tuple[tuple[int, int], ...]
    #: Prefixes that a query looks up in all tables.
    lookups: int
    #: Rows that a query is compared with, if fingerprints are uniform.
    candidates: float
    #: Bytes of tables and directories, without ids.
    bytes: int
    #: A query by the cost model; None for what nobody would build.
    nanoseconds: float | None

    def __repr__(self) -> str:
        cost = "not built" if self.nanoseconds is None else f"{self.nanoseconds:,.0f} ns per query"
        return f"<TableDesign {self.name}: {counted(len(self.tables), 'table')}, {self.bytes:,} bytes, {cost}>"

    @property
    def prefixes(self) -> str:
        """The prefixes in short, such as ``31–33``."""
        low, high = (f(prefix for prefix, _ in self.tables) for f in (min, max))
        return f"{low}" if low == high else f"{low}–{high}"

    @property
    def radii(self) -> str:
        """The radii in short."""
        low, high = (f(radius for _, radius in self.tables) for f in (min, max))
        return f"{low}" if low == high else f"{low}–{high}"


@dataclass(frozen=True)
class TableDesigns:
    """The design for a goal, and those it was chosen from."""

    distance: int
    fingerprints: int
    chosen: TableDesign
    #: Designs that nothing beats in both time and number of tables.
    frontier: tuple[TableDesign, ...]
    #: The paper's own, which look up one prefix a table.
    paper: tuple[TableDesign, ...]
    #: The two simple approaches of §3: probing all patterns in one table, and storing all neighbours.
    baselines: tuple[TableDesign, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        asked = f"distance {self.distance}, {counted(self.fingerprints, 'fingerprint')}"
        return f"<TableDesigns for {asked}: {self.chosen!r} of {len(self.frontier)}>"


def design_tables(
    distance: int = params.DISTANCE.default,
    fingerprints: float = params.FINGERPRINTS.default,
    *,
    tables: str | int | None = None,
    bytes: int | None = None,
) -> TableDesigns:
    """Return the cheapest complete design for a distance, a number of fingerprints, and tables or bytes at most.

    Errors: ``ParameterError``.
    """
    rows = _rows(fingerprints)
    if tables is not None and bytes is not None:
        raise ParameterError("tables and bytes both limit the memory: give one of them")
    limit, most = _limit(tables, bytes)
    chosen = _named("solved" if most else limit, _core.table_design(distance, rows, limit, most))
    frontier = tuple(_named("solved", one) for one in _core.table_frontier(distance, rows))
    return TableDesigns(
        distance, rows, chosen, frontier, _paper(distance, rows, tables), _baselines(distance, rows), _notes(distance)
    )


def _rows(fingerprints: float) -> int:
    rows = int(fingerprints)
    if rows != fingerprints or not 0 <= rows <= MAX_FINGERPRINTS:
        raise ParameterError(f"fingerprints `{fingerprints:g}` is no number of them: use 0 to 2^48")
    return rows


def _limit(tables: str | int | None, bytes: int | None) -> tuple[str, int]:
    """Return the limit as the core wants it. Errors: ``ParameterError``."""
    if bytes is not None:
        return "bytes", bytes
    tables = params.TABLES.default if tables is None else tables
    if isinstance(tables, str) and tables not in ("compact", "fast"):
        if not tables.isdecimal():
            raise ParameterError(f"tables `{tables}` is not known: use compact, fast, or how many")
        tables = int(tables)
    return (tables, 0) if isinstance(tables, str) else ("tables", tables)


def _named(name: str, priced: tuple[list[tuple[int, int]], int, float, int, float]) -> TableDesign:
    arranged, lookups, candidates, total, nanoseconds = priced
    is_scan = any(prefix == 0 for prefix, _ in arranged)
    return TableDesign("scan" if is_scan else name, tuple(arranged), lookups, candidates, total, nanoseconds)


def _paper(distance: int, rows: int, tables: str | int | None) -> tuple[TableDesign, ...]:
    """Return the paper's designs: those of Example 3.1, and the one with as many tables as were asked for."""
    limit, most = _limit(tables, None)
    asked = {*PAPER_TABLES, *([most] if limit == "tables" else [])}
    fitting = sorted(count for count in asked if count >= (distance + 1 if distance else 1))
    found = (_named("paper", _core.table_design(distance, rows, "paper", count)) for count in fitting)
    return tuple({one.tables: one for one in found}.values())


def _baselines(distance: int, rows: int) -> tuple[TableDesign, ...]:
    """Return what §3 begins with, to show why neither is built."""
    patterns = sum(comb(BITS, differences) for differences in range(distance + 1))
    probing = TableDesign(
        "all probed", ((BITS, distance),), patterns, patterns * rows / 2**BITS, rows * ROW_BYTES, None
    )
    storing = TableDesign("all stored", ((BITS, 0),), 1, patterns * rows / 2**BITS, rows * patterns * ROW_BYTES, None)
    return probing, storing


def _notes(distance: int) -> tuple[str, ...]:
    """Return where the paper's figures differ."""
    if distance != params.DISTANCE.default:
        return ()
    exactly, most = comb(BITS, 3), sum(comb(BITS, differences) for differences in range(4))
    return (
        f"the paper counts {exactly:,} patterns, those of exactly 3 bits; at most 3 bits are {most:,}",
        "the paper takes 8 billion for 2^34; that is 17.2 billion, so its expected matches are twice as many",
        "the paper's recurrence must read d ≤ τ: with d < τ a prefix of exactly the smallest length would be refused",
    )
