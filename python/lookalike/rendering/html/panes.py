"""A text as HTML for a pair page. The core describes the HTML and makes it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain

from lookalike import _core

#: Colours of passages, used in turn.
COLOURS = _core.COLOURS
#: Added to the number of a part of a passage that does not match: it is pale.
PALE = 2**31

#: Marks of a file: (start, end, class) ascending by start, or the same packed as native 32-bit words. Classes:
#: 1 keyword, 2 name, 3 number, 4 string, 5 comment, 6 operator, 7 template, 8 too common, 9 cannot run.
Marks = bytes | Sequence[tuple[int, int, int]]


def pane(text: str, marks: Marks, regions: Iterable[tuple[int, int, int]], side: str = "l", first_line: int = 1) -> str:
    """Return the text as HTML; regions are (start, end, number), ``side`` is the letter of its anchors, l or r."""
    packed = marks if isinstance(marks, bytes) else array("I", chain.from_iterable(marks)).tobytes()
    return _core.pane(text, packed, list(regions), side == "l", first_line)


def triples(marks: Marks) -> Iterable[tuple[int, int, int]]:
    """Return marks as (start, end, class)."""
    if not isinstance(marks, bytes):
        return marks
    words = array("I", marks)
    return zip(words[0::3], words[1::3], words[2::3], strict=True)
