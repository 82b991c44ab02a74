"""The features of a document and the deduplication by features alone, as FORMAT.md and Broder 2000, §3, define them.

Everything is computed from the values of the words: shingles by long division of polynomials, coordinates by trying all
rounds, and pairs by comparing all documents.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache

from oracles.arithmetic import GOLDEN, MASK, is_irreducible, mix64, rabin


@cache
def polynomial_of(group: int) -> int:
    """The polynomial of a group of elements."""
    state = group + 1
    while True:
        state = (state + GOLDEN) & MASK
        found = 1 << 64 | mix64(state) | 1
        if is_irreducible(found):
            return found


def ids(words: Sequence[int], width: int, bits: int = 64) -> set[int]:
    """The ids of the shingles of a document, given as the values of its words."""
    windows = (words[i : i + width] for i in range(len(words) - width + 1))
    return {mix64(rabin(struct.pack(f"<{width}Q", *window)) >> (64 - bits)) for window in windows}


def fast(shingles: set[int], size: int) -> list[int]:
    """The coordinates of a fast sketch."""
    rows = [MASK] * size
    for i in range(2 * size):
        for shingle in shingles:
            h = shingle if i == 0 else mix64((shingle + i * GOLDEN) & MASK)
            at = (h >> 48) * size // 2**16 if i < size else i - size
            rows[at] = min(rows[at], i * 2**48 + h % 2**48)
    return rows


def permutations(shingles: set[int], size: int) -> list[int]:
    """The coordinates of a sketch by linear permutations."""
    maps = [[mix64((2 * j + n) * GOLDEN & MASK) % 2**32 for n in (1, 2)] for j in range(size)]
    return [min(((a | 1) * (shingle >> 32) + b) % 2**32 for shingle in shingles) for a, b in maps]


def features(words: Sequence[int], k: int, s: int, width: int, sketch: str, bits: int = 64) -> list[int]:
    """The k features of a document; none without shingles."""
    shingles = ids(words, width, bits)
    if not shingles:
        return []
    elements = [one % 2**32 for one in (fast if sketch == "fast" else permutations)(shingles, k * s)]
    found = []
    for group in range(k):
        data = struct.pack(f"<Q{s}I", group, *elements[group * s : (group + 1) * s])
        found.append(rabin(data + bytes(-len(data) % 8), polynomial_of(group)))
    return found


def deduplicated(documents: Sequence[Sequence[int]], k: int, s: int, r: int, width: int, sketch: str) -> list[int]:
    """For each document the one kept for it, by r equal features of k, leaders in order, of several the best.

    REQUIRES: fewer holders of a key than the rule for crowded keys looks at, and documents that are all different.
    """
    of = [features(words, k, s, width, sketch) for words in documents]
    kept: list[int] = []
    answer = []
    for number, mine in enumerate(of):
        shared = {leader: sum(a == b for a, b in zip(mine, of[leader], strict=False)) for leader in kept}
        near = [leader for leader in kept if shared[leader] >= r]
        answer.append(max(near, key=lambda leader: (shared[leader], -leader)) if near else number)
        if not near:
            kept.append(number)
    return answer
