"""The connection to a catalogue: opened when it is needed, closed before a fork, and made anew where a copy is old.

SQLite keeps the files and locks of a process in memory. A forked process has that memory but not the locks: whatever it
opens would stand on it, so that it answers from the past or finds the file damaged. So no connection is open while a
process forks: before it, each one waits for the thread that uses it and is closed; parent and child open their own.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable
from urllib.parse import quote

from lookalike.archive import copies, faults
from lookalike.archive.folder import Folder
from lookalike.errors import ParameterError

#: Longest text or blob that is read: a bitmap of 2^32 rows has 512 MiB.
_LONGEST = 2**29
#: Milliseconds to wait for SQLite's own locks, which are held for moments only.
_BUSY = 10_000
#: Pages of the journal after which it is written back, so that it begins anew. A long one holds pages for which the
#: catalogue has no room on a full disk, and then nothing can be removed any more.
_JOURNAL_PAGES = 64
#: Held while a process forks, and while a connection is used that is not among those below.
GUARD = threading.RLock()
_ALL: weakref.WeakSet[Connection] = weakref.WeakSet()
_stopped: list[Connection] = []


class Connection:
    """A connection that is used by one thread at a time: the one that holds ``turn``."""

    def __init__(self, folder: Folder, check: Callable[[sqlite3.Connection], None], *, write: bool) -> None:
        """Prepare a connection; each time it is opened, the file is checked by ``check``."""
        self.turn = threading.RLock()
        self.process = os.getpid()
        self._folder, self._check, self._write = folder, check, write
        self._base: sqlite3.Connection | None = None
        self._origin: copies.Origin | None = None
        self._is_closed = False
        with GUARD:
            _ALL.add(self)

    def base(self) -> sqlite3.Connection:
        """Return the open connection. REQUIRES: ``turn``. Errors: those of SQLite, of ``check``, and ``OSError``."""
        if self._is_closed:
            raise ParameterError(f"index `{self._folder.path}` is closed: open it again")
        if self._base is not None and self._base.in_transaction:
            return self._base
        if self._origin is not None and not self._origin.is_current():
            self.let_go()
        if self._base is None:
            self._folder.check_same()
            self._base = self._opened()
            try:
                self._check(self._base)
            except BaseException:
                self.let_go()
                raise
        return self._base

    def _opened(self) -> sqlite3.Connection:
        """Connect to the file, or to a copy of it where its folder cannot be written or has no room left."""
        if self._write and os.getpid() == self.process:
            return self._for_writing()
        try:
            base = connected(f"{self._address}?mode=ro")
            base.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.OperationalError as error:
            is_refused = faults.code(error) in faults.NEEDS_WRITING and not os.access(self._folder.path, os.W_OK)
            if not is_refused and not faults.has_no_room(error):
                raise
            base, self._origin = copies.copied(self._folder, connected)
        return base

    def _for_writing(self) -> sqlite3.Connection:
        """Connect to the file for changes. On a full disk, the reserve makes room for what SQLite keeps beside it."""
        try:
            base = connected(f"{self._address}?mode=rw")
            base.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if not faults.has_no_room(error) or not self._folder.give_up_reserve():
                raise
            return self._for_writing()
        base.execute(f"PRAGMA wal_autocheckpoint={_JOURNAL_PAGES}")
        return base

    @property
    def _address(self) -> str:
        return f"file:{quote(self._folder.catalogue)}"

    def let_go(self) -> None:
        """Close the connection until it is needed again; one in the middle of a transaction stays."""
        base = self._base
        if base is not None and not base.in_transaction:
            self._base = self._origin = None
            with contextlib.suppress(sqlite3.Error):
                base.close()

    def close(self) -> None:
        """Close the connection for ever."""
        with self.turn:
            self._is_closed = True
            self.let_go()


def connected(address: str) -> sqlite3.Connection:
    """Connect, with settings that trust nothing in the file and make every commit durable."""
    base = sqlite3.connect(address, uri=True, isolation_level=None, timeout=_BUSY / 1000, check_same_thread=False)
    base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    for setting in (
        "trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0", "synchronous=FULL", "fullfsync=ON",
        "secure_delete=ON", "temp_store=MEMORY", f"busy_timeout={_BUSY}",
    ):  # fmt: skip
        base.execute(f"PRAGMA {setting}")
    return base


def _before_fork() -> None:
    GUARD.acquire()
    for one in list(_ALL):
        one.turn.acquire()
        _stopped.append(one)
        one.let_go()


def _after_fork() -> None:
    while _stopped:
        _stopped.pop().turn.release()
    GUARD.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
