"""Errors while an output is written, in words: the path that the user gave, the reason, and the bytes that are needed.

Outputs are first written under hidden names, which would say nothing to a reader of the message.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterator

from lookalike.documents.reasons import in_bytes
from lookalike.errors import LookalikeError, NoSpaceError

#: The disk is full, a quota is used up, or a file may not grow further.
NO_SPACE = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)


class WriteError(LookalikeError, OSError):
    """An output cannot be written. The message names the path that was given."""


def refusal(error: OSError, target: str | os.PathLike[str], needed: int = 0) -> OSError:
    """Return the error to raise in place of one that the system gave; ``needed``: bytes of the output, 0 if unknown."""
    name = os.fspath(target)
    if error.errno not in NO_SPACE:
        return WriteError(error.errno, f"`{name}` cannot be written: {error.strerror or error}")
    if error.errno == errno.EFBIG:
        told = f"; up to {in_bytes(needed)} are needed" if needed else ""
        return NoSpaceError(error.errno, f"`{name}` cannot be written: {_largest()}{told}")
    told = f"up to {in_bytes(needed)} are needed" if needed else "more is needed"
    return NoSpaceError(error.errno, f"no space for `{name}`: {told}, {in_bytes(_free(name))} are free")


@contextlib.contextmanager
def writing(target: str | os.PathLike[str], needed: Callable[[], int] = lambda: 0) -> Iterator[None]:
    """Replace errors of the system in a block that writes an output. Errors: ``WriteError``, ``NoSpaceError``."""
    try:
        yield
    except OSError as error:
        # The package has its own reason for an output that exists.
        is_ours = isinstance(error, FileExistsError) and error.strerror != os.strerror(errno.EEXIST)
        if is_ours or isinstance(error, LookalikeError):
            raise
        raise refusal(error, target, needed() if error.errno in NO_SPACE else 0) from None


def sync(path: str) -> None:
    """Make what was written to a file or folder durable. Errors: ``OSError``."""
    if os.name == "nt" and os.path.isdir(path):
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _largest() -> str:
    """Return how large a file may be, in words."""
    try:
        import resource
    except ImportError:
        most = -1
    else:
        most = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if most < 0:
        return "the file system allows no file of this size"
    return f"a file may have at most {in_bytes(most)} (`ulimit -f`)"


def _free(path: str) -> int:
    """Return the free bytes where a path would be."""
    folder = os.path.abspath(path)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    with contextlib.suppress(OSError):
        return shutil.disk_usage(folder).free
    return 0
