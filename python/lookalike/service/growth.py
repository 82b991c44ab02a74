"""Refuses texts that grow when the core folds them: one U+FDFA is 18 letters, and marks on a letter never end.

The core folds characters by the compatibility forms of Unicode, so its work is in proportion to the folded text, and
the limit on a body would bound a tenth of it only. Characters that fold to many are counted, and so are marks after the
30th on one character, the limit of UAX 15's stream-safe format. Short texts and ASCII are not looked at.
Cost: one pass for most texts, 20 ns per character; the tables take 0.1 s when the first such text comes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache

from lookalike.service.faults import Fault, FaultError

#: Characters of a text that is not looked at.
SHORT = 4_096
#: A character grows if it has more than this many times its bytes when it is folded.
MOST_TIMES = 3
#: One in so many characters may grow. Arabic texts have U+FDFA after a name.
ONE_IN = 10
#: Marks on one character, and marks beyond that in a whole text.
MOST_MARKS, MOST_BEYOND = 30, 4_096
#: No character from here on folds to others or is a mark, except for the selectors of variants, which are dropped.
_END = 0x3_0000
GROWS = Fault(
    413, "text-grows", f"more than one in {ONE_IN} characters of the text stand for many letters each: send less"
)
MARKS = Fault(422, "many-marks", f"the text has characters with more than {MOST_MARKS} marks each: it is no text")


def check(text: str) -> None:
    """Refuse a text that takes far more work than its size tells. Errors: ``FaultError``."""
    if len(text) <= SHORT or text.isascii():
        return
    if not _growing()[0].isdisjoint(set(text)) and _count(_growing()[1], text) > len(text) // ONE_IN:
        raise FaultError(GROWS)
    # A run that is too long has one of these characters. Where they are mostly letters, such runs are not the most.
    some = text[:: MOST_MARKS + 1]
    if _count(_marks(), some) > len(some) // 2 and _beyond(text) > MOST_BEYOND:
        raise FaultError(MARKS)


def _count(pattern: re.Pattern[str], text: str) -> int:
    """Return how many characters a pattern matches."""
    return len(text) - len(pattern.sub("", text))


def _beyond(text: str) -> int:
    """Return how many marks there are after the first ones of their characters."""
    return sum(len(run[0]) - MOST_MARKS for run in _marks().finditer(text) if len(run[0]) > MOST_MARKS)


@cache
def _growing() -> tuple[frozenset[str], re.Pattern[str]]:
    """Return the characters that fold to many times their size, and what finds runs of them."""
    found = _characters(_grows)
    return frozenset(found), re.compile(f"[{found}]+")


@cache
def _marks() -> re.Pattern[str]:
    """Return what finds runs of marks."""
    return re.compile(f"[{_characters(lambda one: unicodedata.combining(one) != 0)}]+")


def _grows(one: str) -> bool:
    if not unicodedata.decomposition(one):
        return False
    folded = unicodedata.normalize("NFKC", one).encode("utf-8", "replace")
    return len(folded) > MOST_TIMES * len(one.encode("utf-8", "replace"))


def _characters(accepts: Callable[[str], bool]) -> str:
    """Return all characters that a function accepts; none of them has a meaning in a pattern."""
    return "".join(chr(code) for code in range(0xA0, _END) if accepts(chr(code)))
