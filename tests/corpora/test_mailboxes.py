"""Mail: a message is its subject and text; a mailbox is cut into messages, which are rows and are copied unchanged."""

from __future__ import annotations

import gzip
import itertools
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike import frontends
from lookalike.corpora import Scratch, open_sources
from lookalike.errors import FrontendError
from lookalike.frontends import mail as front_end
from support.corpora import rows
from support.documents import mail

FROM = b"From a@example.org Mon Jan  5 12:00:00 2004\n"
TEXT = "the quick brown fox jumps over the lazy dog and runs away"


def message(text: str, name: str = "", subject: str = "on foxes") -> bytes:
    head = f"From: a@example.org\nSubject: {subject}\n" + (f"Message-ID: <{name}>\n" if name else "")
    return FROM + f"{head}\n{text}\n\n".encode()


def text_of(data: bytes, name: str = "a.eml") -> str:
    return str(frontends.extract(name, data).text).strip()


def test_a_mailbox_gives_a_row_per_message_and_comes_back_byte_for_byte(tmp_path: Path):
    quoted = message(">From here on\n>>From there\n\nFrom the beginning it was so", "c@x")
    parts = [message(TEXT, "a@x"), message("another text", "b@x"), quoted, message(TEXT, "d@x"), message(TEXT)]
    box = tmp_path / "in.mbox"
    box.write_bytes(b"".join(parts))
    with Scratch() as scratch:
        (source,) = open_sources([str(box)], scratch).sources
        found = rows(source)
    assert [name for name, _ in found] == ["a@x", "b@x", "c@x", "d@x", None]
    assert found[2][1] == b"on foxes\nFrom here on\n>From there\n\nFrom the beginning it was so\n\n"
    clusters, ledger = tmp_path / "clusters.csv", tmp_path / "ledger.jsonl"
    answer = la.dedup(box, out=tmp_path / "out.mbox", ledger=ledger, clusters=clusters)
    assert answer.gone == [3, 4]
    assert (tmp_path / "out.mbox").read_bytes() == b"".join(parts[:3])
    la.restore(ledger, tmp_path / "out.mbox", tmp_path / "back.mbox")
    assert (tmp_path / "back.mbox").read_bytes() == box.read_bytes()
    (tmp_path / "packed.mbox.gz").write_bytes(gzip.compress(box.read_bytes()))
    (tmp_path / "nameless").write_bytes(box.read_bytes())
    assert la.dedup(tmp_path / "packed.mbox.gz").gone == la.dedup(tmp_path / "nameless").gone == [3, 4]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["From x 1:00\n", "a\n", "\n", "\r\n", ">From b 1:00\n", "From c\n"]), max_size=12),
    st.lists(st.integers(0, 200), max_size=6),
    st.integers(1, 60),
)
def test_messages_do_not_depend_on_the_chunks(lines: list[str], places: list[int], most: int):
    data = FROM + "".join(lines).encode() + b"\n" + FROM + b"\nb\n"
    whole = [cut.data for cut in front_end.cuts(iter([data]), 10**6)]
    assert b"".join(whole) == data
    expected = data.replace(b"\r\n", b"\n").replace(b"\n\nFrom x 1:00\n", b"\n\n\0From x 1:00\n")
    expected = expected.replace(b"\n\n" + FROM, b"\n\n\0" + FROM)
    assert [one.replace(b"\r\n", b"\n") for one in whole] == expected.split(b"\0")
    ends = sorted({min(place, len(data)) for place in places} | {0, len(data)})
    chunks = [data[start:end] for start, end in itertools.pairwise(ends)]
    assert [cut.data for cut in front_end.cuts(iter(chunks), 10**6)] == whole
    pieces = list(front_end.cuts(iter([data[at : at + 7] for at in range(0, len(data), 7)]), most))
    assert b"".join(cut.data for cut in pieces) == data
    assert sum(cut.is_end for cut in pieces) == len(whole)


def test_a_message_that_is_too_long_is_passed_through_in_pieces():
    long = FROM + b"Subject: x\n\n" + b"word\n" * 2000 + b"\n"
    parts = (message("a"), long, message("b"))
    chunks = (piece for part in parts for piece in (part[:100], part[100:3000], part[3000:]))
    found = list(front_end.cuts(chunks, 1000))
    assert [cut.is_whole for cut in found if cut.is_end] == [True, False, True]
    assert max(len(cut.data) for cut in found) < 8000


def test_a_message_is_its_subject_and_its_plain_text():
    assert text_of(mail("a text\n> quoted", subject="Grüße")) == "Grüße\na text\n> quoted"
    assert frontends.extract("a.eml", mail("a")).notes == ("attachments: 1 attachment not read: all.zip",)
    readable = frontends.read("a.mbox", message("one") + message("two"))
    assert [label for _, label in readable.places] == ["message 1", "message 2"]


def test_html_is_stripped_where_there_is_no_plain_text():
    made = EmailMessage()
    made["Subject"] = "page"
    made.set_content("<p>one <b>two</b></p><script>no()</script>", subtype="html")
    assert text_of(made.as_bytes()) == "page\none two"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"Subject: a\nContent-Type: text/plain; charset=nonsense\n\n\xe9t\xe9", "a\nété"),
        (b"Subject: =?utf-8?b?SGVsbG8=?=\n\nb", "Hello\nb"),
        (b"Subject: a\nContent-Transfer-Encoding: base64\n\n!!!", "a"),
        (b"Subject: a\nContent-Type: multipart/mixed; boundary=B\n\n--B\n\nin\n", "a\nin"),
        (b"Subject: a\nContent-Type: multipart/mixed\n\nno boundary\n", "a"),
        (b"no header at all\n\nbody", "no header at all\n\nbody"),
    ],
)
def test_damaged_messages_are_read_as_far_as_they_go(data: bytes, expected: str):
    assert text_of(data).replace("\n\n", "\n").startswith(expected.replace("\n\n", "\n")[:6])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"From: a@example.org\n\n", "the message has no text"),
        (b"Subject: " + b"=?utf-8?q?a?= " * 1000 + b"\n\nb", "a header field has more than 4,096 bytes"),
        (b"Content-Type: " + b"(" * 4000 + b"\n\nb", "no message that can be read: RecursionError"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(data: bytes, reason: str):
    with pytest.raises(FrontendError, match=reason):
        frontends.extract("a.eml", data)


@settings(max_examples=100, deadline=None)
@given(
    st.binary(max_size=300), st.sampled_from([b"", b"Content-Type: multipart/mixed; boundary=B\n\n--B\n", b"Subject: "])
)
def test_any_bytes_are_a_message_or_refused(data: bytes, head: bytes):
    try:
        found = front_end.message(head + data)
    except FrontendError:
        return
    assert found.text.strip()
