"""Other tools on the same input in the same run. Their scripts are called as they are and keep to their own clocks.

They read all characters of a text as they come; lookalike normalises it as well. MB/s count raw bytes for both.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import lookalike as la
from bench import jobs, measure
from bench.definition import Definition
from bench.jobs import Task
from bench.measure import Times
from bench.outcome import Outcome, SkippedError
from bench.works import Run, table_answer

#: The longest any of them may take: thrice what the slowest took when this was written.
PATIENCE_SECONDS = 300


def cache() -> Path:
    """Where the rivals keep their corpora, by the same variable as they read."""
    return Path(os.environ.get("BENCH_CACHE", "/tmp/bench-cache"))


def script(run: Run, name: str = "winnow.py") -> Path:
    if run.rivals is None:
        raise SkippedError("no folder of rivals was given; use make bench RIVALS=DIR")
    found = run.rivals / name
    if not found.exists():
        raise SkippedError(f"`{found.name}` is not in the folder given")
    if run.quick:
        raise SkippedError("rivals are measured at full size only")
    return found


def rival(row: Definition, run: Run) -> Outcome:
    """Run one implementation of the rivals' script, which prints a line of JSON at the end."""
    found = figures_of(called(script(run), "--impl", row.options["impl"], "--mb", row.options["mb"]))
    if not found["guarantee"]:
        raise SkippedError(f"its gap of {found['max_gap']} breaks the guarantee")
    return Outcome(times_of(found), int(found["mb"] * 1e6), None)


def called(program: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a script of the rivals."""
    command = [sys.executable, str(program), *map(str, arguments)]
    try:
        return subprocess.run(command, cwd=program.parent, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired as late:
        raise SkippedError(f"not done after {PATIENCE_SECONDS} seconds") from late


def figures_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Take the figures a rival printed, unless it says itself that it failed."""
    found = last_line(done)
    if "error" in found:
        raise SkippedError(f"it did not run: {found['error']}")
    return found


def last_line(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    lines = done.stdout.strip().splitlines()
    try:
        found: dict[str, Any] = json.loads(lines[-1])
        return found
    except (IndexError, json.JSONDecodeError) as broken:
        reason = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise SkippedError(f"it did not run: {reason}") from broken


def times_of(found: dict[str, Any]) -> Times:
    runs = found["runs"]
    return Times(runs["cpu"], runs.get("wall", runs["cpu"]))


def shared_text(row: Definition, run: Run) -> Outcome:
    """Fingerprint the text of the rivals, cut into documents as they cut it."""
    script(run)
    file = cache() / "text50.txt"
    if not file.exists():
        raise SkippedError("`text50.txt` is not in $BENCH_CACHE; the rivals' own script makes it")
    text = file.read_text("ascii")
    # The text is cut from packages that move; only the one the answers were made from has a known answer.
    is_known = hashlib.sha256(text.encode()).hexdigest() == row.options["sha256"]
    documents = text[: int(row.options["mb"] * 1e6)].split("\n\n")
    fingerprint = partial(la.fingerprint_batch, threads=1, **row.select)
    times, table = measure.repeat(lambda: documents, fingerprint, run.effort)
    answer = table_answer(table) if is_known else None
    return Outcome(times, sum(map(len, documents)), answer, fault=broken_guarantee(table))


def broken_guarantee(table: la.FingerprintTable) -> str:
    """Check what the rivals check of themselves: no gap between two picks of a document is longer than a window."""
    positions = table.positions.tolist()
    bounds = pairwise(table.offsets.tolist())
    gap = max((b - a for start, end in bounds for a, b in pairwise(positions[start:end])), default=0)
    return f"a gap of {gap} breaks the guarantee" if gap > table.selection.window else ""


def rival_class(row: Definition, run: Run) -> Outcome:
    """Run one implementation of the rivals' whole job on their class."""
    program = script(run, "class_compare.py")
    task = class_of(row, run)
    found = figures_of(called(program, "--impl", row.options["impl"], "--n", row.options["submissions"]))
    figures = {"peak MB": found["peak_rss_mb"], "known copies": found["p_at_g"]}
    return Outcome(times_of(found), task.size, None, figures, is_job=True)


def shared_class(row: Definition, run: Run) -> Outcome:
    """Compare the class of the rivals as a user would."""
    task = class_of(row, run)
    outcome = jobs.measured(task, row, run.effort)
    # The class is cut from Python's own library, which moves with its version.
    texts = b"\0".join(file.read_bytes() for file in sorted(task.folder.iterdir()))
    if hashlib.sha256(texts).hexdigest() != row.options["sha256"]:
        outcome.answer = None
    return outcome


def class_of(row: Definition, run: Run) -> Task:
    """The rivals' class with its known copies, made by their own script when it is not there."""
    maker, count = script(run, "corpora.py"), row.options["submissions"]
    gold = cache() / f"class{count}.gold.json"
    if not gold.exists():
        called(maker, "class", "--n", count)
    if not gold.exists():
        raise SkippedError(f"`{maker.name}` of the rivals did not make their class of {count}")
    pairs = json.loads(gold.read_text("utf-8"))
    return Task(cache() / f"class{count}", frozenset(frozenset(names[:2]) for names in pairs))
