"""The local engine: threads over the core.

The core releases the GIL, so threads run on all cores. Batches are handed out one by one, so a slow batch delays no
other. Results come back in the order of the batches, so the answer does not depend on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from lookalike.errors import ParameterError

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")
#: Most threads that can be asked for.
MAX_THREADS = 1024


def cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked(threads: int | None) -> int | None:
    """Return a number of threads; 0 and ``None`` stand for one per core. Errors: ``ParameterError``."""
    if threads is not None and not 0 <= threads <= MAX_THREADS:
        raise ParameterError(f"threads `{threads}` must be 0 (one per core) to {MAX_THREADS}")
    return threads


def map_batches(
    work: Callable[[Item], Result],
    batches: Iterable[Item],
    threads: int | None,
    stop: Callable[[], None] = lambda: None,
) -> Iterator[Result]:
    """Yield ``work(batch)`` for each batch, in order, with at most two batches per thread in progress.

    ``stop`` is called on an error or an interrupt, before the running batches are waited for.
    """
    count, pending = checked(threads) or cores(), iter(batches)
    first = list(islice(pending, 2 * count))
    if count == 1 or len(first) <= 1:
        yield from map(work, first)
        yield from map(work, pending)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(count) as pool:
        running: list[Future[Result]] = [pool.submit(work, batch) for batch in first]
        try:
            while running:
                done = running.pop(0).result()
                running.extend(pool.submit(work, batch) for batch in islice(pending, 1))
                yield done
        except BaseException:
            stop()
            raise
        finally:
            for future in running:
                future.cancel()
