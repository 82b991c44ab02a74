"""Which tables for "all within 3 bits"? Rows looked at, lookups and memory of each design, at your size and on paper.

After Manku 2007, §3.1. A table holds the fingerprints sorted by some of their bits, its prefix; a query looks at the
rows whose prefix differs from its own in at most `radius` bits. The designs: the paper's four, two halves with a radius
of 1, and the two naive ways of §3: one table asked for every number within the distance, and all of these stored.

What is measured: how many rows a query has to look at in each design, on the corpus's own fingerprints, which cluster,
and on as many uniform ones; and CPU time and memory of `HammingTable` with at most as many tables, which takes the
cheapest design that it knows. What is computed: lookups, bytes, and time by the solver's model, in which a table, a
lookup of two accesses to memory, and a row have their cost. Sizes that fit a cache flatter every design; `make bench`
has larger ones.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lookalike import _core
from lookalike.lab.shared import plots
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import CRAWLING, Cell, Claim, Outcome, Table
from lookalike.lab.shared.setting import Integers
from lookalike.lab.simhash.simhashed import BITS, Words, read_several, sample
from lookalike.neighbours.table import HammingTable

#: Example 3.1: rows that a probe retrieves on average, at most, of 8 billion, which the paper takes for 2^34.
PAPER: dict[str, float] = {
    "rows a probe of 8 billion, 20 tables": 8,
    "rows a probe of 8 billion, 16 tables": 64,
    "rows a probe of 8 billion, 10 tables": 512,
    "rows a probe of 8 billion, 4 tables": 1 << 18,
}
DISTANCE = 3
#: Sizes on paper.
SIZES = (8_000_000_000, 64_000_000_000)
#: Queries that are asked on the corpus.
QUERIES = 2_000
#: The cost model: nanoseconds of asking a table, of a lookup that no cache holds, and of comparing a row.
TABLE, LOOKUP, ROW = _core.HAMMING_COST_NS
#: Limits on tables that are timed, uniform fingerprints for that beside the corpus, and how often.
TIMED, UNIFORM, REPEATS = (2, 4, 10, 16, 20), 1_000_000, 3
#: Bytes of a row, of an entry of a table's directory, and rows of an entry.
ROW_BYTES, ENTRY_BYTES, BUCKET = 8, 4, 4
COLOURS = ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00", "#cc79a7")

Made = TypeVar("Made")
#: Bits that stand together: the lowest, and how many.
Block = tuple[int, int]


@dataclass(frozen=True)
class Arrangement:
    """One table: the blocks that make its prefix, and in how many of their bits a row may differ."""

    blocks: tuple[Block, ...]
    radius: int = 0

    @property
    def prefix(self) -> int:
        """Bits in the prefix."""
        return sum(width for _, width in self.blocks)

    @property
    def lookups(self) -> int:
        """Prefixes that are asked for."""
        return ball(self.prefix, self.radius)

    def finds(self, patterns: Words) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Tell of patterns of differing bits whether a row that differs so is looked at."""
        return np.asarray(np.bitwise_count(self.keys(patterns)) <= self.radius)

    def keys(self, values: Words) -> Words:
        """Return the prefix of each value as a number."""
        made = np.zeros(len(values), dtype=np.uint64)
        for low, width in self.blocks:
            made = (made << np.uint64(width)) | ((values >> np.uint64(low)) & np.uint64((1 << width) - 1))
        return made

    def rows(self, stored: Words, queries: Words) -> Integers:
        """Count the rows that each query looks at."""
        ascending = np.sort(self.keys(stored))
        counts = np.zeros(len(queries), dtype=np.int64)
        for asked in _within(self.keys(queries), self.prefix, self.radius):
            counts += np.searchsorted(ascending, asked, side="right") - np.searchsorted(ascending, asked, side="left")
        return counts


@dataclass(frozen=True)
class Design:
    """Tables of which at least one looks at every row within the distance."""

    name: str
    tables: tuple[Arrangement, ...]
    #: How often a fingerprint stands in each table: once, or once for every number within the distance.
    stored: int = 1

    @property
    def lookups(self) -> int:
        """Lookups of a query."""
        return sum(one.lookups for one in self.tables)

    def expected(self, fingerprints: int) -> float:
        """Return how many rows a query looks at if fingerprints are uniform."""
        return math.fsum(self.stored * fingerprints * one.lookups / 2.0**one.prefix for one in self.tables)

    def bytes(self) -> float:
        """Return the bytes of a fingerprint in all tables with their directories, without ids and uncompressed."""
        return len(self.tables) * self.stored * (ROW_BYTES + ENTRY_BYTES / BUCKET)

    def nanoseconds(self, rows: float) -> float:
        """Return the time of a query by the model."""
        return len(self.tables) * TABLE + self.lookups * LOOKUP + rows * ROW


