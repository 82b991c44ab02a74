"""A run of `dedup --index --add` that is killed at any commit or rename, and what comes after it: no row is lost.

Whatever runs next, the same rows, a file that has grown or changed, or another file: before the run was decided, its
outputs and the index are those of an index that the killed run never touched. Once it is decided, they are those after
a run that finished, and its own outputs are completed.
"""

from __future__ import annotations

import contextlib
import errno
import json
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike.archive.merging import Policy
from lookalike.archive.store import Index
from support.children import PATIENCE
from support.days import cut, lines, low_entropy, unchanged

SOURCES = ["a.jsonl", "b.jsonl", "c.jsonl"]
#: Segments and merges happen all the time, and each source is a commit of its own.
SMALL = Policy(tail_documents=8, batch_bytes=1, fan_in=3, tier_bytes=9_000)
#: Runs some files, and kills itself before the commit or rename with a number; the end of the run is one more.
CHILD = """
import os, signal, sys
sys.path[:0] = [{here!r}, {tests!r}]
from test_interrupted_runs import a_run
from lookalike.archive.catalogue import Catalogue
from lookalike.corpora import staging

left = {left}

def stepwise(owner, name):
    whole = getattr(owner, name)
    def call(*given, **named):
        global left
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return whole(*given, **named)
    setattr(owner, name, call)

stepwise(Catalogue, "apply")
stepwise(staging.os, "replace")
stepwise(staging.os, "rename")
a_run({sources!r})
"""


def a_run(sources: Sequence[str], *, add: bool = True, place: str = "") -> Any:
    """Deduplicate files of the present folder as one day; outputs go below a place."""
    with Index._open("index", SMALL, write=add) as index:
        given = [Path(one) for one in sources]
        return la.dedup(
            given, index=index, add=add, out=f"{place}out/", clusters=f"{place}clusters.csv", overwrite=True
        )


def is_killed(sources: Sequence[str], left: int) -> bool:
    """Run files in a process that is killed; tell whether it was, before it ended by itself."""
    here = Path(__file__).parent
    code = CHILD.format(here=str(here), tests=str(here.parent), left=left, sources=list(sources))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    return done.returncode != 0


def outputs(place: str = "") -> dict[str, bytes]:
    paths = [Path(f"{place}clusters.csv"), *Path(f"{place}out").glob("*")]
    return {str(path).removeprefix(place): path.read_bytes() for path in paths if path.exists()}


def contents() -> list[tuple[Any, ...]]:
    """Everything that the index has of documents and shadows, in order."""
    with la.Index("index") as index, index.snapshot() as view:
        assert view.state.run == ""
        assert index.check() == []
        rows = [(row.id, row.flags, row.leader, row.meta) for _, row in view.every_row()]
        return list(zip(rows, view.records(), strict=True))


def prepared(folder: Path) -> Path:
    """Make an index with an earlier day, three files of the day that is killed, and another file with some rows."""
    rng = random.Random(11)
    texts = low_entropy(rng, 70)
    folder.mkdir()
    la.Index.create(folder / "index", kind="corpus", shingle=2, filter=(6, 2, 1), threshold=0.6).close()
    for name, rows in zip(SOURCES, cut(rng, texts, 3), strict=True):
        (folder / name).write_bytes(lines(rng, rows, 0, bad=0.05))
    (folder / "other.jsonl").write_bytes(lines(rng, [*texts[3::5], "w1 w2 w3 w4 and new"], 500, bad=0))
    la.dedup([text for text in texts[::9] if text], index=folder / "index", add=True)
    return folder


def grown() -> list[str]:
    """Append rows to the second file: copies of its own and of others, and new ones."""
    with open("b.jsonl", "ab") as file:
        first, *_ = Path("a.jsonl").read_bytes().splitlines(keepends=True)
        file.write(first + b'{"id": "grown", "text": "a row that came after the interruption"}\n')
    return SOURCES


def changed() -> list[str]:
    """Put a row before the others: their numbers are other ones."""
    whole = Path("a.jsonl").read_bytes()
    Path("a.jsonl").write_bytes(b'{"id": "front", "text": "a row that stands before all others"}\n' + whole)
    return SOURCES


#: What runs after the killed run: each step names the files of a run.
NEXT = {
    "same": [lambda: SOURCES],
    "grown": [grown],
    "grown twice": [grown, grown],
    "changed at the front": [changed],
    "shorter": [lambda: SOURCES[:2]],
    "another file": [lambda: ["other.jsonl"]],
    "another file and the same": [lambda: ["other.jsonl"], lambda: SOURCES],
}


def followed(steps: Sequence[Any]) -> tuple[list[dict[str, bytes]], list[tuple[Any, ...]]]:
    """Run what comes next in the present folder: all outputs, and the index at the end."""
    found = []
    for step in steps:
        files = step()
        only_read = a_run(files, add=False, place="read-")
        answer = a_run(files)
        found.append(outputs("read-"))
        last = outputs()
        assert {name: last[name] for name in found[-1]} == found[-1], "without --add the answer is the same"
        shutil.rmtree("read-out")
        assert [note for note in only_read.notes if "interrupted" not in note] == [
            note for note in answer.notes if "interrupted" not in note
        ]
    return found, contents()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, bool], Any]:
    """What each follow-up gives if the run never began, and if it had finished."""
    folder = tmp_path_factory.mktemp("whole")
    begun, finished = prepared(folder / "begun"), prepared(folder / "finished")
    with contextlib.chdir(finished):
        a_run(SOURCES)
    made = {}
    for name, steps in NEXT.items():
        for is_finished, place in ((False, begun), (True, finished)):
            with unchanged(place):
                made[name, is_finished] = followed(steps)
    return made


