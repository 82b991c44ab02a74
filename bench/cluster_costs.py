"""What steps cost on a cluster of the tests: CPU, most memory, bytes shuffled and spilled.

CPU is read from the kernel for this process and all below it: the driver, the master, the workers, and their executors,
Java and Python. Spark's event log tells the bytes of every task; a step is a job group.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from lookalike.spark import job
from tests.support.cluster import Cluster, descendants

Result = TypeVar("Result")
_TICKS = os.sysconf("SC_CLK_TCK")
#: Rows of a row group.
_GROUP = 2500
#: The part of a step that has no other name: tables that are read after the deduplication.
_REST = "tables"
#: Seconds between two looks at the memory of processes.
_LOOK = 0.5


def write_rows(table: Any, place: Path) -> None:
    """Write an Arrow table as a Parquet file with row groups that are small beside an executor.

    Spark reads a row group as a whole: one of 400,000 documents does not fit 1 GiB.
    """
    import pyarrow.parquet as pq

    pq.write_table(table, place, row_group_size=_GROUP)


class Watch:
    """Measures steps, one after the other."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._events = cluster, cluster.folder / "events"
        self._events.mkdir()
        self.steps: dict[str, dict[str, Any]] = {}

    def settings(self) -> dict[str, str]:
        """Return what a session needs, with _ for each dot."""
        return {
            "spark_eventLog_enabled": "true",
            "spark_eventLog_compress": "false",
            "spark_eventLog_dir": self._events.as_uri(),
        }

    def step(self, name: str, work: Callable[[], Result]) -> Result:
        """Run a step, and note the CPU and the time that it took."""
        from pyspark.sql import SparkSession

        context = SparkSession.active().sparkContext
        context.setJobGroup(name, name)
        before, began = self._cpu(), time.monotonic()
        self._parts = dict[str, float]()
        with self._peaks() as peaks, self._timed_parts():
            found = work()
        cpu = self._cpu() - before
        of_parts = self._parts | {_REST: cpu - sum(self._parts.values())}
        self.steps[name] = {
            "cpu": cpu,
            "seconds": time.monotonic() - began,
            "peaks": peaks,
            "cpu_of_parts": of_parts,
        }
        return found

    def warm_up(self, _name: str, work: Callable[[], Result]) -> Result:
        """Run a step, and note nothing."""
        found = self.step("warm up", work)
        del self.steps["warm up"]
        return found

    @contextlib.contextmanager
    def _timed_parts(self) -> Iterator[None]:
        """Note the CPU of the parts of a deduplication, wherever it marks them."""
        mark = job.step

        @contextlib.contextmanager
        def timed(df: Any, name: str) -> Iterator[None]:
            before = self._cpu()
            with mark(df, name):
                yield
            self._parts[name] = self._parts.get(name, 0) + self._cpu() - before

        job.step = timed
        try:
            yield
        finally:
            job.step = mark

    @contextlib.contextmanager
    def _peaks(self) -> Iterator[dict[str, int]]:
        """Note the most memory that an executor and a Python worker have had so far, in bytes."""
        ended, peaks = threading.Event(), {"executor": 0, "python": 0}

        def look() -> None:
            while not ended.wait(_LOOK):
                for one in (below for worker in self._cluster.workers for below in descendants(worker.pid)):
                    with contextlib.suppress(OSError, TypeError):
                        status = Path(f"/proc/{one}/status").read_text()
                        kind = "executor" if "Name:\tjava" in status else "python"
                        most = re.search(r"VmHWM:\s+(\d+)", status)
                        peaks[kind] = max(peaks[kind], 1024 * int(most[1]))  # type: ignore[index]

        thread = threading.Thread(target=look)
        thread.start()
        try:
            yield peaks
        finally:
            ended.set()
            thread.join()

    def complete(self, found: dict[str, Any]) -> None:
        """Add what the event log tells. REQUIRES: the session has ended, so that the log is complete."""
        for name, told in _by_group(self._events).items():
            if name in self.steps:
                self.steps[name] |= told
        found["steps"] = found.get("steps", {}) | self.steps

    def _cpu(self) -> float:
        """Return the CPU seconds of this process and of all below it, and of those that have ended there."""
        total = 0
        for one in (os.getpid(), *descendants(os.getpid())):
            with contextlib.suppress(OSError, IndexError):
                fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
                total += sum(map(int, fields[11:15]))
        return total / _TICKS


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith((".", "app"))):
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)


def _by_group(folder: Path) -> dict[str, dict[str, Any]]:
    """Return bytes shuffled and spilled, tasks, stages and their seconds, of every job group and of its parts.

    A part is what the jobs of a group are tagged with (``lookalike.spark.keeping.step``).
    """
    of_stage: dict[int, tuple[str, str]] = {}
    found: dict[str, dict[str, Any]] = {}
    runs: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for event in _lines(folder):
        if event["Event"] == "SparkListenerJobStart":
            told = event.get("Properties") or {}
            part = re.search(r"lookalike ([\w ]+)", told.get("spark.job.tags", ""))
            if group := told.get("spark.jobGroup.id"):
                # A stage that several jobs name belongs to the first of them: the others find its output.
                of_stage = dict.fromkeys(event["Stage IDs"], (group, part[1] if part else _REST)) | of_stage
        elif event["Event"] == "SparkListenerTaskEnd" and event["Stage ID"] in of_stage:
            group, name = of_stage[event["Stage ID"]]
            whole = found.setdefault(group, {**_NOTHING, "parts": {}})
            _add(whole, event.get("Task Metrics") or {})
            _add(whole["parts"].setdefault(name, dict(_NOTHING)), event.get("Task Metrics") or {})
        elif event["Event"] == "SparkListenerStageCompleted" and event["Stage Info"]["Stage ID"] in of_stage:
            told = event["Stage Info"]
            run = told.get("Submission Time", 0), told.get("Completion Time", 0)
            runs.setdefault(of_stage[told["Stage ID"]], []).append(run)
    for (group, name), times in runs.items():
        found[group]["parts"][name]["stages"] = _covered(times)
    return found


def _covered(times: list[tuple[int, int]]) -> float:
    """Return the seconds in which at least one of these runs, given in milliseconds, was under way.

    >>> _covered([(0, 1000), (500, 2000), (5000, 6000)])
    3.0
    """
    total, until = 0, 0
    for start, end in sorted(times):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total / 1000


_NOTHING = {"shuffled": 0.0, "spilled": 0.0, "tasks": 0.0, "java": 0.0, "busy": 0.0, "stages": 0.0}


def _add(told: dict[str, Any], metrics: dict[str, Any]) -> None:
    told["tasks"] += 1
    told["shuffled"] += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
    told["spilled"] += metrics.get("Disk Bytes Spilled", 0)
    told["java"] += metrics.get("Executor CPU Time", 0) / 1e9
    told["busy"] += metrics.get("Executor Run Time", 0) / 1e3
