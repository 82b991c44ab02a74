"""Documents → fingerprints, after Schleimer, Wilkerson, Aiken 2003.

A ``str`` is a text, and its spans are character indices. ``bytes`` are a text, and their spans are byte offsets. An
``os.PathLike`` is a file, read by its format: a page of HTML, a PDF or a mail is its readable text, text and code are
their bytes. ``Tokens``, a list, a tuple or an array are tokens that the caller made.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from lookalike import _core, params
from lookalike._calls import explained
from lookalike._core import Column
from lookalike._types import counted
from lookalike.corpora.batching import Given, Text, batches, read_file
from lookalike.engines import local
from lookalike.errors import FrontendError, ParameterError
from lookalike.params import Selection
from lookalike.tokens import Span, Tokens, is_sequence

#: A document as the calls of one or two documents take it.
Document: TypeAlias = Text | os.PathLike[str] | Tokens | Sequence[int] | Sequence[str]
#: The result of the core for a batch: hashes, positions, offsets, tokens, notes.
Batch = tuple[Column, Column, Column, Column, list[tuple[int, tuple[str, bool, int] | None, str | None]]]

#: Parameters that decide which fingerprints a document has.
SELECTING = (params.K, params.T, params.SCHEME, params.UNIT, params.HOMOGLYPHS, params.MODULUS, params.COUNT)


def select(
    hashes: Sequence[int] | Tokens,
    window: int,
    scheme: str = "winnow",
    *,
    modulus: int | None = None,
    count: int | None = None,
) -> Column:
    """Return the positions that a scheme selects from given hashes, which it compares by value.

    :param hashes: Whole numbers from 0 to 2^64 − 1, or ``Tokens``, whose values are taken.
    :param window: How many consecutive hashes form a window.
    :param scheme: The selection scheme: one of ``params.SCHEMES``.
    :param modulus: p of 0 mod p, for ``modulo`` and ``safe-modulo``; by default chosen for the window.
    :param count: n of the n smallest, for ``smallest``.
    :returns: The selected positions, ascending.
    :raises ParameterError: A parameter is out of range.

    >>> select([77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98], window=4)
    [3, 6, 8, 11, 15]
    """
    modulus = _core.modulus_for(scheme, max(window, 1)) if modulus is None else modulus
    given = hashes.values if isinstance(hashes, Tokens) else hashes
    return _core.select(given, window, scheme, modulus, params.COUNT.default if count is None else count)


class Reading(NamedTuple):
    """How the bytes of a document were read."""

    encoding: str
    guessed: bool
    replaced: int

    def __str__(self) -> str:
        notes = ["guessed"] if self.guessed else []
        notes += [f"{self.replaced} replaced"] if self.replaced else []
        return f"{self.encoding} ({', '.join(notes)})" if notes else self.encoding


class LookUp(NamedTuple):
    """How many of a document's looked-up fingerprints were found. The share is biased: it is not a resemblance.

    >>> from lookalike.fingerprints import fingerprint
    >>> a = fingerprint("adorunrunrun", k=3, t=3)
    >>> a.look_up(a).share
    1.0
    """

    found: int
    looked_up: int

    @property
    def share(self) -> float | None:
        """Share of the looked-up fingerprints that were found; ``None`` if none was looked up."""
        return self.found / self.looked_up if self.looked_up else None


@dataclass(frozen=True)
class Fingerprints:
    """The fingerprints of one document: columns of equal length, positions ascending.

    >>> from lookalike.fingerprints import fingerprint
    >>> found = fingerprint("A do run run run", k=5, t=8)
    >>> found.tokens, found.kgrams, len(found) == len(found.positions)
    (12, 8, True)
    """

    hashes: Column
    #: Index of the k-gram's first token.
    positions: Column
    #: Tokens in the document.
    tokens: int
    selection: Selection
    reading: Reading
    #: The document. It is kept because spans are found by reading it again.
    text: Text | Tokens = field(repr=False)

    def __len__(self) -> int:
        return len(self.hashes)

    def __repr__(self) -> str:
        s = self.selection
        tokens = counted(self.tokens, "token")
        return f"<Fingerprints: {len(self):,} of {tokens}, {s.scheme}, k = {s.k}, t = {s.t}, {s.unit}>"

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle keeps: all of it, and bytes for a text that is a view of other memory."""
        text = bytes(self.text) if isinstance(self.text, memoryview) else self.text
        return vars(self) | {"text": text}

    @property
    def kgrams(self) -> int:
        """k-grams in the document."""
        return max(self.tokens - self.selection.k + 1, 0)

    @property
    def density(self) -> float | None:
        """Fingerprints per k-gram; ``None`` for a document shorter than one k-gram."""
        return len(self) / self.kgrams if self.kgrams else None

    @property
    def is_too_short(self) -> bool:
        """Whether there are fewer than k tokens, so that only identical content can match."""
        return self.tokens < self.selection.k

    @cached_property
    def spans(self) -> Column | list[Span]:
        """Start and end of each k-gram in the document, found on first use.

        Errors: ``ParameterError`` if the document is tokens without spans.
        """
        s = self.selection
        if isinstance(self.text, Tokens):
            places = self.text.spans
            if places is None:
                raise ParameterError("these tokens have no spans: give Tokens(values, spans=...)")
            return [(places[at][0], places[at + s.k - 1][1]) for at in self.positions]
        return _core.locate(self.text, self.positions, s.k, s.unit, s.homoglyphs)

    def coarser(self, t: int) -> Fingerprints:
        """Fingerprint the same document with a larger t: a subset of these fingerprints, cheaper to look up (§3.2).

        Errors: ``ParameterError`` if t is smaller than that of these fingerprints, or the scheme has no such subsets.
        """
        s = self.selection
        if s.scheme not in params.NESTED:
            raise ParameterError(f"scheme `{s.scheme}` has no coarser subset: use one of {', '.join(params.NESTED)}")
        if t < s.t:
            raise ParameterError(f"t `{t}` is finer than the t `{s.t}` these were made with: use t ≥ {s.t}")
        return _make(self.text, params.selection(s.k, t, s.scheme, s.unit, s.homoglyphs))

    def spectrum(self, lookups: int | None = None) -> list[int]:
        """Return the ``lookups`` smallest distinct hashes, ascending: the order in which §3.2 looks them up."""
        return sorted(set(self.hashes.tolist()))[:lookups]

    def look_up(self, stored: Fingerprints, lookups: int | None = None) -> LookUp:
        """Look up the first ``lookups`` hashes of the spectrum (default: all) among another document's fingerprints."""
        wanted = self.spectrum(lookups)
        known = set(stored.hashes.tolist())
        return LookUp(sum(hash_ in known for hash_ in wanted), len(wanted))


