"""Exact texts are compared as texts, and the cores that were asked for are the cores that are used."""

from __future__ import annotations

import threading
from pathlib import Path

import lookalike as la
from lookalike import _core

#: Two names whose 64-bit XXH3 hashes agree in bits 1 to 31; "other" is any third one.
ALIKE = "v0ca16", "v13fcb"

PROGRAM = """def total(values):
    {0} = 0
    for item in values:
        {0} = {0} + item * 2 - 7
        if {0} > 100:
            print({0})
    return {0}
"""


def _class(folder: Path, names: list[str]) -> list[Path]:
    paths = []
    for place, name in enumerate(names):
        path = folder / f"person{place}.py"
        path.write_text(PROGRAM.format(name))
        paths.append(path)
    return paths


def test_names_with_alike_hashes_are_different_texts(tmp_path: Path) -> None:
    """Score a renamed copy the same, whatever its new name is."""
    report = la.compare(_class(tmp_path, [*ALIKE, "other"]), min_score=0.0)
    assert [pair.score < 1 for pair in report.pairs] == [True] * 3
    assert len({pair.score for pair in report.pairs}) == 1
    assert all(passage.same_text < 1 for pair in report.pairs for passage in pair.passages)


def test_equal_texts_are_one_text_in_all_files(tmp_path: Path) -> None:
    """Give equal names and literals the same number in every file."""
    report = la.compare(_class(tmp_path, ["same", "same", "other"]), min_score=0.0)
    best = report.pairs[0]
    assert (best.left, best.right, best.score) == (0, 1, 1.0)


def test_the_matcher_runs_on_as_many_threads_as_were_asked_for() -> None:
    """Start one thread of the core for each core asked for."""
    text = PROGRAM.format("x")
    read = _core.ReadFile(text, [("python", 0, len(text), None, None, 10, 14)], False)

    def started(threads: int) -> int:
        before = _threads()
        cohort = _core.Cohort(
            [(0, False, 0, [read]), (1, False, 1, [read])], [], None, (0.0, 1.0, 0, 0, {}), 0.5, 10, threads
        )
        cohort.advance(2)
        return _threads() - before

    # Threads of an earlier pool may end meanwhile, never begin.
    assert started(40) - started(1) >= 20


def _threads() -> int:
    status = Path("/proc/self/status")
    if not status.exists():
        return threading.active_count()
    return int(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("Threads:")))
