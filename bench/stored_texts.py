"""Documents for an archive, made by seeded code: words as often as in English, and edits of earlier documents.

A corpus is a pure function of its size and of the length of its documents. Every fiftieth document is an edit of an
earlier one; of the questions, every second is an edit of a stored document, and the others are new.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from bench import corpora
from bench.corpora import ENGLISH, SEED

#: Documents that are made at a time.
CHUNK = 10_000
#: One document in so many is an edit of an earlier one.
EDITS = 50
#: Words of an edit that are replaced: one in so many.
CHANGED = 100


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


def _length(size: int) -> int:
    """Words of a document of about `size` bytes."""
    words, _ = _words()
    return max(1, int(size / (sum(map(len, words[:1000])) / 1000 + 1)))


def document(number: int, size: int) -> str:
    """The document with a number: that of `documents`."""
    import numpy as np

    chance = np.random.default_rng((SEED, number))
    if number % EDITS == EDITS - 1:
        return edit(document(int(chance.integers(0, number)) // EDITS * EDITS, size), number)
    return " ".join(_drawn(chance, _length(size)).tolist())


def documents(count: int, size: int) -> Iterator[str]:
    """Yield `count` documents of about `size` bytes each."""
    return (document(number, size) for number in range(count))


def edit(text: str, seed: int) -> str:
    """Replace one word in a hundred."""
    import numpy as np

    chance = np.random.default_rng((SEED, seed, 1))
    words = text.split(" ")
    places = chance.integers(0, len(words), len(words) // CHANGED + 1)
    for place, word in zip(places.tolist(), _drawn(chance, len(places)).tolist(), strict=True):
        words[place] = word
    return " ".join(words)


def questions(stored: int, count: int, size: int) -> Iterator[str]:
    """Yield texts to ask for: every second is an edit of a stored one, the others are new."""
    import numpy as np

    chance = np.random.default_rng(SEED)
    for number, place in enumerate(chance.integers(0, stored, count).tolist()):
        yield document((stored + number) * EDITS, size) if number % 2 else edit(document(place, size), stored + number)