def ball(bits: int, radius: int) -> int:
    """Return how many numbers of so many bits are within a distance of one of them."""
    return sum(math.comb(bits, i) for i in range(radius + 1))


def _within(keys: Words, bits: int, radius: int) -> list[Words]:
    flips = [
        sum(1 << bit for bit in chosen) for count in range(radius + 1) for chosen in combinations(range(bits), count)
    ]
    return [keys ^ np.uint64(flip) for flip in flips]


def cut(low: int, widths: Sequence[int]) -> list[Block]:
    """Cut the bits from ``low`` upwards into blocks."""
    starts = [low + sum(widths[:i]) for i in range(len(widths))]
    return list(zip(starts, widths, strict=True))


def choices(widths: Sequence[int], count: int) -> tuple[Arrangement, ...]:
    """Return a table for each choice of so many blocks."""
    return tuple(Arrangement(chosen) for chosen in combinations(cut(0, widths), count))


def _twice() -> tuple[Arrangement, ...]:
    """Choose one of four blocks of 16 bits, then one of four of 12 bits of those that are left."""
    made = []
    for first in cut(0, [16] * 4):
        left = [low for low in range(BITS) if not first[0] <= low < first[0] + 16]
        for i in range(4):
            made.append(Arrangement((first, *_runs(left[12 * i : 12 * i + 12]))))
    return tuple(made)


def _runs(bits: Sequence[int]) -> list[Block]:
    """Put single bits together that stand side by side."""
    made: list[Block] = []
    for bit in bits:
        if made and sum(made[-1]) == bit:
            made[-1] = (made[-1][0], made[-1][1] + 1)
        else:
            made.append((bit, 1))
    return made


WHOLE = Arrangement(((0, BITS),), DISTANCE)
DESIGNS = (
    Design("20 tables", choices([11, 11, 11, 11, 10, 10], 3)),
    Design("16 tables", _twice()),
    Design("10 tables", choices([13, 13, 13, 13, 12], 2)),
    Design("4 tables", choices([16] * 4, 1)),
    Design("2 tables, radius 1", tuple(Arrangement((block,), 1) for block in cut(0, [32, 32]))),
    Design("1 table, every number asked for", (WHOLE,)),
    Design("every number stored", (Arrangement(((0, BITS),)),), ball(BITS, DISTANCE)),
)
#: Designs whose rows are counted on the corpus: the naive ones look at nothing but what they find.
COUNTED = DESIGNS[:5]


def measure(corpus: Corpus, seed: int) -> Outcome:
    """Count rows on the corpus and on uniform fingerprints, and compute the rest."""
    found = read_several(corpus)
    rng = np.random.default_rng(seed)
    stored = found.fingerprints
    uniform = rng.integers(1 << 64, size=len(stored), dtype=np.uint64)
    places = sample(rng, len(stored), QUERIES)
    kinds = {"corpus": stored, "uniform": uniform}
    more = rng.integers(1 << 64, size=UNIFORM, dtype=np.uint64)
    timings = timed("corpus", stored, stored[places]) + timed(f"{UNIFORM:,} uniform", more, more[:QUERIES])
    rows = {kind: {one.name: _rows(one, values, places) for one in COUNTED} for kind, values in kinds.items()}
    return Outcome(
        name="table-designs",
        title=f"Tables for a distance of {DISTANCE} among {len(stored):,} fingerprints",
        sections="§3, §3.1, Example 3.1",
        parameters={
            "distance": DISTANCE,
            "queries": len(places),
            "sizes": list(SIZES),
            "model": {"table_ns": TABLE, "lookup_ns": LOOKUP, "row_ns": ROW}
            | {"row_bytes": ROW_BYTES, "entry_bytes": ENTRY_BYTES},
            "seed": seed,
        },
        corpus=corpus.facts(),
        claims=_claims(rows, len(stored)),
        tables=(_here(rows, len(stored)), _timings(timings), *(_on_paper(size) for size in SIZES)),
        notes=(
            *corpus.notes(),
            *found.notes(),
            "rows are those that a query compares, in all tables, its own not counted; with clusters most queries look "
            "at few and some at many, so that the 99th percentile says more than the mean",
            f"the model: {TABLE:g} ns a table, {LOOKUP:g} ns a lookup that no cache holds, {ROW:g} ns a row, "
            f"{ROW_BYTES} bytes a row and {ENTRY_BYTES / BUCKET:g} of directory, no ids; compression as in §3.2 halves "
            "the rows",
            "CPU time is that of this machine, the best of several runs, of queries in a batch, which share accesses; "
            "the table takes the cheapest design of at most so many tables, which need not be the paper's",
            "the paper takes 8 billion for 2^34, which is 17 billion: its rows a probe are twice what 8 billion have",
            "on paper fingerprints are uniform; real ones cluster, as the first table shows for this corpus",
            f"to ask for every number takes {ball(BITS, DISTANCE):,} lookups; the paper's 41,664 are at exactly 3",
        ),
        series={"timed": {name: [getattr(one, name) for one in timings] for name in Timed._fields}}
        | {"rows": {kind: _summaries(one) for kind, one in rows.items()}, "designs": _columns(len(stored))},
        paper=CRAWLING,
    )


