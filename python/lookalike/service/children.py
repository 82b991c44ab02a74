"""The processes of a server: how the supervisor starts one, and how that one begins.

A process is a fresh interpreter. It reads its settings as one line from standard input, says on standard output that it
is ready or why it cannot be, and ends when standard input ends: so none outlives a supervisor that was killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from lookalike import errors
from lookalike.errors import LookalikeError
from lookalike.service import log
from lookalike.service.settings import Settings

#: Starts a process with the search path of this one.
_BOOT = (
    "import sys; role = sys.argv[1]; sys.path[:] = sys.argv[2:]; from importlib import import_module; "
    "import_module(f'lookalike.service.{role}').main()"
)


#: Settings of glibc's allocator for a process that lives for months; the environment of the server may set others. By
#: default each thread has its own heap, and the tail of an index, which is built anew all the time by whichever thread
#: is asked, leaves its largest size in each of them. Large blocks are given back to the system when they are freed.
ALLOCATOR = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "262144", "MALLOC_TRIM_THRESHOLD_": "1048576"}


@dataclass(frozen=True)
class Birth:
    """What a process is told when it starts."""

    settings: Settings
    #: Its number among those of its kind.
    slot: int
    #: The handle of the socket that it listens on.
    handle: int


async def started(role: str, birth: Birth) -> asyncio.subprocess.Process:
    """Start a process. Errors: ``OSError``."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _BOOT,
        role,
        *sys.path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**ALLOCATOR, **os.environ},
        pass_fds=[birth.handle],
        start_new_session=True,
    )
    assert process.stdin is not None
    told = {"settings": birth.settings.to_json(), "slot": birth.slot, "handle": birth.handle}
    process.stdin.write(json.dumps(told).encode() + b"\n")
    return process


async def told(process: asyncio.subprocess.Process) -> None:
    """Wait until a process is ready. Errors: the one that it told; ``LookalikeError`` if it ended without a word."""
    assert process.stdout is not None
    line = await process.stdout.readline()
    if not line:
        raise LookalikeError(f"a process of the server ended with code {await process.wait()} before it was ready")
    found = json.loads(line)
    if "errno" in found:
        raise OSError(found["errno"], found["message"], found["file"])
    if "error" in found:
        kind = getattr(errors, found["error"], None)
        raise (kind or LookalikeError)(found["message"])


def run(work: Callable[[Birth], Coroutine[Any, Any, None]], loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """Do the work of this process on a new event loop, and tell the supervisor why if it cannot."""
    birth = begun()
    logging.basicConfig(level=logging.ERROR, handlers=[log.Handler()])
    try:
        with asyncio.Runner(loop_factory=loop) as runner:
            runner.run(work(birth))
    except Exception as error:
        refused(error)
        raise SystemExit(1) from None


def begun() -> Birth:
    """Read what this process is told. It ends if the supervisor is gone before it has told anything."""
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(0, 1 << 16)
        if not part:
            raise SystemExit(1)
        line += part
    found = json.loads(line)
    return Birth(Settings.from_json(found["settings"]), found["slot"], found["handle"])


def ready() -> None:
    """Tell the supervisor that this process does its work."""
    _say(b"{}\n")


def refused(error: BaseException) -> None:
    """Tell the supervisor why this process cannot do its work."""
    row: dict[str, Any] = {"error": type(error).__name__, "message": str(error)}
    if type(error).__module__ == "builtins" and isinstance(error, OSError) and error.errno is not None:
        row |= {"errno": error.errno, "message": error.strerror, "file": error.filename}
    _say(json.dumps(row, default=str).encode() + b"\n")


def _say(line: bytes) -> None:
    """Write a line to the supervisor. If it is gone, standard input ends as well, and ``watch`` ends this process."""
    with contextlib.suppress(BrokenPipeError):
        os.write(1, line)


def watch(loop: asyncio.AbstractEventLoop, end: Callable[[], Any]) -> None:
    """Call ``end`` on SIGTERM, and when the supervisor is gone."""

    def look() -> None:
        if not os.read(0, 1 << 12):
            loop.remove_reader(0)
            end()

    loop.add_reader(0, look)
    loop.add_signal_handler(signal.SIGTERM, end)
