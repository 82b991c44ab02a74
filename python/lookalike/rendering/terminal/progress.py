"""Progress on stderr, the same for every command: a bar on a terminal, a plain line every 30 seconds elsewhere.

Jobs report a phase, how much is done and how much there is in all; nothing here knows what a job does.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lookalike.documents.reasons import in_bytes

if TYPE_CHECKING:
    from lookalike._types import Progress

#: Seconds between two lines where stderr is no terminal: rare enough for a log, often enough to see life.
LINE_SECONDS = 30.0


@contextmanager
def progress(*, counts_bytes: bool = True, quiet: bool = False) -> Iterator[Progress]:
    """Yield the function that a job calls as it proceeds; ``quiet`` shows nothing."""
    if quiet:
        yield lambda phase, done, total: None
    elif not sys.stderr.isatty():
        yield Lines(counts_bytes).tell
    else:
        with _bar(counts_bytes) as tell:
            yield tell


class Lines:
    """Writes where a job stands, at most every ``LINE_SECONDS``: a log shows life and is not filled."""

    def __init__(self, counts_bytes: bool) -> None:
        self._counts_bytes = counts_bytes
        self._phase, self._began = "", 0.0
        self._said = time.monotonic()

    def tell(self, phase: str, done: int, total: int | None) -> None:
        """Write a line if the last one is long enough ago."""
        now = time.monotonic()
        if phase != self._phase:
            self._phase, self._began = phase, now
        if now - self._said < LINE_SECONDS:
            return
        self._said = now
        seconds = now - self._began
        shown = figures(done, total, seconds, done / seconds if seconds else None, self._counts_bytes)
        sys.stderr.write(f"{phase}: {shown}\n")
        sys.stderr.flush()


@contextmanager
def _bar(counts_bytes: bool) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
    from rich.text import Text

    class Figures(ProgressColumn):
        def render(self, task: Task) -> Text:
            total = None if task.total is None else int(task.total)
            return Text(figures(int(task.completed), total, task.elapsed or 0.0, task.speed, counts_bytes))

    columns = (TextColumn("{task.description}"), BarColumn(), Figures())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def tell(phase: str, done: int, total: int | None) -> None:
            if phase not in tasks:
                for task in tasks.values():
                    bar.stop_task(task)
                tasks[phase] = bar.add_task(phase, total=total)
            bar.update(tasks[phase], completed=done if total is None else min(done, total), total=total)

        yield tell


def figures(done: int, total: int | None, seconds: float, speed: float | None, counts_bytes: bool = True) -> str:
    """Return how far a phase is; where its end is not known, how long it has been running."""
    amount = in_bytes if counts_bytes else "{:,}".format
    if total is None:
        return f"{amount(done)}, {seconds:.0f} s" if done else f"{seconds:.0f} s"
    shown = f"{amount(done)} of {amount(total)}"
    if not speed:
        return shown
    return f"{shown}, {amount(int(speed))}/s, {(total - done) / speed:.0f} s left"