class Timed(NamedTuple):
    """What a `HammingTable` took."""

    fingerprints: str
    #: Tables that it was allowed.
    tables: int
    #: CPU time of building it, and of a query, on all cores together.
    build_ms: float
    query_us: float
    #: Bytes of a fingerprint with its id.
    bytes: float
    #: Answers a query, its own not counted.
    found: float


def timed(kind: str, stored: Words, queries: Words) -> list[Timed]:
    """Time tables of these fingerprints. All designs must find the same."""
    made = []
    for tables in TIMED:
        build, table = _best(partial(HammingTable.build, stored.data, distance=DISTANCE, tables=tables))
        asking, found = _best(partial(table.query_batch, queries.data))
        each, answers = asking * 1e6 / len(queries), len(found.ids) / len(queries) - 1
        made.append(Timed(kind, tables, build * 1e3, each, table.nbytes / len(stored), answers))
    assert len({one.found for one in made}) == 1, f"designs differ in what they find: {made}"
    return made


def _best(work: Callable[[], Made]) -> tuple[float, Made]:
    """Return the least CPU time of several runs, in seconds, and what was made."""
    times, made = [], None
    for _ in range(REPEATS):
        start = time.process_time()
        made = work()
        times.append(time.process_time() - start)
    assert made is not None
    return min(times), made


def _rows(design: Design, stored: Words, places: Integers) -> Integers:
    """Count the rows that stored fingerprints look at when they are asked for; each table has them once."""
    counts = [one.rows(stored, stored[places]) - 1 for one in design.tables]
    return np.asarray(np.sum(counts, axis=0))


def _claims(rows: dict[str, dict[str, Integers]], size: int) -> tuple[Claim, ...]:
    made: list[tuple[str, float, str]] = []
    for one in DESIGNS[:4]:
        least = min(table.prefix for table in one.tables)
        note = f"p = {least} or more, uniform; paper: 2^34 for 8 billion"
        made.append((f"rows a probe of 8 billion, {one.name}", SIZES[0] / 2**least, note))
    for name in ("10 tables", "2 tables, radius 1"):
        design = next(one for one in COUNTED if one.name == name)
        here, expected = float(rows["corpus"][name].mean()), design.expected(size)
        made.append((f"rows a query here over uniform, {name}", here / expected, "what clusters and common words do"))
    return tuple(Claim(name, PAPER.get(name), value, "", note) for name, value, note in made)


def _percentiles(counts: Integers) -> tuple[float, float, int]:
    return float(counts.mean()), float(np.percentile(counts, 99, method="lower")), int(counts.max())


def _here(rows: dict[str, dict[str, Integers]], size: int) -> Table:
    made: list[tuple[Cell, ...]] = []
    for one in COUNTED:
        mean, high, most = _percentiles(rows["corpus"][one.name])
        expected = one.expected(size)
        even = float(rows["uniform"][one.name].mean())
        time = (one.nanoseconds(mean) / 1000, one.nanoseconds(high) / 1000)
        made.append((one.name, one.lookups, one.bytes(), expected, even, mean, high, most, *time))
    columns = (
        *("design", "lookups", "bytes each", "rows, theory", "rows, uniform", "rows, corpus", "99 %", "most"),
        *("µs by the model", "99 %"),
    )
    return Table(f"at {size:,} fingerprints", columns, tuple(made))


