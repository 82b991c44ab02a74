"""Messages that take long to parse are refused before they are parsed; others are counted as the parser counts them."""

from __future__ import annotations

import email
import random
from email.message import EmailMessage
from email.policy import default
from typing import Any

import pytest

from lookalike.errors import FrontendError
from lookalike.frontends import mail, mail_shape

MIXED = b"Content-Type: multipart/mixed; boundary=a\r\n\r\n"


def nested(depth: int, lines: int) -> bytes:
    """Parts inside each other, and then empty lines."""
    opened = [b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (one, one) for one in range(depth)]
    return b"".join(opened) + b"\nwords\n" + b"\n" * lines


HOSTILE = {
    "equal boundaries": MIXED + (b"--a\r\n" + MIXED) * 1_100,
    "flat": MIXED + b"--a\r\n\r\nx\r\n" * 1_100,
    "carriage returns": (MIXED + b"--a\r\n\r\nx\r\n" * 1_100).replace(b"\r\n", b"\r"),
    "a boundary in pieces": MIXED.replace(b"boundary=a", b"boundary*0=a; boundary*1=b") + b"--ab\n\nx\n" * 1_100,
    "a quoted boundary": MIXED.replace(b"boundary=a", b'boundary="a b"') + b"--a b\n\nx\n" * 1_100,
    "a folded field": MIXED.replace(b" boundary", b"\r\n boundary") + b"--a\n\nx\n" * 1_100,
    "a report of delivery": b"Content-Type: message/delivery-status\n\n" + b"A: b\n\n" * 1_100,
    "messages in messages": b"Content-Type: message/rfc822\n\n" * 1_100,
    "deep": nested(mail_shape.MAX_DEPTH + 1, 1),
    "lines in deep parts": nested(mail_shape.MAX_DEPTH, mail_shape.MAX_TESTS // mail_shape.MAX_DEPTH),
    "a long field": b"Subject: " + b"x" * 5_000 + b"\n\nwords",
    "a long field with carriage returns": b"Subject: x\r" + b" x\r" * 2_000 + b"\rwords",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_a_message_that_takes_long_is_refused_before_it_is_parsed(data: bytes, monkeypatch: pytest.MonkeyPatch):
    def parse(*_: Any, **__: Any) -> None:
        raise AssertionError("it was parsed")

    monkeypatch.setattr(email, "message_from_bytes", parse)
    with pytest.raises(FrontendError, match=r"parts|field"):
        mail.message(data)


def test_messages_below_the_limits_are_read():
    flat = MIXED + b"--a\r\n\r\nsome words\r\n" * 990 + b"--a--\r\n"
    for data in (nested(mail_shape.MAX_DEPTH - 1, 1_000), flat, b"Subject: s\n\n" + b"words\n--\n-- \n" * 100_000):
        assert "words" in mail.message(data).text


def test_no_accepted_message_has_more_parts_than_were_counted():
    """Random nestings with few boundaries, so that they are closed early, late, twice, or never."""
    source = random.Random(5)
    pieces = [b"--a\n", b"--b\n", b"--c\n", b"--a--\n", b"--b--\n", b"\n", b"words\n", b"--d\n", b"A: b\n"]
    pieces += [b"Content-Type: multipart/mixed; boundary=%c\n\n" % one for one in b"abc"]
    pieces += [b"Content-Type: message/rfc822\n\n", b"Content-Type: message/delivery-status\n\n"]
    pieces += [b"Content-Type: multipart/digest; boundary=%c\n\n" % one for one in b"ab"]
    for number in range(2_000):
        data = b"".join(source.choices(pieces, k=source.randrange(1, 30)))
        found = sum(1 for _ in email.message_from_bytes(data, policy=default).walk())
        shape = counted(data)
        # A digest has a message in each part, which has one part more.
        assert found <= 2 * shape, (number, data)


def counted(data: bytes) -> int:
    """Return how many parts a message is counted to have."""
    made: list[Any] = []

    class Kept(mail_shape._Shape):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mail_shape, "_Shape", Kept)
        mail_shape.check(data)
    return int(made[0]._parts)


def test_messages_as_programs_write_them_are_read():
    message = EmailMessage()
    message["Subject"] = "the subject"
    message.set_content("the plain words\n" * 50)
    message.add_alternative("<p>the words of a page</p>", subtype="html")
    inner = EmailMessage()
    inner.set_content("inner words")
    for _ in range(50):
        message.add_attachment(b"data" * 10_000, maintype="application", subtype="octet-stream", filename="a.bin")
        message.add_attachment(inner)
    found = mail.message(message.as_bytes())
    assert found.text.startswith("the subject\nthe plain words")
    assert "100 attachments" in " ".join(found.notes)
