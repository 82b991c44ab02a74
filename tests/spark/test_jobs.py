"""Jobs beside each other, inputs that change, and rows that are refused: what a program may do with a session."""

from __future__ import annotations

import os
import random
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
import lookalike.spark as las
from lookalike.spark import job, shipping
from lookalike.spark.keeping import quiet
from support import engines
from support.generated import mixed

TEXT = "the keeper of the light wrote down every ship that passed the rock in the year of the storm"


def rows_of(numbers: range) -> pa.Table:
    return pa.table({"id": list(numbers), "text": [f"{TEXT} {number // 2}" for number in numbers]})


def kept(answer: Any) -> list[int]:
    return sorted(row["id"] for row in answer.kept.select("id").collect())


def test_a_job_reads_what_the_folder_has_now_beside_an_answer_that_is_open(spark: Any, tmp_path: Path) -> None:
    """Spark holds the rows of the first answer, and takes two plans over one path for the same."""
    pq.write_table(rows_of(range(4)), tmp_path / "a.parquet")
    first = las.dedup(spark.read.parquet(str(tmp_path)), threshold=1)
    assert first.summary["rows"] == 4
    pq.write_table(rows_of(range(100, 104)), tmp_path / "b.parquet")
    with las.dedup(spark.read.parquet(str(tmp_path)), threshold=1) as second:
        assert second.summary["rows"] == 8
        expected = la.dedup(pq.read_table(tmp_path), threshold=1).select()
        assert kept(second) == sorted(expected["id"].to_pylist())
    first.close()


def test_closing_an_answer_lets_another_one_on_the_same_rows_be(spark: Any) -> None:
    rows = spark.createDataFrame(rows_of(range(20)).to_pylist(), "id bigint, text string")
    first, second = las.dedup(rows), las.dedup(rows)
    first.close()
    held = second._held._held
    assert held
    assert all(one.storageLevel.useMemory for one in held)
    second.close()
    assert not any(one.storageLevel.useMemory for one in held)


def test_settings_of_a_session_are_as_before_after_the_last_of_two_jobs(spark: Any) -> None:
    names = ["spark.sql.adaptive.enabled", "spark.sql.inMemoryColumnarStorage.batchSize"]
    rows, names = spark.range(1), [*names, "spark.sql.shuffle.partitions"]
    usual = spark.conf.get(names[-1])
    try:
        spark.conf.set(names[-1], "1")
        before = [spark.conf.get(name) for name in names]
        one, other = quiet(rows), quiet(rows)
        one.__enter__()
        other.__enter__()
        one.__exit__(None, None, None)
        assert [spark.conf.get(name) for name in names] == ["false", "256", "2"]
        other.__exit__(None, None, None)
        assert [spark.conf.get(name) for name in names] == before
    finally:
        spark.conf.set(names[-1], usual)


def test_a_long_chain_in_a_session_with_one_partition(spark: Any) -> None:
    """Components take many rounds, which must not become one task."""
    words, ids = [f"w{number}" for number in range(700)], list(range(300))
    random.Random(1).shuffle(ids)
    texts = [" ".join(words[2 * place : 2 * place + 60]) for place in range(300)]
    rows = [{"id": name, "text": text, "number": None, "name": ""} for name, text in zip(ids, texts, strict=True)]
    rows.sort(key=lambda row: row["id"])
    name = "spark.sql.shuffle.partitions"
    usual = spark.conf.get(name)
    try:
        spark.conf.set(name, "1")
        frame = spark.createDataFrame([tuple(row.values()) for row in rows], engines.SCHEMA)
        with las.dedup(frame, limits=las.Limits(edges=0, component=4), clustering="components") as answer:
            assert engines.cluster(answer) == engines.local(rows, clustering="components")
    finally:
        spark.conf.set(name, usual)


