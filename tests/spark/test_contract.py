"""One contract for both engines: the cluster gives the bytes of the local engine, whatever its partitions.

The cases cover every two values of method, clustering, keep rule, references and way to cluster.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest

import lookalike as la
import lookalike.spark as las
from support import engines
from support.generated import mixed

ROWS, REFERENCES = mixed(2_000, seed=14), mixed(400, seed=14)
#: The three ways to cluster: all edges in one task, components first, and large components in one pass.
ONE, PARTS, PASS = las.Limits(), las.Limits(edges=0), las.Limits(edges=0, component=4)
CASES = [
    ("minhash", "components", "longest", False, 1, ONE),
    ("minhash", "star", "max:number", True, 200, PARTS),
    ("minhash", "star", "first", True, 7, PASS),
    ("exact", "star", "first", False, 1, ONE),
    ("exact", "star", "longest", False, 200, ONE),
    ("exact", "components", "max:number", True, 7, ONE),
    ("containment", "components", "longest", False, 2, PARTS),
    ("containment", "star", "max:number", False, 7, PASS),
    ("containment", "star", "first", True, 1, ONE),
    ("simhash", "components", "max:number", True, 2, ONE),
    ("simhash", "star", "longest", True, 1, PASS),
    ("simhash", "components", "first", False, 7, PARTS),
]
CHOICES = (
    ("minhash", "exact", "containment", "simhash"),
    ("star", "components"),
    ("first", "longest", "max:number"),
    (False, True),
    (ONE, PARTS, PASS),
)


def can_be(method: str, clustering: str, keep: str, is_against: bool, limits: las.Limits) -> bool:
    """Whether there is such a case: without edges there is one way to cluster, and components need no pass."""
    is_sought = method == "containment" and is_against
    if is_sought and (clustering, keep) != ("star", "first"):
        return False
    has_edges = method != "exact" and not is_sought
    return limits is ONE or (has_edges and (limits is PARTS or clustering == "star"))


def twos(case: Sequence[Any]) -> set[Any]:
    """Every two values of a case, with their places."""
    return set(itertools.combinations(enumerate(case), 2))


def test_cases_have_every_two_values_that_can_be_together() -> None:
    wanted = {two for case in itertools.product(*CHOICES) if can_be(*case) for two in twos(case)}
    cases = [(*case[:4], case[5]) for case in CASES]
    assert all(can_be(*case) for case in cases)
    assert wanted == {two for case in cases for two in twos(case)}


@pytest.fixture(autouse=True)
def _compiled(spark: Any) -> Iterator[None]:
    """Stages are compiled here, as in any session but that of the other tests."""
    names = ("spark.sql.codegen.factoryMode", "spark.sql.codegen.wholeStage")
    before = {name: spark.conf.get(name) for name in names}
    for name, value in zip(names, ("FALLBACK", "true"), strict=True):
        spark.conf.set(name, value)
    yield
    for name, value in before.items():
        spark.conf.set(name, value)


def frame(spark: Any, rows: list[dict[str, Any]], partitions: int) -> Any:
    values = [(row["id"], row["text"], row["number"], row["name"]) for row in rows]
    return spark.createDataFrame(values, engines.SCHEMA).repartition(partitions)


@pytest.mark.parametrize(
    ("method", "clustering", "keep", "is_against", "partitions", "limits"),
    CASES,
    ids=lambda value: str(value) if not isinstance(value, las.Limits) else "",
)
def test_the_cluster_gives_the_bytes_of_one_machine(
    spark: Any, method: str, clustering: str, keep: str, is_against: bool, partitions: int, limits: las.Limits
) -> None:
    chosen = {"method": method, "clustering": clustering, "keep": keep, "distance": 6 if method == "simhash" else None}
    references = REFERENCES if is_against else None
    expected = engines.local(ROWS, references, **chosen)
    against = frame(spark, REFERENCES, 3) if is_against else None
    with las.dedup(frame(spark, ROWS, partitions), against=against, limits=limits, **chosen) as answer:
        assert engines.cluster(answer) == expected
    assert expected["removed"]


#: Settings of a session that change what Spark gives to a step, or how it computes.
SETTINGS = {
    "spark.sql.execution.arrow.useLargeVarTypes": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "3",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.ansi.enforceReservedKeywords": "true",
    "spark.sql.parser.quotedRegexColumnNames": "true",
    "spark.sql.retainGroupColumns": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "Asia/Kathmandu",
}


@pytest.mark.parametrize(("method", "is_against"), [("minhash", False), ("containment", True), ("simhash", False)])
def test_settings_of_the_session_change_nothing(spark: Any, method: str, is_against: bool) -> None:
    rows, references = ROWS[:400], REFERENCES[:80] if is_against else None
    expected = engines.local(rows, references, method=method)
    against = frame(spark, references, 3) if references else None
    given = SETTINGS | {"spark.sql.ansi.enabled": str(method != "simhash").lower()}
    before = {name: spark.conf.get(name) for name in given}
    try:
        for name, value in given.items():
            spark.conf.set(name, value)
        with las.dedup(frame(spark, rows, 3), against=against, limits=PASS, method=method) as answer:
            assert engines.cluster(answer) == expected
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    assert expected["removed"]


def test_an_order_that_is_not_the_ids(spark: Any) -> None:
    """Rows are in the order of a column of strings, by which no other column is sorted."""
    rows, chosen = ROWS[:600], {"order": "name", "length_within": 0.3}
    expected = engines.local(rows, **chosen)
    with las.dedup(frame(spark, rows, 5), **chosen) as answer:
        assert engines.cluster(answer) == expected
    by_rows = engines.local(rows, **(chosen | {"order": None}))
    assert by_rows["removed"] != expected["removed"]


def test_the_largest_number_is_kept_also_of_strings(spark: Any) -> None:
    """Numbers may be written as strings; rows without one come last, and a note counts them."""
    written = ["4.5", "x", None, " 9 ", "1e2", "0x10", "inf", "NaN", "-3", "", "1_0", "4.5d"]
    rows = [{"id": row["id"], "text": row["text"], "q": written[row["id"] % 12]} for row in ROWS[:600]]
    expected = la.dedup(pa.Table.from_pylist(rows), keep="max:q")
    answer = las.dedup(spark.createDataFrame(rows, "id bigint, text string, q string"), keep="max:q")
    assert sorted(row[0] for row in answer.kept.select("id").collect()) == sorted(expected.select()["id"].to_pylist())
    assert answer.notes == expected.notes
    assert answer.notes


def test_rows_that_cannot_be_deduplicated_are_refused_by_name(spark: Any) -> None:
    schema = "id bigint, text string, q string"
    with pytest.raises(la.ParameterError, match="number column `q` holds no number in any row"):
        las.dedup(spark.createDataFrame([(1, "a b c d e f", "x")], schema), keep="max:q")
    with pytest.raises(la.ParameterError, match="column `LOOKALIKE_score` has a name that the ledger needs"):
        las.dedup(spark.createDataFrame([(1, "a", "x")], "id bigint, text string, LOOKALIKE_score string"))
    with pytest.raises(la.ParameterError, match="rows of type list are no DataFrame of Spark"):
        las.dedup([{"id": 1, "text": "a"}])  # type: ignore[arg-type]
    with pytest.raises(la.ParameterError, match="rows of a stream never end"):
        las.dedup(spark.readStream.format("rate").load())
    with pytest.raises(la.ParameterError, match="it has no columns"):
        las.dedup(spark.createDataFrame([], ""))