@dataclass(frozen=True)
class Note:
    """A remark on one document: its encoding was guessed, it was repaired, or it could not be read."""

    index: int
    message: str
    refused: bool


@dataclass(frozen=True)
class FingerprintTable:
    """The fingerprints of many documents in common columns; those of document i are ``offsets[i]:offsets[i + 1]``.

    >>> from lookalike.fingerprints import fingerprint_batch
    >>> table = fingerprint_batch(["A do run run run", "do"], k=5, t=8)
    >>> len(table), table.tokens
    (2, [12, 2])
    """

    hashes: Column
    positions: Column
    offsets: Column
    tokens: Column
    selection: Selection
    #: Documents whose encoding was guessed, that were repaired, or that could not be read.
    notes: tuple[Note, ...]

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        s = self.selection
        made = f"{counted(len(self), 'document')}, {counted(len(self.hashes), 'fingerprint')}"
        return f"<FingerprintTable of {made}, {s.scheme}, k = {s.k}, t = {s.t}, {s.unit}>"


@dataclass(frozen=True)
class Stream:
    """All tokens of a document, with their spans.

    >>> from lookalike.fingerprints import stream
    >>> stream("To be", unit="word").spans
    [(0, 2), (3, 5)]
    """

    tokens: Column
    spans: Column

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        return f"<Stream of {counted(len(self), 'token')}>"


@explained(*SELECTING)
def fingerprint(
    document: Document,
    *,
    k: int | None = None,
    t: int | None = None,
    scheme: str | None = None,
    unit: str | None = None,
    homoglyphs: bool | None = None,
    modulus: int | None = None,
    count: int | None = None,
) -> Fingerprints:
    """Fingerprint one document.

    :param document: A text, a ``Path``, or tokens.
    :parameters:
    :returns: Hashes, positions and, on demand, spans.
    :raises ParameterError: A parameter is out of range, or ``unit`` or ``homoglyphs`` is given for tokens.
    :raises FrontendError: The document cannot be read as text.

    >>> a, b = fingerprint("A do run run run, a do run run", k=5, t=8), fingerprint("I do run run, too", k=5, t=8)
    >>> sorted(set(a.hashes) & set(b.hashes)) != []
    True
    """
    loaded = load(document)
    if isinstance(loaded, Tokens):
        check_tokens(unit=unit, homoglyphs=homoglyphs)
        unit = params.TOKEN
    return _make(loaded, params.selection(k, t, scheme, unit, homoglyphs, modulus, count))


