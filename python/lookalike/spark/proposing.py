"""Proposes pairs of documents: rows (key, rank) are brought together by key and sorted, and one pass pairs them.

The pass holds the first and the last holders of the key it is at, and nothing else. So a key that a third of all
documents hold takes one task longer, never more memory. The rule for such keys is that of the core
(``steps/holders.rs``).

Fingerprints are paired in three steps: distinct ones by keys of their bits, then near ones, then the holders of both.

Cost: a shuffle of 8 bytes and a rank per key and document; up to 128 pairs per key and document.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lookalike import _core
from lookalike.spark import cells, columns
from lookalike.spark.plans import Plan
from lookalike.spark.shipping import Batches, shipped

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

#: Bundles of proposed pairs; rows without a cell tell of keys that do not propose all of theirs.
PROPOSED = f"{cells.BUNDLES}, key bigint, documents bigint, untried bigint"
#: Most rows that are paired at a time, and most pairs of a row.
_ROWS, _PAIRS = 1 << 10, 128


def proposed(documents: DataFrame, plan: Plan, side: int) -> DataFrame:
    """Return all proposed pairs, some of them several times, for so many cells along a side, and the crowded keys."""
    from pyspark.sql import functions as sql

    if plan.asked.method == "simhash":
        rows, key = _by_prints(documents, plan), ["key", "other"]
    else:
        # Of a long document two shingles may have one key.
        rows, key = documents.select(sql.explode(sql.array_distinct("keys")).alias("key"), "rank"), ["key"]
    sorted_rows = rows.repartition(*key).sortWithinPartitions(*key, "rank")
    return sorted_rows.mapInArrow(shipped("lookalike.spark.proposing.pair_batches", plan.is_against, side), PROPOSED)


def pair_batches(batches: Batches, is_against: bool, side: int) -> Batches:
    """Pair rows (key, rank), or (key, other, role, rank), that are sorted by all but the role."""
    stream = _core.HolderStream(is_against, side)
    for batch in batches:
        rows = cells.rows_at_a_time([batch["rank"]], _ROWS, _PAIRS)
        for start in range(0, batch.num_rows, rows):
            _pair(stream, batch.slice(start, rows))
            yield from _taken(stream, is_end=False)
    yield from _taken(stream, is_end=True)


def _pair(stream: _core.HolderStream, batch: pa.RecordBatch) -> None:
    others = None
    if "other" in batch.schema.names:
        others = columns.block(batch["other"], "int64"), columns.block(batch["role"], "int8")
    stream.push(columns.block(batch["key"], "int64"), others, columns.buffers(batch["rank"]))


def _taken(stream: _core.HolderStream, *, is_end: bool) -> Iterator[pa.RecordBatch]:
    """Yield the bundles and the crowded keys that a stream has."""
    import numpy as np
    import pyarrow as pa

    for made in cells.bundles(stream, is_end=is_end):
        yield _batch(made.columns, [pa.nulls(made.num_rows, pa.int64())] * 3)
    if lists := stream.capped(is_end):
        found = np.array(lists, dtype=np.uint64).view(np.int64).reshape(len(lists), 3)
        none = [pa.nulls(len(lists), kind) for kind in (pa.int32(), pa.list_(pa.binary()), pa.binary())]
        yield _batch(none, [pa.array(found[:, at]) for at in range(3)])


def _batch(bundles: list[pa.Array], crowded: list[pa.Array]) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([*bundles, *crowded], names=[one.split()[0] for one in PROPOSED.split(", ")])


def _by_prints(documents: DataFrame, plan: Plan) -> DataFrame:
    """Return the holders of each fingerprint, and of each two near ones, as lists to be paired."""
    from pyspark.sql import functions as sql

    own = documents.where("print is not null").select("print", "rank")
    near = near_prints(own.select("print").distinct(), plan.asked.distance)
    swapped = sql.struct(sql.col("other").alias("key"), sql.col("key").alias("other"))
    both = near.select(sql.explode(sql.array(sql.struct("key", "other"), swapped)).alias("of")).select(
        "of.key", "of.other"
    )
    hubs = both.join(own, both["key"] == own["print"]).select("key", "other", sql.lit(1).cast("tinyint"), "rank")
    others = both.join(own, both["other"] == own["print"]).select("key", "other", sql.lit(2).cast("tinyint"), "rank")
    same = own.select(
        sql.col("print").alias("key"), sql.col("print").alias("other"), sql.lit(0).cast("tinyint"), "rank"
    )
    return same.union(hubs).union(others).toDF("key", "other", "role", "rank")


def near_prints(prints: DataFrame, distance: int) -> DataFrame:
    """Return the pairs (key, other) of different fingerprints within a distance, each once."""
    count = prints.count() if distance else 0
    step = shipped("lookalike.spark.proposing.key_prints", distance, count)
    keyed = prints.mapInArrow(step, "choice int, bits bigint, print bigint")
    rows = keyed.repartition("choice", "bits").sortWithinPartitions("choice", "bits", "print")
    return rows.mapInArrow(
        shipped("lookalike.spark.proposing.near_batches", distance, count), "key bigint, other bigint"
    )


def key_prints(batches: Batches, distance: int, count: int) -> Batches:
    """Return the keys of fingerprints on a worker."""
    import numpy as np
    import pyarrow as pa

    keys = _core.PrintKeys(distance, count)
    for batch in batches:
        prints = columns.raw(batch["print"], "int64")
        choices, bits = keys.keys(prints.tobytes())
        made = [
            columns.numbers(choices, pa.int32()),
            columns.numbers(bits, pa.int64()),
            pa.array(np.repeat(prints, len(keys))),
        ]
        yield pa.RecordBatch.from_arrays(made, names=["choice", "bits", "print"])


def near_batches(batches: Batches, distance: int, count: int) -> Batches:
    """Find near fingerprints among rows sorted by choice, bits and fingerprint."""
    import pyarrow as pa

    stream = _core.PrintKeys(distance, count).stream()
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS):
            part = batch.slice(start, _ROWS)
            left, right = stream.push(
                columns.block(part["choice"], "int32"),
                columns.block(part["bits"], "int64"),
                columns.block(part["print"], "int64"),
            )
            if left:
                made = [columns.numbers(left, pa.int64()), columns.numbers(right, pa.int64())]
                yield pa.RecordBatch.from_arrays(made, names=["key", "other"])
