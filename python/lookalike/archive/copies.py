"""A private copy of the catalogue, for folders that cannot be written or are full: SQLite writes beside a journal.

The copy includes the journal (``-wal``), so that it shows the newest commits. Opening the file as ``immutable`` beside
a journal would answer from the past. The copy is held in memory; files of it, which Linux keeps in memory too, exist
only while it is made. Cost: the size of the catalogue, at most some tens of megabytes; it is made again when the files
have changed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from lookalike.archive.folder import CATALOGUE, Folder
from lookalike.errors import LockedError

_NAMES = (CATALOGUE, f"{CATALOGUE}-wal")
#: Where files take no space on a disk; elsewhere they are temporary files like others.
_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None
#: Attempts to copy both files while nobody changes them.
_ATTEMPTS = 20
#: Nanoseconds in which a file may change twice and keep its size and its time: clocks of file systems are coarse.
_COARSE = 2 * 10**9

#: Connects to an address.
Connect = Callable[[str], sqlite3.Connection]
_Stamp = tuple[int, int, int] | None


@dataclass(frozen=True)
class Origin:
    """The files that a copy was made of, as they were: which files, their sizes and times."""

    folder: Folder
    stamps: list[_Stamp]
    #: When they were looked at, in nanoseconds since 1970.
    moment: int

    @classmethod
    def now(cls, folder: Folder) -> Origin:
        """Look at the files."""
        moment = time.time_ns()
        return cls(folder, [_stamp(folder.file(name)) for name in _NAMES], moment)

    def is_current(self) -> bool:
        """Return whether the files are surely the same; files that had just been changed might change unseen."""
        is_settled = all(one is None or one[2] < self.moment - _COARSE for one in self.stamps)
        return is_settled and self.stamps == Origin.now(self.folder).stamps


def copied(folder: Folder, connect: Connect) -> tuple[sqlite3.Connection, Origin]:
    """Return a connection to a copy in memory, and what it was made of. Errors: ``LockedError``, ``OSError``."""
    with tempfile.TemporaryDirectory(prefix="lookalike-", dir=_MEMORY) as place:
        origin = fill(folder, place)
        memory = connect("file::memory:")
        try:
            with contextlib.closing(connect(f"file:{quote(os.path.join(place, CATALOGUE))}?mode=rw")) as base:
                # A database in memory has no journal beside it.
                base.execute("PRAGMA journal_mode=DELETE")
                base.backup(memory)
        except BaseException:
            memory.close()
            raise
    return memory, origin


def fill(folder: Folder, place: str) -> Origin:
    """Copy the files of one moment. Errors: ``LockedError`` if they keep changing, ``OSError``."""
    for _ in range(_ATTEMPTS):
        origin = Origin.now(folder)
        with contextlib.suppress(FileNotFoundError):
            for name, stamp in zip(_NAMES, origin.stamps, strict=True):
                target = os.path.join(place, name)
                if stamp is not None:
                    shutil.copyfile(folder.file(name), target)
                elif os.path.lexists(target):
                    # Of an earlier attempt: a journal beside another catalogue would change it.
                    os.unlink(target)
            if origin.stamps == Origin.now(folder).stamps:
                return origin
    raise LockedError(f"`{folder.path}` keeps changing while its catalogue is copied: try again later")


def _stamp(path: str) -> _Stamp:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
