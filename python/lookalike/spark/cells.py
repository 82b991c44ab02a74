"""Brings pairs of documents and what is known of each document together, in cells.

A pair belongs to the cell (part of the left, part of the right), of G × G, where a part is a hash of the rank modulo G.
Pairs travel in bundles: a row has a cell, a list of ranks, and pairs of places in that list (``steps/bundles.rs``). A
document is sent once to each cell that has a pair of it, at most 2 G times, however many pairs it is in. Within a
partition the documents of a cell come first, then its bundles, so a task holds the documents of one cell and passes its
pairs through.

Cost: per document at most 2 G copies, of which there are fewer if it has fewer pairs; per pair 8 bytes and what is
known of it (``judging``), and a rank per document and bundle. Where G × G is larger than the pairs of a window, a
bundle has one pair and two ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lookalike import _core
from lookalike.errors import ParameterError
from lookalike.spark import columns
from lookalike.spark.shipping import Batches

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from pyspark.sql import DataFrame

#: The columns of bundles.
BUNDLES = "cell int, ranks array<binary>, pairs binary"
#: Most cells along one side.
_MOST = 46_340
#: Bundles, and pairs, that are taken at a time.
_TAKEN, _PACKED = 1 << 8, 1 << 16
#: Bytes of the pairs of a cell that wait before they are judged.
WAITING_BYTES = 16 << 20
#: Bytes that the pairs of a batch may take, each with both ranks.
BATCH_BYTES = 8 << 20
#: What a task does with the documents of a cell, and with its pairs: the places of both documents, and further columns.
Documents = Callable[["pa.RecordBatch", bool], None]
Pairs = Callable[[bytes, bytes, "np.ndarray[Any, Any]"], "tuple[np.ndarray[Any, Any], list[pa.Array]]"]


def side(documents: int, bytes_each: float, cell_bytes: int, least: int) -> int:
    """Return G, so that the documents of one cell take about ``cell_bytes``, as long as G × G is a 32-bit number."""
    return int(min(max(least, 2 * documents * bytes_each / max(cell_bytes, 1)), _MOST))


def in_cells(
    bundles: DataFrame,
    documents: Callable[[DataFrame], DataFrame],
    step: Callable[[Batches], Batches],
    schema: str,
) -> DataFrame:
    """Run a step on bundles and the documents of their pairs; the step makes rows of a ``schema``.

    ``documents`` joins what is known of documents to rows that have a rank. The bundles are used twice, so the caller
    holds them: a plan that doubles with every step would outgrow the driver.
    """
    from pyspark.sql import functions as sql

    known = documents(bundles.select("cell", sql.explode("ranks").alias("rank")).distinct())
    payload = [one for one in known.schema if one.name not in ("cell", "rank")]

    def none(name: str, kind: Any) -> Any:
        return sql.lit(None).cast(kind).alias(name)

    first = known.select(
        "cell",
        sql.lit(0).alias("tag"),
        "rank",
        *(one.name for one in payload),
        none("ranks", "array<binary>"),
        none("pairs", "binary"),
    )
    then = bundles.select(
        "cell",
        sql.lit(1).alias("tag"),
        none("rank", "binary"),
        *(none(one.name, one.dataType) for one in payload),
        "ranks",
        "pairs",
    )
    placed = first.union(then).repartition("cell").sortWithinPartitions("cell", "tag")
    return placed.mapInArrow(step, schema)


def rows_at_a_time(ranks: Iterable[pa.Array], most: int, pairs: int = 1) -> int:
    """Return how many rows, at most ``most``, make pairs of ``BATCH_BYTES`` at a time, if each is in so many pairs."""
    import pyarrow.compute as pc

    longest = max((pc.max(pc.binary_length(one)).as_py() or 1 for one in ranks), default=1)
    return int(max(1, min(most, BATCH_BYTES // (2 * pairs * longest))))


def each_cell(
    batches: Batches, documents: Documents, pairs: Pairs, extra: np.dtype[Any], made: list[str], *, once: bool
) -> Iterator[pa.RecordBatch]:
    """Hand documents and pairs to their functions, in order, and yield (left, right, …) of the pairs that are accepted.

    ``documents`` is told whether a new cell begins. ``extra`` are the further columns of pairs. ``pairs`` returns a
    mask, and the columns ``made`` of the pairs in it. With ``once`` a pair is yielded once, and the task remembers all
    that it yields of a cell; otherwise once for each time that waiting pairs are judged.
    """
    number, cell = -1, _Cell(pairs, extra, made, once=once)
    for run in (run for batch in batches for run in runs(batch)):
        if run["cell"][0].as_py() != number:
            yield from cell.judged(is_end=True)
            number, cell = run["cell"][0].as_py(), _Cell(pairs, extra, made, once=once)
            documents(run.slice(0, 0), True)
        if run["tag"][0].as_py() == 0:
            documents(run, False)
            cell.know(run["rank"])
        else:
            yield from cell.take(run)
    yield from cell.judged(is_end=True)


class _Cell:
    """The ranks of the documents of a cell, and pairs that wait until there are many of them."""

    def __init__(self, pairs: Pairs, extra: np.dtype[Any], made: list[str], *, once: bool) -> None:
        self._judge, self._extra, self._made, self._once = pairs, extra, made, once
        self._ranks: list[pa.Array] = []
        self._pairs = _core.CellPairs(extra.itemsize, WAITING_BYTES)

    def know(self, ranks: pa.Array) -> None:
        """Take the ranks of documents."""
        self._ranks.append(ranks)
        self._pairs.push_documents(columns.buffers(ranks))

    def take(self, run: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take bundles; yield what is found when many pairs wait. Errors: ``ParameterError`` if a document is gone."""
        import numpy as np
        import pyarrow.compute as pc

        for start in range(0, run.num_rows, _TAKEN):
            part = run.slice(start, _TAKEN)
            counts = pc.list_value_length(part["ranks"]).to_numpy().astype(np.uint32).tobytes()
            ranks = columns.buffers(part["ranks"].flatten())
            if not self._pairs.push_bundles(counts, ranks, columns.buffers(part["pairs"])):
                raise changed()
            if self._pairs.is_full():
                yield from self.judged(is_end=False)

    def judged(self, *, is_end: bool) -> Iterator[pa.RecordBatch]:
        """Yield what is found of the pairs that wait."""
        import numpy as np
        import pyarrow as pa

        left, right, extras = self._pairs.take()
        if not left:
            return
        mask, found = self._judge(left, right, np.ndarray(len(left) // 4, self._extra, extras))
        places = [np.frombuffer(one, dtype=np.uint32)[mask] for one in (left, right)]
        if self._once and not is_end:
            self._pairs.accept(*(one.tobytes() for one in places))
        self._ranks = [columns.joined(self._ranks)]
        rows = rows_at_a_time(self._ranks, len(left))
        for start in range(0, len(places[0]), rows):
            named = [self._ranks[0].take(pa.array(one[start : start + rows])) for one in places]
            arrays = [*named, *(one.slice(start, rows) for one in found)]
            yield pa.RecordBatch.from_arrays(arrays, names=["left", "right", *self._made])


def packed(batches: Iterable[pa.RecordBatch], side: int, extra: np.dtype[Any]) -> Iterator[pa.RecordBatch]:
    """Make bundles of rows (left, right, …); ``extra`` names the further columns and what they become."""
    packer = _core.PairPacker(side, extra.itemsize)
    for batch in batches:
        rows = rows_at_a_time((batch["left"], batch["right"]), _PACKED)
        for start in range(0, batch.num_rows, rows):
            part = batch.slice(start, rows)
            left, right = (columns.buffers(part[name]) for name in ("left", "right"))
            packer.push(left, right, columns.records(part, extra))
            yield from bundles(packer, is_end=False)
    yield from bundles(packer, is_end=True)


def bundles(packer: _core.PairPacker | _core.HolderStream, *, is_end: bool) -> Iterator[pa.RecordBatch]:
    """Yield the bundles of a packer, if it is full or all is over."""
    import pyarrow as pa

    made = packer.bundles(is_end)
    if made is None:
        return
    cells, ranks, rank_ends, pairs = made
    lists = pa.ListArray.from_arrays(columns.numbers(rank_ends, pa.int32()), columns.strings(*ranks))
    arrays = [columns.numbers(cells, pa.int32()), lists, columns.strings(*pairs)]
    yield pa.RecordBatch.from_arrays(arrays, names=[one.split()[0] for one in BUNDLES.split(", ")])


def runs(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield the parts of a batch that have one cell and one tag."""
    import numpy as np

    if not batch.num_rows:
        return
    joint = batch["cell"].to_numpy().astype(np.int64) * 2 + batch["tag"].to_numpy()
    starts = [0, *(np.flatnonzero(joint[1:] != joint[:-1]) + 1), len(joint)]
    for start, end in pairwise(starts):
        yield batch.slice(start, end - start)


def changed() -> ParameterError:
    """Return the error for a document that is no longer there, or has another text."""
    return ParameterError(
        "the input gave other rows or texts when it was read again: write it out first, then use what is written"
    )
