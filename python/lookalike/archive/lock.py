"""The lock of a writer: ``flock`` on a file that stays. The system frees it when the process ends, however it ends.

The file holds the process id and the host of its last holder, and whether it is a server, for the message to the next
one. The lock is never taken
from the existence of a file. Someone may delete it all the same: a lock counts only while its file is the one that
stands in the folder, which is looked at after it is taken and before each commit.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import platform
import time
import weakref

from lookalike.archive.folder import LOCK, Folder
from lookalike.engines.writing import writing
from lookalike.errors import LockedError, ParameterError

#: Seconds between two attempts while another process holds the lock.
_PAUSE = 0.05
#: The third word of the file if a server holds the lock.
_SERVER = "server"
#: Locks of this process. A child made by fork closes its copies, so that they do not outlive the parent.
_HELD: weakref.WeakSet[WriterLock] = weakref.WeakSet()


class WriterLock:
    """The right to change an index, held by one process."""

    def __init__(self, folder: Folder, wait: float = 0.0) -> None:
        """Take the lock. Errors: ``LockedError`` if another process still has it after ``wait`` seconds."""
        self._folder = folder
        self.process = os.getpid()
        self._handle: int | None = None
        # Before it waits: a child that is forked meanwhile must not keep the file open.
        _HELD.add(self)
        try:
            self._take(wait)
        except BaseException:
            self.release()
            raise

    def _take(self, wait: float) -> None:
        until = time.monotonic() + wait
        while not self._try():
            if time.monotonic() >= until:
                raise LockedError(self._refusal(wait))
            time.sleep(_PAUSE)
        self._write(f"{self.process} {platform.node()}\n")

    def serve(self, process: int) -> None:
        """Say that a server holds the lock: the process that ends all of it."""
        self._write(f"{process} {platform.node()} {_SERVER}\n")

    def _write(self, text: str) -> None:
        assert self._handle is not None
        with writing(self._folder.file(LOCK)):
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, text.encode(), 0)

    def _try(self) -> bool:
        """Take the lock of the file that stands in the folder; return whether it is free."""
        while True:
            if self._handle is None:
                with writing(self._folder.path):
                    self._handle = os.open(self._folder.file(LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            is_taken = _is_taken(self._handle)
            if self._is_in_folder():
                return is_taken
            # The file was deleted between opening and locking, or its holder goes on without it.
            self.release()

    def _is_in_folder(self) -> bool:
        """Return whether the locked file is the one that the next process would lock."""
        if self._handle is None:
            return False
        try:
            return os.path.samestat(os.fstat(self._handle), os.stat(self._folder.file(LOCK)))
        except FileNotFoundError:
            return False

    def _refusal(self, wait: float) -> str:
        """Return who holds the lock, and what to do."""
        assert self._handle is not None
        words = os.pread(self._handle, 300, 0).decode("utf-8", "replace").split()
        index = f"index `{self._folder.path}`"
        if words[2:] == [_SERVER]:
            server = f"a lookalike server (process {words[0]} on {words[1]})"
            return f"{server} has {index} open: add and remove documents over HTTP, or stop the server"
        holder = f"process {words[0]} on {words[1]}" if len(words) == 2 else "another process"
        # A caller that waits by itself may have no such option.
        advice = f" (waited {wait:g} s)" if wait else ", or give wait=… in seconds"
        return f"{index} is being changed by {holder}: wait for it to end{advice}"

    @property
    def is_own(self) -> bool:
        """Whether this process took it, and not the one that it was forked from."""
        return os.getpid() == self.process

    def check(self) -> None:
        """Refuse a process other than the one that took the lock. Errors: ``ParameterError``."""
        if not self.is_own:
            raise ParameterError(
                f"index `{self._folder.path}` was opened for changes by process {self.process}, and this one was "
                "forked from it: open the index again in this process, after the other one has closed it"
            )

    def check_kept(self) -> None:
        """Refuse to go on if the file was deleted: another process may have the lock too. Errors: ``LockedError``."""
        if not self._is_in_folder():
            raise LockedError(
                f"the file `{self._folder.file(LOCK)}` was deleted or replaced while the index was being changed, so "
                "another process may change it, too: nothing was written; close the index and open it again"
            )

    def release(self) -> None:
        """Give the lock back. A child made by fork only closes its copy of the file: the parent keeps the lock."""
        handle, self._handle = self._handle, None
        if handle is None:
            return
        try:
            if self.is_own:
                # Closing is not enough where a child still has a copy.
                fcntl.flock(handle, fcntl.LOCK_UN)
        finally:
            os.close(handle)


def _is_taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise
    return True


def _forget() -> None:
    for lock in list(_HELD):
        with contextlib.suppress(OSError):
            lock.release()


os.register_at_fork(after_in_child=_forget)
