"""Generated corpora for the engines: near-copies, low entropy, crowded keys, short, missing and identical texts."""

from __future__ import annotations

import random
from typing import Any

Row = dict[str, Any]
#: Texts too short for a shingle, blank ones, and none at all.
ODD = ("", "  ", "\t\n", "a b", "one two three", "Ω", None, None)


def mixed(rows: int, seed: int, words: int = 400) -> list[Row]:
    """Rows of all kinds: ``id`` (not without gaps), ``text``, ``number`` (with ties and nulls), ``name``."""
    draw = random.Random(seed)
    vocabulary = [f"word{number}" for number in range(words)]
    boilerplate = draw.choices(vocabulary, k=80)
    texts: list[str | None] = []
    for _ in range(rows):
        kind = draw.random()
        if texts and kind < 0.35:
            texts.append(_changed(draw.choice(texts), draw, vocabulary))
        elif texts and kind < 0.45:
            texts.append(draw.choice(texts))
        elif kind < 0.52:
            texts.append(draw.choice(ODD))
        elif kind < 0.62:
            texts.append(" ".join(draw.choices(vocabulary[:3], k=draw.randrange(4, 60))))
        elif kind < 0.74:
            # Most of a key's holders share this much, and are no near-duplicates of all others.
            texts.append(" ".join([*boilerplate, *draw.choices(vocabulary, k=draw.randrange(1, 40))]))
        else:
            texts.append(" ".join(draw.choices(vocabulary, k=draw.randrange(6, 120))))
    numbers = (None, 0.0, -0.0, 1.5, -2.0, 1e300)
    return [
        {"id": 3 * place - rows, "text": text, "number": draw.choice(numbers), "name": f"n{draw.getrandbits(60):x}"}
        for place, text in enumerate(texts)
    ]


def _changed(text: str | None, draw: random.Random, vocabulary: list[str]) -> str | None:
    """Change up to three words, or cut a part out."""
    tokens = (text or "").split()
    if not tokens:
        return text
    if draw.random() < 0.2:
        start = draw.randrange(len(tokens))
        return " ".join(tokens[start : start + max(len(tokens) // 2, 1)])
    for _ in range(draw.randrange(4)):
        tokens[draw.randrange(len(tokens))] = draw.choice(vocabulary)
    return " ".join(tokens)
