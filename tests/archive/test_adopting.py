"""A segment of another index becomes part of this one, as if its documents had been added, and stays so."""

from __future__ import annotations

from pathlib import Path

import pytest

import lookalike as la


def text(word: str) -> str:
    return f"a text about {word} and other things " * 8


def segment_of(folder: Path, documents: list[tuple[str, str]]) -> Path:
    with la.Index.create(folder, kind="corpus") as index:
        index.add(documents)
        index.compact()
    return next(folder.glob("seg-*.lat"))


@pytest.mark.parametrize("removed", ["", "a", "c"])
def test_only_what_is_replaced_goes(removed: str, tmp_path: Path) -> None:
    made = segment_of(tmp_path / "other", [("b", text("another b")), ("x", text("x")), ("d", text("d"))])
    with la.Index.create(tmp_path / "own", kind="corpus") as index:
        index.add([(name, text(name)) for name in "abcd"])
        if removed:
            index.remove(removed)
        added = index.adopt(made)
        assert (added.added, added.replaced, added.unchanged) == (1, 1, 1)
        left = [name for name in "acd" if name != removed]
        assert [one.id for one in index.documents()] == [*left, "b", "x"]
        assert index.seen(text("another b")).is_identical
        assert not index.seen(text("b")).is_identical
        assert index.check() == []


def test_own_and_adopted_documents_survive_the_loss_of_the_catalogue(tmp_path: Path) -> None:
    made = segment_of(tmp_path / "other", [(f"other{i}", text(f"other {i}")) for i in range(5)])
    with la.Index.create(tmp_path / "own", kind="corpus") as index:
        index.add([(f"own{i}", text(f"own {i}")) for i in range(9)])
        index.adopt(made)
        names = [one.id for one in index.documents()]
    catalogue = tmp_path / "own" / "catalog.sqlite"
    catalogue.write_bytes(bytes(64) + catalogue.read_bytes()[64:])
    assert la.Index.repair(tmp_path / "own").lost == []
    with la.Index.open(tmp_path / "own", write=True) as index:
        assert [one.id for one in index.documents()] == names
        assert not any(one.is_damage for one in index.check())


def test_what_is_no_segment_is_wrong_usage_and_a_damaged_one_is_damage(tmp_path: Path) -> None:
    made = segment_of(tmp_path / "other", [("a", text("a"))])
    rows = tmp_path / "d0.jsonl"
    rows.write_text('{"id": "a", "text": "words"}')
    with la.Index.create(tmp_path / "own", kind="corpus") as index:
        for path in (rows, tmp_path):
            with pytest.raises(la.ParameterError, match="is not a segment: give a file seg-"):
                index.adopt(path)
        whole = made.read_bytes()
        for damaged in (bytes(64) + whole[64:], whole[:-1], whole[: len(whole) // 2], b""):
            made.write_bytes(damaged)
            with pytest.raises(la.DamagedError):
                index.adopt(made)
        assert len(index) == 0


def test_rows_that_dedup_removed_are_left_out_and_counted(tmp_path: Path) -> None:
    with la.Index.create(tmp_path / "other", kind="corpus") as index:
        words = " ".join(f"word{number}" for number in range(60))
        rows = [{"id": "kept", "text": words}, {"id": "gone", "text": f"{words} more"}]
        la.dedup(rows, index=index, add=True)
        index.compact()
        assert index.stats().shadows == 1
    with la.Index.create(tmp_path / "own", kind="corpus") as index:
        added = index.adopt(next((tmp_path / "other").glob("seg-*.lat")))
        assert (added.added, [one.rows for one in added.skipped]) == (1, [1])
        assert "dedup had removed" in added.skipped[0].reason
        assert (len(index), index.stats().shadows) == (1, 0)
        assert index.check() == []
