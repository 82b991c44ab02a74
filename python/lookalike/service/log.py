"""The log of the service: one JSON line per event on standard error, each written whole by one call.

No process waits for the reader of the log: lines that do not fit are dropped and counted, and the next line says so.

JSON escapes control characters, so that no value can begin a line of its own. Callers pass no contents, ids or tokens.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import select
import socket
import stat
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any


class Sink:
    """Writes to standard error without waiting: a line that it does not take at once is dropped and counted."""

    def __init__(self, handle: int = 2) -> None:
        self._turn = threading.Lock()
        self._unsaid = 0
        #: Called for each line that is dropped.
        self.on_drop: Callable[[], None] = lambda: None
        self._handle, self._is_polled, self._is_own = handle, False, False
        self._socket: socket.socket | None = None
        with contextlib.suppress(OSError):
            self._open(os.fstat(handle).st_mode)

    def _open(self, mode: int) -> None:
        """Open standard error once more, so that not waiting is ours alone: others may share the handle."""
        if stat.S_ISSOCK(mode):
            self._socket = socket.socket(fileno=os.dup(self._handle))
        elif not stat.S_ISREG(mode):
            # Where it cannot be opened again, it is looked at before each line.
            self._is_polled = True
            self._handle = os.open(f"/proc/self/fd/{self._handle}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
            self._is_polled, self._is_own = False, True

    def write(self, line: str) -> None:
        """Write a line. After a gap the first line tells how many are missing."""
        with self._turn:
            told = _line("log-dropped", lines=self._unsaid) if self._unsaid else ""
            try:
                self._put((told + line).encode())
                self._unsaid = 0
            except BlockingIOError:
                self._unsaid += 1
                self.on_drop()
            except OSError:
                # A closed log must not end the server.
                return

    def close(self) -> None:
        """Close what was opened once more; standard error stays open."""
        if self._socket is not None:
            self._socket.close()
        if self._is_own:
            os.close(self._handle)

    def _put(self, data: bytes) -> None:
        """Write at once or not at all. Errors: ``BlockingIOError``, ``OSError``."""
        if self._socket is not None:
            self._socket.send(data, socket.MSG_DONTWAIT)
            return
        if self._is_polled and not select.select([], [self._handle], [], 0)[1]:
            raise BlockingIOError
        os.write(self._handle, data)


@functools.cache
def sink() -> Sink:
    """Return the sink of this process."""
    return Sink()


def event(name: str, **values: Any) -> None:
    """Write an event."""
    sink().write(_line(name, **values))


def request(method: str, route: str, status: int, seconds: float, size: int, token: str) -> None:
    """Write the event of a request: what ``event`` would write, in a third of the time, for there are so many.

    >>> _request("2026-01-01T00:00:00.000Z", "GET", "/health", 200, 0.0123456, 15, 'a "b"')
    '{"time": "2026-01-01T00:00:00.000Z", "event": "request", "method": "GET", "route": "/health", "status": 200, \
"ms": 12.35, "bytes": 15, "token": "a \\\\"b\\\\""}\\n'
    """
    sink().write(_request(now(), method, route, status, seconds, size, token))


def _request(time_: str, method: str, route: str, status: int, seconds: float, size: int, token: str) -> str:
    words = f'"method": {_quoted(method)}, "route": {_quoted(route)}, "status": {status}'
    figures = f'"ms": {round(1000 * seconds, 2)}, "bytes": {size}, "token": {_quoted(token)}'
    return f'{{"time": "{time_}", "event": "request", {words}, {figures}}}\n'


@functools.lru_cache(maxsize=1_024)
def _quoted(text: str) -> str:
    """Return a text as JSON; few different ones occur: methods, routes and names of tokens."""
    return json.dumps(text, ensure_ascii=True)


def _line(name: str, **values: Any) -> str:
    return json.dumps({"time": now(), "event": name, **values}, ensure_ascii=True) + "\n"


def failure(name: str, error: BaseException, **values: Any) -> None:
    """Write an internal fault with the places in the code that led to it, and without values."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{os.path.basename(one.filename)}:{one.lineno} {one.name}" for one in frames[-12:]]
    event(name, error=type(error).__name__, at=places, **values)


class Handler(logging.Handler):
    """Writes what a library logs as an event: its own words, without values."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            failure("library", error, source=record.name)
        else:
            event("library", source=record.name, message=str(record.msg))


def now() -> str:
    """Return the time as ISO 8601 in UTC, with milliseconds."""
    seconds = time.time()
    return f"{_second(int(seconds))}.{int(seconds % 1 * 1000):03d}Z"


@functools.lru_cache(maxsize=2)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
