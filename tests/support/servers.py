"""Real servers for tests: `lookalike serve` as a process on a free port, with a client that speaks plain HTTP."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

#: Seconds after which a server counts as hung. It decides how soon a failure is told, never what passes.
PATIENCE = 300
_COMMAND = [sys.executable, "-c", "from lookalike.cli.main import main; main()"]


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
        """All events that the server has told."""
        return [json.loads(line) for line in self.log_path.read_text(encoding="utf-8").splitlines()]

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
        """End the server as a loss of power would: nothing of it runs afterwards."""
        every = [one for some in self.children().values() for one in some]
        os.kill(self.process.pid, signal.SIGKILL)
        for one in every:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        self.stop()

    def stop(self) -> int:
        """Stop the server as an operator does; return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


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
