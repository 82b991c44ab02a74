"""How much an archive may expand to, counted on the bytes that really come out, never on what a header says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lookalike.documents.intake import RATIO_FREE_BYTES, Limits
from lookalike.documents.reasons import in_bytes

#: So much is expanded at a time; the caps are exact to this size.
CHUNK = 2**16


class ExhaustedError(Exception):
    """A cap on a whole archive is broken; the message is the reason, and what it holds so far is half of something."""

    def __init__(self, reason: str, scope: Tree | Meter) -> None:
        super().__init__(f"{reason}; nothing of it is read")
        #: Whose cap it is: that of one archive, or that of one with all that is nested in it.
        self.scope = scope


@dataclass(slots=True)
class Tree:
    """An archive with the archives inside it, at any level: they share one allowance of bytes and one of entries."""

    limits: Limits
    bytes_left: int
    entries_left: int

    @classmethod
    def new(cls, limits: Limits) -> Tree:
        """Make the allowance of an archive that is inside no other."""
        return cls(limits, limits.archive_bytes, limits.archive_entries)

    def count(self, entries: int) -> None:
        """Take members from the allowance. Errors: ``ExhaustedError``."""
        self.entries_left -= entries
        if self.entries_left < 0:
            most = self.limits.archive_entries
            raise ExhaustedError(f"holds more than {most:,} entries: unpack it and give the folder", self)

    def split(self) -> Tree:
        """Return an allowance as large as what is left, for an archive that may fail without the others."""
        return Tree(self.limits, self.bytes_left, self.entries_left)


@dataclass(slots=True)
class Meter:
    """The bytes that come out of one archive."""

    tree: Tree
    #: Of the archive itself, as it lies there.
    size: int
    expanded: int = 0

    def charge(self, count: int) -> None:
        """Count bytes that came out. Errors: ``ExhaustedError``."""
        self.expanded += count
        self.tree.bytes_left -= count
        limits = self.tree.limits
        if self.tree.bytes_left < 0:
            raise ExhaustedError(f"expands beyond {in_bytes(limits.archive_bytes)}", self.tree)
        if self.expanded > max(RATIO_FREE_BYTES, limits.archive_ratio * self.size):
            raise ExhaustedError(f"expands beyond {limits.archive_ratio} times its size", self)


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive. REQUIRES: it is read, if at all, before the next one is asked for."""

    #: As the archive has it; ``None`` for what is only compressed, and named after the file it lies in.
    name: str | None
    #: Reads it whole. Errors: ``RefusedError`` if it has more than so many bytes or cannot be read.
    read: Callable[[int], bytes]
