"""Binomial chances and intervals, exact except for rounding: for filters, sizes of sketches and audits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

#: How often an interval must hold the true value.
CONFIDENCE = 0.95


def between(size: int, low: int, high: int, r: float) -> float:
    """Return the chance that a binomial of ``size`` and ``r`` lies in low..high, both ends included."""
    low, high = max(low, 0), min(high, size)
    if low > high:
        return 0.0
    if r <= 0 or r >= 1:
        return 1.0 if low <= (size if r >= 1 else 0) <= high else 0.0
    # Sum from the largest term outwards, each term computed from its neighbour.
    mode = min(max(math.floor((size + 1) * r), low), high)
    odds = r / (1 - r)
    log_top = math.lgamma(size + 1) - math.lgamma(mode + 1) - math.lgamma(size - mode + 1)
    log_top += mode * math.log(r) + (size - mode) * math.log1p(-r)
    total = term = 1.0
    for k in range(mode, high):
        term *= (size - k) / (k + 1) * odds
        total += term
    term = 1.0
    for k in range(mode, low, -1):
        term *= k / (size - k + 1) / odds
        total += term
    return min(1.0, math.exp(log_top + math.log(total)))


def exactly(trials: int, counts: Iterable[int], log_hit: float, log_miss: float) -> float:
    """Return the chance that the number of hits is one of ``counts``, given the logarithms of both chances.

    Logarithms keep tiny chances exact. REQUIRES: counts in order of falling chance; the sum stops where terms vanish.
    """
    total = 0.0
    for count in counts:
        term = math.exp(math.log(math.comb(trials, count)) + count * log_hit + (trials - count) * log_miss)
        total += term
        if term < 1e-18 * total:
            break
    return min(total, 1.0)


def interval(hits: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the limits of Clopper and Pearson: shares at which so many or so few hits are just probable enough."""
    tail = (1 - confidence) / 2
    low = _root(lambda p: between(trials, hits, trials, p) < tail) if hits else 0.0
    high = _root(lambda p: between(trials, 0, hits, p) > tail) if hits < trials else 1.0
    return low, high


def _root(is_below: Callable[[float], bool]) -> float:
    """Return the point where a condition that is first true becomes false."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high and high - low > 1e-12:
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2
