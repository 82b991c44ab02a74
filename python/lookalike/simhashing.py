"""Simhash: one 64-bit fingerprint a document, near for documents that are nearly the same.

After Charikar 2002 and Manku, Jain, Das Sarma 2007, §2. A document without features has no fingerprint: ``None``,
never a 0 that would be near every other 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from typing import TypedDict, Unpack

from lookalike import _core, params
from lookalike._core import Column
from lookalike.engines import local
from lookalike.errors import ParameterError
from lookalike.fingerprinting import Document, Note, Text, batches, load, noted
from lookalike.params import Simhashing

#: Features that the caller made, each with its weight.
Features = Mapping[str, float] | Iterable[tuple[str, float]]


class Making(TypedDict, total=False):
    """How texts become features; what is left out has the default of ``params``."""

    unit: str | None
    shingle: int | None
    homoglyphs: bool | None


@dataclass(frozen=True)
class SimhashTable:
    """The fingerprints of many texts, in columns that ``numpy.asarray`` takes as they are."""

    #: 0 where there is none.
    fingerprints: Column
    #: A byte a text: 1 if it has a fingerprint, 0 if not.
    valid: bytes
    #: Tokens of each text.
    lengths: Column
    simhashing: Simhashing
    #: Texts that were guessed, mended or refused.
    notes: tuple[Note, ...]

    def __len__(self) -> int:
        return len(self.valid)

    def __getitem__(self, at: int) -> int | None:
        """Return the fingerprint of a text, ``None`` if it has none."""
        return self.fingerprints[at] if self.valid[at] else None


def simhash(
    document: Document | None = None, *, features: Features | None = None, **chosen: Unpack[Making]
) -> int | None:
    """Return the fingerprint of a document, or of features with weights; ``None`` if there are no features.

    A weight may be negative, and then votes for the opposite bits. Errors: ``ParameterError``, ``FrontendError``.

    >>> bin(simhash("a rose is a rose is a rose") ^ simhash("a rose is a rose is a flower")).count("1")
    4
    >>> simhash(features={"rose": 3, "is": 2, "a": 3}) == simhash("a rose is a rose is a rose")
    True
    >>> simhash("?!") is None
    True
    """
    if (document is None) == (features is None):
        raise ParameterError("simhash takes a document, or features with their weights: give one of the two")
    if features is not None:
        if chosen:
            raise ParameterError(f"parameter `{min(chosen)}` makes features of a text, and features were given")
        return _core.simhash_features(_pairs(features))
    assert document is not None
    return maker(params.simhashing(**chosen)).one(load(document))[0]


def simhash_batch(texts: Iterable[Text], *, threads: int | None = None, **chosen: Unpack[Making]) -> SimhashTable:
    """Fingerprint many texts on all cores. One that cannot be read has no fingerprint and a note."""
    s = params.simhashing(**chosen)
    # One thread takes a list as it is: its columns need not be put together again.
    whole = [texts] if threads == 1 and isinstance(texts, list) else batches(texts)
    parts = list(local.map_batches(maker(s).many, whole, threads))
    notes: list[Note] = []
    base = 0
    for _, valid, _, found in parts:
        notes += [noted(base, note) for note in found]
        base += len(valid)
    fingerprints, lengths = _core.concatenate_simhashes([(part[0], part[2]) for part in parts])
    return SimhashTable(fingerprints, b"".join(part[1] for part in parts), lengths, s, tuple(notes))


def _pairs(features: Features) -> list[tuple[str, float]]:
    """Return features as the core takes them. Errors: ``ParameterError``."""
    pairs = list(features.items()) if isinstance(features, Mapping) else list(features)
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2 or not isinstance(pair[0], str):
            raise ParameterError(f"feature `{pair!r}` is not a pair: use a string and its weight, such as ('rose', 3)")
    return pairs


def maker(chosen: Simhashing) -> _core.SimhashMaker:
    """Return the core's maker of fingerprints. Errors: ``ParameterError``."""
    return _core.SimhashMaker(*astuple(chosen))


__all__ = ["Features", "SimhashTable", "simhash", "simhash_batch"]
