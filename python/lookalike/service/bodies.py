"""Bodies of requests as they arrive: counted, timed, and decompressed within the limit.

Sizes count before anything is parsed, whatever a header says; decompressed bytes count. A body must be there within
``--body-seconds``, or arrive at ``BODY_RATE`` bytes per second. All bodies that a reader holds share one budget, of
which one token takes half at most.
"""

from __future__ import annotations

import asyncio
import zlib
from collections import Counter
from typing import Any

from lookalike import params
from lookalike.service.faults import BUSY, GONE, Fault, FaultError

#: Bytes of bodies that one reader holds at a time.
BUDGET = 256 << 20
#: Most bytes that one piece is decompressed to.
_PIECE = 1 << 20
TOO_SLOW = Fault(408, "too-slow", "the body did not arrive in time: send it faster")
BAD_GZIP = Fault(400, "bad-gzip", "the body is no gzip although Content-Encoding says so")
BAD_LENGTH = Fault(400, "bad-length", "Content-Length is not a number")
OTHER_ENCODING = Fault(415, "other-encoding", "Content-Encoding must be gzip or identity")


def too_large(most: int) -> Fault:
    """Return what a client is told about a body that is too large."""
    return Fault(413, "too-large", f"the body is larger than {most:,} bytes: send less, or several requests")


class Budget:
    """The bytes that all bodies of a reader take, in all and by owner."""

    def __init__(self, most: int = BUDGET, *, is_shared: bool = False) -> None:
        """Make a budget; ``is_shared``: no owner may take more than half of it."""
        self.left, self._most_each = most, most // 2 if is_shared else most
        self._taken: Counter[str] = Counter()

    def take(self, owner: str, count: int) -> bool:
        """Take bytes, or give them back if they are negative; return whether there were so many."""
        self.left -= count
        self._taken[owner] += count
        is_enough = self.left >= 0 and self._taken[owner] <= self._most_each
        if not self._taken[owner]:
            del self._taken[owner]
        return is_enough


class Body:
    """The body of one request. ``receive`` gives its messages with decompressed bytes."""

    def __init__(
        self, receive: Any, headers: dict[bytes, bytes], most: int, seconds: float, budget: Budget | None, owner: str
    ) -> None:
        """Prepare a body; without a budget its bytes go elsewhere at once. Errors: ``FaultError``."""
        self._receive, self._most, self._seconds, self._budget = receive, most, seconds, budget
        self._owner = owner
        self._raw = self._taken = 0
        self._is_done = False
        self._clock = asyncio.get_running_loop().time
        self._started = self._clock()
        self._gzip = _decompressor(headers.get(b"content-encoding", b"identity"))
        length = headers.get(b"content-length")
        if length is not None and not length.isdigit():
            raise FaultError(BAD_LENGTH)
        if length is not None and int(length) > most:
            raise FaultError(too_large(most))

    async def receive(self) -> dict[str, Any]:
        """Return the next message of the request. Errors: ``FaultError``."""
        if self._is_done:
            return await self._receive()  # type: ignore[no-any-return]
        message = await self._next()
        if message["type"] != "http.request":
            raise FaultError(GONE)
        data, self._is_done = message["body"], not message.get("more_body", False)
        self._raw += len(data)
        if self._gzip is not None:
            data = self._inflated(data)
        self._take(len(data))
        return {"type": "http.request", "body": data, "more_body": not self._is_done}

    async def _next(self) -> dict[str, Any]:
        """Return the next message of the server within the time. Errors: ``FaultError``."""
        # A timer takes longer than reading a short body. Of a body that is complete nothing has to be waited for.
        if not getattr(getattr(self._receive, "__self__", None), "more_body", True):
            return await self._receive()  # type: ignore[no-any-return]
        try:
            async with asyncio.timeout_at(self._started + max(self._seconds, self._raw / params.BODY_RATE)):
                return await self._receive()  # type: ignore[no-any-return]
        except TimeoutError:
            raise FaultError(TOO_SLOW) from None

    def _inflated(self, data: bytes) -> bytes:
        """Return more of a compressed body, at most one byte more than is allowed. Errors: ``FaultError``."""
        assert self._gzip is not None
        parts = []
        room = self._most - self._taken + 1
        try:
            while data and room > 0:
                part = self._gzip.decompress(data, min(room, _PIECE))
                room -= len(part)
                parts.append(part)
                data = self._gzip.unconsumed_tail
        except zlib.error:
            raise FaultError(BAD_GZIP) from None
        if self._gzip.unused_data or (self._is_done and not self._gzip.eof and room > 0):
            raise FaultError(BAD_GZIP)
        return b"".join(parts)

    def _take(self, count: int) -> None:
        self._taken += count
        if self._taken > self._most or self._raw > self._most:
            raise FaultError(too_large(self._most))
        if self._budget is not None and not self._budget.take(self._owner, count):
            raise FaultError(BUSY)

    def release(self) -> None:
        """Give the bytes back to the budget."""
        if self._budget is not None:
            self._budget.take(self._owner, -self._taken)


def _decompressor(encoding: bytes) -> Any:
    """Return what decompresses a body; ``None`` for a plain one. Errors: ``FaultError``."""
    named = encoding.strip().lower()
    if named in (b"", b"identity"):
        return None
    if named not in (b"gzip", b"x-gzip"):
        raise FaultError(OTHER_ENCODING)
    return zlib.decompressobj(16 + zlib.MAX_WBITS)
