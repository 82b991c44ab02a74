"""A private copy of the catalogue, for folders that cannot be written: SQLite needs to write beside a journal.

The copy includes the journal (``-wal``), so that it shows the newest commits. Opening the file as ``immutable`` beside
a journal would answer from the past. Cost: the size of the catalogue, at most some tens of megabytes.
"""

from __future__ import annotations

import os
import shutil
import tempfile

from lookalike.archive.folder import CATALOGUE, Folder
from lookalike.errors import LockedError

#: Attempts to copy both files while nobody changes them.
_ATTEMPTS = 20


class Copy:
    """A copy of a catalogue in a temporary folder."""

    def __init__(self, folder: Folder) -> None:
        """Copy the catalogue. Errors: ``LockedError`` if it keeps changing, ``OSError``."""
        self._place = tempfile.mkdtemp(prefix="lookalike-")
        self.path = os.path.join(self._place, CATALOGUE)
        try:
            self._fill(folder)
        except BaseException:
            self.remove()
            raise

    def _fill(self, folder: Folder) -> None:
        names = (CATALOGUE, f"{CATALOGUE}-wal")
        for _ in range(_ATTEMPTS):
            before = [_stamp(folder.file(name)) for name in names]
            for name, stamp in zip(names, before, strict=True):
                if stamp is not None:
                    shutil.copyfile(folder.file(name), os.path.join(self._place, name))
            if before == [_stamp(folder.file(name)) for name in names]:
                return
        raise LockedError(f"`{folder.path}` keeps changing while its catalogue is copied: try again later")

    def remove(self) -> None:
        """Delete the copy."""
        shutil.rmtree(self._place, ignore_errors=True)


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_size, found.st_mtime_ns
