"""Objects with rows → a source, and the same kind of object back with fewer rows.

Whatever speaks Arrow is read without copying its texts: pyarrow, polars, duckdb, pandas, datasets of Hugging Face, each
known by what it can do, none imported. What can be read only once is held, so that it can be read twice.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, SupportsFloat

from lookalike._types import Problem
from lookalike.corpora.arrays import Wanted, arrow, columns, name_of
from lookalike.corpora.batches import CHUNK_BYTES, RECORD_BYTES, Columns, Texts, packed
from lookalike.corpora.lines import check_rows
from lookalike.documents.reasons import in_bytes
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows handed over at a time, whatever their size.
_MOST_ROWS = 2**13


@dataclass(slots=True)
class TableSource:
    """A table, by the Arrow of its texts and ids."""

    #: What the user gave; ``select`` gives the like of it.
    given: Any
    table: pa.Table
    wanted: Wanted
    name: str = "arrow"
    format: str = "arrow"
    problems: list[Problem] = field(default_factory=list)
    #: Bytes of the columns that are read, and how many of them are.
    size: int = 0
    done: int = 0

    def batches(self) -> Iterator[Columns]:
        """Yield the texts."""
        self.problems.clear()
        self.size, self.done = self.table.nbytes, 0
        row = 0
        for batch in self.table.to_batches(max_chunksize=_MOST_ROWS):
            made, notes = columns(batch, self.wanted, self.name)
            self.problems += [Problem(self.name, f"row {row} and after", note) for note in notes]
            row += batch.num_rows
            self.done += batch.nbytes
            yield made

    def select(self, mask: bytes) -> Any:
        """Return the rows that the mask keeps, as the kind of object that was given."""
        check_rows(self.table.num_rows, len(mask))
        return _selected(self.given, mask)


@dataclass(slots=True)
class RowSource:
    """Texts, or rows with a text among other things, one by one."""

    given: Any
    rows: Sequence[Any]
    wanted: Wanted
    name: str = "rows"
    format: str = "arrow"
    problems: list[Problem] = field(default_factory=list)
    #: Not known before they are read.
    size: int = 0
    done: int = 0

    def batches(self) -> Iterator[Texts | Columns]:
        """Yield the texts."""
        self.problems.clear()
        batch: list[tuple[str | None, bytes | str | None]] = []
        start = total = self.done = 0
        for number, row in enumerate(self.rows):
            name, text = self._row(number, row)
            self.done += len(text or "")
            batch.append((name, text))
            total += len(text or "")
            if total >= CHUNK_BYTES or len(batch) >= _MOST_ROWS:
                yield self._batch(batch, start)
                batch, start, total = [], number + 1, 0
        if batch:
            yield self._batch(batch, start)

    def _batch(self, batch: list[tuple[str | None, bytes | str | None]], start: int) -> Texts | Columns:
        """Return rows as they are, or with their numbers where these are wanted."""
        column = self.wanted.number
        if column is None:
            return Texts(batch)
        texts = [text.encode("utf-8", "replace") if isinstance(text, str) else text for _, text in batch]
        rows = self.rows[start : start + len(batch)]
        found = [_number(row.get(column)) if isinstance(row, Mapping) else math.nan for row in rows]
        return packed(texts, [name for name, _ in batch], found)

    def _row(self, number: int, row: Any) -> tuple[str | None, bytes | str | None]:
        name, text = None, row
        if isinstance(row, Mapping):
            found = row.get(self.wanted.name) if self.wanted.name is not None else None
            name, text = name_of(found), row.get(self.wanted.text)
        if _is_missing(text):
            return name, None
        if isinstance(text, str | bytes) and len(text) <= RECORD_BYTES:
            return name, text
        is_long = isinstance(text, str | bytes)
        reason = f"longer than {in_bytes(RECORD_BYTES)}" if is_long else f"its text is {type(text).__name__}, no string"
        self.problems.append(Problem(self.name, f"row {number}", f"{reason}; it is not compared", 1))
        return name, None

    def select(self, mask: bytes) -> Any:
        """Return the rows that the mask keeps: a tuple for a tuple, a list for anything else."""
        check_rows(len(self.rows), len(mask))
        kept = [row for row, keep in zip(self.rows, mask, strict=True) if keep]
        return tuple(kept) if isinstance(self.given, tuple) else kept


ObjectSource = TableSource | RowSource


def open_object(
    given: Any, text_column: str = "text", id_column: str | None = None, number_column: str | None = None
) -> ObjectSource:
    """Return the rows of an object as a source. Errors: ``ParameterError``, ``MissingExtraError``."""
    wanted = Wanted(text_column, id_column, number_column)
    if _is_dataset(given):
        return _of_table(given, _dataset_table(given, wanted), wanted)
    if hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__"):
        table = _arrow_table(given)
        if table is not None:
            return _of_table(_Stream(table) if _is_stream(given) else given, table, wanted)
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ParameterError(
            f"source is {type(given).__name__}, which has no rows: give paths, a table that speaks Arrow, "
            "or an iterable of texts or dicts"
        )
    return _of_rows(given, wanted)


def _of_table(given: Any, table: pa.Table, wanted: Wanted) -> TableSource:
    found = wanted.among(table.column_names, "arrow")
    return TableSource(given, table.select(found.names), found)


def _of_rows(given: Iterable[Any], wanted: Wanted) -> RowSource:
    rows = given if isinstance(given, list | tuple) else list(given)
    # All rows are asked: none need have the columns of another.
    names = list(dict.fromkeys(str(key) for row in rows if isinstance(row, Mapping) for key in row))
    if not any(isinstance(row, Mapping) for row in rows):
        return RowSource(given, rows, wanted.of_texts("rows"))
    return RowSource(given, rows, wanted.among(names, "rows"))


def _is_missing(text: object) -> bool:
    """Tell whether a value stands for none: pandas has several that do."""
    return text is None or (isinstance(text, float) and math.isnan(text)) or type(text).__name__ == "NAType"


def _number(value: object) -> float:
    """Return a value as a number; NaN if it is none."""
    if isinstance(value, bool) or not isinstance(value, SupportsFloat):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if isinstance(value, int) and value > 0 else -math.inf
    except (TypeError, ValueError):
        return math.nan


@dataclass(frozen=True, slots=True)
class _Stream:
    """What was read of something that can be read only once."""

    table: pa.Table


def _is_stream(given: Any) -> bool:
    """Tell whether a second reading would give nothing: a reader has batches, and no length."""
    return hasattr(given, "read_next_batch")


def _is_dataset(given: Any) -> bool:
    return all(hasattr(given, name) for name in ("with_format", "select", "column_names", "num_rows"))


def _dataset_table(given: Any, wanted: Wanted) -> pa.Table:
    """Return the columns that are wanted of a dataset, with rows in its order, which need not be that of its table."""
    pa = arrow("reading a dataset")
    chosen = given.select_columns(wanted.among(list(given.column_names), "dataset").names).with_format("arrow")
    tables = list(chosen.iter(batch_size=_MOST_ROWS))
    return pa.concat_tables(tables) if tables else chosen.features.arrow_schema.empty_table()


def _arrow_table(given: Any) -> pa.Table | None:
    """Return an object as a table, or nothing if it is one column."""
    pa = arrow("reading Arrow")
    if isinstance(given, pa.Table):
        return given
    try:
        return pa.table(given)
    except (pa.ArrowInvalid, TypeError, ValueError):
        return None


def _selected(given: Any, mask: bytes) -> Any:
    pa = arrow("filtering a table")
    if _is_dataset(given):
        return given.select([row for row, keep in enumerate(mask) if keep])
    library = type(given).__module__.partition(".")[0]
    if library == "polars":
        polars = sys.modules["polars"]
        return given.filter(polars.Series([keep != 0 for keep in mask], dtype=polars.Boolean))
    if library == "pandas":
        return given[[keep != 0 for keep in mask]]
    keep = pa.Array.from_buffers(pa.uint8(), len(mask), [None, pa.py_buffer(mask)]).cast(pa.bool_())
    if isinstance(given, _Stream):
        kept = given.table.filter(keep)
        return pa.RecordBatchReader.from_batches(kept.schema, kept.to_batches())
    if isinstance(given, pa.Table | pa.RecordBatch):
        return given.filter(keep)
    kept = pa.table(given).filter(keep)
    if library in ("duckdb", "_duckdb"):
        return sys.modules["duckdb"].from_arrow(kept)
    return kept
