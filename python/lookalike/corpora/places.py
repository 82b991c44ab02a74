"""Locates bytes: a path, an fsspec address, or standard input, which is copied to the scratch folder first.

A place can be opened any number of times and is seekable.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, BinaryIO, cast

from lookalike.corpora.compression import by_content
from lookalike.corpora.scratch import Scratch
from lookalike.documents.files import opened
from lookalike.documents.folders import walk
from lookalike.documents.intake import in_order
from lookalike.documents.patterns import Choice
from lookalike.documents.reasons import MIB
from lookalike.documents.targets import targets
from lookalike.errors import MissingExtraError, ParameterError

STDIN = "-"
#: The name of standard input as a source.
STDIN_NAME = "stdin"
#: Bytes at the start of a file that decide its format.
HEAD_BYTES = 2**16
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+://")


@dataclass(frozen=True, slots=True)
class Place:
    """One file."""

    #: As the user gave it.
    name: str
    #: Its local path, if it has one.
    path: str | None
    #: Opens it if it is not local.
    opener: Callable[[], BinaryIO] | None = None
    #: Path below the folder that the user gave; else its file name.
    below: str = ""

    @property
    def title(self) -> str:
        """The name of its output."""
        return self.below or self.name.rstrip("/").rpartition("/")[2]

    def open(self) -> BinaryIO:
        """Open it for reading. Errors: ``OSError``, ``RefusedError`` if it is no regular file."""
        if self.opener is not None:
            return self.opener()
        path = cast(str, self.path)
        with opened(path) as (file, _):
            return os.fdopen(os.dup(file.fileno()), "rb", buffering=0)

    def head(self) -> bytes:
        """Return the first bytes."""
        with self.open() as file:
            head = b""
            while len(head) < HEAD_BYTES and (piece := file.read(HEAD_BYTES - len(head))):
                head += piece
        return head

    def size(self) -> int:
        """Return how many bytes it has."""
        if self.path is not None:
            return os.path.getsize(self.path)
        with self.open() as file:
            return file.seek(0, os.SEEK_END)

    def compression(self) -> str | None:
        """Return its compression, decided by its first bytes, not its name."""
        return by_content(self.head())


class InPlace:
    """A source that is one file."""

    place: Place
    #: Bytes of the file read so far, before decompression.
    done = 0

    @property
    def name(self) -> str:
        """As the user gave it."""
        return self.place.name

    @property
    def title(self) -> str:
        """What an output is called after it."""
        return self.place.title

    @property
    def paths(self) -> list[str]:
        """The local paths that are read."""
        return [self.place.path] if self.place.path is not None else []

    @cached_property
    def size(self) -> int:
        """Size of the file in bytes; 0 if unknown."""
        try:
            return self.place.size()
        except OSError:
            return 0


@dataclass(frozen=True, slots=True)
class Folder:
    """A local folder with its files by relative path; ``left_out`` gives the reasons for skipped ones."""

    name: str
    path: str
    files: Sequence[str]
    left_out: Sequence[tuple[str, str]]


def is_address(text: str) -> bool:
    """Return whether this is an fsspec address."""
    return _ADDRESS.match(text) is not None


def find(given: str, scratch: Scratch, skip: Callable[[str, str], None]) -> tuple[list[Place | Folder], bool]:
    """Resolve what the user named (file, folder or pattern) and whether it may be several files.

    Errors: ``FileNotFoundError``, ``ParameterError``, ``MissingExtraError``.
    """
    if given == STDIN:
        return [_spooled(STDIN_NAME, sys.stdin.buffer, scratch)], False
    if is_address(given):
        return _remote(given, scratch)
    if not os.path.lexists(given):
        return [_local(path, scratch) for path in targets([given], skip)], True
    found = _local(given, scratch)
    return [found], isinstance(found, Folder)


def _local(path: str, scratch: Scratch) -> Place | Folder:
    """Resolve a path. A pipe can be read only once, so it is copied to the scratch folder."""
    if os.path.isdir(path):
        return _folder(path)
    if os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode):
        with open(path, "rb") as pipe:
            return _spooled(path, pipe, scratch)
    return Place(path, path)


def _spooled(name: str, file: BinaryIO, scratch: Scratch) -> Place:
    path = scratch.path()
    with open(path, "wb") as copy:
        shutil.copyfileobj(file, copy, MIB)
    return Place(name, path)


def _folder(path: str) -> Folder:
    choice = Choice()
    files, left_out = [], []
    for found in walk(path, choice.enters):
        if found.reason:
            left_out.append((found.path, found.reason))
        elif choice.keeps(found.path):
            files.append(found.path)
    left_out += [(row.name, row.reason) for row in choice.summary()]
    return Folder(path.rstrip("/") or path, path, files, left_out)


def _remote(address: str, scratch: Scratch) -> tuple[list[Place | Folder], bool]:
    """Resolve an address. Errors: ``OSError``, and whatever the file system raises."""
    try:
        return _remote_found(address, *_file_system(address), scratch)
    except (OSError, MissingExtraError, ParameterError):
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise OSError(errno.EIO, f"cannot be read: {reason}", address) from None


def _remote_found(address: str, system: Any, path: str, scratch: Scratch) -> tuple[list[Place | Folder], bool]:
    is_pattern = re.search(r"[*?\[]", path) is not None
    # Asking a web server whether a file is a folder would download it.
    may_be_folder = address.endswith("/") or not address.lower().startswith("http")
    is_folder = not is_pattern and may_be_folder and system.isdir(path)
    if is_pattern:
        paths = [one for one in system.glob(path) if not system.isdir(one)]
    else:
        paths = system.find(path) if is_folder else [path] if system.exists(path) else []
    if not paths:
        raise FileNotFoundError(errno.ENOENT, "no such file or folder, and nothing matches it as a pattern", address)
    is_many = is_folder or is_pattern
    if address.lower().startswith(("file:", "local:")):
        return [_local(one, scratch) for one in ([path] if is_folder else sorted(paths, key=in_order))], is_many
    below = path if is_folder else None
    return [_remote_place(system, one, below, scratch) for one in sorted(paths, key=in_order)], is_many


def _remote_place(system: Any, path: str, folder: str | None, scratch: Scratch) -> Place:
    name = system.unstrip_protocol(path)
    below = "" if folder is None else path[len(folder) :].strip("/")
    if name.startswith("http"):
        with system.open(path, "rb") as file:
            if file.size is None:
                # A server that reports no length cannot serve ranges.
                return replace(_spooled(name, file, scratch), below=below)
    return Place(name, None, lambda: cast(BinaryIO, system.open(path, "rb")), below)


def _file_system(address: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtraError(f"reading `{address}`", "data") from None
    try:
        system, path = url_to_fs(address)
    except (ImportError, ValueError) as error:
        # fsspec's message names the package that is needed.
        raise ParameterError(f"`{address}` cannot be read: {str(error).rstrip('.')}") from None
    return system, path
