"""Where bytes lie: a path, an address that fsspec knows, or standard input, which goes to the scratch folder first.

A place can be opened any number of times, and sought in.
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
#: So much of a file decides what it is.
HEAD_BYTES = 2**16
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+://")


@dataclass(frozen=True, slots=True)
class Place:
    """One file."""

    #: As the user gave it.
    name: str
    #: Where it is on this machine, if it is.
    path: str | None
    #: How it is opened otherwise.
    opener: Callable[[], BinaryIO] | None = None
    #: Below the folder that the user gave; else its name alone.
    below: str = ""

    @property
    def title(self) -> str:
        """What an output is called after it."""
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
        """Return how it is compressed; the bytes say it, not the name."""
        return by_content(self.head())


class InPlace:
    """A source that is one file."""

    place: Place
    #: How many of its bytes, as they lie there, are read.
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
        """What is read on this machine."""
        return [self.place.path] if self.place.path is not None else []

    @cached_property
    def size(self) -> int:
        """How many bytes the file has; none if that cannot be told."""
        try:
            return self.place.size()
        except OSError:
            return 0


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder on this machine with the files below it, by path below it; ``left_out`` says why others are not here."""

    name: str
    path: str
    files: Sequence[str]
    left_out: Sequence[tuple[str, str]]


def is_address(text: str) -> bool:
    """Return whether fsspec is to find it."""
    return _ADDRESS.match(text) is not None


def find(given: str, scratch: Scratch, skip: Callable[[str, str], None]) -> tuple[list[Place | Folder], bool]:
    """Return what the user named: a file, a folder, what a pattern matches, and whether that may be several files.

    Errors: ``FileNotFoundError``, ``ParameterError``, ``MissingExtraError``.
    """
    if given == STDIN:
        return [_spooled("stdin", sys.stdin.buffer, scratch)], False
    if is_address(given):
        return _remote(given, scratch)
    if not os.path.lexists(given):
        return [_local(path, scratch) for path in targets([given], skip)], True
    found = _local(given, scratch)
    return [found], isinstance(found, Folder)


def _local(path: str, scratch: Scratch) -> Place | Folder:
    """Return what a path leads to. A pipe, which can be read only once, is set aside."""
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
    """Return what an address leads to. Errors: ``OSError``, whatever those who know such addresses raise."""
    try:
        return _remote_found(address, *_file_system(address), scratch)
    except (OSError, MissingExtraError, ParameterError):
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise OSError(errno.EIO, f"cannot be read: {reason}", address) from None


def _remote_found(address: str, system: Any, path: str, scratch: Scratch) -> tuple[list[Place | Folder], bool]:
    is_pattern = re.search(r"[*?\[]", path) is not None
    # Asking the web whether a file is a folder would fetch it.
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
                # A server that tells no length cannot be asked for parts.
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
        # fsspec names the package that knows such addresses.
        raise ParameterError(f"`{address}` cannot be read: {str(error).rstrip('.')}") from None
    return system, path
