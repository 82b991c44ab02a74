"""Turns ranks into rows again: which row is removed for which, and the tables and counts of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.deduplication.result import LINKS, STATES
from lookalike.deduplication.settings import told_numbers
from lookalike.errors import ParameterError
from lookalike.spark.plans import LEDGER, Plan
from lookalike.spark.ranks import LONGEST, as_given, has_no_number, is_reference, order_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The columns of a ledger that say why a row was removed. The last one is only used while it is made.
LEDGER_COLUMNS = LEDGER[:-1]
#: A cluster with more documents than this, and than one in a hundred of all, is told.
_FEW, _SHARE = 1000, 100
#: Keys that are told of such a cluster.
_NAMED = 8


class Counted(NamedTuple):
    """Rows of a kind and state: how many, the bytes of their texts and of the longest rank, how many lack something."""

    rows: int
    bytes: int
    #: Bytes of the longest rank.
    longest: int
    #: Rows without a key, and without the number that ``keep`` asks for.
    unsampled: int
    unnumbered: int


#: Counts by whether rows are references, and by state.
Counts = dict[tuple[bool, int], Counted]


def checked(rows: DataFrame, plan: Plan) -> Counts:
    """Count rows. Errors: ``ParameterError`` if a row has no order, two have the same, or none has a wanted number."""
    from pyspark.sql import functions as sql

    kind = sql.when(sql.length("rank") > 0, is_reference(sql.col("rank"))).alias("flag")
    unsampled = sql.sum(sql.when(sql.size("keys") == 0, 1).otherwise(0))
    is_numbered = plan.asked.number_column is not None and not plan.is_sought
    without = sql.count(sql.when(has_no_number(sql.col("rank"), plan.prefix), 1)) if is_numbered else sql.lit(0)
    sizes = sql.sum("size"), sql.max(sql.length("rank"))
    counts = rows.groupBy(kind, "state").agg(sql.count("*"), *sizes, unsampled, without).collect()
    found = {(flag, state): Counted(*numbers) for flag, state, *numbers in counts}
    if (longest := longest_rank(found)) > LONGEST:
        raise ParameterError(
            f"order column `{plan.order}` has a value of {longest - plan.prefix:,} bytes: use values of at most "
            f"{LONGEST - plan.prefix:,} bytes, such as numbers or hashes"
        )
    # A row without an order has an empty rank.
    held = sql.when(sql.length("rank") > 0, order_of(sql.col("rank"), plan.prefix, plan.kind))
    order = as_given(held, plan.kind)
    check_order(rows.select(is_reference(sql.col("rank")).alias("flag"), order.alias("order")), plan.order)
    unnumbered(found, plan)
    return found


def check_order(rows: DataFrame, column: str) -> None:
    """Errors: ``ParameterError`` if an ``order`` is null, empty, or that of two rows with equal other columns."""
    from pyspark.sql import functions as sql

    is_none = sql.col("order").isNull() | (sql.col("order").cast("string") == "")
    found = rows.groupBy(*rows.columns).count().where(is_none | (sql.col("count") > 1)).limit(1).collect()
    if found and found[0]["order"] in (None, ""):
        what = "null" if found[0]["order"] is None else "empty"
        raise ParameterError(f"order column `{column}` is {what} in some rows: every row needs a value of its own")
    if found:
        raise ParameterError(
            f"order column `{column}` has `{found[0]['order']}` in {found[0]['count']} rows: every row needs a value "
            "of its own, so that the answer does not depend on where a row lies"
        )


def longest_rank(counts: Counts) -> int:
    """Return the bytes of the longest rank."""
    return max((one.longest for one in counts.values()), default=0)


def unnumbered(counts: Counts, plan: Plan) -> list[str]:
    """Return a note on rows without the number that decides. Errors: ``ParameterError`` if no row has one."""
    if plan.asked.number_column is None or plan.is_sought:
        return []
    own = [one for (flag, state), one in counts.items() if not flag and STATES[state] in ("compared", "short")]
    rows, numbered = (sum(one.rows for one in own), sum(one.rows - one.unnumbered for one in own))
    return told_numbers(rows, numbered, plan.asked.number_column)


def repeated_texts(rows: DataFrame) -> DataFrame:
    """Return the contents that several rows have: the first of these rows, how many there are, and what all share."""
    from pyspark.sql import functions as sql

    keys = sql.first(sql.size("keys")).alias("keys")
    found = rows.where("state <= 1").groupBy("content")
    of = found.agg(
        sql.min("rank").alias("first"), sql.count("*").alias("rows"), sql.first("state").alias("state"), keys
    )
    return of.where("rows > 1")


def with_first(rows: DataFrame, repeated: DataFrame) -> DataFrame:
    """Return rows with the first row that has their text."""
    from pyspark.sql import functions as sql

    # Rows without a text are joined by their rank, which nothing has: all of their contents are 0, and would meet in
    # one task.
    is_text = sql.col("state") <= 1
    known = repeated.select(sql.col("content").alias("joint"), "first")
    joined = rows.withColumn("joint", sql.when(is_text, sql.col("content")).otherwise(sql.col("rank")))
    # A small table would be broadcast by way of the driver.
    joined = joined.join(known.hint("merge"), "joint", "left").drop("joint")
    return joined.withColumn("first", sql.coalesce(sql.when(is_text, sql.col("first")), sql.col("rank")))


def distinct_documents(counts: Counts, repeated: DataFrame) -> tuple[int, int]:
    """Return the number of distinct texts that are compared, and of those without a key."""
    from pyspark.sql import functions as sql

    more = sql.sum(sql.col("rows") - 1)
    of = repeated.where("state = 0").agg(
        more, sql.sum(sql.when(sql.col("keys") == 0, sql.col("rows") - 1).otherwise(0))
    )
    rows, unsampled = of.collect()[0]
    compared = [one for (_, state), one in counts.items() if state == 0]
    return sum(one.rows for one in compared) - (rows or 0), sum(one.unsampled for one in compared) - (unsampled or 0)


def may_go(plan: Plan, first: str, rank: str) -> Any:
    """Return whether a row may be removed for an identical one: with references, only for a reference."""
    from pyspark.sql import functions as sql

    differ = sql.col(first) != sql.col(rank)
    if not plan.is_against:
        return differ
    return differ & is_reference(sql.col(first)) & ~is_reference(sql.col(rank))


def decided(rows: DataFrame, followers: DataFrame | None, link: str, plan: Plan) -> DataFrame:
    """Return (rank, survivor, score, link) of the removed rows. ``rows`` have the first row with their text."""
    from pyspark.sql import functions as sql

    same = may_go(plan, "first", "rank")
    of_text = sql.when(same, sql.lit("identical"))
    if followers is None:
        found = rows.where(same).select(
            "rank", sql.col("first").alias("survivor"), sql.lit(1.0).cast("float").alias("score")
        )
        return found.withColumn("link", sql.lit("identical"))
    led = followers.select(sql.col("rank").alias("first"), "leader", sql.col("score").alias("near"))
    if plan.is_against:
        led = led.where(~is_reference(sql.col("first")))
    found = rows.select("rank", "first").join(led, "first", "left")
    is_led = sql.col("leader").isNotNull()
    survivor = sql.when(is_led, sql.col("leader")).otherwise(sql.col("first"))
    score = sql.when(is_led, sql.col("near")).otherwise(sql.lit(1.0).cast("float"))
    return found.select(
        "rank",
        survivor.alias("survivor"),
        score.alias("score"),
        sql.when(is_led, sql.lit(link)).otherwise(of_text).alias("link"),
    ).where("link is not null")


def named(table: DataFrame, rows: DataFrame, plan: Plan, ranks: dict[str, str], others: list[str]) -> DataFrame:
    """Return a table with ids in place of ranks; ``ranks`` says which column becomes which."""
    from pyspark.sql import functions as sql

    if plan.is_named_by_order:
        ids = [
            order_of(sql.col(of), plan.prefix, plan.kind).cast(rows.schema["id"].dataType).alias(name)
            for of, name in ranks.items()
        ]
        return table.select(*ids, *others)
    for of in ranks:
        known = rows.select(sql.col("rank").alias(f"{of}_rank"), sql.col("id").alias(f"{of}_id"))
        # A small table would be broadcast by way of the driver.
        table = table.join(known.hint("merge"), table[of] == known[f"{of}_rank"], "left")
    return table.select(*(sql.col(f"{of}_id").alias(name) for of, name in ranks.items()), *others)


def clusters(removed: DataFrame) -> DataFrame:
    """Return all rows of clusters as (rank, representative, score, link), from (rank, survivor, score, link)."""
    from pyspark.sql import functions as sql

    gone = removed.select("rank", sql.col("survivor").alias("representative"), "score", "link")
    kept = removed.select(sql.col("survivor").alias("rank")).distinct()
    leading = kept.select(
        "rank",
        sql.col("rank").alias("representative"),
        sql.lit(1.0).cast("float").alias("score"),
        sql.lit(LINKS[0]).alias("link"),
    )
    return gone.unionByName(leading)


def pairs(rows: DataFrame, edges: DataFrame | None, link: str, plan: Plan) -> DataFrame:
    """Return every pair as (left, right, score, link): repeated texts with the first, and edges."""
    from pyspark.sql import functions as sql

    same = rows.where(may_go(plan, "first", "rank")).select(
        sql.col("first").alias("left"),
        sql.col("rank").alias("right"),
        sql.lit(1.0).cast("float").alias("score"),
        sql.lit("identical").alias("link"),
    )
    return (
        same if edges is None else same.unionByName(edges.select("left", "right", "score", sql.lit(link).alias("link")))
    )


def kept_rows(df: DataFrame, removed: DataFrame, plan: Plan) -> DataFrame:
    """Return the rows of the input that are not removed."""
    from pyspark.sql import functions as sql

    gone = removed.select(order_of(sql.col("rank"), plan.prefix, plan.kind).alias("lookalike_order"))
    return df.join(gone.hint("merge"), plan.order_in(df) == gone["lookalike_order"], "left_anti")


def ledger(df: DataFrame, removed: DataFrame, rows: DataFrame, plan: Plan) -> DataFrame:
    """Return the removed rows with all their columns and why they were removed."""
    from pyspark.sql import functions as sql

    order = order_of(sql.col("rank"), plan.prefix, plan.kind).alias("lookalike_order")
    named_rows = named(
        removed.select(order, "survivor", "score", "link"),
        rows,
        plan,
        {"survivor": "lookalike_survivor"},
        ["lookalike_order", sql.col("score").alias("lookalike_score"), sql.col("link").alias("lookalike_link")],
    )
    told = named_rows.withColumn("lookalike_method", sql.lit(plan.asked.method))
    joined = df.join(told.hint("merge"), plan.order_in(df) == told["lookalike_order"])
    return joined.drop("lookalike_order")


def restored(kept: DataFrame, ledger: DataFrame, *, is_json: bool) -> DataFrame:
    """Return the rows of the input of a deduplication, in no order: the kept rows and those of its ledger.

    Files of JSON have no columns that are null in all rows. Errors: ``ParameterError`` if the ledger is none, or if its
    rows have other columns than the kept ones.
    """
    if is_json and not ledger.columns:
        return kept
    missing = [name for name in LEDGER_COLUMNS if name not in ledger.columns]
    if missing:
        raise ParameterError(f"the ledger has no column `{missing[0]}`: give the ledger that engine spark wrote")
    removed = ledger.drop(*LEDGER_COLUMNS)
    differing = sorted(set(removed.columns) ^ set(kept.columns))
    if differing and not is_json:
        raise ParameterError(
            f"column `{differing[0]}` is in the clean rows or in the ledger, but not in both: give those of one run"
        )
    return kept.unionByName(removed, allowMissingColumns=is_json)


def states(counts: Counts, *, is_reference: bool | None = None) -> dict[str, int]:
    """Return rows by state, of all rows or of one kind."""
    found = dict.fromkeys(STATES, 0)
    for (flag, state), one in counts.items():
        if is_reference is None or is_reference == flag:
            found[STATES[state]] += one.rows
    return found


def summary(plan: Plan, counts: Counts, rows: DataFrame, removed: DataFrame) -> dict[str, Any]:
    """Return the facts that every method has, by the names that ``Deduplication.to_json`` gives them."""
    from pyspark.sql import functions as sql

    of_link = [sql.count_if(sql.col("link") == link).alias(link) for link in LINKS[1:]]
    below = sql.count_if(sql.col("score") < plan.asked.least_score).alias("below")
    of_cluster = removed.groupBy("survivor").agg((sql.count("*") + 1).alias("rows"), below, *of_link)
    sums = [sql.sum(name) for name in ("below", *LINKS[1:])]
    clusters, largest, *gone = of_cluster.agg(sql.count("*"), sql.max("rows"), *sums).collect()[0]
    below, *gone = (number or 0 for number in gone)
    every, theirs = states(counts), states(counts, is_reference=True)
    count, references = sum(every.values()), sum(theirs.values())
    return {
        "parameters": plan.asked.shown,
        "rows": count,
        "references": references,
        "states": every,
        **({"reference_states": theirs} if plan.is_against else {}),
        "removed": dict(zip(LINKS[1:], gone, strict=True)),
        "removed_below": below if plan.asked.clustering == "components" else 0,
        "kept": count - references - sum(gone),
        "clusters": clusters,
        "largest_cluster": largest or 1,
        "work": {"documents": sum(one.rows for (_, state), one in counts.items() if state == 0), "unsampled": 0},
        "capped": [],
        "giants": [],
        "repeated_ids": repeated_ids(rows, plan),
        "notes": unnumbered(counts, plan),
    }


def repeated_ids(rows: DataFrame, plan: Plan) -> dict[str, Any] | None:
    """Return how many ids several rows have, as ``RepeatedIds.to_json`` does but without places; ``None`` if none."""
    from pyspark.sql import functions as sql

    # Otherwise ids are the order, and repeated ones were refused.
    if plan.is_named_by_order and not plan.is_against:
        return None
    several = rows.where("id is not null").groupBy("id").count().where("count > 1")
    ids, count, example = several.agg(sql.count("*"), sql.sum("count"), sql.min("id")).collect()[0]
    return {"ids": ids, "rows": count, "example": str(example), "places": []} if ids else None


def giants(followers: DataFrame, documents: DataFrame, count: int, rows: DataFrame, plan: Plan) -> list[dict[str, Any]]:
    """Return the unusually large clusters, with the keys that most of their documents hold, largest first."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    sizes = followers.groupBy("leader").agg((sql.count("*") + 1).alias("documents"))
    large = sizes.where(sql.col("documents") > max(_FEW, count // _SHARE))
    if not large.limit(1).collect():
        return []
    members = followers.select("rank", "leader").unionByName(large.select(sql.col("leader").alias("rank"), "leader"))
    members = members.join(large.select("leader"), "leader", "left_semi")
    keyed = documents.join(members, "rank")
    if plan.asked.method == "simhash":
        held = keyed.select("leader", sql.col("print").alias("key"))
    else:
        held = keyed.select("leader", sql.explode(sql.array_distinct("keys")).alias("key"))
    held = held.groupBy("leader", "key").count().where("count > 1")
    # Keys are unsigned: negative ones are the larger ones.
    by = Window.partitionBy("leader").orderBy(sql.desc("count"), sql.col("key") < 0, "key")
    told = held.withColumn("place", sql.row_number().over(by)).where(sql.col("place") <= _NAMED)
    of_leader = named(
        large.join(told, "leader", "left").select("leader", "documents", "key", "count", "place"),
        rows,
        plan,
        {"leader": "survivor"},
        ["documents", "key", "count", "place", "leader"],
    )
    found: dict[Any, dict[str, Any]] = {}
    for row in sorted(
        of_leader.collect(), key=lambda row: (-row["documents"], bytes(row["leader"]), row["place"] or 0)
    ):
        one = found.setdefault(
            bytes(row["leader"]), {"survivor": row["survivor"], "documents": row["documents"], "keys": []}
        )
        if row["key"] is not None:
            one["keys"].append((row["key"] % 2**64, row["count"]))
    return list(found.values())
