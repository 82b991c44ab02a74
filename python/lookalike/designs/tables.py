"""Designs tables for a Hamming distance: which tables to keep, and their cost (Manku 2007, §3).

The core finds the designs (`crates/core/src/hamming/solve.rs`) by a cost model (`design.rs` there). This module names
them, and adds the two simple approaches of §3 for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from lookalike import _core, params
from lookalike._types import counted, whole
from lookalike.errors import ParameterError

#: Bits of a fingerprint, and bytes.
BITS, ROW_BYTES = 64, 8
#: Numbers of tables in the paper's examples, for distance 3.
PAPER_TABLES = (4, 10, 16, 20)
#: Most fingerprints of a design.
MAX_FINGERPRINTS = 1 << 48


@dataclass(frozen=True)
class TableDesign:
    """Tables that find everything within a distance, and their cost for a number of fingerprints.

    >>> from lookalike.designs.tables import design_tables
    >>> found = design_tables(3, 1e6).chosen
    >>> len(found.tables) >= 1, found.lookups >= 1
    (True, True)
    """

    #: How it was made: ``compact``, ``fast``, ``paper``, ``scan``, ``solved``, or the name of a baseline.
    name: str
    #: For each table, bits of its prefix and differences allowed in it.
    tables: tuple[tuple[int, int], ...]
    #: Prefixes that a query looks up, in all tables together.
    lookups: int
    #: Expected rows that a query is compared with, for uniform fingerprints.
    candidates: float
    #: Bytes of tables and directories, without ids.
    bytes: int
    #: Time of a query by the cost model; ``None`` for baselines.
    nanoseconds: float | None

    def __repr__(self) -> str:
        cost = "not built" if self.nanoseconds is None else f"{self.nanoseconds:,.0f} ns per query"
        return f"<TableDesign {self.name}: {counted(len(self.tables), 'table')}, {self.bytes:,} bytes, {cost}>"

    @property
    def prefixes(self) -> str:
        """The range of prefixes, such as ``31–33``."""
        low, high = (f(prefix for prefix, _ in self.tables) for f in (min, max))
        return f"{low}" if low == high else f"{low}–{high}"

    @property
    def radii(self) -> str:
        """The range of radii."""
        low, high = (f(radius for _, radius in self.tables) for f in (min, max))
        return f"{low}" if low == high else f"{low}–{high}"


@dataclass(frozen=True)
class TableDesigns:
    """The design for a goal, and those it was chosen from.

    >>> from lookalike.designs.tables import design_tables
    >>> design_tables(3, 1e6, tables="fast").chosen.name
    'fast'
    """

    distance: int
    fingerprints: int
    chosen: TableDesign
    #: Designs that no other beats in both time and number of tables.
    frontier: tuple[TableDesign, ...]
    #: The paper's designs, which look up one prefix per table.
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
    prefix: int | None = None,
) -> TableDesigns:
    """Find the cheapest tables that find every fingerprint within a distance.

    :param distance: The most bits in which fingerprints may differ, 0 to 10.
    :param fingerprints: How many fingerprints are searched.
    :param tables: ``compact`` (little memory), ``fast`` (little time), or the most tables. Default: ``compact``.
    :param bytes: The most bytes of all tables; instead of ``tables``.
    :param prefix: The fewest leading bits of every table, each looked up exactly: the p_min of the paper (§3.1.2).
        The answer has the fewest tables with it; instead of ``tables``.
    :returns: The chosen design and others to compare with.
    :raises ParameterError: A number is out of range, or more than one of ``tables``, ``bytes``, ``prefix`` is given.

    >>> design_tables(3, 1e6).distance
    3
    >>> len(design_tables(3, 2**34, prefix=28).chosen.tables)
    16
    """
    rows = _rows(fingerprints)
    chosen = _prefixed(distance, rows, tables, bytes, prefix) if prefix is not None else None
    if tables is not None and bytes is not None:
        raise ParameterError("tables and bytes both limit the memory: give one of them")
    if chosen is None:
        limit, most = _limit(tables, bytes)
        chosen = _named("solved" if most else limit, _core.table_design(distance, rows, limit, most))
    frontier = tuple(_named("solved", one) for one in _core.table_frontier(distance, rows))
    return TableDesigns(
        distance, rows, chosen, frontier, _paper(distance, rows, tables), _baselines(distance, rows), _notes(distance)
    )


def _prefixed(distance: int, rows: int, tables: str | int | None, bytes: int | None, prefix: int) -> TableDesign:
    """Return the paper's design of the fewest tables with so long prefixes. Errors: ``ParameterError``."""
    if tables is not None or bytes is not None:
        other = "bytes" if tables is None else "tables"
        raise ParameterError(f"prefix and {other} contradict each other: the prefix decides how many tables there are")
    if not 1 <= prefix <= BITS:
        raise ParameterError(f"prefix `{prefix}` is out of range: use 1 to {BITS} leading bits")
    return _named("paper", _core.table_design(distance, rows, "prefix", prefix))


