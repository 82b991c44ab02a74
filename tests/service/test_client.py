"""``lookalike.Client`` against a real server, and against one that fails at the worst moment."""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import signal
import socket
import threading
from collections.abc import Iterator

import pytest

import lookalike as la
from support.servers import PATIENCE, Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("client")
    la.Index.create(folder / "news", kind="corpus").close()
    with serving(folder / "news", data=folder / "data") as made:
        yield made


def test_a_client_does_what_an_index_does(server: Server):
    with la.Client(server.address) as client:
        assert client.put("news", "a/ü", "one two three four five six seven", metadata={"year": 2025}) == "added"
        assert client.put("news", "a/ü", "one two three four five six seven", metadata={"year": 2025}) == "unchanged"
        assert client.put("news", "page", b"<p>eight nine ten eleven twelve thirteen</p>", name="a.html") == "added"
        rows = [{"id": f"r{number}", "text": f"row number {number} of many rows in a batch"} for number in range(250)]
        assert client.add("news", rows) == {"added": 250, "replaced": 0, "unchanged": 0, "skipped": []}
        assert [one["documents"] for one in client.indexes()] == [252]
        found = client.get("news", "a/ü")
        assert found is not None
        assert found["fields"] == {"year": 2025}
        assert client.get("news", "nothing") is None
        assert [one["id"] for one in client.documents("news")] == ["a/ü", "page", *(row["id"] for row in rows)]
        assert [one["id"] for one in client.documents("news", {"year": "2025"})] == ["a/ü"]
        assert client.seen("news", "ONE two three four five six seven")["seen"]
        assert [one["seen"] for one in client.seen_many("news", ["eight nine ten eleven twelve thirteen", "x"])] == [
            True,
            False,
        ]
        answer = client.query("news", b"one two three four five six seven", question=["identical"], top=1)
        assert [match["id"] for match in answer["answers"][0]["matches"]] == ["a/ü"]
        assert client.compare("a b c d e f", "a b c d e f", sketch="fast")["exact"]["resemblance"] == 1
        assert client.remove("news", "page")
        assert not client.remove("news", "page")


def test_refusals_are_exceptions_with_a_code(server: Server):
    client = la.Client(server.address)
    with pytest.raises(la.ServiceError, match="no index") as caught:
        client.seen("nowhere", "x")
    assert (caught.value.status, caught.value.code) == (404, "no-such-index")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.status, again.code, str(again)) == (404, "no-such-index", str(caught.value))
    with pytest.raises(la.ServiceError):
        client.query("news", "x", threshold=7)
    with pytest.raises(la.ParameterError):
        la.Client("example.org")
    with pytest.raises(la.ParameterError):
        client.put("news", "x", b"bytes", metadata={"a": 1})
    client.close()


def test_an_add_that_is_interrupted_is_repeated_once(server: Server):
    """The keeper ends in the middle of a long add: the client goes on, and every document is there once."""
    rows = [
        {"id": f"x{number}", "text": f"text number {number} of an add that is interrupted"} for number in range(600)
    ]
    with la.Client(server.address, retries=30) as client:
        pid = server.children()["keeper"][0]

        def given() -> Iterator[dict[str, str]]:
            for number, row in enumerate(rows):
                if number == 301:
                    os.kill(pid, signal.SIGKILL)
                yield row

        found = client.add("news", given())
        assert found["added"] + found["unchanged"] == len(rows)
        ids = [one["id"] for one in client.documents("news") if one["id"].startswith("x")]
        assert sorted(ids) == sorted(row["id"] for row in rows)


def test_an_answer_that_is_lost_is_asked_for_again(server: Server):
    """A proxy passes the request on and drops the first answer: the document is added once."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_losing, args=(listener, server), daemon=True)
        thread.start()
        with la.Client(f"http://127.0.0.1:{listener.getsockname()[1]}") as client:
            rows = [{"id": "lost", "text": "the answer to this was lost on its way"}]
            assert client.add("news", rows) == {"added": 1, "replaced": 0, "unchanged": 0, "skipped": []}
        thread.join(PATIENCE)
        assert not thread.is_alive()


def _losing(listener: socket.socket, server: Server) -> None:
    for is_lost in (True, False):
        connection, _ = listener.accept()
        with connection, contextlib.closing(socket.create_connection((server.host, server.port))) as other:
            other.sendall(_message(connection))
            answer = _message(other)
            if not is_lost:
                connection.sendall(answer)
                connection.recv(1)


def _message(connection: socket.socket) -> bytes:
    """Read a whole request or answer, in however many pieces it comes: its headers, and a body of their length."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += _piece(connection)
    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", data)
    assert length is not None
    whole = data.index(b"\r\n\r\n") + 4 + int(length[1])
    while len(data) < whole:
        data += _piece(connection)
    return data


def _piece(connection: socket.socket) -> bytes:
    piece = connection.recv(1 << 16)
    assert piece, "the connection ended in the middle of a message"
    return piece


def test_a_server_that_cannot_be_reached_is_told():
    with socket.socket() as unused:
        # The port stays ours, and nobody listens on it.
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(la.ServiceError) as caught:
            la.Client(f"http://127.0.0.1:{unused.getsockname()[1]}", retries=1).indexes()
    assert caught.value.status == 0
