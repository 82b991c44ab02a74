"""Texts as vectors of words, and their fingerprints with other weights than term frequency.

Words are those that `simhash` reads, so with their frequency as weight the fingerprints are its own. How rare a word is
(idf) is measured on the texts at hand, which makes it a property of this corpus: others give other fingerprints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lookalike.fingerprints import canonical, stream
from lookalike.lab.shared.setting import Integers
from lookalike.lab.shared.versions import text_of
from lookalike.lab.simhash.simhashed import Words
from lookalike.simhashes.texts import simhash

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class Vectors:
    """The words of texts, as numbers of words, with how often each stands there."""

    words: tuple[str, ...] = field(repr=False)
    #: Numbers of words and their counts, for each text.
    rows: tuple[tuple[Integers, Integers], ...] = field(repr=False)
    #: Texts that have each word, and how often it stands in all of them together.
    holders: Integers = field(repr=False)
    totals: Integers = field(repr=False)

    @cached_property
    def idf(self) -> Weights:
        """The natural logarithm of texts per text that has the word."""
        return np.log(len(self.rows) / self.holders)

    def commonest(self, most: int) -> list[tuple[str, float]]:
        """Return the words that stand there most often, and their shares of all words."""
        order = np.argsort(-self.totals, kind="stable")[:most]
        return [(self.words[i], float(self.totals[i] / self.totals.sum())) for i in order.tolist()]


def read(texts: Sequence[bytes]) -> Vectors:
    """Read texts as words. A text's bytes that are no UTF-8 are replaced."""
    found = [np.unique(_tokens(text), return_counts=True) for text in texts]
    sizes = np.array([len(tokens) for tokens, _ in found], dtype=np.int64)
    ends = np.cumsum(sizes)
    joined = np.concatenate([np.empty(0, np.uint64), *(tokens for tokens, _ in found)])
    known, first, which = np.unique(joined, return_index=True, return_inverse=True)
    parts = np.split(which.astype(np.int64), ends[:-1])
    rows = tuple((places, counts.astype(np.int64)) for places, (_, counts) in zip(parts, found, strict=True))
    holders = np.bincount(which, minlength=len(known))
    weights = np.concatenate([np.empty(0, np.int64), *(counts for _, counts in rows)])
    totals = np.bincount(which, weights=weights, minlength=len(known)).astype(np.int64)
    return Vectors(_spelled(texts, known, np.searchsorted(ends, first, side="right")), rows, holders, totals)


def _tokens(text: bytes) -> Words:
    return np.asarray(stream(text_of(text), unit="word").tokens, dtype=np.uint64)


def _spelled(texts: Sequence[bytes], known: Words, where: Integers) -> tuple[str, ...]:
    """Return each known token as a word, read in the text that has it first."""
    words = [""] * len(known)
    order = np.argsort(where, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(where[order])) + 1) if len(order) else []:
        text = text_of(texts[int(where[group[0]])])
        read = stream(text, unit="word")
        tokens, places = np.unique(np.asarray(read.tokens, dtype=np.uint64), return_index=True)
        for token in group.tolist():
            start, end = read.spans[int(places[np.searchsorted(tokens, known[token])])]
            words[token] = canonical(text[start:end])
    return tuple(words)


def frequency(vectors: Vectors, places: Integers, counts: Integers) -> Weights:
    """Weigh a word by how often it stands in the text: the default of `simhash`."""
    return counts.astype(np.float64)


def logarithm(vectors: Vectors, places: Integers, counts: Integers) -> Weights:
    """Weigh a word by 1 + ln of how often it stands in the text."""
    return 1 + np.log(counts)


def binary(vectors: Vectors, places: Integers, counts: Integers) -> Weights:
    """Weigh every word alike."""
    return np.ones(len(counts))


def rarity(vectors: Vectors, places: Integers, counts: Integers) -> Weights:
    """Weigh a word by its frequency times its idf."""
    return np.asarray(counts * vectors.idf[places])


Weighing = Callable[[Vectors, Integers, Integers], Weights]


def fingerprints(vectors: Vectors, weigh: Weighing) -> tuple[Words, NDArray[np.bool_]]:
    """Return the fingerprint of each text, and whether it has one: what weighs nothing has none."""
    made = [_fingerprint(vectors, weigh, *row) for row in vectors.rows]
    has = np.array([value is not None for value in made], dtype=bool)
    return np.array([value or 0 for value in made], dtype=np.uint64), has


def _fingerprint(vectors: Vectors, weigh: Weighing, places: Integers, counts: Integers) -> int | None:
    weights = weigh(vectors, places, counts)
    pairs = zip(places.tolist(), weights.tolist(), strict=True)
    return simhash(features=[(vectors.words[place], weight) for place, weight in pairs if weight])
