"""Corpora made for tests of deduplication: texts of random words, some of them copies with words replaced."""

from __future__ import annotations

import random


def texts(
    rows: int, copies: int, *, words: int = 120, replaced: tuple[int, ...] = (0, 1, 2, 3), seed: int = 1
) -> list[str]:
    """Texts that have nothing in common, then copies of some of them with so many words replaced, in turn."""
    rng = random.Random(seed)
    known = [f"w{number}" for number in range(3_000)]
    own = [rng.choices(known, k=words) for _ in range(rows)]
    made = [" ".join(text) for text in own]
    for copy in range(copies):
        text = list(own[copy % rows])
        for place in rng.sample(range(words), replaced[copy % len(replaced)]):
            text[place] = f"other{rng.randrange(10**6)}"
        made.append(" ".join(text))
    return made
