"""Repairs an index: keeps every document that can be read, drops the rest, and says which documents are lost.

Damaged segments are read document by document and written again (``salvaging.py``). Nothing damaged is deleted: the
files stay beside the index under another name. A damaged catalogue is made again from the segments: each
says which parameters it was made with and which arrivals it holds, and where several hold the same ones, the newest
counts. What only the catalogue knew is taken from it as far as it can be read, and what cannot is told.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from lookalike import _core
from lookalike._types import Progress, counted
from lookalike.archive import catalogue as catalogues
from lookalike.archive.adopting import parameters_of, told
from lookalike.archive.catalogue import Catalogue
from lookalike.archive.folder import (
    ASIDE,
    CATALOGUE,
    JOURNALS,
    LOCK,
    NEW_CATALOGUE,
    Folder,
    segment_name,
    segment_number,
)
from lookalike.archive.lock import WriterLock
from lookalike.archive.merging import Policy
from lookalike.archive.parameters import Parameters
from lookalike.archive.remains import Remains, remains
from lookalike.archive.results import Repaired
from lookalike.archive.salvaging import salvage
from lookalike.archive.state import Change, SegmentRow, State, bitmap_bytes, is_marked, marked
from lookalike.archive.view import SHADOW
from lookalike.engines.writing import writing
from lookalike.errors import DamagedError, FormatError, ParameterError

REPAIRING = "reading segments"
KEPT = "the damaged file is kept as {}: delete it when nothing is missing"


def repair(path: str, wait: float, progress: Progress) -> Repaired:
    """Repair the index in a folder. Errors: ``LockedError``, ``DamagedError`` if nothing can be read, ``OSError``."""
    folder = Folder.open(path)
    if not os.path.lexists(folder.catalogue) and not os.path.lexists(folder.file(LOCK)):
        folder.check_index()
    lock, result = WriterLock(folder, wait), Repaired()
    try:
        with writing(folder.path):
            try:
                catalogue, (state, tail) = _opened(folder)
            except DamagedError:
                _rebuild(folder, result)
                catalogue, (state, tail) = _opened(folder)
            try:
                state = _without_damage(folder, catalogue, state, result, progress)
                state = _sound_tail(catalogue, state, tail, result)
                result.documents = _documents(folder, state, tail)
            finally:
                catalogue.close()
    finally:
        lock.release()
    return result


def _opened(folder: Folder) -> tuple[Catalogue, tuple[State, list[tuple[int, bytes]]]]:
    catalogue = Catalogue(folder, write=True)
    try:
        return catalogue, catalogue.read()
    except BaseException:
        catalogue.close()
        raise


# --- segments --------------------------------------------------------------------------------------------------------


def _without_damage(folder: Folder, catalogue: Catalogue, state: State, result: Repaired, progress: Progress) -> State:
    """Replace each damaged segment by one of its readable documents."""
    damaged = []
    for done, row in enumerate(state.segments):
        progress(REPAIRING, done, len(state.segments))
        if not _is_sound(folder, row):
            damaged.append(row)
            state = _salvaged(folder, catalogue, state, row, result)
    # Not before all are read: a file may stand under the name of another one.
    for row in damaged:
        if (aside := folder.set_aside(row.name)) is not None:
            result.notes.append(KEPT.format(aside))
    return state


def _is_sound(folder: Folder, row: SegmentRow) -> bool:
    try:
        segment = _core.Segment.open(folder.file(row.name))
        segment.verify()
    except (FormatError, FileNotFoundError):
        return False
    return (segment.rows, segment.length, segment.seal) == (row.rows, row.length, row.seal)


def _salvaged(folder: Folder, catalogue: Catalogue, state: State, row: SegmentRow, result: Repaired) -> State:
    """Write the readable documents of a segment again, and drop it. Its file is not garbage: it is kept."""
    number = state.next_segment
    state = catalogue.apply(state, Change(garbage=frozenset([segment_name(number)]), segments=1))
    made = salvage(folder, state, row, number, result)
    change = Change(dropped=frozenset([row.number]), kept=frozenset([segment_name(number)]), shadows=None)
    change.made = [] if made is None else [made]
    return catalogue.apply(state, change)


# --- tail ------------------------------------------------------------------------------------------------------------


def _sound_tail(catalogue: Catalogue, state: State, tail: list[tuple[int, bytes]], result: Repaired) -> State:
    """Drop the records of the tail that cannot be read."""
    broken = frozenset(arrival for arrival, record in tail if not _is_record(state, record))
    if not broken:
        return state
    result.unnamed += len(broken)
    result.notes.append(f"{counted(len(broken), 'new document')} could not be read")
    return catalogue.apply(state, Change(untailed=broken, shadows=None))


def _is_record(state: State, record: object) -> bool:
    if not isinstance(record, bytes):
        return False
    try:
        _core.Segment.of_records([record], state.parameters.encode())
    except FormatError:
        return False
    return True


# --- catalogue -------------------------------------------------------------------------------------------------------


@dataclass
class _Found:
    """A segment file, and what it says of itself."""

    number: int
    segment: _core.Segment
    index: str
    parameters: str
    first: int
    last: int
    rows: list[int] = field(default_factory=list)


def _rebuild(folder: Folder, result: Repaired) -> None:
    """Make the catalogue again from the segments, and from what can be read of the old one."""
    _take_back(folder)
    found = sorted(_files(folder), key=lambda one: -one.number)
    chosen = _newest(found, result)
    last = max((one.last for one in chosen), default=0)
    left = remains(folder, last)
    about = left.about
    if not found and not about.get("parameters"):
        raise DamagedError(f"nothing in `{folder.path}` can be read: restore the index from a backup")
    uuid = chosen[0].index if chosen else str(about.get("uuid", ""))
    parameters = _oldest(chosen) if chosen else str(about["parameters"])
    state = _assembled(found, chosen, left.removed, uuid, parameters)
    kept = [(arrival, record) for arrival, record in left.tail if arrival > last and _is_record(state, record)]
    arrivals = tuple(arrival for arrival, _ in kept)
    state = _counted(state, found, arrivals)
    state = _with_run(_unique(chosen, state, kept), about)
    result.notes.append(
        f"the catalogue was damaged and was made again from {counted(len(chosen), 'segment')} and "
        f"{counted(len(kept), 'new document')}; documents that were added or removed last may be missing or back"
    )
    _tell_unread(left, last, len(kept), result)
    _replace(folder, state, kept, result)


def _tell_unread(left: Remains, last: int, kept: int, result: Repaired) -> None:
    """Count the new documents that are lost with the old catalogue."""
    if left.unread is None:
        result.is_open = True
        result.notes.append("how many documents were added last and are lost cannot be said")
    else:
        result.unnamed += left.unread + sum(arrival > last for arrival, _ in left.tail) - kept


def _with_run(state: State, about: dict[str, object]) -> State:
    """Return a state with the unfinished run of a damaged catalogue, if that can be read."""
    told = replace(state, run=str(about.get("run", "")), outputs=str(about.get("outputs", "")))
    try:
        told.check()
    except ValueError:
        return state
    return told


def _documents(folder: Folder, state: State, tail: list[tuple[int, bytes]]) -> int:
    """Return the number of documents, without rows that dedup removed."""
    parts = [(_core.Segment.open(folder.file(one.name)), state.removed.get(one.number)) for one in state.segments]
    waiting = [record for arrival, record in tail if arrival in set(state.arrivals)]
    if waiting:
        parts.append((_core.Segment.of_records(waiting, state.parameters.encode()), None))
    core = _core.Snapshot(parts)
    return core.live - core.shadows


def _files(folder: Folder) -> Iterator[_Found]:
    """Yield the segment files that say where they belong."""
    for name in sorted(os.listdir(folder.path)):
        number = segment_number(name)
        if number is None:
            continue
        path = folder.file(name)
        with contextlib.suppress(FormatError, OSError):
            segment = _core.Segment.open(path)
            says = told(segment, path)
            parameters = parameters_of(segment, path).to_json()
            first, last, index = says.get("first"), says.get("last"), says.get("index")
            if isinstance(first, int) and isinstance(last, int) and 1 <= first <= last and segment.rows:
                yield _Found(number, segment, str(index), parameters, first, last)


def _newest(found: list[_Found], result: Repaired) -> list[_Found]:
    """Return the segments that make up the index: of those with the same arrivals the newest, of one index only."""
    chosen: list[_Found] = []
    for one in found:
        is_own = not chosen or (one.index, _plain(one)) == (chosen[0].index, _plain(chosen[0]))
        if not is_own:
            result.notes.append(f"{segment_name(one.number)} belongs to another index: adopt it if you need it")
        elif all(one.last < other.first or one.first > other.last for other in chosen):
            chosen.append(one)
    return sorted(chosen, key=lambda one: one.first)


def _plain(one: _Found) -> Parameters:
    """Return the parameters of a segment without the versions that made it: an upgrade may have been cut off."""
    return replace(Parameters.from_json(one.parameters), versions={})


def _oldest(found: list[_Found]) -> str:
    """Return the parameters of an index: those of a segment that an upgrade has not reached, if there is one."""
    return next(
        (one.parameters for one in found if Parameters.from_json(one.parameters).outdated()), found[0].parameters
    )


def _assembled(
    found: list[_Found], chosen: list[_Found], removed: dict[int, bytes], uuid: str, parameters: str
) -> State:
    policy = Policy()
    segments = tuple(
        SegmentRow(
            one.number, one.segment.seal, one.segment.length, one.segment.rows, one.first, one.last,
            policy.tier(one.segment.length),
        )
        for one in chosen
    )  # fmt: skip
    fits = {one.number: bitmap_bytes(one.segment.rows) for one in chosen}
    bitmaps = {number: bits for number, bits in removed.items() if fits.get(number) == len(bits) and any(bits)}
    names = {one.name for one in segments}
    garbage = frozenset(segment_name(one.number) for one in found) - names
    return State(uuid, parameters, segments=segments, removed=bitmaps, garbage=garbage)


def _counted(state: State, found: list[_Found], arrivals: tuple[int, ...]) -> State:
    """Return a state whose counters are above everything that was ever given out."""
    numbers = [0, *(one.number for one in found)]
    last = max([0, *(one.last for one in state.segments), *arrivals])
    return State(
        state.uuid, state.parameters, 1, max(numbers) + 1, last + 1, state.segments, state.removed, arrivals,
        state.garbage,
    )  # fmt: skip


def _unique(chosen: list[_Found], state: State, kept: list[tuple[int, bytes]]) -> State:
    """Mark documents as removed whose id a later one has: the marks of replaced documents may be lost."""
    parts = [(one.segment, state.removed.get(one.number)) for one in chosen]
    if kept:
        parts.append((_core.Segment.of_records([record for _, record in kept], state.parameters.encode()), None))
    snapshot, first, removed = _core.Snapshot(parts), 0, dict(state.removed)
    for one in chosen:
        rows = [row for row in range(one.segment.rows) if not is_marked(removed.get(one.number), row)]
        with contextlib.suppress(FormatError):
            rows = [row for row in rows if not one.segment.row(row).flags & SHADOW]
            numbers = snapshot.find_ids([one.segment.row(row).id for row in rows])
            old = [row for row, number in zip(rows, numbers, strict=True) if number != first + row]
            if old:
                removed[one.number] = marked(removed.get(one.number), one.segment.rows, old)
        first += one.segment.rows
    return State(**{**vars(state), "removed": removed})


def _replace(folder: Folder, state: State, tail: list[tuple[int, bytes]], result: Repaired) -> None:
    """Put a new catalogue in place of the damaged one, which is set aside with its journal.

    The journal must not stay: it would be applied to the new file. The old catalogue goes before it, so that whoever
    comes after a crash finds no catalogue, and not an old one without its last commits.
    """
    new = folder.file(NEW_CATALOGUE)
    folder.remove_new()
    try:
        catalogues.rewrite(new, state, tail)
    except ValueError as error:
        raise ParameterError(
            f"`{folder.path}` cannot be repaired: its segments do not fit together ({error})"
        ) from None
    kept = folder.set_aside(CATALOGUE)
    aside = kept or f"{CATALOGUE}{ASIDE}"
    if kept:
        result.notes.append(KEPT.format(kept))
    for name in JOURNALS:
        with contextlib.suppress(FileNotFoundError):
            os.rename(folder.file(name), folder.file(aside + name.removeprefix(CATALOGUE)))
    os.rename(new, folder.catalogue)
    folder.sync()


def _take_back(folder: Folder) -> None:
    """Undo a replacement of the catalogue that a crash cut off: the old one is the only one with the last commits."""
    aside = folder.asides(CATALOGUE)
    if os.path.lexists(folder.catalogue) or not aside or not os.path.lexists(folder.file(NEW_CATALOGUE)):
        return
    for name in JOURNALS:
        with contextlib.suppress(FileNotFoundError):
            os.rename(folder.file(aside[-1] + name.removeprefix(CATALOGUE)), folder.file(name))
    os.rename(folder.file(aside[-1]), folder.catalogue)
    folder.sync()
