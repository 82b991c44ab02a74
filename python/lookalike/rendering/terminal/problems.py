"""Inputs that could not be read, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lookalike._types import Problem, counted

#: Problems shown at the terminal.
SHOWN = 5


def lines(problems: Sequence[Problem]) -> Iterator[str]:
    """Yield a line for each of the first problems, and the number of the others."""
    for problem in problems[:SHOWN]:
        yield f"{'note' if problem.is_note else 'not read'}: {problem}"
    if len(problems) > SHOWN:
        yield f"  and {counted(len(problems) - SHOWN, 'more problem')}; --json lists all"
