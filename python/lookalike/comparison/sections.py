"""Joins neighbouring passages of a pair of texts into sections: a copy with changed words reads as one piece again.

A piece is a passage, and later what was joined: all from its first to its last character, on both sides. Two pieces of
the same two files are joined if at most ``GAP`` characters lie between them on the left and at most ``GAP`` on the
right, whichever comes first on either side. This goes on until no two pieces can be joined. The result is the finest
division in which all pieces are farther apart than ``GAP`` on one side or the other, so neither the order of passages
nor the order of joining changes it, no two sections overlap on both sides, and a passage is in at most one of them.
Pieces with fewer than ``LETTERS`` letters in passages are no sections: set phrases and names are as long.

Passages never change. Further copies of parts of passages ("repeat") and equal literals join nothing.

Cost: a sweep compares a piece with those that lie within ``GAP`` of it on the left. Passages hardly overlap and have k
letters or more, so those are about 2 · ``GAP`` / k at most: each sweep is linear, and sorting takes n log n. Sweeps are
repeated while they join something: up to three of them for nearly all pairs of real texts, six at most so far.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from lookalike.comparison.result import Entry, File, Pair, Passage, Region, Report, Section

#: Characters between two passages that belong together, on each side at most. Of 300 to 2,000, tried on a sixth of the
#: PAN 2013 training corpus, 500 and 800 gave the best plagdet; with 500 less is joined that does not belong together.
GAP = 500
#: Letters that the passages of a section have together at least: 60 was better than 100 and 150 there.
LETTERS = 60
PROSE = "text"
_BETWEEN_LETTERS = re.compile(r"[\W_]+")


class Piece(NamedTuple):
    """Passages that were joined: their extent on both sides, how many they are, and their letters."""

    left: Region
    right: Region
    passages: int
    letters: int


def with_sections(report: Report) -> Report:
    """Return a report whose pairs have the sections of their texts."""
    if not any(file.language == PROSE for entry in report.entries for file in entry.files):
        return report
    lists = (report.pairs, report.contained, report.little, report.shared)
    pairs, contained, little, shared = (tuple(_with_own(pair, report.entries) for pair in one) for one in lists)
    return replace(report, pairs=pairs, contained=contained, little=little, shared=shared)


def _with_own(pair: Pair, entries: Sequence[Entry]) -> Pair:
    found = sections_of(pair.passages, entries[pair.left].files, entries[pair.right].files)
    return replace(pair, sections=found) if found else pair


def sections_of(passages: Iterable[Passage], left: Sequence[File], right: Sequence[File]) -> tuple[Section, ...]:
    """Return the sections of passages between two submissions, in the order of the left one."""
    together = defaultdict(list)
    for passage in passages:
        a, b = passage.left.file, passage.right.file
        if passage.sort == "run" and left[a].language == right[b].language == PROSE:
            together[a, b].append(Piece(passage.left, passage.right, 1, passage.tokens))
    # Most pairs of texts share a set phrase or two: too little for a section, however it is joined.
    enough = (pieces for pieces in together.values() if sum(piece.letters for piece in pieces) >= LETTERS)
    found = (piece for pieces in enough for piece in joined(pieces) if piece.letters >= LETTERS)
    told = (Section(*piece, _same(piece, left, right)) for piece in found)
    return tuple(sorted(told))


def joined(pieces: list[Piece]) -> list[Piece]:
    """Join pieces of the same two files until all are farther apart than ``GAP`` on one side or the other."""
    while True:
        fewer = _swept(sorted(pieces))
        if len(fewer) == len(pieces):
            return fewer
        pieces = fewer


def _swept(pieces: list[Piece]) -> list[Piece]:
    """Join, in one sweep from left to right, all pieces that are connected by neighbours."""
    parent = list(range(len(pieces)))
    near: list[int] = []
    for i, (left, right, *_) in enumerate(pieces):
        near = [j for j in near if pieces[j].left.end + GAP >= left.start]
        for j in near:
            other = pieces[j].right
            if other.end + GAP >= right.start and right.end + GAP >= other.start:
                parent[_root(parent, j)] = _root(parent, i)
        near.append(i)
    groups = defaultdict(list)
    for i, piece in enumerate(pieces):
        groups[_root(parent, i)].append(piece)
    return [_hull(group) for group in groups.values()]


def _root(parent: list[int], i: int) -> int:
    """Return the group of a piece; paths are halved on the way."""
    while parent[i] != i:
        parent[i] = i = parent[parent[i]]
    return i


def _hull(pieces: list[Piece]) -> Piece:
    if len(pieces) == 1:
        return pieces[0]
    return Piece(
        _around([piece.left for piece in pieces]),
        _around([piece.right for piece in pieces]),
        sum(piece.passages for piece in pieces),
        sum(piece.letters for piece in pieces),
    )


def _around(regions: list[Region]) -> Region:
    """Return the region from the first to the last character of all."""
    extreme: tuple[tuple[Callable[..., int], int], ...] = ((min, 1), (max, 2), (min, 3), (max, 4))
    return Region(regions[0].file, *(choose(region[at] for region in regions) for choose, at in extreme))


def _same(piece: Piece, left: Sequence[File], right: Sequence[File]) -> float:
    """Return the share of letters that lie in passages, on the side that has more letters."""
    longer = max(_letters(left, piece.left), _letters(right, piece.right))
    return min(1.0, piece.letters / longer) if longer else 1.0


def _letters(files: Sequence[File], region: Region) -> int:
    """Count the letters and digits of a region."""
    return len(_BETWEEN_LETTERS.sub("", files[region.file].text[region.start : region.end]))
