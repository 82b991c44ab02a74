"""CPU time on chosen cores. CPU and not wall time, because a neighbour on the core does not inflate it as much."""

from __future__ import annotations

import os
import platform
import re
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

Given = TypeVar("Given")
Result = TypeVar("Result")

#: Wall time above CPU time by this factor says that the core was shared: caches were too, and the figure is a low one.
SHARED = 1.15


@dataclass(frozen=True)
class Effort:
    """How long a piece of work is repeated."""

    cpu_seconds: float = 1.5
    least: int = 3
    most: int = 100


#: Once is enough to see whether the answer is right.
ONCE = Effort(0, 1, 1)


@dataclass
class Times:
    """Seconds of each repetition."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def __add__(self, other: Times) -> Times:
        return Times(self.cpu + other.cpu, self.wall + other.wall)

    @property
    def best(self) -> float:
        """The least CPU time: what the work takes when nobody disturbs it."""
        return min(self.cpu)

    @property
    def median(self) -> float:
        """The CPU time of the repetition in the middle."""
        return statistics.median(self.cpu)

    @property
    def is_noisy(self) -> bool:
        """Whether others used the core at the same time."""
        return sum(self.wall) > SHARED * sum(self.cpu)

    def is_enough(self, effort: Effort) -> bool:
        """Whether no more repetitions are called for."""
        done = len(self.cpu)
        return done >= effort.most or (done >= effort.least and sum(self.cpu) >= effort.cpu_seconds)


def repeat(prepare: Callable[[], Given], work: Callable[[Given], Result], effort: Effort) -> tuple[Times, Result]:
    """Repeat `work`; its times and last result.

    What it works on is made anew each time, off the clock: a `str` keeps its UTF-8 once somebody asked for it, and a
    second pass over the same object would not pay for it.
    """
    times = Times()
    while True:
        given = prepare()
        cpu, wall = time.process_time(), time.perf_counter()
        result = work(given)
        times.cpu.append(time.process_time() - cpu)
        times.wall.append(time.perf_counter() - wall)
        if times.is_enough(effort):
            return times, result
        del given, result


def cores() -> list[int]:
    """Cores this process may use, none where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


#: The cores at the start, before anything was pinned.
USABLE = cores()


@contextmanager
def pinned(to: list[int]) -> Iterator[None]:
    """Run on these cores only, where the system can do that."""
    before = cores()
    if to and before:
        os.sched_setaffinity(0, to)
    try:
        yield
    finally:
        if before:
            os.sched_setaffinity(0, before)


def load_average() -> float:
    """Processes that wanted a core in the last minute."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def machine() -> str:
    """Processor and number of cores, without the machine's own name."""
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else None
    model = found[1] if found else platform.processor() or platform.machine()
    return re.sub(r"[^a-z0-9]+", "-", f"{model} {os.cpu_count()} cores".lower()).strip("-")
