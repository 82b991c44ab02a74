"""Two documents of any format → exact measures and what every sketch makes of them, side by side."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Unpack

from lookalike import documents, frontends, params
from lookalike._types import counted
from lookalike.errors import FrontendError
from lookalike.fingerprints import Document, Text
from lookalike.params import Sketching
from lookalike.sketches.estimated import Estimate, Making, Sketch, sketch
from lookalike.sketches.exact import Measures, Shingles, measure


class Side(NamedTuple):
    """A document as it was read."""

    name: str
    text: Text
    #: What was guessed, left out or degraded.
    notes: tuple[str, ...] = ()


class Estimated(NamedTuple):
    """What one kind of sketch says; ``None`` is undefined."""

    sketching: Sketching
    resemblance: Estimate | None
    #: Whether the kind tells containment at all.
    tells_containment: bool
    left_in_right: Estimate | None
    right_in_left: Estimate | None
    #: Bytes of the two sketches when stored.
    left_bytes: int
    right_bytes: int


@dataclass(frozen=True)
class Similarity:
    """Everything that is known of two documents' similarity."""

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
        """Why nothing is defined, in words; ``None`` where the exact measures are."""
        sides = ((self.left, self.exact.left), (self.right, self.exact.right))
        names = [f"`{name}`" for name, shingles in sides if not shingles]
        if not names:
            return None
        verb = "is" if len(names) == 1 else "are"
        need = counted(self.sketching.shingle, self.sketching.unit)
        return f"{' and '.join(names)} {verb} shorter than a shingle of {need}: there is nothing to compare"


def read(name: str, data: bytes) -> Side:
    """Read a document by its format, as a comparison does: what pages, cells and notes are called is not compared."""
    try:
        readable = frontends.read(name, data)
    except FrontendError as error:
        raise FrontendError(f"`{name}`: {error}") from None
    whole, parts = readable.text, readable.parts
    if len(parts) == 1 and (parts[0].start, parts[0].end) == (0, len(whole)):
        return Side(name, whole, readable.notes)
    if isinstance(whole, str):
        return Side(name, "\n".join(whole[part.start : part.end] for part in parts), readable.notes)
    return Side(name, b"\n".join(whole[part.start : part.end] for part in parts), readable.notes)


def similarity(
    left: Document | Side,
    right: Document | Side,
    sketches: Sequence[str] = params.SKETCHES,
    *,
    size: int | None = None,
    confidence: float | None = None,
    **chosen: Unpack[Making],
) -> Similarity:
    """Compare two documents exactly, and by each of ``sketches``. A path is read by its format, as comparisons do."""
    base = params.sketching(None, size, **chosen)
    sure = params.SKETCHING["confidence"].default if confidence is None else confidence
    a, b = _side(left, "left"), _side(right, "right")
    made = [(sketch_of(a, kind, base), sketch_of(b, kind, base)) for kind in sketches]
    rows = tuple(estimated(mine, theirs, sure) for mine, theirs in made)
    exact = measure(a.text, b.text, **_shingles(base))
    readings = dict.fromkeys(
        f"{side.name}: read as {found.reading}"
        for pair in made[:1]
        for side, found in zip((a, b), pair, strict=True)
        if found.reading is not None and (found.reading.guessed or found.reading.replaced)
    )
    notes = (*(f"{side.name}: {note}" for side in (a, b) for note in side.notes), *readings)
    return Similarity(a.name, b.name, base, sure, exact, rows, notes)


def estimated(left: Sketch, right: Sketch, confidence: float) -> Estimated:
    """Return what two sketches of a kind say of each other."""
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
    """Sketch a document by a kind, with the other parameters of ``base``."""
    try:
        return sketch(side.text, base.size, kind, modulus=base.modulus, bits=base.bits, **_shingles(base))
    except FrontendError as error:
        raise FrontendError(f"`{side.name}`: {error}") from None


def _side(given: Document | Side, name: str) -> Side:
    if isinstance(given, Side):
        return given
    if isinstance(given, os.PathLike):
        return read(os.fspath(given), documents.read(given))
    return Side(name, given)


def _shingles(base: Sketching) -> Shingles:
    return Shingles(shingle=base.shingle, unit=base.unit, labelled=base.labelled, homoglyphs=base.homoglyphs)
