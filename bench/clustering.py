"""Clustering of features alone, by the example of the core that plants clusters: minutes, so only when asked for.

CPU seconds and the peak of memory are those the example prints. Making the features is in them: what is pushed while
they are made is sorted and spilled at once, so the two cannot be told apart.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.definition import Definition
from bench.measure import Times
from bench.outcome import Answer, Outcome, SkippedError
from bench.works import Run

ROOT = Path(__file__).parents[1]
#: What the example prints, in the order of its line.
LINE = re.compile(
    r"generate and push (?P<push>[\d.]+) s, sort (?P<sort>[\d.]+) s, candidates (?P<candidates>[\d.]+) s, "
    r"\w+ (?P<cluster>[\d.]+) s; (?P<removed>\d+) removed, (?P<exact>\d+) exact, \d+ glances, peak (?P<peak>\d+) MiB"
)
#: Bytes a feature and its document.
FEATURE = 12


@dataclass(frozen=True)
class Clustered:
    """A line of the example."""

    seconds: float
    removed: int
    exact: int
    peak_mib: int


def clustering(row: Definition, run: Run) -> Outcome:
    """Cluster features of so many documents and of half of them; `doubling` is the factor of CPU time."""
    if run.quick or not run.is_named:
        raise SkippedError("takes minutes and four gigabytes: ask for it by name, with --only and not --quick")
    program = built()
    count, keys, budget = (row.options[name] for name in ("documents", "keys", "budget_mib"))
    half, whole = (ran(program, number, keys, budget) for number in (count // 2, count))
    figures = {"peak MB": whole.peak_mib * 2**20 / 1e6, "doubling": whole.seconds / half.seconds}
    answer = Answer(whole.removed, f"{whole.exact:016x}")
    times = Times([whole.seconds], [whole.seconds])
    return Outcome(times, count * keys * FEATURE, answer, figures, is_job=True)


def built() -> Path:
    """Build the example, with the cargo of the machine."""
    cargo = shutil.which("cargo")
    if cargo is None:
        raise SkippedError("cargo is not on this machine: install Rust (rustup) first")
    order = [cargo, "build", "--release", "--quiet", "--example", "clustering", "-p", "lookalike-core"]
    told = subprocess.run([*order, "--message-format", "json"], cwd=ROOT, check=True, capture_output=True, text=True)
    found = re.findall(r'"executable":"([^"]*clustering[^"]*)"', told.stdout)
    return Path(found[-1])


def ran(program: Path, documents: int, keys: int, budget_mib: int) -> Clustered:
    """Run the example where its spilled tables may lie."""
    with tempfile.TemporaryDirectory() as scratch:
        order = [str(program), str(documents), str(keys), str(budget_mib)]
        told = subprocess.run(order, cwd=scratch, check=True, capture_output=True, text=True).stdout
    return parsed(told)


def parsed(told: str) -> Clustered:
    """Read the line. Errors: ``ValueError`` when the example prints another."""
    found = LINE.search(told)
    if found is None:
        raise ValueError(f"the example `clustering` printed `{told.strip()}`: the pattern of `bench.clustering` is old")
    seconds = sum(float(found[phase]) for phase in ("push", "sort", "candidates", "cluster"))
    return Clustered(seconds, int(found["removed"]), int(found["exact"]), int(found["peak"]))
