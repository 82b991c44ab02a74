"""All partners of drawn texts in a corpus: those within a Hamming distance, and those at or above a resemblance.

Neither way misses one. Distances are scanned: a drawn fingerprint is compared with all, 0.3 ms for 100,000 of them,
and a distance of 10 leaves no table anything to gain. Resemblance goes by prefix filtering (Chaudhuri, Ganti, Kaushik
2006): of the n shingles of a text, another that resembles it by t lacks at most n − ⌈tn⌉, so it has one of *any*
n − ⌈tn⌉ + 1 of them; the rarest are asked for, and candidates are counted exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lookalike.lab.shared.setting import Integers, distinct
from lookalike.lab.simhash.simhashed import BITS, Words, popcount

#: Shingles that are looked up at a time.
BATCH = 1 << 20
#: Upper bits of a shingle; they reject most shingles that are not wanted, before a binary search.
UPPER = 26
#: The ends of a run of equal values.
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


@dataclass(frozen=True)
class Partners:
    """Pairs of a drawn text and another, with what they score; a pair of two drawn texts stands there twice."""

    drawn: Integers
    other: Integers
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.drawn)

    def where(self, mask: NDArray[np.bool_]) -> Partners:
        """Return some of them."""
        return Partners(self.drawn[mask], self.other[mask], self.scores[mask])

    def once(self) -> Partners:
        """Return each pair once, the smaller number first."""
        low, high = np.minimum(self.drawn, self.other), np.maximum(self.drawn, self.other)
        _, first = np.unique(np.stack([low, high]), axis=1, return_index=True)
        return Partners(low[first], high[first], self.scores[first])

    def keys(self, size: int) -> Integers:
        """Return a number for each entry by which two sets of partners among ``size`` texts can be compared."""
        return self.drawn * size + self.other


def _joined(parts: Sequence[tuple[int, Integers, NDArray[np.float64]]]) -> Partners:
    """Put the partners of each drawn text together."""
    drawn = np.repeat(
        np.array([row for row, _, _ in parts], dtype=np.int64),
        np.array([len(others) for _, others, _ in parts], dtype=np.int64),
    )
    others = [np.empty(0, np.int64), *(others for _, others, _ in parts)]
    scores = [np.empty(0), *(scores for _, _, scores in parts)]
    return Partners(drawn, np.concatenate(others), np.concatenate(scores))


def by_distance(fingerprints: Words, drawn: Integers, most: int) -> Partners:
    """Return all partners within a Hamming distance."""
    parts = []
    for row in drawn.tolist():
        distances = popcount(fingerprints ^ fingerprints[row])
        others = np.flatnonzero(distances <= most)
        others = others[others != row]
        parts.append((row, others, distances[others].astype(np.float64)))
    return _joined(parts)


def by_resemblance(shingles: Sequence[Words], drawn: Integers, threshold: float) -> Partners:
    """Return all partners at or above a resemblance. A text without shingles has none. REQUIRES: 0 < threshold ≤ 1."""
    rows = [row for row in drawn.tolist() if len(shingles[row])]
    if not rows:
        return _joined([])
    index = _Index(shingles, rows)
    parts = []
    for row in rows:
        others = index.candidates(row, threshold)
        scores = resemblances(shingles, row, others)
        reached = scores >= threshold
        parts.append((row, others[reached], scores[reached]))
    return _joined(parts)


class _Index:
    """Who has the shingles of the drawn texts."""

    def __init__(self, shingles: Sequence[Words], rows: Sequence[int]) -> None:
        self._shingles = shingles
        self._known = distinct(np.concatenate([shingles[row] for row in rows]))
        self._may_be = np.zeros(1 << UPPER, dtype=bool)
        self._may_be[self._known >> np.uint64(64 - UPPER)] = True
        found = [self._look_up(owners, ids) for owners, ids in _batches(shingles)]
        places, owners = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.argsort(places, kind="stable")
        self._owners = owners[order]
        #: How many texts have each known shingle, and where their numbers begin.
        self._counts = np.bincount(places, minlength=len(self._known))
        self._starts = np.cumsum(self._counts) - self._counts

    def _look_up(self, owners: Integers, ids: Words) -> tuple[Integers, Integers]:
        may_be = self._may_be[ids >> np.uint64(64 - UPPER)]
        owners, ids = owners[may_be], ids[may_be]
        places = np.minimum(np.searchsorted(self._known, ids), len(self._known) - 1)
        is_known = self._known[places] == ids
        return places[is_known], owners[is_known]

    def candidates(self, row: int, threshold: float) -> Integers:
        """Return whoever has one of the rarest shingles of a drawn text, as many of them as the threshold asks for."""
        places = np.searchsorted(self._known, self._shingles[row])
        # Rounding makes it rather one more.
        asked = len(places) - math.ceil(threshold * len(places) - 1e-9) + 1
        rarest = places[np.argsort(self._counts[places], kind="stable")[:asked]]
        holders = [self._owners[self._starts[place] : self._starts[place] + self._counts[place]] for place in rarest]
        found = distinct(np.concatenate(holders).astype(np.uint64)).astype(np.int64)
        return np.asarray(found[found != row])


def _batches(shingles: Sequence[Words]) -> Iterator[tuple[Integers, Words]]:
    """Yield shingles with their owners, many texts at a time."""
    first, size = 0, 0
    for row, ids in enumerate(shingles):
        size += len(ids)
        if size >= BATCH or row == len(shingles) - 1:
            part = shingles[first : row + 1]
            yield np.repeat(np.arange(first, row + 1), [len(one) for one in part]), np.concatenate(part)
            first, size = row + 1, 0


def resemblances(shingles: Sequence[Words], row: int, others: Integers) -> NDArray[np.float64]:
    """Return the exact resemblance of a text to each of others. REQUIRES: all have shingles."""
    if not len(others):
        return np.empty(0)
    own, lists = shingles[row], [shingles[other] for other in others.tolist()]
    sizes = np.array([len(ids) for ids in lists])
    joined = np.concatenate(lists)
    places = np.minimum(np.searchsorted(own, joined), len(own) - 1)
    common = np.add.reduceat((own[places] == joined).astype(np.int64), np.cumsum(sizes) - sizes)
    return np.asarray(common / (len(own) + sizes - common))


def count_distances(fingerprints: Words, drawn: Integers) -> Integers:
    """Count the pairs of a drawn fingerprint and another by distance; a pair of two drawn ones counts twice."""
    counts = np.zeros(BITS + 1, dtype=np.int64)
    for row in drawn.tolist():
        counts += np.bincount(popcount(fingerprints ^ fingerprints[row]), minlength=BITS + 1)
    # Each was compared with itself too.
    counts[0] -= len(drawn)
    return counts


def by_agreement(columns: Words, has: NDArray[np.bool_], drawn: Integers, least: int) -> Partners:
    """Return all partners that agree in at least so many columns, with how many. A text without values has none."""
    orders = [np.argsort(column, kind="stable") for column in columns.T]
    ascending = [column[order] for column, order in zip(columns.T, orders, strict=True)]
    parts = []
    for row in drawn[has[drawn]].tolist():
        found = []
        for column, order, values in zip(columns.T, orders, ascending, strict=True):
            first, last = (int(np.searchsorted(values, column[row], side)) for side in _SIDES)
            found.append(order[first:last])
        others, counts = np.unique(np.concatenate(found), return_counts=True)
        agrees = (counts >= least) & (others != row) & has[others]
        parts.append((row, others[agrees], counts[agrees].astype(np.float64)))
    return _joined(parts)
