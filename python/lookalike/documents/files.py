"""Reads one file or standard input as bytes, within limits."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Protocol, cast

from lookalike.documents.reasons import NOT_REGULAR, RefusedError, too_large
from lookalike.errors import FrontendError

#: Offsets have 32 bits.
MAX_BYTES = 2**32 - 1
#: Open without blocking, so that a FIFO cannot stall the run. Windows has only the last flag.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
#: Bytes per read once a file turns out larger than it claimed.
_CHUNK = 2**16
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class Readable(Protocol):
    """A stream that is read forwards only."""

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes, empty only at the end."""


@contextmanager
def opened(path: str, *, follow: bool = True) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular file and return it with the size it claims. Errors: ``RefusedError`` for other kinds, ``OSError``.

    The open handle is checked, not the path, so replacing the file in between has no effect.
    """
    handle = os.open(path, _FLAGS | (0 if follow else _NO_LINK))
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise RefusedError(NOT_REGULAR)
        with os.fdopen(handle, "rb", buffering=0, closefd=False) as file:
            yield cast(BinaryIO, file), status.st_size
    finally:
        os.close(handle)


def read_at_most(file: Readable, claimed: int, most: int) -> bytes:
    """Read a file to its end. Errors: ``RefusedError`` if it has more than ``most`` bytes, whatever it claims.

    A file that claims too much is not read at all (it may be sparse). A file that grows is read up to ``most`` bytes.
    """
    parts: list[bytes] = []
    total, wanted = 0, claimed + 1
    while claimed <= most and (part := file.read(min(wanted, most + 1 - total))):
        parts.append(part)
        total, wanted = total + len(part), _CHUNK
        if total > most:
            break
    if max(claimed, total) > most:
        raise too_large(most)
    return b"".join(parts)


def read(path: str | os.PathLike[str]) -> bytes:
    """Read a regular file whole. Errors: ``FrontendError`` if it is no regular file or too large, ``OSError``."""
    name = os.fspath(path)
    try:
        with opened(name) as (file, claimed):
            check_size(claimed, name)
            data = file.read()
    except RefusedError as error:
        raise FrontendError(f"`{name}` is {error}: give a file, or - for standard input") from None
    check_size(len(data), name)
    return data


def read_stdin() -> bytes:
    """Read standard input whole."""
    parts: list[bytes] = []
    total = 0
    while part := sys.stdin.buffer.read(1 << 20):
        total += len(part)
        check_size(total, "standard input")
        parts.append(part)
    return b"".join(parts)


def check_size(size: int, name: str) -> None:
    """Errors: ``FrontendError`` that names the input if it is too large."""
    if size > MAX_BYTES:
        raise FrontendError(f"`{name}` is too large: offsets have 32 bits, so documents must be below 4 GiB; split it")
