"""Sketches: small samples of a document's shingles from which resemblance and containment are estimated.

After Broder 1997 and 2000. ``sketches.exact`` defines shingles and the exact measures. Cost: linear in the document;
two sketches are compared in time linear in their size.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple

from lookalike import _core, params
from lookalike._calls import explained
from lookalike._core import Column
from lookalike._types import counted
from lookalike.corpora.batching import Given, batches
from lookalike.engines import local
from lookalike.errors import ParameterError
from lookalike.fingerprints import Document, Note, Reading, as_array, load, noted
from lookalike.params import HOMOGLYPHS, SKETCHING, Sketching
from lookalike.tokens import Tokens

CONFIDENCE: float = SKETCHING["confidence"].default
#: Parameters that decide what the sketch of a document is.
MAKING = (*(one for name, one in SKETCHING.items() if name != "confidence"), HOMOGLYPHS)
#: The same for a sketch whose kind and size are fixed.
SAMPLING = tuple(one for one in MAKING if one.name not in ("sketch", "size"))


class Estimate(NamedTuple):
    """An estimate, and the interval that holds the true value with the given confidence.

    The interval allows for the sample, and for different shingles with the same id. That happens to two of them with a
    probability of at most ``|s| / 2^(ℓ − 1)``, for shingles of ``|s|`` bits and ids of ℓ (Broder 1997, §4.1):
    ``Sketch.sketching.collision_bound``.

    >>> from lookalike.sketches.estimated import sketch
    >>> found = sketch("a b c d e f").resemblance(sketch("a b c d e f"))
    >>> found.value, found.low <= 1.0 <= found.high
    (1.0, True)
    """

    value: float
    low: float
    high: float
    #: Common elements, and the size of the sample they are part of.
    common: int
    sample: int
    confidence: float
    #: What collisions of ids add to the interval on each side.
    collisions: float


class Sketch:
    """A small sample of a document's shingles. It estimates resemblance, and for some kinds containment.

    Two sketches can be compared if they were made with the same parameters, on any machine. ``sketch`` makes one of a
    document, ``Sketch.empty`` one to be filled shingle by shingle, ``Sketch.from_bytes`` reads a stored one.

    >>> a, b = Sketch.empty(size=64), Sketch.empty(size=64)
    >>> a.update("one", "two")
    >>> b.update("two", "one")
    >>> a == b, a.jaccard(b)
    (True, 1.0)
    """

    __slots__ = ("_made", "reading")

    def __init__(self, made: _core.Sketch, reading: Reading | None = None) -> None:
        self._made = made
        #: How the text was read; ``None`` for a sketch of tokens, and one that was stored, merged or updated.
        self.reading = reading

    @classmethod
    def empty(
        cls,
        sketch: str | None = None,
        size: int | None = None,
        *,
        modulus: int | None = None,
        shingle: int | None = None,
        unit: str | None = None,
        labelled: bool | None = None,
        homoglyphs: bool | None = None,
        bits: int | None = None,
    ) -> Sketch:
        """Make the sketch of no shingles, to be updated. The parameters are those of ``lookalike.sketch``.

        >>> Sketch.empty("modulo", modulus=4).is_empty
        True
        """
        chosen = params.sketching(sketch, size, modulus, shingle, unit, homoglyphs, labelled, bits)
        return cls(_maker(chosen).empty())

    @classmethod
    def from_bytes(cls, data: bytes) -> Sketch:
        """Read a stored sketch. Errors: ``FormatError`` if the bytes are no sketch of this version."""
        return cls(_core.Sketch(data))

    def to_bytes(self) -> bytes:
        """Return the sketch as bytes: the same on every machine, described in FORMAT.md."""
        return self._made.to_bytes()

    @property
    def sketching(self) -> Sketching:
        """The parameters it was made with."""
        return Sketching(*self._made.parameters())

    @property
    def values(self) -> Column:
        """Its elements: coordinates, or the ids of the kept shingles, ascending."""
        return self._made.values

    @property
    def is_empty(self) -> bool:
        """Whether the document has no shingles, so that every measure is undefined."""
        return self._made.is_empty

    @property
    def len_bytes(self) -> int:
        """Bytes it takes when stored."""
        return self._made.len_bytes

    def count(self) -> float:
        """Return the number of distinct shingles: exact where it is known, else estimated."""
        return self._made.count()

    def resemblance(self, other: Sketch, confidence: float = CONFIDENCE) -> Estimate | None:
        """Estimate the resemblance of the two documents; ``None`` where it is undefined.

        :param other: A sketch made with the same parameters.
        :param confidence: How often the interval must hold the true value, 0 to 1.
        :raises ParameterError: The sketches were made differently.

        >>> a, b = sketch("a rose is a rose is a rose", shingle=1), sketch("a rose is a rose", shingle=1)
        >>> a.resemblance(b).value
        1.0
        """
        return _estimate(self._made.resemblance(other._made, confidence), confidence)

    def containment(self, other: Sketch, confidence: float = CONFIDENCE) -> Estimate | None:
        """Estimate the share of this document's shingles that the other has; for ``modulo`` and ``adaptive`` only.

        :param other: A sketch made with the same parameters.
        :param confidence: How often the interval must hold the true value, 0 to 1.
        :raises ParameterError: The kind of sketch cannot estimate containment, or the sketches were made differently.
        """
        return _estimate(self._made.containment(other._made, confidence), confidence)

    def jaccard(self, other: Sketch) -> float | None:
        """Return the estimated resemblance without an interval, which takes a microsecond; ``None`` if undefined."""
        found = self._made.agreement(other._made)
        return None if found is None else found[0] / found[1]

    def merge(self, other: Sketch) -> None:
        """Add the shingles of another sketch: this becomes the sketch of the union."""
        self._made, self.reading = self._made.merged(other._made), None

    def update(self, *shingles: bytes | str) -> None:
        """Add shingles that you made yourself, as bytes; a ``str`` counts as its UTF-8."""
        self._made = self._made.updated([s.encode() if isinstance(s, str) else bytes(s) for s in shingles])
        self.reading = None

    def copy(self) -> Sketch:
        """Return a copy that later updates of this sketch do not change."""
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
    """The sketches of many texts: a matrix with one row per text. ``numpy.asarray(table.rows)`` copies nothing.

    >>> from lookalike.sketches.estimated import sketch_batch
    >>> table = sketch_batch(["a b c d e f", "a b"], size=16)
    >>> len(table), table.shingles
    (2, [2, 0])
    """

    rows: Column
    #: Shingles of each text, repetitions included; a row with 0 has no meaning.
    shingles: Column
    sketching: Sketching
    #: Texts whose encoding was guessed, that were repaired, or that could not be read.
    notes: tuple[Note, ...]

    def __len__(self) -> int:
        return len(self.shingles)

    def __repr__(self) -> str:
        s, texts = self.sketching, counted(len(self), "text")
        return f"<SketchTable of {texts}, {s.sketch} of {s.size}, {s.unit} shingles, w = {s.shingle}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the matrix, with one row per text, as ``numpy.asarray`` asks for it."""
        return as_array(self.rows, dtype, copy)


