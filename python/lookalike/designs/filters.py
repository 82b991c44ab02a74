"""Filters that accept near-duplicates: r of k features equal, each made of s sketch elements (Broder 2000, §3–4).

A pair of resemblance ρ passes with P(ρ) = Σ_{i≥r} C(k,i) ρ^{si} (1−ρ^s)^{k−i}. That is exact for independent min-wise
permutations; `Filter.simulate` measures the fast sketch. The smaller of P and 1 − P is summed, from logarithms, so that
both keep their digits down to 1e-300. Integrals are exact: see `false_mass`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lookalike import _core, params
from lookalike._types import whole
from lookalike.designs.stats import exactly
from lookalike.errors import ParameterError

#: Bytes of a feature or super-feature.
FEATURE_BYTES = 8
#: Most features; with more, the binomial coefficients exceed the range of a double.
MAX_K = 1000
#: Most elements of a sketch, and of all features together.
MAX_ELEMENTS = _core.MAX_SKETCH
#: Most trials of a simulation, which take some minutes.
MAX_TRIALS = 10_000_000
#: The filter of the paper, and a note on it.
PAPER = (6, 14, 2)
ERRATUM = (
    "Broder 2000 says that this filter misses less than 0.01 of the pairs at 97.5 %; the formula gives 0.0107, "
    "and less than 0.01 from 97.541 % on"
)


@dataclass(frozen=True, order=True)
class Filter:
    """A filter that accepts a pair if at least ``r`` of its ``k`` features are equal, each made of ``s`` elements.

    :param k: Features per document.
    :param s: Elements of the sketch per feature.
    :param r: Features that must be equal.
    :raises ParameterError: A number is out of range.

    >>> found = Filter(6, 14, 2)
    >>> round(found.accept(0.9), 4), found.elements, found.keys_bytes
    (0.4151, 84, 120)
    """

    k: int
    s: int
    r: int

    def __post_init__(self) -> None:
        if not 1 <= self.k <= MAX_K:
            raise ParameterError(f"k `{self.k}` of a filter is out of range: use 1 to {MAX_K} features")
        if not 1 <= self.s <= MAX_ELEMENTS // self.k:
            most = MAX_ELEMENTS // self.k
            raise ParameterError(f"s `{self.s}` of a filter with `{self.k}` features is out of range: use 1 to {most}")
        if not 1 <= self.r <= self.k:
            raise ParameterError(
                f"r `{self.r}` of a filter with `{self.k}` features is out of range: use 1 to {self.k}"
            )

    @classmethod
    def parse(cls, text: str) -> Filter:
        """Read `k,s,r`, as in 6,14,2."""
        try:
            k, s, r = (whole(part) for part in text.split(","))
        except ValueError:
            raise ParameterError(f"filter `{text}` is not k,s,r: give three whole numbers, as in 6,14,2") from None
        return cls(k, s, r)

    @classmethod
    def of(cls, given: Filter | tuple[int, int, int] | str) -> Filter:
        """Return a filter that was given as one, as its three numbers, or as text. Errors: ``ParameterError``."""
        if isinstance(given, Filter):
            return given
        if isinstance(given, str):
            return cls.parse(given)
        if not (isinstance(given, tuple | list) and len(given) == 3 and all(isinstance(one, int) for one in given)):
            raise ParameterError(f"filter `{given}` is not k,s,r: give three whole numbers, as in 6,14,2")
        return cls(*given)

    def __str__(self) -> str:
        return f"({self.k}, {self.s}, {self.r})"

    @property
    def elements(self) -> int:
        """Sketch elements it needs: k groups of s."""
        return self.k * self.s

    @property
    def features_bytes(self) -> int:
        """Bytes of a document's k features."""
        return FEATURE_BYTES * self.k

    @property
    def keys(self) -> int:
        """Keys of a document in the sorted table: its features, or for r > 1 all groups of r, the super-features."""
        return math.comb(self.k, self.r)

    @property
    def keys_bytes(self) -> int:
        """Bytes of those keys."""
        return FEATURE_BYTES * self.keys

    def accept(self, rho: float) -> float:
        """Return P(ρ), the chance that a pair of resemblance ``rho`` passes."""
        return self._tails(_resemblance(rho))[0]

    def reject(self, rho: float) -> float:
        """Return 1 − P(ρ), the chance that a pair is missed, exact also where it is tiny."""
        return self._tails(_resemblance(rho))[1]

    def _tails(self, rho: float) -> tuple[float, float]:
        if rho in (0.0, 1.0):
            return rho, 1.0 - rho
        log_q = self.s * math.log(rho)
        q, log_rest = math.exp(log_q), math.log(-math.expm1(log_q))
        if self.k * q < self.r:
            accepted = exactly(self.k, range(self.r, self.k + 1), log_q, log_rest)
            return accepted, 1.0 - accepted
        rejected = exactly(self.k, range(self.r - 1, -1, -1), log_q, log_rest)
        return 1.0 - rejected, rejected

    @property
    def half(self) -> float:
        """The resemblance at which half of the pairs pass; as a threshold it has the least total error (§4)."""
        low, high = 0.0, 1.0
        while low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if self.accept(middle) < 0.5 else (low, middle)
        return high

    @property
    def steepest(self) -> float:
        """The threshold for which s is best by equation (3): e^(−1/s)."""
        return math.exp(-1 / self.s)

    @staticmethod
    def best_s(threshold: float) -> float:
        """Return s = 1/ln(1/ρ₀), for which ρ^s is steepest at the threshold (equation (3))."""
        return 1 / math.log(1 / _threshold(threshold))

    def best_r(self, threshold: float) -> float:
        """Return k·ρ₀^s, the expected number of equal features at the threshold; r should be close to it (§4)."""
        return float(self.k * _threshold(threshold) ** self.s)

    def false_mass(self, threshold: float) -> float:
        """Return ∫ P from 0 to the threshold: the share of pairs below it that pass, if resemblance is uniform.

        By parts, ∫ P = ρ₀·P(ρ₀) − ∫ ρ dP, and with q = ρ^s the last is an incomplete beta function of r + 1/s and
        k − r + 1. The second being whole, it is a finite sum of positive terms: nothing is approximated.
        """
        threshold = _threshold(threshold)
        log_q = self.s * math.log(threshold)
        rest, a = -math.expm1(log_q), self.r + 1 / self.s
        total = term = 1.0
        for j in range(self.k - self.r):
            term *= (a + j) / (j + 1) * rest
            total += term
        inside = self._mean * math.exp(a * log_q + math.log(total))
        return max(threshold * self.accept(threshold) - inside, 0.0)

    def missed_mass(self, threshold: float) -> float:
        """Return ∫ (1 − P) from the threshold to 1; exact but for rounding near 1e-15."""
        return max(self._mean - threshold + self.false_mass(threshold), 0.0)

    @property
    def _mean(self) -> float:
        """∫ ρ dP over all of 0 to 1: Γ(r + 1/s) Γ(k + 1) / (Γ(r) Γ(k + 1 + 1/s)), as a product."""
        return math.prod(j / (j + 1 / self.s) for j in range(self.r, self.k + 1))

    def total_error(self, threshold: float) -> float:
        """Return the shares that pass below the threshold and are missed above it, for uniform resemblance (§4)."""
        return self.false_mass(threshold) + self.missed_mass(threshold)

    def false_pairs(self, documents: int, threshold: float, rho: float | None = None) -> float:
        """Return the expected number of pairs below the threshold that pass, among so many documents.

        Resemblance is taken as uniform below the threshold, which overstates it for most corpora, or as ``rho``.
        """
        share = self.false_mass(threshold) / threshold if rho is None else self.accept(rho)
        return documents * (documents - 1) / 2 * share

    def curve(self, points: Iterable[float] | int = 100) -> list[tuple[float, float]]:
        """Return (ρ, P(ρ)) at the given points, or at this many equal steps from 0 to 1."""
        at = [i / points for i in range(points + 1)] if isinstance(points, int) else points
        return [(rho, self.accept(rho)) for rho in at]

    def simulate(
        self,
        union: int,
        shared: Sequence[int],
        trials: int = params.TRIALS.default,
        seed: int = params.SEED.default,
    ) -> list[float]:
        """Measure how often fast sketches of two documents pass, by the number of shingles they share.

        :param union: Distinct shingles of both documents together.
        :param shared: Numbers of shared shingles, ascending.
        :param trials: Random pairs behind each value. All values use the same pairs, so neighbours are correlated.
        :param seed: Seed of the random pairs.
        :returns: The share of pairs that pass, for each number of shared shingles.
        :raises ParameterError: A number is out of range.
        """
        if not 1 <= trials <= MAX_TRIALS:
            raise ParameterError(f"trials `{trials}` are out of range: use 1 to {MAX_TRIALS}")
        if not 0 <= seed < 1 << 64:
            raise ParameterError(f"seed `{seed}` is out of range: use 0 to 2⁶⁴ − 1")
        if union < 1 or any(count < 0 for count in shared):
            raise ParameterError(
                f"union `{union}` or a number of shared shingles is out of range: use a union of at least 1"
            )
        accepted = _core.simulate_filter((self.k, self.s, self.r), union, shared, trials, seed)
        return [count / trials for count in accepted]

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes to show with this filter."""
        return (ERRATUM,) if (self.k, self.s, self.r) == PAPER else ()


def _resemblance(rho: float) -> float:
    if not 0 <= rho <= 1:
        raise ParameterError(f"resemblance `{rho:g}` is out of range: use 0 to 1")
    return float(rho)


def _threshold(threshold: float) -> float:
    if not 0 < threshold < 1:
        raise ParameterError(f"threshold `{threshold:g}` is out of range: use more than 0 and less than 1")
    return float(threshold)
