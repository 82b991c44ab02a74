"""The supervisor: binds the sockets, starts the keeper and the readers, restarts what ends, and stops all of them.

Every reader has a listening socket of its own on the same port (``SO_REUSEPORT``), among which the system spreads
connections. The supervisor keeps the sockets open, so that connections wait while a reader is restarted. Where the
system does not spread them, readers share one socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import ipaddress
import os
import shlex
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

from lookalike import params
from lookalike.archive.store import Index
from lookalike.errors import LockedError, LookalikeError, MissingExtraError, ParameterError
from lookalike.service import channel, children, log
from lookalike.service.children import Birth
from lookalike.service.settings import Settings
from lookalike.service.tokens import Tokens

#: Seconds before a process that ended is started again: the first time, and at most.
_PAUSE, _LONGEST_PAUSE = 0.1, 10.0
#: Seconds after which a process counts as healthy.
_HEALTHY = 60.0
_BACKLOG = 2_048


class Child:
    """One process of the server, and the loop that keeps it alive."""

    def __init__(self, role: str, birth: Birth) -> None:
        self.role, self._birth = role, birth
        self.process: asyncio.subprocess.Process | None = None
        self._is_stopping = False
        self._keeping: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start it, and wait until it is ready. Errors: why it cannot work."""
        self.process = await children.started(self.role, self._birth)
        await children.told(self.process)

    def keep(self) -> None:
        """Restart it whenever it ends."""
        self._keeping = asyncio.create_task(self._keep())

    async def _keep(self) -> None:
        pause, clock = _PAUSE, asyncio.get_running_loop().time
        while True:
            since = clock()
            assert self.process is not None
            code = await self.process.wait()
            if self._is_stopping:
                return
            pause = _PAUSE if clock() - since > _HEALTHY else pause
            log.event("process-ended", role=self.role, slot=self._birth.slot, code=code, pause=round(pause, 3))
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
            await self._restart()

    async def _restart(self) -> None:
        try:
            await self.start()
        except (LookalikeError, OSError) as error:
            log.event("process-not-started", role=self.role, slot=self._birth.slot, error=type(error).__name__)
        else:
            log.event("process-started", role=self.role, slot=self._birth.slot)

    async def stop(self, seconds: float) -> None:
        """Let it finish what it does, for so many seconds, and end it."""
        self._is_stopping = True
        if self._keeping is not None and self.process is not None and self.process.returncode is not None:
            self._keeping.cancel()
        if self.process is None or self.process.returncode is not None:
            return
        self._signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(self.process.wait(), seconds)
        except TimeoutError:
            log.event("process-killed", role=self.role, slot=self._birth.slot)
            self._signal(signal.SIGKILL)
            await self.process.wait()

    def _signal(self, number: int) -> None:
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)


async def supervise(settings: Settings, announce: Callable[..., None]) -> None:
    """Run a server until SIGTERM or SIGINT; ``announce`` is called with its ``addresses`` when it answers.

    Errors: ``LockedError`` if another server has its data or another process changes an index, ``OSError``, and
    whatever opening the indexes raises.
    """
    _check_extra()
    _check_files(settings)
    _prepare(settings)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    with contextlib.ExitStack() as open_:
        open_.enter_context(_locked(settings.data))
        sockets = [open_.enter_context(contextlib.closing(one)) for one in bound(settings)]
        # The keeper tells clients of MOSS where reports are.
        settings = replace(settings, port=sockets[0].getsockname()[1])
        channel_socket = open_.enter_context(contextlib.closing(channel.listening(settings.run)))
        keeper = Child("keeper", Birth(settings, 0, channel_socket.fileno()))
        readers = [
            Child("reader", Birth(settings, slot, sockets[slot % len(sockets)].fileno()))
            for slot in range(settings.readers)
        ]
        try:
            await keeper.start()
            keeper.keep()
            await asyncio.gather(*(one.start() for one in readers))
            for one in readers:
                one.keep()
            announce(*addresses(*sockets[0].getsockname()[:2]))
            log.event("started", readers=len(readers), indexes=len(settings.indexes))
            await stop.wait()
            log.event("stopping")
        finally:
            await asyncio.gather(*(one.stop(params.DRAIN_SECONDS) for one in readers))
            await keeper.stop(params.DRAIN_SECONDS)
    log.event("stopped")


def addresses(host: str, port: int) -> list[str]:
    """Return the address that a server listens on, and if that is every address, one that can be opened.

    >>> addresses("0.0.0.0", 8400)
    ['http://0.0.0.0:8400', 'http://127.0.0.1:8400']
    """
    given = ipaddress.ip_address(host)
    loopback = {4: "127.0.0.1", 6: "::1"}[given.version]
    every = [host, loopback] if given.is_unspecified else [host]
    return [f"http://{f'[{one}]' if ':' in one else one}:{port}" for one in every]


def _check_extra() -> None:
    try:
        import httptools  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtraError("lookalike serve", "serve") from None


def _check_files(settings: Settings) -> None:
    """Open the indexes and the file of tokens once, so that what is wrong with them is told before anything starts."""
    Tokens(settings.token_file)
    for path in settings.indexes.values():
        if not os.path.exists(path):
            create = f"`lookalike index create {shlex.quote(path)}`"
            raise ParameterError(f"index `{path}` does not exist: check the path, or make it with {create}")
        Index(path).close()


def _prepare(settings: Settings) -> None:
    """Make the folders. Errors: ``OSError``."""
    for folder in (settings.data, settings.run):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    os.chmod(settings.run, 0o700)


@contextlib.contextmanager
def _locked(data: str) -> Iterator[None]:
    """Hold the folder of a server. Errors: ``LockedError``."""
    handle = os.open(os.path.join(data, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise LockedError(f"--data `{data}` is used by another server: stop it, or choose another folder") from None
    try:
        yield
    finally:
        os.close(handle)


def bound(settings: Settings) -> list[socket.socket]:
    """Return the listening sockets: one per reader, or one for all. Errors: ``ParameterError``, ``OSError``."""
    is_spread = sys.platform == "linux" and settings.readers > 1
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError:
        raise ParameterError(f"--host `{settings.host}` is no address of this machine: give its IP address") from None
    made: list[socket.socket] = []
    # The first attempt does not share the port: another server on it must not be joined silently.
    with socket.socket(family, kind, protocol) as probe:
        _bind(probe, address, settings, is_spread=False)
        address = probe.getsockname()
    for _ in range(settings.readers if is_spread else 1):
        one = socket.socket(family, kind, protocol)
        made.append(one)
        _bind(one, address, settings, is_spread=is_spread)
        one.listen(_BACKLOG)
        one.setblocking(False)
    return made


def _bind(one: socket.socket, address: object, settings: Settings, *, is_spread: bool) -> None:
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if is_spread:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        one.bind(address)  # type: ignore[arg-type]
    except OSError as error:
        raise ParameterError(
            f"--host `{settings.host}` and --port `{settings.port}` cannot be listened on ({error.strerror}): "
            "choose another port, or stop whatever uses this one"
        ) from None
