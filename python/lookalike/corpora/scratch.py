"""The private folder for data that does not fit in memory: one per run, mode 0700, removed when the run ends.

A killed run cannot clean up, so the next run does. A run is alive if it holds the lock on a file in its folder: the
system releases the lock when the process ends in any way, and process numbers are not compared.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from types import TracebackType

#: Prefix of the folders; only folders with it are ever removed.
PREFIX = "lookalike-"
#: The file in a folder that its process holds locked.
LOCK = ".lock"


class Scratch:
    """A private folder below ``parent`` or the system's temporary folder. Use it in a ``with``."""

    def __init__(self, parent: str | os.PathLike[str] | None = None) -> None:
        self._parent = os.fspath(parent) if parent is not None else tempfile.gettempdir()
        self._folder: str | None = None
        self._lock = -1
        self._made = 0

    def __enter__(self) -> Scratch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def folder(self) -> str:
        """The folder, created on first use after removing those of dead processes."""
        if self._folder is None:
            sweep(self._parent, PREFIX)
            self._folder = tempfile.mkdtemp(prefix=PREFIX, dir=self._parent)
            self._lock = hold(self._folder)
        return self._folder

    def path(self, suffix: str = "") -> str:
        """Return the path of a new file."""
        self._made += 1
        return os.path.join(self.folder, f"{self._made}{suffix}")

    def close(self) -> None:
        """Remove the folder and all that is in it."""
        if self._folder is not None:
            release(self._lock)
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def hold(folder: str) -> int:
    """Lock a folder for as long as this process lives; return the handle of the lock.

    The lock file gets its name once it is locked. Otherwise another process could find it unlocked and remove the
    folder.
    """
    path = os.path.join(folder, LOCK)
    handle = os.open(path + ".new", os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    _lock(handle)
    os.rename(path + ".new", path)
    return handle


def release(handle: int) -> None:
    """Release a folder."""
    if handle >= 0:
        os.close(handle)


def sweep(parent: str, prefix: str, suffix: str = "", rescue: Callable[[str], bool] = lambda folder: True) -> None:
    """Remove the folders of dead processes, of this user and with such names; what cannot be removed is left.

    ``rescue`` is called with each before; if it returns false, the folder stays.
    """
    try:
        with os.scandir(parent) as entries:
            found = [one.path for one in entries if one.name.startswith(prefix) and one.name.endswith(suffix)]
    except OSError:
        return
    for folder in found:
        if is_own_folder(folder) and _is_dead(folder) and rescue(folder):
            shutil.rmtree(folder, ignore_errors=True)


def is_own_folder(path: str) -> bool:
    """Return whether a path is a folder of this user, and no link."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return os.path.isdir(path) and not os.path.islink(path) and status.st_uid == getattr(os, "getuid", lambda: 0)()


def _is_dead(folder: str) -> bool:
    """Return whether no process holds a folder. A folder without a lock file is just being created."""
    try:
        handle = os.open(os.path.join(folder, LOCK), os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return False
    try:
        return _lock(handle)
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    try:
        import fcntl
    except ImportError:
        # Without file locks no folder is considered dead.
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
