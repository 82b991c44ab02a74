"""What `index add` does with an id that is there: only if nothing differs, the document is left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.archive.merging import Policy
from lookalike.archive.parameters import Parameters
from lookalike.archive.store import Index


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def told(added: la.archive.results.Added) -> tuple[int, int, int]:
    return added.added, added.replaced, added.unchanged


def test_new_metadata_time_and_label_replace(tmp_path: Path):
    source = tmp_path / "rows.jsonl"
    with la.Index.create(tmp_path / "index", kind="corpus") as index:
        row = {"id": "a", "text": "the same text", "year": 2024, "when": "2024-01-01"}
        assert told(index.add(written(source, [row]), time_column="when")) == (1, 0, 0)
        assert told(index.add(source, time_column="when")) == (0, 0, 1)
        assert told(index.add(written(source, [row | {"year": 2025}]), time_column="when")) == (0, 1, 0)
        assert [one.id for one in index.documents(where={"year": "2025"})] == ["a"]
        assert [one.id for one in index.documents(where={"year": "2024"})] == []
        # The time alone: the field stays as it is, and is read as a time now.
        assert told(index.add(source)) == (0, 1, 0)
        assert index.document("a").time is None
        assert len(index) == 1
        assert index.check() == []


def test_a_row_that_moves_is_unchanged(tmp_path: Path):
    """The file and the line where a row stood are told, and do not make it another one."""
    rows = [{"id": f"r{number}", "text": f"text number {number}", "year": number} for number in range(5)]
    with la.Index.create(tmp_path / "index", kind="corpus") as index:
        index.add(written(tmp_path / "one.jsonl", rows))
        moved = index.add(written(tmp_path / "two.jsonl", rows[::-1]))
        assert told(moved) == (0, 0, 5)
        assert index.document("r4").meta["source"].endswith("one.jsonl")
        la.dedup([{"id": "own", "text": "a row of dedup"}], index=index, add=True)
        assert told(index.add([("own", "a row of dedup")])) == (0, 0, 1)


def test_labels_and_files_of_submissions(tmp_path: Path):
    text = "def add(a, b):\n    total = a + b\n    return total\n" * 3
    (tmp_path / "class" / "ann").mkdir(parents=True)
    file = tmp_path / "class" / "ann" / "work.txt"
    file.write_text(text)
    with la.Index.create(tmp_path / "index") as index:
        assert told(index.add(tmp_path / "class", by_directory=True)) == (1, 0, 0)
        assert told(index.add(tmp_path / "class", by_directory=True)) == (0, 0, 1)
        # Another name means another language, and so other tokens of the same text.
        file.rename(file.with_suffix(".py"))
        assert told(index.add(tmp_path / "class", by_directory=True)) == (0, 1, 0)
        assert index.document("ann").meta["files"] == ["work.py"]
        with la.Index.create(tmp_path / "fresh") as fresh:
            fresh.add(tmp_path / "class", by_directory=True)
            with index.snapshot() as one, fresh.snapshot() as other:
                assert list(one.records()) == list(other.records())


ROWS = [
    {"id": "a", "text": "first text", "n": 1},
    {"id": "b", "text": "second text", "n": 2},
    {"id": "a", "text": "first text", "n": 3},
    {"text": "a text without an id", "n": 4},
    {"id": "c", "text": "third text", "n": 5},
    {"id": "a", "text": "another text", "n": 6},
    {"text": "a text without an id", "n": 4},
    {"text": "a text without an id", "n": 7},
    {"id": "b", "text": "second text", "n": 2},
]


@pytest.mark.parametrize("each", [1, 2, 3, 9])
def test_counts_and_notes_do_not_depend_on_batches(each: int, tmp_path: Path):
    """Rows with one id, or without an id and with one text: the last one counts, wherever batches end."""
    folder = tmp_path / "rows"
    folder.mkdir()
    for number, start in enumerate(range(0, len(ROWS), each)):
        written(folder / f"part{number}.jsonl", ROWS[start : start + each])
    policy = Policy(tail_documents=3, batch_bytes=1, fan_in=2, tier_bytes=4_000)
    with Index._create(tmp_path / "index", Parameters.of("corpus"), policy) as index:
        old = written(
            tmp_path / "old.jsonl", [{"id": "b", "text": "an old text"}, {"id": "z", "text": "another old one"}]
        )
        index.add(old)
        done = index.add(folder)
        assert told(done) == (3, 1, 2)
        (note,) = [one for one in done.skipped if one.is_note]
        assert note.rows == 3
        assert "3 rows have an id that a later row has with another text or other fields" in note.reason
        assert "first ids: a, " in note.reason
        found = {one.id: one.meta.get("fields", {}).get("n") for one in index.documents()}
        unnamed = next(id_ for id_ in found if len(id_) == 32)
        assert found == {"z": None, "b": 2, "c": 5, "a": 6, unnamed: 7}
        assert index.check() == []


def tables(rows: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """The same rows as files and as objects."""
    pandas, polars, dataset = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow.dataset"))
    table = pa.Table.from_pylist(rows)
    pq.write_table(table, folder / "rows.parquet")
    return {
        "jsonl": written(folder / "rows.jsonl", rows),
        "parquet": folder / "rows.parquet",
        "rows": rows,
        "arrow": table,
        "reader": table.to_reader(),
        "dataset": dataset.dataset(table),
        "pandas": pandas.DataFrame(rows),
        "polars": polars.DataFrame(rows),
        "lazy": polars.DataFrame(rows).lazy(),
    }


def test_every_source_keeps_the_same_metadata(tmp_path: Path):
    """Small values of all columns but text and id; nested ones, and those that are missing, are left out."""
    rows = [
        {
            "id": "a",
            "text": "first text",
            "year": 2024,
            "good": True,
            "share": 0.5,
            "tags": ["x"],
            "when": "2024-01-01",
        },
        {"id": "b", "text": "second text", "year": 2025, "good": False, "share": 1.5, "tags": [], "when": "2025-01-01"},
    ]
    found = {}
    for name, source in tables(rows, tmp_path).items():
        with la.Index.create(tmp_path / name, kind="corpus") as index:
            assert told(index.add(source, time_column="when")) == (2, 0, 0), name
            found[name] = [(one.id, one.meta.get("fields"), one.time) for one in index.documents()]
    assert found["jsonl"][0][1] == {"year": 2024, "good": True, "share": 0.5, "when": "2024-01-01"}
    assert found["jsonl"][0][2] == 1704067200
    assert {name: one for name, one in found.items() if one != found["jsonl"]} == {}


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "arrow", "pandas", "polars", "rows"])
def test_dedup_keeps_the_same_metadata_and_times(kind: str, tmp_path: Path):
    rows = [
        {"id": "a", "text": "first text", "year": 2024, "when": "2024-01-01"},
        {"id": "b", "text": "other", "year": 1},
    ]
    source = tables(rows, tmp_path)[kind]
    with la.Index.create(tmp_path / "index", kind="corpus") as index:
        answer = la.dedup(source, index=index, add=True, time_column="when")
        assert [(one.id, one.meta["fields"]["year"], one.time) for one in index.documents()] == [
            ("a", 2024, 1704067200),
            ("b", 1, None),
        ]
        assert any("time not read in 1 row" in str(one) for one in answer.problems)


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "rows"])
def test_changed_metadata_of_a_repeated_day_are_told(kind: str, tmp_path: Path):
    rows = [{"id": f"r{at}", "text": f"the text of row {at}", "year": 2024, "when": "2024-01-01"} for at in range(4)]
    with la.Index.create(tmp_path / "index", kind="corpus") as index:
        la.dedup(tables(rows, tmp_path)[kind], index=index, add=True, time_column="when")
        again = la.dedup(tables(rows, tmp_path)[kind], index=index, add=True, time_column="when")
        assert again.notes == []
        before = [(one.id, one.meta, one.time) for one in index.documents()]
        rows[1]["year"], rows[3]["when"] = 2025, "2024-02-01"
        changed = la.dedup(tables(rows, tmp_path)[kind], index=index, add=True, time_column="when")
        assert len(changed.select()) == 4 if kind == "rows" else not changed.gone
        (note,) = changed.notes
        assert note.startswith("2 rows have other metadata or times than the index keeps of this run, such as `r1`")
        assert [(one.id, one.meta, one.time) for one in index.documents()] == before


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "rows"])
def test_a_time_column_that_only_known_rows_have_is_not_refused(kind: str, tmp_path: Path):
    known = {"id": "a", "text": "a text that the index has", "when": "2024-01-01"}
    with la.Index.create(tmp_path / "index", kind="corpus") as index:
        la.dedup([known], index=index, add=True, time_column="when")
        rows = [known | {"id": "b"}, {"id": "c", "text": "a text that is new"}]
        answer = la.dedup(tables(rows, tmp_path)[kind], index=index, add=True, time_column="when")
        assert [(one.id, one.time) for one in index.documents()] == [("a", 1704067200), ("c", None)]
        assert any("time not read in 1 row" in str(one) for one in answer.problems)
        with pytest.raises(la.ParameterError, match="time column `then` is not in"):
            la.dedup([{"id": "d", "text": "one more"}], index=index, add=True, time_column="then")
