"""`near` and `simhash` on a cluster answer as the local engine and as comparing all with all."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
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


#: An id or none, a fingerprint, a length and a language or none.
Untidy = list[tuple[str | None, int, int, str | None]]
UNTIDY = "id string, fingerprint long, length int, language string"
#: How near rows are found: of a table with itself, or of queries; by several scans, or by keys.
WAYS = [("itself", "scans"), ("itself", "keys"), ("queries", "scans"), ("queries", "keys")]
Way = tuple[str, str]


def untidy(seed: int, count: int) -> Untidy:
    """Ids repeat, some with one fingerprint, some with several; whole rows repeat; some have no id."""
    chance = random.Random(seed)
    names = [None, *(f"n{number:02}" for number in range(count // 3))]
    rows: Untidy = [
        (chance.choice(names), value, chance.choice([79, 80, 100]), chance.choice(["en", "de", "", None]))
        for _, value in clustered(seed, count, "")
    ]
    return rows + chance.choices(rows, k=count // 6)


def by_way(spark: Any, patch: pytest.MonkeyPatch, way: Way, tables: list[Untidy], **chosen: Any) -> list[Any]:
    """Find near rows in one way: of the first table with itself, or of the second in the first."""
    from lookalike.spark import searching

    patch.setattr(searching, "BLOCK", 16)
    patch.setattr(searching, "PIECE", 24)
    patch.setattr(searching, "SCANS", 1 << 20 if way[1] == "scans" else -1)
    patch.setattr(searching, "_blocks" if way[1] == "keys" else "_linked", None)
    signed = [[(name, value - (value >> 63 << 64), *rest) for name, value, *rest in rows] for rows in tables]
    frames = [spark.createDataFrame(rows, UNTIDY).repartition(3) for rows in signed]
    return told(near(*frames[: 1 if way[0] == "itself" else 2], **chosen))


def locally(folder: Path, way: Way, tables: list[Untidy], **chosen: Any) -> list[Any]:
    """Return what the local engine finds, each pair of ids once."""
    import pyarrow.parquet as pq

    paths = [folder / f"{number}.parquet" for number in range(len(tables))]
    kinds = [pa.string(), pa.uint64(), pa.int64(), pa.string()]
    for path, rows in zip(paths, tables, strict=True):
        columns = [pa.array([row[at] for row in rows], kind) for at, kind in enumerate(kinds)]
        pq.write_table(pa.table(columns, ["id", "fingerprint", "length", "language"]), path)
    found = la.near(*paths[: 1 if way[0] == "itself" else 2], **chosen)
    return once(zip(found.left, found.right, found.distances, strict=True), way)


def once(pairs: Iterable[oracle.Pair], way: Way) -> list[oracle.Pair]:
    """Each pair once and in order; of a table with itself the smaller id is on the left."""
    return sorted({(*(sorted(ids) if way[0] == "itself" else ids), bits) for *ids, bits in pairs})


@pytest.mark.parametrize("distance", [0, 3, 10])
@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_every_way_finds_the_pairs_of_a_double_loop_and_of_the_local_engine(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Way, distance: int
) -> None:
    tables = [untidy(7, 200), untidy(8, 100)]
    stored, queries = ([(row[0], row[1]) for row in rows if row[0] is not None] for rows in tables)
    pairs = oracle.join(stored, distance) if way[0] == "itself" else oracle.near(queries, stored, distance)
    found = by_way(spark, monkeypatch, way, tables, distance=distance)
    assert found == once(pairs, way)
    assert found == locally(tmp_path, way, tables, distance=distance)
    assert any(left == right for left, right, _ in found)


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_limits_hold_for_rows_and_not_for_ids_in_every_way(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Way
) -> None:
    tables = [untidy(9, 150), untidy(10, 80)]
    limits = {"length_within": 0.2, "same_language": True}
    found = by_way(spark, monkeypatch, way, tables, **limits)
    assert found == locally(tmp_path, way, tables, **limits)
    assert 0 < len(found) < len(locally(tmp_path, way, tables))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("a", 5), ("a", 4), ("b", 5)], [("a", "a", 1), ("a", "b", 0), ("a", "b", 1)]),
        ([("b", 5), ("b", 5), ("b", 5), ("a", 4)], [("a", "b", 1), ("b", "b", 0)]),
    ],
)
def test_two_rows_with_one_id_are_a_pair_of_a_table_with_itself(spark: Any, rows: Rows, expected: Any) -> None:
    assert told(near(frame(spark, rows, 2))) == expected


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_no_query_and_no_stored_row_give_no_pair(spark: Any, monkeypatch: pytest.MonkeyPatch, way: Way) -> None:
    rows = untidy(1, 20)
    assert by_way(spark, monkeypatch, way, [[], rows]) == []
    if way[0] != "itself":
        assert by_way(spark, monkeypatch, way, [rows, []]) == []


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


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.float64(), [80.0, 0.0, -0.0, 80.5, -80.0, 1e10 - 1, 1e10, 1e300, float("nan"), float("inf"), None]),
        (pa.float32(), [80.0, 0.0, 80.5, -1.0, 16777216.0, 1e10]),
        (pa.int8(), [80, 0, -1, None]),
        (pa.decimal128(20, 0), [Decimal(80), Decimal(-80), Decimal(0)]),
        (pa.decimal128(20, 2), [Decimal("80.00"), Decimal("80.50")]),
        (pa.bool_(), [True]),
        (pa.string(), ["80", "080", "80\n", " 80", "+80", "-0", "0", "80.0", "8e1", "", "1" * 18, "1" * 19, "1" * 25]),
    ],
    ids=lambda given: str(given) if isinstance(given, pa.DataType) else "",
)
def test_a_length_is_what_it_is_locally_whatever_holds_it(
    spark: Any, tmp_path: Path, kind: pa.DataType, values: list[Any]
) -> None:
    import pyarrow.parquet as pq

    read = set()
    for number, value in enumerate(values):
        columns = {
            "id": pa.array([str(number)] * 2),
            "fingerprint": pa.array([1, 3]),
            "length": pa.array([value] * 2, kind),
        }
        path = tmp_path / f"{number}.parquet"
        pq.write_table(pa.table(columns), path)
        with suppress(la.ParameterError):
            assert la.near(path, length_within=0.2).distances == [1]
            read.add(str(number))
    found = near(spark.read.parquet(str(tmp_path)), length_within=0.2)
    assert {(row.left, row.right, row.distance) for row in found.pairs.collect()} == {(one, one, 1) for one in read}
    left_out = [row.id for row in found.left_out.collect() if "is not a whole number of tokens" in row.reason]
    assert sorted(left_out) == sorted(2 * [str(number) for number in range(len(values)) if str(number) not in read])


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
