"""Where requests compute: a few threads, and a bounded queue before them. What does not fit is refused at once.

The core releases the GIL, so threads use other cores. A request that is given up before its turn is never computed; one
that computes already goes on to the end of its call, and holds its thread until then.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from lookalike.service.faults import BUSY, FaultError

Result = TypeVar("Result")


class Gate:
    """The threads of a reader."""

    def __init__(self, threads: int, queue: int) -> None:
        self._pool = ThreadPoolExecutor(threads, "work")
        self._most = threads + queue
        self._inside = 0

    @property
    def inside(self) -> int:
        """Requests that compute or wait."""
        return self._inside

    async def run(self, work: Callable[[], Result]) -> Result:
        """Return what a function returns. Errors: ``FaultError`` if too many wait, and those of the function."""
        if self._inside >= self._most:
            raise FaultError(BUSY)
        self._inside += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(work)
        # A cancelled request leaves only when its thread has ended, so that threads are never promised twice.
        future.add_done_callback(lambda _: self._tell(loop))
        return await asyncio.wrap_future(future)

    def _tell(self, loop: asyncio.AbstractEventLoop) -> None:
        # A thread may end after the server did.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._leave)

    def _leave(self) -> None:
        self._inside -= 1

    def close(self) -> None:
        """Take no more work."""
        self._pool.shutdown(wait=False, cancel_futures=True)
