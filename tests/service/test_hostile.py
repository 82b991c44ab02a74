"""Hostile and broken clients, with real sockets: each gets an answer or is cut off, and nobody else notices.

Waiting is for an event: an answer, or the end of the connection. Clients that are slow on purpose have a server of
their own with short time limits (``hasty``), so that a busy machine makes no other client slow.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import resource
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

import lookalike as la
from lookalike import params
from lookalike.engines import local
from support.servers import PATIENCE, Answer, HeldQueries, Server, serving

MOST = 64 << 10
DOCUMENT = "/v1/indexes/news/documents/a"
SEEN = "/v1/indexes/news/seen"
TEXT = {"Content-Type": "text/plain"}
JSON = {"Content-Type": "application/json"}
LINES = {"Content-Type": "application/x-ndjson"}
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
#: Operations that take JSON.
TAKERS = [("PUT", DOCUMENT), ("POST", SEEN), ("POST", "/v1/indexes/news/query"), ("POST", "/v1/compare")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("hostile")
    la.Index.create(folder / "news", kind="corpus").close()
    limits = {"max_body": MOST, "header_seconds": 600, "body_seconds": 600, "max_documents": 10, "readers": 2}
    with serving(folder / "news", data=folder / "data", **limits) as made:
        yield made


@pytest.fixture(scope="module")
def hasty_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("hasty")
    la.Index.create(folder / "news", kind="corpus").close()
    limits = {"max_body": MOST, "header_seconds": 1, "body_seconds": 1, "readers": 1}
    with serving(folder / "news", data=folder / "data", **limits) as made:
        yield made


@contextlib.contextmanager
def living_on(server: Server) -> Iterator[None]:
    """Check that a server has the same processes afterwards, and no fault in its log."""
    before = server.children()
    yield
    assert server.children() == before
    assert not [one for one in server.log() if "fault" in one["event"]]


@pytest.fixture(autouse=True)
def _the_server_lives_on(server: Server) -> Iterator[None]:
    with living_on(server):
        yield
        assert server.ask("GET", "/health").status == 200


@pytest.fixture
def hasty(hasty_server: Server) -> Iterator[Server]:
    with living_on(hasty_server):
        yield hasty_server
        assert status(answered(hasty_server, head("GET", "/health", "Connection: close"))) == 200


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


def answered(hasty: Server, sent: bytes) -> bytes:
    """Send bytes until they are answered: a client that sends a second after it connected is cut off."""
    for _ in range(100):
        with raw(hasty) as connection:
            connection.sendall(sent)
            if answer := told(connection):
                return answer
    raise AssertionError("a hundred clients were cut off")


def head(method: str, path: str, *lines: str) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()


def status(answer: bytes) -> int:
    return int(answer.split()[1])


# --- slow ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"GET", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-A: b"])
def test_headers_that_do_not_come_end_the_connection(hasty: Server, sent: bytes):
    with raw(hasty) as connection:
        connection.sendall(sent)
        assert told(connection) == b""


def test_headers_that_do_not_come_after_a_first_request_end_the_connection(hasty: Server):
    answer = answered(hasty, head("GET", "/health") + b"GET /hea")
    assert status(answer) == 200
    assert answer.count(b"HTTP/1.1") == 1


def test_a_slow_body_is_refused(hasty: Server):
    slow = head("PUT", DOCUMENT, "Content-Type: text/plain", "Content-Length: 1000") + b"one word"
    answer = answered(hasty, slow)
    assert status(answer) == 408
    assert b"too-slow" in answer


def test_a_body_that_is_not_wanted_does_not_hold_the_connection(server: Server):
    """The answer comes before the body; a client that goes on sending is cut off."""
    with raw(server) as connection:
        connection.sendall(head("PUT", "/nowhere", "Content-Length: 1000") + b"one word")
        assert status(told(connection)) == 404


# --- cut off ---------------------------------------------------------------------------------------------------------


def test_a_half_closed_connection_ends(server: Server):
    with raw(server) as connection:
        connection.sendall(head("PUT", DOCUMENT, "Content-Type: text/plain", "Content-Length: 1000") + b"one")
        connection.shutdown(socket.SHUT_WR)
        told(connection)
    assert server.ask("GET", DOCUMENT).status == 404


def test_a_client_that_goes_leaves_nothing(server: Server):
    for sent in (
        b"",
        b"GET",
        head("PUT", DOCUMENT, "Content-Length: 9") + b"x",
        head("POST", SEEN, "Content-Length: 3"),
    ):
        for _ in range(20):
            with raw(server) as connection:
                connection.sendall(sent)
    assert server.ask("GET", DOCUMENT).status == 404


# --- large -----------------------------------------------------------------------------------------------------------


def test_a_body_that_is_declared_too_large_is_refused_before_it_comes(server: Server):
    with raw(server) as connection:
        connection.sendall(head("PUT", DOCUMENT, "Content-Type: text/plain", f"Content-Length: {MOST + 1}"))
        answer = told(connection)
        assert status(answer) == 413
        assert b"too-large" in answer


def test_a_client_that_sends_too_much_still_sees_the_answer(server: Server):
    with raw(server) as connection:
        connection.sendall(head("PUT", DOCUMENT, "Content-Type: text/plain", f"Content-Length: {8 * MOST}"))
        with contextlib.suppress(ConnectionError):
            connection.sendall(b"x" * 8 * MOST)
        assert status(told(connection)) == 413


def test_a_chunked_body_is_counted(server: Server):
    chunk = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"
    with raw(server) as connection:
        connection.sendall(head("PUT", DOCUMENT, "Content-Type: text/plain", "Transfer-Encoding: chunked"))
        with contextlib.suppress(ConnectionError):
            for _ in range(MOST // 0x1000 + 1):
                connection.sendall(chunk)
        assert status(told(connection)) == 413


def test_a_compressed_body_counts_as_what_it_is(server: Server):
    for size, wanted in ((MOST, 201), (MOST + 1, 413), (200 << 20, 413)):
        body = gzip.compress(b"x" * size, 9)
        answer = server.ask("PUT", DOCUMENT, body[:MOST], headers={**TEXT, "Content-Encoding": "gzip"})
        assert answer.status == wanted, size
    assert server.ask("DELETE", DOCUMENT).status == 204


def test_a_body_of_the_greatest_size_is_taken(server: Server):
    assert server.ask("PUT", DOCUMENT, b"x " * (MOST // 2), headers=TEXT).status == 201
    assert server.ask("DELETE", DOCUMENT).status == 204


def test_bad_compression_is_refused(server: Server):
    good = gzip.compress(b"some words")
    for body in (b"", b"no gzip", good[:-4], good + b"more", good[:-8] + b"\0\0\0\0" + good[-4:]):
        answer = server.ask("PUT", DOCUMENT, body, headers={**TEXT, "Content-Encoding": "gzip"})
        assert (answer.status, answer.code) == (400, "bad-gzip"), body
    answer = server.ask("PUT", DOCUMENT, good, headers={**TEXT, "Content-Encoding": "br"})
    assert (answer.status, answer.code) == (415, "other-encoding")


def test_too_many_documents_are_refused(server: Server):
    body = "\n".join(json.dumps({"id": str(number), "text": "x"}) for number in range(11))
    for path in ("/v1/indexes/news/documents", SEEN):
        answer = server.ask("POST", path, body, headers={"Content-Type": "application/x-ndjson"})
        assert (answer.status, answer.code) == (413, "too-many")


@pytest.mark.parametrize("line", [b"X-A: " + b"b" * (1 << 20), b"X-A: b\r\n" * (1 << 17)], ids=["long", "many"])
def test_headers_that_are_too_long_are_refused(server: Server, line: bytes):
    with raw(server) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + line)
        answer = told(connection)
        assert not answer or status(answer) == 431


@pytest.mark.parametrize(
    "sent",
    [
        lambda size: head("GET", "/health", f"X-A: {'b' * size}"),
        lambda size: head("GET", "/health", *["X-A: b"] * (size // 8)),
        lambda size: head("GET", f"/health?{'b' * size}"),
    ],
    ids=["one", "many", "address"],
)
def test_headers_above_the_limit_are_refused_also_in_one_read(server: Server, sent: Callable[[int], bytes]):
    for size, wanted in ((params.HEADER_BYTES - 200, 200), (params.HEADER_BYTES + 8, 431), (80_000, 431)):
        with raw(server) as connection:
            connection.sendall(sent(size).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            assert status(told(connection)) in ({200, 400} if wanted == 200 else {431}), size


# --- lies ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"GET /health HTTP/9.9\r\n\r\n",
        head("PUT", DOCUMENT, "Content-Length: -1"),
        head("PUT", DOCUMENT, "Content-Length: 1x"),
        head("PUT", DOCUMENT, "Content-Length: 3", "Content-Length: 4") + b"abcd",
        head("PUT", DOCUMENT, "Content-Length: 3", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
        head("PUT", DOCUMENT, "Transfer-Encoding: chunked", "Content-Type: text/plain") + b"zz\r\nhello\r\n0\r\n\r\n",
        head("PUT", DOCUMENT, "Transfer-Encoding: chunked", "Content-Type: text/plain") + b"2\r\nhello\r\n0\r\n\r\n",
        head("PUT", DOCUMENT, "Transfer-Encoding: chunked") + b"ffffffffffffffffff\r\nx",
        head("PUT", DOCUMENT, "Transfer-Encoding: gzip, chunked", "Content-Type: text/plain") + b"1\r\nx\r\n1\r\n",
    ],
)
def test_what_is_no_http_is_refused(hasty: Server, sent: bytes):
    assert status(answered(hasty, sent)) in (400, 408)
    assert status(answered(hasty, head("GET", DOCUMENT, "Connection: close"))) == 404


BAD_JSON = [
    b"",
    b"{",
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b'{"text": NaN}',
    b'{"text": "a", "metadata": {"x": Infinity}}',
    b'{"text": "a", "text": "b"}',
    b'{"text": "a"} x',
    b'{"text": "\xff"}',
    b'{"text": "a", "metadata": {"x": ' + b"9" * 5000 + b"}}",
    b"{'text': 'a'}",
    b"\xef\xbb\xbf{}",
]
BAD_VALUES = [
    b"null",
    b"[]",
    b'"text"',
    b"{}",
    b'{"text": null}',
    b'{"text": 1}',
    b'{"text": ["a"]}',
    b'{"text": "\\ud800"}',
    b'{"text": "a", "other": 1}',
    b'{"text": "a", "metadata": []}',
    b'{"text": "a", "metadata": {"x": null}}',
    b'{"text": "a", "metadata": {"x": {}}}',
    b'{"text": "a", "metadata": {"x": "' + b"y" * 2000 + b'"}}',
    b'{"text": "a", "metadata": {"\\udfff": 1}}',
    b'{"text": "a", "time": "yesterday"}',
    b'{"text": "a", "time": true}',
    b'{"text": "a", "time": "\\u0661"}',
    b'{"text": "a", "name": 1}',
    b'{"text": "a", "name": ""}',
    b'{"text": "a", "name": "a\\nb"}',
    b'{"text": "a", "id": "b"}',
]


@pytest.mark.parametrize("body", BAD_JSON, ids=range(len(BAD_JSON)))
def test_what_is_no_json_is_refused(server: Server, body: bytes):
    for method, path in TAKERS:
        answer = server.ask(method, path, body[:MOST], headers=JSON)
        assert (answer.status, answer.code) == (400, "bad-json"), (path, answer.body)
        assert (b"nests too deep" in answer.body) == (len(body) >= 100_000)


@pytest.mark.parametrize("body", BAD_VALUES, ids=range(len(BAD_VALUES)))
def test_values_of_other_types_are_refused(server: Server, body: bytes):
    for method, path in TAKERS:
        answer = server.ask(method, path, body, headers=JSON)
        assert (answer.status, answer.code) == (422, "bad-value"), (path, answer.body)


def test_a_line_that_is_no_json_refuses_the_batch_and_is_named(server: Server):
    for path in ("/v1/indexes/news/documents", SEEN):
        answer = server.ask("POST", path, b'\n{"id": "good", "text": "words"}\n\n{', headers=LINES)
        assert (answer.status, answer.code) == (400, "bad-json")
        assert "line 4" in answer.json["error"]["message"]
    assert server.ask("GET", "/v1/indexes/news/documents/good").status == 404


def test_a_row_that_is_no_document_is_skipped_and_named_by_its_line(server: Server):
    rows = [
        b'{"id": "fine", "text": "some words"}', b"", b'{"text": "a"}', b'{"id": "", "text": "a"}', b"[]",
        b'{"id": "x\\u0000", "text": "a"}', b'{"id": "odd", "text": "a", "extra": 1}', b'{"id": "empty", "text": " "}',
        b'{"id": "late", "text": "a", "time": "never"}', b'{"id": "last", "text": "other words"}',
    ]  # fmt: skip
    answer = server.ask("POST", "/v1/indexes/news/documents", b"\n".join(rows), headers=LINES)
    assert (answer.status, answer.json["added"]) == (200, 2)
    skipped = answer.json["skipped"]
    assert [(row["line"], row["id"]) for row in skipped] == [
        (3, None), (4, ""), (5, None), (6, "x\0"), (7, "odd"), (8, "empty"), (9, "late"),
    ]  # fmt: skip
    assert "needs an `id`" in skipped[0]["reason"]
    assert "`extra` is not known" in skipped[4]["reason"]
    for id_ in ("fine", "last"):
        assert server.ask("DELETE", f"/v1/indexes/news/documents/{id_}").status == 204


def test_a_row_that_cannot_be_asked_is_named_by_its_line(server: Server):
    """There is a verdict for each line, so nothing is skipped."""
    answer = server.ask("POST", SEEN, b'{"text": "a"}\n\n{"text": 1}', headers=LINES)
    assert (answer.status, answer.code) == (422, "bad-value")
    assert answer.json["error"]["message"].startswith("line 3: ")


@pytest.mark.parametrize(
    "kind",
    ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "image/png", "x", ";;;", "; charset=utf-8",
     "text/", "/plain", "text/plain, text/html", "text plain"],
)  # fmt: skip
def test_other_content_types_are_refused(server: Server, kind: str):
    for method, path in (
        ("PUT", DOCUMENT),
        ("POST", SEEN),
        ("POST", "/v1/compare"),
        ("POST", "/v1/indexes/news/documents"),
    ):
        answer = server.ask(method, path, b"a=b", headers={"Content-Type": kind})
        assert (answer.status, answer.code) == (415, "other-type")
    answer = server.ask("PUT", DOCUMENT, b"a", headers={"Content-Type": "text/plain; charset=utf-16"})
    assert (answer.status, answer.code) == (415, "other-type")


@pytest.mark.parametrize(
    "query",
    ["top=x", "top=-1", "top=1&top=2", "distance=11", "window=1", "threshold=nan", "threshold=2", "question=all",
     "where=x", "where=a%3D1&where=a%3D2", "other=1", "top", "&&", "top=%ff", "key=/etc/passwd", "also=/tmp/x",
     "name="],
)  # fmt: skip
def test_bad_parameters_are_refused(server: Server, query: str):
    answer = server.ask("POST", f"/v1/indexes/news/query?{query}", b"words", headers=TEXT)
    assert answer.status in (400, 422), answer.body
    assert answer.code in ("bad-parameter", "bad-query", "bad-value")


def test_no_path_or_address_of_a_client_is_read(server: Server, tmp_path: Path):
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret words of the operator of this server")
    for value in (str(secret), f"file://{secret}", "http://127.0.0.1:1/", "../../../../etc/passwd", "-"):
        answers = [
            server.ask("POST", f"{SEEN}?name=a", json.dumps({"text": value}), headers=JSON),
            server.ask("POST", SEEN, json.dumps({"text": "x", "name": value}), headers=JSON),
            server.ask("PUT", DOCUMENT, value, headers=TEXT),
            server.ask("GET", DOCUMENT),
        ]
        assert [one.status for one in answers] in ([200, 200, 201, 200], [200, 200, 200, 200])
        assert answers[-1].json["texts"][0]["text"] == value
    assert server.ask("DELETE", DOCUMENT).status == 204
    for path in ("/v1/indexes/..%2f..%2fnews", "/v1/indexes/../secret", "/v1/indexes/%2e%2e/documents", "//etc/passwd"):
        assert server.ask("GET", path).status == 404


@pytest.mark.parametrize("id_", ["a%ff%fe", "%ED%A0%80", "a%00b", "%0A", "a%7F", "%C2%85"])
def test_ids_that_are_no_text_are_refused(server: Server, id_: str):
    path = f"/v1/indexes/news/documents/{id_}"
    answer = server.ask("PUT", path, b"some words", headers=TEXT)
    assert (answer.status, answer.code) == (422, "bad-value")
    row = json.dumps({"id": unquote(id_, errors="surrogateescape"), "text": "some words"})
    answer = server.ask("POST", "/v1/indexes/news/documents", row, headers=LINES)
    assert (answer.json["added"], answer.json["skipped"][0]["line"]) == (0, 1)
    assert "without control characters" in answer.json["skipped"][0]["reason"]
    # The command line may have stored one.
    assert server.ask("GET", path).status == 404


def test_conditions_are_called_as_the_client_calls_them(server: Server):
    for value in ("x", "a%3D1&where=a%3D2"):
        answer = server.ask("POST", f"{SEEN}?where={value}", b"words", headers=TEXT)
        assert answer.json["error"]["message"].startswith("where `"), answer.body


def test_a_body_of_another_format_than_its_type_is_read_and_told(server: Server):
    for kind, suffix in (("application/pdf", ".pdf"), (DOCX, ".docx")):
        there = {"Content-Type": kind}
        note = f"the body is not {kind}, as its content type says: it was read as text"
        assert server.ask("PUT", DOCUMENT, b"some plain words of a text", headers=there).json["notes"] == [note]
        for path in (SEEN, "/v1/indexes/news/query"):
            answer = server.ask("POST", path, b"some plain words of a text", headers=there)
            assert note in answer.json["notes"], suffix
        assert server.ask("POST", SEEN, b"some plain words of a text", headers=there).json["identical"]
    assert server.ask("POST", SEEN, b"some plain words of a text", headers=TEXT).json["notes"] == []
    assert server.ask("DELETE", DOCUMENT).status == 204


def test_ids_of_any_letters_come_back(server: Server):
    for id_, shown in (
        ("a%20b", "a b"),
        ("%E2%82%AC", "€"),
        ("a%2Fb%2F..", "a/b/.."),
        ("%22%3Cb%3E", '"<b>'),
        ("%C2%A0%E2%80%AE", "\xa0\u202e"),
    ):
        path = f"/v1/indexes/news/documents/{id_}"
        assert server.ask("PUT", path, b"some words", headers=TEXT).json["id"] == shown
        assert server.ask("GET", path).json["id"] == shown
        assert server.ask("DELETE", path).status == 204
    assert server.ask("PUT", "/v1/indexes/news/documents/" + "x" * 1025, b"words", headers=TEXT).status == 422


def test_a_key_stands_for_one_request(server: Server):
    kind = {"Content-Type": "application/x-ndjson", "Idempotency-Key": "k"}
    path, body = "/v1/indexes/news/documents", b'{"id": "k", "text": "some words"}'
    first = server.ask("POST", path, body, headers=kind)
    assert first.json == {"added": 1, "replaced": 0, "unchanged": 0, "skipped": []}
    assert server.ask("POST", path, body, headers=kind).body == first.body
    other = server.ask("POST", path, body.replace(b"some", b"more"), headers=kind)
    assert (other.status, other.code) == (422, "key-reused")
    again = server.ask("POST", path, body, headers={**kind, "Idempotency-Key": "l"})
    assert again.json["unchanged"] == 1
    assert server.ask("POST", path, body, headers={**kind, "Idempotency-Key": "x" * 256}).code == "bad-key"


# --- many ------------------------------------------------------------------------------------------------------------


def test_a_thousand_idle_connections_hinder_nobody(server: Server):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    with contextlib.ExitStack() as open_:
        idle = [open_.enter_context(raw(server)) for _ in range(1_000)]
        for one in idle:
            one.sendall(b"GET /health HTTP/1.1\r\n")
        for _ in range(20):
            assert server.ask("POST", SEEN, b"some words", headers=TEXT).status == 200
        for one in idle:
            one.sendall(b"Host: localhost\r\nConnection: close\r\n\r\n")
        answers = [told(one) for one in idle]
    assert {answer[:15] for answer in answers} == {b"HTTP/1.1 200 OK"}


def test_more_work_than_the_queue_holds_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    la.Index.create(tmp_path / "news", kind="corpus").close()
    held, threads, more = HeldQueries(tmp_path, monkeypatch), local.cores() + 1, 20
    with (
        serving(tmp_path / "news", data=tmp_path / "data", readers=1, queue=0) as server,
        contextlib.ExitStack() as open_,
    ):
        connections = [open_.enter_context(contextlib.closing(server.connection())) for _ in range(threads + more)]
        for one in connections:
            one.request("POST", "/v1/indexes/news/query", b"a few words", TEXT)
        server.events(more, event="request", status=429)
        assert server.ask("GET", "/health").status == 200
        held.open()
        answers = []
        for one in connections:
            found = one.getresponse()
            answers.append(Answer(found.status, dict(found.getheaders()), found.read()))
        refused = [one for one in answers if one.status == 429]
        assert len(refused) == more
        assert [one.status for one in answers].count(200) == held.begun == threads
        assert all(one.code == "busy" and one.headers["retry-after"] == "1" for one in refused)


def test_connections_beyond_the_cap_are_refused(tmp_path: Path):
    limits = {"readers": 1, "max_connections": 4, "header_seconds": 600}
    with serving(data=tmp_path / "data", **limits) as server, contextlib.ExitStack() as open_:
        first, *_ = [open_.enter_context(raw(server)) for _ in range(7)]
        for _ in range(5):
            with raw(server) as refused:
                assert status(told(refused)) == 503
        first.sendall(head("GET", "/health", "Connection: close"))
        assert status(told(first)) == 200
