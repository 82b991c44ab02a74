"""From ranks to rows: what is removed for what, and the tables and counts of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.deduplication.result import LINKS, STATES
from lookalike.errors import ParameterError
from lookalike.spark.plans import Plan, column
from lookalike.spark.ranks import is_reference, order_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: A cluster with more documents than this, and than one in a hundred of all, is told.
_FEW, _SHARE = 1000, 100
#: Keys that are told of such a cluster.
_NAMED = 8


def checked(rows: DataFrame, plan: Plan) -> dict[tuple[bool, int], tuple[int, int]]:
    """Return rows and bytes of texts, by whether they are references and by state.

    Errors: ``ParameterError`` if a row has no order, or two have the same.
    """
    from pyspark.sql import functions as F

    if rows.where(F.length("rank") == 0).limit(1).collect():
        raise ParameterError(f"order column `{plan.order}` is null in some rows: every row needs a value of its own")
    order = order_of(F.col("rank"), plan.prefix, plan.kind)
    named = rows.select(is_reference(F.col("rank")).alias("flag"), order.alias("order"))
    twice = named.groupBy("flag", "order").count().where("count > 1").limit(1).collect()
    if twice:
        raise ParameterError(
            f"order column `{plan.order}` has `{twice[0]['order']}` in {twice[0]['count']} rows: every row needs a value "
            "of its own, so that the answer does not depend on where a row lies"
        )
    counts = rows.groupBy(is_reference(F.col("rank")).alias("flag"), "state").agg(F.count("*"), F.sum("size"))
    return {(flag, state): (count, size or 0) for flag, state, count, size in counts.collect()}


def classed(rows: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Return repeated contents with the first row of each, and the rows with the first that has their text."""
    from pyspark.sql import functions as F

    grouped = rows.where("state <= 1").groupBy("content").agg(F.min("rank").alias("first"), F.count("*").alias("rows"))
    repeated = grouped.where("rows > 1").select("content", "first")
    joined = rows.join(repeated, "content", "left")
    has_text = F.col("state") <= 1
    return repeated, joined.withColumn("first", F.coalesce(F.when(has_text, F.col("first")), F.col("rank")))


def may_go(plan: Plan, first: str, rank: str) -> Any:
    """Return whether a row may be removed for an identical one: with references, only for a reference."""
    from pyspark.sql import functions as F

    differ = F.col(first) != F.col(rank)
    if not plan.is_against:
        return differ
    return differ & is_reference(F.col(first)) & ~is_reference(F.col(rank))


def decided(rows: DataFrame, followers: DataFrame | None, link: str, plan: Plan) -> DataFrame:
    """Return (rank, survivor, score, link) of the removed rows. ``rows`` have the first row with their text."""
    from pyspark.sql import functions as F

    same = may_go(plan, "first", "rank")
    of_text = F.when(same, F.lit("identical"))
    if followers is None:
        found = rows.where(same).select("rank", F.col("first").alias("survivor"), F.lit(1.0).cast("float").alias("score"))
        return found.withColumn("link", F.lit("identical"))
    led = followers.select(F.col("rank").alias("first"), "leader", F.col("score").alias("near"))
    if plan.is_against:
        led = led.where(~is_reference(F.col("first")))
    found = rows.select("rank", "first").join(led, "first", "left")
    is_led = F.col("leader").isNotNull()
    survivor = F.when(is_led, F.col("leader")).otherwise(F.col("first"))
    score = F.when(is_led, F.col("near")).otherwise(F.lit(1.0).cast("float"))
    return found.select(
        "rank",
        survivor.alias("survivor"),
        score.alias("score"),
        F.when(is_led, F.lit(link)).otherwise(of_text).alias("link"),
    ).where("link is not null")


def named(table: DataFrame, rows: DataFrame, plan: Plan, ranks: dict[str, str], others: list[str]) -> DataFrame:
    """Return a table with ids in place of ranks; ``ranks`` says which column becomes which."""
    from pyspark.sql import functions as F

    if plan.is_named_by_order:
        ids = [
            order_of(F.col(of), plan.prefix, plan.kind).cast(rows.schema["id"].dataType).alias(name)
            for of, name in ranks.items()
        ]
        return table.select(*ids, *others)
    for of, name in ranks.items():
        table = table.join(rows.select(F.col("rank").alias(of), F.col("id").alias(name)), of, "left")
    return table.select(*ranks.values(), *others)


