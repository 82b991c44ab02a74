"""The newest documents of an index, which wait in the catalogue until they fill a segment; searched in memory.

They are held as segments in memory whose sizes at least halve from old to new, like the digits of a binary number: a
new document makes a segment of one, and neighbours of similar size become one. So a search visits at most log2(n) + 1
segments, and a document is indexed again each time its segment has grown by half.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lookalike import _core
from lookalike.archive.state import marked


@dataclass(frozen=True)
class _Piece:
    """Documents that arrived together, as one segment in memory; some of them may be removed."""

    arrivals: tuple[int, ...]
    records: tuple[bytes, ...]
    segment: _core.Segment
    #: Rows that were removed.
    gone: frozenset[int] = frozenset()

    @property
    def live(self) -> list[tuple[int, bytes]]:
        rows = zip(self.arrivals, self.records, strict=True)
        return [one for row, one in enumerate(rows) if row not in self.gone]

    def __len__(self) -> int:
        return len(self.arrivals) - len(self.gone)

    def bitmap(self) -> bytes | None:
        return marked(None, len(self.arrivals), self.gone) if self.gone else None


class Tail:
    """The documents of the tail, as segments in memory."""

    def __init__(self, parameters: bytes) -> None:
        self._parameters = parameters
        self._pieces: list[_Piece] = []

    @property
    def last(self) -> int:
        """The arrival of the newest document that it ever had in its pieces; 0 for none."""
        return self._pieces[-1].arrivals[-1] if self._pieces else 0

    def update(self, arrivals: Sequence[int], new: Sequence[tuple[int, bytes]]) -> None:
        """Take over a new state: drop what is no longer among ``arrivals``, append the ``new`` records.

        Errors: ``DamagedError`` if a record cannot be read.
        """
        known = set(arrivals)
        pieces = [_without(piece, known) for piece in self._pieces]
        self._pieces = [piece for piece in pieces if len(piece)]
        last = self.last
        fresh = [(arrival, record) for arrival, record in new if arrival > last and arrival in known]
        if fresh:
            self._pieces.append(self._piece(fresh))
        self._join()

    def _join(self) -> None:
        """Join neighbours until each piece has at least twice as many documents as the next."""
        place = len(self._pieces) - 1
        while place > 0:
            left, right = self._pieces[place - 1 : place + 1]
            if len(left) < 2 * len(right):
                self._pieces[place - 1 : place + 1] = [self._piece([*left.live, *right.live])]
                place = min(place + 1, len(self._pieces))
            place -= 1

    def _piece(self, documents: Sequence[tuple[int, bytes]]) -> _Piece:
        arrivals, records = zip(*documents, strict=True)
        return _Piece(arrivals, records, _core.Segment.of_records(list(records), self._parameters))

    def parts(self) -> list[tuple[_core.Segment, bytes | None]]:
        """Return its segments in the order of arrival, each with a bitmap of its removed rows."""
        return [(piece.segment, piece.bitmap()) for piece in self._pieces]

    def snapshot(self) -> Callable[[int, int], int]:
        """Return what tells the arrival of a row of one of ``parts``, as they are now."""
        arrivals = [piece.arrivals for piece in self._pieces]
        return lambda piece, row: arrivals[piece][row]

    def documents(self) -> list[tuple[int, bytes]]:
        """Return arrivals and records of all live documents, in the order of arrival."""
        return [one for piece in self._pieces for one in piece.live]

    @property
    def nbytes(self) -> int:
        """Bytes of all records, removed ones included."""
        return sum(len(record) for piece in self._pieces for record in piece.records)

    def __len__(self) -> int:
        return sum(map(len, self._pieces))


def _without(piece: _Piece, known: set[int]) -> _Piece:
    """Return a piece with exactly the rows marked as gone that are not known."""
    gone = frozenset(row for row, one in enumerate(piece.arrivals) if one not in known)
    return piece if gone == piece.gone else replace(piece, gone=gone)
