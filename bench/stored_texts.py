"""Documents for an archive, made by seeded code: words as often as in English, and edits of earlier documents.

A document has words of its own, as real texts have: three words in ten are drawn from sixty that only this document
prefers, the others from one table for all. Simhashes of two such documents of 443 words differ in 18.5 bits on average,
and in at most 8 for one pair in six hundred; those of Reuters news articles of 1.2 to 3.5 KB in 19.4 bits, and in at
most 8 for one pair in five hundred. Without words of their own (`own=0`) documents are much more alike than real ones:
10 bits on average, and 3 or fewer for one pair in three hundred. Questions of distance then have thousands of answers;
this is the hard case.

A corpus is a pure function of its size, the length of its documents and the share of own words. Every fiftieth document
is an edit of an earlier one; of the questions, every second is an edit of a stored document, and the others are new.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from bench import corpora
from bench.corpora import ENGLISH, SEED

#: One document in so many is an edit of an earlier one.
EDITS = 50
#: Words of an edit that are replaced: one in so many.
CHANGED = 100
#: Words that a document prefers, and the first words of the table, which nobody prefers.
PREFERRED, COMMON = 60, 100


@cache
def _words() -> tuple[Any, Any]:
    """The vocabulary, and the share of each word with those before it: the n-th word is as frequent as 1/n."""
    import numpy as np

    words = np.array(corpora.vocabulary(ENGLISH).words, dtype=object)
    shares = 1 / np.arange(1, len(words) + 1)
    return words, np.cumsum(shares / shares.sum())


def _drawn(chance: Any, count: int) -> Any:
    import numpy as np

    words, shares = _words()
    return words[np.minimum(np.searchsorted(shares, chance.random(count)), len(words) - 1)]


@cache
def _length(size: int) -> int:
    """Words of a document of about `size` bytes."""
    words, _ = _words()
    return max(1, int(size / (sum(map(len, words[:1000])) / 1000 + 1)))


@dataclass(frozen=True)
class Texts:
    """Documents of about `size` bytes each, of which this share of words is the document's own."""

    size: int
    own: float = 0.3

    def document(self, number: int) -> str:
        """Make the document with a number: that of `documents`."""
        import numpy as np

        chance = np.random.default_rng((SEED, number))
        if number % EDITS == EDITS - 1:
            return edit(self.document(int(chance.integers(0, number)) // EDITS * EDITS), number)
        count = _length(self.size)
        drawn = _drawn(chance, count)
        if self.own:
            words, _ = _words()
            preferred = words[chance.integers(COMMON, len(words), PREFERRED)]
            # The square makes some of them more frequent than others.
            chosen = preferred[(PREFERRED * chance.random(count) ** 2).astype(int)]
            drawn = np.where(chance.random(count) < self.own, chosen, drawn)
        return " ".join(drawn.tolist())

    def documents(self, count: int) -> Iterator[str]:
        """Yield the first `count` documents."""
        return (self.document(number) for number in range(count))

    def questions(self, stored: int, count: int) -> Iterator[str]:
        """Yield texts to ask for: every second is an edit of a stored one, the others are new."""
        import numpy as np

        chance = np.random.default_rng(SEED)
        for number, place in enumerate(chance.integers(0, stored, count).tolist()):
            yield (
                self.document((stored + number) * EDITS) if number % 2 else edit(self.document(place), stored + number)
            )


def edit(text: str, seed: int) -> str:
    """Replace one word in a hundred."""
    import numpy as np

    chance = np.random.default_rng((SEED, seed, 1))
    words = text.split(" ")
    places = chance.integers(0, len(words), len(words) // CHANGED + 1)
    for place, word in zip(places.tolist(), _drawn(chance, len(places)).tolist(), strict=True):
        words[place] = word
    return " ".join(words)
