"""Clusters documents along edges, in one of three ways that give the same answer.

1. Edges that fit one task go there, and the function of the local engine clusters them.
2. With more, connected components come first (``components``); then that function takes components one after the other.
3. A component that does not fit is clustered in one pass over its edges, sorted by the later document, with one bit per
   document (``StarPass`` of the core). Rounds would take n/2 of them for a chain.

With ``components`` nothing remains to be done after the components. A member that has no edge with the first of its
component is scored against it at the end.

Cost: one shuffle of the edges for the first way; see ``components`` for the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lookalike import _core
from lookalike.errors import ParameterError
from lookalike.spark import columns
from lookalike.spark.components import components
from lookalike.spark.keeping import Kept
from lookalike.spark.plans import Plan
from lookalike.spark.shipping import Batches, shipped

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

#: A document that follows another one, and the exact score; null where it is not known yet.
FOLLOWERS = "rank binary, leader binary, score float"


#: The bytes of a rank for which the limits on edges are made; of longer ones a task takes fewer.
_USUAL_RANK = 32
#: Most documents of a component: they are numbered with 31 bits.
_MOST = 2**31 - 1


def followers(edges: DataFrame, count: int, longest: int, plan: Plan, kept: Kept) -> DataFrame:
    """Return the documents that follow another one. ``count`` is the number of edges, ``longest`` the longest rank."""
    method, room = plan.asked.clustering, max(1.0, longest / _USUAL_RANK)
    if count <= plan.limits.edges / room:
        step = shipped("lookalike.spark.clustering.cluster_all", method)
        return edges.repartition(1).mapInArrow(step, FOLLOWERS)
    labels = kept.hold(components(edges, kept))
    if method == "components":
        return _led(edges, labels)
    labelled = edges.join(labels, edges["left"] == labels["rank"]).drop("rank")
    return _by_component(kept.hold(labelled), int(plan.limits.component / room), method)


def _led(edges: DataFrame, labels: DataFrame) -> DataFrame:
    """Let the first document of each component lead it."""
    from pyspark.sql import functions as sql

    own = labels.where("rank <> component").select("rank", sql.col("component").alias("leader"))
    known = edges.select(sql.col("left").alias("leader"), sql.col("right").alias("rank"), "score")
    return own.join(known, ["leader", "rank"], "left").select("rank", "leader", "score")


def _by_component(labelled: DataFrame, most: int, method: str) -> DataFrame:
    """Cluster each component by itself: those of at most so many edges in a task, larger ones in one pass."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    counted = labelled.withColumn("edges", sql.count("*").over(Window.partitionBy("component")))
    is_large = sql.col("edges") > most
    small = counted.where(~is_large).repartition("component").sortWithinPartitions("component")
    found = small.mapInArrow(shipped("lookalike.spark.clustering.cluster_components", method), FOLLOWERS)
    large = counted.where(is_large)
    largest = large.agg(sql.max("edges")).collect()[0][0]
    if largest is None:
        return found
    if largest >= _MOST:
        _check_documents(large)
    return found.unionByName(_in_one_pass(large))


def _check_documents(edges: DataFrame) -> None:
    """Errors: ``ParameterError`` for a component of more documents than can be numbered."""
    from pyspark.sql import functions as sql

    ends = edges.select("component", sql.explode(sql.array("left", "right")).alias("rank")).distinct()
    most = ends.groupBy("component").count().agg(sql.max("count")).collect()[0][0]
    if most > _MOST:
        raise ParameterError(
            f"{most:,} documents are linked to one another, more than {_MOST:,}: use a higher threshold, or "
            "clustering `components`"
        )


