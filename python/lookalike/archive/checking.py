"""Checks an index: every byte of every file, and whether the files agree. Cost: one read of everything.

A check never stops at the first fault: it lists what it finds, and says what it could not look at because of it.
"""

from __future__ import annotations

import os

from lookalike import _core
from lookalike._types import Progress
from lookalike.archive.catalogue import Catalogue
from lookalike.archive.folder import CATALOGUE, Folder, segment_number
from lookalike.archive.results import Finding
from lookalike.archive.state import SegmentRow, State, is_marked
from lookalike.archive.view import SHADOW
from lookalike.errors import DamagedError, FormatError

CHECKING = "checking segments"
#: Ids that are looked up at a time.
_BATCH = 1024
#: Documents with another one's id that are listed by name.
_SHOWN = 10
#: A segment, or why it cannot be opened.
_Opened = _core.Segment | FormatError | OSError


def check(folder: Folder, catalogue: Catalogue, progress: Progress) -> list[Finding]:
    """Return everything that is wrong with an index."""
    findings = [Finding(name, "it does not belong to the index", is_damage=False) for name in folder.strangers()]
    findings += [Finding(CATALOGUE, reason) for reason in catalogue.problems()]
    names = sorted(name for name in os.listdir(folder.path) if segment_number(name) is not None)
    try:
        state, tail, opened = _opened(folder, catalogue)
    except FormatError as error:
        return [*findings, Finding(CATALOGUE, str(error))]
    findings += _unlisted(folder, names, state)
    left = folder.leftovers(state.garbage, state.next_segment)
    findings += [Finding(name, reason, is_damage=False) for name, reason in left.items()]
    parts: list[tuple[_core.Segment, bytes | None]] = []
    for done, (row, found) in enumerate(zip(state.segments, opened, strict=True)):
        progress(CHECKING, done, len(state.segments))
        segment = _checked(row, found, findings)
        if segment is not None:
            parts.append((segment, state.removed.get(row.number)))
    held = _tail(state, tail, findings)
    if held is not None:
        parts.append((held, None))
    if len(parts) == len(state.segments) + (held is not None):
        findings += _doubles(parts)
        shadows = _core.Snapshot(parts).shadows
        if state.shadows not in (None, shadows):
            reason = f"it counts {state.shadows:,} rows that dedup removed, and there are {shadows:,}"
            findings.append(Finding(CATALOGUE, reason))
    return findings


def _opened(folder: Folder, catalogue: Catalogue) -> tuple[State, list[tuple[int, bytes]], list[_Opened]]:
    """Return a state with its segments, all open before one is read: a writer may replace and unlink them meanwhile."""
    while True:
        state, tail = catalogue.read()
        opened = [_open(folder, row) for row in state.segments]
        is_missing = any(isinstance(one, FileNotFoundError) for one in opened)
        if not is_missing or catalogue.generation() == state.generation:
            return state, tail, opened


def _open(folder: Folder, row: SegmentRow) -> _Opened:
    try:
        return _core.Segment.open(folder.file(row.name))
    except (FormatError, OSError) as error:
        return error


def _unlisted(folder: Folder, names: list[str], state: State) -> list[Finding]:
    """Return the segment files that a later state does not list, and that are still there."""
    listed = {one.name for one in state.segments} | state.garbage
    reason = "the catalogue does not list it; it takes space only"
    left = [name for name in names if name not in listed and os.path.lexists(folder.file(name))]
    return [Finding(name, reason, is_damage=False) for name in left]


def _checked(row: SegmentRow, found: _Opened, findings: list[Finding]) -> _core.Segment | None:
    """Read a whole segment; list what is wrong with it. Returns it if nothing is."""
    try:
        if isinstance(found, Exception):
            raise found
        if (found.rows, found.length, found.seal) != (row.rows, row.length, row.seal):
            findings.append(Finding(row.name, "it is not the file that the catalogue lists"))
            return None
        found.verify()
    except FileNotFoundError:
        findings.append(Finding(row.name, "it is missing"))
    except (FormatError, OSError) as error:
        findings.append(Finding(row.name, str(error)))
    else:
        return found
    return None


def _tail(state: State, tail: list[tuple[int, bytes]], findings: list[Finding]) -> _core.Segment | None:
    """Read all records of the tail."""
    if not tail:
        return None
    try:
        segment = _core.Segment.of_records([record for _, record in tail], state.parameters.encode())
        segment.verify()
    except (DamagedError, FormatError) as error:
        findings.append(Finding(CATALOGUE, f"a record of the tail cannot be read: {error}"))
        return None
    return segment


def _doubles(parts: list[tuple[_core.Segment, bytes | None]]) -> list[Finding]:
    """Return the documents that are not found by their own id, or share it with another one."""
    snapshot, findings, first = _core.Snapshot(parts), list[Finding](), 0
    for segment, bitmap in parts:
        for start in range(0, segment.rows, _BATCH):
            live = (row for row in range(start, min(start + _BATCH, segment.rows)) if not is_marked(bitmap, row))
            rows = [row for row in live if not segment.row(row).flags & SHADOW]
            ids = [segment.row(row).id for row in rows]
            wrong = [
                id_ for id_, row, number in zip(ids, rows, snapshot.find_ids(ids), strict=True) if number != first + row
            ]
            findings += [Finding(CATALOGUE, f"document `{_shown(id_)}` is not found by its id") for id_ in wrong]
        first += segment.rows
    return findings[:_SHOWN]


def _shown(id_: bytes) -> str:
    return id_.decode("utf-8", "backslashreplace")
