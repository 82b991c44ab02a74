"""What steps cost on a cluster of the tests: CPU, most memory, bytes shuffled and spilled.

CPU is read from the kernel for this process and all below it: the driver, the master, the workers, and their executors,
Java and Python. Spark's event log tells the bytes of every task; a step is a job group.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from tests.support.cluster import Cluster, descendants

Result = TypeVar("Result")
_TICKS = os.sysconf("SC_CLK_TCK")


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
        found = work()
        self.steps[name] = {"cpu": self._cpu() - before, "seconds": time.monotonic() - began}
        return found

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
    """Return bytes shuffled and spilled, tasks and their seconds, of every job group and of its parts.

    A part is what the jobs of a group are tagged with (``lookalike.spark.keeping.step``).
    """
    of_stage: dict[int, tuple[str, str]] = {}
    found: dict[str, dict[str, Any]] = {}
    for event in _lines(folder):
        if event["Event"] == "SparkListenerJobStart":
            told = event.get("Properties") or {}
            part = re.search(r"lookalike ([\w ]+)", told.get("spark.job.tags", ""))
            if group := told.get("spark.jobGroup.id"):
                # A stage that several jobs name belongs to the first of them: the others find its output.
                of_stage = dict.fromkeys(event["Stage IDs"], (group, part[1] if part else "tables")) | of_stage
        elif event["Event"] == "SparkListenerTaskEnd" and event["Stage ID"] in of_stage:
            group, name = of_stage[event["Stage ID"]]
            whole = found.setdefault(group, {**_NOTHING, "parts": {}})
            _add(whole, event.get("Task Metrics") or {})
            _add(whole["parts"].setdefault(name, dict(_NOTHING)), event.get("Task Metrics") or {})
    return found


_NOTHING = {"shuffled": 0.0, "spilled": 0.0, "tasks": 0.0, "java": 0.0, "busy": 0.0}


def _add(told: dict[str, Any], metrics: dict[str, Any]) -> None:
    told["tasks"] += 1
    told["shuffled"] += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
    told["spilled"] += metrics.get("Disk Bytes Spilled", 0)
    told["java"] += metrics.get("Executor CPU Time", 0) / 1e9
    told["busy"] += metrics.get("Executor Run Time", 0) / 1e3
