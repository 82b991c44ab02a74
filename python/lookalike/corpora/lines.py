"""JSON Lines: bytes in, bytes out. What a line is worth, the core finds out; here it is only a stretch up to its end.

A row is a line: up to and with its line feed, or up to the end of the file. Blank lines and lines that cannot be read
are rows too: they are not compared, and they stay where they are, because nothing is ever lost in a deduplication.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple, Protocol, cast

from lookalike._types import Problem
from lookalike.corpora.batches import CHUNK_BYTES, Lines
from lookalike.corpora.compression import chunks
from lookalike.corpora.places import InPlace, Place
from lookalike.documents.reasons import MIB, RefusedError, why

#: Passes that only copy or look up do so in pieces that the processor's cache holds: a third of the time of large ones.
_PIECE_BYTES = MIB
#: So many lines at the beginning of a file tell what columns it has.
_LOOKED_AT = 100


class Removed(NamedTuple):
    """A row that is taken out."""

    row: int
    #: How many bytes of the output come before it: where it goes back to.
    at: int
    #: As it was, with its end.
    data: bytes


class Filter(Protocol):
    """Takes rows out of a stream of bytes."""

    def feed(self, data: bytes, last: bool) -> tuple[bytes, list[Removed]]:
        """Return what is kept of a chunk, and the rows that end in it and are taken out.

        Errors: ``ValueError`` if the rows, at the last chunk, are not as many as the mask has.
        """


class LineFilter:
    """Takes lines out: the reference of the core's. No more than one line that is taken out is ever held."""

    def __init__(self, mask: bytes) -> None:
        self._mask = mask
        self._row = self._at = 0
        self._held: list[bytes] = []
        self._is_inside = False

    def feed(self, data: bytes, last: bool) -> tuple[bytes, list[Removed]]:
        """Return what is kept of a chunk, and the lines taken out. Errors: ``ValueError`` if the mask does not fit."""
        kept: list[bytes] = []
        removed: list[Removed] = []
        start = 0
        while start < len(data):
            end = data.find(b"\n", start) + 1 or len(data)
            self._take(data[start:end], kept)
            start = end
            if data[end - 1 : end] == b"\n":
                self._end(removed)
        if last:
            if self._is_inside:
                self._end(removed)
            check_rows(self._row, len(self._mask))
        return b"".join(kept), removed

    def _take(self, piece: bytes, kept: list[bytes]) -> None:
        self._is_inside = True
        if self._row >= len(self._mask):
            check_rows(self._row + 1, len(self._mask))
        if self._mask[self._row]:
            kept.append(piece)
            self._at += len(piece)
        else:
            self._held.append(piece)

    def _end(self, removed: list[Removed]) -> None:
        if self._held:
            removed.append(Removed(self._row, self._at, b"".join(self._held)))
            self._held = []
        self._row += 1
        self._is_inside = False


class ChangedError(RefusedError, ValueError):
    """An input is not what it was when it was first read."""


def check_rows(found: int, expected: int) -> None:
    """Errors: ``ChangedError`` if a second pass does not meet the rows of the first."""
    if found != expected:
        word = "more" if found > expected else "only"
        raise ChangedError(f"the first pass met {expected:,} rows, the second {word} {found:,}: the input was changed")


@dataclass
class LineSource(InPlace):
    """A file of JSON Lines."""

    place: Place
    compression: str | None
    problems: list[Problem] = field(default_factory=list)
    format: str = "jsonl"

    def batches(self) -> Iterator[Lines]:
        """Yield the bytes of the file, expanded."""
        return self._lines(CHUNK_BYTES)

    def pieces(self) -> Iterator[Lines]:
        """Yield the same in smaller batches, for a pass that has little to do with each."""
        return self._lines(_PIECE_BYTES)

    def _lines(self, size: int) -> Iterator[Lines]:
        self.problems.clear()
        for data in read(self, self.compression, self.problems, size):
            yield Lines(data, False)
        yield Lines(b"", True)

    def columns(self) -> list[str]:
        """Return the columns of the first objects, as far as these can be read."""
        names: dict[str, None] = {}
        for line in next(read(self, self.compression, []), b"").split(b"\n")[:_LOOKED_AT]:
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                continue
            names |= dict.fromkeys(found) if isinstance(found, dict) else {}
        self.done = 0
        return list(names)

    def kept(self, mask: bytes, make: Callable[[bytes], Filter] = LineFilter) -> Iterator[tuple[bytes, list[Removed]]]:
        """Yield the lines that the mask keeps, and those that it does not."""
        lines = make(mask)
        for batch in self.pieces():
            yield lines.feed(batch.data, batch.last)


def read(source: InPlace, compression: str | None, problems: list[Problem], size: int = CHUNK_BYTES) -> Iterator[bytes]:
    """Yield what can be had of a file, expanded; what cannot is a problem."""
    total = source.done = 0
    try:
        with source.place.open() as file:
            for data in chunks(cast(BinaryIO, _Counted(file, source)), compression, size):
                total += len(data)
                yield data
    except Exception as error:
        # What reaches files elsewhere has exceptions of its own.
        if source.place.path is not None and not isinstance(error, RefusedError | OSError):
            raise
        where = f"after {total:,} bytes" if total else ""
        problems.append(Problem(source.name, where, reason_of(error)))


def reason_of(error: Exception) -> str:
    """Return why something could not be read, in one line."""
    if isinstance(error, RefusedError):
        return str(error)
    if isinstance(error, OSError):
        return why(error)
    return f"cannot be read: {(str(error).splitlines() or [type(error).__name__])[0]}"


class _Counted:
    """A file that tells its source how far it is read."""

    def __init__(self, file: BinaryIO, source: InPlace) -> None:
        self._file = file
        self._source = source

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._source.done += len(data)
        return data