def clusters(removed: DataFrame) -> DataFrame:
    """Return all rows of clusters as (rank, representative, score, link), from (rank, survivor, score, link)."""
    from pyspark.sql import functions as F

    gone = removed.select("rank", F.col("survivor").alias("representative"), "score", "link")
    kept = removed.select(F.col("survivor").alias("rank")).distinct()
    leading = kept.select(
        "rank", F.col("rank").alias("representative"), F.lit(1.0).cast("float").alias("score"), F.lit(LINKS[0]).alias("link")
    )
    return gone.unionByName(leading)


def pairs(rows: DataFrame, edges: DataFrame | None, link: str, plan: Plan) -> DataFrame:
    """Return every pair as (left, right, score, link): repeated texts with the first, and edges."""
    from pyspark.sql import functions as F

    same = rows.where(may_go(plan, "first", "rank")).select(
        F.col("first").alias("left"),
        F.col("rank").alias("right"),
        F.lit(1.0).cast("float").alias("score"),
        F.lit("identical").alias("link"),
    )
    return same if edges is None else same.unionByName(edges.select("left", "right", "score", F.lit(link).alias("link")))


def kept_rows(df: DataFrame, removed: DataFrame, plan: Plan) -> DataFrame:
    """Return the rows of the input that are not removed."""
    from pyspark.sql import functions as F

    gone = removed.select(order_of(F.col("rank"), plan.prefix, plan.kind).alias("lookalike_order"))
    return df.join(gone, column(df, plan.order) == gone["lookalike_order"], "left_anti")


def ledger(df: DataFrame, removed: DataFrame, rows: DataFrame, plan: Plan) -> DataFrame:
    """Return the removed rows with all their columns and why they went."""
    from pyspark.sql import functions as F

    order = order_of(F.col("rank"), plan.prefix, plan.kind).alias("lookalike_order")
    gone = removed.withColumn("order_rank", F.col("rank"))
    named_rows = named(
        gone.select(order, "survivor", "score", "link"), rows, plan, {"survivor": "lookalike_survivor"},
        ["lookalike_order", F.col("score").alias("lookalike_score"), F.col("link").alias("lookalike_link")],
    )
    told = named_rows.withColumn("lookalike_method", F.lit(plan.asked.method))
    joined = df.join(told, column(df, plan.order) == told["lookalike_order"])
    return joined.drop("lookalike_order")


def states(counts: dict[tuple[bool, int], tuple[int, int]], *, is_reference: bool | None = None) -> dict[str, int]:
    """Return rows by state, of all rows or of one kind."""
    found = dict.fromkeys(STATES, 0)
    for (flag, state), (rows, _) in counts.items():
        if is_reference is None or is_reference == flag:
            found[STATES[state]] += rows
    return found


def giants(followers: DataFrame, documents: DataFrame, count: int, rows: DataFrame, plan: Plan) -> list[dict[str, Any]]:
    """Return the unusually large clusters, with the keys that most of their documents hold, largest first."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    sizes = followers.groupBy("leader").agg((F.count("*") + 1).alias("documents"))
    large = sizes.where(F.col("documents") > max(_FEW, count // _SHARE))
    if not large.limit(1).collect():
        return []
    members = followers.select("rank", "leader").unionByName(large.select(F.col("leader").alias("rank"), "leader"))
    members = members.join(large.select("leader"), "leader", "left_semi")
    keyed = documents.join(members, "rank")
    if plan.asked.method == "simhash":
        held = keyed.select("leader", F.col("print").alias("key"))
    else:
        held = keyed.select("leader", F.explode(F.array_distinct("keys")).alias("key"))
    held = held.groupBy("leader", "key").count().where("count > 1")
    # Keys are unsigned: negative ones are the larger ones.
    by = Window.partitionBy("leader").orderBy(F.desc("count"), F.col("key") < 0, "key")
    told = held.withColumn("place", F.row_number().over(by)).where(F.col("place") <= _NAMED)
    of_leader = named(
        large.join(told, "leader", "left").select("leader", "documents", "key", "count", "place"),
        rows, plan, {"leader": "survivor"}, ["documents", "key", "count", "place", "leader"],
    )
    found: dict[Any, dict[str, Any]] = {}
    for row in sorted(of_leader.collect(), key=lambda row: (-row["documents"], bytes(row["leader"]), row["place"] or 0)):
        one = found.setdefault(
            bytes(row["leader"]), {"survivor": row["survivor"], "documents": row["documents"], "keys": []}
        )
        if row["key"] is not None:
            one["keys"].append((row["key"] % 2**64, row["count"]))
    return list(found.values())
