"""Counters of a server. Each process has a small mapped file; the process that is asked sums all of them.

A file outlives its process, so counters go on after a restart. Values are 8 bytes at multiples of 8, so that a reader
never sees half of one. Cost of counting: three additions in memory.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Iterator, Mapping, Sequence

from lookalike.service.settings import Settings

#: Upper ends of the classes of durations, in seconds.
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
#: Classes of statuses: 0 stands for requests whose client was gone.
_CLASSES = (0, 2, 3, 4, 5)
_PREFIX = "metrics-"


class Metrics:
    """The counters of one process: requests by route, method and class of status, and how long they took."""

    def __init__(self, settings: Settings, name: str, routes: Sequence[tuple[str, str]]) -> None:
        """Open the file of a process. ``routes``: every method and address that is counted apart."""
        self._folder = settings.run
        self._routes = {route: number for number, route in enumerate([*routes, ("", "")])}
        self._row = len(_CLASSES) + len(BUCKETS) + 2
        # The last value counts lines of the log.
        self._size = 8 * (self._row * len(self._routes) + 1)
        self._own = self._mapped(os.path.join(self._folder, f"{_PREFIX}{name}"))

    def _mapped(self, path: str) -> memoryview[float]:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(handle).st_size != self._size:
                os.ftruncate(handle, 0)
                os.ftruncate(handle, self._size)
            return memoryview(mmap.mmap(handle, self._size)).cast("d")
        finally:
            os.close(handle)

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request."""
        number = self._routes.get((method, route), len(self._routes) - 1)
        first = number * self._row
        self._own[first + _CLASSES.index(status // 100)] += 1
        bucket = next((place for place, most in enumerate(BUCKETS) if seconds <= most), len(BUCKETS))
        self._own[first + len(_CLASSES) + bucket] += 1
        self._own[first + self._row - 1] += seconds

    def count_unlogged(self) -> None:
        """Count a line of the log that was dropped."""
        self._own[-1] += 1

    def text(self) -> str:
        """Return the sums of all processes in the text format of Prometheus."""
        sums = [0.0] * (self._size // 8)
        for values in self._files():
            sums = [one + other for one, other in zip(sums, values, strict=True)]
        lines = [
            "# HELP lookalike_requests_total Requests by route and class of status.",
            "# TYPE lookalike_requests_total counter",
        ]
        lines += self._counters(sums)
        lines += [
            "# HELP lookalike_request_seconds Seconds that requests took.",
            "# TYPE lookalike_request_seconds histogram",
        ]
        lines += self._histograms(sums)
        lines += [
            "# HELP lookalike_log_lines_dropped_total Lines of the log that standard error did not take at once.",
            "# TYPE lookalike_log_lines_dropped_total counter",
            f"lookalike_log_lines_dropped_total {sums[-1]:.0f}",
        ]
        return "\n".join([*lines, ""])

    def _files(self) -> Iterator[memoryview[float]]:
        for name in sorted(os.listdir(self._folder)):
            if name.startswith(_PREFIX):
                with contextlib.suppress(OSError), open(os.path.join(self._folder, name), "rb") as file:
                    data = file.read()
                    if len(data) == self._size:
                        yield memoryview(data).cast("d")

    def _counters(self, sums: list[float]) -> Iterator[str]:
        for (method, route), number in self._routes.items():
            for place, kind in enumerate(_CLASSES):
                if value := sums[number * self._row + place]:
                    shown = f"{kind}xx" if kind else "gone"
                    yield f'lookalike_requests_total{{{_labels(method, route)},status="{shown}"}} {value:.0f}'

    def _histograms(self, sums: list[float]) -> Iterator[str]:
        for (method, route), number in self._routes.items():
            first = number * self._row + len(_CLASSES)
            counts = sums[first : first + len(BUCKETS) + 1]
            if not sum(counts):
                continue
            labels, total = _labels(method, route), 0.0
            for most, value in zip([*(f"{one:g}" for one in BUCKETS), "+Inf"], counts, strict=True):
                total += value
                yield f'lookalike_request_seconds_bucket{{{labels},le="{most}"}} {total:.0f}'
            yield f"lookalike_request_seconds_sum{{{labels}}} {sums[number * self._row + self._row - 1]:.6f}"
            yield f"lookalike_request_seconds_count{{{labels}}} {total:.0f}"


def _labels(method: str, route: str) -> str:
    """Return the labels of a route; addresses that nothing answers are one."""
    return f'method="{method or "any"}",route="{route or "unknown"}"'


def gauges(name: str, help_: str, label: str, values: Mapping[str, float]) -> str:
    """Return values of one name in the text format of Prometheus.

    >>> print(gauges("jobs", "Jobs by state.", "state", {"done": 2}), end="")
    # HELP jobs Jobs by state.
    # TYPE jobs gauge
    jobs{state="done"} 2
    """
    lines = [f"# HELP {name} {help_}", f"# TYPE {name} gauge"]
    lines += [f'{name}{{{label}="{key}"}} {value:g}' for key, value in values.items()]
    return "\n".join([*lines, ""])
