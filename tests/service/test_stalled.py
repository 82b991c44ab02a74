"""Clients that do not take their answers, and clients and requests that are given up: nothing of them is left."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

import lookalike as la
from lookalike import params
from lookalike.engines import local
from lookalike.service import children, tokens
from lookalike.service.protocol import Protocol
from lookalike.service.settings import Settings
from support.servers import PATIENCE, HeldQueries, Server, serving, wait_for

#: Loaded by every interpreter of a server. A worker that reads HTML notes its process and goes on for ever.
_ENDLESS = """
import os, sys, time
if "lookalike.engines.worker" in " ".join(sys.orig_argv[2:3]):
    from lookalike.frontends import html
    def read(*arguments):
        with open({begun!r}, "ab", buffering=0) as file:
            file.write(b"%d\\n" % os.getpid())
        while True:
            time.sleep(1)
    html.read = read
"""
HTML = {"Content-Type": "text/html"}
SEEN = "/v1/indexes/news/seen"
_REQUEST = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"


def quiet(server: Server) -> bool:
    return not [one for one in server.log() if "fault" in one["event"] or one["event"] == "library"]


@contextlib.contextmanager
def unread(server: Server, count: int) -> Iterator[list[socket.socket]]:
    """Clients that send many requests at once and read nothing."""
    with contextlib.ExitStack() as open_:
        made = []
        for _ in range(count):
            one = open_.enter_context(socket.socket())
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            one.connect((server.host, server.port))
            one.settimeout(PATIENCE)
            one.sendall(_REQUEST * 1_000)
            made.append(one)
        yield made


# --- answers that nobody takes ---------------------------------------------------------------------------------------


def test_clients_that_read_nothing_are_cut_off(tmp_path: Path):
    limits = {"send_seconds": 1, "max_connections": 8, "header_seconds": 600}
    with serving(data=tmp_path / "data", readers=1, **limits) as server:
        with unread(server, 8) as clients:
            server.events(8, event="connection-cut", code="answer-not-taken")
            # Their places are free again while they still hold their side.
            assert server.ask("GET", "/health").status == 200
            for one in clients:
                with contextlib.suppress(ConnectionError):
                    while one.recv(1 << 20):
                        pass
        # Requests are answered one by one: those after the answer that was not taken were never begun.
        assert len([one for one in server.log() if one.get("route") == "/openapi.json"]) < 8 * 1_000
        assert quiet(server)


def test_a_client_that_goes_without_reading_is_no_fault(tmp_path: Path):
    with serving(data=tmp_path / "data", readers=1) as server:
        with unread(server, 8):
            server.events(8, event="request", route="/openapi.json")
        wait_for(lambda: server.ask("GET", "/health").status == 200, "an answer")
        for _ in range(20):
            with contextlib.closing(server.connection()) as connection:
                connection.request("GET", "/openapi.json")
        assert server.ask("GET", "/health").status == 200
        assert quiet(server)


class Talk:
    """A connection with our protocol on one side, and a socket on the other."""

    def __init__(self, size: int) -> None:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"x" * size})

        self._config = uvicorn.Config(app, http=Protocol, log_config=None, access_log=False, lifespan="off")

    async def __aenter__(self) -> Talk:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.client = socket.create_connection(self.listening.getsockname())
        accepted, _ = self.listening.accept()
        loop = asyncio.get_running_loop()
        make = lambda: Protocol(self._config, ServerState(), {})  # noqa: E731
        _, self.protocol = await loop.connect_accepted_socket(make, accepted)
        self.client.setblocking(False)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.client.close()
        self.listening.close()
        self.protocol.transport.abort()
        await asyncio.sleep(0)

    async def take(self, count: int) -> None:
        """Read so many bytes."""
        loop = asyncio.get_running_loop()
        while count > 0:
            count -= len(await loop.sock_recv(self.client, min(count, 1 << 16)))


async def until(condition: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.001)


def test_a_client_is_cut_off_by_how_much_it_takes(monkeypatch: pytest.MonkeyPatch):
    """No time passes here: the test looks when it wants to."""
    monkeypatch.setattr(Protocol, "send_seconds", 1_000)
    wanted = 1_000 * params.BODY_RATE

    async def go() -> None:
        async with Talk(40 * wanted) as talk:
            await asyncio.get_running_loop().sock_sendall(talk.client, _REQUEST)
            await until(lambda: talk.protocol._look is not None)
            for _ in range(3):
                before = talk.protocol._unsent
                await talk.take(2 * wanted)
                await until(lambda before=before: before - _untaken(talk) >= wanted)
                talk.protocol._look.cancel()
                talk.protocol._look_at_answer()
                assert not talk.protocol.transport.is_closing()
            talk.protocol._look.cancel()
            await talk.take(wanted // 100)
            talk.protocol._look_at_answer()
            assert talk.protocol.transport.is_closing()

    asyncio.run(go())


def _untaken(talk: Talk) -> int:
    from lookalike.service.protocol import _untaken as untaken

    return untaken(talk.protocol.transport)


def test_bytes_of_further_requests_wait_unread(monkeypatch: pytest.MonkeyPatch):
    async def go() -> None:
        async with Talk(64 << 20) as talk:
            loop = asyncio.get_running_loop()
            sending = asyncio.create_task(loop.sock_sendall(talk.client, _REQUEST * 500_000))
            await until(lambda: talk.protocol.flow.read_paused and talk.protocol.flow.write_paused)
            protocol = talk.protocol
            assert len(protocol._held) <= 1 << 20
            assert len(protocol.pipeline) <= (2 << 10) // len(_REQUEST) + 1
            assert not sending.done()
            sending.cancel()

    asyncio.run(go())


# --- work that nobody waits for --------------------------------------------------------------------------------------


class Endless:
    """Workers that never finish a page of HTML."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._begun = folder / "endless" / "begun"
        self._begun.parent.mkdir()
        self._begun.touch()
        (folder / "endless" / "sitecustomize.py").write_text(_ENDLESS.format(begun=str(self._begun)))
        monkeypatch.setenv("PYTHONPATH", str(folder / "endless"), prepend=os.pathsep)

    def workers(self) -> list[int]:
        return [int(line) for line in self._begun.read_text().split()]

    def await_end(self) -> None:
        """Wait until all workers that have begun are gone."""
        wait_for(lambda: not any(_lives(one) for one in self.workers()), "the end of all workers")


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_request_that_is_given_up_ends_its_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    la.Index.create(tmp_path / "news", kind="corpus").close()
    endless = Endless(tmp_path, monkeypatch)
    with serving(tmp_path / "news", data=tmp_path / "data", readers=1, answer_seconds=1) as server:
        # More than there are threads: without an end, the last ones would hold all of them for ever.
        asks = [("POST", SEEN), ("POST", "/v1/indexes/news/query"), ("PUT", "/v1/indexes/news/documents/a")]
        for method, path in asks * (local.cores() // 2 + 2):
            answer = server.ask(method, path, b"<p>some words", headers=HTML)
            assert (answer.status, answer.code) == (504, "too-long")
        path = "/v1/indexes/news/documents"
        wait_for(lambda: server.ask("GET", path).status == 200, "a free thread")
        endless.await_end()
        assert quiet(server)


def test_a_client_that_goes_ends_its_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    la.Index.create(tmp_path / "news", kind="corpus").close()
    endless = Endless(tmp_path, monkeypatch)
    with serving(tmp_path / "news", data=tmp_path / "data", readers=1) as server:
        with contextlib.closing(server.connection()) as connection:
            connection.request("POST", SEEN, b"<p>some words", HTML)
            wait_for(lambda: len(endless.workers()) == 1, "a worker")
        endless.await_end()
        assert quiet(server)


def test_one_token_leaves_a_thread_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A token asks more than there are threads, and none of its queries ends; another token is answered."""
    la.Index.create(tmp_path / "news", kind="corpus").close()
    held = HeldQueries(tmp_path, monkeypatch)
    file = tmp_path / "tokens"
    busy, other = (tokens.make(str(file), name=name, scopes=["read", "add"]) for name in ("busy", "other"))
    options = {"readers": 1, "token_file": file, "queue": 40}
    with serving(tmp_path / "news", data=tmp_path / "data", **options) as server, contextlib.ExitStack() as open_:
        for _ in range(60):
            connection = open_.enter_context(contextlib.closing(server.connection()))
            there = {"Authorization": f"Bearer {busy}", "Content-Type": "text/plain"}
            connection.request("POST", "/v1/indexes/news/query", b"a few words", there)
        server.events(1, event="request", status=429, token="busy")
        for number in range(5):
            path = f"/v1/indexes/news/documents/{number}"
            assert server.ask("PUT", path, b"some words", other, {"Content-Type": "text/plain"}).status == 201
            assert server.ask("GET", path, token=other).status == 200
        held.open()


# --- a supervisor that is killed -------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["reader", "keeper"])
@pytest.mark.parametrize("is_told", [False, True])
def test_a_process_whose_supervisor_is_gone_ends_without_a_word(tmp_path: Path, role: str, is_told: bool):
    """Killed before it has told anything, or while the process starts: nobody reads what it says."""
    settings = Settings.of([], data=tmp_path / "data", readers=1)
    os.makedirs(settings.run)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        birth = {"settings": settings.to_json(), "slot": 0, "handle": listening.fileno()}
        process = subprocess.Popen(
            [sys.executable, "-c", children._BOOT, role, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[listening.fileno()],
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        if is_told:
            process.stdin.write(json.dumps(birth).encode() + b"\n")
        process.stdin.close()
        told = process.stderr.read().decode()
        process.wait(PATIENCE)
        process.stderr.close()
    assert "Traceback" not in told
    assert all(json.loads(line) for line in told.splitlines())
