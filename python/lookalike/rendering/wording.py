"""Figures as people read them, on pages and on the terminal: percentages, scores, and what material is counted in.

Tables for programs have fractions from 0 to 1. ``templates/dom.js`` has ``percent`` and ``decimal`` for the scripts.
"""

from __future__ import annotations

from collections.abc import Iterable

from lookalike._types import counted
from lookalike.comparison.result import File

_BYTES = ("B", "KB", "MB", "GB", "TB", "PB", "EB")


def percent(share: float) -> str:
    """Return a share as a whole percentage. Only nothing is 0 %, and only all of it is 100 %.

    >>> percent(0.4), percent(0.001), percent(0.999)
    ('40 %', '1 %', '99 %')
    """
    return f"{_whole(share)} %"


def decimal(score: float) -> str:
    """Return a score with two decimals. Only a score of 1 is 1.00, and only 0 is 0.00.

    >>> decimal(0.5), decimal(0.001), decimal(0.999)
    ('0.50', '0.01', '0.99')
    """
    return f"{_whole(score) / 100:.2f}"


def _whole(share: float) -> int:
    """Return the nearest whole percentage; halves are rounded up, as in the scripts."""
    nearest = int(share * 100 + 0.5)
    return min(99, max(1, nearest)) if 0 < share < 1 else nearest


def kept(share: float) -> float:
    """Return a share with six decimals for a page's data; a share below 1 stays below 1, and one above 0 above it."""
    return min(0.999999, max(0.000001, round(share, 6))) if 0 < share < 1 else share


def in_bytes(count: float) -> str:
    """Return bytes in a fitting unit.

    >>> in_bytes(417_801), in_bytes(12)
    ('418 KB', '12 B')
    """
    unit = 0
    while count >= 999.5 and unit + 1 < len(_BYTES):
        count, unit = count / 1000, unit + 1
    return f"{count:.3g} {_BYTES[unit]}"


def units(files: Iterable[File]) -> str:
    """Return what the material of files is counted in: letters of prose, tokens of code, or both."""
    read = {language for file in files for language in file.language.split("+")}
    if "text" not in read:
        return "tokens"
    return "letters" if read == {"text"} else "tokens and letters"


def amount(count: int, unit: str) -> str:
    """Return a count of units with its noun.

    >>> amount(1, "letters"), amount(1200, "tokens and letters")
    ('1 letter', '1,200 tokens and letters')
    """
    return f"{count:,} {unit}" if " " in unit else counted(count, unit.removesuffix("s"))


def left_aside(elsewhere: int) -> str:
    """Name the submissions of indexes that were not loaded, which counts of files and tokens do not have.

    >>> left_aside(1), left_aside(1200)
    ('1 archived submission that shares nothing', '1,200 archived submissions that share nothing')
    """
    return f"{counted(elsewhere, 'archived submission')} that {'shares' if elsewhere == 1 else 'share'} nothing"
