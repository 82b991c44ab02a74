"""Parsers of foreign formats run in child processes with limits of memory, processor time and output.

A library that reads PDF may take any amount of memory for a file of 500 bytes, and may end its process. So a few worker
processes read such files (``worker`` is their side). A worker is a fresh interpreter, started when the first such file
is met, and used again for the next one. A worker that breaks a limit or dies is replaced; only its file is lost, with
the reason. Calls may come from several threads. Whoever waits for a call can give it up (``Errand``). Cost: about 0.1 s
to start a worker, then two copies through a pipe.

Linux enforces all limits. macOS does not limit memory, and Windows only limits the time, by the clock.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import struct
import sys
import threading
from collections.abc import Iterator
from contextvars import ContextVar, Token
from dataclasses import asdict, dataclass
from typing import IO, Any, Self

from lookalike._types import counted
from lookalike.documents.reasons import GIB, MIB, in_bytes
from lookalike.errors import LookalikeError

#: A message: the sizes of its head (JSON) and of its data, then both.
SIZES = struct.Struct("<QQ")
#: Starts a worker with the search path of this process.
_BOOT = "import sys; sys.path[:] = sys.argv[2:]; from lookalike.engines.worker import main; main(sys.argv[1])"
#: A worker that was killed although it had room left; the share of the limit above which memory is the reason.
_NEARLY = 0.5
#: Bytes of a unit of ``ru_maxrss``.
_RSS_BYTES = 1 if sys.platform == "darwin" else 1024
#: Seconds by the clock after which a worker counts as hung, as a multiple of its processor time.
_PATIENCE = 10


@dataclass(frozen=True, slots=True)
class Confinement:
    """What one document may take. Processor time depends on the machine, so it is generous: 2,000 pages take 25 s."""

    #: Address space of a worker, interpreter included.
    memory_bytes: int = GIB
    cpu_seconds: int = 120
    #: What a worker may answer about one document.
    output_bytes: int = 512 * MIB


LIMITS = Confinement()


class BrokenError(LookalikeError):
    """A worker broke a limit or died. The message is the reason."""


class Errand:
    """Work of one thread that another thread may give up: its workers are then killed, and it gets no more of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker: _Worker | None = None
        self._token: Token[Errand | None] | None = None
        self.is_given_up = False

    def __enter__(self) -> Self:
        self._token = _ERRAND.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._token is not None
        _ERRAND.reset(self._token)

    def give_up(self) -> None:
        """End the worker that is used now, and refuse the next one."""
        with self._lock:
            self.is_given_up = True
            if self._worker is not None:
                self._worker.stop()

    @contextlib.contextmanager
    def using(self, worker: _Worker) -> Iterator[None]:
        """Note which worker is used. Errors: ``BrokenError`` if the work is given up."""
        with self._lock:
            if self.is_given_up:
                raise BrokenError(GIVEN_UP)
            self._worker = worker
        try:
            yield
        finally:
            with self._lock:
                self._worker = None


GIVEN_UP = "nobody waits for it any more"
#: What this thread works on.
_ERRAND: ContextVar[Errand | None] = ContextVar("errand", default=None)


def is_given_up() -> bool:
    """Whether nobody waits any more for the work of this thread."""
    errand = _ERRAND.get()
    return errand is not None and errand.is_given_up


