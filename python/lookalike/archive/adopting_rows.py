"""Segments that stand in rows of Parquet, as a cluster makes them (``lookalike.spark.build_index``).

They are taken over in the order of their first row, one at a time, through a temporary file. Each is one commit: a run
that was interrupted is repeated, and finds unchanged what it has already. Memory: one segment.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from lookalike._types import Problem
from lookalike.archive.results import LISTED_IDS, Added
from lookalike.corpora.arrays import arrow
from lookalike.errors import DamagedError, ParameterError

#: Columns: the order of the first row, documents, rows that could not be read, why, and the bytes of a segment file.
FIRST, ROWS, SKIPPED, REASONS, SEGMENT = "first", "rows", "skipped", "reasons", "segment"
_SUFFIX = ".parquet"


def files_of(path: str) -> list[str]:
    """Return the files of Parquet at a path, a file or a folder as Spark writes it; none if it is something else."""
    if not os.path.isdir(path):
        return [path] if path.endswith(_SUFFIX) else []
    names = sorted(name for name in os.listdir(path) if name.endswith(_SUFFIX) and name[0] not in "._")
    return [os.path.join(path, name) for name in names]


def adopt_rows(files: list[str], adopt: Callable[[str], Added]) -> Added:
    """Take over all segments in files of Parquet. Errors: as ``adopt``, ``ParameterError``, ``MissingExtraError``."""
    arrow("a table of segments")
    total = Added()
    with tempfile.TemporaryDirectory(prefix="lookalike-") as folder:
        made = os.path.join(folder, "segment.lat")
        for where, segment, skipped, reasons in _segments(files):
            total.skipped += [Problem(where, "", reason, 1) for reason in reasons]
            if skipped > len(reasons):
                rest = skipped - len(reasons)
                total.skipped.append(Problem(where, "", f"{rest:,} more rows could not be read", rest))
            if segment:
                with open(made, "wb") as file:
                    file.write(segment)
                _sum(total, adopt(made))
    return total


def _sum(total: Added, one: Added) -> None:
    total.added += one.added
    total.replaced += one.replaced
    total.unchanged += one.unchanged
    total.skipped += one.skipped
    total.replaced_ids += one.replaced_ids[: LISTED_IDS - len(total.replaced_ids)]


def _segments(files: list[str]) -> Iterator[tuple[str, bytes, int, list[str]]]:
    """Yield file, segment, count of skipped rows and reasons, in the order of the first rows."""
    places = [place for file in files for place in _places(file)]
    places.sort(key=lambda place: (place[0] is not None, place[0], place[1:]))
    opened, at = "", 0
    rows: Iterator[tuple[bytes, int, list[str]]] = iter(())
    for _, file, number in places:
        if opened != file or number < at:
            opened, rows, at = file, _rows(file), 0
        for row in rows:
            at += 1
            if at == number + 1:
                yield file, *row
                break


def _places(file: str) -> list[tuple[Any, str, int]]:
    """Return the first row of every segment of a file, and where it stands. Errors: ``ParameterError``."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(file) as opened:
            if missing := {FIRST, SKIPPED, REASONS, SEGMENT} - set(opened.schema_arrow.names):
                raise ParameterError(
                    f"`{file}` holds no segments, it has no column `{min(missing)}`: give what build_index made"
                )
            firsts = opened.read([FIRST]).column(FIRST).to_pylist()
    except pa.ArrowInvalid as error:
        raise DamagedError(f"`{file}` cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    return [(first, file, number) for number, first in enumerate(firsts)]


def _rows(file: str) -> Iterator[tuple[bytes, int, list[str]]]:
    from pyarrow import parquet

    with parquet.ParquetFile(file) as opened:
        for batch in opened.iter_batches(1, columns=[SEGMENT, SKIPPED, REASONS]):
            for row in batch.to_pylist():
                yield row[SEGMENT] or b"", row[SKIPPED], row[REASONS] or []
