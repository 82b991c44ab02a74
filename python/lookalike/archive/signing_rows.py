"""Signs the rows of a corpus: files of every format, tables, and iterables of texts or rows.

Lines of JSON are cut, parsed and signed by the core without an object per row on the way. A row without an id gets the
digits of its content hash, so that a text that is added twice is one document and never replaces another.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from lookalike import _core
from lookalike._types import Problem, Progress
from lookalike.archive.signing import SIGNING, Known, Reading, SignedBatch, encoded, scalars
from lookalike.archive.signing_times import Times, missing
from lookalike.corpora import Scratch, open_object, open_sources
from lookalike.corpora.arrays import USUAL_ID, value_at
from lookalike.corpora.batches import RECORD_BYTES, Batch, Columns, Lines, Source, Texts, as_bytes, mended_note
from lookalike.corpora.delimited import CsvSource
from lookalike.corpora.objects import RowSource
from lookalike.corpora.parquet import ParquetSource

#: Rows of an iterable that are held at a time.
_HELD = 4096


def sign(
    source: Any, by: _core.RecordSigner, how: Reading, known: Known | None, tell: Progress
) -> Iterator[SignedBatch]:
    """Yield the rows of a source as records. Errors: as ``sign_batches``."""
    paths = _paths(source)
    if paths is None:
        first = 0
        for one in _opened(source, how):
            yield from signed(one, by, how, known, first)
            first += len(one.rows) if isinstance(one, RowSource) else 0
        return
    with Scratch() as scratch:
        # All columns of tables are read, for they are kept as metadata.
        corpus = open_sources(
            paths, scratch, text_column=how.text_column, id_column=how.id_column, format=how.format, is_copied=True
        )
        total, before = corpus.size or None, 0
        yield SignedBatch([], list(corpus.problems))
        for one in corpus.sources:
            for batch in signed(one, by, how, known):
                tell(SIGNING, before + one.done, total)
                yield batch
            before += one.size


def _paths(given: Any) -> list[str] | None:
    """Return the given paths, or ``None`` for an object. A single ``str`` is a path; several are texts."""
    if isinstance(given, str | os.PathLike):
        return [os.fspath(given)]
    if isinstance(given, list | tuple) and given and all(isinstance(one, os.PathLike) for one in given):
        return [os.fspath(one) for one in given]
    return None


def _opened(source: Any, how: Reading) -> Iterator[Source]:
    """Yield an object as sources: a table as one, an iterable of rows in parts that fit memory."""
    # The type is asked, for a lazy frame would compute its columns.
    signs = ("__arrow_c_stream__", "columns", "column_names", "schema")
    is_table = any(hasattr(type(source), name) for name in signs)
    if isinstance(source, Mapping) or not isinstance(source, Iterable) or is_table:
        # All columns are kept as metadata.
        yield open_object(source, how.text_column, how.id_column, with_others=True)
        return
    rows = iter(source)
    while part := list(islice(rows, _HELD)):
        named = [_row(row, how) for row in part]
        yield open_object(
            named, how.text_column, how.id_column if any(isinstance(one, Mapping) for one in named) else None
        )


def _row(row: Any, how: Reading) -> Any:
    """Return a pair of id and text as a row with these columns; anything else as it is."""
    if isinstance(row, tuple) and len(row) == 2:
        return {how.id_column or USUAL_ID: row[0], how.text_column: row[1]}
    return row


def signed(
    source: Source, by: _core.RecordSigner, how: Reading, known: Known | None, before: int = 0
) -> Iterator[SignedBatch]:
    """Yield the rows of one source; its problems come with the last batch. ``before``: rows of earlier parts of it."""
    id_column = how.id_column or USUAL_ID
    lines = _core.RecordLines(by, how.text_column, id_column, how.time_column, True, RECORD_BYTES)
    name, first, times = json.dumps(source.name), 0, Times(source.name, how.time_column)
    for batch in source.batches():
        if isinstance(batch, Lines):
            made, skipped, unchanged, mended, is_named = lines.push(batch.data, batch.last, name, known)
            problems = [Problem(source.name, f"line {row}", reason, 1) for row, reason in skipped]
            problems += [mended_note(source.name, 1, mended)] if mended else []
        else:
            made, skipped, unchanged, is_named = _rows(source, batch, first, by, how, known)
            told = _told(source)
            problems = [
                Problem(source.name, f"row {before + first + row + 1}", reason, 1)
                for row, reason in skipped
                if not (told and _is_missing(batch, row))
            ]
            first += batch.rows if isinstance(batch, Columns) else len(batch.rows)
        times.look([record for _, _, record in made], is_named=is_named)
        yield SignedBatch(made, problems, unchanged)
    yield SignedBatch([], list(source.problems), notes=times.problems())


def _told(source: Source) -> bool:
    """Whether a source lists the rows itself for which it has no text."""
    return source.format in ("text", "documents", "warc", "mbox")


def _is_missing(batch: Batch, row: int) -> bool:
    return isinstance(batch, Texts) and batch.rows[row][1] is None


def _rows(
    source: Source, batch: Columns | Texts, first: int, by: _core.RecordSigner, how: Reading, known: Known | None
) -> tuple[list[tuple[bytes, bytes, bytes]], list[tuple[int, str]], int, bool]:
    """Return signed rows, those that are skipped, how many the index has, and whether any has the column of times."""
    count = batch.rows if isinstance(batch, Columns) else len(batch.rows)
    given: Sequence[Any] = ()
    if isinstance(source, RowSource):
        given = source.rows[first : first + count]
    elif isinstance(batch, Columns) and batch.others is not None:
        given = batch.others()
    is_named = _is_timed(source, given, how)
    names = [name for name, _ in batch.rows] if isinstance(batch, Texts) else batch.ids
    ids = [None if name is None else encoded(name) for name in names] if names is not None else [None] * count
    metas = [_meta(source, first + row + 1, _fields(row, given, how)) for row in range(count)]
    times = [_time(row, how.time_column) for row in given] if how.time_column is not None and given else None
    return *by.rows(_texts(batch), ids, metas, times, known), is_named


def _texts(batch: Columns | Texts) -> Any:
    """Return the texts of a batch as the core takes them."""
    if isinstance(batch, Texts):
        return [text for _, text in batch.rows]
    validity = None if batch.validity is None else as_bytes(batch.validity)
    return validity, as_bytes(batch.offsets), as_bytes(batch.data), batch.width, batch.rows, batch.is_text


def _fields(row: int, given: Any, how: Reading) -> dict[str, Any]:
    if row >= len(given) or not isinstance(given[row], Mapping):
        return {}
    return scalars(given[row], (how.text_column, how.id_column or USUAL_ID))


def _time(row: Any, column: str) -> str | None:
    found = value_at(row, column) if isinstance(row, Mapping) else None
    return None if found is None else str(found)


def _is_timed(source: Source, given: Sequence[Any], how: Reading) -> bool:
    """Return whether a row has the column of times. Errors: ``ParameterError`` for a table without such a column."""
    if how.time_column is None or any(isinstance(row, Mapping) and how.time_column in row for row in given):
        return how.time_column is not None
    has_path = any(value_at(row, how.time_column) is not None for row in given if isinstance(row, Mapping))
    if not has_path and (isinstance(source, CsvSource | ParquetSource) or not given):
        raise missing(source.name, how.time_column, (row for row in given if isinstance(row, Mapping)))
    return has_path


def _meta(source: Source, line: int, fields: dict[str, Any]) -> bytes:
    """Return the metadata of a row: where it comes from, unless it is an object in memory, and its fields."""
    made: dict[str, Any] = {} if source.format == "arrow" else {"source": source.name, "line": line}
    if source.format in ("text", "documents"):
        del made["line"]
    if fields := {key: value for key, value in fields.items() if not isinstance(value, float) or math.isfinite(value)}:
        made["fields"] = fields
    return json.dumps(made, separators=(",", ":"), ensure_ascii=True).encode()