def _rows(fingerprints: float) -> int:
    if not 0 <= fingerprints <= MAX_FINGERPRINTS or (rows := int(fingerprints)) != fingerprints:
        raise ParameterError(f"fingerprints `{fingerprints:g}` is out of range: use a whole number from 0 to 2^48")
    return rows


def _limit(tables: str | int | None, bytes: int | None) -> tuple[str, int]:
    """Return the limit in the form the core takes. Errors: ``ParameterError``."""
    if bytes is not None:
        return "bytes", bytes
    tables = params.TABLES.default if tables is None else tables
    if isinstance(tables, str) and tables not in ("compact", "fast"):
        try:
            tables = whole(tables)
        except ValueError:
            raise ParameterError(f"tables `{tables}` is not known: use compact, fast, or how many") from None
    return (tables, 0) if isinstance(tables, str) else ("tables", tables)


def _named(name: str, priced: tuple[list[tuple[int, int]], int, float, int, float]) -> TableDesign:
    arranged, lookups, candidates, total, nanoseconds = priced
    is_scan = any(prefix == 0 for prefix, _ in arranged)
    return TableDesign("scan" if is_scan else name, tuple(arranged), lookups, candidates, total, nanoseconds)


def _paper(distance: int, rows: int, tables: str | int | None) -> tuple[TableDesign, ...]:
    """Return the paper's designs: those of Example 3.1, and the one with the asked number of tables."""
    limit, most = _limit(tables, None)
    asked = {*PAPER_TABLES, *([most] if limit == "tables" else [])}
    fitting = sorted(count for count in asked if count >= (distance + 1 if distance else 1))
    found = (_named("paper", _core.table_design(distance, rows, "paper", count)) for count in fitting)
    return tuple({one.tables: one for one in found}.values())


def _baselines(distance: int, rows: int) -> tuple[TableDesign, ...]:
    """Return the two simple approaches of §3, to show why neither is built."""
    patterns = sum(comb(BITS, differences) for differences in range(distance + 1))
    probing = TableDesign(
        "all probed", ((BITS, distance),), patterns, patterns * rows / 2**BITS, rows * ROW_BYTES, None
    )
    storing = TableDesign("all stored", ((BITS, 0),), 1, patterns * rows / 2**BITS, rows * patterns * ROW_BYTES, None)
    return probing, storing


def _notes(distance: int) -> tuple[str, ...]:
    """Return notes on figures of the paper that differ."""
    if distance != params.DISTANCE.default:
        return ()
    exactly, most = comb(BITS, 3), sum(comb(BITS, differences) for differences in range(4))
    return (
        f"the paper counts {exactly:,} patterns, those of exactly 3 bits; at most 3 bits are {most:,}",
        "the paper takes 8 billion for 2^34; that is 17.2 billion, so its expected matches are twice as many",
        "the paper's recurrence must read d ≤ τ: with d < τ a prefix of exactly the smallest length would be refused",
    )
