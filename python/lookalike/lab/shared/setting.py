"""The setting of the paper's experiments (§5.1), and the few measures they have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.fingerprints import Fingerprints, Text, fingerprint

#: Strings of 50 characters; windows of 100 hashes, so a guarantee of 149 characters; 0 mod 50, the default at w = 100.
K, W, P = 50, 100, 50
#: Characters that normalisation leaves as they are.
ALPHABET = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz0123456789", dtype=np.uint8)

Integers = NDArray[np.int64]


def random_text(length: int, seed: int) -> bytes:
    """Return characters drawn independently and uniformly."""
    return ALPHABET[np.random.default_rng(seed).integers(0, len(ALPHABET), length)].tobytes()


def fingerprints(text: Text, scheme: str, w: int = W) -> Fingerprints:
    """Fingerprint with the paper's k."""
    return fingerprint(text, k=K, t=w + K - 1, scheme=scheme)


def density(found: Fingerprints) -> float:
    """Return fingerprints per k-gram. REQUIRES: a k-gram; the loader refuses a corpus without one."""
    return len(found) / found.kgrams


def positions(found: Fingerprints) -> Integers:
    """Return where the fingerprints are, in numbers that may be subtracted."""
    return np.asarray(found.positions).astype(np.int64)


def runs(found: Fingerprints) -> Integers:
    """Return the lengths of the runs of k-grams without a fingerprint: before, between and after the picks."""
    return np.diff(positions(found), prepend=-1, append=found.kgrams) - 1


def distinct(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the distinct values, ascending. Numpy's own way hashes them first, which took fifty times as long."""
    ascending = np.sort(values)
    is_first: NDArray[np.bool_] = np.diff(ascending, prepend=~ascending[:1]) != 0
    return ascending[is_first]
