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


def corpus_files(path: str | os.PathLike[str]) -> list[tuple[Path, str | None]]:
    """Return what lies below a folder, sorted by name, each with the reason to leave it out, if there is one.

    A file stands for itself. Links are not followed, so neither a loop nor a way out of the folder can be.
    """
    root = Path(path)
    if not root.is_dir():
        return [(root, None)]
    found = sorted(
        Path(folder, name) for folder, folders, names in os.walk(root) for name in names + _links(folder, folders)
    )
    return [(file, _obstacle(file)) for file in found]


def _links(folder: str, folders: list[str]) -> list[str]:
    """Folders that are links; ``os.walk`` lists them and does not enter them."""
    return [name for name in folders if Path(folder, name).is_symlink()]


def _obstacle(file: Path) -> str | None:
    mode = file.lstat().st_mode
    if stat.S_ISLNK(mode):
        return "a link, and links are not followed"
    return None if stat.S_ISREG(mode) else "not a regular file"
