"""Errors of SQLite in the words of this package: damage, a lock, no space, or an error of the disk."""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import sqlite3
from collections.abc import Iterator

from lookalike.errors import DamagedError, LockedError

#: Codes of SQLite that say that a file in a read-only folder cannot be read in place: read-only, cannot open.
NEEDS_WRITING = (8, 14)
#: Codes that say that the file is damaged: corrupt, of another format, no database.
_DAMAGED = (11, 24, 26)
#: Errors of the system, by SQLite's code: no right, read-only, cannot open, error of the disk, too large.
_SYSTEM = {3: errno.EACCES, 8: errno.EROFS, 10: errno.EIO, 14: errno.EACCES, 18: errno.EFBIG}
#: Busy, locked, and a lock that could not be had in many attempts.
_BUSY = (5, 6, 15)
#: Full, in one word or in another: no room for the memory that processes share, beside the file.
_NO_ROOM = (13, 10 | 19 << 8)
_NO_MEMORY = 7
_CANNOT_OPEN = 14
#: What SQLite says, without a code of its own, of a file whose header asks for a newer version of it.
_NEWER = "unsupported file format"


def code(error: sqlite3.Error) -> int:
    """Return the primary code of an error; 11 (damaged) if it has none, as errors of decoding."""
    number = getattr(error, "sqlite_errorcode", None)
    return 11 if number is None else number & 0xFF


def has_no_room(error: sqlite3.Error) -> bool:
    """Return whether the disk is full."""
    return getattr(error, "sqlite_errorcode", None) in _NO_ROOM


def damaged(path: str, reason: str) -> DamagedError:
    """Return the error for a damaged file of an index."""
    folder = shlex.quote(os.path.dirname(path))
    return DamagedError(
        f"`{path}` is damaged: {reason}; restore the index from a backup, or run `lookalike index repair {folder}`"
    )


def kept(path: str) -> LockedError:
    """Return the error for a journal that a reader keeps."""
    return LockedError(
        f"a reader keeps the journal of index `{path}`: removed documents are hidden but not erased yet; close the "
        f"reader and run `lookalike index compact {shlex.quote(path)}`"
    )


def overtaken(path: str) -> LockedError:
    """Return the error for an index that another process has changed although this one has the lock."""
    return LockedError(
        f"another process has changed index `{path}` since it was opened here, as happens if the file `lock` "
        "is deleted: nothing was written; close the index and open it again"
    )


@contextlib.contextmanager
def spoken(path: str) -> Iterator[None]:
    """Turn errors of SQLite into ``DamagedError``, ``LockedError``, ``MemoryError`` or ``OSError``."""
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise _translated(path, error) from None


def _translated(path: str, error: Exception) -> Exception:
    number = code(error) if isinstance(error, sqlite3.Error) else 11
    if number in _BUSY:
        return LockedError(f"`{path}` is being used by another program: wait for it to end")
    if number == _NO_MEMORY:
        return MemoryError(f"no memory for `{path}`")
    if isinstance(error, sqlite3.Error) and has_no_room(error):
        return OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)} ({error})", path)
    if number in _SYSTEM:
        reason = _reason(path) if number == _CANNOT_OPEN else _SYSTEM[number]
        return OSError(reason, f"{os.strerror(reason)} ({error})", path)
    if number in _DAMAGED or str(error) == _NEWER:
        return damaged(path, f"SQLite says `{error}`")
    return OSError(errno.EIO, f"SQLite refuses with code {number} (`{error}`)", path)


def _reason(path: str) -> int:
    """Return why a file cannot be opened, which SQLite does not tell: no right to, or too many open files."""
    try:
        os.close(os.open(path, os.O_RDWR))
    except OSError as error:
        return error.errno or errno.EACCES
    return errno.EACCES