def test_a_run_that_is_killed_at_any_commit_loses_no_row(expected: dict[tuple[str, bool], Any], tmp_path: Path):
    states = []
    for left in range(100):
        folder = prepared(tmp_path / f"killed{left}")
        with contextlib.chdir(folder):
            was_killed = is_killed(SOURCES, left)
        with la.Index(folder / "index") as index, index.snapshot() as view:
            state = "decided" if view.state.outputs else "running" if view.state.run else ""
            states.append((state, len(outputs_of(folder))))
        is_finished = state == "decided" or (not state and bool(states[-1][1]))
        # The grown file at every commit; the others at every third, and at the last ones.
        names = NEXT if left % 3 == 0 or not was_killed else ["grown"]
        for name in names:
            with unchanged(folder):
                assert followed(NEXT[name]) == expected[name, is_finished], (left, name)
                assert not list(Path().glob(".lookalike-*/journal")), (left, name)
        if not was_killed:
            break
    assert states[0] == ("", 0)
    assert ("running", 0) in states
    assert ("running", 4) not in states, "outputs have their names only after the run is decided"
    assert {("decided", 0), ("decided", 4)} <= {*states}
    assert states[-1] == ("", 4)
    assert len(states) > 8


def outputs_of(folder: Path) -> list[Path]:
    return [path for path in [folder / "clusters.csv", *(folder / "out").glob("*")] if path.exists()]


@pytest.mark.parametrize("second", ["grown", "another file"])
def test_runs_that_are_killed_one_after_the_other(second: str, expected: dict[tuple[str, bool], Any], tmp_path: Path):
    """The second killed run takes back what the first had added, or is killed while it does: then the third does."""
    for left in range(1, 8, 2):
        folder = prepared(tmp_path / f"killed{left}")
        with contextlib.chdir(folder):
            assert is_killed(SOURCES, 4)
            before = {name: Path(name).read_bytes() for name in SOURCES}
            assert is_killed(NEXT[second][0](), left)
            for name, whole in before.items():
                Path(name).write_bytes(whole)
        for name in ("same", "another file and the same"):
            with unchanged(folder):
                assert followed(NEXT[name]) == expected[name, False], (left, name)


def test_finished_runs_are_known_and_a_repeated_one_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Days [A] and then [A, B]: A's rows are removed from the second output."""
    monkeypatch.chdir(tmp_path)
    la.Index.create("index", kind="corpus").close()
    rows = [f'{{"id": "{number}", "text": "row number {number} of the file"}}\n' for number in range(4)]
    Path("day.jsonl").write_text("".join(rows[:2]))
    la.dedup(Path("day.jsonl"), index="index", add=True, out="one.jsonl")
    Path("day.jsonl").write_text("".join(rows))
    la.dedup(Path("day.jsonl"), index="index", add=True, out="two.jsonl")
    assert Path("one.jsonl").read_text() == "".join(rows[:2])
    assert Path("two.jsonl").read_text() == "".join(rows[2:])
    la.dedup(Path("day.jsonl"), index="index", add=True, out="three.jsonl")
    assert Path("three.jsonl").read_text() == "".join(rows[2:])


class Full:
    """A stream that takes nothing."""

    name = "full"

    def write(self, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "no space")

    def flush(self) -> None:
        pass


def interrupted(rows: list[dict[str, str]], index: Index) -> None:
    """A run whose rows are in the index, and whose output cannot be written."""
    Path("interrupted.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(OSError, match="full"):
        la.dedup(Path("interrupted.jsonl"), index=index, add=True, out=Full())


def test_what_is_taken_back_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with la.Index.create("index", kind="corpus") as index:
        interrupted([{"text": "the first text"}, {"text": "a second one"}], index)
        assert len(index) == 2
        read = la.dedup(["the first text"], index=index)
        assert read.select() == ["the first text"]
        assert any("2 rows that it had added" in note and "not considered" in note for note in read.notes), read.notes
        added = la.dedup(["the first text"], index=index, add=True)
        assert added.select() == ["the first text"]
        assert any("2 rows that it had added" in note and "taken back" in note for note in added.notes)
        assert len(index) == 1
        assert not la.dedup(["the first text"], index=index, add=True).gone, "it is the same run"
        assert len(la.dedup(["the first text", "more"], index=index, add=True).gone) == 1


def test_documents_that_were_added_meanwhile_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What `index add` adds or replaces after an interrupted run is not part of it."""
    monkeypatch.chdir(tmp_path)
    with la.Index.create("index", kind="corpus") as index:
        interrupted([{"id": f"r{number}", "text": f"the text of row {number}"} for number in range(3)], index)
        index.add([("r1", "another text"), ("own", "a text of its own")])
        la.dedup([{"id": "x", "text": "a new day"}], index=index, add=True)
        assert sorted(one.id for one in index.documents()) == ["own", "r1", "x"]
        assert index.check() == []
