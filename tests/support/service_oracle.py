"""Kills a server under load, and compares it with an oracle outside: a file of what was sent and acknowledged.

Each client changes documents of its own and writes what it is about to send, and then what was acknowledged, to a file
that is synced before the next request. After a kill every document must be as it was acknowledged, or as the request
says that was under way; nothing else may be there. ``python -m tests.support.service_oracle --cycles 100`` runs longer.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import random
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import lookalike as la

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from support.servers import Server, asked

#: The text of a document, or ``None`` where it is removed.
Text = str | None
CLIENTS = 4
TEXT = {"Content-Type": "text/plain"}
LINES = {"Content-Type": "application/x-ndjson"}
PATH = "/v1/indexes/news/documents"


class Oracle:
    """What one client sent and what was acknowledged, by id."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "a+b", buffering=0)  # noqa: SIM115
        #: For each id: the texts that it may have.
        self.allowed: dict[str, set[Text]] = {}
        #: For each id: the texts of requests without an answer. One may be made after a later request is answered.
        self._unanswered: dict[str, set[Text]] = {}
        self.acknowledged = 0

    def sends(self, changes: dict[str, Text]) -> None:
        """Remember that these changes are about to be sent."""
        self._write({"sent": changes})
        for id_, text in changes.items():
            self.allowed.setdefault(id_, {None}).add(text)

    def hears(self, changes: dict[str, Text]) -> None:
        """Remember that these changes were acknowledged."""
        self._write({"acknowledged": changes})
        self.acknowledged += 1
        for id_, text in changes.items():
            self.allowed[id_] = {text} | self._unanswered.get(id_, set())

    def loses(self, changes: dict[str, Text]) -> None:
        """Remember that the answer to these changes was lost with its process."""
        for id_, text in changes.items():
            self._unanswered.setdefault(id_, set()).add(text)

    def sees(self, found: dict[str, str]) -> None:
        """Remember what is there after a restart: it must stay."""
        self._unanswered.clear()
        for id_ in self.allowed:
            self.allowed[id_] = {found.get(id_)}

    def _write(self, row: dict[str, dict[str, Text]]) -> None:
        self._file.write(json.dumps(row).encode() + b"\n")
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


