"""Limits on how much an archive may expand, counted on bytes actually produced, never on what a header says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lookalike.documents.intake import RATIO_FREE_BYTES, Limits
from lookalike.documents.reasons import in_bytes

#: Bytes expanded at a time; limits are exact to this size.
CHUNK = 2**16


class ExhaustedError(Exception):
    """A limit on a whole archive is exceeded. The message is the reason; what was read so far is incomplete."""

    def __init__(self, reason: str, scope: Tree | Meter) -> None:
        super().__init__(f"{reason}; nothing of it is read")
        self.reason = reason
        #: Whether the limit is that of one archive or of one with everything nested in it.
        self.scope = scope


@dataclass(slots=True)
class Tree:
    """The allowance of bytes and entries that an archive shares with all archives inside it."""

    limits: Limits
    bytes_left: int
    entries_left: int

    @classmethod
    def new(cls, limits: Limits) -> Tree:
        """Make the allowance of a top-level archive."""
        return cls(limits, limits.archive_bytes, limits.archive_entries)

    def count(self, entries: int) -> None:
        """Take members from the allowance. Errors: ``ExhaustedError``."""
        self.entries_left -= entries
        if self.entries_left < 0:
            most = self.limits.archive_entries
            raise ExhaustedError(f"holds more than {most:,} entries: unpack it and give the folder", self)

    def split(self) -> Tree:
        """Return a separate allowance of what is left, for an archive that may fail alone."""
        return Tree(self.limits, self.bytes_left, self.entries_left)


@dataclass(slots=True)
class Meter:
    """Counts the bytes that one archive produces."""

    tree: Tree
    #: Bytes of the archive file itself.
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
    """A file or folder in an archive. REQUIRES: read it, if at all, before asking for the next one."""

    #: The name in the archive; ``None`` for a compressed single file, which is named after its container.
    name: str | None
    #: Reads the whole member. Errors: ``RefusedError`` if it exceeds the given size or cannot be read.
    read: Callable[[int], bytes]
    #: A folder has nothing to read; one without files is a submission that is missing.
    is_folder: bool = False
