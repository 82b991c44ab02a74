"""The folder of an index: the names of its files, whether it is still the same folder, and how names become durable.

The folder holds ``lock``, ``catalog.sqlite`` with SQLite's ``-wal`` and ``-shm``, and one file per segment. A segment
is made in a folder of its own, ``new-<number>``. No file is ever found by a pattern and deleted: the catalogue lists
the segments that may go, also those that were only begun.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import shutil
from collections.abc import Collection
from dataclasses import dataclass

from lookalike.engines.writing import WriteError, sync
from lookalike.errors import DamagedError, ParameterError

CATALOGUE = "catalog.sqlite"
LOCK = "lock"
#: A file without meaning that only takes space; see ``Folder.reserve``.
RESERVE = "reserve"
#: SQLite's own files beside the catalogue.
JOURNALS = (f"{CATALOGUE}-wal", f"{CATALOGUE}-shm", f"{CATALOGUE}-journal")
#: A catalogue that is being made; it is renamed when it is whole.
NEW_CATALOGUE = f"{CATALOGUE}.new"
#: What is put behind the name of a damaged file that ``repair`` keeps.
ASIDE = ".damaged"
#: Segments are numbered from 1; the number has 16 hexadecimal digits in the name.
MOST_SEGMENTS = 2**48
#: Types of file systems on which locks are not to be trusted.
NETWORK = {"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "sshfs"}


def segment_name(number: int) -> str:
    """Return the name of a segment's file.

    >>> segment_name(255)
    'seg-00000000000000ff.lat'
    """
    return f"seg-{number:016x}.lat"


def segment_number(name: str) -> int | None:
    """Return the number of a segment's file, or ``None`` for any other name.

    >>> segment_number("seg-00000000000000ff.lat"), segment_number("seg-ff.lat")
    (255, None)
    """
    digits = name[4:20]
    with contextlib.suppress(ValueError):
        number = int(digits, 16)
        if name == segment_name(number):
            return number
    return None


@dataclass(frozen=True)
class Folder:
    """A folder as it was when it was opened: its absolute path, and its device and inode."""

    path: str
    identity: tuple[int, int]

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Folder:
        """Resolve a path once and for all. Errors: ``FileNotFoundError``, ``NotADirectoryError``, ``OSError``."""
        whole = os.path.realpath(os.fspath(path))
        if not os.path.isdir(whole):
            os.stat(whole)
            raise ParameterError(f"`{os.fspath(path)}` is a file, and an index is a folder: check the path")
        return cls(whole, _identity(whole))

    def file(self, name: str) -> str:
        """Return the path of a file in it."""
        return os.path.join(self.path, name)

    @property
    def catalogue(self) -> str:
        """The path of the catalogue."""
        return self.file(CATALOGUE)

    def check_same(self) -> None:
        """Refuse a folder that was moved or replaced since it was opened. Errors: ``WriteError``."""
        try:
            is_same = _identity(self.path) == self.identity
        except OSError:
            is_same = False
        if not is_same:
            reason = (
                f"`{self.path}` was moved or replaced since it was opened: nothing was written; open the index again"
            )
            raise WriteError(errno.ESTALE, reason)

    def check_index(self) -> None:
        """Refuse a folder without a catalogue. Errors: ``DamagedError``, ``ParameterError``, ``PermissionError``."""
        if os.path.lexists(self.catalogue):
            return
        if os.path.lexists(self.file(LOCK)):
            raise DamagedError(
                f"`{self.catalogue}` is missing: if `index create` was interrupted, create the index again; else "
                f"restore the file from a backup, or run `lookalike index repair {shlex.quote(self.path)}`"
            )
        # Raises if it may not be entered: the folder of an index is for its owner, until that one lets others in.
        os.stat(self.file("."))
        raise ParameterError(f"`{self.path}` is not an index: make one with `lookalike index create`")

    def sync(self) -> None:
        """Make the names in it durable. Errors: ``OSError``."""
        sync(self.path)

    def workshop(self, number: int) -> str:
        """Return the folder in which a segment is made, with its temporary files, before it gets its name."""
        return self.file(f"new-{number:016x}")

    def unlink(self, number: int) -> bool:
        """Delete a segment and its workshop; return whether both are gone.

        Windows keeps a file that is mapped: then the catalogue keeps its name, and the next writer tries again.
        REQUIRES: the catalogue lists it as garbage.
        """
        shutil.rmtree(self.workshop(number), ignore_errors=True)
        with contextlib.suppress(OSError):
            os.unlink(self.file(segment_name(number)))
        return not os.path.lexists(self.workshop(number)) and not os.path.lexists(self.file(segment_name(number)))

    def remains(self, listed: Collection[str]) -> list[str]:
        """Return what may hold documents and is not listed: segments, workshops, damaged files and begun catalogues."""
        names = (name for name in os.listdir(self.path) if name not in listed)
        return sorted(name for name in names if _own_number(name) is not None or _is_kept(name))

    def leftovers(self, garbage: Collection[str], next_segment: int) -> dict[str, str]:
        """Return files that only take space, with the reason: of a writer that ended, and those that a repair kept.

        What a writer makes now is none of them: its number is garbage in the catalogue, or not yet given out.
        """
        found = {}
        for name in sorted(os.listdir(self.path)):
            number = _own_number(name)
            if name.startswith("new-") and number is not None:
                if number < next_segment and segment_name(number) not in garbage:
                    found[name] = "a writer that ended left it: delete it"
            elif name.startswith(NEW_CATALOGUE):
                found[name] = "a writer that ended left it: the next change deletes it"
            elif _is_kept(name):
                found[name] = "a repair kept this damaged file: delete it when nothing is missing"
        return found

    def asides(self, name: str) -> list[str]:
        """Return the names under which damaged files of this name are kept, the oldest first."""
        found: list[str] = []
        while os.path.lexists(self.file(_aside(name, len(found)))):
            found.append(_aside(name, len(found)))
        return found

    def set_aside(self, name: str) -> str | None:
        """Give a damaged file another name and return it; ``None`` if there is no such file. Errors: ``OSError``."""
        aside = _aside(name, len(self.asides(name)))
        try:
            os.rename(self.file(name), self.file(aside))
        except FileNotFoundError:
            return None
        self.sync()
        return aside

    def remove_new(self) -> None:
        """Delete a catalogue that was begun and never put in place. REQUIRES: this process has the lock."""
        for name in (NEW_CATALOGUE, *(NEW_CATALOGUE + one.removeprefix(CATALOGUE) for one in JOURNALS)):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.file(name))

    def reserve(self, size: int) -> None:
        """Keep some space for the day on which the disk is full; without room for it, do nothing."""
        path = self.file(RESERVE)
        if not size or os.path.lexists(path):
            return
        try:
            with open(path, "xb") as file:
                # Bytes that no file system can compress away.
                file.write(os.urandom(size))
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            self.give_up_reserve()

    def give_up_reserve(self) -> bool:
        """Delete the reserve; return whether there was one."""
        try:
            os.unlink(self.file(RESERVE))
        except OSError:
            return False
        return True

    def strangers(self) -> list[str]:
        """Return the names in it that no index has, ascending."""
        own = {CATALOGUE, LOCK, RESERVE, *JOURNALS}
        names = (name for name in os.listdir(self.path) if name not in own and not _is_kept(name))
        return sorted(name for name in names if _own_number(name) is None)


def _aside(name: str, number: int) -> str:
    """Return the name of a damaged file that is kept; the first one has no number."""
    return f"{name}{ASIDE}{number + 1 if number else ''}"


def _is_kept(name: str) -> bool:
    """Return whether a name is that of a damaged file or of a begun catalogue, or of the journal of one."""
    whole, mark, _ = name.partition(ASIDE)
    is_aside = bool(mark) and (whole == CATALOGUE or segment_number(whole) is not None)
    return is_aside or name.startswith(NEW_CATALOGUE)


def _own_number(name: str) -> int | None:
    """Return the number of a segment or of a workshop."""
    return segment_number(f"seg-{name[4:]}.lat" if name.startswith("new-") else name)


def _identity(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino


def network_type(path: str) -> str | None:
    """Return the type of a network file system that a folder is on, or ``None``; on Linux only."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            lines = file.readlines()
    except OSError:
        return None
    return network_of(os.path.realpath(path), lines)


def network_of(path: str, mounts: list[str]) -> str | None:
    """Return the type of the network file system of a path, from the lines of ``mountinfo``.

    >>> lines = ["1 0 8:1 / / rw - ext4 /dev/sda1 rw", "2 1 0:5 / /home rw shared:1 - nfs4 host:/home rw"]
    >>> network_of("/home/ann", lines), network_of("/homes", lines)
    ('nfs4', None)
    """
    best, kind = "", ""
    for line in mounts:
        left, _, right = line.partition(" - ")
        fields, types = left.split(" "), right.split(" ")
        if len(fields) < 5:
            continue
        point = fields[4].replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
        is_above = path == point or path.startswith(point.rstrip("/") + "/")
        if is_above and len(point) >= len(best):
            best, kind = point, types[0]
    kind = kind.removeprefix("fuse.")
    return kind if kind in NETWORK else None
