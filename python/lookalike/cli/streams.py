"""Standard output as a place for rows: a reader that closes the pipe is not an error."""

from __future__ import annotations

import contextlib
import os
import sys


def close_stdout() -> None:
    """Send everything that is still to be written to the null device, so that Python does not complain at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Stdout:
    """A binary stream to standard output. When the reader is gone, it drops what it is given."""

    name = "standard output"

    def __init__(self) -> None:
        self._is_open = True

    def write(self, data: bytes, /) -> int:
        """Write some bytes."""
        if self._is_open:
            try:
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
            except BrokenPipeError:
                self._is_open = False
                close_stdout()
        return len(data)
