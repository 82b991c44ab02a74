"""Takes over a segment that was made elsewhere, if it was made with the parameters of the index."""

from __future__ import annotations

import json
import os

from lookalike import _core
from lookalike._types import Problem, counted, text_of
from lookalike.archive import faults
from lookalike.archive.adopting_rows import adopt_rows, files_of
from lookalike.archive.parameters import Parameters, parsed
from lookalike.archive.results import LISTED_IDS, Added
from lookalike.archive.view import SHADOW
from lookalike.archive.writing import Writer
from lookalike.errors import ParameterError, VersionError

#: Ids that are looked up at a time.
_BATCH = 1024
#: How a file of a table begins (FORMAT.md), and how the name of a segment ends.
_MAGIC, _SUFFIX = b"LATB", ".lat"


def adopt(writer: Writer, path: str) -> Added:
    """Add the documents of a segment, or of a table of segments in Parquet.

    Errors: ``ParameterError``, ``VersionError``, ``DamagedError``, ``OSError``, ``MissingExtraError``.
    """
    if files := files_of(path):
        return adopt_rows(files, lambda one: _adopt(writer, one))
    return _adopt(writer, path)


def _adopt(writer: Writer, path: str) -> Added:
    """Add the documents of a segment. Rows that dedup had removed are left out: what they follow may be elsewhere.

    Errors: ``ParameterError``, ``VersionError``, ``DamagedError``, ``OSError``.
    """
    _check_kind(path)
    segment = _core.Segment.open(path)
    segment.verify()
    differences = writer.view.parameters.differences(parameters_of(segment, path))
    if differences:
        raise VersionError(
            f"segment `{path}` was made with other parameters than the index ({'; '.join(differences)}): "
            "make it again with those of the index"
        )
    # Numbers change when the tail becomes a segment.
    writer.flush()
    added, dropped, replaced = _compared(writer, segment, path)
    if len(dropped) < segment.rows:
        writer.adopt(segment, dropped, replaced)
    return added


def _check_kind(path: str) -> None:
    """Refuse what is no segment at all; one that is damaged is told apart by its name. Errors: ``ParameterError``."""
    if not os.path.isdir(path):
        with open(path, "rb") as file:
            if file.read(len(_MAGIC)) == _MAGIC or path.endswith(_SUFFIX):
                return
    raise ParameterError(
        f"`{path}` is not a segment: give a file seg-….lat of another index; `lookalike index add` adds documents"
    )


def parameters_of(segment: _core.Segment, path: str) -> Parameters:
    """Return the parameters that a segment was made with. Errors: ``DamagedError``."""
    return parsed(json.dumps(told(segment, path).get("parameters")), path)


def told(segment: _core.Segment, path: str) -> dict[str, object]:
    """Return what a segment says of itself. Errors: ``DamagedError``."""
    try:
        found = json.loads(bytes(segment.parameters))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise faults.damaged(path, "its parameters cannot be read")
    return found


def _compared(writer: Writer, segment: _core.Segment, path: str) -> tuple[Added, list[int], list[int]]:
    """Return the counts, the rows of the segment that are left out, and the numbers of what the others replace."""
    added, core = Added(), writer.view.core
    newest: dict[bytes, tuple[bytes, int | None]] = {}
    dropped, replaced, shadows = list[int](), list[int](), 0
    for start in range(0, segment.rows, _BATCH):
        rows = [segment.row(row) for row in range(start, min(start + _BATCH, segment.rows))]
        numbers = core.find_ids([row.id for row in rows])
        for place, (row, number) in enumerate(zip(rows, numbers, strict=True), start):
            if row.flags & SHADOW:
                # The document that it was removed for may be in another segment, or gone.
                dropped.append(place)
                shadows += 1
                continue
            id_, mark = bytes(row.id), bytes(row.mark)
            stored = None if number is None else bytes(core.row(number).mark)
            before, earlier = newest.get(id_, (stored, None))
            if before == mark:
                dropped.append(place)
                added.unchanged += 1
                continue
            added.added, added.replaced = added.added + (before is None), added.replaced + (before is not None)
            if before is not None and len(added.replaced_ids) < LISTED_IDS:
                added.replaced_ids.append(text_of(id_))
            if earlier is not None:
                dropped.append(earlier)
            elif number is not None and id_ not in newest:
                replaced.append(number)
            newest[id_] = mark, place
    if shadows:
        told = f"left out {counted(shadows, 'row')} that dedup had removed from the other index"
        added.skipped.append(Problem(path, "", told, rows=shadows, is_note=True))
    return added, dropped, replaced
