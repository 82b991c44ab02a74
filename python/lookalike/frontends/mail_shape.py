"""Refuses messages that Python's parser of mail would take minutes for, before it sees them.

The parser tests each line against the boundaries of all parts that are open, and takes about 1 ms for the fields of a
part. So the lines that begin and end parts are followed here, and parts, depth and tests are counted. Text that looks
like such lines counts too; the limits are far above real messages. Cost: one pass over the bytes.
"""

from __future__ import annotations

import re

from lookalike.errors import FrontendError

#: Longest of the header fields that are parsed: the subject, and those that describe parts. 16 KiB take 0.3 s.
MAX_FIELD = 1 << 12
#: Most parts of a message, and most that are open at once.
MAX_PARTS, MAX_DEPTH = 1000, 100
#: Most tests of a line against a boundary; 0.1 us each. A message of 35 MB with attachments needs 2 million.
MAX_TESTS = 20_000_000

_FIELD = re.compile(rb"(?im)^(?:subject|content-[a-z-]+):(?:[^\n]*+\n[ \t])*+[^\n]*+")
#: A line that may be a boundary, or the field that may name one.
_LINE = re.compile(rb"(?im)^(?:--([^\n]*+)|(content-type:(?:[^\n]*+\n[ \t])*+[^\n]*+))")
_NESTS = re.compile(rb"(?i)multipart/|message/")
#: Each block of such a part is a part.
_REPORT = "message/delivery-status"


def check(message: bytes) -> None:
    """Refuse a message that takes too long to parse. Errors: ``FrontendError``."""
    # The parser takes a carriage return alone as the end of a line.
    lines = message.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in message else message
    if any(len(field[0]) > MAX_FIELD for field in _FIELD.finditer(lines)):
        raise FrontendError(f"no message that can be read: a header field has more than {MAX_FIELD:,} bytes")
    shape, place = _Shape(), 0
    for found in _LINE.finditer(lines):
        shape.pass_over(lines, place, found.start())
        place = found.start()
        if found[1] is not None:
            shape.boundary(found[1].rstrip())
        elif _NESTS.search(found[2]):
            shape.nest(found[2])
    shape.pass_over(lines, place, len(lines))


class _Shape:
    """The parts that are open, and what was counted. All methods raise ``FrontendError`` beyond a limit."""

    def __init__(self) -> None:
        #: The boundaries of open parts, the innermost last.
        self._open: dict[bytes, None] = {}
        self._parts, self._tests, self._is_report = 1, 0, False

    def pass_over(self, lines: bytes, start: int, end: int) -> None:
        """Count the lines between two places."""
        self._tests += lines.count(b"\n", start, end) * (len(self._open) + 1)
        if self._tests > MAX_TESTS:
            raise FrontendError(f"a message with too many lines in nested parts: more than {MAX_TESTS:,} tests")
        if self._is_report:
            self._count(lines.count(b"\n\n", start, end))

    def boundary(self, name: bytes) -> None:
        """Begin a part, or end some."""
        if name in self._open:
            self._close_after(name)
            self._count(1)
        elif name.endswith(b"--") and name[:-2] in self._open:
            self._close_after(name[:-2])
            self._open.popitem()

    def _close_after(self, name: bytes) -> None:
        self._is_report = False
        while next(reversed(self._open)) != name:
            self._open.popitem()

    def nest(self, field: bytes) -> None:
        """Open a part that has parts, if the field says so. The parser itself reads the field."""
        from email.message import EmailMessage
        from email.policy import default

        self._count(1)
        header = EmailMessage(default)
        try:
            header.set_raw(*default.header_source_parse(field.decode("ascii", "surrogateescape").splitlines(True)))
            self._is_report = header.get_content_type() == _REPORT
            boundary = header.get_boundary() if header.get_content_maintype() == "multipart" else None
        except Exception:
            # The parser's errors on damaged fields are of any kind. It would raise it again.
            raise FrontendError("no message that can be read: a damaged content type") from None
        if boundary is not None:
            self._open.setdefault(boundary.encode("utf-8", "surrogateescape"))
        if len(self._open) > MAX_DEPTH:
            raise FrontendError(f"a message with more than {MAX_DEPTH} parts inside each other")

    def _count(self, parts: int) -> None:
        self._parts += parts
        if self._parts > MAX_PARTS:
            raise FrontendError(f"a message with more than {MAX_PARTS:,} parts")
