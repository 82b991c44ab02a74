"""Runs of ``dedup`` that add rows to an index, and were interrupted.

A run is noted in the catalogue before its first row is added, and the note goes when its outputs have their names. So
a note that the next run finds is that of an interrupted run. If it was decided, its outputs are completed
(``delivering.py``). Otherwise nobody has its outputs: the same run goes on, and any other takes back the rows that it
had added, as if it had never begun: they are new to whichever run has them next. There is at most one unfinished run.

Cost: that of reading the documents that arrived since the run began, only after an interruption.
"""

from __future__ import annotations

from collections.abc import Iterator

from lookalike.archive.state import State, is_marked
from lookalike.archive.view import View, meta_of


def note(state: State, run: str) -> str:
    """Return what the catalogue notes of a run that begins now, or goes on."""
    return state.run if unfinished(state) == run else f"{run}:{state.next_arrival}"


def unfinished(state: State) -> str:
    """Return the name of the unfinished run; empty if there is none."""
    return state.run.partition(":")[0]


def name(run: str, row: int) -> str:
    """Return what a document says of the run that added it, and of its row there."""
    return f"{run}:{row}"


def row_of(meta: bytes, run: str) -> int | None:
    """Return the row of this run that a document was made of, if it was."""
    its, _, row = str(meta_of(meta).get("run", "")).partition(":")
    return int(row) if its == run and row.isdecimal() else None


def added(view: View) -> Iterator[int]:
    """Yield the numbers of the documents and shadows that the unfinished run had added."""
    run, _, first = view.state.run.partition(":")
    number = 0
    for part, (segment, bitmap) in enumerate(view.parts):
        segments = view.state.segments
        if part >= len(segments) or segments[part].last >= int(first):
            for row in range(segment.rows):
                if (
                    not is_marked(bitmap, row)
                    and str(meta_of(segment.row(row).meta).get("run", "")).partition(":")[0] == run
                ):
                    yield number + row
        number += segment.rows
