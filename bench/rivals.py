"""Other tools on the same text in the same run. Their scripts are called as they are and keep to their own clocks.

They read all characters as they come; lookalike normalises the text as well. MB/s count raw bytes for both.
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
from bench import measure
from bench.definition import Definition
from bench.measure import Times
from bench.outcome import Outcome, SkippedError
from bench.works import Run, table_answer

#: The longest any of them may take: thrice what the slowest took when this was written.
PATIENCE_SECONDS = 300


def cache() -> Path:
    """Where the rivals keep their corpora, by the same variable as they read."""
    return Path(os.environ.get("BENCH_CACHE", "/tmp/bench-cache"))


def script(run: Run) -> Path:
    if run.rivals is None:
        raise SkippedError("no folder of rivals was given; use make bench RIVALS=DIR")
    found = run.rivals / "winnow.py"
    if not found.exists():
        raise SkippedError(f"`{found.name}` is not in the folder given")
    if run.quick:
        raise SkippedError("rivals are measured at full size only")
    return found


def rival(row: Definition, run: Run) -> Outcome:
    """Run one implementation of the rivals' script, which prints a line of JSON at the end."""
    program = script(run)
    command = [sys.executable, str(program), "--impl", row.options["impl"], "--mb", str(row.options["mb"])]
    try:
        done = subprocess.run(command, cwd=program.parent, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired as late:
        raise SkippedError(f"not done after {PATIENCE_SECONDS} seconds") from late
    return understood(last_line(done))


def last_line(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    lines = done.stdout.strip().splitlines()
    try:
        found: dict[str, Any] = json.loads(lines[-1])
        return found
    except (IndexError, json.JSONDecodeError) as broken:
        reason = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise SkippedError(f"it did not run: {reason}") from broken


def understood(found: dict[str, Any]) -> Outcome:
    """Take a rival's figures, unless it says itself that it failed or broke the guarantee."""
    if "error" in found:
        raise SkippedError(f"it did not run: {found['error']}")
    if not found["guarantee"]:
        raise SkippedError(f"its gap of {found['max_gap']} breaks the guarantee")
    runs = found["runs"]
    return Outcome(Times(runs["cpu"], runs.get("wall", runs["cpu"])), int(found["mb"] * 1e6), None)


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
