"""How readers speak with the keeper: messages over a Unix socket in the private folder of the server.

A message is the sizes of its head (JSON) and of its data, then both (``engines/confined.py`` has the same form). Many
requests share one connection; a number in the head tells which answer belongs to which. A request that was sent and not
answered because the keeper ended fails with ``faults.KEEPER_GONE``: every request can be repeated. The keeper adds the
number of the connection to each head as ``peer``, and tells when a connection has ended: its reader is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import astuple
from typing import Any, TypeAlias

from lookalike.engines.confined import SIZES
from lookalike.errors import ParameterError
from lookalike.service import log
from lookalike.service.faults import INTERNAL, KEEPER_GONE, Fault, FaultError, fault_of

#: The name of the socket in the folder of the server.
NAME = "keeper"
#: Longest path of a Unix socket on every system.
_LONGEST = 100
#: Most bytes of a message.
_MOST = 1 << 30

Message: TypeAlias = tuple[dict[str, Any], bytes]
#: Takes the head and the data of a request, and returns those of its answer. It may raise anything.
Handler: TypeAlias = Callable[[dict[str, Any], bytes], Awaitable[Message]]
#: Takes the number of a connection that has ended, after its last request was answered.
Leaving: TypeAlias = Callable[[int], Awaitable[None]]


@contextlib.contextmanager
def _address(folder: str) -> Iterator[str]:
    """Yield the path of the socket; a long one through an open folder, where the system has that."""
    path = os.path.join(folder, NAME)
    if len(os.fsencode(path)) <= _LONGEST:
        yield path
        return
    if not os.path.isdir("/proc/self/fd"):
        raise ParameterError(f"--data `{folder}` is too long for a socket: use a shorter path")
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{handle}/{NAME}"
    finally:
        os.close(handle)


def listening(folder: str) -> socket.socket:
    """Return a new listening socket in a folder. Errors: ``OSError``, ``ParameterError``."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with _address(folder) as path:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        made.bind(path)
    made.listen(128)
    return made


def pack(head: Mapping[str, Any], data: bytes) -> bytes:
    """Return a message as bytes."""
    told = json.dumps(head).encode()
    return SIZES.pack(len(told), len(data)) + told + data


async def receive(stream: asyncio.StreamReader) -> Message:
    """Read a message. Errors: ``EOFError``, ``OSError``, ``ValueError``."""
    head, data = SIZES.unpack(await stream.readexactly(SIZES.size))
    if head + data > _MOST:
        raise ValueError("a message is too long")
    return json.loads(await stream.readexactly(head)), await stream.readexactly(data)


class Server:
    """The keeper's side: answers requests by the handler of their ``op``."""

    def __init__(self, handlers: Mapping[str, Handler], left: Leaving | None = None) -> None:
        self._handlers, self._left = dict(handlers), left
        self._peers = itertools.count(1)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, listener: socket.socket) -> None:
        """Begin to take connections."""
        self._server = await asyncio.start_unix_server(self._serve, sock=listener)

    async def stop(self) -> None:
        """Take no more connections, and let requests end."""
        if self._server is not None:
            self._server.close()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _serve(self, stream: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer, own = next(self._peers), set[asyncio.Task[None]]()
        with contextlib.suppress(EOFError, OSError, ValueError):
            while True:
                head, data = await receive(stream)
                task = asyncio.create_task(self._answer(writer, {**head, "peer": peer}, data))
                for tasks in (own, self._tasks):
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)
        writer.close()
        if own:
            await asyncio.wait(own)
        if self._left is not None:
            await self._left(peer)

    async def _answer(self, writer: asyncio.StreamWriter, head: dict[str, Any], data: bytes) -> None:
        try:
            handler = self._handlers.get(head["op"])
            if handler is None:
                raise FaultError(INTERNAL)
            told, answer = await handler(head, data)
        except Exception as error:
            fault = fault_of(error)
            if fault is INTERNAL:
                log.failure("keeper-fault", error, op=str(head.get("op")))
            told, answer = {"fault": astuple(fault)}, b""
        with contextlib.suppress(OSError):
            writer.write(pack({**told, "number": head["number"]}, answer))
            await writer.drain()


class Client:
    """A reader's side. It connects when it is first asked, and again after the keeper was restarted."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._writer: asyncio.StreamWriter | None = None
        self._listener: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[Message]] = {}
        self._numbers = itertools.count()
        self._turn = asyncio.Lock()

    async def ask(self, op: str, head: Mapping[str, Any], data: bytes = b"") -> Message:
        """Send a request and return its answer. Errors: ``FaultError``."""
        number = next(self._numbers)
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        try:
            writer = await self._connected()
            self._waiting[number] = answer
            writer.write(pack({**head, "op": op, "number": number}, data))
            await writer.drain()
            told, found = await answer
        except OSError:
            raise FaultError(KEEPER_GONE) from None
        finally:
            self._waiting.pop(number, None)
        if "fault" in told:
            raise FaultError(Fault(*told["fault"]))
        return told, found

    async def _connected(self) -> asyncio.StreamWriter:
        async with self._turn:
            if self._writer is None:
                connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                connection.setblocking(False)
                with _address(self._folder) as path:
                    await asyncio.get_running_loop().sock_connect(connection, path)
                stream, self._writer = await asyncio.open_unix_connection(sock=connection)
                self._listener = asyncio.create_task(self._listen(stream, self._writer))
            return self._writer

    async def _listen(self, stream: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hand answers to the requests that wait for them, until the connection ends."""
        with contextlib.suppress(EOFError, OSError, ValueError):
            while True:
                told, data = await receive(stream)
                waiting = self._waiting.get(told["number"])
                if waiting is not None and not waiting.done():
                    waiting.set_result((told, data))
        writer.close()
        self._writer = None
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(FaultError(KEEPER_GONE))

    async def close(self) -> None:
        """Close the connection."""
        if self._writer is not None:
            self._writer.close()