@pytest.mark.parametrize("against", [False, True])
@pytest.mark.parametrize("method", ["minhash", "containment"])
def test_unsigned_numbers_are_ids_and_order(spark: Any, tmp_path: Path, method: str, against: bool) -> None:
    """Spark reads unsigned 64-bit numbers of Parquet as decimals."""
    step = 2**64 // 1000
    given = mixed(300, 3), mixed(60, 3)
    frames = []
    for number, part in enumerate(given):
        ids = pa.array([(row["id"] + 300) * step for row in part], pa.uint64())
        table = pa.table({"id": ids, "text": pa.array([row["text"] for row in part], pa.string())})
        pq.write_table(table, tmp_path / f"{number}.parquet")
        frames.append(spark.read.parquet(str(tmp_path / f"{number}.parquet")).repartition(3))
    assert frames[0].schema["id"].dataType.simpleString() == "decimal(20,0)"
    with las.dedup(frames[0], against=frames[1] if against else None, method=method) as answer:

        def small(table: Any) -> list[list[Any]]:
            rows = (
                [int(one) // step - 300 if isinstance(one, Decimal) else one for one in row] for row in table.collect()
            )
            return list(rows)

        found = engines.cluster(answer, rows_of=small)
        ledger = answer.ledger
        assert sorted(row[0] for row in small(ledger.select("id"))) == sorted(one[0] for one in found["removed"])
    assert found == engines.local(given[0], given[1] if against else None, method=method)


def test_numbers_too_long_to_be_an_order_and_repeated_ones_are_refused(spark: Any) -> None:
    texts = spark.createDataFrame([(Decimal(2**63 + 5), one) for one in "ab"], "id decimal(20,0), text string")
    with pytest.raises(la.ParameterError, match="has `9223372036854775813` in 2 rows"):
        las.dedup(texts)
    for kind in ("decimal(38,0)", "decimal(20,2)", "double"):
        with pytest.raises(la.ParameterError, match="order column `id` is of type"):
            las.dedup(texts.selectExpr(f"cast(id as {kind}) as id", "text"))


def test_pairs_are_held_until_they_are_unpersisted_and_nothing_else_is(spark: Any) -> None:
    rows = spark.createDataFrame(rows_of(range(20)).to_pylist(), "id bigint, text string")
    persistent = spark.sparkContext._jsc.getPersistentRDDs
    before = set(persistent())
    found = las.similar_pairs(rows)
    expected = la.dedup(rows_of(range(20))).pairs()
    assert sorted(tuple(row)[:2] for row in found.where("left >= 0").collect()) == [
        (one[0], one[1]) for one in expected
    ]
    assert found.storageLevel.useMemory
    assert len(set(persistent()) - before) == 1
    found.unpersist()
    assert not set(persistent()) - before


def test_no_table_of_an_answer_is_sent_through_the_driver(spark: Any) -> None:
    """A session that broadcasts small tables reads the tables of an answer after the job."""
    rows = spark.createDataFrame(rows_of(range(20)).to_pylist(), "id bigint, text string, name string")
    name = "spark.sql.autoBroadcastJoinThreshold"
    before = spark.conf.get(name)
    try:
        spark.conf.set(name, str(1 << 30))
        with las.dedup(rows.withColumn("name", rows["id"].cast("string")), order="name") as answer:
            for table in (answer.kept, answer.removed, answer.clusters, answer.pairs, answer.ledger):
                plan = table._jdf.queryExecution().executedPlan().toString()
                assert "Join" in plan
                assert "Broadcast" not in plan
    finally:
        spark.conf.set(name, before)


def test_crowded_keys_with_references(spark: Any) -> None:
    """Nearly all rows hold the same keys, so many that these do not propose all pairs."""
    base = random.Random(1).choices([f"w{number}" for number in range(4000)], k=60)

    def near(count: int, end: str) -> list[dict[str, Any]]:
        texts = [" ".join([*base, f"{end}{place % 290}"]) for place in range(count)]
        return [{"id": place, "text": text, "number": None, "name": str(place)} for place, text in enumerate(texts)]

    rows, references = near(320, "x"), near(180, "y")
    expected = engines.local(rows, references)
    frames = (
        spark.createDataFrame([tuple(row.values()) for row in part], engines.SCHEMA) for part in (rows, references)
    )
    with las.dedup(next(frames), against=next(frames)) as answer:
        assert engines.cluster(answer) == expected
    assert expected["summary"]["capped"]


def test_a_document_with_two_shingles_of_one_key_is_not_paired_with_itself(spark: Any) -> None:
    """Of 200,000 shingles a few share a key of 32 bits."""
    draw = random.Random(3)
    texts = [" ".join(str(draw.randrange(10**6)) for _ in range(200_000)), TEXT, f"{TEXT} again"]
    rows = [{"id": place, "text": text, "number": None, "name": str(place)} for place, text in enumerate(texts)]
    chosen = {"method": "containment", "modulus": 1}
    with las.dedup(spark.createDataFrame([tuple(row.values()) for row in rows], engines.SCHEMA), **chosen) as answer:
        assert engines.cluster(answer) == engines.local(rows, **chosen)


@pytest.mark.parametrize(
    ("chosen", "schema", "row", "said"),
    [
        ({}, "id bigint, text string", (None, "a"), "order column `id` is null in some rows"),
        (
            {},
            "id string, text string",
            ("x" * 5000, "a"),
            "has a value of 5,000 bytes: use values of at most 4,095 bytes",
        ),
        ({"keep": "max:flag"}, "id bigint, text string, flag boolean", (1, "a", True), "holds bool: name a column of"),
        ({}, "id double, text string", (1.0, "a"), "order column `id` is of type double"),
        ({}, "id string, text string", ("", "a"), "order column `id` is empty in some rows"),
        (
            {"order": "n"},
            "id map<int,int>, text string, n int",
            ({1: 2}, "a", 1),
            "id column `id` is of type map<int,int>",
        ),
        ({"order": "n"}, "id double, text string, n int", (0.5, "a", 1), "id column `id` is of type double"),
        ({"keep": "max:n"}, "id bigint, text string", (1, "a"), "number column `n` is not in the rows"),
        (
            {"limits": las.Limits(cell=0)},
            "id bigint, text string",
            (1, "a"),
            "limit cell is 0: use a whole number of 1 or more",
        ),
        (
            {},
            "id bigint, text string, TEXT string",
            (1, "a", "b"),
            "columns `text` and `TEXT` of the rows are one to Spark",
        ),
    ],
)
def test_rows_and_limits_that_are_refused(
    spark: Any, chosen: dict[str, Any], schema: str, row: tuple[Any, ...], said: str
) -> None:
    with pytest.raises(la.ParameterError, match=said):
        las.dedup(spark.createDataFrame([row], schema), **chosen)


def test_references_with_ids_of_another_type_are_refused(spark: Any) -> None:
    schema = "id {}, text string, place int"
    rows = spark.createDataFrame([("007", TEXT, 1)], schema.format("string"))
    others = spark.createDataFrame([(7, TEXT, 1)], schema.format("bigint"))
    with pytest.raises(la.ParameterError, match="id column `id` is of type bigint in against=…, and of type string"):
        las.dedup(rows, against=others, order="place")
    narrow = spark.createDataFrame([(8, TEXT, 1)], schema.format("int"))
    with las.dedup(others, against=narrow, order="place") as answer:
        assert answer.summary["removed"]["identical"] == 1


def twins(rows: Any) -> Any:
    return rows.selectExpr("id", "text", "text as `TEXT`")


def test_what_a_parameter_may_be_does_not_depend_on_earlier_jobs() -> None:
    """True, 1 and 1.0 are equal to Python."""
    assert shipping.filled({"threshold": 1}).threshold == 1
    with pytest.raises(la.ParameterError, match="threshold `True` is not a number"):
        shipping.filled({"threshold": True})


def test_numbers_of_any_kind_travel(spark: Any) -> None:
    rows = spark.createDataFrame([(1, TEXT), (2, f"{TEXT} x")], "id bigint, text string")
    with las.dedup(rows, threshold=Fraction(1, 4)) as answer:
        assert answer.summary["kept"] == 1


def test_simhashes_of_signed_texts_have_parameters_of_their_own(spark: Any) -> None:
    rows = spark.createDataFrame([(1, f"{TEXT} 2026-11-18")], "id bigint, text string")
    found = las.sign(rows, features="paper", ignore=["dates"]).collect()[0]
    assert found["simhash"] % 2**64 == la.simhash(TEXT, features="paper")
    assert found["simhash"] != las.sign(rows).collect()[0]["simhash"]


def test_crowded_keys_are_told_by_one_task(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many partitions there are, not more of them come to the driver."""
    monkeypatch.setattr(job, "_TOLD", 5)
    keys = spark.range(0, 400, 1, 8).selectExpr("200 - id as key", "7L as documents", "2L as untried")
    work = job.Work.__new__(job.Work)
    work.proposals = keys.selectExpr("cast(null as int) as cell", "*")
    listed, notes = work._capped()
    assert [one["key"] for one in listed] == [0, 1, 2, 3, 4]
    assert notes == ["keys too common to propose all pairs that are not listed: 395, with 790 pairs untried"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda rows: las.dedup(None), "rows of type NoneType are no DataFrame of Spark"),
        (lambda rows: las.dedup(rows["text"]), "rows of type Column are no DataFrame of Spark"),
        (lambda rows: las.dedup(rows, order=["id"]), "order of type list is no name of a column"),
        (lambda rows: las.dedup(rows, limits={"edges": 1}), "limits of type dict are none of a cluster"),
        (lambda rows: las.dedup(rows, limits=las.Limits(edges="x")), "limit edges is x"),
        (lambda rows: las.dedup(rows, max_pairs=3), "max_pairs has no meaning on a cluster"),
        (lambda rows: las.dedup(rows, method="simhash", ignore="dates"), "ignore `dates` is one pattern where several"),
        (lambda rows: las.simhash(rows, ignore="dates"), "ignore `dates` is one pattern where several go"),
        (lambda rows: las.containment(rows, None), "references of type NoneType are no DataFrame"),
        (lambda rows: las.containment(rows, rows, method="exact"), "method `exact` has no meaning here"),
        (lambda rows: las.sign("x"), "rows of type str are no DataFrame"),
        (lambda rows: las.near(rows, [1, 2]), "queries of type list are no DataFrame"),
        (lambda rows: las.build_index(rows, kind="class"), "kind has no meaning here"),
        (lambda rows: las.build_index(rows, text_column="id"), "text column `id` is of type bigint"),
        (lambda rows: las.near(rows, distance=2.9), "distance `2.9` is not a whole number"),
        (lambda rows: las.dedup(rows, unit={}), "unit of type dict cannot be sent to workers"),
        (
            lambda rows: las.near(twins(rows), id_column="text"),
            "`text` and `TEXT` of the table are one to Spark",
        ),
        (lambda rows: las.simhash(twins(rows)), "`text` and `TEXT` of the table are one to Spark"),
        (lambda rows: las.build_index(twins(rows)), "`text` and `TEXT` of the table are one to Spark"),
    ],
)
def test_arguments_that_are_none_of_a_cluster_are_refused_by_name(spark: Any, call: Any, said: str) -> None:
    with pytest.raises(la.ParameterError, match=said):
        call(spark.createDataFrame([(1, TEXT)], "id bigint, text string"))


def test_rows_without_a_length_are_left_out_of_a_search_by_length(spark: Any) -> None:
    values = [("a", 1, None), ("b", 1, "3"), ("c", 1, "3"), ("d", 1, "2.5"), ("e", 1, "-3")]
    found = las.near(spark.createDataFrame(values, "id string, fingerprint bigint, length string"), length_within=0.1)
    assert [tuple(row) for row in found.pairs.collect()] == [("b", "c", 0)]
    told = {row["id"]: row["reason"] for row in found.left_out.collect()}
    reason = "length `{}` is not a whole number of tokens"
    assert told == {"a": reason.format(""), "d": reason.format("2.5"), "e": reason.format("-3")}


def test_a_setting_that_a_program_changes_while_a_job_runs_stays(spark: Any) -> None:
    name = "spark.sql.autoBroadcastJoinThreshold"
    before = spark.conf.get(name, None)
    with quiet(spark.range(1)):
        spark.conf.set(name, "12345")
    assert spark.conf.get(name) == "12345"
    if before is None:
        spark.conf.unset(name)
    else:
        spark.conf.set(name, before)


def test_columns_may_have_any_name(spark: Any) -> None:
    rows = spark.createDataFrame([(1, TEXT), (2, TEXT)], "`i.d` bigint, `te``xt` string")
    with las.dedup(rows, text_column="te`xt", id_column="i.d") as answer:
        assert answer.removed.collect() == [(2, 1, 1.0, "identical")]
        assert answer.kept.collect() == [(1, TEXT)]


def test_texts_are_signed_whatever_their_ids_are(spark: Any) -> None:
    rows = spark.createDataFrame([((1, "a b"), TEXT)], "id struct<`a b`: int, c: string>, text string")
    assert las.sign(rows).select("id").collect() == [((1, "a b"),)]
    with pytest.raises(la.ParameterError, match="method has no meaning here"):
        las.sign(rows, method="simhash")


def test_repeated_ids_beside_another_order_are_counted(spark: Any) -> None:
    rows = [row | {"id": row["id"] // 7} for row in mixed(80, seed=6)]
    frame = spark.createDataFrame([tuple(row.values()) for row in rows], engines.SCHEMA)
    with las.dedup(frame, order="name") as answer:
        found = answer.summary["repeated_ids"]
    expected = la.dedup(pa.Table.from_pylist(rows, schema=engines.KINDS), order="name").repeated_ids
    assert expected is not None
    assert (found["ids"], found["rows"]) == expected[:2]


@pytest.mark.parametrize("is_against", [False, True], ids=["minhash", "lookup"])
def test_a_text_that_is_another_one_when_it_is_read_again_is_told(spark: Any, is_against: bool) -> None:
    """The last of 150 words is another one at every read: sketches do not tell, the content does."""
    from pyspark.sql import functions as sql

    base = " ".join(random.Random(2).choices([f"w{number}" for number in range(4000)], k=149))

    # A function with types would be taken for one of pandas.
    changing = sql.udf(lambda number: f"{base} {number}{os.urandom(8).hex()}", "string")
    text = changing.asNondeterministic()
    rows = spark.range(20).select("id", text("id").alias("text"))
    chosen = {"method": "containment", "against": rows} if is_against else {}
    with pytest.raises(la.ParameterError, match="the input gave other rows or texts when it was read again"):
        las.dedup(rows, **chosen).removed.collect()


@pytest.mark.parametrize(
    ("orders", "said"),
    [([1, None], "is null in some rows"), ([1, 1], "has `1` in 2 rows"), ([1.5, 2.5], "type double")],
)
def test_the_order_of_an_index_is_checked(spark: Any, orders: list[Any], said: str) -> None:
    kind = "double" if isinstance(orders[0], float) else "bigint"
    rows = spark.createDataFrame([(TEXT, one) for one in orders], f"text string, place {kind}")
    with pytest.raises(la.ParameterError, match=said):
        las.build_index(rows, order="place")
