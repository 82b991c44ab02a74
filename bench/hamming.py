"""Fingerprints within a Hamming distance: queries a second, bytes a fingerprint, and candidates, uniform and clustered.

Speeds are told as bytes of queries, 8 each, so that rows compare by queries. Half of the queries are a fingerprint
that is stored, with at most `distance` bits changed.
"""

from __future__ import annotations

import tempfile
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import lookalike as la
from bench import measure, rivals
from bench.definition import Definition
from bench.measure import Times
from bench.outcome import Outcome, SkippedError, answer_of
from bench.works import Run
from lookalike import _core

#: Accesses whose time is told, after as many that pay for what comes before them.
STEPS = 1 << 20
#: Fingerprints streamed at a time.
CHUNK = 1 << 22
#: Rows above this many fingerprints need gigabytes and minutes, so they are run when asked for by name.
LARGE = 50_000_000


@lru_cache(maxsize=1)
def fingerprints(kind: str, count: int) -> Any:
    """Uniform fingerprints, or clusters: half of them near one of few centres, a hundredth of all the same."""
    import numpy as np

    chance = np.random.default_rng(2007)
    values = chance.integers(0, 1 << 64, count, dtype=np.uint64)
    if kind == "clustered":
        values[::2] = changed(
            chance, values[: count // 100][chance.integers(0, max(count // 100, 1), len(values[::2]))], 5
        )
        values[::100] = values[0]
    return values


def changed(chance: Any, values: Any, most: int) -> Any:
    """The values with up to so many bits changed each."""
    import numpy as np

    for differences in range(most):
        bits = np.uint64(1) << chance.integers(0, 64, len(values), dtype=np.uint64)
        values = np.where(chance.integers(0, most + 1, len(values)) > differences, values ^ bits, values)
    return values


def queries_of(values: Any, count: int, distance: int) -> Any:
    """Half of them near stored ones, half anywhere."""
    import numpy as np

    chance = np.random.default_rng(1969)
    queries = chance.integers(0, 1 << 64, count, dtype=np.uint64)
    queries[::2] = changed(chance, values[chance.integers(0, len(values), len(queries[::2]))], distance)
    return queries


def sized(row: Definition, run: Run) -> tuple[int, int]:
    """How many fingerprints and queries. Errors: too many for a run in which nobody asked for the row."""
    prefix = "quick_" if run.quick else ""
    count, queries = (row.options[f"{prefix}{name}"] for name in ("fingerprints", "queries"))
    if count > LARGE and not run.is_named:
        raise SkippedError(f"{count:,} fingerprints take minutes; name the row with --only")
    return count, queries


def online(row: Definition, run: Run) -> Outcome:
    """Build a table and ask it a batch of queries."""
    count, asked = sized(row, run)
    values, distance = fingerprints(row.options["data"], count), row.options["distance"]
    queries = queries_of(values, asked, distance)
    cpu = time.process_time()
    table = la.HammingTable.build(values, distance=distance, tables=row.options["tables"])
    built = time.process_time() - cpu
    times, found = measure.repeat(lambda: queries, table.query_batch, run.effort)
    tables, _, _ = table._store.footprint
    figures = {
        "queries/s": asked / times.best,
        "µs": times.best / asked * 1e6,
        "build s": built,
        "bytes each": tables / count,
        "ns of one access": access(values),
        "p99 candidates": candidates(values, queries, row),
    }
    return Outcome(times, asked * 8, answer_of([found.queries, found.ids, found.distances], len(found.ids)), figures)


def mapped(row: Definition, run: Run) -> Outcome:
    """Ask a table that is mapped from its files, and the same one in memory: how many times as long that takes."""
    count, asked = sized(row, run)
    values, distance = fingerprints(row.options["data"], count), row.options["distance"]
    queries = queries_of(values, asked, distance)
    with tempfile.TemporaryDirectory() as folder:
        with la.HammingTable.build(values, distance=distance, tables=row.options["tables"]) as built:
            built.save(folder)
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        with la.HammingTable.open(folder, hold="plain") as loaded:
            in_memory, expected = measure.repeat(lambda: queries, loaded.query_batch, run.effort)
        with la.HammingTable.open(folder, hold="mapped") as table:
            table.query_batch(queries)
            times, found = measure.repeat(lambda: queries, table.query_batch, run.effort)
    if (list(found.ids), list(found.distances)) != (list(expected.ids), list(expected.distances)):
        raise AssertionError("a mapped table has another answer")
    figures = {
        "µs": times.best / asked * 1e6,
        "times of plain": times.best / in_memory.best,
        "bytes each on disk": size / count,
    }
    return Outcome(times, asked * 8, answer_of([found.queries, found.ids, found.distances], len(found.ids)), figures)


def access(values: Any) -> float:
    """Nanoseconds of one access to memory as large as a column, at a place that nobody could foresee."""

    def walk(steps: int) -> float:
        cpu = time.process_time()
        _core.memory_walk(values, steps)
        return time.process_time() - cpu

    return max(min(walk(2 * STEPS) for _ in range(2)) - min(walk(STEPS) for _ in range(2)), 0.0) / STEPS * 1e9


def candidates(values: Any, queries: Any, row: Definition) -> float:
    """What 99 of 100 queries are compared with at most."""
    import numpy as np

    seen = _core.table_candidates(values, queries, row.options["distance"], row.options["tables"])
    return float(np.quantile(np.asarray(seen), 0.99))


def streamed(row: Definition, run: Run) -> Outcome:
    """Build tables on the queries, and stream fingerprints past them."""
    count, asked = sized(row, run)
    values, distance = fingerprints(row.options["data"], count), row.options["distance"]
    queries = queries_of(values, asked, distance)

    def search(given: Any) -> list[la.Column]:
        batch = la.QueryBatch(given, distance=distance)
        return [
            column for first in range(0, count, CHUNK) for column in batch.chunk(values[first : first + CHUNK], first)
        ]

    times, found = measure.repeat(lambda: queries, search, measure.ONCE if count > LARGE else run.effort)
    figures = {"s": times.best, "ns a fingerprint": times.best / count * 1e9}
    return Outcome(times, asked * 8, answer_of(found, sum(map(len, found[::3]))), figures)


def rival_hamming(row: Definition, run: Run) -> Outcome:
    """Run one implementation of the rivals' script."""
    program = rivals.script(run, "hamming.py")
    options = row.options
    order = ["--impl", options["impl"], "--n", options["fingerprints"], "--queries", options["queries"]]
    found = rivals.figures_of(rivals.called(program, *order))
    if found["recall"] < 1:
        raise SkippedError(f"it finds {found['recall']:.2%} of what it must")
    figures = {"queries/s": found["queries_s"], "build s": found["build_s"], "bytes each": found["bytes_per_fp"]}
    return Outcome(Times([found["seconds"]], [found["seconds"]]), found["queries"] * 8, None, figures)
