"""The whole job of `lookalike compare`, from the files to the report, as a user runs it: a command on one core.

CPU seconds of the command, start-up included, and its peak of memory. The answer is `pairs.csv`; independent of it, the
copies that are known must come first.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import child, classes
from bench.definition import Definition
from bench.measure import Effort, Times
from bench.outcome import Answer, Outcome, SkippedError
from bench.works import Run

#: Of scores, as many digits count as a reader of the report sees.
DIGITS = 3


@dataclass(frozen=True)
class Task:
    """A folder of submissions, and the pairs in it that are known to be copies."""

    folder: Path
    gold: frozenset[frozenset[str]]

    @property
    def size(self) -> int:
        """Bytes of all submissions."""
        return sum(file.stat().st_size for file in self.folder.iterdir())


def compare(row: Definition, run: Run) -> Outcome:
    """Compare a generated class."""
    return measured(generated(count_of(row, run)), row, run.effort)


def compare_growth(row: Definition, run: Run) -> Outcome:
    """Compare a generated class and one of a tenth of it; `class growth` is the factor of CPU time."""
    count = count_of(row, run)
    tenth, whole = (measured(generated(size), row, run.effort) for size in (count // 10, count))
    whole.figures["class growth"] = whole.times.best / tenth.times.best
    return whole


def count_of(row: Definition, run: Run) -> int:
    found: int = row.options["quick_submissions" if run.quick else "submissions"]
    return found


def generated(count: int) -> Task:
    place = classes.folder(count)
    with (place / "gold.csv").open(encoding="utf-8", newline="") as table:
        return Task(place / "submissions", frozenset(map(frozenset, csv.reader(table))))


def measured(task: Task, row: Definition, effort: Effort) -> Outcome:
    """Repeat the command on a task, after a first time that leaves byte code behind, as an installation does."""
    times, peak = Times(), 0
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "report"
        command(task.folder, out)
        while not (times.cpu and times.is_enough(effort)):
            shutil.rmtree(out)
            used = command(task.folder, out)
            times += Times([used["cpu"]], [used["wall"]])
            peak = max(peak, used["peak"])
        pairs = ranked(out / "pairs.csv")
    share = share_first(pairs, task.gold)
    figures = {"peak MB": peak / 1e6, "known copies": share}
    return Outcome(times, task.size, answer_of(pairs), figures, missed(share, row.options["floor"]), is_job=True)


def command(folder: Path, out: Path) -> dict[str, Any]:
    """Run `lookalike compare` once; seconds and peak in bytes."""
    return launched(["compare", str(folder), "--out", str(out)])


def launched(order: list[str], sample: bool = False) -> dict[str, Any]:
    """Run a command of lookalike once; seconds, peak in bytes and, where asked for, seconds of each thread."""
    if not hasattr(os, "wait4"):
        raise SkippedError("what a command took is asked of wait4, which this system does not have")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    # The environment is the command's; the program between takes nothing from it and imports little (-I, -S).
    launcher = [sys.executable, "-I", "-S", child.__file__, *(["--sample"] if sample else [])]
    whole = [*launcher, sys.executable, "-m", "lookalike", *order]
    done = subprocess.run(whole, check=True, capture_output=True, text=True, env=environment)
    used: dict[str, Any] = json.loads(done.stdout)
    if used["code"]:
        raise RuntimeError(f"`lookalike {order[0]}` ended with {used['code']}: {done.stderr.strip()}")
    return used


def ranked(file: Path) -> list[dict[str, str]]:
    """Read the pairs, the highest score first as they stand."""
    with file.open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


def answer_of(pairs: list[dict[str, str]]) -> Answer:
    state = hashlib.sha256()
    for pair in pairs:
        cells = (rounded(cell) for cell in pair.values())
        state.update((",".join(cells) + "\n").encode())
    return Answer(len(pairs), state.hexdigest()[:16])


def rounded(cell: str) -> str:
    """Round what is a number with a fraction."""
    try:
        return f"{float(cell):.{DIGITS}f}" if "." in cell else cell
    except ValueError:
        return cell


def share_first(pairs: list[dict[str, str]], gold: frozenset[frozenset[str]]) -> float:
    """Tell which share of the G known copies is among the first G pairs."""
    first = {frozenset((pair["left"], pair["right"])) for pair in pairs[: len(gold)]}
    return len(first & gold) / len(gold)


def missed(share: float, floor: float) -> str:
    return f"{share:.3f} of the known copies come first: at least {floor} must" if share < floor else ""
