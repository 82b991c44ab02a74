"""Uploaded files: written under random names, and laid out as the folder that a comparison reads.

A client's path is a label. No file is written under it while it is uploaded. Before a comparison, ``laid_out`` makes a
private tree in which each label has a safe place; the tree holds links to the uploads, so nothing is copied.
Cost, and memory: linear in the number of files and the length of their labels, whatever the labels are.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import BinaryIO

from lookalike.errors import ParameterError
from lookalike.service.comparing.jobs import Stored, TooLargeError

#: What files are for: new submissions, starter code, earlier submissions, those of several years with a folder for each
#: year, and a zip archive of a class.
SUBMISSIONS, TEMPLATES, OLD, YEARS, ARCHIVE = ROLES = ("submissions", "templates", "old", "years", "archive")
#: The label of a class that came as one archive.
ARCHIVE_NAME = "submissions.zip"
#: Bytes of a label, and of one part of it, as file systems have them; and most parts.
LABEL_BYTES, PART_BYTES, LABEL_PARTS = 1024, 255, 64
#: Most folders of a tree: each takes a block of the disk, and far more memory than its name.
MOST_FOLDERS = 100_000
_UNNAMED = "unnamed"
_STORED = re.compile(r"[0-9a-f]{32}")
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,10}\Z")


def checked(path: str) -> str:
    """Return a path that a client named, if it is plain and relative. Errors: ``ParameterError``."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or re.search(r"[\0\\\ud800-\udfff]", path):
        raise ParameterError("the path of a file must be relative and plain, such as `ann/Main.java`")
    _check_size(path)
    if any(len(part.encode()) > PART_BYTES for part in parts):
        raise ParameterError(f"the path of a file is too long: use at most {PART_BYTES} bytes for each part")
    return path


def _check_size(label: str) -> None:
    """Refuse a label that is too long or too deep. Errors: ``ParameterError``."""
    if len(os.fsencode(label)) > LABEL_BYTES:
        raise ParameterError(f"the path of a file is too long: use at most {LABEL_BYTES:,} bytes")
    if label.count("/") + label.count("\\") >= LABEL_PARTS:
        raise ParameterError(f"the path of a file is too deep: use at most {LABEL_PARTS} parts")


class Upload:
    """A file that is being written to a folder of uploads, with a limit on its bytes."""

    def __init__(self, folder: Path, most: int, stored: str | None = None) -> None:
        """Create the file, under a name from ``new_name``, and the folder if it is missing. Errors: ``OSError``."""
        folder.mkdir(mode=0o700, exist_ok=True)
        self._folder, self._most = folder, most
        self.stored, self.bytes, self.digest = stored or new_name(), 0, hashlib.sha256()
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


def new_name() -> str:
    """Return a name for an upload, which nobody can guess."""
    return secrets.token_hex(16)


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

    Errors: ``OSError``; ``TooLargeError`` if there are too many folders.
    """
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(mode=0o700, parents=True)
    places = Places()
    made: dict[str, list[str]] = {role: [] for role in ROLES}
    for one in files:
        place = places.take(f"{one.role}/{one.path}")
        target = tree / place
        os.makedirs(target.parent, mode=0o700, exist_ok=True)
        try:
            os.link(uploads / one.stored, target)
        except OSError:
            shutil.copyfile(uploads / one.stored, target)
        made[one.role].append(place)
    return made


class Labels:
    """Gives each label of a conversation a form of its own: cleaned, and with a number if there was one like it.

    A file and a folder may still have one name here; ``Places`` sees to that. Memory: linear in the bytes of labels.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}

    def take(self, label: str) -> str:
        """Return the form of a label. Errors: ``ParameterError`` if it is too long or too deep."""
        _check_size(label)
        cleaned = "/".join(_parts(label))
        chosen = _first_free(cleaned, self._taken, self._numbers)
        self._taken.add(chosen)
        return chosen


class Places:
    """Gives each label a place of its own in a folder: relative, inside it, and free.

    Labels that begin with the same folder stay together, and no two folders become one. Memory: linear in the parts.
    """

    def __init__(self) -> None:
        self._root, self._folders = _Node(), 0

    def take(self, label: str) -> str:
        """Return the place of a label. A second file of one label gets a number, as in `a (2).py`.

        Errors: ``TooLargeError`` if there are too many folders.
        """
        *folders, name = _parts(label)
        node, place = self._root, list[str]()
        for part in folders:
            self._folders += not node.has(part)
            chosen, node = node.folder(part)
            place.append(chosen)
        if self._folders > MOST_FOLDERS:
            raise TooLargeError(f"the files are in more than {MOST_FOLDERS:,} folders: compare less at a time")
        return "/".join([*place, node.file(name)])


class _Node:
    """A folder of places. Names that were given are never free again, so each is looked at once per label like it."""

    __slots__ = ("_folders", "_numbers", "_taken")

    def __init__(self) -> None:
        self._taken: set[str] = set()
        #: The last number that was tried for a name.
        self._numbers: dict[str, int] = {}
        #: Folders by their label, with the names that they have.
        self._folders: dict[str, tuple[str, _Node]] = {}

    def has(self, label: str) -> bool:
        """Return whether there is a folder of a label."""
        return label in self._folders

    def folder(self, label: str) -> tuple[str, _Node]:
        """Return the folder of a label, which is made if it is missing."""
        found = self._folders.get(label)
        if found is None:
            found = self._folders[label] = self.file(label), _Node()
        return found

    def file(self, label: str) -> str:
        """Return a free name."""
        chosen = _first_free(label, self._taken, self._numbers)
        self._taken.add(chosen)
        return chosen


def _first_free(label: str, taken: Collection[str], numbers: dict[str, int]) -> str:
    """Return a label that is not taken: itself, or with the next number. ``numbers`` has the last one of each."""
    number, chosen = numbers.get(label, 1), label
    while chosen in taken:
        number += 1
        chosen = _numbered(label, number)
    if number > 1:
        numbers[label] = number
    return chosen


def _parts(label: str) -> list[str]:
    """Return the parts of a label without those that lead elsewhere; at least one."""
    parts = [_part(part) for part in label.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return parts or [_UNNAMED]


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
