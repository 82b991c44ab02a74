"""Documents → fingerprints: the surface of the engine.

A ``str`` is a text and its spans are character indices; ``bytes`` are a text and its spans are byte offsets; an
``os.PathLike`` is a file, read as bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from lookalike import _core, documents, params
from lookalike._core import Column
from lookalike._types import counted
from lookalike.corpora.batching import Given, Text, batches
from lookalike.engines import local
from lookalike.errors import FrontendError, ParameterError
from lookalike.params import Selection

Document = Text | os.PathLike[str]
#: What the core returns for a batch: hashes, positions, offsets, tokens, notes.
Batch = tuple[Column, Column, Column, Column, list[tuple[int, tuple[str, bool, int] | None, str | None]]]


def select(
    hashes: Sequence[int],
    window: int,
    scheme: str = "winnow",
    *,
    modulus: int | None = None,
    count: int | None = None,
) -> Column:
    """Positions that a scheme selects from given hashes, compared by value.

    >>> select([77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98], window=4)
    [3, 6, 8, 11, 15]
    """
    modulus = _core.modulus_for(scheme, max(window, 1)) if modulus is None else modulus
    return _core.select(hashes, window, scheme, modulus, params.COUNT.default if count is None else count)


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
    """What looking up some of a document's fingerprints found. A dial of cost, and biased: not a resemblance."""

    found: int
    looked_up: int

    @property
    def share(self) -> float | None:
        """Share of the looked-up fingerprints that were found; None when there were none to look up."""
        return self.found / self.looked_up if self.looked_up else None


@dataclass(frozen=True)
class Fingerprints:
    """The fingerprints of one document: columns of equal length, positions ascending."""

    hashes: Column
    #: Index of the k-gram's first token.
    positions: Column
    #: Tokens in the document.
    tokens: int
    selection: Selection
    reading: Reading
    #: The document, kept because spans are found by reading it once more.
    text: Text = field(repr=False)

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
        """Fingerprints per k-gram; None for a document shorter than one."""
        return len(self) / self.kgrams if self.kgrams else None

    @property
    def is_too_short(self) -> bool:
        """Whether there are fewer than k tokens, so that only exact content can match."""
        return self.tokens < self.selection.k

    @cached_property
    def spans(self) -> Column:
        """Start and end of each k-gram in the document, found when first asked for."""
        s = self.selection
        return _core.locate(self.text, self.positions, s.k, s.unit, s.homoglyphs)

    def coarser(self, t: int) -> Fingerprints:
        """Fingerprint the same document with a larger t: a part of these fingerprints, so cheaper to look up (§3.2)."""
        s = self.selection
        if s.scheme not in params.NESTED:
            raise ParameterError(f"scheme `{s.scheme}` does not nest: use one of {', '.join(params.NESTED)}")
        if t < s.t:
            raise ParameterError(f"t `{t}` is finer than the t `{s.t}` these were made with: use t ≥ {s.t}")
        return _make(self.text, params.selection(s.k, t, s.scheme, s.unit, s.homoglyphs))

    def spectrum(self, lookups: int | None = None) -> list[int]:
        """Return the smallest ``lookups`` distinct hashes, ascending: the order in which §3.2 looks them up."""
        return sorted(set(self.hashes.tolist()))[:lookups]

    def look_up(self, stored: Fingerprints, lookups: int | None = None) -> LookUp:
        """Look up the first ``lookups`` of the spectrum (all by default) among another document's fingerprints."""
        wanted = self.spectrum(lookups)
        known = set(stored.hashes.tolist())
        return LookUp(sum(hash_ in known for hash_ in wanted), len(wanted))


@dataclass(frozen=True)
class Note:
    """Something a reader of the result must know about one document."""

    index: int
    message: str
    refused: bool


@dataclass(frozen=True)
class FingerprintTable:
    """The fingerprints of many documents in common columns; document i's are at ``offsets[i]:offsets[i + 1]``."""

    hashes: Column
    positions: Column
    offsets: Column
    tokens: Column
    selection: Selection
    #: Documents that were guessed, mended or refused.
    notes: tuple[Note, ...]

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        s = self.selection
        made = f"{counted(len(self), 'document')}, {counted(len(self.hashes), 'fingerprint')}"
        return f"<FingerprintTable of {made}, {s.scheme}, k = {s.k}, t = {s.t}, {s.unit}>"


@dataclass(frozen=True)
class Stream:
    """All tokens of a document, with their spans."""

    tokens: Column
    spans: Column

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        return f"<Stream of {counted(len(self), 'token')}>"


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

    >>> a, b = fingerprint("A do run run run, a do run run", k=5, t=8), fingerprint("I do run run, too", k=5, t=8)
    >>> sorted(set(a.hashes) & set(b.hashes)) != []
    True
    """
    return _make(load(document), params.selection(k, t, scheme, unit, homoglyphs, modulus, count))


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
    """Fingerprint many documents on all cores. One that cannot be read has no fingerprints and a note."""
    chosen = params.selection(k, t, scheme, unit, homoglyphs, modulus, count)
    maker = _maker(chosen)
    # One thread takes a list as it is: its columns need not be put together again.
    parts = list(local.map_batches(maker.many, batches(texts, whole=threads == 1), threads))
    notes = tuple(noted(base, note) for base, part in _bases(parts) for note in part[4])
    columns = parts[0][:4] if len(parts) == 1 else _core.concatenate([part[:4] for part in parts])
    return FingerprintTable(*columns, chosen, notes)


def stream(document: Document, *, unit: str | None = None, homoglyphs: bool = False) -> Stream:
    """Read a document as tokens with spans, all held in memory."""
    return Stream(*_core.stream(load(document), unit or params.UNIT.default, homoglyphs))


def canonical(document: Document, *, homoglyphs: bool = False) -> str:
    """Return the canonical form of a text: white space, punctuation, case and disguise taken away.

    >>> canonical("A do run run run, a do run run")
    'adorunrunrunadorunrun'
    """
    return _core.canonical(load(document), homoglyphs)


def load(document: Document) -> Text:
    """Read a document that is a file; others are texts already."""
    return documents.read(document) if isinstance(document, os.PathLike) else document


def _maker(chosen: Selection) -> _core.Fingerprinter:
    return _core.Fingerprinter(
        chosen.k, chosen.t, chosen.scheme, chosen.unit, chosen.homoglyphs, chosen.modulus, chosen.count
    )


def _make(text: Text, chosen: Selection) -> Fingerprints:
    hashes, positions, tokens, reading = _maker(chosen).one(text)
    return Fingerprints(hashes, positions, tokens, chosen, Reading(*reading), text)


def _bases(parts: list[Batch]) -> Iterator[tuple[int, Batch]]:
    """Each batch with the index of its first document."""
    base = 0
    for part in parts:
        yield base, part
        base += len(part[3])


def as_array(column: Column, dtype: Any, copy: bool | None) -> Any:
    """Return a column as an array of numpy, which asked for it and is therefore there."""
    import numpy

    return numpy.array(column, dtype=dtype, copy=copy)


def noted(base: int, note: tuple[int, tuple[str, bool, int] | None, str | None]) -> Note:
    """Turn the core's note on the n-th document of a batch into one on the document."""
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
