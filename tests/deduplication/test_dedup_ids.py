"""Ids in the outputs of a deduplication: source and row tell rows apart that have one id, and repeated ids are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import lookalike as la
from support.dedups import cells

SAME, OTHER = "one two three four five six seven", "eight nine ten eleven twelve thirteen"


def lines(path: Path, rows: list[tuple[Any, str]]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in rows))
    return path


def test_rows_of_one_id_are_told_apart_by_source_and_row(tmp_path: Path):
    a = lines(tmp_path / "a" / "p.jsonl", [("x", OTHER), ("y", SAME)])
    b = lines(tmp_path / "b" / "p.jsonl", [("x", SAME), ("x", OTHER), ("z", "alone")])
    found = la.dedup([a, b], clusters=tmp_path / "clusters.csv", pairs=tmp_path / "pairs.csv", method="exact")
    members = [[one[0], *one[5:]] for one in cells(tmp_path / "clusters.csv")[1:]]
    assert members == [
        ["x", str(a), "0", str(a), "0"],
        ["y", str(a), "1", str(a), "1"],
        ["x", str(b), "0", str(a), "1"],
        ["x", str(b), "1", str(a), "0"],
    ]
    pairs = sorted([*one[:2], *one[4:]] for one in cells(tmp_path / "pairs.csv")[1:])
    assert pairs == [["x", "x", str(a), "0", str(b), "1"], ["y", "x", str(a), "1", str(b), "0"]]
    (note,) = found.problems
    assert note.is_note
    assert note.reason.startswith(
        f"1 id of the rows in these outputs names several, such as `x`: row 0 of `{a}` and row 0"
    )


def test_a_number_and_a_string_are_two_ids(tmp_path: Path):
    given = lines(tmp_path / "rows.jsonl", [(1, SAME), ("1", SAME), ("2", SAME), (2.50, SAME), (True, SAME)])
    found = la.dedup(given, clusters=tmp_path / "clusters.csv", method="exact")
    assert [one[0] for one in cells(tmp_path / "clusters.csv")[1:]] == ["1", '"1"', "2", "2.5", "true"]
    assert not found.problems


def test_ids_that_are_all_different_need_no_note(tmp_path: Path):
    table = pa.table({"id": [1, 2, 3], "text": [SAME, SAME, OTHER]})
    pq.write_table(table, tmp_path / "rows.parquet")
    for given in (table, tmp_path / "rows.parquet"):
        found = la.dedup(given, clusters=tmp_path / "clusters.parquet", overwrite=True)
        assert not found.problems
        written = pq.read_table(tmp_path / "clusters.parquet")
        assert written["representative_row"].to_pylist() == [0, 0]
        assert written["row"].type == pa.int64()
    rows = lines(tmp_path / "rows.jsonl", [(None, SAME), (None, SAME)])
    assert not la.dedup(rows, clusters=tmp_path / "rows.csv").problems, "a row without an id is named by its line"