def _timings(timings: Sequence[Timed]) -> Table:
    rows: list[tuple[Cell, ...]] = [(one.fingerprints, *one[1:]) for one in timings]
    columns = ("fingerprints", "tables, at most", "ms to build", "µs a query", "bytes each with ids", "found")
    return Table("HammingTable here, CPU time on all cores together", columns, tuple(rows))


def _on_paper(size: int) -> Table:
    made: list[tuple[Cell, ...]] = [
        (
            one.name,
            len(one.tables),
            one.lookups,
            one.expected(size),
            one.bytes() * size / 1e9,
            one.nanoseconds(one.expected(size)) / 1000,
        )
        for one in DESIGNS
    ]
    made.append(("a scan", 1, 0, float(size), ROW_BYTES * size / 1e9, size * ROW / 1000))
    columns = ("design", "tables", "lookups", "rows", "GB", "µs by the model")
    return Table(f"on paper, {size / 1e9:g} billion uniform fingerprints", columns, tuple(made))


def _summaries(rows: dict[str, Integers]) -> dict[str, list[Any]]:
    found = [_percentiles(counts) for counts in rows.values()]
    columns = dict(zip(("mean", "99 %", "most"), map(list, zip(*found, strict=True)), strict=True))
    return {"design": list(rows), **columns}


def _columns(size: int) -> dict[str, list[Any]]:
    sizes = [10**power for power in range(4, 12)]
    return {
        "design": [one.name for one in DESIGNS],
        "bytes": [one.bytes() for one in DESIGNS],
        "here": [one.expected(size) for one in DESIGNS],
        "sizes": sizes,
        "microseconds": [[one.nanoseconds(one.expected(n)) / 1000 for n in sizes] for one in DESIGNS],
    }


def draw(outcome: Outcome) -> Figure:
    """Draw the rows a query looks at here, the paper's example, and time by the model against size."""
    figure, (left, middle, right) = plots.panels(outcome, 3)
    _draw_rows(left, outcome.series["rows"])
    _draw_example(middle)
    designs = outcome.series["designs"]
    for i, (name, colour) in enumerate(zip(designs["design"][:6], COLOURS, strict=True)):
        right.plot(designs["sizes"], designs["microseconds"][i], "-", lw=1.2, color=colour, label=name)
    for size in SIZES:
        right.axvline(size, color=plots.GREY, ls=":", lw=1)
    right.plot([], [], ":", color=plots.GREY, label="8 and 64 billion")
    right.set(xscale="log", yscale="log", xlabel="fingerprints, uniform", ylabel="µs a query by the model")
    right.set_title("on paper: what a size asks for")
    for axes in (left, middle, right):
        plots.legend_below(axes, columns=2)
    return figure


def _draw_rows(axes: Axes, rows: Any) -> None:
    names = rows["corpus"]["design"]
    height = np.arange(len(names))
    axes.barh(height - 0.2, rows["corpus"]["mean"], 0.36, color=plots.BLUE, label="this corpus, mean")
    axes.barh(height + 0.2, rows["uniform"]["mean"], 0.36, color=plots.GREY, label="uniform, mean")
    axes.plot(rows["corpus"]["99 %"], height - 0.2, "|", ms=12, mew=2, color=plots.INK, label="this corpus, 99 %")
    axes.set_xscale("symlog", linthresh=0.1)
    axes.set_xlim(left=0)
    axes.set_yticks(height, names)
    axes.invert_yaxis()
    axes.set(xlabel="rows a query looks at", title="at the size of this corpus")


def _draw_example(axes: Axes) -> None:
    """Rows a probe of 8 billion, as they are and as the paper has them."""
    designs = DESIGNS[:4]
    rows = [SIZES[0] / 2 ** min(table.prefix for table in one.tables) for one in designs]
    axes.barh(range(len(designs)), rows, 0.5, color=plots.BLUE, label="8 billion")
    named = [f"rows a probe of 8 billion, {one.name}" for one in designs]
    plots.crosses(axes, [(PAPER[name], y) for y, name in enumerate(named) if name in PAPER], "paper: 2^34")
    axes.set_yticks(range(len(designs)), [one.name for one in designs])
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel="rows that a probe retrieves, at most on average", title="Example 3.1")
