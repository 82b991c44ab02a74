"""Two threads against one, told by CPU time: on a machine that others use too, wall time would measure the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from unittest import mock

import lookalike as la
from bench import measure
from bench.definition import Definition
from bench.outcome import Answer, Outcome, SkippedError
from bench.works import Run, Text, in_bytes, table_answer, texts
from lookalike.engines import local


def threads(row: Definition, run: Run) -> Outcome:
    """Compare one thread's CPU with the busiest of two; the answer must be the same with one, two and three threads."""
    if len(measure.USABLE) < 2:
        raise SkippedError("two cores are needed, and this process may use one")
    size = run.bytes_of(row)
    on_two: list[list[float]] = []

    def two_first() -> list[Text]:
        # One and two threads take turns, so that both meet the same noise.
        with measure.pinned(measure.USABLE[:2]):
            on_two.append(cpu_of_threads(texts(row, size), row.select))
        return texts(row, size)

    alone, table = measure.repeat(two_first, partial(la.fingerprint_batch, threads=1, **row.select), run.effort)
    best = min(on_two, key=max)
    figures = {"balance": alone.best / max(best), "calling thread": best[0] / alone.best}
    answer = table_answer(table)
    return Outcome(alone, in_bytes(row, size), answer, figures, difference(texts(row, size), row.select, answer))


def difference(given: list[Text], select: dict[str, Any], answer: Answer) -> str:
    """Name the number of threads that gives another answer, if one does."""
    for count in (2, 3):
        if table_answer(la.fingerprint_batch(given, threads=count, **select)) != answer:
            return f"another answer with {count} threads than with one"
    return ""


def cpu_of_threads(given: list[Text], select: dict[str, Any]) -> list[float]:
    """CPU seconds of each thread of a run on two threads, the calling one first.

    The engine is wrapped where the surface calls it, so that the whole of the public call is measured.
    """
    used: dict[int, float] = {}
    map_batches = local.map_batches

    def noting(work: Callable[[Any], Any], batches: Iterable[Any], count: int | None) -> Iterable[Any]:
        def noted(item: Any) -> Any:
            result = work(item)
            # A worker's clock starts with the thread, so what the pool itself costs is in it.
            used[threading.get_ident()] = time.thread_time()
            return result

        return map_batches(noted, batches, count)

    with mock.patch.object(local, "map_batches", noting):
        start = time.thread_time()
        la.fingerprint_batch(given, threads=2, **select)
        return [time.thread_time() - start, *used.values()]
