"""The lines of MOSS: any bytes, in any split, mean the same as at once, and never raise."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lookalike.service.moss.protocol import (
    MOST_LINE,
    Allowed,
    Begin,
    Broken,
    Content,
    Event,
    Farewell,
    Finished,
    Greeting,
    Language,
    Parser,
    Query,
    Setting,
)

ALLOWED = Allowed(bytes=1000, files=3)
HELLO = b"moss 42\n"
READY = HELLO + b"language java\n"


def understood(*parts: bytes, allowed: Allowed = ALLOWED) -> list[Event]:
    parser = Parser(allowed)
    return joined(event for part in parts for event in parser.feed(part))


def joined(events) -> list[Event]:
    """Join the parts of one file's content, which depend on the split."""
    result: list[Event] = []
    for event in events:
        if isinstance(event, Content) and result and isinstance(result[-1], Content):
            event = Content(result.pop().data + event.data)
        result.append(event)
    return result


def naive(data: bytes) -> list[Event]:
    """Feed byte by byte."""
    return understood(*(data[i : i + 1] for i in range(len(data))))


WHOLE = (
    b"moss 42\ndirectory 1\nX 0\nmaxmatches 10\nshow 250\nlanguage java\nfile 0 java 4 base/A.java\nabc\n"
    b"file 1 java 0 x y.java\nfile 2 java 8 ../b.java\nfile 3 \nquery 0 a comment\nend\n"
)


def test_a_whole_conversation_is_understood():
    assert understood(WHOLE) == [
        Greeting("42"),
        Setting("directory", 1),
        Setting("X", 0),
        Setting("maxmatches", 10),
        Setting("show", 250),
        Language("java"),
        Begin(True, 4, "base/A.java"),
        Content(b"abc\n"),
        Finished(),
        Begin(False, 0, "x y.java"),
        Finished(),
        Begin(False, 8, "../b.java"),
        Content(b"file 3 \n"),
        Finished(),
        Query("a comment"),
        Farewell(),
    ]


LINES = (
    HELLO, b"moss\n", b"directory 1\n", b"X True\r\n", b"maxmatches 10\n", b"show -3\n", b"language java\n", b"end\n",
    b"query 0 c\n", b"query 0\n", b"file 1 java 3 a\nabc", b"file 0 c 0 b\n", b"file 1 java 999999 c\n", b"x" * 5001,
    b"file 1 java -1 c\n", b"file 9 java 4\n", b"file 1 java 990 c\n", b"\n", b"\xff \x00\n",
)  # fmt: skip
COMMANDS = st.sampled_from(LINES)
BYTES = st.one_of(
    st.binary(max_size=200),
    st.lists(COMMANDS, max_size=12).map(b"".join),
    st.lists(st.one_of(COMMANDS, st.binary(max_size=30)), max_size=12).map(lambda parts: READY + b"".join(parts)),
)


@given(BYTES, st.lists(st.integers(0, 300), max_size=20))
@example(WHOLE, [1, 9, 30, 31, 32, 100])
@example(HELLO + b"language " + b"x" * MOST_LINE + b"\n" + WHOLE, [MOST_LINE, MOST_LINE + 18])
def test_any_split_means_the_same(data: bytes, cuts: list[int]):
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    parts = [data[a:b] for a, b in pairwise(places)]
    assert understood(*parts) == understood(data) == naive(data)


@given(BYTES)
def test_no_bytes_pass_a_limit(data: bytes):
    events = understood(data)
    begun = [event for event in events if isinstance(event, Begin)]
    assert len(begun) <= ALLOWED.files
    assert sum(event.size for event in begun) <= ALLOWED.bytes
    assert sum(isinstance(event, (Broken, Farewell)) for event in events) <= 1
    assert not any(isinstance(event, (Broken, Farewell)) for event in events[:-1])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GET / HTTP/1.1\r\n", "no command"),
        (b"language java\n", "not expected"),
        (HELLO + b"file 1 java 3 a\nabc", "not expected"),
        (HELLO + HELLO, "not expected"),
        (READY + b"language c\n", "not expected"),
        (READY + b"file 1 java -3 a\n", "not a number"),
        (READY + b"file 1 java 1e3 a\n", "not a number"),
        (READY + "file 1 java ٣ a\n".encode(), "not a number"),
        (READY + b"file -1 java 3 a\n", "not a number"),
        (READY + b"file 1 java 1001 a\n", "more than 1,000 bytes"),
        (READY + b"file 1 java 99999999999999999999 a\n", "not a number"),
        (READY + b"file 1 java 0 a\n" * 4, "more than 3 files"),
        (READY + b"file 1 java 0\n", "no name"),
        (READY + b"file 1 java 0  \n", "no name"),
        (READY + b"query 0 x\nfile 1 java 0 a\n", "not expected"),
        (b"moss " + b"1" * MOST_LINE, "bytes"),
        (HELLO + b"directory many\n", "not a number"),
    ],
)
def test_the_first_line_that_does_not_fit_ends_the_conversation(data: bytes, reason: str):
    last = understood(data + b"\nend\n" + WHOLE)[-1]
    assert isinstance(last, Broken)
    assert reason in last.reason


def test_the_longest_line_is_understood():
    user = b"1" * (MOST_LINE - 5)
    assert understood(b"moss " + user + b"\n") == [Greeting(user.decode())]


def test_values_of_python_are_settings():
    assert understood(HELLO + b"directory True\nX False\n")[1:] == [Setting("directory", 1), Setting("X", 0)]


def test_names_that_are_not_utf_8_are_kept():
    (event,) = (event for event in understood(READY + b"file 1 java 0 \xe9.java\n") if isinstance(event, Begin))
    assert event.name.encode("utf-8", "surrogateescape") == b"\xe9.java"
