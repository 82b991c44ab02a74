"""How a file of rows is encoded, decided once for the whole file: its rows in UTF-8, and back when it is copied.

A byte-order mark belongs to no row and stays at the beginning. UTF-16 and UTF-32 are read as UTF-8, chunk by chunk, and
written as they were. Cost: nothing for UTF-8; one pass of Python's codecs for the others.
"""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lookalike import _core
from lookalike._types import Problem
from lookalike.errors import FrontendError
from lookalike.frontends.decoding import MARKS

#: So many bytes show a mark, or UTF-16 that has none.
_HEAD = 4
#: Bytes that a guess is made from.
_GUESSED = 2**16
#: Halves of surrogate pairs pass both ways, so that a file is copied as it is.
_EVERY = "surrogatepass"


class Removed(NamedTuple):
    """A removed row."""

    row: int
    #: Offset in the output at which it is restored.
    at: int
    #: Its bytes with the line end.
    data: bytes


class Coding(NamedTuple):
    """How a file is encoded."""

    #: Its byte-order mark.
    mark: bytes = b""
    #: The encoding that its rows are translated from; ``None`` if they are read as they stand.
    translated: str | None = None


def unmarked(chunks: Iterator[bytes], name: str, problems: list[Problem]) -> tuple[Coding, Iterator[bytes]]:
    """Return how a file is encoded, and its content as UTF-8 without a mark; other 8-bit encodings stay as they are."""
    head = b""
    while len(head) < _HEAD and (piece := next(chunks, b"")):
        head += piece
    mark, encoding = next(((mark, name) for mark, name in MARKS if head.startswith(mark)), (b"", None))
    if encoding is None and len(head) >= _HEAD:
        # Rows begin with ASCII: a brace, or the name of a column.
        zeros = [byte == 0 for byte in head[:_HEAD]]
        orders = (([False, True] * 2, "utf-16-le"), ([True, False] * 2, "utf-16-be"))
        encoding = next((name for order, name in orders if zeros == order), None)
    rest = itertools.chain([head[len(mark) :]] if head[len(mark) :] else [], chunks)
    if encoding is None or encoding == "utf-8":
        return Coding(mark), rest
    return Coding(mark, encoding), _translated(rest, encoding, name, problems)


def _translated(chunks: Iterator[bytes], encoding: str, name: str, problems: list[Problem]) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(_EVERY)
    total = 0
    try:
        for chunk in chunks:
            yield decoder.decode(chunk).encode("utf-8", _EVERY)
            total += len(chunk)
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        reason = f"no {encoding.upper()[:6]} from here on; the rest is not in the output"
        problems.append(Problem(name, f"after {total:,} bytes", reason))


class Rewriter:
    """Kept rows in UTF-8 → in the encoding of their file, and the places of removed rows with them."""

    def __init__(self, coding: Coding) -> None:
        self._mark = len(coding.mark)
        self._encoding = coding.translated
        self._decoder = codecs.getincrementaldecoder("utf-8")(_EVERY)
        #: Bytes done, as they are read and as they are written.
        self._read, self._written = 0, self._mark

    def feed(self, data: bytes, removed: Sequence[Removed]) -> tuple[bytes, Sequence[Removed]]:
        """Translate the kept bytes of a chunk and the removed rows that end in it."""
        if self._encoding is None:
            return data, [one._replace(at=one.at + self._mark) for one in removed] if self._mark else removed
        parts: list[bytes] = []
        gone: list[Removed] = []
        done = 0
        for row, at, line in removed:
            self._add(data[done : at - self._read], parts)
            done = at - self._read
            gone.append(Removed(row, self._written, line.decode("utf-8", _EVERY).encode(self._encoding, _EVERY)))
        self._add(data[done:], parts)
        self._read += len(data)
        return b"".join(parts), gone

    def _add(self, data: bytes, parts: list[bytes]) -> None:
        part = self._decoder.decode(data).encode(self._encoding or "utf-8", _EVERY)
        self._written += len(part)
        parts.append(part)


def legacy(head: bytes) -> str | None:
    """Return the 8-bit encoding of a file that begins like this, as Python names it; ``None`` if it is UTF-8.

    It is guessed from the bytes about the first that UTF-8 does not have, by the rules for texts.
    """
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
        return None
    except UnicodeDecodeError as error:
        sample = head[max(0, error.start - _GUESSED // 2) :][:_GUESSED]
    try:
        encoding = _core.Fingerprinter(1, 1, "smallest", "character", False, 1, 1).one(sample)[3][0]
        return None if encoding.upper() == "UTF-8" else codecs.lookup(encoding.lower().replace("windows-", "cp")).name
    except (FrontendError, LookupError):
        return None
