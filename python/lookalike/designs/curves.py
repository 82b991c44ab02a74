"""The curve of a filter: by the formula for permutations, simulated for the fast sketch.

The fast sketch draws elements nearly without replacement, so on short documents its curve is steeper than the formula.
Therefore it is simulated for several sizes: numbers of shingles of both documents together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from lookalike import params
from lookalike.designs.filters import Filter

#: Resemblances of the curve; all but the last occur among 50 shingles.
ROWS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.74, 0.78, 0.8, 0.82, 0.86, 0.9, 0.92, 0.94, 0.96, 0.98, 0.99)
#: Simulated sizes: a short paragraph, a long one, an article.
UNIONS = (50, 100, 1000)
#: Where nobody says how many trials: filters of up to so many elements have all of them, those of more have fewer, and
#: those of more than the second number none, because a trial draws all elements and would take a tenth of a second.
ALL_TRIALS_ELEMENTS, MOST_ELEMENTS = 256, 2048


@dataclass(frozen=True)
class Simulated:
    """The curve of the fast sketch for documents with this many shingles together."""

    union: int
    trials: int
    #: One share per resemblance; ``None`` if no two documents of so few shingles can have it.
    accepted: tuple[float | None, ...]


@dataclass(frozen=True)
class Curve:
    """Shares of pairs that pass, by resemblance."""

    filter: Filter
    sketch: str
    rho: tuple[float, ...]
    #: P(k, s, r), exact for independent permutations.
    formula: tuple[float, ...]
    #: Empty if the formula is exact, or if nothing was simulated.
    simulated: tuple[Simulated, ...]

    def rows(self) -> Iterator[tuple[float, float, list[float | None]]]:
        """Yield resemblance, formula, and one simulated value per size."""
        for i, (rho, formula) in enumerate(zip(self.rho, self.formula, strict=True)):
            yield rho, formula, [size.accepted[i] for size in self.simulated]


def usual_trials(filter: Filter) -> int | None:
    """Return how many trials are simulated if nobody says it; ``None`` for a filter of too many elements."""
    if filter.elements > MOST_ELEMENTS:
        return None
    most: int = params.TRIALS.default
    return min(most, most * ALL_TRIALS_ELEMENTS // filter.elements)


def curve(
    filter: Filter,
    sketch: str = params.SKETCH.default,
    rho: Sequence[float] = ROWS,
    trials: int | None = params.TRIALS.default,
    seed: int = params.SEED.default,
) -> Curve:
    """Return the curve of a filter at these resemblances, simulated for the fast sketch if ``trials`` is given."""
    at = tuple(sorted(set(rho)))
    simulated: tuple[Simulated, ...] = ()
    if sketch == "fast" and trials is not None:
        simulated = tuple(_simulated(filter, union, at, trials, seed) for union in UNIONS)
    return Curve(filter, sketch, at, tuple(filter.accept(x) for x in at), simulated)


def _simulated(filter: Filter, union: int, rho: Sequence[float], trials: int, seed: int) -> Simulated:
    shared = [union * Fraction(repr(float(x))) for x in rho]
    whole = [int(count) for count in shared if count.denominator == 1]
    found = iter(filter.simulate(union, whole, trials, seed))
    return Simulated(union, trials, tuple(next(found) if count.denominator == 1 else None for count in shared))
