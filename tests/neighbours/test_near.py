"""Hamming distances, designs of tables and `lookalike near`, as a person or a script meets them."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
from array import array
from itertools import pairwise
from pathlib import Path

import pytest

import lookalike as la
from lookalike.neighbours.files import parse
from support.children import PATIENCE

Rows = list[tuple[str, int]]


def run(*arguments: str | Path, code: int = 0) -> tuple[str, str]:
    command = [sys.executable, "-m", "lookalike", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


def clustered(count: int, seed: int) -> list[int]:
    """Fingerprints of which many are near each other, some the same, and the extremes."""
    chance = random.Random(seed)
    centres = [chance.getrandbits(64) for _ in range(20)]
    values = [0, (1 << 64) - 1]
    while len(values) < count:
        value = chance.choice(centres) if chance.random() < 0.6 else chance.getrandbits(64)
        for _ in range(chance.randrange(6)):
            value ^= 1 << chance.randrange(64)
        values.append(value)
    return values


def naive(queries: Rows, stored: Rows, distance: int) -> list[list[str]]:
    """All pairs by comparing everything."""
    return [
        [name, other, str((value ^ near).bit_count())]
        for name, value in queries
        for other, near in stored
        if (value ^ near).bit_count() <= distance
    ]


def test_hamming_counts_bits_of_numbers_and_of_columns():
    assert la.hamming(0, (1 << 64) - 1) == 64
    left, right = clustered(500, 1), clustered(500, 2)
    expected = [(a ^ b).bit_count() for a, b in zip(left, right, strict=True)]
    assert la.hamming(left, right) == expected
    assert la.hamming(array("Q", left), array("Q", right)) == expected
    for wrong in [(1, [1]), ([1], [1, 2]), (-1, 0), (1 << 64, 0)]:
        with pytest.raises((la.ParameterError, ValueError)):
            la.hamming(*wrong)


@pytest.mark.parametrize("distance", [0, 1, 3, 6, 10])
@pytest.mark.parametrize("size", [1, 37, 1000])
def test_a_batch_of_queries_matches_naive_in_chunks_of_any_size(distance: int, size: int):
    queries, stored = clustered(120, 3), clustered(900, 4)
    batch = la.QueryBatch(array("Q", queries), distance=distance)
    found = []
    for first in range(0, len(stored), size):
        pairs = batch.chunk(stored[first : first + size], first)
        rows = list(zip(pairs.queries, pairs.positions, pairs.distances, strict=True))
        assert rows == sorted(set(rows))
        found += rows
    expected = [
        (query, position, (value ^ other).bit_count())
        for query, value in enumerate(queries)
        for position, other in enumerate(stored)
        if (value ^ other).bit_count() <= distance
    ]
    assert sorted(found) == expected


def test_paper_manku2007_designs_come_out_by_number_of_tables():
    prefixes = {len(one.tables): (one.prefixes, one.radii) for one in la.design_tables(3, 2**34).paper}
    assert prefixes == {4: ("16", "0"), 10: ("25–26", "0"), 16: ("28", "0"), 20: ("31–33", "0")}


def test_two_halves_are_the_compact_design():
    found = la.design(distance=3, fingerprints=8e9)
    assert found.chosen.tables == ((32, 1), (32, 1))
    assert found.chosen.bytes < 22 * 8e9
    assert la.design(distance=3, fingerprints=1e8, tables="fast").chosen.prefixes == "25–26"


@pytest.mark.parametrize("distance", range(11))
def test_more_tables_are_faster_and_limits_hold(distance: int):
    found = la.design_tables(distance, 1e8)
    times = [one.nanoseconds or 0 for one in found.frontier]
    assert all(slow > fast for slow, fast in pairwise(times))
    for one in found.frontier:
        within = la.design_tables(distance, 1e8, tables=len(one.tables)).chosen
        assert within.nanoseconds == one.nanoseconds
    assert la.design_tables(distance, 1e8, bytes=2_000_000_000).chosen.bytes <= 2_000_000_000


@pytest.mark.parametrize(
    "wrong",
    [
        {"distance": 11},
        {"distance": -1},
        {"fingerprints": -1},
        {"fingerprints": 1.5},
        {"tables": 0},
        {"tables": "many"},
        {"bytes": 10},
        {"tables": 3, "bytes": 10**12},
    ],
)
def test_a_design_that_cannot_be_is_refused(wrong: dict[str, int]):
    with pytest.raises(la.ParameterError):
        la.design_tables(**wrong)


def test_the_design_command_shows_the_trade_off():
    shown, _ = run("design", "--distance", "3", "--fingerprints", "8e9")
    for word in ("all stored", "all probed", "43,745", "41,664", "31–33", "17.2 billion"):
        assert word in shown
    assert "2 tables, prefixes of 32 bits, of which 1 may differ" in shown
    tree = json.loads(run("design", "--distance", "3", "--fingerprints", "8e9", "--json")[0])
    assert tree["chosen"]["tables"] == [[32, 1], [32, 1]]
    assert "--recall has no effect with --distance" in run("design", "--distance", "3", "--recall", "0.9", code=2)[1]


def written(path: Path, rows: Rows, form: str = "{}") -> Path:
    """Write a file of fingerprints as its suffix says."""
    if path.suffix == ".csv":
        lines = ["id,fingerprint,length", *(f"{name},{form.format(value)},7" for name, value in rows)]
        path.write_text("\n".join(lines) + "\n")
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"id": name, "fingerprint": value}) + "\n" for name, value in rows))
    else:
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        kind = pa.int64() if form == "signed" else pa.uint64()
        values = [value - (1 << 64) if form == "signed" and value >> 63 else value for _, value in rows]
        table = pa.table({"id": [name for name, _ in rows], "fingerprint": pa.array(values, kind)})
        parquet.write_table(table, path)
    return path


@pytest.mark.parametrize(
    ("suffix", "form"),
    [("csv", "{}"), ("csv", "{:#x}"), ("csv", "{:016x}"), ("jsonl", "{}"), ("parquet", "{}"), ("parquet", "signed")],
)
def test_near_finds_what_naive_finds_in_any_format(tmp_path: Path, suffix: str, form: str):
    stored = [(f"s{i}", value) for i, value in enumerate(clustered(700, 5))]
    # These have 16 digits in both notations.
    stored += [("decimal", 1_234_567_890_123_456), ("hexadecimal", 0x1234_5678_9012_3456)]
    queries = [(f"q{i}", value) for i, value in enumerate(clustered(60, 6))]
    file = written(tmp_path / f"stored.{suffix}", stored, form)
    shown, told = run("near", file, "--query", written(tmp_path / "queries.csv", queries), "--distance", "4")
    assert list(csv.reader(shown.splitlines()))[1:] == naive(queries, stored, 4)
    assert f"60 queries, {len(stored)} fingerprints" in told


def test_near_without_a_query_gives_each_pair_once(tmp_path: Path):
    rows = [(f"s{i}", value) for i, value in enumerate(clustered(400, 7))]
    out = tmp_path / "pairs.csv"
    run("near", written(tmp_path / "all.csv", rows), "-o", out)
    expected = [pair for i, row in enumerate(rows) for pair in naive([row], rows[i + 1 :], 3)]
    assert list(csv.reader(out.read_text().splitlines())) == [["left", "right", "distance"], *expected]
    assert "exists" in run("near", tmp_path / "all.csv", "-o", out, code=2)[1]
    run("near", tmp_path / "all.csv", "-o", out, "--overwrite")


def test_near_asks_a_saved_table(tmp_path: Path):
    values = clustered(300, 8)
    with la.HammingTable.build(values, distance=3) as table:
        table.save(tmp_path / "table")
    shown, _ = run("near", tmp_path / "table", "--fingerprint", f"{values[50]:#x}")
    expected = naive([(f"{values[50]:#018x}", values[50])], [(str(i), value) for i, value in enumerate(values)], 3)
    assert list(csv.reader(shown.splitlines()))[1:] == expected
    pairs = la.near(tmp_path / "table")
    every = [(str(i), value) for i, value in enumerate(values)]
    assert len(pairs.left) == len([pair for i, row in enumerate(every) for pair in naive([row], every[i + 1 :], 3)])


def test_rows_without_a_fingerprint_are_listed(tmp_path: Path):
    file = tmp_path / "odd.jsonl"
    lines = [
        '{"id": "a", "fingerprint": 7}',
        '{"id": "b", "fingerprint": null}',
        '{"id": "c", "fingerprint": "xyz"}',
        "no",
    ]
    file.write_text("\n".join(lines) + "\n")
    shown, told = run("near", file, "--fingerprint", "7", "--strict", code=3)
    assert shown.splitlines()[1:] == ["0x0000000000000007,a,0"]
    assert all(f"line {number}" in told for number in (2, 3, 4))
    assert "`xyz` is not a fingerprint" in told


@pytest.mark.parametrize(
    "arguments",
    [
        ["none.csv"],
        ["odd.txt"],
        ["a.csv", "--fingerprint", "g"],
        ["a.csv", "--distance", "11"],
        ["a.csv", "-o", "x.txt"],
    ],
)
def test_near_refuses_what_it_cannot_do(tmp_path: Path, arguments: list[str]):
    written(tmp_path / "a.csv", [("a", 1)])
    (tmp_path / "odd.txt").write_text("1\n")
    _, told = run("near", tmp_path / arguments[0], *arguments[1:], code=2)
    assert "`" in told


def test_a_missing_column_is_named(tmp_path: Path):
    file = written(tmp_path / "a.csv", [("a", 1)])
    assert "it has" in run("near", file, "--fingerprint-column", "print", code=2)[1]


def test_fingerprints_are_read_as_they_are_written():
    assert parse(" 18446744073709551615 ") == (1 << 64) - 1
    assert parse("18446744073709551616") is None
    assert parse("ffffffffffffffff") == parse("-1") == parse(-1) == parse("0xFFFFFFFFFFFFFFFF")
    assert [parse(odd) for odd in ("", "0x", "1.5", 1.5, True, None, "0x1ffffffffffffffff")] == [None] * 7