@explained(*MAKING)
def sketch(
    document: Document,
    size: int | None = None,
    sketch: str | None = None,
    *,
    modulus: int | None = None,
    shingle: int | None = None,
    unit: str | None = None,
    labelled: bool | None = None,
    homoglyphs: bool | None = None,
    bits: int | None = None,
) -> Sketch:
    """Make the sketch of one document.

    :param document: A text, a ``Path``, or tokens.
    :parameters:
    :returns: The sketch.
    :raises ParameterError: A parameter is out of range.
    :raises FrontendError: The document cannot be read as text.

    >>> sketch("to be or not to be, that is the question", size=64)
    <Sketch fast of 64, word shingles, w = 5>
    """
    maker = _maker(params.sketching(sketch, size, modulus, shingle, unit, homoglyphs, labelled, bits))
    loaded = load(document)
    if isinstance(loaded, Tokens):
        return Sketch(_core.sketch_tokens(maker, loaded.values))
    made, reading = maker.one(loaded)
    return Sketch(made, Reading(*reading))


@explained(*SAMPLING)
def mod_sketch(
    document: Document,
    *,
    modulus: int | None = None,
    shingle: int | None = None,
    unit: str | None = None,
    labelled: bool | None = None,
    homoglyphs: bool | None = None,
    bits: int | None = None,
) -> Sketch:
    """Make the sketch for containment: keep one shingle in ``modulus``.

    :param document: A text, a ``Path``, or tokens.
    :parameters:
    :returns: The sketch, of kind ``modulo``.
    :raises ParameterError: A parameter is out of range.
    :raises FrontendError: The document cannot be read as text.

    >>> part, whole = (mod_sketch(text, modulus=1) for text in ("a b c d e f", "x a b c d e f g"))
    >>> part.containment(whole).value
    1.0
    """
    return sketch(
        document,
        sketch="modulo",
        modulus=modulus,
        shingle=shingle,
        unit=unit,
        labelled=labelled,
        homoglyphs=homoglyphs,
        bits=bits,
    )


@explained(*MAKING)
def sketch_batch(
    texts: Iterable[Given],
    size: int | None = None,
    sketch: str | None = None,
    *,
    modulus: int | None = None,
    shingle: int | None = None,
    unit: str | None = None,
    labelled: bool | None = None,
    homoglyphs: bool | None = None,
    bits: int | None = None,
    threads: int | None = None,
) -> SketchTable:
    """Make the sketches of many texts on all cores. A text that cannot be read has a row of all ones and a note.

    :param texts: Texts as ``str`` or bytes.
    :parameters:
    :param threads: How many cores to use; ``None`` for all.
    :returns: A table with one row per text.
    :raises ParameterError: A parameter is out of range, or the kind of sketch has no fixed size.

    >>> sketch_batch(["a b c d e", "b c d e f"], size=16).shingles
    [1, 1]
    """
    s = params.sketching(sketch, size, modulus, shingle, unit, homoglyphs, labelled, bits)
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


def _estimate(found: tuple[float, float, float, int, int, float] | None, confidence: float) -> Estimate | None:
    return None if found is None else Estimate(*found[:5], confidence, found[5])


def _maker(chosen: Sketching) -> _core.SketchMaker:
    return _core.SketchMaker(*astuple(chosen))
