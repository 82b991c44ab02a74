"""Every way of asking for near fingerprints gives the answer of comparing all with all."""

from __future__ import annotations

import csv
import io
import json
import random
from array import array
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike import params
from lookalike.cli.main import cli
from oracles import near as oracle

Rows = list[tuple[str, int]]


def uniform(chance: random.Random, count: int) -> list[int]:
    return [chance.getrandbits(64) for _ in range(count)]


def clustered(chance: random.Random, count: int) -> list[int]:
    """Most are within a few bits of a few centres."""
    centres = uniform(chance, 5)
    values = []
    for _ in range(count):
        value = chance.choice(centres)
        for _ in range(chance.randrange(8)):
            value ^= 1 << chance.randrange(64)
        values.append(value)
    return values


def narrow(chance: random.Random, count: int) -> list[int]:
    """All have the same high bits, and the extremes."""
    return [0, 2**64 - 1, *(chance.getrandbits(10) for _ in range(count - 2))]


def repeated(chance: random.Random, count: int) -> list[int]:
    """Few values, each many times."""
    values = clustered(chance, 12)
    return [chance.choice(values) for _ in range(count)]


KINDS = {"uniform": uniform, "clustered": clustered, "narrow": narrow, "repeated": repeated}
DISTANCES = range(params.NEAR["distance"].most + 1) if hasattr(params.NEAR["distance"], "most") else range(11)


def rows_of(kind: str, count: int, seed: int, prefix: str = "https://example.org/") -> Rows:
    return [(f"{prefix}{number}", value) for number, value in enumerate(KINDS[kind](random.Random(seed), count))]


def written(path: Path, rows: Rows) -> Path:
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([("id", "fingerprint"), *((name, f"{value:#018x}") for name, value in rows)])
    return path


def asked(*arguments: object) -> list[tuple[str, str, int]]:
    done = CliRunner().invoke(cli, ["near", *map(str, arguments), "--quiet"])
    assert done.exit_code == 0, done.output
    return [(left, right, int(bits)) for left, right, bits in list(csv.reader(io.StringIO(done.stdout)))[1:]]


def told(report: la.NearReport) -> list[tuple[str, str, int]]:
    return list(zip(report.left, report.right, report.distances, strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_files_and_batches_answer_as_the_oracle(kind: str, tmp_path: Path):
    stored, queries = rows_of(kind, 90, 1), rows_of(kind, 25, 1, "q")
    files = written(tmp_path / "stored.csv", stored), written(tmp_path / "queries.csv", queries)
    values = [value for _, value in stored]
    for distance in DISTANCES:
        expected = oracle.near(queries, stored, distance)
        assert told(la.near(files[0], files[1], distance=distance)) == expected
        pairs = la.QueryBatch([value for _, value in queries], distance=distance).chunk(array("Q", values), 0)
        places = zip(pairs.queries, pairs.positions, pairs.distances, strict=True)
        assert [(queries[left][0], stored[right][0], bits) for left, right, bits in places] == expected
        own = oracle.join(stored, distance)
        assert told(la.near(files[0], distance=distance)) == own
        if distance in (0, 3, 10):
            assert asked(files[0], "--query", files[1], "--distance", distance) == expected
            assert asked(files[0], "--distance", distance) == own


LIMITS = [(0.2, False), (0.0, False), (None, True), (0.5, True), (1.0, False)]


def with_traits(path: Path, rows: Rows, seed: int) -> tuple[Path, oracle.Traits]:
    """A file with lengths and languages, some unknown, one that lookalike does not detect."""
    chance = random.Random(seed)
    traits = {
        name: (chance.choice([0, 1, 79, 80, 81, 100]), chance.choice(["en", "de", "tlh", ""])) for name, _ in rows
    }
    cells = [(*traits[name], name, f"{value:#018x}") for name, value in rows]
    if path.suffix == ".parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        columns = list(zip(*cells, strict=True))
        languages = pa.array([language or None for language in columns[1]])
        table = {"length": pa.array(columns[0], pa.uint32()), "language": languages}
        pq.write_table(pa.table({**table, "id": columns[2], "fingerprint": columns[3]}), path)
    elif path.suffix == ".jsonl":
        names = ("length", "language", "id", "fingerprint")
        path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in cells))
    else:
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([("length", "language", "id", "fingerprint"), *cells])
    return path, traits


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("kind", ["clustered", "repeated"])
def test_limits_of_length_and_language_answer_as_the_oracle(kind: str, suffix: str, tmp_path: Path):
    stored, queries = rows_of(kind, 90, 6), rows_of(kind, 25, 6, "q")
    file, traits = with_traits(tmp_path / f"stored{suffix}", stored, 1)
    other, asked_traits = with_traits(tmp_path / f"queries{suffix}", queries, 2)
    everything = {**traits, **asked_traits}
    for share, same in LIMITS:
        chosen = {"distance": 6, "length_within": share, "same_language": same}
        expected = oracle.limited(oracle.near(queries, stored, 6), everything, share, same)
        own = oracle.limited(oracle.join(stored, 6), everything, share, same)
        assert told(la.near(file, other, **chosen)) == expected
        assert told(la.near(file, **chosen)) == own
        assert own or share == 0.0
        flags = [*(["--length-within", share] if share is not None else []), *(["--same-language"] if same else [])]
        assert asked(file, "--query", other, "--distance", 6, *flags) == expected
        assert asked(file, "--distance", 6, *flags) == own


