"""A corpus as the experiments on simhash see it: its distinct texts, each with its fingerprint, and a draw of them.

Identical texts are put together first. They are no question for a near-duplicate detector, and of n copies of one text
there are n²/2 pairs that say nothing. Where pairs are looked for, documents are drawn and *all* their partners in the
corpus are found (`partners.py`), so that the cost is linear in the corpus, and counts are those of all pairs times the
share of pairs that have a drawn end. A corpus of at most ``DRAWN`` texts is drawn whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lookalike import params
from lookalike.errors import FrontendError
from lookalike.lab.shared import synthetic
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.setting import Integers
from lookalike.simhashes.texts import simhash_batch
from lookalike.sketches.estimated import mod_sketch

#: Texts whose partners are looked for.
DRAWN = 10_000
#: Tokens in a shingle where the truth is a resemblance: those of `dedup`.
SHINGLE = params.SHINGLES["word"]
#: Bits of a fingerprint.
BITS = 64

#: What the synthetic corpus cannot show.
BY_CONSTRUCTION = (
    "put in by construction: all synthetic pages draw their words by one law, without subjects, so that their "
    "fingerprints crowd as those of no real corpus do, and its near-duplicates are pages with words replaced; what "
    "comes out of that proves nothing about simhash"
)

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Simhashed:
    """The distinct texts of a corpus that have a fingerprint."""

    #: Names of the documents that have each text, at least one.
    holders: tuple[tuple[str, ...], ...]
    texts: tuple[bytes, ...] = field(repr=False)
    fingerprints: Words = field(repr=False)
    #: Words of each text.
    lengths: Integers = field(repr=False)
    #: Names of the documents that have no fingerprint: they have no words.
    without: tuple[str, ...] = ()
    is_synthetic: bool = False

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the first document that has each text."""
        return tuple(names[0] for names in self.holders)

    @cached_property
    def copies(self) -> Integers:
        """The number of documents that have each text."""
        return np.array([len(names) for names in self.holders], dtype=np.int64)

    @cached_property
    def shingles(self) -> list[Words]:
        """The distinct shingles of each text, ascending."""
        return [shingles_of(text) for text in self.texts]

    def draw(self, seed: int) -> Integers:
        """Draw texts, ascending; all of them if they are few."""
        if len(self) <= DRAWN:
            return np.arange(len(self))
        return np.sort(np.random.default_rng(seed).choice(len(self), DRAWN, replace=False))

    def notes(self) -> tuple[str, ...]:
        """Return what a reader must know of how the corpus was taken."""
        documents = int(self.copies.sum())
        told = [f"{documents:,} documents with {len(self):,} distinct texts; identical ones were put together first"]
        if self.without:
            told.append(
                f"{len(self.without):,} documents have no words and so no fingerprint; in the paper such pages have "
                "the fingerprint 0 and are near each other"
            )
        if self.is_synthetic:
            told.append(BY_CONSTRUCTION)
        return tuple(told)


def read(corpus: Corpus) -> Simhashed:
    """Fingerprint the distinct texts of a corpus with the default features."""
    holders: dict[bytes, list[str]] = {}
    for name, text in zip(corpus.names, corpus.documents, strict=True):
        holders.setdefault(text, []).append(name)
    texts = list(holders)
    found = simhash_batch(texts)
    has = np.frombuffer(found.valid, dtype=np.uint8).astype(bool)
    kept = np.flatnonzero(has).tolist()
    empty = {name for i in np.flatnonzero(~has).tolist() for name in holders[texts[i]]}
    return Simhashed(
        holders=tuple(tuple(holders[texts[i]]) for i in kept),
        texts=tuple(texts[i] for i in kept),
        fingerprints=np.asarray(found.fingerprints, dtype=np.uint64)[has],
        lengths=np.asarray(found.lengths).astype(np.int64)[has],
        without=tuple(name for name in corpus.names if name in empty),
        is_synthetic=corpus.description.startswith(synthetic.DESCRIPTION),
    )


def read_several(corpus: Corpus) -> Simhashed:
    """Read a corpus in which there can be pairs. Errors: ``FrontendError`` for fewer than two texts."""
    found = read(corpus)
    if len(found) < 2:
        raise FrontendError(
            f"corpus `{corpus.name}` has {'one text' if len(found) else 'no text'} with words: "
            "near-duplicates need several; give a folder or rows"
        )
    return found


def shingles_of(text: bytes) -> Words:
    """Return the distinct shingles of a text, ascending."""
    return np.asarray(mod_sketch(text, modulus=1, shingle=SHINGLE).values, dtype=np.uint64)


def share_of_pairs(texts: int, drawn: int) -> float:
    """Return the share of all pairs that have a drawn end. REQUIRES: two texts."""
    left = texts - drawn
    return 1 - left * (left - 1) / (texts * (texts - 1))


def popcount(values: Words) -> Integers:
    """Return the number of bits set in each."""
    return np.bitwise_count(values).astype(np.int64)


def sample(rng: np.random.Generator, size: int, most: int) -> Integers:
    """Draw at most so many of so many, ascending."""
    return np.sort(rng.choice(size, min(size, most), replace=False))


def beginning(text: bytes, characters: int) -> str:
    """Return the beginning of a text on one line, for people."""
    # A character is at most four bytes, and half of them may be spaces that go.
    line = " ".join(text[: 8 * characters].decode("utf-8", "replace").split())
    return line if len(line) <= characters else line[: characters - 1] + "…"
