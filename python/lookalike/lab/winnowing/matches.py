"""What documents have in common: pairs of documents that share a k-gram, and the k-grams that are shared.

Postings (k-gram, document) are sorted once; every k-gram then is a set of documents, 64 of them a machine word, and the
documents that one reaches are the union of the sets of its k-grams. No pair is ever written down.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.lab.shared.setting import Integers, distinct

#: Documents that fit: their numbers take the lower bits of a posting, and 55 bits of the k-gram's identity are left.
DOCUMENT_BITS = 9
MOST_DOCUMENTS = 1 << DOCUMENT_BITS

Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Matches:
    """How much a collection has in common."""

    pairs: int
    kgrams: int


def count(kgrams: Hashes, owners: Integers) -> Matches:
    """Count the matches among k-grams and the documents they stand in. REQUIRES: owners below ``MOST_DOCUMENTS``."""
    postings = distinct((kgrams << np.uint64(DOCUMENT_BITS)) | owners.astype(np.uint64))
    starts = np.flatnonzero(np.diff(postings >> np.uint64(DOCUMENT_BITS), prepend=~np.uint64(0)))
    sizes = np.diff(starts, append=len(postings))
    shared = sizes >= 2
    documents = (postings & np.uint64(MOST_DOCUMENTS - 1))[shared.repeat(sizes)]
    return Matches(_pairs(documents.astype(np.uint16), sizes[shared]), int(shared.sum()))


def _pairs(documents: NDArray[np.uint16], sizes: Integers) -> int:
    """Count pairs of documents that stand together in a set; the sets follow one another and have these sizes."""
    if not len(sizes):
        return 0
    order = documents.argsort(kind="stable")
    set_of = np.arange(len(sizes)).repeat(sizes)[order]
    first = np.flatnonzero(np.diff(documents[order], prepend=MOST_DOCUMENTS))
    bits = np.uint64(1) << (documents % 64).astype(np.uint64)
    reached = 0
    for word in range(int(documents.max()) // 64 + 1):
        sets = np.bitwise_or.reduceat(np.where(documents // 64 == word, bits, np.uint64(0)), sizes.cumsum() - sizes)
        reached += int(np.bitwise_count(np.bitwise_or.reduceat(sets[set_of], first)).sum())
    # Every document reaches itself, and every pair is reached from both sides.
    return (reached - len(first)) // 2
