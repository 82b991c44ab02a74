"""Reads text files: each file is a row, its path is its id. Files are copied unchanged."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lookalike._types import Problem
from lookalike.corpora.batches import CHUNK_BYTES, RECORD_BYTES, Texts
from lookalike.corpora.compression import by_content, chunks
from lookalike.corpora.lines import reason_of
from lookalike.corpora.places import Place
from lookalike.documents.reasons import RefusedError, too_large
from lookalike.frontends.decoding import is_binary

#: Files handed over at a time, however small.
_MOST_FILES = 1024


@dataclass
class TextSource:
    """The files of a folder, or individually named files."""

    name: str
    places: Sequence[Place]
    #: The folder, if there is one.
    folder: str | None = None
    problems: list[Problem] = field(default_factory=list)
    format: str = "text"
    #: Bytes read so far.
    done: int = 0

    @property
    def title(self) -> str:
        """The name of its output."""
        return os.path.basename(os.path.abspath(self.name)) if self.folder is not None else self.name

    @property
    def paths(self) -> list[str]:
        """The local paths that are read."""
        if self.folder is not None:
            return [self.folder]
        return [place.path for place in self.places if place.path is not None]

    @property
    def size(self) -> int:
        """Total size of the local files; missing files count 0."""
        paths = [place.path for place in self.places if place.path is not None]
        return sum(os.path.getsize(path) for path in paths if os.path.exists(path))

    @cached_property
    def names(self) -> list[str]:
        """Names of the copies, in row order."""
        from lookalike.corpora.sink import distinct

        return distinct([place.title for place in self.places])

    def batches(self) -> Iterator[Texts]:
        """Yield the content of the files; ``None`` for files that are not text."""
        self.problems.clear()
        rows: list[tuple[str | None, bytes | str | None]] = []
        total = self.done = 0
        for place in self.places:
            data = self._text(place)
            self.done += len(data or b"")
            rows.append((place.below or place.name, data))
            total += len(data or b"")
            if total >= CHUNK_BYTES or len(rows) >= _MOST_FILES:
                yield Texts(rows)
                rows, total = [], 0
        if rows:
            yield Texts(rows)

    def _text(self, place: Place) -> bytes | None:
        try:
            data = read_whole(place)
            if is_binary(data):
                raise RefusedError("binary, not a text")
        except (RefusedError, OSError) as error:
            where = place.below or place.name
            self.problems.append(Problem(self.name, where, f"{reason_of(error)}; it is not compared", 1))
            return None
        return data


def read_whole(place: Place) -> bytes:
    """Return the decompressed content of a file. Errors: ``RefusedError`` if too large or damaged, ``OSError``."""
    with place.open() as file:
        first = file.read(CHUNK_BYTES)
        compression = by_content(first)
        if compression is not None:
            file.seek(0)
            first = b""
        parts, total = [first], len(first)
        for part in chunks(file, compression):
            total += len(part)
            if total > RECORD_BYTES:
                raise too_large(RECORD_BYTES)
            parts.append(part)
    return b"".join(parts)
