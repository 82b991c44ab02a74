"""A run of `lookalike dedup` that is killed at any rename: what is there can be undone, and old and new do not mix."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

import lookalike as la
from support.children import PATIENCE, started_until
from support.dedups import corpus, lines

OLD, NEW = lines(corpus(60)), lines(corpus(90)[20:])
NAMES = ("ledger", "clusters.csv", "pairs.csv")


def arguments(folder: Path, source: Path, *more: str) -> list[str | Path]:
    """Return a command that writes every output into a folder."""
    tables = ["--ledger", folder / "ledger", "--clusters", folder / "clusters.csv", "--pairs", folder / "pairs.csv"]
    return ["dedup", source, *tables, *more]


def killed(folder: Path, source: Path, *more: str) -> Iterator[int]:
    """Kill a run at each of its renames, one after the other; yield after each kill, and after a run that ended."""
    for call in itertools.count(1):
        try:
            child = started_until("os:replace", arguments(folder, source, *more), call)
        except AssertionError:
            # It ended before it renamed so often.
            yield call
            return
        child.kill()
        child.communicate(timeout=PATIENCE)
        yield call


def restored(folder: Path, clean: str, name: str) -> bytes:
    """Return the input that the visible output and the visible ledger give."""
    out = folder.parent / "again" / name
    la.restore(folder / "ledger", folder / clean, out, overwrite=True)
    return out.read_bytes()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("out", "again"):
        (tmp_path / name).mkdir()
    for name, data in (("old.jsonl", OLD), ("new.jsonl", NEW)):
        (tmp_path / name).write_bytes(data)
    return tmp_path / "out"


def visible(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir() if not one.name.startswith(".")}


def test_no_output_stands_without_its_ledger_at_any_rename(folder: Path):
    seen = []
    for call in killed(folder, folder.parent / "new.jsonl", "-o", str(folder / "out.jsonl")):
        seen.append(visible(folder))
        if "out.jsonl" in seen[-1]:
            assert restored(folder, "out.jsonl", f"{call}.jsonl") == NEW
            assert {*NAMES} <= seen[-1]
        for name in visible(folder):
            (folder / name).unlink()
    assert [len(one) for one in seen] == [0, 1, 2, 3, 4]
    assert seen[1] == {"ledger"}


def test_an_output_that_is_overwritten_never_stands_beside_another_ledger(folder: Path):
    """Whatever stands belongs to one run: the output of a run is there only with all of that run."""
    old, new = folder.parent / "old.jsonl", folder.parent / "new.jsonl"
    targets = {"out": folder / "out.jsonl", **{name.split(".")[0]: folder / name for name in NAMES}}
    la.dedup(old, **targets)
    tables = {name: (folder / name).read_bytes() for name in NAMES}
    seen = set()
    for call in killed(folder, new, "-o", str(folder / "out.jsonl"), "--overwrite"):
        there = visible(folder)
        of_old = {name for name in there & {*NAMES} if (folder / name).read_bytes() == tables[name]}
        assert of_old in (set(), there & {*NAMES}), "tables of two runs stand together"
        if "out.jsonl" in there:
            expected = OLD if of_old else NEW
            assert there == {*NAMES, "out.jsonl"}
            assert restored(folder, "out.jsonl", f"{call}.jsonl") == expected
            seen.add(expected)
        la.dedup(old, overwrite=True, **targets)
    assert seen == {OLD, NEW}


def test_the_next_run_puts_back_what_a_killed_one_had_set_aside(folder: Path):
    """Whatever writes next into the folder finds all of the old run or all of the new one."""
    old, new = folder.parent / "old.jsonl", folder.parent / "new.jsonl"
    targets = {"out": folder / "out.jsonl", **{name.split(".")[0]: folder / name for name in NAMES}}
    la.dedup(old, **targets)
    tables = {name: (folder / name).read_bytes() for name in (*NAMES, "out.jsonl")}
    seen = []
    for call in killed(folder, new, "-o", str(folder / "out.jsonl"), "--overwrite"):
        with pytest.raises(FileExistsError, match="exists already"):
            la.dedup(new, out=folder / "out.jsonl")
        assert {one.name for one in folder.iterdir()} == tables.keys(), "nothing hidden is left"
        is_old = {name: (folder / name).read_bytes() == data for name, data in tables.items()}
        assert len({*is_old.values()}) == 1, is_old
        seen.append(OLD if is_old["ledger"] else NEW)
        assert restored(folder, "out.jsonl", f"{call}.jsonl") == seen[-1]
        la.dedup(old, overwrite=True, **targets)
    # Eight renames, at each of which the run was killed, and a run that ended.
    assert seen == [OLD] * 8 + [NEW]


def test_shards_in_a_folder_that_is_there_keep_to_one_ledger(folder: Path):
    """The ledger is that of the shards beside it, or no shard is there."""
    (folder / "clean").mkdir()
    source = folder.parent / "shards"
    source.mkdir()
    for name, data in (("a.jsonl", OLD), ("b.jsonl", NEW)):
        (source / name).write_bytes(data)
    shards = {name: (source / name).read_bytes() for name in ("a.jsonl", "b.jsonl")}
    la.dedup(source, out=folder / "clean", ledger=folder / "ledger")
    whole = None
    for call in killed(folder, source, "-o", str(folder / "clean"), "--overwrite", "--threshold", "0.5"):
        there = visible(folder / "clean")
        if there == {*shards}:
            la.restore(folder / "ledger", folder / "clean", folder.parent / f"again-{call}")
            assert {one.name: one.read_bytes() for one in (folder.parent / f"again-{call}").iterdir()} == shards
        whole = there
        la.dedup(source, out=folder / "clean", ledger=folder / "ledger", overwrite=True)
    assert whole == {*shards}


def test_rows_on_standard_output_come_after_their_ledger(folder: Path):
    """Killed before the first row is delivered, the run has left its ledger, and no row was delivered without it."""
    source = folder.parent / "new.jsonl"
    place = "lookalike.deduplication.outputs:_copy"
    child = started_until(place, ["dedup", source, "-o", "-", "--ledger", folder / "ledger"])
    child.kill()
    delivered, _ = child.communicate(timeout=PATIENCE)
    assert delivered == b""
    assert visible(folder) == {"ledger"}


class Full:
    """A stream that takes nothing."""

    def write(self, data: bytes, /) -> int:
        raise OSError(28, "no space")


def test_rows_that_cannot_be_delivered_leave_what_was_there(folder: Path):
    (folder / "ledger").write_bytes(b"of another run")
    with pytest.raises(OSError, match="no space"):
        la.dedup(folder.parent / "new.jsonl", out=Full(), ledger=folder / "ledger", overwrite=True)
    assert (folder / "ledger").read_bytes() == b"of another run"
    assert [one.name for one in folder.iterdir()] == ["ledger"]