def _in_one_pass(edges: DataFrame) -> DataFrame:
    """Cluster edges of large components by one pass each; the place of a document is its number in its component."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    ends = sql.array(
        sql.struct(sql.col("left").alias("rank"), sql.lit(True).alias("is_left")),
        sql.struct(sql.col("right").alias("rank"), sql.lit(False).alias("is_left")),
    )
    each = edges.withColumn("end", sql.explode(ends)).select("component", "left", "right", "estimate", "score", "end.*")
    place = sql.dense_rank().over(Window.partitionBy("component").orderBy("rank")) - 1
    numbered = each.withColumn("place", place).groupBy("component", "left", "right", "estimate", "score")
    rows = numbered.agg(
        sql.max(sql.when(sql.col("is_left"), sql.col("place"))).alias("first"),
        sql.max(sql.when(~sql.col("is_left"), sql.col("place"))).alias("second"),
    )
    ordered = rows.repartition("component").sortWithinPartitions("component", "second", "first")
    return ordered.mapInArrow(shipped("lookalike.spark.clustering.pass_batches"), FOLLOWERS)


def cluster_all(batches: Batches, method: str) -> Batches:
    """Cluster all edges of a partition on a worker."""
    yield from _clustered(list(batches), method)


def cluster_components(batches: Batches, method: str) -> Batches:
    """Cluster edges sorted by component, as many whole components at a time as a batch completes."""
    import numpy as np
    import pyarrow.compute as pc

    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        # Where the last component of the batch begins: what is before it is complete.
        last = batch["component"][batch.num_rows - 1]
        start = int(np.argmax(pc.equal(batch["component"], last).to_numpy(zero_copy_only=False)))
        if start or (waiting and waiting[-1]["component"][0] != last):
            yield from _clustered([*waiting, batch.slice(0, start)], method)
            waiting = []
        waiting.append(batch.slice(start))
    yield from _clustered(waiting, method)


def _clustered(batches: list[pa.RecordBatch], method: str) -> Iterator[pa.RecordBatch]:
    """Run the function of the local engine on edges."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if not sum(batch.num_rows for batch in batches):
        return
    names = ("left", "right", "estimate", "score")
    left, right, estimates, scores = (columns.joined(batch[name] for batch in batches) for name in names)
    ranks = pc.unique(pa.concat_arrays([left, right]))
    ranks = ranks.take(pc.sort_indices(ranks))
    first, second = (pc.index_in(side, value_set=ranks) for side in (left, right))
    found = _core.follow_edges(_blocks(first, second, estimates, scores), len(ranks), method)
    own, leaders = (ranks.take(pa.array(np.frombuffer(one, dtype=np.uint32))) for one in found[:2])
    score = columns.numbers(found[2], pa.float32(), found[3])
    yield pa.RecordBatch.from_arrays([own, leaders, score], names=["rank", "leader", "score"])


def _blocks(left: pa.Array, right: pa.Array, estimate: pa.Array, score: pa.Array) -> tuple[bytes, bytes, bytes, bytes]:
    """Return the columns of edges as the core takes them."""
    places = columns.block(left, "uint32"), columns.block(right, "uint32")
    return *places, columns.block(estimate, "float32"), columns.block(score, "float32")


def pass_batches(batches: Batches) -> Batches:
    """Cluster edges sorted by component, later and earlier document, with one bit per document."""
    component, passing = None, _Pass()
    for batch in batches:
        for run in _components(batch):
            if run["component"][0] != component:
                yield from passing.end()
                component, passing = run["component"][0], _Pass()
            yield from passing.push(run)
    yield from passing.end()


class _Pass:
    """The pass over one component; it holds the edges of the document that it is at, to name its leader."""

    def __init__(self) -> None:
        self._stream = _core.StarPass()
        self._open: list[pa.RecordBatch] = []

    def push(self, edges: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take edges; yield the followers among the documents that they decide."""
        import pyarrow.compute as pc

        columns_of = (edges[name] for name in ("first", "second", "estimate", "score"))
        found = self._stream.push(_blocks(*columns_of))
        before, self._open = self._open, [*self._open, edges]
        yield from self._named(found)
        rest = edges.filter(pc.equal(edges["second"], edges["second"][edges.num_rows - 1]))
        # The last document may go on, and may have begun before.
        goes_on = rest.num_rows == edges.num_rows and before and before[-1]["second"][0] == rest["second"][0]
        self._open = [*before, rest] if goes_on else [rest]

    def end(self) -> Iterator[pa.RecordBatch]:
        """Decide the last document."""
        yield from self._named(self._stream.end())

    def _named(self, found: tuple[bytes, bytes, bytes, bytes]) -> Iterator[pa.RecordBatch]:
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        own, leaders = (np.frombuffer(one, dtype=np.uint32).astype(np.int64) for one in found[:2])
        if not len(own):
            return
        joint = [
            (columns.raw(batch["second"], "int64") << 32) | columns.raw(batch["first"], "int64") for batch in self._open
        ]
        places = pc.index_in(pa.array(own << 32 | leaders), value_set=pa.array(np.concatenate(joint)))
        ranks = [columns.joined(batch[name] for batch in self._open).take(places) for name in ("right", "left")]
        score = columns.numbers(found[2], pa.float32())
        yield pa.RecordBatch.from_arrays([*ranks, score], names=["rank", "leader", "score"])


def _components(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield the parts of a batch with one component each."""
    import pyarrow.compute as pc

    start = 0
    while start < batch.num_rows:
        rest = batch.slice(start)
        rows = pc.sum(pc.equal(rest["component"], rest["component"][0])).as_py()
        yield rest.slice(0, rows)
        start += rows
