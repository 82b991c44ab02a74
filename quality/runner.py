"""Scores data sets one after another, each in a process of its own: its CPU time and memory are nobody else's."""

from __future__ import annotations

import importlib
import multiprocessing
import resource
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType

from quality.figure import Outcome
from quality.metrics import Metrics
from quality.task import Task

#: In the order of the table: code, prose, near-duplicates, hostile files.
SETS = (
    "conplag",
    "ir_plag",
    "soco14_train",
    "vkcup15_sample",
    "pan13_train",
    "clough_stevenson",
    "obfuscated_java",
    "resilience",
    "textreuse_samples",
    "license_variants",
    "reuters21578",
    "dedup_definition",
    "print_definition",
    "neardup100k",
    "adversarial",
)


def definition(name: str) -> ModuleType:
    """Return the module of a data set."""
    return importlib.import_module(f"quality.sets.{name}")


def run(names: Iterable[str], data: Path, metrics: Path, rivals: Path | None = None) -> Iterator[tuple[str, Outcome]]:
    """Score sets, each as soon as the one before is done."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn, max_tasks_per_child=1) as processes:
        for name in names:
            yield name, processes.submit(score, name, data, metrics, rivals).result()


def score(name: str, data: Path, metrics: Path, rivals: Path | None = None) -> Outcome:
    """Score a set in this process."""
    module = definition(name)
    folder = module.place(data) if hasattr(module, "place") else data / name
    file = getattr(module, "FILE", "files.zip")
    if not (folder / file).is_file():
        return Outcome(skipped=getattr(module, "MISSING", f"there is no `{name}/{file}` in the data given"))
    before = time.process_time()
    task = Task(folder, Metrics(metrics), rivals)
    figures = module.measure(task)
    return Outcome(figures, [*task.summary(), *task.details], time.process_time() - before, peak_mb())


def peak_mb() -> float:
    """Most memory this process ever had, in 10^6 bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
