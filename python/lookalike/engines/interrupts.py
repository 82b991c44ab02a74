"""Lets a short block end before an interrupt counts: one that comes when the work is done is no interrupt.

Only the main thread receives signals; in any other thread this does nothing.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def deferred_interrupts() -> Iterator[None]:
    """Ignore the first interrupt in a block; a second one is raised at once, as usual.

    REQUIRES: the block is short, and what it has begun is worth ending. If the block fails, its error is raised.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def first(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, before[signal.Signals(number)])

    # A signal that has no handler in Python, or is ignored, stays as it is.
    handled = [number for number, handler in before.items() if callable(handler)]
    try:
        for number in handled:
            signal.signal(number, first)
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])
