"""One state of the catalogue: what an index consists of after a commit, and the change that leads to the next state.

A state is checked before anything is believed that it says: SQLite has no checksums of its own, and the file may come
from a stranger. ``seal`` is a digest of all of it and is compared each time a state is read.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import struct
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lookalike.archive.delivering import Pending
from lookalike.archive.folder import MOST_SEGMENTS, segment_name, segment_number

#: Limits of what a catalogue may say. More is damage.
MOST_ROWS = 2**32
MOST_ARRIVALS = 2**62
MOST_GENERATIONS = 2**62
MOST_BYTES = 2**62
#: Single values that a catalogue may lack.
OPTIONAL = ("shadows", "run", "outputs")
_RUN = re.compile(r"[0-9a-f]{16}:[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """A segment as the catalogue lists it. Arrivals of its documents lie in [first, last]."""

    number: int
    seal: int
    length: int
    rows: int
    first: int
    last: int
    level: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return segment_name(self.number)

    def stored(self) -> tuple[Any, ...]:
        """Return the row as SQLite stores it."""
        return self.number, self.name, f"{self.seal:x}", self.length, self.rows, self.first, self.last, self.level

    @classmethod
    def of(cls, row: Sequence[Any]) -> SegmentRow:
        """Read a stored row. Errors: ``ValueError`` for anything out of range."""
        number, name, seal, length, rows, first, last, level = row
        counts = (
            (number, 1, MOST_SEGMENTS),
            (length, 1, MOST_BYTES),
            (rows, 1, MOST_ROWS),
            (first, 1, MOST_ARRIVALS),
            (last, first, MOST_ARRIVALS),
            (level, 0, 64),
        )
        for value, least, most in counts:
            if type(value) is not int or not least <= value <= most:
                raise ValueError("a number of a segment is out of range")
        if name != segment_name(number) or type(seal) is not str or last - first + 1 < rows:
            raise ValueError("a segment is inconsistent")
        made = cls(number, int(seal, 16), length, rows, first, last, level)
        if made.stored()[2] != seal:
            raise ValueError("the seal of a segment is no number")
        return made


@dataclass(frozen=True)
class State:
    """Everything that the catalogue says, except the records of the tail."""

    uuid: str
    #: The parameters as JSON.
    parameters: str
    generation: int = 0
    next_segment: int = 1
    next_arrival: int = 1
    #: Segments in the order of arrival.
    segments: tuple[SegmentRow, ...] = ()
    #: Removed rows by number of segment: one bit per row, the lowest first. Segments without any are absent.
    removed: Mapping[int, bytes] = field(default_factory=dict)
    #: Arrivals of the documents in the tail, ascending.
    arrivals: tuple[int, ...] = ()
    #: Names of files that no longer, or not yet, belong to the index.
    garbage: frozenset[str] = frozenset()
    #: Number of live rows that dedup removed; ``None`` if they must be counted.
    shadows: int | None = None
    #: The run of ``dedup`` that adds rows and has not finished: its name, a colon, and its first arrival. Else empty.
    run: str = ""
    #: The outputs of that run, once it is decided and they wait for their names (``Pending``). Else empty.
    outputs: str = ""

    def about(self) -> dict[str, Any]:
        """Return the single values, by name, as SQLite stores them."""
        names = ("uuid", "parameters", "generation", "next_segment", "next_arrival")
        told = {name: getattr(self, name) for name in names}
        # Values that are not known, or say nothing, are left out.
        return told | {name: value for name in OPTIONAL if (value := getattr(self, name)) not in (None, "")}

    def seal(self) -> str:
        """Return the digest of the state (FORMAT.md). Cost: linear in the bitmaps and the documents in the tail."""
        told = [self.about(), [one.stored() for one in self.segments], sorted(self.garbage)]
        whole = hashlib.blake2b(json.dumps(told, sort_keys=True, separators=(",", ":")).encode(), digest_size=16)
        for number, bitmap in sorted(self.removed.items()):
            whole.update(struct.pack("<QQ", number, len(bitmap)))
            whole.update(bitmap)
        numbers = array("q", self.arrivals)
        if sys.byteorder == "big":
            numbers.byteswap()
        whole.update(numbers.tobytes())
        return whole.hexdigest()

    def check(self) -> None:
        """Check that everything is in range and fits. Errors: ``ValueError``."""
        for value, most in (
            (self.generation, MOST_GENERATIONS),
            (self.next_segment, MOST_SEGMENTS),
            (self.next_arrival, MOST_ARRIVALS),
        ):
            if type(value) is not int or not 0 <= value <= most:
                raise ValueError("a counter is out of range")
        ends = [0, *(one.last for one in self.segments)]
        if any(one.first <= end for one, end in zip(self.segments, ends, strict=False)):
            raise ValueError("segments overlap")
        arrived = [ends[-1], *self.arrivals, self.next_arrival]
        if any(later <= earlier for earlier, later in itertools.pairwise(arrived)):
            raise ValueError("arrivals are not in order")
        if any(one.number >= self.next_segment for one in self.segments):
            raise ValueError("a segment has a number that was not given out")
        # Names that are deleted: only those of segments, and of none that is in use.
        if any(segment_number(str(name)) is None for name in self.garbage):
            raise ValueError("garbage is no segment")
        if not self.garbage.isdisjoint(one.name for one in self.segments):
            raise ValueError("a segment is garbage")
        if self.shadows is not None and (type(self.shadows) is not int or not 0 <= self.shadows <= self.rows):
            raise ValueError("the number of rows that dedup removed is out of range")
        if self.run and (type(self.run) is not str or not _RUN.fullmatch(self.run)):
            raise ValueError("an unfinished run has no name")
        if self.outputs:
            Pending.of(self.outputs)
            if not self.run:
                raise ValueError("outputs belong to no run")
        self._check_removed()

    def _check_removed(self) -> None:
        rows = {one.number: one.rows for one in self.segments}
        for number, bitmap in self.removed.items():
            if number not in rows or len(bitmap) != bitmap_bytes(rows[number]):
                raise ValueError("a bitmap of removed rows does not fit its segment")
            if rows[number] % 8 and bitmap[-1] >> rows[number] % 8:
                raise ValueError("a bitmap of removed rows marks rows that do not exist")

    @property
    def removed_rows(self) -> int:
        """The number of removed rows in all segments."""
        return sum(count(bitmap) for bitmap in self.removed.values())

    @property
    def rows(self) -> int:
        """The number of live documents and shadows."""
        return sum(one.rows for one in self.segments) - self.removed_rows + len(self.arrivals)


@dataclass
class Change:
    """What one commit does. Empty fields change nothing."""

    #: Segments that take the place of those with these numbers; without any they are appended.
    made: Sequence[SegmentRow] = ()
    dropped: frozenset[int] = frozenset()
    #: Bitmaps of segments that stay.
    removed: Mapping[int, bytes] = field(default_factory=dict)
    #: Records of new documents, and arrivals of documents that leave the tail.
    tail: Sequence[tuple[int, bytes]] = ()
    untailed: frozenset[int] = frozenset()
    #: Names that become garbage, and names that are none any more.
    garbage: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    #: How many numbers are given out.
    segments: int = 0
    arrivals: int = 0
    parameters: str | None = None
    #: How many more live rows that dedup removed there are; ``None`` if they must be counted.
    shadows: int | None = 0
    #: The unfinished run, empty for none; ``None`` if it stays. Outputs that are not given here go with it.
    run: str | None = None
    outputs: str = ""

    def after(self, state: State) -> State:
        """Return the state that it leads to."""
        staying = [one for one in state.segments if one.number not in self.dropped]
        segments = tuple(sorted((*staying, *self.made), key=lambda one: one.first))
        numbers = {one.number for one in segments}
        removed = {number: bitmap for number, bitmap in {**state.removed, **self.removed}.items() if number in numbers}
        left = (arrival for arrival in state.arrivals if arrival not in self.untailed)
        return replace(
            state,
            parameters=state.parameters if self.parameters is None else self.parameters,
            generation=state.generation + 1,
            next_segment=state.next_segment + self.segments,
            next_arrival=state.next_arrival + self.arrivals,
            segments=segments,
            removed={number: bitmap for number, bitmap in removed.items() if any(bitmap)},
            arrivals=(*left, *(arrival for arrival, _ in self.tail)),
            garbage=(state.garbage | self.garbage) - self.kept,
            shadows=None if state.shadows is None or self.shadows is None else state.shadows + self.shadows,
            run=state.run if self.run is None else self.run,
            outputs=self.outputs or (state.outputs if self.run is None else ""),
        )


def label(state: State, first: int, last: int) -> bytes:
    """Return what a segment says of itself: the parameters and the id of its index, and the arrivals that it holds."""
    told = {"parameters": json.loads(state.parameters), "index": state.uuid, "first": first, "last": last}
    return json.dumps(told, sort_keys=True, separators=(",", ":")).encode()


def bitmap_bytes(rows: int) -> int:
    """Return how many bytes a bitmap of so many rows has."""
    return (rows + 7) // 8


def marked(bitmap: bytes | None, rows: int, new: Iterable[int]) -> bytes:
    """Return a bitmap with more rows marked.

    >>> marked(None, 10, [0, 9])
    b'\\x01\\x02'
    """
    bits = bytearray(bitmap_bytes(rows) if bitmap is None else bitmap)
    for row in new:
        bits[row >> 3] |= 1 << (row & 7)
    return bytes(bits)


def is_marked(bitmap: bytes | None, row: int) -> bool:
    """Return whether a row is marked."""
    return bitmap is not None and bool(bitmap[row >> 3] >> (row & 7) & 1)


def count(bitmap: bytes) -> int:
    """Return how many rows are marked."""
    return int.from_bytes(bitmap, "little").bit_count()
