"""`near` and `simhash` on a cluster answer as the local engine and as comparing all with all."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lookalike as la
from oracles import near as oracle

Rows = list[tuple[str, int]]


def near(*arguments: Any, **chosen: Any) -> Any:
    from lookalike.spark.searching import near as find

    return find(*arguments, **chosen)


def clustered(seed: int, count: int, prefix: str) -> Rows:
    """Most are within a few bits of a few centres, some are equal, and the extremes are there."""
    chance = random.Random(seed)
    centres = [random.Random(1).getrandbits(64) for _ in range(7)]
    values = [0, 2**64 - 1, 2**63]
    while len(values) < count:
        value = chance.choice(centres)
        for _ in range(chance.randrange(7)):
            value ^= 1 << chance.randrange(64)
        values.append(value)
    return [(f"{prefix}{number:04}", value) for number, value in enumerate(values)]


def frame(spark: Any, rows: Rows, partitions: int) -> Any:
    signed = [(name, value - (value >> 63 << 64)) for name, value in rows]
    return spark.createDataFrame(signed, "id string, fingerprint long").repartition(partitions)


def written(path: Path, rows: Rows) -> Path:
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([("id", "fingerprint"), *((name, f"{value:#018x}") for name, value in rows)])
    return path


def told(found: Any) -> list[tuple[str, str, int]]:
    return [(row.left, row.right, row.distance) for row in found.pairs.collect()]


@pytest.mark.parametrize(("distance", "partitions"), [(0, 1), (3, 7), (5, 2), (10, 3)])
def test_pairs_are_those_of_the_local_engine_and_of_the_oracle(
    spark: Any, tmp_path: Path, distance: int, partitions: int
) -> None:
    stored, queries = clustered(1, 400, "s"), clustered(2, 150, "q")
    found = told(near(frame(spark, stored, partitions), frame(spark, queries, 2), distance=distance))
    expected = sorted(oracle.near(queries, stored, distance))
    assert found == expected
    local = la.near(written(tmp_path / "s.csv", stored), written(tmp_path / "q.csv", queries), distance=distance)
    assert found == sorted(zip(local.left, local.right, local.distances, strict=True))


def test_a_table_is_compared_with_itself_each_pair_once(spark: Any) -> None:
    rows = clustered(3, 300, "r")
    assert told(near(frame(spark, rows, 5))) == sorted(oracle.join(rows, 3))


def test_several_scans_find_what_one_does(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from lookalike.spark import searching

    stored, queries = clustered(1, 400, "s"), clustered(2, 150, "q")
    monkeypatch.setattr(searching, "BLOCK", 40)
    monkeypatch.setattr(searching, "PIECE", 16)
    found = told(near(frame(spark, stored, 3), frame(spark, queries, 9)))
    assert found == sorted(oracle.near(queries, stored, 3))


def test_a_row_that_comes_twice_gives_its_pairs_once(spark: Any) -> None:
    stored, queries = clustered(1, 60, "s"), clustered(2, 30, "q")
    twice = near(frame(spark, stored * 2, 3), frame(spark, queries * 3, 2))
    assert told(twice) == sorted(oracle.near(queries, stored, 3))


def test_no_query_and_no_stored_row_give_no_pair(spark: Any) -> None:
    rows = frame(spark, clustered(1, 20, "s"), 2)
    assert told(near(rows, rows.limit(0))) == []
    assert told(near(rows.limit(0), rows)) == []


def test_many_small_files_of_queries_are_one_table(spark: Any, tmp_path: Path) -> None:
    stored, queries = clustered(1, 200, "s"), clustered(2, 90, "q")
    frame(spark, queries, 45).write.parquet(str(tmp_path / "queries"))
    found = near(frame(spark, stored, 3), spark.read.parquet(str(tmp_path / "queries")))
    assert told(found) == sorted(oracle.near(queries, stored, 3))


#: As people write fingerprints, and what is none.
WRITTEN = [
    "5", "-1", "0x1f", "0Xff", "00000000000000ff", "1000000000000000", "18446744073709551615", "18446744073709551616",
    "-9223372036854775808", "-9223372036854775809", "9223372036854775808", " 7 ", "\t8\n", "", "x", "0x", "1.5", "-",
    "+1", "0x1ffffffffffffffff", "٣", "1_0", "ffffffffffffffff", "FFFFFFFFFFFFFFFE", "0" * 40 + "1", "1e3", "nan",
]  # fmt: skip


@pytest.mark.parametrize("hexadecimal", [False, True])
def test_texts_are_read_as_the_local_engine_reads_them(spark: Any, hexadecimal: bool) -> None:
    from lookalike.neighbours.files import parse
    from lookalike.spark.prints import prints

    texts = [one for one in WRITTEN if hexadecimal or not (len(one) == 16 and one != "1000000000000000")]
    rows = [(str(number), text) for number, text in enumerate(texts)]
    found = prints(
        spark.createDataFrame([*rows, (None, "5"), ("n", None)], "id string, fingerprint string"), "id", "fingerprint"
    )
    read = {row.id: row.fingerprint % 2**64 for row in found.rows.collect()}
    expected = {name: parse(text, hexadecimal=hexadecimal) for name, text in rows if text}
    assert read == {name: value for name, value in expected.items() if value is not None}
    reasons = {row.id: row.reason for row in found.left_out.collect()}
    assert reasons[None] == "has no id"
    assert reasons["n"] == reasons[str(texts.index(""))] == "has no fingerprint"
    assert reasons.keys() == {None, *(name for name, _ in [*rows, ("n", "")] if name not in read)}


def test_unsigned_numbers_of_parquet_are_read(spark: Any, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    rows = clustered(1, 50, "s")
    columns = {"id": [name for name, _ in rows], "fingerprint": pa.array([value for _, value in rows], pa.uint64())}
    pq.write_table(pa.table(columns), tmp_path / "prints.parquet")
    assert told(near(spark.read.parquet(str(tmp_path / "prints.parquet")))) == sorted(oracle.join(rows, 3))


def test_limits_are_those_of_the_local_engine(spark: Any) -> None:
    rows, chance = clustered(4, 200, "r"), random.Random(5)
    traits = {name: (chance.choice([0, 79, 80, 100, 101]), chance.choice(["en", "de", ""])) for name, _ in rows}
    table = [(name, value - (value >> 63 << 64), *traits[name]) for name, value in rows]
    df = spark.createDataFrame(table, "id string, fingerprint long, length int, language string").repartition(3)
    for share, same in ((0.2, False), (None, True), (0.0, True)):
        expected = oracle.limited(oracle.join(rows, 3), traits, share, same)
        assert told(near(df, length_within=share, same_language=same)) == sorted(expected)


def test_what_cannot_be_searched_is_refused_by_name(spark: Any) -> None:
    rows = spark.createDataFrame([("a", 1.5)], "id string, fingerprint double")
    with pytest.raises(la.ParameterError, match="column `fingerprint` holds double"):
        near(rows)
    with pytest.raises(la.ParameterError, match="no column `print`: the table has `id`, `fingerprint`"):
        near(rows, fingerprint_column="print")
    with pytest.raises(la.ParameterError, match="distance `11` is out of range"):
        near(rows, distance=11)


def test_fingerprints_are_those_of_the_local_engine(spark: Any, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    from lookalike.spark.simhashing import simhash

    chance = random.Random(6)
    words = ["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog", "der", "schnelle", "braune", "Fuchs"]
    texts = [" ".join(chance.choices(words, k=chance.randrange(1, 60))) for _ in range(300)]
    texts += ["", "?!", None, "слово " * 30, "a\x00b"]
    rows = [(f"d{number:03}", text) for number, text in enumerate(texts)]
    table = pa.table({"id": [name for name, _ in rows], "text": pa.array(texts, pa.string())})
    for chosen in (
        {},
        {"features": "paper", "languages": True},
        {"shingle": 2, "unit": "character", "languages": True},
    ):
        la.simhash_corpus(table, tmp_path / "local.parquet", overwrite=True, **chosen)
        expected = pq.read_table(tmp_path / "local.parquet").to_pylist()
        found = simhash(spark.createDataFrame(rows, "id string, text string").repartition(5), **chosen).collect()
        made = [row.asDict() for row in sorted(found, key=lambda row: row.id)]
        states = [row.pop("state") for row in made]
        for row in made:
            row["fingerprint"] = None if row["fingerprint"] is None else row["fingerprint"] % 2**64
        assert made == expected
        assert states[-3] == "missing"
        assert states[-5] == "without_features"
