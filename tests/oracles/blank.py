"""Which texts are blank (docs/texts.md, "Blank texts"): those of characters with the Unicode property White_Space."""

from __future__ import annotations

#: Python's `str.isspace` has four more: the separators U+001C to U+001F.
BLANK = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B))))


def is_blank(text: str) -> bool:
    """Tell whether there is nothing to compare in a text."""
    return set(text) <= BLANK