@explained(*SELECTING)
def fingerprint_batch(
    texts: Iterable[Given],
    *,
    k: int | None = None,
    t: int | None = None,
    scheme: str | None = None,
    unit: str | None = None,
    homoglyphs: bool | None = None,
    modulus: int | None = None,
    count: int | None = None,
    threads: int | None = None,
) -> FingerprintTable:
    """Fingerprint many texts on all cores. A text that cannot be read has no fingerprints and a note.

    :param texts: Texts as ``str`` or bytes.
    :parameters:
    :param threads: How many cores to use; ``None`` for all.
    :returns: A table of all fingerprints, document by document.
    :raises ParameterError: A parameter is out of range.

    >>> fingerprint_batch(["A do run run run", "do"], k=5, t=8).offsets[-1] >= 1
    True
    """
    chosen = params.selection(k, t, scheme, unit, homoglyphs, modulus, count)
    maker = _maker(chosen)
    # One thread takes a list as it is, so that its columns need not be joined.
    parts = list(local.map_batches(maker.many, batches(texts, whole=threads == 1), threads))
    notes = tuple(noted(base, note) for base, part in _bases(parts) for note in part[4])
    columns = parts[0][:4] if len(parts) == 1 else _core.concatenate([part[:4] for part in parts])
    return FingerprintTable(*columns, chosen, notes)


def stream(document: Document, *, unit: str | None = None, homoglyphs: bool = False) -> Stream:
    """Read a document as tokens with spans, all held in memory.

    :param document: A text or a ``Path``.
    :param unit: What a token is: ``character``, ``word`` or ``line``. Default: ``character``.
    :param homoglyphs: Treat look-alike letters (Cyrillic а) as Latin.
    :returns: The tokens and their spans.
    :raises FrontendError: The document cannot be read as text.

    >>> len(stream("To be, or not to be", unit="word"))
    6
    """
    return Stream(*_core.stream(text_of(document), unit or params.UNIT.default, homoglyphs))


def canonical(document: Document, *, homoglyphs: bool = False) -> str:
    """Return the canonical form of a text: without white space, punctuation, case and invisible characters.

    :param document: A text or a ``Path``.
    :param homoglyphs: Treat look-alike letters (Cyrillic а) as Latin.
    :returns: The characters that are compared.
    :raises FrontendError: The document cannot be read as text.

    >>> canonical("A do run run run, a do run run")
    'adorunrunrunadorunrun'
    """
    return _core.canonical(text_of(document), homoglyphs)


def load(document: Document) -> Text | Tokens:
    """Return a document as a text or as tokens; a file is read. Errors: ``OSError``, ``ParameterError``."""
    if isinstance(document, str | bytes | bytearray | memoryview | Tokens):
        return document
    if isinstance(document, os.PathLike):
        return read_file(document)
    # Whatever else comes is refused by the core, which names its type.
    return Tokens(document) if is_sequence(document) else document  # type: ignore[return-value]


def text_of(document: Document) -> Text:
    """Return a document that must be a text. Errors: ``OSError``, ``ParameterError`` for tokens."""
    loaded = load(document)
    if isinstance(loaded, Tokens):
        raise ParameterError("tokens are no text: give a str, bytes or a Path")
    return loaded


def column(document: Text | Tokens, unit: str, homoglyphs: bool) -> Column:
    """Return the token values of a document. Errors: ``FrontendError``."""
    return document.values if isinstance(document, Tokens) else _core.stream(document, unit, homoglyphs)[0]


def check_tokens(**given: object) -> None:
    """Errors: ``ParameterError`` if something was chosen that only makes tokens of a text."""
    for name, value in given.items():
        if value is not None:
            raise ParameterError(f"{name} `{value}` makes tokens of a text, and tokens were given: leave it out")


def _maker(chosen: Selection) -> _core.Fingerprinter:
    # Tokens that were given are hashed as words are.
    unit = "word" if chosen.unit == params.TOKEN else chosen.unit
    return _core.Fingerprinter(chosen.k, chosen.t, chosen.scheme, unit, chosen.homoglyphs, chosen.modulus, chosen.count)


def _make(text: Text | Tokens, chosen: Selection) -> Fingerprints:
    if isinstance(text, Tokens):
        found = _core.fingerprint_tokens(_maker(chosen), text.values)
        return Fingerprints(*found, len(text), chosen, Reading("tokens", False, 0), text)
    hashes, positions, tokens, reading = _maker(chosen).one(text)
    return Fingerprints(hashes, positions, tokens, chosen, Reading(*reading), text)


def _bases(parts: list[Batch]) -> Iterator[tuple[int, Batch]]:
    """Yield each batch with the index of its first document."""
    base = 0
    for part in parts:
        yield base, part
        base += len(part[3])


def as_array(column: Column, dtype: Any, copy: bool | None) -> Any:
    """Return a column as an array of numpy, which asked for it and is therefore there."""
    import numpy

    return numpy.array(column, dtype=dtype, copy=copy)


def noted(base: int, note: tuple[int, tuple[str, bool, int] | None, str | None]) -> Note:
    """Turn the core's note on the n-th document of a batch into one on that document of all."""
    index, reading, error = note
    message = f"read as {Reading(*reading)}" if reading else str(error)
    return Note(base + index, message, refused=error is not None)


__all__ = [
    "FingerprintTable",
    "Fingerprints",
    "FrontendError",
    "LookUp",
    "Note",
    "Reading",
    "Stream",
    "Text",
    "canonical",
    "fingerprint",
    "fingerprint_batch",
    "select",
    "stream",
]
