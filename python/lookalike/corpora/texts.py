"""Reads documents: each file is a row, its path is its id. Files are copied unchanged.

A page of HTML, a PDF, a Word file, a notebook or a mail is its readable text, as in a comparison; text and code are
their bytes. Cost for these: reading the file and a look at its name and first bytes.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lookalike._types import Problem
from lookalike.corpora.batches import CHUNK_BYTES, RECORD_BYTES, Texts, remarks
from lookalike.corpora.compression import by_content, by_suffix, chunks
from lookalike.corpora.lines import reason_of
from lookalike.corpora.places import Place
from lookalike.documents.reasons import RefusedError, too_large
from lookalike.errors import FrontendError
from lookalike.frontends import installed
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
    #: Whether files are taken as the bytes they are, whatever their format.
    is_raw: bool = False
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
        """Yield the readable text of the files; ``None`` for files that have none."""
        self.problems.clear()
        notes: Counter[str] = Counter()
        rows: list[tuple[str | None, bytes | str | None]] = []
        total = self.done = 0
        for place in self.places:
            text = self._text(place, notes)
            rows.append((place.below or place.name, text))
            total += len(text or b"")
            if total >= CHUNK_BYTES or len(rows) >= _MOST_FILES:
                yield Texts(rows)
                rows, total = [], 0
        self.problems += remarks(self.name, notes, "document")
        if rows:
            yield Texts(rows)

    def named(self) -> Iterator[Texts]:
        """Yield the ids of all rows, without reading the files."""
        self.done = 0
        yield Texts([(place.below or place.name, None) for place in self.places])

    def _text(self, place: Place, notes: Counter[str]) -> bytes | str | None:
        where = place.below or place.name
        try:
            data = read_whole(place)
            self.done += len(data)
            if self.is_raw:
                if is_binary(data):
                    raise RefusedError("binary, not a text")
                return data
            found = installed().extract(by_suffix(where)[0], data)
        except (RefusedError, OSError, FrontendError) as error:
            reason = str(error) if isinstance(error, FrontendError) else reason_of(error)
            self.problems.append(Problem(self.name, where, f"{reason}; it is not compared", 1))
            return None
        notes.update(note.partition(":")[0] for note in found.notes)
        return found.text


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
