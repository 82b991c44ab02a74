"""Counts signs of a disguised text: letters that only look Latin, and invisible characters.

Both are folded before texts are compared, so they hide nothing; here they are counted for the reader. Whole words in
another script, a Greek letter before a Latin one (Δt, μm) and soft hyphens are ordinary writing and not counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lookalike._types import counted

#: Fewer mixed words than this may be typing errors.
FEW = 3
_WORD = re.compile(r"[A-Za-z\u0370-\u03ff\u0400-\u052f]{3,}+")
_LATIN = re.compile(r"[A-Za-z]")
_OTHER = re.compile(r"(?<=[A-Za-z])[\u0370-\u03ff\u0400-\u052f]|[\u0400-\u052f](?=[A-Za-z])")
#: Zero width, direction and joining marks between Latin letters, which need none.
_UNSEEN = re.compile(r"(?<=[A-Za-z])[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff](?=[A-Za-z])")


def signs(text: str) -> Iterator[str]:
    """Yield a remark for each sign of a disguise."""
    mixed = sum(_OTHER.search(word[0]) is not None for word in _WORD.finditer(text) if _LATIN.search(word[0]))
    if mixed >= FEW:
        yield f"disguised: {counted(mixed, 'word')} mix Latin letters with others that look like them"
    if unseen := len(_UNSEEN.findall(text)):
        yield f"disguised: {counted(unseen, 'unseen character')} between letters"
