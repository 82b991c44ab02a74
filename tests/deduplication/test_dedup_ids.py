"""Ids in the outputs of a deduplication: source and row tell rows apart that have one id, and repeated ids are told."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from support.dedups import cells
from support.submissions import run

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
    assert found.repeated_ids == (1, 3, "x", (str(a), 0), (str(b), 0))
    assert not found.problems


def test_a_number_and_a_string_are_two_ids(tmp_path: Path):
    given = lines(tmp_path / "rows.jsonl", [(1, SAME), ("1", SAME), ("2", SAME), (2.50, SAME), (True, SAME)])
    rows = [json.loads(line) for line in given.read_text().splitlines()]
    for source, shown in ((given, "true"), (rows, "True")):
        found = la.dedup(source, clusters=tmp_path / "clusters.csv", method="exact", overwrite=True)
        assert [one[0] for one in cells(tmp_path / "clusters.csv")[1:]] == ["1", '"1"', "2", "2.5", shown]
        assert found.repeated_ids is None
        assert la.simhash_corpus(source, tmp_path / "prints.csv", overwrite=True).repeated_ids is None


def test_ids_that_are_all_different_need_no_note(tmp_path: Path):
    table = pa.table({"id": [1, 2, 3], "text": [SAME, SAME, OTHER]})
    pq.write_table(table, tmp_path / "rows.parquet")
    for given in (table, tmp_path / "rows.parquet"):
        found = la.dedup(given, clusters=tmp_path / "clusters.parquet", overwrite=True)
        assert found.repeated_ids is None
        written = pq.read_table(tmp_path / "clusters.parquet")
        assert written["representative_row"].to_pylist() == [0, 0]
        assert written["row"].type == pa.int64()
    rows = lines(tmp_path / "rows.jsonl", [(None, SAME), (None, SAME)])
    found = la.dedup(rows, clusters=tmp_path / "rows.csv")
    assert found.repeated_ids is None, "a row without an id is named by its line"


def sources_of(folder: Path, ids: list[Any]) -> Iterator[Any]:
    """Yield rows with these ids and different texts in every kind of source that can hold them."""
    rows = [{"id": name, "text": f"{OTHER} {number}"} for number, name in enumerate(ids)]
    yield rows
    yield lines(folder / "rows.jsonl", [(row["id"], row["text"]) for row in rows])
    if len({type(name) for name in ids if name is not None}) < 2:
        table = pa.table({"id": ids, "text": [row["text"] for row in rows]})
        pq.write_table(table, folder / "rows.parquet")
        yield from (table, folder / "rows.parquet", table.set_column(0, "id", table["id"].dictionary_encode()))
    if all(isinstance(name, str) for name in ids):
        (folder / "rows.csv").write_text("id,text\n" + "".join(f"{row['id']},{row['text']}\n" for row in rows))
        yield folder / "rows.csv"


def repeated(ids: list[Any]) -> tuple[int, int, int, int] | None:
    """Count repeated ids one by one: how many, their rows, and the first two rows with one id."""
    keys = [None if name in (None, "") else (type(name), name) for name in ids]
    several = {key for key in keys if key is not None and keys.count(key) > 1}
    if not several:
        return None
    second = next(row for row, key in enumerate(keys) if key in several and key in keys[:row])
    return len(several), sum(key in several for key in keys), keys.index(keys[second]), second


@pytest.mark.parametrize("kind", [int, str, None], ids=["numbers", "strings", "both"])
@pytest.mark.parametrize("seed", range(3))
def test_repeated_ids_match_a_count_of_all_rows(tmp_path: Path, kind: type | None, seed: int):
    chance = random.Random(seed)
    ids: list[Any] = []
    for _ in range(12):
        number = chance.randrange((10, 30, 10**9)[seed])
        ids.append(chance.choice([None, *3 * [(kind or chance.choice([int, str]))(number)]]))
    ids = [name if name is not None or kind is not str else "" for name in ids]
    expected = repeated(ids)
    assert (expected is None) == (seed == 2), "the ids of one seed are all different"
    for source in sources_of(tmp_path, ids):
        for found in (la.dedup(source), la.simhash_corpus(source, tmp_path / "prints.csv", overwrite=True)):
            told = found.repeated_ids
            assert (told and (told.ids, told.rows, told.first[1], told.second[1])) == expected, (ids, source)
            assert told is None or told.example == str(ids[told.first[1]])


def test_repeated_ids_are_told_once_with_both_places(tmp_path: Path):
    a = lines(tmp_path / "a" / "p.jsonl", [("x", OTHER), (7, SAME)])
    b = lines(tmp_path / "b" / "p.jsonl", [("7", "seven"), ("y", "alone"), ("x", SAME + " eight")])
    note = f"note: 1 id names several rows (2 in all), such as `x`: row 0 of `{a}` and row 2 of `{b}`"
    places = [{"source": str(a), "row": 0}, {"source": str(b), "row": 2}]
    table = ("--clusters", tmp_path / "clusters.csv", "--overwrite")
    prints = ("--out", tmp_path / "prints.csv", "--overwrite")
    for arguments in (("dedup", a, b, *table), ("dedup", b, "--against", a, *table), ("simhash", a, b, *prints)):
        assert run(*arguments).out.count(note) == 1, arguments
        told = json.loads(run(*arguments, "--json").out)["repeated_ids"]
        assert told == {"ids": 1, "rows": 2, "example": "x", "places": places}


@pytest.mark.parametrize(
    ("chosen", "column", "kind"),
    [
        ({"filter": "6,14,2", "no_verify": True}, "features", "uint32"),
        ({"method": "containment"}, "containment", "double"),
        ({"method": "simhash", "no_verify": True}, "distance", "uint8"),
    ],
)
def test_measures_are_numbers_in_parquet(tmp_path: Path, chosen: dict[str, Any], column: str, kind: str):
    text = "the keeper of the light wrote down every ship that passed the rock in the year of the storm"
    la.dedup([text, f"{text} again", "Boat to let."], pairs=tmp_path / "pairs.parquet", **chosen)
    written = pq.read_table(tmp_path / "pairs.parquet")
    assert str(written.schema.field(column).type) == kind
    assert written.num_rows == 1