@pytest.mark.parametrize("hold", params.HOLDS)
@pytest.mark.parametrize("kind", KINDS)
def test_tables_answer_as_the_oracle_after_every_change(kind: str, hold: str, tmp_path: Path):
    everything, queries = rows_of(kind, 120, 2), rows_of(kind, 12, 2, "q")
    stored, inserted, removed = everything[:80], everything[60:], everything[20:40]
    # An id with several fingerprints, and a fingerprint with several ids.
    inserted = [*inserted, (everything[0][0], everything[1][1]), (everything[1][0], everything[0][1])]
    columns = [([value for _, value in rows], [name for name, _ in rows]) for rows in (stored, inserted, removed)]
    table = la.HammingTable.build(*columns[0], distance=10, hold=hold)
    assert_answers(table, queries, oracle.changed(stored, [], []))
    table.save(tmp_path / "table")
    assert table.insert(*columns[1]) == len(set(inserted) - set(stored))
    assert table.remove(*columns[2]) == len(removed)
    rows = oracle.changed([*stored, *inserted], removed, [])
    assert_answers(table, queries, rows)
    table.save()
    table.close()
    with la.HammingTable.open(tmp_path / "table", hold=hold, write=True) as opened:
        assert_answers(opened, queries, rows)
        opened.compact()
        opened.save()
        assert_answers(opened, queries, rows)
    file = written(tmp_path / "queries.csv", queries)
    for distance in (0, 3, 10):
        assert told(la.near(tmp_path / "table", distance=distance)) == oracle.join_table(rows, distance)
        expected = oracle.near(queries, rows, distance)
        assert sorted(set(told(la.near(tmp_path / "table", file, distance=distance)))) == sorted(set(expected))
    assert asked(tmp_path / "table", "--distance", 3) == oracle.join_table(rows, 3)


def assert_answers(table: la.HammingTable, queries: Rows, rows: Rows) -> None:
    """Compare single queries and batches at every distance."""
    assert sorted(zip(*table.rows(), strict=True)) == sorted((value, name) for name, value in rows)
    for distance in DISTANCES:
        answers = table.query_batch([value for _, value in queries], distance)
        found = zip(answers.queries, answers.ids, answers.distances, strict=True)
        expected = [
            (place, name, bits)
            for place, query in enumerate(queries)
            for _, name, bits in sorted(set(oracle.near([query], rows, distance)))
        ]
        assert list(found) == expected
    name, value = queries[0]
    single = table.query(value, 10)
    found = sorted(zip(single.ids, single.fingerprints, single.distances, strict=True))
    assert found == sorted(
        (other, one, oracle.distance(value, one)) for other, one in rows if oracle.distance(value, one) <= 10
    ), name


def test_the_command_line_changes_a_table_as_the_oracle(tmp_path: Path):
    rows = rows_of("clustered", 120, 3)
    parts = {"old": rows[:70], "new": rows[50:], "gone": rows[10:30]}
    files = {name: written(tmp_path / f"{name}.csv", part) for name, part in parts.items()}
    table = tmp_path / "table"
    asked(files["old"], "--save", table)
    assert asked(table) == oracle.join_table(parts["old"], 3)
    asked(table, "--insert", files["new"], "--remove", files["gone"])
    changed = oracle.changed(parts["old"], parts["gone"], parts["new"])
    assert asked(table) == oracle.join_table(changed, 3)
    assert asked(table, "--query", files["gone"]) == [
        pair for row in parts["gone"] for pair in oracle.near([row], changed, 3)
    ]


def test_numbers_as_ids_answer_as_the_oracle(tmp_path: Path):
    rows = [(number * 7919 % 1009, value) for number, (_, value) in enumerate(rows_of("repeated", 80, 4))]
    file = written(tmp_path / "rows.csv", [(str(name), value) for name, value in rows])
    asked(file, "--save", tmp_path / "table")
    with la.HammingTable.open(tmp_path / "table", hold="mapped") as table:
        assert not table.is_named
        assert_answers_of_numbers(table, rows)
    expected = [(str(left), str(right), bits) for left, right, bits in oracle.join_table(rows, 3)]
    assert asked(tmp_path / "table") == expected


def assert_answers_of_numbers(table: la.HammingTable, rows: list[tuple[int, int]]) -> None:
    for _, value in rows[:10]:
        near = table.query(value)
        found = sorted(zip(near.ids, near.distances, strict=True))
        assert found == sorted((name, bits) for _, name, bits in oracle.near([(0, value)], rows, 3))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 40), max_size=25),
    st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 40), max_size=6),
    st.integers(0, 10),
)
def test_any_values_answer_as_the_oracle(values: list[int], queries: list[int], distance: int):
    rows = list(enumerate(values))
    table = la.HammingTable.build(values, distance=10)
    answers = table.query_batch(queries, distance)
    expected = oracle.near(list(enumerate(queries)), rows, distance)
    assert list(zip(answers.queries, answers.ids, answers.distances, strict=True)) == expected
    pairs = la.QueryBatch(queries, distance=distance).chunk(values)
    assert list(zip(pairs.queries, pairs.positions, pairs.distances, strict=True)) == expected


def test_equal_fingerprints_are_the_groups_of_the_oracle(tmp_path: Path):
    rows = rows_of("repeated", 100, 5)
    report = la.near(written(tmp_path / "rows.csv", rows), distance=0)
    found: dict[str, list[str]] = {}
    for left, right in zip(report.left, report.right, strict=True):
        group = found.setdefault(left, found.get(left, [left]))
        group.append(right)
        found[right] = group
    unique = {tuple(sorted(set(group))) for group in found.values()}
    assert sorted(unique) == sorted(tuple(sorted(group)) for group in oracle.groups(rows))
    assert json.loads(json.dumps(report.to_json()))["left"] == report.left