class Client(threading.Thread):
    """A thread that changes documents until it is told to stop, or ends when the server is gone."""

    def __init__(self, server: Server, oracle: Oracle, name: str, seed: int, tick: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._server, self._oracle, self._name, self._tick = server, oracle, name, tick
        self._draw = random.Random(seed)
        self.is_stopping = False
        self.answers: dict[int, int] = {}

    def run(self) -> None:
        """Send one request after the other."""
        with contextlib.closing(self._server.connection()) as connection:
            while not self.is_stopping:
                try:
                    self._change(connection)
                except (OSError, http.client.HTTPException):
                    if self._server.process.poll() is not None:
                        return
                    connection.close()

    def _change(self, connection: http.client.HTTPConnection) -> None:
        draw = self._draw
        ids = [f"{self._name}/{draw.randrange(40)}" for _ in range(draw.choice([1, 1, 1, 5]))]
        text = f"words of {self._name} number {draw.random()} and some more of them to fill a shingle or two"
        if len(ids) > 1:
            changes: dict[str, Text] = dict.fromkeys(ids, text)
            body = "\n".join(json.dumps({"id": id_, "text": text}) for id_ in changes)
            self._send(connection, changes, "POST", PATH, body, {**LINES, "Idempotency-Key": str(draw.random())})
        elif draw.random() < 0.2:
            self._send(connection, {ids[0]: None}, "DELETE", f"{PATH}/{ids[0]}", None, {})
        else:
            self._send(connection, {ids[0]: text}, "PUT", f"{PATH}/{ids[0]}", text, TEXT)

    def _send(
        self,
        connection: http.client.HTTPConnection,
        changes: dict[str, Text],
        method: str,
        path: str,
        body: str | None,
        headers: dict[str, str],
    ) -> None:
        self._oracle.sends(changes)
        try:
            answer = asked(connection, method, path, body, None, headers)
        except (OSError, http.client.HTTPException):
            self._oracle.loses(changes)
            raise
        self.answers[answer.status] = self.answers.get(answer.status, 0) + 1
        if answer.status in (200, 201, 204) or (method == "DELETE" and answer.status == 404):
            self._oracle.hears(changes)
        self._tick()


class Load:
    """Several clients, and a count of their answers."""

    def __init__(self, server: Server, oracles: Sequence[Oracle], seed: int) -> None:
        self._signal, self._count = threading.Condition(), 0
        self.clients = [
            Client(server, oracle, f"client-{number}", seed + number, self._tick)
            for number, oracle in enumerate(oracles)
        ]
        for one in self.clients:
            one.start()

    def _tick(self) -> None:
        with self._signal:
            self._count += 1
            self._signal.notify()

    def await_answers(self, more: int) -> None:
        """Wait until so many more requests were answered."""
        with self._signal:
            wanted = self._count + more
            assert self._signal.wait_for(lambda: self._count >= wanted, 300)

    def stop(self) -> None:
        """End all clients after the request that they are at."""
        for one in self.clients:
            one.is_stopping = True
        for one in self.clients:
            one.join(300)
            assert not one.is_alive()


def contents(folder: Path) -> dict[str, str]:
    """Return the texts of all documents of the index, by id."""
    with la.Index(folder / "news") as index, index.snapshot() as view:
        return {one.id: view.texts(one.id)[0][1] for one in view.documents()}


def check(folder: Path, oracles: Sequence[Oracle]) -> None:
    """Compare the index with the oracles: nothing acknowledged is lost, nothing else is there."""
    found = contents(folder)
    known: set[str] = set()
    for oracle in oracles:
        for id_, allowed in oracle.allowed.items():
            assert found.get(id_) in allowed, f"{id_}: {found.get(id_)!r} is none of {allowed}"
        known |= oracle.allowed.keys()
        oracle.sees(found)
    assert found.keys() <= known, f"ghosts: {sorted(found.keys() - known)}"
    with la.Index(folder / "news") as index:
        assert index.check() == []


def kill_all(folder: Path, cycles: int, seed: int) -> int:
    """Kill the whole server under load, so many times; return how many requests were acknowledged."""
    draw = random.Random(seed)
    la.Index.create(folder / "news", kind="corpus").close()
    oracles = [Oracle(folder / f"oracle-{number}") for number in range(CLIENTS)]
    for cycle in range(cycles):
        server = Server(folder / "news", data=folder / "data", readers=2)
        load = Load(server, oracles, seed + 1000 * cycle)
        load.await_answers(draw.randint(10, 60))
        server.kill()
        load.stop()
        check(folder, oracles)
    for oracle in oracles:
        oracle.close()
    return sum(oracle.acknowledged for oracle in oracles)


def kill_one(folder: Path, role: str, times: int, seed: int) -> dict[int, int]:
    """Kill one process of the server under load, so many times; return how many answers had which status."""
    la.Index.create(folder / "news", kind="corpus").close()
    oracles = [Oracle(folder / f"oracle-{number}") for number in range(CLIENTS)]
    server = Server(folder / "news", data=folder / "data", readers=2)
    load = Load(server, oracles, seed)
    draw = random.Random(seed)
    for _ in range(times):
        load.await_answers(draw.randint(10, 40))
        alive = server.children()[role]
        if alive:
            os.kill(draw.choice(alive), signal.SIGKILL)
    load.await_answers(40)
    load.stop()
    assert server.stop() == 0
    check(folder, oracles)
    for oracle in oracles:
        oracle.close()
    statuses: dict[int, int] = {}
    for one in load.clients:
        for status, count in one.answers.items():
            statuses[status] = statuses.get(status, 0) + count
    return statuses


def main() -> None:
    """Run cycles from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cycles", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        acknowledged = kill_all(Path(folder), chosen.cycles, chosen.seed)
    print(f"{chosen.cycles} kills (seed {chosen.seed}): {acknowledged} acknowledged, 0 lost, 0 ghosts")


if __name__ == "__main__":
    main()
