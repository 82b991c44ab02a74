"""Decontamination on a cluster: which rows contain a reference, or are contained in one.

The core looks up every shingle of a row in a table of the references (``references.rs``), as on one machine. Here a
task holds the table of one block of references and passes rows through; a row is sent to each block. So references of
any size have room, and one block is enough for texts of ``Limits.references`` bytes.

Cost: the texts of the rows are shuffled once per block of references, and the references once per group of rows.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from lookalike import _core
from lookalike.deduplication.reading import open_core
from lookalike.spark import columns, tables
from lookalike.spark.cells import changed, rows_at_a_time, runs
from lookalike.spark.judging import texts_of
from lookalike.spark.keeping import Kept
from lookalike.spark.plans import Plan
from lookalike.spark.ranks import is_reference, order_of
from lookalike.spark.result import SparkDeduplication
from lookalike.spark.scratch import scratch
from lookalike.spark.shipping import Batches, filled, shipped

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

#: A reference and a row, with the distinct shingles of each and those of both.
MATCHES = "left binary, right binary, common bigint, reference_size bigint, row_size bigint, identical boolean"
#: What is told of a pair.
_TOLD = ["score", "link", "contains", "contained", "side"]
#: Least number of groups of rows that are looked up apart from each other, and bytes of a group. A group is also so
#: many times as large as a block of references, because each group gets a copy of it.
_GROUPS, _GROUP_BYTES, _TIMES = 16, 256 << 20, 16
#: Most pairs of a block and a group.
_MOST_CELLS = 1 << 30
#: Stands for any number of bytes or pairs.
_ALL = 2**62
#: Most rows that are looked up at a time, references that they may find, and pairs of a batch that is passed on.
_ROWS, _MOST_FOUND, _PASSED = 1 << 10, 1 << 21, 1 << 16


def deduplicated(
    df: DataFrame, against: DataFrame, rows: DataFrame, counts: tables.Counts, plan: Plan, held: Kept
) -> SparkDeduplication:
    """Find the rows that have a reference, and make tables of the answer."""
    repeated = held.hold(tables.repeated_texts(rows))
    classed = tables.with_first(rows, repeated)
    found = held.hold(_shared(_matches(classed, texts_of(df, against, plan), counts, plan), plan))
    removed = held.hold(_best(found))

    def named(table: DataFrame, ranks: dict[str, str], others: list[str] = _TOLD) -> DataFrame:
        return tables.named(table, rows, plan, ranks, others)

    return SparkDeduplication(
        plan.asked,
        tables.kept_rows(df, removed, plan),
        named(removed, {"rank": "id", "survivor": "survivor"}),
        named(tables.clusters(removed), {"rank": "id", "representative": "representative"}, _TOLD[:2]),
        named(found, {"left": "left", "right": "right"}),
        tables.ledger(df, removed, rows, plan),
        tables.summary(plan, counts, rows, removed) | {"contamination": _told(found, removed, classed, counts)},
        held,
    )


def named_pairs(
    df: DataFrame, against: DataFrame, rows: DataFrame, counts: tables.Counts, plan: Plan, held: Kept
) -> DataFrame:
    """Return every reference and a row that has it, with ids."""
    classed = tables.with_first(rows, held.hold(tables.repeated_texts(rows)))
    found = _shared(_matches(classed, texts_of(df, against, plan), counts, plan), plan)
    return tables.named(found, rows, plan, {"left": "left", "right": "right"}, _TOLD)


def _matches(classed: DataFrame, texts: DataFrame, counts: tables.Counts, plan: Plan) -> DataFrame:
    """Return every reference that a row has, of equal references the first."""
    from pyspark.sql import functions as sql

    is_dense = plan.asked.unit == "character"
    blocks, groups = _divided(counts, max(1, plan.limits.references // (8 if is_dense else 1)))
    order = order_of(sql.col("rank"), plan.prefix, plan.kind).alias("order")
    flag = is_reference(sql.col("rank")).alias("flag")
    ranked = classed.where("state <= 1").select("rank", "first", "content", flag, order)
    read = ranked.join(texts, ["flag", "order"], "left").select("rank", "first", "flag", "content", "text")
    group = sql.pmod(sql.xxhash64("rank"), sql.lit(groups)).cast("int")
    block = sql.pmod(sql.xxhash64("rank"), sql.lit(blocks)).cast("int")

    def every(count: int, name: str) -> Column:
        return sql.explode(sql.sequence(sql.lit(0), sql.lit(count - 1))).alias(name)

    references = read.where("flag and first = rank").select(
        "rank", "content", "text", sql.lit(0).alias("tag"), block.alias("block"), every(groups, "group")
    )
    own = read.where("not flag").select(
        "rank",
        "content",
        "text",
        sql.lit(1).alias("tag"),
        every(blocks, "block"),
        group.alias("group"),
    )
    together = references.unionByName(own).withColumn("cell", sql.col("block") * groups + sql.col("group"))
    ordered = together.select("cell", "tag", "rank", "content", "text").repartition("cell")
    step = shipped("lookalike.spark.contaminated.look_up", plan.chosen)
    return ordered.sortWithinPartitions("cell", "tag", "rank").mapInArrow(step, MATCHES)


def _divided(counts: tables.Counts, block_bytes: int) -> tuple[int, int]:
    """Return the number of blocks of references, and of groups of rows."""
    theirs, own = (sum(one.bytes for (flag, _), one in counts.items() if flag is wanted) for wanted in (True, False))
    references = sum(one.rows for (flag, state), one in counts.items() if flag and state <= 1)
    # A row is sent to every block, so there are not more of them than references.
    blocks = max(1, min(-(-theirs // block_bytes), references))
    group_bytes = max(_GROUP_BYTES, _TIMES * theirs // blocks)
    return blocks, max(_GROUPS, min(own // group_bytes, _MOST_CELLS // blocks))


def look_up(batches: Batches, chosen: dict[str, Any]) -> Batches:
    """Look rows up in the references of their cell, which come first."""
    cell, known = None, None
    waiting: list[pa.RecordBatch] = []
    with ExitStack() as folders:
        for run in (run for batch in batches for run in runs(batch)):
            number, tag = run["cell"][0].as_py(), run["tag"][0].as_py()
            if number != cell:
                folders.close()
                cell, known, waiting = number, None, []
            if tag == 0:
                waiting.append(run)
            elif waiting:
                if known is None:
                    folder = folders.enter_context(scratch())
                    known = _Lookup(waiting, chosen, folder)
                for at in range(0, run.num_rows, known.rows):
                    yield from known.found(run.slice(at, known.rows))


class _Lookup:
    """A table of references. ``rows`` are looked up at a time, so few that all of them may have every reference."""

    def __init__(self, batches: list[pa.RecordBatch], chosen: dict[str, Any], folder: str) -> None:
        asked = filled(chosen)
        self._ranks = columns.joined(batch["rank"] for batch in batches)
        self.rows = max(1, min(_ROWS, _MOST_FOUND // len(self._ranks)))
        self._core = open_core(asked, folder, sketch="shingles")
        pushed = 0
        for batch in batches:
            _push(self._core, batch, pushed)
            pushed += batch.num_rows
        self._core.seal(*asked.sought, asked.threshold, _ALL, _ALL)

    def found(self, rows: pa.RecordBatch) -> Batches:
        """Return what some rows have of the references."""
        import numpy as np
        import pyarrow as pa

        _push(self._core, rows, len(self._ranks))
        *numbers, identical = _core.drain_matches(self._core)
        values = [np.asarray(memoryview(one)).astype(np.int64) for one in numbers]
        values.append(np.frombuffer(identical, dtype=bool))
        size = rows_at_a_time((self._ranks, rows["rank"]), _PASSED)
        names = [one.split()[0] for one in MATCHES.split(", ")]
        for start in range(0, len(identical), size):
            theirs, own, *rest = (one[start : start + size] for one in values)
            ranks = self._ranks.take(pa.array(theirs)), rows["rank"].take(pa.array(own - len(self._ranks)))
            yield pa.RecordBatch.from_arrays([*ranks, *map(pa.array, rest)], names=names)


def _push(core: _core.Corpus, batch: pa.RecordBatch, before: int) -> None:
    """Take texts behind those before. Errors: ``ParameterError`` if they are not those that were signed."""
    if batch["text"].null_count:
        raise changed()
    validity, offsets, data, width, rows = columns.buffers(batch["text"])
    core.push_columns(validity, offsets, data, width, rows, True, None)
    if not columns.are_equal(columns.sixteens(_core.corpus_contents(core, before)), batch["content"]):
        raise changed()


def _shared(matches: DataFrame, plan: Plan) -> DataFrame:
    """Return pairs with both shares, and which of them reach the threshold and were asked for."""
    from pyspark.sql import functions as sql

    def share(of: str) -> Any:
        return sql.when(sql.col(of) > 0, sql.col("common") / sql.col(of)).otherwise(sql.lit(1.0))

    contains, contained = plan.asked.sought
    shared = matches.withColumn("contains", share("reference_size")).withColumn("contained", share("row_size"))
    holds = (sql.col("contains") >= plan.asked.threshold) & sql.lit(contains)
    is_held = (sql.col("contained") >= plan.asked.threshold) & sql.lit(contained)
    side = sql.when(holds & is_held, "both").when(holds, "contains").otherwise("contained")
    larger = sql.greatest(
        sql.when(sql.lit(contains), sql.col("contains")).otherwise(0.0),
        sql.when(sql.lit(contained), sql.col("contained")).otherwise(0.0),
    )
    listed = sql.when(side == "both", sql.greatest("contains", "contained"))
    listed = listed.when(side == "contains", sql.col("contains")).otherwise(sql.col("contained"))
    link = sql.when(sql.col("identical"), "identical").otherwise("contained")
    return shared.select(
        "left",
        "right",
        listed.alias("score"),
        link.alias("link"),
        "contains",
        "contained",
        side.alias("side"),
        larger.alias("larger"),
        "identical",
    )


def _best(found: DataFrame) -> DataFrame:
    """Return of each row the reference it goes for: the identical one, else the highest share, then the first."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    by = Window.partitionBy("right").orderBy(sql.desc("identical"), sql.desc("larger"), "left")
    best = found.withColumn("place", sql.row_number().over(by)).where("place = 1")
    score = sql.col("larger").cast("float").alias("score")
    return best.select(
        sql.col("right").alias("rank"),
        sql.col("left").alias("survivor"),
        score,
        "link",
        "contains",
        "contained",
        "side",
    )


def _told(found: DataFrame, removed: DataFrame, classed: DataFrame, counts: tables.Counts) -> dict[str, int]:
    """Return how many references were found, in how many rows, on which side."""
    from pyspark.sql import functions as sql

    first = found.select(sql.col("left").alias("first")).distinct()
    seen = (
        classed.where(is_reference(sql.col("rank")) & (sql.col("state") <= 1)).join(first, "first", "left_semi").count()
    )
    sides = {row["side"]: row["count"] for row in removed.groupBy("side").count().collect()}
    with_text = sum(one.rows for (flag, state), one in counts.items() if flag and state <= 1)
    counted = {name: sides.get(name, 0) for name in ("contains", "contained", "both")}
    return {"references": with_text, "found": seen, "rows": sum(sides.values()), **counted, "unlisted_pairs": 0}
