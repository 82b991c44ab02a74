"""All pairs of texts that resemble each other, exactly, and what a deduplication says held against them.

The join is that of prefix filters (Chaudhuri, Ganti, Kaushik 2006): of two sets with resemblance ≥ t, ordered alike,
the first n − ⌈t·n⌉ + 1 elements of each have one in common. Ordered with the rarest first, few pairs are left to look
at, and `la.resemblance` decides them. Time is that of sorting all shingles, memory some 60 bytes a shingle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import lookalike as la

Array = Any
Pairs = dict[tuple[int, int], float]
#: Shingles as `lookalike dedup` takes them: five words.
SHINGLE = 5
#: Pairs of a group are written down so many at a time.
MOST = 1 << 22
#: A share of a count is never taken one too high for the rounding of a product.
SLACK = 1e-9


def join(texts: Sequence[str], threshold: float, shingle: int = SHINGLE, unit: str = "word") -> Pairs:
    """Find every pair of texts whose resemblance reaches the threshold."""
    found = {}
    for left, right in candidates(shingle_sets(texts, shingle, unit), threshold):
        score = la.resemblance(texts[left], texts[right], shingle=shingle, unit=unit)
        if score is not None and score >= threshold:
            found[left, right] = score
    return found


def shingle_sets(texts: Iterable[str], shingle: int, unit: str) -> list[Array]:
    """Return the ids of each text's shingles: a sketch that keeps one in one keeps all."""
    made = (la.mod_sketch(text, modulus=1, shingle=shingle, unit=unit) for text in texts)
    return [np.array(one.values, np.uint64) for one in made]


def candidates(sets: Sequence[Array], threshold: float) -> list[tuple[int, int]]:
    """Return the pairs, ascending, that share an element of their prefixes and whose sizes allow the threshold."""
    sizes = np.array([len(one) for one in sets], np.int64)
    elements, documents = prefixes(sets, sizes, threshold)
    found = [np.empty(0, np.int64)]
    for left, right in pairs_of_groups(elements, documents):
        small, large = np.minimum(sizes[left], sizes[right]), np.maximum(sizes[left], sizes[right])
        is_near = small >= threshold * large - SLACK
        found.append(np.unique((left[is_near] << 32) | right[is_near]))
    keys = np.unique(np.concatenate(found))
    return list(zip((keys >> 32).tolist(), (keys & 0xFFFFFFFF).tolist(), strict=True))


def prefixes(sets: Sequence[Array], sizes: Array, threshold: float) -> tuple[Array, Array]:
    """Return the elements of all prefixes and whose they are, sorted by element and document."""
    if not sizes.sum():
        return np.empty(0, np.int64), np.empty(0, np.int64)
    _, inverse, counts = np.unique(np.concatenate(sets), return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts))
    # A pair that shares an element shares one that is in two sets: those that are in one only come first and are
    # counted, but lead nowhere.
    ranks, is_shared = rank[inverse], counts[inverse] > 1
    owner = np.repeat(np.arange(len(sets)), sizes)
    order = np.lexsort((ranks, owner))
    place = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    length = sizes - np.ceil(threshold * sizes - SLACK).astype(np.int64) + 1
    kept = order[(place < length[owner]) & is_shared[order]]
    again = np.lexsort((owner[kept], ranks[kept]))
    return ranks[kept][again], owner[kept][again]


def pairs_of_groups(elements: Array, documents: Array) -> Iterator[tuple[Array, Array]]:
    """Yield all pairs of documents that share an element; groups of one size are taken together."""
    starts = np.flatnonzero(np.r_[True, elements[1:] != elements[:-1]]) if len(elements) else np.empty(0, np.int64)
    lengths = np.diff(np.r_[starts, len(elements)])
    for length in np.unique(lengths[lengths > 1]).tolist():
        first, second = np.triu_indices(length, 1)
        own = starts[lengths == length]
        step = max(1, MOST // len(first))
        for at in range(0, len(own), step):
            rows = documents[own[at : at + step, None] + np.arange(length)]
            yield rows[:, first].ravel(), rows[:, second].ravel()


@dataclass(frozen=True)
class Verdict:
    """A deduplication held against the truth."""

    #: Of the documents with a partner at the threshold, the share that is in a pair or a cluster.
    document_recall: float
    #: Of the pairs at the threshold, the share found as a pair or in one cluster.
    pair_recall: float
    #: Documents with a partner, and pairs, at the threshold.
    partnered: int
    pairs: int
    #: Edges, and members of clusters but for their representatives.
    edges: int
    members: int
    #: Edges below the threshold, and members below it to their representative.
    low_edges: int
    low_members: int

    @property
    def precision(self) -> float:
        """Share of edges and members that reach the threshold."""
        told = self.edges + self.members
        return 1 - (self.low_edges + self.low_members) / told if told else 1.0


def judge(
    texts: Sequence[str],
    truth: Pairs,
    edges: Iterable[tuple[int, int]],
    leaders: dict[int, int],
    threshold: float,
    **shingles: Any,
) -> Verdict:
    """Hold edges and members (each with its leader, leaders with themselves) against all pairs; every one is measured.

    Rows are those of `texts`; `shingles` say how the texts are cut, five words if nothing is said.
    """
    linked = {frozenset(edge) for edge in edges}
    members = {row: leader for row, leader in leaders.items() if row != leader}
    chosen: dict[str, Any] = {"shingle": SHINGLE, "unit": "word"} | shingles

    def is_low(left: int, right: int) -> bool:
        score = la.resemblance(texts[left], texts[right], **chosen)
        # Texts too short for a shingle have no resemblance; they go for being identical.
        return texts[left] != texts[right] if score is None else score < threshold

    flagged = set(leaders).union(*linked)
    partnered = {row for pair in truth for row in pair}
    found = sum(frozenset(pair) in linked or leaders.get(pair[0], -1) == leaders.get(pair[1], -2) for pair in truth)
    return Verdict(
        document_recall=len(partnered & flagged) / max(1, len(partnered)),
        pair_recall=found / max(1, len(truth)),
        partnered=len(partnered),
        pairs=len(truth),
        edges=len(linked),
        members=len(members),
        low_edges=sum(is_low(*edge) for edge in linked),
        low_members=sum(is_low(*member) for member in members.items()),
    )
