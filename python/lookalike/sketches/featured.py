"""The features of a document: k fingerprints of s sketch elements each, of which near-duplicates share some.

After Broder 2000, §3; FORMAT.md defines them. Cost: that of the sketch, and 5 ns per element.
"""

from __future__ import annotations

from lookalike._calls import explained
from lookalike._core import Column
from lookalike.designs.filters import PAPER, Filter
from lookalike.errors import ParameterError
from lookalike.fingerprints import Document
from lookalike.params import COORDINATES, HOMOGLYPHS, SKETCH, SKETCHING
from lookalike.sketches.estimated import sketch as sketched

#: Parameters that decide what the features of a document are, beside the filter.
MAKING = (SKETCH, *(SKETCHING[name] for name in ("shingle", "unit", "labelled", "bits")), HOMOGLYPHS)


@explained(*MAKING)
def features(
    document: Document,
    filter: Filter | tuple[int, int, int] | str = PAPER,
    *,
    sketch: str | None = None,
    shingle: int | None = None,
    unit: str | None = None,
    labelled: bool | None = None,
    bits: int | None = None,
    homoglyphs: bool | None = None,
) -> Column:
    """Return the features of a document; two near-duplicates share at least r of them.

    The feature at one place is compared with the feature at the same place of another document. The sketch has k·s
    elements, so features of another k or s are others.

    :param document: A text, a ``Path``, or tokens.
    :param filter: A ``Filter``, or its k, s and r as a tuple or as text, such as "6,14,2". Default: 6 features of 14
        elements, as AltaVista had.
    :parameters:
    :returns: k numbers of 64 bits; none for a document shorter than a shingle.
    :raises ParameterError: A parameter is out of range.
    :raises FrontendError: The document cannot be read as text.

    >>> one = "we hold these truths to be self-evident, that all men are created equal"
    >>> len(features(one)), features(one) == features(one.upper())
    (6, True)
    """
    kind = SKETCH.default if sketch is None else sketch
    if kind not in COORDINATES:
        raise ParameterError(f"sketch `{kind}` has no features: use one of {', '.join(COORDINATES)}")
    found = Filter.of(filter)
    made = sketched(
        document,
        found.elements,
        kind,
        shingle=shingle,
        unit=unit,
        labelled=labelled,
        bits=bits,
        homoglyphs=homoglyphs,
    )
    return made._made.features((found.k, found.s, 1))
