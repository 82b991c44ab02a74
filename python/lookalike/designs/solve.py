"""Finds the filter for a goal: the fewest false accepts at the recall asked for, within the sketch and the bytes.

For given s and r, more features let more pairs pass at every resemblance and cost more. So only the smallest k that
reaches the recall is tried: a few dozen filters in all. `sketch_size.py` does the same for the size of a sketch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import overload

from lookalike import params
from lookalike._calls import explained
from lookalike.designs.filters import FEATURE_BYTES, MAX_ELEMENTS, MAX_K, Filter
from lookalike.designs.tables import TableDesigns, design_tables
from lookalike.errors import ParameterError


@dataclass(frozen=True)
class Goal:
    """The conditions a filter must meet; None is no limit."""

    threshold: float
    recall: float
    false_accept: float | None
    at: float | None
    bytes: int | None
    elements: int | None
    max_r: int

    @classmethod
    def filled(
        cls,
        threshold: float,
        recall: float,
        false_accept: float | None,
        at: float | None,
        bytes: int | None,
        elements: int | None,
        max_r: int | None,
    ) -> Goal:
        """Fill in what was not given: 128 elements, and one equal feature unless bytes or false accepts are limited."""
        is_limited = bytes is not None or false_accept is not None
        elements = params.SKETCH_ELEMENTS if elements is None and bytes is None else elements
        max_r = (params.MAX_R_LIMITED if is_limited else params.MAX_R) if max_r is None else max_r
        return cls(threshold, recall, false_accept, at, bytes, elements, max_r)

    def reaches_recall(self, found: Filter) -> bool:
        """Whether enough pairs at the threshold pass."""
        return found.reject(self.threshold) <= 1 - self.recall

    def keeps_out(self, found: Filter) -> bool:
        """Whether few enough pairs at the lower resemblance pass."""
        return self.false_accept is None or self.at is None or found.accept(self.at) <= self.false_accept

    def allows(self, found: Filter) -> bool:
        """Whether it fits the sketch and the bytes."""
        return (self.elements is None or found.elements <= self.elements) and (
            self.bytes is None or found.keys_bytes <= self.bytes
        )

    def filters(self) -> Iterator[Filter]:
        """Yield for each s and r the filter of smallest k that reaches the recall, within the limits."""
        for r in range(1, self.max_r + 1):
            k = r
            for s in range(1, MAX_ELEMENTS + 1):
                # Longer features need more of them, so k only grows, and a limit that was passed is passed for good.
                while k <= MAX_K and k * s <= MAX_ELEMENTS and not self.reaches_recall(Filter(k, s, r)):
                    k += 1
                if k > MAX_K or k * s > MAX_ELEMENTS or not self.allows(found := Filter(k, s, r)):
                    break
                yield found


@dataclass(frozen=True)
class Design:
    """A filter with its goal, its recall and its expected false accepts.

    >>> from lookalike.designs.solve import design
    >>> found = design(threshold=0.8)
    >>> str(found.filter), round(found.recall, 4)
    ('(18, 6, 1)', 0.9958)
    """

    filter: Filter
    threshold: float
    sketch: str
    #: None where the filter was given and not solved for.
    goal: Goal | None = None

    def __repr__(self) -> str:
        return f"<Design {self.filter}: recall {self.recall:.4g} at {self.threshold:g}, sketch {self.sketch}>"

    @property
    def recall(self) -> float:
        """Share of the pairs at the threshold that pass, by the formula."""
        return self.filter.accept(self.threshold)

    @property
    def false_mass(self) -> float:
        """∫ P from 0 to the threshold, which the solver makes as small as possible."""
        return self.filter.false_mass(self.threshold)


@overload
def design(
    threshold: float = ...,
    recall: float = ...,
    false_accept: float | None = ...,
    at: float | None = ...,
    bytes: int | None = ...,
    elements: int | None = ...,
    sketch: str = ...,
    max_r: int | None = ...,
) -> Design: ...
@overload
def design(
    *,
    distance: int,
    fingerprints: float = ...,
    tables: str | int | None = ...,
    bytes: int | None = ...,
    prefix: int | None = ...,
) -> TableDesigns: ...
@explained(
    params.THRESHOLD, params.RECALL, params.FALSE_ACCEPT, params.AT, params.BYTES, params.ELEMENTS, params.SKETCH
)
def design(
    threshold: float = params.THRESHOLD.default,
    recall: float = params.RECALL.default,
    false_accept: float | None = None,
    at: float | None = None,
    bytes: int | None = None,
    elements: int | None = None,
    sketch: str = params.SKETCH.default,
    max_r: int | None = None,
    *,
    distance: int | None = None,
    fingerprints: float | None = None,
    tables: str | int | None = None,
    prefix: int | None = None,
) -> Design | TableDesigns:
    """Find the filter with the fewest expected false accepts that meets a goal; of equal ones, that of fewer elements.

    Without ``bytes`` and ``elements`` the sketch has 128 elements. The formula decides. For a fast sketch it
    understates a recall well above one half (docs/design.md has the figures).

    With ``distance``, ``fingerprints``, ``tables`` or ``prefix``, design tables for a Hamming distance, as
    ``design_tables`` does.

    :parameters:
    :param max_r: Most equal features a filter may ask for. Default: 1, as ``dedup`` uses; 2 if ``bytes`` or
        ``false_accept`` is given.
    :param distance: Tables: the most bits in which fingerprints may differ.
    :param fingerprints: Tables: how many fingerprints are searched.
    :param tables: Tables: ``compact``, ``fast``, or how many.
    :param prefix: Tables: the fewest leading bits of every table.
    :returns: A ``Design``; for tables a ``TableDesigns``.
    :raises ParameterError: A value is out of range, or no filter meets the goal. The message says what would.

    >>> design(threshold=0.8).filter
    Filter(k=18, s=6, r=1)
    >>> design(distance=3, fingerprints=1e6).chosen.name
    'compact'
    """
    if not (distance is None and fingerprints is None and tables is None and prefix is None):
        distance = params.DISTANCE.default if distance is None else distance
        fingerprints = params.FINGERPRINTS.default if fingerprints is None else fingerprints
        return design_tables(distance, fingerprints, tables=tables, bytes=bytes, prefix=prefix)
    return _solved(Goal.filled(threshold, recall, false_accept, at, bytes, elements, max_r), sketch)


def _solved(goal: Goal, sketch: str) -> Design:
    """Return the best filter for a goal. Errors: ``ParameterError``."""
    _check(goal, sketch)
    found = list(goal.filters())
    if not found:
        raise ParameterError(_recall_out_of_reach(goal))
    feasible = [candidate for candidate in found if goal.keeps_out(candidate)]
    if not feasible:
        raise ParameterError(_false_accept_out_of_reach(goal, found))
    best = min(feasible, key=lambda candidate: (candidate.false_mass(goal.threshold), candidate.elements, candidate))
    return Design(best, goal.threshold, sketch, goal)


def look(filter: Filter, threshold: float | None = None, sketch: str = params.SKETCH.default) -> Design:
    """Return the design of a given filter; its default threshold is where half of the pairs pass."""
    return Design(filter, filter.half if threshold is None else threshold, sketch)


def _check(goal: Goal, sketch: str) -> None:
    shares = {"threshold": goal.threshold, "recall": goal.recall, "false_accept": goal.false_accept, "at": goal.at}
    for name, value in shares.items():
        if value is not None and not 0 < value < 1:
            raise ParameterError(f"{name} `{value:g}` is out of range: use more than 0 and less than 1")
    if (goal.false_accept is None) != (goal.at is None):
        raise ParameterError("false_accept and at=… belong together: give both")
    if goal.at is not None and goal.at >= goal.threshold:
        raise ParameterError(f"at `{goal.at:g}` is not below the threshold `{goal.threshold:g}`: use a lower one")
    if goal.bytes is not None and goal.bytes < FEATURE_BYTES:
        raise ParameterError(f"bytes `{goal.bytes}` hold no feature: one takes {FEATURE_BYTES}; use at least as many")
    if goal.elements is not None and goal.elements < 1:
        raise ParameterError(f"elements `{goal.elements}` are no sketch: use at least 1")
    if not 1 <= goal.max_r <= MAX_K:
        raise ParameterError(f"max_r `{goal.max_r}` is out of range: use 1 to {MAX_K}")
    if sketch not in params.COORDINATES:
        raise ParameterError(f"sketch `{sketch}` is not known: use one of {', '.join(params.COORDINATES)}")


def _recall_out_of_reach(goal: Goal) -> str:
    """Say which recall the widest filter reaches (one equal element of all), and which limit would be enough."""
    asked = f"recall `{goal.recall:g}` at threshold `{goal.threshold:g}` is out of reach"
    enough = next(replace(goal, elements=None, bytes=None).filters(), None)
    if enough is None:
        given = _down(Filter(MAX_K, 1, 1).accept(goal.threshold))
        return f"{asked}: {MAX_K} features give at most {given}; ask for less recall or a higher threshold"
    needed, widest = enough.k, min(goal.elements or MAX_K, (goal.bytes or MAX_K * FEATURE_BYTES) // FEATURE_BYTES)
    given = _down(Filter(widest, 1, 1).accept(goal.threshold))
    limits = []
    if goal.elements is not None and goal.elements < needed:
        limits.append((f"{goal.elements} elements", f"elements ≥ {needed}"))
    if goal.bytes is not None and goal.bytes < FEATURE_BYTES * needed:
        limits.append((f"{goal.bytes} bytes", f"bytes ≥ {FEATURE_BYTES * needed}"))
    within, remedy = (" and ".join(part) for part in zip(*limits, strict=True))
    return f"{asked} with {within}, which give at most {given}: use {remedy}, or recall ≤ {given}"


def _false_accept_out_of_reach(goal: Goal, found: list[Filter]) -> str:
    """Say the fewest false accepts at this recall, and which limit to raise."""
    assert goal.at is not None
    least = _up(min(candidate.accept(goal.at) for candidate in found))
    asked = (
        f"false_accept `{goal.false_accept:g}` at `{goal.at:g}` with recall `{goal.recall:g}` at `{goal.threshold:g}`"
    )
    limits = {"elements": goal.elements, "bytes": goal.bytes}
    for names in (("elements",), ("bytes",), ("elements", "bytes")):
        lifted = [name for name in names if limits[name] is not None]
        elements, allowed = (None if name in names else limit for name, limit in limits.items())
        wider = replace(goal, elements=elements, bytes=allowed)
        enough = [candidate for candidate in wider.filters() if goal.keeps_out(candidate)] if lifted else []
        if enough:
            small = min(enough, key=lambda f: (f.elements, f.keys_bytes) if "elements" in names else (f.keys_bytes,))
            needs = {"elements": small.elements, "bytes": small.keys_bytes}
            within = " and ".join(f"{limits[name]} {name}" for name in lifted)
            remedy = " and ".join(f"{name} ≥ {needs[name]}" for name in lifted)
            return f"{asked} is out of reach with {within}, where {least} is the least: use {remedy}"
    return f"{asked} is out of reach of any filter of {MAX_K} features: {least} is the least within the limits"


def _down(share: float) -> str:
    """Print a share rounded down, so that asking for it succeeds."""
    return f"{math.floor(share * 1e4) / 1e4:g}"


def _up(share: float) -> str:
    """Print a share to two digits, rounded up, so that asking for it succeeds."""
    scale = 10.0 ** (1 - math.floor(math.log10(share))) if share > 0 else 1.0
    return f"{math.ceil(share * scale) / scale:.2g}"
