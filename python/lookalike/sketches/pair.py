"""Compares two documents of any format: exact measures, and the estimates of every sketch beside them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lookalike import documents, frontends, params
from lookalike._calls import explained
from lookalike._types import counted
from lookalike.errors import FrontendError
from lookalike.fingerprints import Document, Text, load
from lookalike.params import Sketching
from lookalike.sketches.estimated import SAMPLING, Estimate, Sketch, sketch
from lookalike.sketches.exact import Measures, measure
from lookalike.tokens import Tokens


class Side(NamedTuple):
    """A document as it was read."""

    name: str
    text: Text | Tokens
    #: What was guessed, left out or degraded.
    notes: tuple[str, ...] = ()


class Estimated(NamedTuple):
    """The estimates of one kind of sketch; ``None`` where they are undefined."""

    sketching: Sketching
    resemblance: Estimate | None
    #: Whether this kind of sketch can estimate containment.
    tells_containment: bool
    left_in_right: Estimate | None
    right_in_left: Estimate | None
    #: Bytes of the two sketches when stored.
    left_bytes: int
    right_bytes: int


@dataclass(frozen=True)
class Similarity:
    """The similarity of two documents: exact measures, and the estimates of each sketch.

    >>> from lookalike.sketches.pair import similarity
    >>> found = similarity("a b c d e f", "a b c d e g", sketches=["smallest"])
    >>> round(found.exact.resemblance, 3), found.estimates[0].sketching.sketch
    (0.333, 'smallest')
    """

    left: str
    right: str
    sketching: Sketching
    confidence: float
    exact: Measures
    estimates: tuple[Estimated, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        found = self.exact.resemblance
        shown = "undefined" if found is None else f"{found:.4g}"
        estimates = counted(len(self.estimates), "estimate")
        return f"<Similarity of `{self.left}` and `{self.right}`: resemblance {shown}, {estimates}>"

    @property
    def undefined(self) -> str | None:
        """Why the measures are undefined, in words; ``None`` if they are defined."""
        sides = ((self.left, self.exact.left), (self.right, self.exact.right))
        names = [f"`{name}`" for name, shingles in sides if not shingles]
        if not names:
            return None
        verb = "is" if len(names) == 1 else "are"
        need = counted(self.sketching.shingle, self.sketching.unit)
        return f"{' and '.join(names)} {verb} shorter than a shingle of {need}: there is nothing to compare"


def read(name: str, data: bytes) -> Side:
    """Read a document by its format, as a comparison does. Labels of pages, cells and notes are left out."""
    try:
        found = frontends.extract(name, data)
    except FrontendError as error:
        raise FrontendError(f"`{name}`: {error}") from None
    return Side(name, found.text, found.notes)


@explained(params.SKETCHING["size"], params.SKETCHING["confidence"], *SAMPLING)
def similarity(
    a: Document,
    b: Document,
    sketches: Sequence[str] = params.SKETCHES,
    *,
    size: int | None = None,
    confidence: float | None = None,
    modulus: int | None = None,
    shingle: int | None = None,
    unit: str | None = None,
    labelled: bool | None = None,
    homoglyphs: bool | None = None,
    bits: int | None = None,
) -> Similarity:
    """Compare two documents exactly, and by sketches with their intervals.

    :param a: A text, tokens, or a ``Path``, which is read by its format (PDF, Word, HTML, notebook, code, text).
    :param b: The other document.
    :param sketches: Kinds of sketches to use. Default: all.
    :parameters:
    :returns: The exact measures, one row of estimates per sketch, and notes on how the documents were read.
    :raises ParameterError: A parameter is out of range.
    :raises FrontendError: A document cannot be read.
    :raises OSError: A file cannot be opened.

    >>> similarity("a b c d e f", "a b c d e f", sketches=["fast"]).exact.resemblance
    1.0
    """
    base = params.sketching(None, size, modulus, shingle, unit, homoglyphs, labelled, bits)
    return compared(_side(a, "left"), _side(b, "right"), sketches, base, confidence)


def compared(left: Side, right: Side, sketches: Sequence[str], base: Sketching, confidence: float | None) -> Similarity:
    """Compare two documents that were read. Errors: as ``similarity``."""
    sure = params.SKETCHING["confidence"].default if confidence is None else confidence
    made = [(sketch_of(left, kind, base), sketch_of(right, kind, base)) for kind in sketches]
    rows = tuple(estimated(mine, theirs, sure) for mine, theirs in made)
    exact = measure(
        left.text,
        right.text,
        shingle=base.shingle,
        unit=base.unit,
        labelled=base.labelled,
        homoglyphs=base.homoglyphs,
    )
    readings = dict.fromkeys(
        f"{side.name}: read as {found.reading}"
        for pair in made[:1]
        for side, found in zip((left, right), pair, strict=True)
        if found.reading is not None and (found.reading.guessed or found.reading.replaced)
    )
    notes = (*(f"{side.name}: {note}" for side in (left, right) for note in side.notes), *readings)
    return Similarity(left.name, right.name, base, sure, exact, rows, notes)


def estimated(left: Sketch, right: Sketch, confidence: float) -> Estimated:
    """Return the estimates of two sketches of the same kind."""
    tells = left.sketching.sketch in params.CONTAINING
    return Estimated(
        left.sketching,
        left.resemblance(right, confidence),
        tells,
        left.containment(right, confidence) if tells else None,
        right.containment(left, confidence) if tells else None,
        left.len_bytes,
        right.len_bytes,
    )


def sketch_of(side: Side, kind: str, base: Sketching) -> Sketch:
    """Make the sketch of a document, of the given kind, with the other parameters of ``base``."""
    try:
        return sketch(
            side.text,
            base.size,
            kind,
            modulus=base.modulus,
            shingle=base.shingle,
            unit=base.unit,
            labelled=base.labelled,
            homoglyphs=base.homoglyphs,
            bits=base.bits,
        )
    except FrontendError as error:
        raise FrontendError(f"`{side.name}`: {error}") from None


def _side(given: Document, name: str) -> Side:
    if isinstance(given, os.PathLike):
        return read(os.fspath(given), documents.read(given))
    return Side(name, load(given))
