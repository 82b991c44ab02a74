"""Brings pairs of documents and what is known of each document together, in cells.

A pair belongs to the cell (hash of the left, hash of the right), of G × G. A document is sent once to each cell that
has a pair of it, at most 2 G times, however many pairs it is in. Within a partition the documents of a cell come first,
then its pairs, so a task holds the documents of one cell and passes its pairs through.

Cost: per document at most 2 G copies, of which there are fewer if it has fewer pairs; per pair two ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lookalike.errors import ParameterError
from lookalike.spark.shipping import Batches

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from pyspark.sql import DataFrame

#: Most cells along one side.
_MOST = 46_340
#: What a task does with the documents of a cell, and with its pairs: the places of both documents, and rows of pairs.
Documents = Callable[["pa.RecordBatch", bool], None]
Pairs = Callable[["np.ndarray[Any, Any]", "np.ndarray[Any, Any]", "pa.RecordBatch"], "list[pa.Array]"]


def side(documents: int, bytes_each: float, cell_bytes: int, least: int) -> int:
    """Return G, so that the documents of one cell take about ``cell_bytes``, as long as G × G is a 32-bit number."""
    return int(min(max(least, 2 * documents * bytes_each / max(cell_bytes, 1)), _MOST))


def in_cells(
    pairs: DataFrame,
    documents: Callable[[DataFrame], DataFrame],
    cells: int,
    step: Callable[[Batches], Batches],
    schema: str,
) -> DataFrame:
    """Run a step on pairs (left, right, …) and their documents.

    ``documents`` joins what is known of documents to rows that have a rank. Further columns of pairs pass through the
    step, which adds its own; ``schema`` names all. Pairs are named once in the plan: a plan that doubles with every
    step would outgrow the driver.
    """
    from pyspark.sql import functions as sql

    def part(of: str) -> Any:
        return sql.pmod(sql.xxhash64(of), sql.lit(cells))

    extra = [name for name in pairs.columns if name not in ("left", "right")]
    types = {one.name: one.dataType for one in pairs.schema}
    cell = (part("left") * cells + part("right")).cast("int").alias("cell")

    def row(tag: int, rank: str, *, is_pair: bool) -> Any:
        other = [sql.col(one) if is_pair else sql.lit(None).cast(types[one]) for one in ("right", *extra)]
        named = [one.alias(name) for one, name in zip(other, ("right", *extra), strict=True)]
        return sql.struct(cell, sql.lit(tag).alias("tag"), sql.col(rank).alias("rank"), *named)

    each = sql.array(row(0, "left", is_pair=False), row(0, "right", is_pair=False), row(1, "left", is_pair=True))
    rows = pairs.select(sql.explode(each).alias("row")).select("row.*").distinct()
    known = documents(rows)
    payload = [
        sql.when(sql.col("tag") == 0, sql.col(name)).alias(name) for name in known.columns if name not in rows.columns
    ]
    placed = known.select(*rows.columns, *payload).repartition("cell")
    return placed.sortWithinPartitions("cell", "tag", "rank", "right").mapInArrow(step, schema)


def each_cell(batches: Batches, documents: Documents, pairs: Pairs, extra: list[str], made: list[str]) -> Batches:
    """Hand documents and pairs to their functions, in order, and yield pairs with what was ``made`` of them.

    ``documents`` is told whether a new cell begins. ``pairs`` returns a mask and the new columns. Of the other columns
    of pairs, those named in ``extra`` are yielded.
    """
    number, cell = -1, _Cell(pairs, extra, made)
    for run in (run for batch in batches for run in runs(batch)):
        if run["cell"][0].as_py() != number:
            yield from cell.judged()
            number, cell = run["cell"][0].as_py(), _Cell(pairs, extra, made)
            documents(run.slice(0, 0), True)
        if run["tag"][0].as_py() == 0:
            documents(run, False)
            cell.ranks.append(run["rank"])
        else:
            yield from cell.take(run)
    yield from cell.judged()


class _Cell:
    """The ranks of the documents of a cell, and pairs that wait until there are as many: places are looked up at once.

    To look places up, all ranks of the cell are hashed.
    """

    def __init__(self, pairs: Pairs, extra: list[str], made: list[str]) -> None:
        self._pairs, self._extra, self._made = pairs, extra, made
        self.ranks: list[pa.Array] = []
        self._waiting: list[pa.RecordBatch] = []

    def take(self, run: pa.RecordBatch) -> Batches:
        """Take pairs, and yield those that can be judged now."""
        self._waiting.append(run)
        if sum(one.num_rows for one in self._waiting) >= sum(map(len, self.ranks)):
            yield from self.judged()

    def judged(self) -> Batches:
        """Yield what is found of the pairs that wait."""
        import pyarrow as pa

        if not self._waiting:
            return
        rows = pa.concat_batches(self._waiting)
        self._waiting = []
        known = pa.concat_arrays(self.ranks) if self.ranks else pa.array([], pa.binary())
        mask, *found = self._pairs(_places(rows["rank"], known), _places(rows["right"], known), rows)
        kept = rows.select(["rank", "right", *self._extra]).filter(mask)
        arrays = [*kept.columns, *(one.filter(mask) for one in found)]
        if kept.num_rows:
            yield pa.RecordBatch.from_arrays(arrays, names=["left", "right", *self._extra, *self._made])


def runs(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield the parts of a batch that have one cell and one tag."""
    import numpy as np

    if not batch.num_rows:
        return
    joint = batch["cell"].to_numpy().astype(np.int64) * 2 + batch["tag"].to_numpy()
    starts = [0, *(np.flatnonzero(joint[1:] != joint[:-1]) + 1), len(joint)]
    for start, end in pairwise(starts):
        yield batch.slice(start, end - start)


def _places(ranks: pa.Array, known: pa.Array) -> np.ndarray[Any, Any]:
    """Return the places of ranks among those of the cell. Errors: ``ParameterError`` if one has no document."""
    import numpy as np
    import pyarrow.compute as pc

    places = pc.index_in(ranks, value_set=known)
    if places.null_count:
        raise changed()
    made: np.ndarray[Any, Any] = places.to_numpy(zero_copy_only=False).astype(np.uint32)
    return made


def changed() -> ParameterError:
    """Return the error for a document that is no longer there, or has another text."""
    return ParameterError(
        "the input gave other rows or texts when it was read again: write it out first, then use what is written"
    )
