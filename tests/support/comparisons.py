"""Comparisons over HTTP for tests: upload a class, wait for its end, and stop a comparison at a known place."""

from __future__ import annotations

import os
import select
import time
from pathlib import Path
from typing import Any

import pytest

from support.packing import zip_bytes
from support.servers import PATIENCE, Server

ALL = "/v1/comparisons"
FINAL = ("done", "failed", "cancelled")
#: Loaded by every interpreter of a server. The child of a comparison tells its process id to a pipe, and waits there.
_STOP = """
import os, sys, threading
if "comparing.child" in " ".join(sys.orig_argv):
    from lookalike.comparison import job
    honest = job.compare
    def stopped(*arguments, **named):
        if os.path.exists({gate!r}):
            with open({gate!r}, "w") as pipe:
                pipe.write(str(os.getpid()))
            threading.Event().wait()
        return honest(*arguments, **named)
    job.compare = stopped
"""


def zipped(folder: Path) -> bytes:
    """Return a folder as a zip archive."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return zip_bytes(*((str(path.relative_to(folder)), path.read_bytes()) for path in files))


def ended(server: Server, name: str, token: str | None = None) -> dict[str, Any]:
    """Ask about a comparison until it is over."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        told = server.ask("GET", f"{ALL}/{name}", token=token)
        # 503: the keeper is being restarted.
        if told.status != 503 and told.json["state"] in FINAL:
            job: dict[str, Any] = told.json
            return job
        time.sleep(0.02)
    raise AssertionError(f"the comparison did not end in {PATIENCE} seconds")


def compared(server: Server, body: bytes, query: str = "", token: str | None = None) -> dict[str, Any]:
    """Send a zip archive and wait for the end of its comparison."""
    made = server.ask("POST", f"{ALL}?{query}" if query else ALL, body, token, {"Content-Type": "application/zip"})
    assert made.status == 201, made.body
    assert made.headers["location"] == f"{ALL}/{made.json['id']}"
    return ended(server, made.json["id"], token)


class Gate:
    """Stops each comparison before it compares, until the gate is opened. Make it before the server starts."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._path = folder / "gate"
        os.mkfifo(self._path)
        (folder / "stop").mkdir()
        (folder / "stop" / "sitecustomize.py").write_text(_STOP.format(gate=str(self._path)))
        monkeypatch.setenv("PYTHONPATH", str(folder / "stop"))

    def reached(self) -> int:
        """Wait until a comparison is there; return a handle of its process."""
        return os.pidfd_open(int(self._path.read_text()))

    def open(self) -> None:
        """Let later comparisons pass."""
        self._path.unlink()


def has_ended(handle: int) -> bool:
    """Wait until a process has ended."""
    watched = select.poll()
    watched.register(handle, select.POLLIN)
    found = bool(watched.poll(1000 * PATIENCE))
    os.close(handle)
    return found
