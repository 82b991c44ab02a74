"""Sketches: small samples of a text's shingles from which resemblance and containment are estimated.

After Broder 1997 and 2000. ``sketches.exact`` defines shingles and the exact measures. Cost: linear in the text; two
sketches are compared in time linear in their size.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple, Unpack

from lookalike import _core, params
from lookalike._core import Column
from lookalike._types import counted
from lookalike.corpora.batching import Given, batches
from lookalike.engines import local
from lookalike.errors import ParameterError
from lookalike.fingerprints import Document, Note, Reading, as_array, load, noted
from lookalike.params import Sketching
from lookalike.sketches.exact import Shingles

CONFIDENCE: float = params.SKETCHING["confidence"].default


class Making(Shingles, total=False):
    """How texts become sketches."""

    modulus: int | None
    bits: int | None


class Estimate(NamedTuple):
    """An estimate, and the interval that holds the truth at ``confidence``."""

    value: float
    low: float
    high: float
    #: Common elements, and the size of the sample they are part of.
    common: int
    sample: int
    confidence: float


class Sketch:
    """A small sample of a text's shingles, from which resemblance, and for some kinds containment, is estimated.

    Two sketches can be compared if they were made with the same parameters, on any machine.
    """

    __slots__ = ("_made", "reading")

    def __init__(self, made: _core.Sketch, reading: Reading | None = None) -> None:
        self._made = made
        #: How the text was read; ``None`` for a sketch that was stored, merged or updated.
        self.reading = reading

    @classmethod
    def empty(cls, kind: str | None = None, size: int | None = None, **chosen: Unpack[Making]) -> Sketch:
        """Make the sketch of nothing, for updates to begin with."""
        return cls(_maker(params.sketching(kind, size, **chosen)).empty())

    @classmethod
    def from_bytes(cls, data: bytes) -> Sketch:
        """Return the sketch that was stored. Errors: ``FormatError`` when the bytes are no sketch of this version."""
        return cls(_core.Sketch(data))

    def to_bytes(self) -> bytes:
        """Return the sketch as bytes: the same on every machine, described in FORMAT.md."""
        return self._made.to_bytes()

    @property
    def sketching(self) -> Sketching:
        """How it was made."""
        return Sketching(*self._made.parameters())

    @property
    def values(self) -> Column:
        """Its elements: coordinates, or the ascending ids of the shingles kept."""
        return self._made.values

    @property
    def is_empty(self) -> bool:
        """Whether the text has no shingles, so that nothing can be told."""
        return self._made.is_empty

    @property
    def len_bytes(self) -> int:
        """Bytes it takes when stored."""
        return self._made.len_bytes

    def count(self) -> float:
        """Return the number of distinct shingles: counted where it is known, else estimated."""
        return self._made.count()

    def resemblance(self, other: Sketch, confidence: float = CONFIDENCE) -> Estimate | None:
        """Estimate the resemblance of the two texts; ``None`` where it is undefined.

        >>> a, b = sketch("a rose is a rose is a rose", shingle=1), sketch("a rose is a rose", shingle=1)
        >>> a.resemblance(b).value
        1.0
        """
        found = self._made.resemblance(other._made, confidence)
        return None if found is None else Estimate(*found, confidence)

    def containment(self, other: Sketch, confidence: float = CONFIDENCE) -> Estimate | None:
        """Estimate the share of this text's shingles that the other has; kinds modulo and adaptive only."""
        found = self._made.containment(other._made, confidence)
        return None if found is None else Estimate(*found, confidence)

    def jaccard(self, other: Sketch) -> float | None:
        """Return the estimated resemblance alone, under the name others give it: no interval, so in a microsecond."""
        found = self._made.agreement(other._made)
        return None if found is None else found[0] / found[1]

    def merge(self, other: Sketch) -> None:
        """Make this the sketch of both texts' shingles together."""
        self._made, self.reading = self._made.merged(other._made), None

    def update(self, *shingles: bytes | str) -> None:
        """Add shingles of your own making; a ``str`` counts as its UTF-8."""
        self._made = self._made.updated([s.encode() if isinstance(s, str) else bytes(s) for s in shingles])
        self.reading = None

    def copy(self) -> Sketch:
        """Return a sketch that updates of this one do not change."""
        return Sketch(self._made, self.reading)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sketch) and self._made == other._made

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        s = self.sketching
        return f"<Sketch {s.sketch} of {len(self)}, {s.unit} shingles, w = {s.shingle}>"


@dataclass(frozen=True)
class SketchTable:
    """The sketches of many texts: a matrix with a row a text, which ``numpy.asarray`` takes as it is."""

    rows: Column
    #: Shingles of each text, repetitions included; 0 says that its row means nothing.
    shingles: Column
    sketching: Sketching
    #: Texts that were guessed, mended or refused.
    notes: tuple[Note, ...]

    def __len__(self) -> int:
        return len(self.shingles)

    def __repr__(self) -> str:
        s, texts = self.sketching, counted(len(self), "text")
        return f"<SketchTable of {texts}, {s.sketch} of {s.size}, {s.unit} shingles, w = {s.shingle}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the matrix, with one row per text, as ``numpy.asarray`` asks for it."""
        return as_array(self.rows, dtype, copy)


def sketch(document: Document, size: int | None = None, kind: str | None = None, **chosen: Unpack[Making]) -> Sketch:
    """Sketch one text.

    >>> sketch("to be or not to be, that is the question", size=64)
    <Sketch fast of 64, word shingles, w = 4>
    """
    made, reading = _maker(params.sketching(kind, size, **chosen)).one(load(document))
    return Sketch(made, Reading(*reading))


def mod_sketch(document: Document, **chosen: Unpack[Making]) -> Sketch:
    """Keep one shingle in ``modulus``: the sketch for containment."""
    return sketch(document, kind="modulo", **chosen)


def sketch_batch(
    texts: Iterable[Given],
    size: int | None = None,
    kind: str | None = None,
    *,
    threads: int | None = None,
    **chosen: Unpack[Making],
) -> SketchTable:
    """Sketch many texts on all cores. One that cannot be read has a row of all ones and a note."""
    s = params.sketching(kind, size, **chosen)
    maker = _maker(s)
    if s.sketch not in params.COORDINATES:
        raise ParameterError(f"sketch `{s.sketch}` has no fixed size: use one of {', '.join(params.COORDINATES)}")
    parts = list(local.map_batches(maker.rows, batches(texts), threads))
    notes, base = [], 0
    for _, shingles, found in parts:
        notes += [noted(base, note) for note in found]
        base += len(shingles)
    rows, shingles = _core.concatenate_rows([part[:2] for part in parts], s.size)
    return SketchTable(rows, shingles, s, tuple(notes))


def _maker(chosen: Sketching) -> _core.SketchMaker:
    return _core.SketchMaker(*astuple(chosen))
