"""Uploaded files: written under random names, and laid out as the folder that a comparison reads.

A client's path is a label. No file is written under it while it is uploaded. Before a comparison, ``laid_out`` makes a
private tree in which each label has a safe place; the tree holds links to the uploads, so nothing is copied.
Cost: linear in the number of files and the length of their labels.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from lookalike.errors import ParameterError
from lookalike.service.comparing.jobs import Stored, TooLargeError, no_room

#: What files are for: new submissions, starter code, earlier submissions, those of several years with a folder for each
#: year, and a zip archive of a class.
SUBMISSIONS, TEMPLATES, OLD, YEARS, ARCHIVE = ROLES = ("submissions", "templates", "old", "years", "archive")
#: The label of a class that came as one archive.
ARCHIVE_NAME = "submissions.zip"
#: Bytes of a label, and of one part of it, as file systems have them.
LABEL_BYTES, PART_BYTES = 1024, 255
_UNNAMED = "unnamed"
_STORED = re.compile(r"[0-9a-f]{32}")
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,10}\Z")


def checked(path: str) -> str:
    """Return a path that a client named, if it is plain and relative. Errors: ``ParameterError``."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or re.search(r"[\0\\\ud800-\udfff]", path):
        raise ParameterError("the path of a file must be relative and plain, such as `ann/Main.java`")
    if len(path.encode()) > LABEL_BYTES or any(len(part.encode()) > PART_BYTES for part in parts):
        raise ParameterError(
            f"the path of a file is too long: use at most {LABEL_BYTES:,} bytes, and {PART_BYTES} for each part"
        )
    return path


class UnderWay:
    """The bytes of uploads that a process has written and that are not recorded yet, by owner."""

    def __init__(self, most: int) -> None:
        """Begin with none; ``most`` is how much the server keeps for one owner."""
        self._most = most
        self._bytes: Counter[str] = Counter()

    @contextmanager
    def taking(self, owner: str, room: int) -> Iterator[Callable[[int], None]]:
        """Yield what counts bytes that are about to be written; they are forgotten at the end of the block.

        ``room`` is what the owner may still have, without those under way. The counter raises ``TooLargeError``.
        """
        taken = 0

        def take(count: int) -> None:
            nonlocal taken
            taken += count
            self._bytes[owner] += count
            if self._bytes[owner] > room:
                raise TooLargeError(no_room(self._most))

        try:
            yield take
        finally:
            self._bytes[owner] -= taken
            if not self._bytes[owner]:
                del self._bytes[owner]


class Upload:
    """A file that is being written to a folder of uploads, with a limit on its bytes."""

    def __init__(self, folder: Path, most: int) -> None:
        """Create the file, and the folder if it is missing. Errors: ``OSError``."""
        folder.mkdir(mode=0o700, exist_ok=True)
        self._folder, self._most = folder, most
        self.stored, self.bytes, self.digest = secrets.token_hex(16), 0, hashlib.sha256()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file: BinaryIO = os.fdopen(os.open(folder / self.stored, flags, 0o600), "wb")

    def write(self, data: bytes | bytearray) -> None:
        """Add bytes. Errors: ``TooLargeError``; ``OSError``."""
        self.bytes += len(data)
        if self.bytes > self._most:
            raise TooLargeError(f"there is room for {self._most:,} more bytes in this comparison: send less")
        self.digest.update(data)
        self._file.write(data)

    def finish(self) -> None:
        """Make the file durable."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        sync(self._folder)

    def close(self) -> None:
        """Close the file, which ``make_durable`` writes to the disk later."""
        self._file.close()

    def discard(self) -> None:
        """Remove the file."""
        self._file.close()
        remove(self._folder, [self.stored])


def make_durable(folder: Path) -> None:
    """Write all uploads of a folder to the disk."""
    for path in folder.iterdir():
        sync(path)
    sync(folder)


def sync(path: Path) -> None:
    """Write a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_stored_name(name: str) -> bool:
    """Return whether a name is one that ``Upload`` gives."""
    return bool(_STORED.fullmatch(name))


def remove(folder: Path, stored: Iterable[str]) -> None:
    """Remove uploads by their stored names; other names are ignored."""
    for name in stored:
        if is_stored_name(name):
            (folder / name).unlink(missing_ok=True)


def laid_out(uploads: Path, files: Iterable[Stored], tree: Path) -> dict[str, list[str]]:
    """Make a new tree of the uploaded files, a folder per role; return the paths below it by role.

    Errors: ``OSError``.
    """
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(mode=0o700, parents=True)
    places = Places()
    made: dict[str, list[str]] = {role: [] for role in ROLES}
    for one in files:
        place = places.take(f"{one.role}/{one.path}")
        target = tree / place
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(uploads / one.stored, target)
        except OSError:
            shutil.copyfile(uploads / one.stored, target)
        made[one.role].append(place)
    return made


class Places:
    """Gives each label a place of its own in a folder: relative, inside it, and free."""

    def __init__(self) -> None:
        #: Whether each place that was given is a folder.
        self._folders: dict[str, bool] = {}
        self._last: dict[str, int] = {}

    def take(self, label: str) -> str:
        """Return the place of a label. A second file of one label gets a number, as in `a (2).py`."""
        parts = [_part(part) for part in label.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        place = ""
        for depth, part in enumerate(parts or [_UNNAMED], 1):
            place = self._free(f"{place}/{part}" if place else part, is_folder=depth < len(parts))
        return place

    def _free(self, path: str, *, is_folder: bool) -> str:
        chosen = path
        number = 1 if is_folder else self._last.get(path, 1)
        while chosen in self._folders and not (is_folder and self._folders[chosen]):
            number += 1
            chosen = _numbered(path, number)
        if not is_folder:
            self._last[path] = number
        self._folders[chosen] = is_folder
        return chosen


def _numbered(path: str, number: int) -> str:
    found = _SUFFIX.search(path)
    at = found.start() if found else len(path)
    return f"{path[:at]} ({number}){path[at:]}"


def _part(name: str) -> str:
    """Return a part of a label that a file system takes: without NUL, and short enough for a number behind it."""
    name = name.replace("\0", "_")
    room = PART_BYTES - 20
    if len(os.fsencode(name)) <= room:
        return name
    found = _SUFFIX.search(name)
    suffix = found[0] if found else ""
    cut = os.fsencode(name)[: room - len(suffix)]
    return os.fsdecode(cut) + suffix
