"""Marks the words in which two texts differ. Long texts are shown from their first difference on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import NamedTuple

from lookalike.rendering.safe import visible

#: Characters of a text that are compared, words that are shown, and characters of a shown word.
CHARACTERS, WORDS, LETTERS = 200_000, 220, 60
#: Words shown before the first difference.
BEFORE = 25
_WORD = re.compile(r"(\S+)(\s*)")


class Run(NamedTuple):
    """Consecutive words that are the same on both sides, or different."""

    text: str
    is_different: bool


class Side(NamedTuple):
    """The shown part of one text."""

    runs: tuple[Run, ...]
    #: Whether text precedes or follows the shown part.
    is_begun: bool
    is_cut: bool


def differences(left: str | None, right: str | None) -> tuple[Side, Side]:
    """Return both texts from shortly before their first difference. ``None`` counts as an empty text."""
    words = [_words(text or "") for text in (left, right)]
    same = sum(1 for _ in takewhile(lambda both: both[0][0] == both[1][0], zip(*words, strict=False)))
    # Equal texts are shown from their beginning.
    is_same = same == len(words[0]) == len(words[1])
    start = 0 if is_same else max(0, same - BEFORE)
    shown = [own[start : start + WORDS] for own in words]
    compared = [[word for word, _ in own] for own in shown]
    blocks = SequenceMatcher(None, compared[0], compared[1], autojunk=False).get_matching_blocks()
    sides = []
    for side, text in enumerate((left or "", right or "")):
        runs = tuple(_runs(shown[side], [(block[side], block.size) for block in blocks]))
        is_cut = len(words[side]) > start + WORDS or len(text) > CHARACTERS
        sides.append(Side(runs, start > 0, is_cut))
    return sides[0], sides[1]


def _words(text: str) -> list[tuple[str, str]]:
    """Return the words of a text, each with the space after it."""
    found = _WORD.finditer(text[:CHARACTERS])
    return [(match[1], "\n" if "\n" in match[2] else " " if match[2] else "") for match in found]


def _runs(words: Sequence[tuple[str, str]], blocks: Sequence[tuple[int, int]]) -> Iterator[Run]:
    """Yield equal and different runs in turn."""
    at = 0
    for start, size in blocks:
        if start > at:
            yield Run(_shown(words[at:start]), True)
        if size:
            yield Run(_shown(words[start : start + size]), False)
        at = start + size


def _shown(words: Sequence[tuple[str, str]]) -> str:
    return "".join(_clipped(word) + space for word, space in words)


def _clipped(word: str) -> str:
    return visible(word if len(word) <= LETTERS else word[: LETTERS - 1] + "…")
