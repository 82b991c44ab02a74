"""Writes what can be read of a damaged segment as a new one, in chunks, so that memory does not grow with the segment.

A bad page costs the documents whose rows or texts stood on it, and nothing else. If keys stood on it, nobody can say
whose: rows of a corpus are signed again from their texts, and other documents keep the keys that could be read and are
told. The damaged file is set aside, never deleted.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from lookalike import _core
from lookalike._types import counted, text_of
from lookalike.archive.folder import Folder, segment_name, segment_number
from lookalike.archive.merging import Policy
from lookalike.archive.parameters import Parameters, versions
from lookalike.archive.results import Repaired
from lookalike.archive.signing import signer
from lookalike.archive.state import SegmentRow, State, count, is_marked, label
from lookalike.archive.view import SHADOW
from lookalike.errors import FormatError

#: Documents that are held at a time.
_CHUNK = 512


def salvage(folder: Folder, state: State, row: SegmentRow, number: int, result: Repaired) -> SegmentRow | None:
    """Write the readable documents of a segment under a new number; ``None`` if there are none.

    REQUIRES: the number was given out. Errors: ``OSError``.
    """
    removed, segment = state.removed.get(row.number), _found(folder, row)
    if segment is None:
        result.unnamed += row.rows - count(removed or b"")
        result.notes.append(f"{row.name} cannot be opened: all its documents are lost")
        return None
    workshop, name, policy = folder.workshop(number), segment_name(number), Policy()
    os.mkdir(workshop)
    path = os.path.join(workshop, name)
    writer = _core.SegmentWriter(path, label(state, row.first, row.last), policy.memory)
    try:
        for chunk in _records(segment, state, row, workshop, result):
            writer.push(chunk)
        result.notes.append(f"{row.name} was damaged: {counted(writer.rows, 'document')} of it could be read")
        made = writer.finish() if writer.rows else None
    finally:
        writer.close()
    if made is not None:
        os.rename(path, folder.file(name))
    os.rmdir(workshop)
    folder.sync()
    if made is None:
        return None
    rows, length, seal = made
    return SegmentRow(number, seal, length, rows, row.first, row.last, policy.tier(length))


def _found(folder: Folder, row: SegmentRow) -> _core.Segment | None:
    """Return a listed segment, wherever it stands in the folder; ``None`` if it cannot be opened."""
    names = [row.name, *(name for name in sorted(os.listdir(folder.path)) if segment_number(name) is not None)]
    for name in names:
        with contextlib.suppress(FormatError, OSError):
            segment = _core.Segment.open_damaged(folder.file(name))
            if (segment.rows, segment.seal) == (row.rows, row.seal):
                return segment
    return None


def _records(
    segment: _core.Segment, state: State, row: SegmentRow, workshop: str, result: Repaired
) -> Iterator[list[bytes]]:
    """Yield the records of a segment that can be read; lists the lost ones, and tells of those that may miss keys."""
    removed, reader = state.removed.get(row.number), segment.salvage(Policy().memory, workshop)
    again, first, mended, partial = _signer(state), 0, 0, 0
    while found := reader.next(_CHUNK):
        live = [(at, one) for at, one in enumerate(found, first) if not is_marked(removed, at)]
        for at in (at for at, one in live if one is None):
            _lose(segment, at, result)
        records = [one[0] for _, one in live if one is not None]
        broken = [place for place, (_, whole) in enumerate(one for _, one in live if one is not None) if not whole]
        made = [None] * len(broken) if again is None else again.again([records[place] for place in broken])
        for place, record in zip(broken, made, strict=True):
            records[place] = records[place] if record is None else record
        mended += sum(record is not None for record in made)
        partial += sum(record is None for record in made)
        first += len(found)
        yield records
    if mended:
        result.notes.append(f"{row.name}: the keys of {counted(mended, 'document')} were made again from the texts")
    if partial:
        result.partial += partial
        result.notes.append(f"{row.name}: {counted(partial, 'document')} may miss keys: add them again")


def _signer(state: State) -> _core.RecordSigner | None:
    """Return what signs rows again; ``None`` where texts are not kept, or another version made the keys."""
    parameters = Parameters.from_json(state.parameters)
    is_able = parameters.kind == "corpus" and parameters.texts and parameters.versions == versions()
    return signer(parameters) if is_able else None


def _lose(segment: _core.Segment, row: int, result: Repaired) -> None:
    try:
        found = segment.row(row)
    except FormatError:
        result.unnamed += 1
        return
    if found.flags & SHADOW:
        result.unnamed += 1
    else:
        result.lost.append(text_of(found.id))
