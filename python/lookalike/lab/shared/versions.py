"""Versions of a text: words replaced, words or sentences in another order."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from lookalike.fingerprints import Text

_WORD = re.compile(r"\S+")
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])\s+|\n+")


def text_of(document: Text) -> str:
    """Return a document as text; what is no UTF-8 is replaced."""
    return document if isinstance(document, str) else bytes(document).decode("utf-8", "replace")


def sentences(text: str) -> list[str]:
    """Return the parts that end in a full stop or a line break."""
    return [part for part in _SENTENCE_END.split(text) if part.strip()]


def edited(text: str, share: float, rng: np.random.Generator) -> str:
    """Replace each word with this probability by one that stands nowhere else; lines and spaces stay."""
    words = list(_WORD.finditer(text))
    changed = np.flatnonzero(rng.random(len(words)) < share).tolist()
    fresh = rng.integers(1 << 40, size=len(changed)).tolist()
    parts, end = [], 0
    for place, number in zip(changed, fresh, strict=True):
        start, after = words[place].span()
        parts += [text[end:start], f"edit{number:x}"]
        end = after
    return "".join([*parts, text[end:]])


def shuffled(parts: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Return the parts in another order."""
    return [parts[i] for i in rng.permutation(len(parts))]


def expected(share: float, width: int) -> float:
    """Return the resemblance to expect after ``edited``: a shingle survives if none of its words was replaced."""
    survives = (1 - share) ** width
    return survives / (2 - survives)
