"""Runs one comparison in a child process, and ends it when it is not wanted any more.

The child and all processes it starts are one group, which is killed as a whole: at the end, when the task that runs it
is cancelled, and when its time is over. If the keeper itself is killed, the child sees its pipe close and ends itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from lookalike.service.children import ALLOCATOR
from lookalike.service.comparing.child import Task

#: Starts a child with the search path of this process.
_BOOT = "import sys; sys.path[:] = sys.argv[1:]; from lookalike.service.comparing.child import main; main()"
#: Longest line of a child.
_LINE = 1 << 20


async def run(task: Task, heard: Callable[[dict[str, Any]], None], seconds: float) -> dict[str, Any]:
    """Return the ``summary`` of a comparison, or the ``reason`` why there is none; ``heard`` gets its progress.

    Errors: ``OSError`` if no process can be started.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _BOOT,
        *sys.path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        # A comparison has many threads and ends soon: the allocator of a server would slow it down.
        env={name: value for name, value in os.environ.items() if ALLOCATOR.get(name) != value},
        start_new_session=True,
        limit=_LINE,
    )
    try:
        async with asyncio.timeout(seconds):
            return await _conversation(process, task, heard)
    except TimeoutError:
        return {"reason": f"it took longer than {seconds:,.0f} seconds: compare less at a time"}
    finally:
        await _end(process)


async def _conversation(
    process: asyncio.subprocess.Process, task: Task, heard: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError):
        process.stdin.write(task.to_line())
        await process.stdin.drain()
    with contextlib.suppress(ValueError):
        async for line in process.stdout:
            message: dict[str, Any] = json.loads(line)
            if "progress" not in message:
                return message
            heard(message["progress"])
    return {"reason": _ended(await process.wait(), task)}


def _ended(code: int, task: Task) -> str:
    """Return why a child ended without an answer: without memory, libraries abort and the system kills."""
    if -code in (signal.SIGABRT, signal.SIGKILL, signal.SIGSEGV):
        return f"its process was ended: it may need more than {task.memory_bytes:,} bytes of memory; compare less"
    return f"its process ended with code {code} and no answer: report it to the operator of this server"


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the whole group. The group exists as long as its leader was not waited for."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
    if process.stdin is not None:
        process.stdin.close()
