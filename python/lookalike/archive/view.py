"""One state of an index, for reading: its segments, the removed rows, and the tail. It never changes.

Making a view costs the opening of segments that were not open yet, and the indexing of new documents of the tail. The
segment files of a view stay readable after the writer has replaced and unlinked them, until the view is closed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Self

from lookalike import _core
from lookalike._types import bytes_of, text_of
from lookalike.archive import faults
from lookalike.archive.catalogue import Catalogue
from lookalike.archive.closing import Closing
from lookalike.archive.folder import Folder
from lookalike.archive.parameters import Parameters, parsed
from lookalike.archive.state import SegmentRow, State, is_marked, marked
from lookalike.archive.state import count as marks
from lookalike.archive.tail import Tail
from lookalike.archive.where import matches, pairs
from lookalike.errors import DamagedError

SHADOW, TEMPLATE = 1, 2
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Entry:
    """A document of an index: its id and what is known of it.

    >>> Entry("essay-7", {"label": "2025-hw3"}, None, 0, "00" * 16, 12, "word", 80).label
    '2025-hw3'
    """

    id: str
    #: Title, person, label, files, the languages they were read as, and further fields, as they were given.
    meta: Mapping[str, Any]
    #: Seconds since 1970 as told by the source, or ``None``.
    time: int | None
    flags: int
    #: The hash of its readable text, in hexadecimal digits.
    content: str
    #: How many words, characters or lines the readable text has: ``unit`` is what the shingles of the index consist of.
    #: Passages count tokens of the language instead, so `Queried.tokens` is another number.
    length: int
    unit: str
    #: Bytes of the readable text.
    bytes: int

    @property
    def label(self) -> str | None:
        """The label that it was added with."""
        return self.meta.get("label")

    @property
    def title(self) -> str:
        """Its title; its id where it has none."""
        return str(self.meta.get("title", self.id))

    @property
    def is_template(self) -> bool:
        """Whether it is starter code, which is never reported."""
        return bool(self.flags & TEMPLATE)

    def to_json(self) -> dict[str, Any]:
        """Return the document as values that JSON can hold."""
        size = {"length": self.length, "unit": self.unit, "bytes": self.bytes}
        shown = {"id": self.id, **self.meta, "content": self.content, **size}
        if self.time is not None:
            shown.setdefault("time", written(self.time))
        if self.is_template:
            shown["template"] = True
        return shown


def entry(row: _core.StoredRow, parameters: Parameters) -> Entry:
    """Return a stored row of an index with these parameters as a document."""
    size = (row.length, parameters.dedup.unit, row.bytes)
    return Entry(text_of(row.id), meta_of(row.meta), row.time, row.flags, bytes(row.content).hex(), *size)


def meta_of(meta: bytes) -> dict[str, Any]:
    """Return metadata as a dictionary; one that is no JSON object, which only a stranger can make, is empty.

    A number that no double holds, such as 1e400, is ``None``: written again, it would be no JSON.
    """
    try:
        found = _META.decode(meta.decode("utf-8", "surrogatepass")) if meta else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


#: Making one takes longer than reading the metadata of a document.
_META = json.JSONDecoder(parse_float=_finite, parse_constant=lambda _: None)


def written(time: int) -> str | int:
    """Return a time as ISO 8601 in UTC; as seconds since 1970 where the calendar of Python ends."""
    try:
        return f"{(_EPOCH + timedelta(seconds=time)).isoformat()}Z"
    except OverflowError:
        return time


@dataclass
class View(Closing):
    """A state of the documents of an index. Use it in a ``with`` statement, or close it.

    Numbers of documents ascend in the order of arrival; removed documents leave gaps.
    """

    name: str
    state: State
    parameters: Parameters
    core: _core.Snapshot
    #: Segments and bitmaps of removed rows: files first, then those of the tail.
    parts: list[tuple[_core.Segment, bytes | None]] = field(repr=False)
    #: The arrival of a row of a piece of the tail.
    arrival: Callable[[int, int], int] = field(repr=False)
    _starter: _core.Starter | None = field(default=None, init=False, repr=False, compare=False)
    #: Numbers of documents by conditions, as far as they were asked for.
    _counts: dict[tuple[tuple[str, str], ...], int] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def generation(self) -> int:
        """The number of the commit that it shows."""
        return self.state.generation

    def __len__(self) -> int:
        return self.core.live - self.core.shadows

    def count(self, where: Mapping[str, Any] | None = None) -> int:
        """Return how many documents questions are asked of: not starter code; ``where``: only those with these values.

        Cost: linear in the documents the first time.
        """
        wanted = tuple(pairs(where))
        if not wanted and self.parameters.kind != "class":
            return len(self)
        if wanted not in self._counts:
            self._counts[wanted] = self.core.count_where(list(wanted))
        return self._counts[wanted]

    def prefix(self, number: int) -> str:
        """Return what stands before the id of a document; only indexes that are asked together have something."""
        return ""

    def rows(self) -> Iterator[tuple[int, _core.StoredRow]]:
        """Yield numbers and rows of all documents, in the order of arrival; without what dedup removed."""
        return (one for one in self.every_row() if not one[1].flags & SHADOW)

    def every_row(self) -> Iterator[tuple[int, _core.StoredRow]]:
        """Yield numbers and rows of all documents and shadows, in the order of arrival."""
        number = 0
        for segment, bitmap in self.parts:
            for row in range(segment.rows):
                if bitmap is None or not bitmap[row >> 3] >> (row & 7) & 1:
                    yield number + row, segment.row(row)
            number += segment.rows

    def records(self, chunk: int = 8192) -> Iterator[bytes]:
        """Yield the records of ``every_row``. All keys of a segment are read once per chunk."""
        for segment, bitmap in self.parts:
            for start in range(0, segment.rows, chunk):
                found = segment.records(start, min(start + chunk, segment.rows))
                for row, record in enumerate(found, start):
                    if bitmap is None or not bitmap[row >> 3] >> (row & 7) & 1:
                        yield record

    def documents(self, where: Mapping[str, str] | None = None) -> Iterator[Entry]:
        """Yield all documents in the order of arrival; ``where``: only those with these values."""
        accepts = conditions(where)
        for _, row in self.rows():
            if accepts(row.meta):
                yield entry(row, self.parameters)

    def document(self, id_: str | bytes) -> Entry | None:
        """Return the document with an id, or ``None``."""
        number = self.core.find_ids([bytes_of(id_)])[0]
        return None if number is None else entry(self.core.row(number), self.parameters)

    def starter(self, asker: _core.Asker) -> _core.Starter | None:
        """Return the shingles of starter code, which are not counted; ``None`` if there are none. Made once."""
        if self.parameters.kind != "class" or not self.parameters.texts:
            return None
        if self._starter is None:
            self._starter = asker.starter(self.core)
        return self._starter if len(self._starter) else None

    def texts(self, id_: str | bytes) -> list[tuple[bytes, str]]:
        """Return names and readable texts of the files of a document; nothing if it is not there, or has none."""
        number = self.core.find_ids([bytes_of(id_)])[0]
        return [] if number is None else self.core.texts(number)

    def first_of_last(self, count: int) -> int:
        """Return the number of the first of so many documents and shadows that came last; 0 if there are fewer."""
        number = self.core.rows
        for segment, bitmap in reversed(self.parts):
            live = segment.rows - (marks(bitmap) if bitmap is not None else 0)
            if count >= live:
                count, number = count - live, number - segment.rows
                continue
            row = segment.rows
            while count:
                row -= 1
                count -= not is_marked(bitmap, row)
            return number - segment.rows + row
        return 0

    def without(self, numbers: Iterable[int]) -> Self:
        """Return the same state without some documents and shadows."""
        gone: dict[int, list[int]] = {}
        for number in numbers:
            part, row = self.core.place(number)
            gone.setdefault(part, []).append(row)
        parts = list(self.parts)
        for part, rows in gone.items():
            segment, bitmap = parts[part]
            parts[part] = segment, marked(bitmap, segment.rows, rows)
        return replace(self, core=_core.Snapshot(parts), parts=parts)

    def close(self) -> None:
        """Let go of the files."""
        self.parts = []


def conditions(where: Mapping[str, str] | None) -> Callable[[bytes], bool]:
    """Return what tells whether metadata has certain values."""
    if not where:
        return lambda _meta: True
    return lambda meta: matches(meta, where)


class Views:
    """Makes views of the newest state, and keeps open what neighbouring states share.

    Threads share it: a state is read and shown in one turn of the catalogue, so that none overtakes another.
    """

    def __init__(self, name: str, folder: Folder, catalogue: Catalogue) -> None:
        self._name, self._folder, self._catalogue = name, folder, catalogue
        self._segments: dict[int, _core.Segment] = {}
        self._tail: Tail | None = None
        self._latest: View | None = None

    def latest(self, *, is_current: bool = False) -> View:
        """Return a view of the newest state; ``is_current``: nobody else can have changed it since the last one.

        Errors: ``DamagedError`` if a file is missing or not the one that is listed, ``OSError``.
        """
        with self._catalogue.turn:
            while True:
                if self._latest is not None:
                    if is_current:
                        return self._latest
                    generation = self._catalogue.generation()
                    if generation == self._latest.generation:
                        return self._latest
                    if generation < self._latest.generation:
                        # Someone has put an older catalogue in its place: nothing of the newer one counts.
                        self._segments, self._tail, self._latest = {}, None, None
                view = self.show(*self._catalogue.read(0 if self._tail is None else self._tail.last))
                if view is not None:
                    return view

    def show(self, state: State, new: list[tuple[int, bytes]]) -> View | None:
        """Return a view of a state and its new records; ``None`` if the writer has replaced files meanwhile.

        A state that is older than the one last shown is passed over: it was read before and comes late.
        """
        with self._catalogue.turn:
            if self._latest is not None and state.generation < self._latest.generation:
                return self._latest
            try:
                segments = {one.number: self._segment(one) for one in state.segments}
            except FileNotFoundError as error:
                if self._catalogue.generation() != state.generation:
                    return None
                raise faults.damaged(str(error.filename), "it is missing") from None
            return self._shown(state, segments, new)

    def _shown(self, state: State, segments: dict[int, _core.Segment], new: list[tuple[int, bytes]]) -> View:
        parameters = parsed(state.parameters, self._folder.catalogue)
        if self._tail is None or self._latest is None or self._latest.state.parameters != state.parameters:
            self._tail = Tail(state.parameters.encode())
        try:
            self._tail.update(state.arrivals, new)
        except DamagedError as error:
            raise faults.damaged(self._folder.catalogue, f"a record of the tail cannot be read ({error})") from None
        if len(self._tail) != len(state.arrivals):
            raise faults.damaged(self._folder.catalogue, "records of the tail are missing")
        self._segments = segments
        parts = [(segments[one.number], state.removed.get(one.number)) for one in state.segments] + self._tail.parts()
        self._latest = View(
            self._name, state, parameters, _core.Snapshot(parts, state.shadows), parts, self._tail.snapshot()
        )
        return self._latest

    def _segment(self, row: SegmentRow) -> _core.Segment:
        """Open a segment, or return it if it is open. Errors: ``DamagedError``, ``FileNotFoundError``, ``OSError``."""
        if row.number in self._segments:
            return self._segments[row.number]
        path = self._folder.file(row.name)
        segment = _core.Segment.open(path)
        if (segment.rows, segment.length, segment.seal) != (row.rows, row.length, row.seal):
            raise faults.damaged(path, "it is not the file that the catalogue lists")
        return segment

    def tail(self) -> Tail:
        """Return the tail of the newest view. REQUIRES: ``latest`` was called."""
        assert self._tail is not None
        return self._tail
