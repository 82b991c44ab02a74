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

from lookalike.spark.shipping import Batches

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from pyspark.sql import DataFrame

#: What a task does with the documents of a cell, and with its pairs, which are rows of two documents.
Documents = Callable[["pa.RecordBatch", bool], None]
Pairs = Callable[["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"], "list[pa.Array]"]


def side(documents: int, bytes_each: float, cell_bytes: int, least: int) -> int:
    """Return G, so that the documents of one cell take about ``cell_bytes``."""
    return int(min(max(least, 2 * documents * bytes_each / max(cell_bytes, 1)), 4096))


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

    ``documents`` is told whether a new cell begins. ``pairs`` returns a mask and the new columns.
    """
    import numpy as np
    import pyarrow as pa

    cell, last = -1, None
    ranks: list[pa.Array] = []
    for batch in batches:
        for run in runs(batch):
            number, tag = run["cell"][0].as_py(), run["tag"][0].as_py()
            if number != cell:
                cell, ranks, last = number, [], None
                documents(run.slice(0, 0), True)
            if tag == 0:
                documents(run, False)
                ranks.append(run["rank"])
                continue
            left, right = (_places(run[name], ranks) for name in ("rank", "right"))
            # Pairs that several keys propose stand beside each other.
            joint = left.astype(np.uint64) << np.uint64(32) | right.astype(np.uint64)
            is_new = np.ones(len(joint), dtype=bool)
            is_new[1:] = joint[1:] != joint[:-1]
            is_new[0] = joint[0] != last
            last = joint[-1]
            mask, *found = pairs(left[is_new], right[is_new])
            kept = run.filter(pa.array(is_new)).filter(mask)
            arrays = [
                kept["rank"],
                kept["right"],
                *(kept[name] for name in extra),
                *(one.filter(mask) for one in found),
            ]
            if kept.num_rows:
                yield pa.RecordBatch.from_arrays(arrays, names=["left", "right", *extra, *made])


def runs(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield the parts of a batch that have one cell and one tag."""
    import numpy as np

    if not batch.num_rows:
        return
    joint = batch["cell"].to_numpy().astype(np.int64) * 2 + batch["tag"].to_numpy()
    starts = [0, *(np.flatnonzero(joint[1:] != joint[:-1]) + 1), len(joint)]
    for start, end in pairwise(starts):
        yield batch.slice(start, end - start)


def _places(ranks: pa.Array, known: list[pa.Array]) -> np.ndarray[Any, Any]:
    """Return the places of ranks among those of the cell."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    places = pc.index_in(ranks, value_set=pa.concat_arrays(known))
    made: np.ndarray[Any, Any] = places.to_numpy(zero_copy_only=False).astype(np.uint32)
    return made
