"""More hostile clients: those that do not read, send many requests at once, or lie in headers and numbers.

Each test waits for an event: an answer, the end of a connection, or a line of the log.
"""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import lookalike as la
from support.servers import PATIENCE, Server, serving

SEEN = "/v1/indexes/news/seen"
TEXT = {"Content-Type": "text/plain"}
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("more")
    la.Index.create(folder / "news", kind="corpus").close()
    with serving(folder / "news", data=folder / "data", readers=1, header_seconds=600, body_seconds=600) as made:
        yield made


@pytest.fixture(autouse=True)
def _no_fault(server: Server) -> Iterator[None]:
    before = server.children()
    yield
    assert server.children() == before
    assert not [one for one in server.log() if "fault" in one["event"] or one["event"] == "library"]


@contextlib.contextmanager
def raw(server: Server) -> Iterator[socket.socket]:
    with socket.create_connection((server.host, server.port), timeout=PATIENCE) as connection:
        yield connection


def told(connection: socket.socket) -> bytes:
    """Read until the server ends the connection."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def head(method: str, path: str, *lines: str) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()


def put(name: str, body: bytes, *lines: str) -> bytes:
    """A request that adds a document."""
    there = ("Content-Type: text/plain", f"Content-Length: {len(body)}", *lines)
    return head("PUT", f"/v1/indexes/news/documents/{name}", *there) + body


def statuses(answers: bytes) -> list[int]:
    return [int(one.split()[0]) for one in answers.split(b"HTTP/1.1 ")[1:]]


# --- requests without waiting ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [10, 60_000, 200_000, 2_000_000])
def test_a_request_with_a_body_after_another_is_answered(server: Server, size: int):
    body = (b"word%d " % size * (size // 5))[:size]
    with raw(server) as connection:
        connection.sendall(head("GET", "/health") + put(f"p{size}", body) + head("GET", "/nowhere", "Connection: close"))
        assert statuses(told(connection)) == [200, 201, 404]
    assert server.ask("GET", f"/v1/indexes/news/documents/p{size}").json["texts"][0]["text"] == body.decode()


def test_requests_are_answered_in_their_order_however_they_are_cut(server: Server):
    some = [put(f"o{number}", b"some words " * 500) for number in range(3)]
    sent = b"".join([head("GET", "/health"), some[0], some[1], head("GET", "/nowhere"), some[2], some[0]])
    sent += head("GET", "/health", "Connection: close")
    for cut in (1_000_000, 4_000, 700):
        with raw(server) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for place in range(0, len(sent), cut):
                connection.sendall(sent[place : place + cut])
            found = statuses(told(connection))
        assert found in ([200, 201, 201, 404, 201, 200, 200], [200, 200, 200, 404, 200, 200, 200]), cut


def test_a_thousand_requests_at_once_are_all_answered(server: Server):
    with raw(server) as connection:
        connection.sendall(head("GET", "/health") * 1_000 + head("GET", "/nowhere", "Connection: close"))
        assert statuses(told(connection)) == [200] * 1_000 + [404]


def test_what_is_no_http_after_requests_is_refused_after_their_answers(server: Server):
    """In one piece and after it, with and without a body that breaks off."""
    for bad in (b"\x16\x03\x01 no request\r\n\r\n", put("x", b"").replace(b"Length: 0", b"Length: 1x")):
        for before in (1, 3, 40):
            with raw(server) as connection:
                connection.sendall(head("GET", "/nowhere") * before + bad)
                assert statuses(told(connection)) == [404] * before + [400]
    broken = head("PUT", "/v1/indexes/news/documents/x", "Transfer-Encoding: chunked") + b"2\r\nhello\r\n0\r\n\r\n"
    with raw(server) as connection:
        connection.sendall(head("GET", "/nowhere") * 3 + broken)
        assert statuses(told(connection)) == [404] * 3 + [400]


# --- fields after a body ---------------------------------------------------------------------------------------------


def test_fields_after_a_body_are_no_headers(tmp_path: Path):
    from lookalike.service import tokens

    la.Index.create(tmp_path / "news", kind="corpus").close()
    token = tokens.make(str(tmp_path / "tokens"), name="all", scopes=["read", "add"])
    with serving(tmp_path / "news", data=tmp_path / "data", token_file=tmp_path / "tokens", readers=1) as server:
        for path, method in ((SEEN, "POST"), ("/v1/indexes", "GET")):
            chunked = head(method, path, "Transfer-Encoding: chunked", "Content-Type: text/plain", "Connection: close")
            body = f"5\r\nwords\r\n0\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
            with raw(server) as connection:
                connection.sendall(chunked + body)
                assert statuses(told(connection)) == [401]


def test_a_field_after_a_body_that_never_ends_is_refused(server: Server):
    with raw(server) as connection:
        there = ("Transfer-Encoding: chunked", "Content-Type: text/plain")
        connection.sendall(head("POST", SEEN, *there) + b"5\r\nwords\r\n0\r\nX-A: ")
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                connection.sendall(b"b" * 10_000)
        answer = told(connection)
        assert not answer or statuses(answer) == [431]
