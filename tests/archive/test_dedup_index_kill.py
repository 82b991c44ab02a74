"""A run of `dedup --index --add` that is killed between any two steps: the same run again has the same outputs."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import lookalike as la
from lookalike.archive.merging import Policy
from lookalike.archive.store import Index
from support.children import PATIENCE
from support.days import cut, lines, low_entropy

SOURCES = ["day0.jsonl", "day1.jsonl", "day2.jsonl"]
#: Runs a day, and ends without a word before or after one of its steps: the commits of the index, and the renames.
CHILD = """
import os, sys
from test_dedup_index_kill import a_run
from lookalike.archive import writing
from lookalike.corpora import staging

left = int(sys.argv[1])

def step():
    global left
    if not left:
        os._exit(9)
    left -= 1

def stepwise(owner, name):
    whole = getattr(owner, name)
    def call(*given, **named):
        step()
        found = whole(*given, **named)
        step()
        return found
    setattr(owner, name, call)

stepwise(writing.Writer, "add")
stepwise(staging.Staging, "commit")
stepwise(staging.os, "replace")
stepwise(staging.os, "rename")
a_run()
"""


def a_run() -> None:
    """Deduplicate three files as one day, each of which is a commit of its own in the index."""
    with Index._open("index", Policy(tail_documents=8, batch_bytes=1), write=True) as index:
        la.dedup([Path(one) for one in SOURCES], index=index, add=True, out="out", clusters="clusters.csv")


def outputs() -> dict[str, bytes]:
    found = [Path("clusters.csv"), *Path("out").glob("*")]
    return {str(path): path.read_bytes() for path in found if path.exists()}


def contents() -> list[tuple[str, bytes]]:
    """All documents of the index, and the leaders of its shadows, in order."""
    with la.Index("index") as index, index.snapshot() as view:
        return [
            (bytes(row.id).hex(), repr((row.flags, row.leader, bytes(row.meta))).encode())
            for _, row in view.every_row()
        ]


def prepared(folder: Path) -> None:
    """Make a day, and an index that has some of it."""
    rng = random.Random(11)
    texts = low_entropy(rng, 120)
    folder.mkdir()
    la.Index.create(folder / "index", kind="corpus", shingle=2, filter=(6, 2, 1), threshold=0.6).close()
    for name, rows in zip(SOURCES, cut(rng, texts, 3), strict=True):
        (folder / name).write_bytes(lines(rng, rows, 0, bad=0.05))
    la.dedup([text for text in texts[::7] if text], index=folder / "index", add=True)


def test_a_killed_run_is_repeated_with_the_same_outputs(tmp_path: Path, monkeypatch):
    prepared(tmp_path / "whole")
    monkeypatch.chdir(tmp_path / "whole")
    a_run()
    expected, documents = outputs(), contents()
    assert len(expected) == 4
    killed = 0
    while True:
        folder = tmp_path / f"killed{killed}"
        prepared(folder)
        monkeypatch.chdir(folder)
        order = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n{CHILD}"]
        path = {"PYTHONPATH": str(Path(__file__).parent.parent)}
        done = subprocess.run([*order, str(killed)], env=path, capture_output=True, timeout=PATIENCE, check=False)
        if done.returncode == 0:
            break
        assert done.returncode == 9, done.stderr.decode()
        # Nothing of an output is there before the index has all rows.
        assert not outputs() or contents() == documents
        if outputs() != expected:
            a_run_again()
        assert outputs() == expected
        assert contents() == documents
        killed += 1
    assert killed >= 8, "three commits of the index and the renames of the outputs"


def a_run_again() -> None:
    """Repeat a run; what is left of its outputs is replaced."""
    with Index._open("index", Policy(tail_documents=8, batch_bytes=1), write=True) as index:
        sources = [Path(one) for one in SOURCES]
        la.dedup(sources, index=index, add=True, out="out", clusters="clusters.csv", overwrite=True)
