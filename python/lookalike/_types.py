"""Types that cross the package: how a job reports progress, and what it says about what it could not read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

#: Called as a job proceeds: the phase, how much is done, and of how much (``None`` where that is not known).
Progress: TypeAlias = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was not read, or not completely; the job went on without it."""

    #: The source's name as the user gave it: a file, a folder, a member of an archive.
    source: str
    #: Where in it: a row, a row group, a byte offset; empty for the whole source.
    place: str
    reason: str
    #: How many rows it concerns, where that is known.
    rows: int = 0


def counted(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun.

    >>> counted(1, "page"), counted(1200, "page"), counted(2, "query", "queries")
    ('1 page', '1,200 pages', '2 queries')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def unheard(_phase: str, _done: int, _total: int | None) -> None:
    """Ignore progress: the default where nobody listens."""
