"""A reader: a process that answers requests. It opens all indexes for reading, and hands changes to the keeper."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator

import uvicorn

from lookalike import params
from lookalike.archive.store import Index
from lookalike.engines import confined, local
from lookalike.frontends import installed
from lookalike.service import children
from lookalike.service.application import application
from lookalike.service.bodies import Budget
from lookalike.service.channel import Client
from lookalike.service.children import Birth
from lookalike.service.context import Context
from lookalike.service.gate import Gate
from lookalike.service.protocol import Protocol
from lookalike.service.settings import Settings
from lookalike.service.tokens import Tokens

#: Bytes of text that are taken from a body of a foreign format, as a multiple of the greatest body.
_EXTRACTED = 4


class _Server(uvicorn.Server):
    """A server that the supervisor starts and stops."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to ``children.watch``."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and tell the supervisor."""
        await super().startup(sockets)
        children.ready()


def made(settings: Settings) -> Context:
    """Open what a reader needs. Errors: those of opening an index, and ``FormatError`` for the file of tokens."""
    threads = max(1, local.cores() // settings.readers) + 1
    is_shared = settings.token_file is not None
    return Context(
        settings,
        Client(settings.run),
        Tokens(settings.token_file),
        Gate(threads, settings.queue, is_shared=is_shared),
        {name: Index(path) for name, path in settings.indexes.items()},
        Budget(is_shared=is_shared),
    )


def _confine(settings: Settings) -> None:
    """Read foreign formats in worker processes, none for longer than an answer may take."""
    installed().confine()
    confined.LIMITS = confined.Confinement(
        cpu_seconds=min(confined.LIMITS.cpu_seconds, settings.answer_seconds),
        output_bytes=_EXTRACTED * settings.max_body,
    )


async def serve(birth: Birth) -> None:
    """Answer requests until the supervisor says so, or is gone."""
    settings = birth.settings
    _confine(settings)
    context = made(settings)
    # Connections are spread unevenly, so each reader takes somewhat more than its share.
    Protocol.most_connections = settings.max_connections * 3 // (2 * settings.readers) + 1
    Protocol.header_seconds, Protocol.send_seconds = settings.header_seconds, settings.send_seconds
    config = uvicorn.Config(
        application(context, birth.slot),
        http=Protocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=params.IDLE_SECONDS,
        timeout_graceful_shutdown=params.DRAIN_SECONDS - 1,
    )
    server = _Server(config)

    def end() -> None:
        server.should_exit = True

    children.watch(asyncio.get_running_loop(), end)
    await server.serve([socket.socket(fileno=birth.handle)])
    await context.keeper.close()
    context.gate.close()


def main() -> None:
    """Run a reader."""
    children.run(serve, _factory())


def _factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return what makes the event loop: uvloop where it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop
