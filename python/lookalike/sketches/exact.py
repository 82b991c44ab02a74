"""Exact resemblance and containment of two documents, after Broder 1997.

The shingles of a document are its runs of w tokens. Resemblance is the share of both documents' shingles that they have
in common. Containment is the share of one document's shingles that the other has. Both are undefined, and ``None``, for
a document of fewer than w tokens. Cost: linear in the two documents.
"""

from __future__ import annotations

from typing import NamedTuple

from lookalike import _core, params
from lookalike._calls import explained
from lookalike.fingerprints import Document, column, load
from lookalike.params import HOMOGLYPHS, SKETCHING
from lookalike.tokens import Tokens

#: Parameters that decide which shingles a document has.
SHINGLING = (SKETCHING["shingle"], SKETCHING["unit"], SKETCHING["labelled"], HOMOGLYPHS)


class Measures(NamedTuple):
    """The exact measures of two documents; ``None`` where they are undefined.

    >>> from lookalike.sketches.exact import measure
    >>> measure("a b c", "b c d", shingle=1).common
    2
    """

    #: Distinct shingles of each document, and shingles they have in common.
    left: int
    right: int
    common: int
    resemblance: float | None
    #: Share of the left document's shingles that the right one has, and the other way round.
    left_in_right: float | None
    right_in_left: float | None

    @property
    def distance(self) -> float | None:
        """The metric 1 − resemblance."""
        return None if self.resemblance is None else 1 - self.resemblance


@explained(*SHINGLING)
def measure(
    a: Document,
    b: Document,
    *,
    shingle: int | None = None,
    unit: str | None = None,
    labelled: bool | None = None,
    homoglyphs: bool | None = None,
) -> Measures:
    """Compare two documents exactly.

    :param a: A text, a ``Path``, or tokens.
    :param b: The other document.
    :parameters:
    :returns: The numbers of shingles, resemblance, and containment both ways.
    :raises ParameterError: A parameter is out of range.
    :raises FrontendError: A document cannot be read as text.

    >>> measure("a rose is a rose is a rose", "a rose is a flower which is a rose", shingle=1)[:4]
    (3, 5, 3, 0.6)
    """
    s = params.sketching(shingle=shingle, unit=unit, labelled=labelled, homoglyphs=homoglyphs)
    left, right = load(a), load(b)
    if isinstance(left, Tokens) or isinstance(right, Tokens):
        first, second = (column(one, s.unit, s.homoglyphs) for one in (left, right))
        return Measures(*_core.measure_tokens(first, second, s.shingle, s.labelled))
    return Measures(*_core.measure(left, right, s.shingle, s.unit, s.homoglyphs, s.labelled))


@explained(*SHINGLING)
def resemblance(
    a: Document,
    b: Document,
    *,
    shingle: int | None = None,
    unit: str | None = None,
    labelled: bool | None = None,
    homoglyphs: bool | None = None,
) -> float | None:
    """Return the share of two documents' shingles that both have: 0 to 1.

    :param a: A text, a ``Path``, or tokens.
    :param b: The other document.
    :parameters:
    :returns: The resemblance; ``None`` if a document is shorter than one shingle.
    :raises ParameterError: A parameter is out of range.
    :raises FrontendError: A document cannot be read as text.

    >>> resemblance("a rose is a rose is a rose", "a rose is a flower which is a rose", shingle=2, labelled=True)
    0.5
    """
    return measure(a, b, shingle=shingle, unit=unit, labelled=labelled, homoglyphs=homoglyphs).resemblance


@explained(*SHINGLING)
def containment(
    a: Document,
    b: Document,
    *,
    shingle: int | None = None,
    unit: str | None = None,
    labelled: bool | None = None,
    homoglyphs: bool | None = None,
) -> float | None:
    """Return the share of the first document's shingles that the second has: 0 to 1.

    :param a: The document that may be inside the other: a text, a ``Path``, or tokens.
    :param b: The other document.
    :parameters:
    :returns: The containment of ``a`` in ``b``; ``None`` if a document is shorter than one shingle.
    :raises ParameterError: A parameter is out of range.
    :raises FrontendError: A document cannot be read as text.

    >>> containment("a rose is a rose is a rose", "a rose is a flower which is a rose", shingle=1)
    1.0
    """
    return measure(a, b, shingle=shingle, unit=unit, labelled=labelled, homoglyphs=homoglyphs).left_in_right


@explained(*SHINGLING)
def distance(
    a: Document,
    b: Document,
    *,
    shingle: int | None = None,
    unit: str | None = None,
    labelled: bool | None = None,
    homoglyphs: bool | None = None,
) -> float | None:
    """Return 1 − resemblance, which is a metric.

    :param a: A text, a ``Path``, or tokens.
    :param b: The other document.
    :parameters:
    :returns: The distance; ``None`` if a document is shorter than one shingle.
    :raises ParameterError: A parameter is out of range.
    :raises FrontendError: A document cannot be read as text.

    >>> distance("a rose is a rose is a rose", "a rose is a flower which is a rose", shingle=2)
    0.5
    """
    return measure(a, b, shingle=shingle, unit=unit, labelled=labelled, homoglyphs=homoglyphs).distance
