"""Decides which segments are merged: neighbours of similar size, so that rows stay in the order of arrival for ever.

Segments are in tiers by size: tier 0 below ``tier_bytes``, and each further tier ``fan_in`` times as large. As soon as
a run of neighbours of at most one tier has ``fan_in`` members of that tier, the run is merged into one. So a document
is rewritten about once per tier, and there are fewer than ``fan_in`` segments per tier (O'Neil 1996, size-tiered).
A segment of which more than half the rows are removed is rewritten alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lookalike.archive.state import SegmentRow, count


@dataclass(frozen=True)
class Policy:
    """Sizes that decide when documents move from the tail to a segment, and when segments are merged."""

    #: Most documents and bytes of the tail.
    tail_documents: int = 4_096
    tail_bytes: int = 16 << 20
    #: How many neighbours are merged at a time.
    fan_in: int = 8
    #: Size of the largest segment of tier 0, in bytes.
    tier_bytes: int = 16 << 20
    #: Bytes of records after which a large add commits what it has, as one segment.
    batch_bytes: int = 64 << 20
    #: Bytes of a file that is given up when the disk is full, so that documents can still be removed; 0 for none.
    reserve: int = 256 << 10
    #: Bytes of memory for sorting while a segment is written.
    memory: int = 256 << 20
    #: Most documents of a segment: rows are numbered with 32 bits.
    most_rows: int = 2**32 - 1

    def tier(self, length: int) -> int:
        """Return the tier of a segment of so many bytes.

        >>> [Policy().tier(mib << 20) for mib in (1, 16, 128, 1024)]
        [0, 1, 2, 3]
        """
        tier, limit = 0, self.tier_bytes
        while length >= limit and tier < 60:
            tier, limit = tier + 1, limit * self.fan_in
        return tier

    def is_full(self, documents: int, size: int) -> bool:
        """Return whether a tail of so many documents and bytes must become a segment."""
        return documents > self.tail_documents or size > self.tail_bytes

    def plan(self, segments: Sequence[SegmentRow], removed: Mapping[int, bytes]) -> Sequence[SegmentRow]:
        """Return the neighbours to merge next, or one segment to rewrite; nothing if all is well."""
        for one in segments:
            if one.number in removed and 2 * count(removed[one.number]) > one.rows:
                return [one]
        tiers = [one.level for one in segments]
        for tier in sorted(set(tiers)):
            for start, end in _runs(tiers, tier):
                for run in self.fitting(segments[start:end], removed):
                    if sum(one.level == tier for one in run) >= self.fan_in:
                        return run
        return []

    def fitting(self, segments: Sequence[SegmentRow], removed: Mapping[int, bytes]) -> list[Sequence[SegmentRow]]:
        """Cut neighbours into runs whose live documents fit one segment each, as long as possible from the first on."""
        runs: list[list[SegmentRow]] = []
        room = 0
        for one in segments:
            live = one.rows - count(removed.get(one.number, b""))
            if live > room or not runs:
                runs.append([])
                room = self.most_rows
            runs[-1].append(one)
            room -= live
        return list[Sequence[SegmentRow]](runs)


def _runs(tiers: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """Yield the longest runs of neighbours of at most a tier, as [start, end).

    >>> list(_runs([3, 0, 0, 2, 1], 1))
    [(1, 3), (4, 5)]
    """
    start = 0
    for place, tier in enumerate([*tiers, most + 1]):
        if tier > most:
            if place > start:
                yield start, place
            start = place + 1
