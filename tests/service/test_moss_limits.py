"""Strangers do not close the port of MOSS, names are bounded and counted, and a bad setting is told at once."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from lookalike import params
from lookalike.service import tokens
from lookalike.service.comparing.uploads import LABEL_BYTES, LABEL_PARTS
from lookalike.service.moss.guests import FullHouseError, Guests
from lookalike.service.moss.protocol import Allowed, Begin, Broken, Parser
from support.comparisons import ALL
from support.servers import PATIENCE, Server, serving
from support.submissions import work


def connected(server: Server) -> socket.socket:
    (event,) = server.events(event="moss-listens")
    return socket.create_connection((server.host, event["port"]), timeout=PATIENCE)


def told(server: Server, *parts: bytes) -> bytes:
    """Send all parts, and return what comes until the server closes."""
    with closing(connected(server)) as connection:
        with contextlib.suppress(OSError):
            for part in parts:
                connection.sendall(part)
        answer = b""
        with contextlib.suppress(ConnectionError):
            while data := connection.recv(4096):
                answer += data
        return answer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(data=tmp_path_factory.mktemp("moss") / "data", moss_port=0) as running:
        yield running


READY = b"moss 1\nlanguage c\n"


@pytest.mark.parametrize(
    ("name", "reason"),
    [(b"x/" * LABEL_PARTS + b"y.c", b"too deep"), (b"y" * LABEL_BYTES + b".c", b"too long")],
    ids=["deep", "long"],
)
def test_a_name_has_the_limits_of_a_path(server: Server, name: bytes, reason: bytes):
    answer = told(server, READY, b"file 1 c 4 %s\nabcd" % name, b"query 0 \n")
    assert answer.startswith(b"yes\nrefused: the path of a file is " + reason)
    assert server.ask("GET", ALL).json["comparisons"] == []


def test_the_deepest_names_are_compared(server: Server):
    text = work(5, "c").encode()
    names = [b"x/" * (LABEL_PARTS - 1) + b"%d.c" % number for number in range(3)]
    files = [b"file 1 c %d %s\n%s" % (len(text), name, text) for name in names]
    answer = told(server, READY, *files, b"query 0 \n").decode()
    page = server.ask("GET", answer.removeprefix("yes\n").strip().removeprefix(server.address))
    assert page.status == 200
    assert b"3 submissions" in page.body
    for job in server.ask("GET", ALL).json["comparisons"]:
        server.ask("DELETE", f"{ALL}/{job['id']}")


def test_names_count_as_bytes_of_the_upload():
    line = b"file 1 c 0 " + b"n" * 389 + b"\n"
    events = list(Parser(Allowed(bytes=1000, files=10)).feed(READY + 3 * line))
    assert [type(event) for event in events[2:]].count(Begin) == 2
    assert events[-1] == Broken("the files have more than 1,000 bytes")


def test_names_count_as_bytes_of_the_token(tmp_path: Path):
    with serving(data=tmp_path / "data", moss_port=0, max_kept=5_000) as server:
        files = [b"file 1 c 0 %03d%s\n" % (number, b"n" * 900) for number in range(6)]
        assert b"the most this server keeps for you" in told(server, READY, *files)
        assert list((tmp_path / "data" / "jobs").iterdir()) == []


@pytest.mark.parametrize("setting", [b"maxmatches 0", b"maxmatches 1", b"maxmatches 99999999999"])
@pytest.mark.parametrize("is_late", [False, True])
def test_a_setting_out_of_range_is_told_before_the_files(server: Server, setting: bytes, is_late: bool):
    before, after = (b"", setting + b"\n") if is_late else (setting + b"\n", b"")
    with closing(connected(server)) as connection, connection.makefile("rb") as lines:
        connection.sendall(b"moss 1\n" + before + b"language c\n")
        assert lines.readline() == b"yes\n"
        # Nothing of the file follows: the answer does not wait for it.
        connection.sendall(after or b"file 1 c 1000000 a.c\n")
        name, value = setting.split()
        assert lines.readline().startswith(b"refused: %s `%s` is out of range: use 2 to" % (name, value))
    assert server.ask("GET", ALL).json["comparisons"] == []


def test_strangers_do_not_keep_a_client_out(tmp_path: Path):
    """More sockets without a token than there are places: the oldest go, and a client with a token gets its answer."""
    path = tmp_path / "tokens.jsonl"
    good = tokens.make(str(path), name="course", scopes=["compare"]).encode()
    options = {"moss_port": 0, "token_file": path, "header_seconds": 3_600}
    with serving(data=tmp_path / "data", **options) as server, ExitStack() as stack:
        strangers = []
        for number in range(params.MOSS_STRANGERS + 5):
            one = stack.enter_context(closing(connected(server)))
            one.sendall(b"moss wrong\n" if number % 2 else b"mos")
            strangers.append(one)
        ended = server.events(5, event="moss-ended")
        assert {event["reason"] for event in ended} == {"others came before it showed a token"}
        with closing(connected(server)) as client, client.makefile("rb") as lines:
            client.sendall(b"moss " + good + b"\nlanguage c\n")
            assert lines.readline() == b"yes\n"
            client.sendall(b"file 1 c 0 a.c\nend\n")
            assert lines.readline() == b""
        for one in strangers[:5]:
            with contextlib.suppress(ConnectionError):
                assert one.recv(10) == b""


def test_one_token_leaves_connections_for_others(tmp_path: Path):
    path = tmp_path / "tokens.jsonl"
    ann, bob = (tokens.make(str(path), name=name, scopes=["compare"]).encode() for name in ("ann", "bob"))
    options = {"moss_port": 0, "token_file": path, "body_seconds": 3_600, "header_seconds": 3_600}
    with serving(data=tmp_path / "data", **options) as server, ExitStack() as stack:

        def answered(token: bytes) -> bytes:
            """Return what a client hears whose setting is bad: that, if it was let in."""
            one = stack.enter_context(closing(connected(server)))
            one.sendall(b"moss " + token + b"\nlanguage c\n")
            with one.makefile("rb") as lines:
                assert lines.readline() == b"yes\n"
                one.sendall(b"maxmatches 0\n")
                return lines.readline()

        for _ in range(params.MOSS_CONNECTIONS // 2):
            one = stack.enter_context(closing(connected(server)))
            one.sendall(b"moss " + ann + b"\nlanguage c\n")
            assert one.recv(10) == b"yes\n"
        assert b"32 connections of your token are open" in answered(ann)
        assert b"out of range" in answered(bob)


def test_settings_do_not_prolong_a_conversation(tmp_path: Path):
    """Before the language there is no file, so nothing that a client sends gives it more time."""
    with serving(data=tmp_path / "data", moss_port=0, body_seconds=1) as server, closing(connected(server)) as client:
        # So many bytes would be worth longer than a test waits, at the rate of bodies.
        assert 1_024_000 / params.BODY_RATE > 3 * PATIENCE
        with contextlib.suppress(ConnectionError):
            client.sendall(b"moss 1\n" + b"X 0\n" * 256_000)
            assert client.recv(10) == b""
        (event,) = server.events(event="moss-ended")
        assert event["reason"] == "too slow"


class Stub:
    """A connection that notes why it was ended."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    def evict(self, reason: str) -> None:
        self.ended.append(reason)


def test_the_oldest_stranger_goes_first():
    guests = Guests(is_shared=True)
    many = [Stub() for _ in range(params.MOSS_STRANGERS + 3)]
    for one in many:
        guests.enter(one)
    assert [bool(one.ended) for one in many] == [True] * 3 + [False] * params.MOSS_STRANGERS
    guests.admit(many[3], "ann")
    guests.leave(many[4])
    for one in (Stub(), Stub()):
        guests.enter(one)
    assert not many[5].ended


def test_places_of_members_are_shared_and_bounded():
    guests = Guests(is_shared=True)
    got = {}
    for owner in "abcdefgh":
        got[owner] = 0
        with contextlib.suppress(FullHouseError):
            while True:
                one = Stub()
                guests.enter(one)
                guests.admit(one, owner)
                got[owner] += 1
    assert list(got.values()) == [32, 16, 8, 4, 2, 1, 1, 0]
    with pytest.raises(FullHouseError, match="more than 64"):
        guests.enter(Stub())
