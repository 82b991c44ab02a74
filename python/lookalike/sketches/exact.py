"""Exact resemblance and containment of two texts, after Broder 1997.

A text's shingles are its runs of w tokens. Resemblance is the share of both texts' shingles that they have in common;
containment is the share of one text's shingles that the other has. Both are undefined, and ``None``, for a text of
fewer than w tokens. Cost: linear in the two texts.
"""

from __future__ import annotations

from typing import NamedTuple, TypedDict, Unpack

from lookalike import _core, params
from lookalike.fingerprints import Document, load


class Shingles(TypedDict, total=False):
    """How texts become shingles; what is left out has the default of ``params``."""

    shingle: int | None
    unit: str | None
    labelled: bool | None
    homoglyphs: bool | None


class Measures(NamedTuple):
    """The exact measures of two texts; ``None`` where they are undefined."""

    #: Distinct shingles of the two, and those they have in common.
    left: int
    right: int
    common: int
    resemblance: float | None
    #: Share of the left text's shingles that the right one has, and the other way round.
    left_in_right: float | None
    right_in_left: float | None

    @property
    def distance(self) -> float | None:
        """The metric 1 − resemblance."""
        return None if self.resemblance is None else 1 - self.resemblance


def measure(a: Document, b: Document, **chosen: Unpack[Shingles]) -> Measures:
    """Compare two texts exactly.

    >>> measure("a rose is a rose is a rose", "a rose is a flower which is a rose", shingle=1)[:4]
    (3, 5, 3, 0.6)
    """
    s = params.sketching(**chosen)
    return Measures(*_core.measure(load(a), load(b), s.shingle, s.unit, s.homoglyphs, s.labelled))


def resemblance(a: Document, b: Document, **chosen: Unpack[Shingles]) -> float | None:
    """Return the share of two texts' shingles that both have; ``None`` if one has none.

    >>> resemblance("a rose is a rose is a rose", "a rose is a flower which is a rose", shingle=2, labelled=True)
    0.5
    """
    return measure(a, b, **chosen).resemblance


def containment(a: Document, b: Document, **chosen: Unpack[Shingles]) -> float | None:
    """Return the share of the first text's shingles that the second has; ``None`` if one has none.

    >>> containment("a rose is a rose is a rose", "a rose is a flower which is a rose", shingle=1)
    1.0
    """
    return measure(a, b, **chosen).left_in_right


def distance(a: Document, b: Document, **chosen: Unpack[Shingles]) -> float | None:
    """Return 1 − resemblance, a metric; ``None`` if a text has no shingles."""
    return measure(a, b, **chosen).distance
