"""Reads JSON Lines as UTF-8; the core parses the lines.

A row is a line with its line feed, or the rest of the file. Blank and unreadable lines are rows too: they are not
compared and are always kept, because a deduplication loses nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol, cast

from lookalike._types import Problem
from lookalike.corpora.batches import CHUNK_BYTES, Lines
from lookalike.corpora.compression import chunks
from lookalike.corpora.encodings import Coding, Removed, Rewriter, unmarked
from lookalike.corpora.places import InPlace, Place
from lookalike.documents.reasons import MIB, RefusedError, why

#: Bytes per piece in passes that only copy: pieces that fit the cache take a third of the time of large ones.
_PIECE_BYTES = MIB
#: Lines at the start of a file that are read to find its columns.
_LOOKED_AT = 100


class Filter(Protocol):
    """Removes rows from a stream of bytes."""

    def feed(self, data: bytes, last: bool) -> tuple[bytes, list[Removed]]:
        """Return the kept bytes of a chunk and the removed rows that end in it.

        Errors: ``ValueError`` if the number of rows differs from the mask at the last chunk.
        """


class LineFilter:
    """Removes lines: the reference for the core's filter. It holds at most one removed line."""

    def __init__(self, mask: bytes) -> None:
        self._mask = mask
        self._row = self._at = 0
        self._held: list[bytes] = []
        self._is_inside = False

    def feed(self, data: bytes, last: bool) -> tuple[bytes, list[Removed]]:
        """Return the kept bytes of a chunk and the removed lines. Errors: ``ValueError`` if the mask does not fit."""
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
    """An input changed after it was first read."""


def check_rows(found: int, expected: int) -> None:
    """Errors: ``ChangedError`` if the second pass finds other rows than the first."""
    if found != expected:
        word = "more" if found > expected else "only"
        raise ChangedError(f"the first pass read {expected:,} rows, the second {word} {found:,}: the input changed")


@dataclass
class LineSource(InPlace):
    """A file of JSON Lines."""

    place: Place
    compression: str | None
    problems: list[Problem] = field(default_factory=list)
    format: str = "jsonl"
    _coding: Coding = field(default=Coding(), init=False)

    def batches(self) -> Iterator[Lines]:
        """Yield the lines of the file, expanded, as UTF-8."""
        return self._lines(CHUNK_BYTES)

    def pieces(self) -> Iterator[Lines]:
        """Yield the same bytes in smaller batches, for a pass that does little with each."""
        return self._lines(_PIECE_BYTES)

    def _lines(self, size: int) -> Iterator[Lines]:
        self.problems.clear()
        raw = read(self, self.compression, self.problems, size)
        self._coding, pieces = unmarked(raw, self.name, self.problems)
        for data in pieces:
            yield Lines(data, False)
        yield Lines(b"", True)

    def columns(self) -> list[str]:
        """Return the columns of the first objects that can be read."""
        names: dict[str, None] = {}
        _, pieces = unmarked(read(self, self.compression, []), self.name, [])
        for line in next(pieces, b"").split(b"\n")[:_LOOKED_AT]:
            try:
                names |= dict.fromkeys(_paths(json.loads(line)))
            except (ValueError, RecursionError):
                continue
        self.done = 0
        return list(names)

    def kept(
        self, mask: bytes, make: Callable[[bytes], Filter] = LineFilter
    ) -> Iterator[tuple[bytes, Sequence[Removed]]]:
        """Yield kept bytes and removed lines."""
        lines = make(mask)
        rewriter: Rewriter | None = None
        for batch in self.pieces():
            if rewriter is None:
                rewriter = Rewriter(self._coding)
                yield self._coding.mark, []
            yield rewriter.feed(*lines.feed(batch.data, batch.last))


def _paths(found: object, above: str = "") -> Iterator[str]:
    """Yield the keys of an object, and those of objects inside it behind the key that holds them: ``doc.text``."""
    if isinstance(found, dict):
        for key, value in found.items():
            yield above + key
            yield from _paths(value, f"{above}{key}.")


def read(source: InPlace, compression: str | None, problems: list[Problem], size: int = CHUNK_BYTES) -> Iterator[bytes]:
    """Yield the expanded content of a file; unreadable parts become problems."""
    total = source.done = 0
    try:
        with source.place.open() as file:
            for data in chunks(cast(BinaryIO, _Counted(file, source)), compression, size):
                total += len(data)
                yield data
    except Exception as error:
        # Remote file systems raise exceptions of their own.
        if source.place.path is not None and not isinstance(error, RefusedError | OSError):
            raise
        where = f"after {total:,} bytes" if total else ""
        problems.append(Problem(source.name, where, reason_of(error)))


def reason_of(error: Exception) -> str:
    """Return the reason for a failed read in one line."""
    if isinstance(error, RefusedError):
        return str(error)
    if isinstance(error, OSError):
        return why(error)
    return f"cannot be read: {(str(error).splitlines() or [type(error).__name__])[0]}"


class _Counted:
    """A file that reports its position to its source."""

    def __init__(self, file: BinaryIO, source: InPlace) -> None:
        self._file = file
        self._source = source

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._source.done += len(data)
        return data
