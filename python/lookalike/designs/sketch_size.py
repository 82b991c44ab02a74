"""Finds the size of a sketch for a goal, and how accurate its estimate is (Broder 1997, §4.1 and §4.2).

Of s sampled shingles, K lie in both documents. K is binomial in the resemblance r, and K/s is the estimate. (Where the
sample is a large part of the documents, K is hypergeometric and the estimate more accurate.) The paper's p(s, r, ε) is
the chance that s(r−ε) ≤ K ≤ s(r+ε); it prints both limits as s(r−ε). Sums are exact except for rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

from lookalike import params
from lookalike.designs.filters import MAX_ELEMENTS
from lookalike.designs.stats import between
from lookalike.errors import ParameterError

#: Bytes per element of a sketch.
ELEMENT_BYTES = 8
#: §4.2: pairs of less resemblance than the first must not be estimated above the second.
UNLIKE, ALIKE = Fraction(1, 2), Fraction(9, 10)


@dataclass(frozen=True)
class SketchDesign:
    """The smallest sketch for an error and a confidence, and its accuracy.

    >>> from lookalike.designs.sketch_size import design_sketch
    >>> found = design_sketch(error=0.05, confidence=0.95)
    >>> found.size, found.bytes, found.worst >= 0.95
    (390, 3120, True)
    """

    error: float
    confidence: float
    documents: int
    #: Elements.
    size: int
    #: The least chance of an estimate within the error, and the resemblance where it occurs.
    worst: float
    worst_at: float

    @property
    def bytes(self) -> int:
        """Bytes per sketch."""
        return ELEMENT_BYTES * self.size

    def within(self, resemblance: float) -> float:
        """Return the chance that the estimate of a pair of this resemblance is within the error."""
        return within(self.size, resemblance, self.error)

    @property
    def unlike_as_alike(self) -> float:
        """The chance that one pair below 50 % is estimated above 90 %."""
        return mistaken(self.size)

    @property
    def any_unlike_as_alike(self) -> float:
        """A bound on the chance that this happens to any of the M²/2 pairs, if all are below 50 %."""
        return any_mistaken(self.size, self.documents)


def design_sketch(
    error: float = params.ERROR.default,
    confidence: float = params.CONFIDENCE.default,
    documents: int = params.DOCUMENTS.default,
) -> SketchDesign:
    """Find the smallest sketch whose estimate is within ±``error`` with this confidence, at any resemblance.

    :param error: The largest error of an estimate, 0 to 0.5.
    :param confidence: How often an estimate must be within the error, 0 to 1.
    :param documents: Documents of the collection, for the chance of a mistake among all their pairs.
    :returns: The size of the sketch, and its accuracy.
    :raises ParameterError: A number is out of range, or needs more elements than a sketch can have.

    >>> design_sketch(error=0.1).size
    100
    """
    if not 0 < error < 0.5:
        raise ParameterError(f"error `{error:g}` is out of range: use more than 0 and less than 0.5")
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence `{confidence:g}` is out of range: use more than 0 and less than 1")
    if documents < 1:
        raise ParameterError(f"documents `{documents}` is out of range: use at least 1")
    exact = _exact(error)

    def size(values: int) -> int:
        return math.ceil(values / (2 * exact))

    # At the worst r, ±error spans ⌊2·s·error⌋ values of K. A larger sketch is better only where that number grows.
    low, high = 0, math.floor(2 * exact * MAX_ELEMENTS)
    if high == 0 or _worst(size(high), exact)[0] < confidence:
        raise ParameterError(_too_exact(error, confidence))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _worst(size(middle), exact)[0] >= confidence else (middle, high)
    worst, at = _worst(size(high), exact)
    return SketchDesign(error, confidence, documents, size(high), worst, at)


def _too_exact(error: float, confidence: float) -> str:
    """Say which error the largest sketch allows, by the normal approximation with a small margin."""
    allowed = 1.01 * NormalDist().inv_cdf((1 + confidence) / 2) / (2 * math.sqrt(MAX_ELEMENTS))
    asked = (
        f"error `{error:g}` with confidence `{confidence:g}` needs more than the {MAX_ELEMENTS} elements of a sketch"
    )
    return f"{asked}: use error ≥ {math.ceil(allowed * 1e4) / 1e4:g}"


def within(size: int, resemblance: float, error: float) -> float:
    """Return p(s, r, ε): the chance that K/s is within ±``error`` of the resemblance."""
    exact, r = _exact(error), _exact(resemblance)
    return between(size, math.ceil(size * (r - exact)), math.floor(size * (r + exact)), resemblance)


def worst_within(size: int, error: float) -> tuple[float, float]:
    """Return the least chance of an estimate within ±``error``, and the resemblance where it occurs."""
    return _worst(size, _exact(error))


def mistaken(size: int) -> float:
    """Return the chance that a pair of resemblance 50 % is estimated strictly above 90 %."""
    return between(size, math.floor(size * ALIKE) + 1, size, float(UNLIKE))


def any_mistaken(size: int, documents: int) -> float:
    """Return the sum of that chance over M²/2 pairs: a bound on the chance that it happens at all."""
    return min(1.0, documents * documents / 2 * mistaken(size))


def collision_error(union: int, bits: int = 64) -> float:
    """Return the most that collisions of ids change a resemblance, with probability 99.9 % (§4.1)."""
    return min(1.0, union / 2.0 ** (bits - 11))


def _exact(share: float) -> Fraction:
    """Return the decimal number as written: 0.05 of 100 is 5, not slightly more."""
    return Fraction(repr(float(share)))


def _worst(size: int, error: Fraction) -> tuple[float, float]:
    """Search the r just above j/s + ε, where K = j drops out of the interval; those below j/s − ε mirror them.

    Between two such places the chance is log-concave in r, so it is least at one of them. Along j the interval keeps
    its place relative to the mean and only the spread changes, so the chance has one valley, near 1/2.
    """
    values = math.floor(2 * size * error)

    def chance(j: int) -> float:
        return between(size, j + 1, min(j + values, size), float(Fraction(j, size) + error))

    low, high = 0, math.floor(size * (1 - error))
    while high - low > 2:
        third = (high - low) // 3
        left, right = low + third, high - third
        low, high = (low, right) if chance(left) <= chance(right) else (left, high)
    least, at = min((chance(j), j) for j in range(low, high + 1))
    return least, float(Fraction(at, size) + error)
