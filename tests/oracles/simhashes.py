"""The simhash of a document and of a whole file, by FORMAT.md and nothing else but the tokens of the core.

Cost: 64 additions a token.
"""

from __future__ import annotations

from collections.abc import Iterable

import lookalike as la
from oracles.arithmetic import mix64

SALT = 0xBB67AE8584CAA73B


def simhash(features: Iterable[tuple[int, int]]) -> int | None:
    """The fingerprint of values and weights; none if all votes cancel each other or there are none."""
    sums = [0] * 64
    for value, weight in features:
        vote = mix64(value ^ SALT)
        for bit in range(64):
            sums[bit] += weight if vote >> bit & 1 else -weight
    return sum(1 << bit for bit in range(64) if sums[bit] > 0) if any(sums) else None


def of_text(text: str, unit: str = "word") -> int | None:
    """The fingerprint of a text: each of its tokens votes with weight 1."""
    return simhash((token, 1) for token in la.stream(text, unit=unit).tokens)


def length(text: str, unit: str = "word") -> int:
    """The number of tokens of a text."""
    return len(la.stream(text, unit=unit).tokens)
