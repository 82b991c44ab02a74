"""Where requests compute: a few threads, and a bounded queue before them. What does not fit is refused at once.

The core releases the GIL, so threads use other cores. Tokens take turns. With tokens, one of them holds all threads but
one at most, and half of the queue, so that the requests of others are answered. A request that is given up before its
turn is never computed. One that computes already loses its worker processes, and its thread ends with its step.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from lookalike.engines.confined import Errand
from lookalike.service.faults import BUSY, FaultError

Result = TypeVar("Result")


class _Work:
    """What one request computes."""

    __slots__ = ("call", "errand", "owner", "result")

    def __init__(self, owner: str, call: Callable[[], Any], result: asyncio.Future[Any]) -> None:
        self.owner, self.call, self.result, self.errand = owner, call, result, Errand()

    def do(self) -> Any:
        """Compute. Whatever it starts ends when the request is given up."""
        with self.errand:
            return self.call()


class Gate:
    """The threads of a reader. Only the event loop changes its numbers."""

    def __init__(self, threads: int, queue: int, *, is_shared: bool = False) -> None:
        """Make threads; ``is_shared``: several owners take turns, and none may hold everything."""
        self._pool = ThreadPoolExecutor(threads, "work")
        self._idle, self._most = threads, threads + queue
        self._share = max(1, threads - 1) if is_shared else threads
        self._most_each = self._share + (queue + 1) // 2 if is_shared else self._most
        self._running: Counter[str] = Counter()
        #: Work that waits, by owner; the first owner has the next turn.
        self._waiting: dict[str, deque[_Work]] = {}
        self._inside = 0

    @property
    def inside(self) -> int:
        """Requests that compute or wait."""
        return self._inside

    def held(self, owner: str) -> int:
        """Requests of one owner that compute or wait."""
        return self._running[owner] + len(self._waiting.get(owner, ()))

    async def run(self, work: Callable[[], Result], owner: str = "") -> Result:
        """Return what a function returns. Errors: ``FaultError`` if too many wait, and those of the function."""
        if self._inside >= self._most or self.held(owner) >= self._most_each:
            raise FaultError(BUSY)
        one = _Work(owner, work, asyncio.get_running_loop().create_future())
        self._inside += 1
        self._waiting.setdefault(owner, deque()).append(one)
        self._start()
        try:
            return await one.result  # type: ignore[no-any-return]
        finally:
            if not one.result.done() or one.result.cancelled():
                self._give_up(one)

    def _start(self) -> None:
        """Give idle threads to owners in turn."""
        while self._idle and (owner := self._next()) is not None:
            queue = self._waiting.pop(owner)
            one = queue.popleft()
            if queue:
                self._waiting[owner] = queue
            self._idle -= 1
            self._running[owner] += 1
            self._pool.submit(one.do).add_done_callback(partial(self._tell, one))

    def _next(self) -> str | None:
        """Return the owner who has waited longest for a turn and may have one more thread."""
        return next((owner for owner in self._waiting if self._running[owner] < self._share), None)

    def _give_up(self, one: _Work) -> None:
        """Drop work that waits; end the worker processes of work that runs, which leaves when its thread has ended."""
        queue = self._waiting.get(one.owner, ())
        if one not in queue:
            one.errand.give_up()
            return
        queue.remove(one)  # type: ignore[union-attr]
        if not queue:
            del self._waiting[one.owner]
        self._inside -= 1

    def _tell(self, one: _Work, done: Future[Any]) -> None:
        # A thread may end after the server did.
        with contextlib.suppress(RuntimeError):
            one.result.get_loop().call_soon_threadsafe(self._leave, one, done)

    def _leave(self, one: _Work, done: Future[Any]) -> None:
        self._inside -= 1
        self._idle += 1
        self._running[one.owner] -= 1
        if not self._running[one.owner]:
            del self._running[one.owner]
        if not one.result.done():
            error = None if done.cancelled() else done.exception()
            if done.cancelled():
                one.result.cancel()
            elif error is not None:
                one.result.set_exception(error)
            else:
                one.result.set_result(done.result())
        self._start()

    def close(self) -> None:
        """Take no more work."""
        self._pool.shutdown(wait=False, cancel_futures=True)
