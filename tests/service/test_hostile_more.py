"""More hostile clients: those that do not read, send many requests at once, or lie in headers and numbers.

Each test waits for an event: an answer, the end of a connection, or a line of the log.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import socket
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import lookalike as la
from lookalike.service import tokens
from support.servers import PATIENCE, Server, serving

SEEN = "/v1/indexes/news/seen"
TEXT = {"Content-Type": "text/plain"}
JSON = {"Content-Type": "application/json"}
LINES = {"Content-Type": "application/x-ndjson"}


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
        connection.sendall(
            head("GET", "/health") + put(f"p{size}", body) + head("GET", "/nowhere", "Connection: close")
        )
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


# --- numbers and times -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["1e400", "-1e999", "[1, 2e308]", "1" + "0" * 400 + ".0"])
def test_numbers_that_no_double_holds_are_refused(server: Server, number: str):
    body = f'{{"text": "some words of a text", "metadata": {{"a": {number}}}}}'
    takers = [("PUT", "/v1/indexes/news/documents/n"), ("POST", SEEN), ("POST", "/v1/indexes/news/query")]
    for method, path in [*takers, ("POST", "/v1/compare")]:
        answer = server.ask(method, path, body, headers=JSON)
        assert (answer.status, answer.code) == (400, "bad-json"), path
    batch = server.ask("POST", "/v1/indexes/news/documents", f'{{"id": "n", {body[1:]}', headers=LINES)
    assert (batch.status, batch.code) == (400, "bad-json")


def test_numbers_that_the_command_line_stored_are_written_as_json(tmp_path: Path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "a", "text": "some words of a text", "x": 1e400, "y": 1.5}\n')
    with la.Index.create(tmp_path / "news", kind="corpus") as index:
        index.add(rows)
        (entry,) = index.documents()
        assert entry.to_json()["fields"] == {"x": None, "y": 1.5}
    with serving(tmp_path / "news", data=tmp_path / "data", readers=1) as server:
        for path in ("/v1/indexes/news/documents", "/v1/indexes/news/documents/a"):
            assert b'"x":null' in server.ask("GET", path).body


@pytest.mark.parametrize("time", ["9223372036854775807", "-9223372036854775808", "300000000000000", "-99999999999"])
def test_times_that_cannot_be_kept_are_refused(server: Server, time: str):
    body = f'{{"text": "some words of a text", "time": {time}}}'
    answer = server.ask("PUT", "/v1/indexes/news/documents/t", body, headers=JSON)
    assert (answer.status, answer.code) == (422, "bad-value")


def test_times_that_can_be_kept_come_back(server: Server):
    for time, kept in (("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"), ("0001-01-01", "0001-01-01T00:00:00Z")):
        body = f'{{"text": "some words of a text", "time": "{time}"}}'
        assert server.ask("PUT", "/v1/indexes/news/documents/t", body, headers=JSON).status in (200, 201)
        assert server.ask("GET", "/v1/indexes/news/documents/t").json["time"] == kept
    assert server.ask("DELETE", "/v1/indexes/news/documents/t").status == 204


# --- headers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    ["Host: localhost", "Origin: http://localhost", "Authorization: Bearer a", "Sec-Fetch-Site: same-origin",
     "Content-Type: text/plain", "Content-Encoding: identity"],
)  # fmt: skip
def test_a_header_that_decides_is_given_once(server: Server, line: str):
    repeated = [line] if line.startswith("Host") else [line, line]
    with raw(server) as connection:
        connection.sendall(head("GET", "/v1/indexes", *repeated, "Connection: close"))
        answer = told(connection)
        assert statuses(answer) == [400]
        assert b"repeated-header" in answer


def test_other_headers_may_be_repeated(server: Server):
    with raw(server) as connection:
        connection.sendall(head("GET", "/v1/indexes", "Accept: a/b", "Accept: c/d", "Connection: close"))
        assert statuses(told(connection)) == [200]


def test_the_scheme_of_an_origin_counts_where_it_is_known(tmp_path: Path):
    options = {"allow_host": "archive.example", "public_url": "https://public.example"}
    with serving(data=tmp_path / "data", readers=1, **options) as server:
        for origin, wanted in (
            (f"http://localhost:{server.port}", 200),
            (f"https://localhost:{server.port}", 403),
            (f"ftp://localhost:{server.port}", 403),
            ("https://archive.example", 200),
            ("http://archive.example", 200),
            ("localhost", 403),
        ):
            headers = {"Host": origin.partition("://")[2] or origin, "Origin": origin}
            assert server.ask("GET", "/v1/indexes", headers=headers).status == wanted, origin
    with serving(data=tmp_path / "more", readers=1, **options | {"allow_host": "public.example"}) as server:
        for origin, wanted in (("https://public.example", 200), ("http://public.example", 403)):
            headers = {"Host": "public.example", "Origin": origin}
            assert server.ask("GET", "/v1/indexes", headers=headers).status == wanted, origin


FORMS = ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "Text/Plain; charset=a"]


def test_without_tokens_no_form_changes_anything(server: Server):
    """An old browser sends a form of another site without saying where it comes from."""
    job = server.ask("POST", "/v1/comparisons").json["id"]
    paths = ["", f"/{job}/start", f"/{job}/cancel"]
    for kind in FORMS:
        for path in [f"/v1/comparisons{one}" for one in paths] + ["/v1/indexes/news/documents"]:
            answer = server.ask("POST", path, b"", headers={"Content-Type": kind})
            assert (answer.status, answer.code) == (415, "other-type"), (path, kind)
    assert len(server.ask("GET", "/v1/comparisons").json["comparisons"]) == 1
    assert server.ask("GET", f"/v1/comparisons/{job}").json["state"] == "uploading"
    assert server.ask("DELETE", f"/v1/comparisons/{job}").status == 204


# --- texts and mails that take long ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [("\ufdfa " * 400_000, 413, "text-grows"), ("a" + "\u0301" * 400_000, 422, "many-marks")],
    ids=["grows", "marks"],
)
def test_texts_that_grow_are_refused(server: Server, text: str, status: int, code: str):
    bodies = {"text/plain": text, "text/html": text, "application/json": json.dumps({"text": text})}
    for path in (SEEN, "/v1/indexes/news/query"):
        for kind, body in bodies.items():
            answer = server.ask("POST", path, body.encode(), headers={"Content-Type": kind})
            assert (answer.status, answer.code) == (status, code), (path, kind)
    for path in (SEEN, "/v1/indexes/news/documents"):
        answer = server.ask("POST", path, json.dumps({"id": "g", "text": text}), headers=LINES)
        assert answer.status == status or answer.json["added"] == 0, path


def test_a_mail_of_too_many_parts_is_refused(server: Server):
    field = b"Content-Type: multipart/mixed; boundary=a\r\n\r\n"
    body = field + (b"--a\r\n" + field) * 100_000
    for path in (SEEN, "/v1/indexes/news/query"):
        answer = server.ask("POST", path, body, headers={"Content-Type": "message/rfc822"})
        assert (answer.status, answer.code) == (422, "unreadable")
        assert b"parts" in answer.body


def test_an_archive_that_expands_too_far_is_refused(tmp_path: Path):
    la.Index.create(tmp_path / "class", kind="class").close()
    packed = io.BytesIO()
    source = random.Random(3)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(60):
            # About 20 times as large as its archive: less than `compare` allows, more than a request may have.
            archive.writestr(f"{number}.py", f'x = "{source.randbytes(10_000).hex()}"\n' * 15)
    with serving(tmp_path / "class", data=tmp_path / "data", readers=1) as server:
        for method, path in (("PUT", "documents/a"), ("POST", "query"), ("POST", "seen")):
            kind = {"Content-Type": "application/zip"}
            answer = server.ask(method, f"/v1/indexes/class/{path}", packed.getvalue(), headers=kind)
            assert (answer.status, answer.code) == (422, "unreadable"), path
            assert b"expands beyond" in answer.body
