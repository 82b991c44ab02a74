"""What the handlers of a reader share: the settings, the open indexes, the threads, and the way to the keeper."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from lookalike.archive.store import Index
from lookalike.errors import ParameterError
from lookalike.service.bodies import Budget
from lookalike.service.channel import Client
from lookalike.service.faults import GONE, NO_INDEX, FaultError
from lookalike.service.gate import Gate
from lookalike.service.metrics import Metrics
from lookalike.service.settings import Settings
from lookalike.service.tokens import OPEN, Grant, Tokens

if TYPE_CHECKING:
    from starlette.requests import Request

Result = TypeVar("Result")
#: Bytes of a body up to which it is read on the event loop: handing it to a thread takes longer.
INLINE = 16 << 10


@dataclass
class Context:
    """What a reader has."""

    settings: Settings
    keeper: Client
    tokens: Tokens
    gate: Gate
    indexes: dict[str, Index] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    metrics: Metrics | None = None

    def __post_init__(self) -> None:
        #: What each index holds, which never changes: asking an index for it takes a look at its catalogue.
        self.kinds = {name: index.parameters.kind for name, index in self.indexes.items()}

    def index(self, name: str) -> Index:
        """Return an open index. Errors: ``FaultError`` if there is none with this name."""
        found = self.indexes.get(name)
        if found is None:
            raise FaultError(NO_INDEX)
        return found

    async def read(self, request: Request, body: bytes, work: Callable[[], Result]) -> Result:
        """Read a body: a short one at once, a long one in a thread, so that others do not wait. Errors: as ``run``."""
        return work() if len(body) <= INLINE else await self.run(request, work)

    async def run(self, request: Request, work: Callable[[], Result]) -> Result:
        """Compute in a thread; it is given up if the client goes. Errors: ``FaultError``, and those of the work."""
        computing = asyncio.ensure_future(self.gate.run(work, grant_of(request).name))
        leaving = asyncio.ensure_future(_left(request))
        try:
            await asyncio.wait({computing, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not computing.done():
                raise FaultError(GONE)
            return computing.result()
        finally:
            leaving.cancel()
            computing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await leaving

    def named(self, error: ParameterError) -> str:
        """Return a message with the names of indexes in the place of their paths."""
        message = str(error)
        for name, path in self.settings.indexes.items():
            message = message.replace(path, name)
        return message


async def _left(request: Request) -> None:
    """Wait until the client is gone. REQUIRES: the body was read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def grant_of(request: Request) -> Grant:
    """Return what the sender of a request may do."""
    return request.scope.get("grant", OPEN)  # type: ignore[no-any-return]
