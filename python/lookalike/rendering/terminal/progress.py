"""Progress on stderr, the same for every command: a bar on a terminal, a plain line every 30 seconds elsewhere.

A job reports a phase, the amount done and the total. This module knows nothing else about the job.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lookalike._types import unheard
from lookalike.documents.reasons import in_bytes

if TYPE_CHECKING:
    from lookalike._types import Progress

#: Seconds between two lines if stderr is not a terminal.
LINE_SECONDS = 30.0
#: Seconds after which a command that is usually fast shows that it is still running.
SLOW_SECONDS = 2.0


@contextmanager
def progress(*, counts_bytes: bool = True, quiet: bool = False, after: float = 0.0) -> Iterator[Progress]:
    """Yield the function that a job calls as it proceeds.

    ``quiet`` shows nothing. ``after`` seconds pass before a bar appears.
    """
    if quiet:
        yield unheard
    elif not sys.stderr.isatty():
        lines = Lines(counts_bytes)
        with _every(LINE_SECONDS, lines.tick):
            yield lines.tell
    else:
        with _bar(counts_bytes, after) as tell:
            yield tell


@contextmanager
def waiting(phase: str, *, quiet: bool = False, after: float = 0.0) -> Iterator[None]:
    """Show for how long a job runs that reports no progress itself."""
    with progress(counts_bytes=False, quiet=quiet, after=after) as tell:
        tell(phase, 0, None)
        yield


class Lines:
    """Writes the state of a job to stderr, at most once every ``LINE_SECONDS``."""

    def __init__(self, counts_bytes: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._counts_bytes = counts_bytes
        self._clock = clock
        self._phase, self._done = "", 0
        self._total: int | None = None
        self._began = self._said = clock()

    def tell(self, phase: str, done: int, total: int | None) -> None:
        """Take note of the state, and write a line if one is due."""
        if phase != self._phase:
            self._began = self._clock()
        self._phase, self._done, self._total = phase, done, total
        self.tick()

    def tick(self) -> None:
        """Write a line if one is due."""
        now = self._clock()
        if not self._phase or now - self._said < LINE_SECONDS:
            return
        self._said = now
        seconds = now - self._began
        speed = self._done / seconds if seconds else None
        shown = figures(self._done, self._total, seconds, speed, self._counts_bytes)
        sys.stderr.write(f"{self._phase}: {shown}\n")
        sys.stderr.flush()


@contextmanager
def _every(seconds: float, action: Callable[[], None]) -> Iterator[None]:
    """Call ``action`` regularly from another thread: a long call into the core reports nothing itself."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(seconds):
            action()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def _bar(counts_bytes: bool, after: float) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
    from rich.text import Text

    class Figures(ProgressColumn):
        def render(self, task: Task) -> Text:
            total = None if task.total is None else int(task.total)
            return Text(figures(int(task.completed), total, task.elapsed or 0.0, task.speed, counts_bytes))

    columns = (TextColumn("{task.description}"), BarColumn(), Figures())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    tasks: dict[str, TaskID] = {}

    def tell(phase: str, done: int, total: int | None) -> None:
        if phase not in tasks:
            for task in tasks.values():
                bar.stop_task(task)
            tasks[phase] = bar.add_task(phase, total=total)
        bar.update(tasks[phase], completed=done if total is None else min(done, total), total=total)

    with _started(bar.start, bar.stop, after):
        yield tell


@contextmanager
def _started(start: Callable[[], None], stop: Callable[[], None], after: float) -> Iterator[None]:
    """Start something after so many seconds, if that is not over by then, and stop it at the end."""
    timer = threading.Timer(after, start)
    if after:
        timer.daemon = True
        timer.start()
    else:
        start()
    try:
        yield
    finally:
        timer.cancel()
        if after:
            timer.join()
        stop()


def figures(done: int, total: int | None, seconds: float, speed: float | None, counts_bytes: bool = True) -> str:
    """Return how far a phase is, or how long it has been running if its total is not known."""
    amount = in_bytes if counts_bytes else "{:,}".format
    if total is None:
        return f"{amount(done)}, {seconds:.0f} s" if done else f"{seconds:.0f} s"
    shown = f"{amount(done)} of {amount(total)}"
    if not speed:
        return shown
    return f"{shown}, {amount(int(speed))}/s, {(total - done) / speed:.0f} s left"