class _Worker:
    """One child process. Only one thread uses it at a time."""

    def __init__(self, limits: Confinement) -> None:
        # Most runs meet no such file, and loading this takes 3 ms.
        import subprocess

        self._limits = limits
        arguments = [sys.executable, "-c", _BOOT, json.dumps(asdict(limits)), *sys.path]
        try:
            self._process = subprocess.Popen(
                arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            raise BrokenError(f"its reader cannot be started: {error.strerror}") from None
        # The system counts what the parent had when it started a child as memory of the child.
        self._inherited = _most_memory()
        self._is_hung = False

    def suits(self, limits: Confinement) -> bool:
        """Return whether it can be used again: it lives and has these limits."""
        return self._process.returncode is None and self._limits == limits

    def ask(self, head: dict[str, Any], data: bytes = b"") -> tuple[dict[str, Any], bytes]:
        """Send a message and return the answer. Errors: ``BrokenError``; the worker is then dead."""
        seconds = self._limits.cpu_seconds * (_PATIENCE if os.name == "posix" else 1)
        watch = threading.Timer(seconds, self._hung)
        watch.daemon = True
        watch.start()
        try:
            send(self._pipe(self._process.stdin), head, data)
            answer = receive(self._pipe(self._process.stdout), self._limits.output_bytes)
        except OverflowError:
            self.kill()
            most = in_bytes(self._limits.output_bytes)
            raise BrokenError(f"what is read from it is larger than {most}") from None
        except (OSError, EOFError, ValueError):
            raise BrokenError(self._why()) from None
        except BaseException:
            self.kill()
            raise
        finally:
            watch.cancel()
        if reason := answer[0].get("broken"):
            self.kill()
            raise BrokenError(self._told(reason))
        return answer

    def _pipe(self, pipe: IO[bytes] | None) -> IO[bytes]:
        if pipe is None or self._process.returncode is not None:
            raise EOFError
        return pipe

    def _hung(self) -> None:
        self._is_hung = True
        self._process.kill()

    def _why(self) -> str:
        """Return why the worker gave no answer."""
        peak = self._end()
        if self._is_hung or -self._process.returncode == getattr(signal, "SIGXCPU", None):
            return self._told("time")
        enough = _NEARLY * self._limits.memory_bytes
        # Without memory libraries abort, and the loader of libraries ends the process with 127. This decides where the
        # parent had more than the worker.
        is_own = peak > self._inherited or self._process.returncode in (-signal.SIGABRT, 127)
        if peak > enough and is_own:
            return self._told("memory")
        ended = f"its reader ended with code {self._process.returncode}: the file may be damaged"
        if peak <= enough:
            return ended
        return f"{ended}, or take more than {in_bytes(self._limits.memory_bytes)} of memory"

    def _told(self, reason: str) -> str:
        if reason == "memory":
            return f"reading it takes more than {in_bytes(self._limits.memory_bytes)} of memory"
        return f"reading it takes more than {counted(self._limits.cpu_seconds, 'second')} of processor time"

    def _end(self) -> int:
        """Wait for a worker whose pipe is closed; return the most memory it had, 0 where the system does not say."""
        self._close()
        peak = 0
        if hasattr(os, "wait4") and self._process.returncode is None:
            with contextlib.suppress(ChildProcessError):
                _, status, usage = os.wait4(self._process.pid, 0)
                self._process.returncode = os.waitstatus_to_exitcode(status)
                peak = usage.ru_maxrss * _RSS_BYTES
        self._process.wait()
        return peak

    def _close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def kill(self) -> None:
        """End the worker at once, and leave no zombie."""
        with contextlib.suppress(OSError):
            self._process.kill()
        self._end()

    def stop(self) -> None:
        """Kill a worker that another thread is using; that thread sees the end of the pipe and cleans up."""
        with contextlib.suppress(OSError):
            self._process.kill()


def _most_memory() -> int:
    """Return the most memory this process has had, 0 where the system does not say."""
    with contextlib.suppress(ImportError):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_BYTES
    return 0


class _Pool:
    """Workers that wait for work, and those that are busy."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []
        self._process = os.getpid()

    @contextlib.contextmanager
    def worker(self) -> Iterator[_Worker]:
        """Lend a worker, and take it back if it is sound."""
        with self._lock:
            if self._process != os.getpid():
                # After a fork the workers are those of the parent.
                self._idle, self._busy, self._process = [], [], os.getpid()
            idle = self._idle.pop() if self._idle else None
        if idle is not None and not idle.suits(LIMITS):
            idle.kill()
            idle = None
        worker = idle or _Worker(LIMITS)
        with self._lock:
            self._busy.append(worker)
        errand = _ERRAND.get()
        try:
            with contextlib.nullcontext() if errand is None else errand.using(worker):
                yield worker
        finally:
            with self._lock:
                self._busy = [one for one in self._busy if one is not worker]
                if is_sound := worker.suits(LIMITS):
                    self._idle.append(worker)
            if not is_sound:
                worker.kill()

    def close(self) -> None:
        """End the workers that wait."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.kill()

    def stop(self) -> None:
        """End all workers; those who wait for one get a ``BrokenError``."""
        with self._lock:
            busy = list(self._busy)
        for worker in busy:
            worker.stop()
        self.close()


_POOL = _Pool()
#: Most workers that read documents at a time; each takes a core and up to the limit of memory.
_TURN = threading.BoundedSemaphore(4)
#: Lends a worker for a conversation of several messages.
lent = _POOL.worker
close, stop = _POOL.close, _POOL.stop
atexit.register(stop)


def ask(head: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """Have a worker answer one message. Errors: ``BrokenError``."""
    with _TURN, lent() as worker:
        return worker.ask(head, data)


def send(pipe: IO[bytes], head: dict[str, Any], data: bytes) -> None:
    """Write a message."""
    packed = json.dumps(head).encode()
    pipe.write(SIZES.pack(len(packed), len(data)) + packed)
    pipe.write(data)
    pipe.flush()


def receive(pipe: IO[bytes], most: int) -> tuple[dict[str, Any], bytes]:
    """Read a message. Errors: ``EOFError``, ``OverflowError`` if it has more than ``most`` bytes, ``ValueError``."""
    sizes = SIZES.unpack(_exactly(pipe, SIZES.size))
    if sum(sizes) > most:
        raise OverflowError
    head = json.loads(_exactly(pipe, sizes[0]))
    if not isinstance(head, dict):
        raise ValueError("not a message")
    return head, _exactly(pipe, sizes[1])


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data
