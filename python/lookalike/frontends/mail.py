"""Reads e-mail: of a message the subject and the text; of a mailbox (mbox) every message, each under a label.

The text is the part in plain text, else the visible text of the part in HTML. Attachments are named and not read. A
mailbox is cut where a line begins with ``From`` and a time, after an empty line; one ``>`` is taken from the lines that
were quoted for that reason. The package ``email`` of Python parses; it raises errors of any kind on damaged messages,
and needs quadratic time for long header fields and deep nesting, and 1 ms per part. ``mail_shape`` refuses those first.
Cost: linear in the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from lookalike._types import counted
from lookalike.errors import FrontendError
from lookalike.frontends import html, mail_shape
from lookalike.frontends.decoding import decode
from lookalike.frontends.readable import BuiltIn, Composer, Language, Readable

if TYPE_CHECKING:
    from email.message import EmailMessage, MIMEPart

#: Names of attachments in a note.
_NAMED = 3

#: The line before a message: a sender and a time, as ``ctime`` writes it, with or without seconds and zone.
_FROM = rb"From [^\r\n]{0,998}?\d\d?:\d\d[^\r\n]{0,80}\r?\n"
_FIRST = re.compile(_FROM)
_NEXT = re.compile(rb"\n\r?\n(?=%b)" % _FROM)
#: No break between messages is longer.
_BREAK_BYTES = 1100
_QUOTED = re.compile(rb"(?m)^>(>*From )")
_ID = re.compile(rb"(?im)^message-id:\s*<?([^\s<>]{1,998})")


class Message(NamedTuple):
    """What is read of a message."""

    text: str
    notes: tuple[str, ...] = ()


class Cut(NamedTuple):
    """A message of a mailbox as it stands there, or a piece of one that is too long to be held."""

    data: bytes
    is_whole: bool = True
    #: Whether a message ends here.
    is_end: bool = True


def is_mailbox(head: bytes) -> bool:
    """Tell whether a file that begins like this is a mailbox."""
    return _FIRST.match(head) is not None


def cuts(chunks: Iterator[bytes], most: int) -> Iterator[Cut]:
    """Cut a mailbox into messages, each with the line before it. One of more than ``most`` bytes comes in pieces."""
    held, searched, is_long = b"", 0, False
    for chunk in chunks:
        held += chunk
        start = 0
        while found := _NEXT.search(held, max(start, searched)):
            yield Cut(held[start : found.end()], not is_long)
            start, searched, is_long = found.end(), 0, False
        held = held[start:]
        searched = max(0, len(held) - _BREAK_BYTES)
        if len(held) > most + _BREAK_BYTES or (is_long and searched):
            yield Cut(held[:searched], False, False)
            held, searched, is_long = held[searched:], 0, True
    if held or is_long:
        yield Cut(held, not is_long)


def id_of(message: bytes) -> str | None:
    """Return the id that a message names itself."""
    found = _ID.search(message.partition(b"\n\n")[0].partition(b"\r\n\r\n")[0])
    return found[1].decode("utf-8", "backslashreplace") if found else None


def unwrapped(message: bytes) -> bytes:
    """Return a message of a mailbox without the line before it, and lines without the quotes that a mailbox needs."""
    return _QUOTED.sub(rb"\1", message.partition(b"\n")[2] if message.startswith(b"From ") else message)


def message(data: bytes) -> Message:
    """Return the subject and the text of a message. Errors: ``FrontendError``."""
    mail_shape.check(data)
    from email import message_from_bytes
    from email.policy import default

    try:
        parsed = message_from_bytes(data, policy=default)
        subject = str(parsed["subject"] or "").strip()
        body, notes = _body(parsed)
        notes += _attachments(parsed)
    except FrontendError:
        raise
    except Exception as error:
        # The parser's errors on damaged messages are of any kind.
        raise FrontendError(f"no message that can be read: {type(error).__name__}") from None
    text = "\n".join(part for part in (subject, body) if part.strip())
    if not text:
        raise FrontendError("the message has no text")
    return Message(text, tuple(notes))


def _body(parsed: EmailMessage) -> tuple[str, list[str]]:
    """Return the text of a message, and remarks on it."""
    for kind in ("plain", "html"):
        part = parsed.get_body((kind,))
        text, notes = ("", ()) if part is None else _text(part)
        if kind == "html" and text.strip():
            page = html.read(text.encode("utf-8", "replace"), "html", False)
            return str(page.text), [*notes, *page.notes]
        if text.strip():
            return text, [*notes]
    return "", []


def _text(part: MIMEPart) -> tuple[str, tuple[str, ...]]:
    """Return the content of a part; by its bytes if its encoding is not known."""
    try:
        return str(part.get_content()), ()
    except (LookupError, ValueError):
        data = part.get_payload(decode=True)
        return decode(data) if isinstance(data, bytes) else ("", ())


def _attachments(parsed: EmailMessage) -> list[str]:
    if not parsed.is_multipart():
        return []
    names = [part.get_filename() or part.get_content_type() for part in parsed.iter_attachments()]
    shown = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    return [f"attachments: {counted(len(names), 'attachment')} not read: {shown}"] if names else []


def read(data: bytes, language: str, comments: bool) -> Readable:
    """Return a message, or the messages of a mailbox, each a part of its own."""
    if language == "mail":
        found = message(unwrapped(data))
        composer = Composer(found.notes)
        composer.part(found.text, "text")
        return composer.readable()
    composer = Composer()
    read_at_all = 0
    for number, cut in enumerate(cuts(iter([data]), len(data)), 1):
        try:
            found = message(unwrapped(cut.data))
        except FrontendError as error:
            composer.notes.append(f"message {number} is left out: {error}")
            continue
        composer.mark(f"message {number}")
        composer.part(found.text, "text")
        composer.notes += [f"message {number}: {note}" for note in found.notes]
        read_at_all += 1
    if not read_at_all:
        raise FrontendError("a mailbox without a message that can be read")
    return composer.readable()


FRONT_END = BuiltIn(
    (
        Language("mail", "format", ("e-mail", "eml"), (".eml",)),
        Language("mbox", "format", ("mailbox",), (".mbox",)),
    ),
    read,
)
