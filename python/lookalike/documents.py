"""Paths and standard input → bytes. Nothing here knows what a text is."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from lookalike.errors import FrontendError

#: Offsets have 32 bits.
MAX_BYTES = 2**32 - 1


def read(path: str | os.PathLike[str]) -> bytes:
    """Read a regular file whole.

    The handle is checked after it was opened, and opened without blocking, so neither a swapped file nor a FIFO can
    hold the run up.
    """
    name = os.fspath(path)
    handle = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise FrontendError(f"`{name}` is not a regular file: give a file, or - for standard input")
        check_size(status.st_size, name)
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read()
    finally:
        os.close(handle)
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
    """Refuse what is too large, by name."""
    if size > MAX_BYTES:
        raise FrontendError(f"`{name}` is too large: offsets have 32 bits, so documents must be below 4 GiB; split it")


def corpus_files(path: str | os.PathLike[str]) -> list[Path]:
    """Regular files below a folder, sorted by name, links not followed; a file stands for itself."""
    root = Path(path)
    if not root.is_dir():
        return [root]
    found = [Path(folder, name) for folder, _, names in os.walk(root) for name in names]
    return sorted(file for file in found if stat.S_ISREG(file.lstat().st_mode))
