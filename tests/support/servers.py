"""Real servers for tests: `lookalike serve` as a process on a free port, with a client that speaks plain HTTP.

A server writes the line of a request after its answer, so a test that looks for one waits with ``Server.events``.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

#: Seconds after which a server counts as hung. It decides how soon a failure is told, never what passes.
PATIENCE = 300
_COMMAND = [sys.executable, "-c", "from lookalike.cli.main import main; main()"]
#: Loaded by every interpreter of a server. A reader notes each query that it begins, and waits there.
_HOLD = """
import os, sys, time
if sys.orig_argv[3:4] == ["reader"]:
    from lookalike.archive.store import Index
    honest = Index.query
    def held(*arguments, **named):
        with open({begun!r}, "ab", buffering=0) as file:
            file.write(b".")
        while os.path.exists({gate!r}):
            time.sleep(0.01)
        return honest(*arguments, **named)
    Index.query = held
"""


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Look again and again until a condition holds; fail after ``PATIENCE`` seconds."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, f"{what}: not within {PATIENCE} seconds"
        time.sleep(0.01)


class Answer(NamedTuple):
    """An answer over HTTP."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as a value."""
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of a fault."""
        return str(self.json["error"]["code"])


class Server:
    """A running server."""

    def __init__(self, *indexes: Path, data: Path, log: int | None = None, **options: Any) -> None:
        """Start a server; ``log`` is a handle that takes its log in the place of a file."""
        chosen = {"port": 0, "data": data, **options}
        arguments: list[str] = []
        for name, value in chosen.items():
            for one in value if isinstance(value, list | tuple) else [value]:
                arguments += [f"--{name.replace('_', '-')}", *([] if one is True else [str(one)])]
        self.log_path = data.with_name(f"{data.name}.log")
        with open(self.log_path, "ab") as file:
            self.process = subprocess.Popen(
                [*_COMMAND, "serve", *map(str, indexes), *arguments],
                stdout=subprocess.PIPE,
                stderr=file if log is None else log,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode()
        if not line:
            told = self.log_path.read_text()[-500:]
            raise RuntimeError(f"the server ended with {self.process.wait(PATIENCE)}: {told}")
        self.address = line.split()[-1]
        self.host, _, port = self.address.removeprefix("http://").rpartition(":")
        self.port = int(port)

    def log(self) -> list[dict[str, Any]]:
        """All events that the server has told. A line that is being written does not count yet."""
        whole, _, _ = self.log_path.read_text(encoding="utf-8").rpartition("\n")
        return [json.loads(line) for line in whole.splitlines()]

    def events(self, count: int = 1, **values: Any) -> list[dict[str, Any]]:
        """Wait until the log has so many events with these values, and return all of them."""
        found: list[dict[str, Any]] = []

        def is_there() -> bool:
            found[:] = [one for one in self.log() if values.items() <= one.items()]
            return len(found) >= count

        wait_for(is_there, f"{count} events with {values}")
        return found

    def connection(self) -> http.client.HTTPConnection:
        """Return a new connection."""
        return http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | str | None = None,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request over a connection of its own."""
        with contextlib.closing(self.connection()) as connection:
            return asked(connection, method, path, body, token, headers)

    def children(self) -> dict[str, list[int]]:
        """Return the process ids of the keeper and the readers."""
        found: dict[str, list[int]] = {"keeper": [], "reader": []}
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError, IndexError):
                status = (folder / "stat").read_text().rpartition(")")[2].split()
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if int(status[1]) == self.process.pid and words[3].decode() in found:
                    found[words[3].decode()].append(int(folder.name))
        return found

    def kill(self) -> None:
        """End the server as a loss of power would: nothing of it runs afterwards.

        A process that was killed in a system call ends after it. Until then it holds SQLite's shared memory, so others
        do not see a commit of it that is complete in the log, and would see it later.
        """
        every = [os.pidfd_open(one) for some in self.children().values() for one in some]
        os.kill(self.process.pid, signal.SIGKILL)
        for one in every:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(one, signal.SIGKILL)
        for one in every:
            assert select.select([one], [], [], PATIENCE)[0], "a process of the server does not end"
            os.close(one)
        self.stop()

    def stop(self) -> int:
        """Stop the server as an operator does; return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


class HeldQueries:
    """Holds each query in its reader until the gate is opened. Make it before the server starts."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._gate, self._begun = folder / "hold" / "gate", folder / "hold" / "begun"
        self._gate.parent.mkdir()
        self._gate.touch()
        self._begun.touch()
        code = _HOLD.format(gate=str(self._gate), begun=str(self._begun))
        (folder / "hold" / "sitecustomize.py").write_text(code)
        monkeypatch.setenv("PYTHONPATH", str(folder / "hold"), prepend=os.pathsep)

    @property
    def begun(self) -> int:
        """How many queries were begun."""
        return self._begun.stat().st_size

    def await_begun(self, count: int) -> None:
        """Wait until so many queries were begun."""
        wait_for(lambda: self.begun >= count, f"{count} queries")

    def open(self) -> None:
        """Let these and later queries pass."""
        self._gate.unlink()


def asked(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    body: bytes | str | None = None,
    token: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Send a request over an open connection."""
    every = dict(headers or {})
    if token is not None:
        every["Authorization"] = f"Bearer {token}"
    connection.request(method, path, body, every)
    answer = connection.getresponse()
    return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())


@contextlib.contextmanager
def serving(*indexes: Path, data: Path, **options: Any) -> Iterator[Server]:
    """Run a server, and stop it afterwards."""
    server = Server(*indexes, data=data, **options)
    try:
        yield server
    finally:
        server.stop()
