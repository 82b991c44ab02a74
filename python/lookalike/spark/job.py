"""Runs a deduplication on a cluster: sign, merge identical texts, propose, judge, cluster, and make tables of it.

Each step is a function of Arrow batches that the local engine calls too, or a join or a sort of Spark. Nothing depends
on the order or number of partitions. Only counts come to the driver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.errors import ParameterError
from lookalike.spark import contaminated, tables
from lookalike.spark.clustering import followers
from lookalike.spark.judging import bundled, glance_side, glanced, score_side, scored, texts_of
from lookalike.spark.keeping import Kept, quiet, step
from lookalike.spark.plans import Limits, Plan, check_kind, planned
from lookalike.spark.proposing import proposed
from lookalike.spark.result import SparkDeduplication
from lookalike.spark.shipping import told
from lookalike.spark.signing import signed_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Crowded keys that a summary names.
_TOLD = 100_000


def dedup(
    df: DataFrame,
    *,
    against: DataFrame | None = None,
    order: str | None = None,
    limits: Limits | None = None,
    **chosen: Any,
) -> SparkDeduplication:
    """Find the near-duplicates of a DataFrame: the answer of ``la.dedup``, row for row and score for score.

    :param df: The rows: a column of texts, a column of ids, and any others.
    :param against: Rows to compare with: they stay, and only rows similar to one of them are removed.
    :param order: The column by which rows are in order: whole numbers or strings, another one in every row. By default
        the ids. Of rows that the ``keep`` rule holds equal, the first is kept.
    :param limits: What one task takes at most; never changes an answer.
    :param chosen: Parameters of ``la.dedup``, but for those of files and of one machine (``out``, ``clusters``,
        ``pairs``, ``ledger``, ``report``, ``index``, ``add``, ``format``, ``threads``, ``max_errors``, ``max_pairs``).
        ``memory`` is that of one Python worker.
    :returns: Tables of what is kept and removed, and a summary.
    :raises ParameterError: A parameter is out of range or not offered here, or an order is null or not unique.
    :raises VersionError: A worker has another version of this package.
    """
    plan, held = planned(df, against, order, limits, chosen), Kept()
    try:
        with told(), quiet(df):
            return _deduplicated(df, against, plan, held)
    except BaseException:
        held.close()
        raise


def similar_pairs(
    df: DataFrame,
    *,
    against: DataFrame | None = None,
    order: str | None = None,
    limits: Limits | None = None,
    **chosen: Any,
) -> DataFrame:
    """Find every pair at or above the threshold that the method proposes: what ``Deduplication.pairs`` lists.

    The parameters are those of ``dedup``. The executors hold the pairs: call ``unpersist()`` of the DataFrame when you
    are done with it.

    :returns: ``left``, ``right`` (ids; the left row is preferred), ``score``, ``link``.
    """
    plan, held, pairs = planned(df, against, order, limits, chosen), Kept(), Kept()
    try:
        with told(), quiet(df):
            found = pairs.hold(_pairs(df, against, plan, held))
            with step(df, "score"):
                found.count()
    except BaseException:
        pairs.close()
        raise
    finally:
        held.close()
    return found


def containment(
    df: DataFrame, against: DataFrame, *, order: str | None = None, limits: Limits | None = None, **chosen: Any
) -> DataFrame:
    """Find which rows contain a row of ``against``, or are contained in one: decontamination.

    The executors hold the pairs: call ``unpersist()`` of the DataFrame when you are done with it.

    :param df: The rows, such as those of a training set.
    :param against: The rows to look for, such as those of a benchmark.
    :param order: As that of ``dedup``.
    :param limits: As that of ``dedup``.
    :param chosen: Parameters of ``la.dedup`` for this method: ``threshold``, ``contains``, ``contained``, ``shingle`` …
    :returns: ``left`` (the id of the reference), ``right``, ``score``, ``link``, and the shares ``contains`` and
        ``contained`` with the ``side`` that reaches the threshold, as ``la.dedup`` has them.
    """
    check_kind(against, "references")
    if chosen.get("method", "containment") != "containment":
        raise ParameterError(f"method `{chosen['method']}` has no meaning here: leave it out")
    return similar_pairs(df, against=against, order=order, limits=limits, **{**chosen, "method": "containment"})


def _pairs(df: DataFrame, against: DataFrame | None, plan: Plan, held: Kept) -> DataFrame:
    rows, counts = _signed(df, against, plan, held)
    if plan.is_sought:
        assert against is not None
        return contaminated.named_pairs(df, against, rows, counts, plan, held)
    work = Work(df, against, plan, held, rows, held.hold(tables.repeated_texts(rows)), counts)
    if plan.asked.method != "exact":
        work.find_edges()
    return work.pairs()


def _signed(df: DataFrame, against: DataFrame | None, plan: Plan, held: Kept) -> tuple[DataFrame, tables.Counts]:
    """Sign all rows, and count them."""
    rows = signed_rows(df, plan)
    if against is not None:
        rows = rows.unionByName(signed_rows(against, plan, is_reference=True))
    held.hold(rows)
    with step(df, "sign"):
        return rows, tables.checked(rows, plan)


def _deduplicated(df: DataFrame, against: DataFrame | None, plan: Plan, held: Kept) -> SparkDeduplication:
    rows, counts = _signed(df, against, plan, held)
    if plan.is_sought:
        assert against is not None
        return contaminated.deduplicated(df, against, rows, counts, plan, held)
    repeated = held.hold(tables.repeated_texts(rows))
    work = Work(df, against, plan, held, rows, repeated, counts)
    if plan.asked.method != "exact":
        work.search()
    return work.answer()


class Work:
    """The state of a running job."""

    def __init__(
        self,
        df: DataFrame,
        against: DataFrame | None,
        plan: Plan,
        held: Kept,
        rows: DataFrame,
        repeated: DataFrame,
        counts: tables.Counts,
    ) -> None:
        self.df, self.against, self.plan, self.held = df, against, plan, held
        self.rows, self.counts, self.longest = rows, counts, tables.longest_rank(counts)
        self.classed = tables.with_first(rows, repeated)
        self.documents = self.classed.where("first = rank and state = 0")
        with step(df, "identical texts"):
            self.count, self.unsampled = tables.distinct_documents(counts, repeated)
        self.edges: DataFrame | None = None
        self.followers: DataFrame | None = None
        self.proposals: DataFrame | None = None

    def find_edges(self) -> DataFrame:
        """Propose and judge pairs."""
        plan, held = self.plan, self.held
        cells = glance_side(self.count, self.longest, plan)
        self.proposals = held.hold(proposed(self.documents, plan, cells))
        bundles = self.proposals.where("cell is not null").select("cell", "ranks", "pairs")
        possible = held.hold(glanced(bundles, self.documents, plan, self._score_cells()))
        with step(self.df, "propose and glance"):
            possible.count()
        self.edges = held.hold(self._scored(possible))
        return self.edges

    def search(self) -> None:
        """Find edges and cluster along them."""
        plan, held, edges = self.plan, self.held, self.find_edges()
        with step(self.df, "score"):
            count = edges.count()
        with step(self.df, "cluster"):
            found = held.hold(followers(edges, count, self.longest, plan, held))
            self.followers = found
            if plan.asked.clustering == "components":
                self.followers = held.hold(self._all_scored(found))

    def _score_cells(self) -> int:
        compared = [one for (_, state), one in self.counts.items() if state == 0]
        mean = sum(one.bytes for one in compared) / max(sum(one.rows for one in compared), 1)
        return score_side(self.count, 2 * (mean + self.longest), self.plan)

    def _scored(self, bundles: DataFrame, *, is_edge: bool = True) -> DataFrame:
        texts = texts_of(self.df, self.against, self.plan)
        return scored(bundles, self.documents, texts, self.plan, is_edge=is_edge)

    def _all_scored(self, found: DataFrame) -> DataFrame:
        """Score members of components that have no edge with the first one."""
        from pyspark.sql import functions as sql

        unknown = found.where("score is null").select(sql.col("leader").alias("left"), sql.col("rank").alias("right"))
        if not unknown.limit(1).collect():
            return found
        bundles = self.held.hold(bundled(unknown, self.documents, self.plan, self._score_cells()))
        later = self._scored(bundles, is_edge=False).select(
            sql.col("right").alias("rank"), sql.col("left").alias("leader"), "score"
        )
        return found.where("score is not null").unionByName(later)

    def answer(self) -> SparkDeduplication:
        """Make the tables and count."""
        plan, link = self.plan, _link(self.plan)
        removed = self.held.hold(tables.decided(self.classed, self.followers, link, plan))
        with step(self.df, "decide"):
            summary = self._summary(removed)

        def named(table: DataFrame, ranks: dict[str, str]) -> DataFrame:
            return tables.named(table, self.rows, plan, ranks, ["score", "link"])

        return SparkDeduplication(
            plan.asked,
            tables.kept_rows(self.df, removed, plan),
            named(removed, {"rank": "id", "survivor": "survivor"}),
            named(tables.clusters(removed), {"rank": "id", "representative": "representative"}),
            self.pairs(),
            tables.ledger(self.df, removed, self.rows, plan),
            summary,
            self.held,
        )

    def pairs(self) -> DataFrame:
        """Return every pair, with ids."""
        every = tables.pairs(self.classed, self.edges, _link(self.plan), self.plan)
        return tables.named(every, self.rows, self.plan, {"left": "left", "right": "right"}, ["score", "link"])

    def _summary(self, removed: DataFrame) -> dict[str, Any]:
        unsampled = 0 if self.plan.asked.method in ("exact", "simhash") else self.unsampled
        found = tables.summary(self.plan, self.counts, self.rows, removed)
        capped, notes = self._capped()
        return found | {
            "work": {"documents": self.count, "unsampled": unsampled},
            "capped": capped,
            "notes": [*found["notes"], *notes],
            "giants": []
            if self.followers is None
            else tables.giants(self.followers, self.documents, self.count, self.rows, self.plan),
        }

    def _capped(self) -> tuple[list[dict[str, int]], list[str]]:
        """Return the crowded keys, at most ``_TOLD`` of them because the driver holds them, and a note on the rest."""
        from pyspark.sql import functions as sql

        if self.proposals is None:
            return [], []
        every = self.proposals.where("cell is null").select("key", "documents", "untried")
        # Keys are unsigned: negative ones are the larger ones. One task sorts them: each of several would send as many.
        found = every.repartition(1).sortWithinPartitions(every["key"] < 0, "key").limit(_TOLD).collect()
        told = sorted((row["key"] % 2**64, row["documents"], row["untried"]) for row in found)
        listed = [dict(zip(("key", "documents", "untried"), one, strict=True)) for one in told]
        if len(listed) < _TOLD:
            return listed, []
        keys, untried = every.agg(sql.count("*"), sql.sum("untried")).collect()[0]
        rest = keys - len(listed), untried - sum(one["untried"] for one in listed)
        note = f"keys too common to propose all pairs that are not listed: {rest[0]:,}, with {rest[1]:,} pairs untried"
        return listed, [note] if rest[0] else []


def _link(plan: Plan) -> str:
    """Return what is measured between documents that are not identical."""
    if plan.asked.is_by_features:
        return "filter"
    if plan.asked.is_by_distance:
        return "distance"
    return "contained" if plan.asked.method == "containment" else "exact"
