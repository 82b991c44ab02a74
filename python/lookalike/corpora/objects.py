"""Objects with rows → a source, and an object of the same type back with fewer rows.

Whatever speaks Arrow is read without copying its texts: tables, arrays and datasets of pyarrow, frames and series of
polars and pandas, relations of duckdb, datasets of Hugging Face. Each is known by what it can do, none is imported.
Only the columns that are wanted are asked for, so that the others may hold anything; where they are kept as metadata,
those with small values, too. What need not give the same rows twice (a reader, a lazy frame, an iterator) is read once
and held.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, SupportsFloat

from lookalike._types import Problem
from lookalike.corpora.arrays import (
    Wanted,
    arrow,
    columns,
    field_at,
    field_names,
    head_of,
    is_string,
    name_of,
    value_at,
)
from lookalike.corpora.batches import CHUNK_BYTES, RECORD_BYTES, Columns, Texts
from lookalike.corpora.batching import column_of, is_missing, library_of, refuse_paths, speaks_arrow
from lookalike.corpora.lines import check_rows
from lookalike.corpora.selecting import Held, is_dataset, is_scanned, selected
from lookalike.corpora.written import number_in
from lookalike.documents.reasons import in_bytes
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows handed over at a time, whatever their size.
_MOST_ROWS = 2**13


@dataclass(slots=True)
class TableSource:
    """A table, by the Arrow of its texts and ids."""

    #: What the user gave; ``select`` returns the same type.
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
        """Return the rows that the mask keeps, as the type of object that was given."""
        check_rows(self.table.num_rows, len(mask))
        return selected(self.given, mask)


@dataclass(slots=True)
class ScanSource:
    """A dataset of pyarrow, scanned batch by batch: it may be larger than memory."""

    given: Any
    wanted: Wanted
    #: Other columns that are read.
    others: Sequence[str] = ()
    name: str = "arrow"
    format: str = "arrow"
    problems: list[Problem] = field(default_factory=list)
    #: Not known before it is read.
    size: int = 0
    done: int = 0

    def batches(self) -> Iterator[Columns]:
        """Yield the texts, in the order of the files."""
        self.problems.clear()
        row = self.done = 0
        names = (head_of(path, self.given.schema.names) for path in self.wanted.names)
        heads = list(dict.fromkeys([*names, *self.others]))
        for whole in self.given.to_batches(columns=heads):
            for start in range(0, whole.num_rows, _MOST_ROWS):
                made, notes = columns(whole.slice(start, _MOST_ROWS), self.wanted, self.name)
                self.problems += [Problem(self.name, f"row {row} and after", note) for note in notes]
                row += made.rows
                yield made
            self.done += whole.nbytes

    def select(self, mask: bytes) -> Any:
        """Return a dataset in memory of the rows that the mask keeps."""
        return selected(self.given, mask)


@dataclass(slots=True)
class SplitSource:
    """Several datasets under one name each, read one after the other: splits of Hugging Face."""

    given: Mapping[str, Any]
    parts: Mapping[str, TableSource]
    name: str = "arrow"
    format: str = "arrow"

    @property
    def problems(self) -> list[Problem]:
        """What the last iteration met."""
        return [problem for part in self.parts.values() for problem in part.problems]

    @property
    def size(self) -> int:
        """Bytes of the columns that are read."""
        return sum(part.size for part in self.parts.values())

    @property
    def done(self) -> int:
        """How many of them are read."""
        return sum(part.done for part in self.parts.values())

    def batches(self) -> Iterator[Columns]:
        """Yield the texts of all splits, in their order."""
        for part in self.parts.values():
            yield from part.batches()

    def select(self, mask: bytes) -> Any:
        """Return splits of the same names with the rows that the mask keeps."""
        check_rows(sum(part.table.num_rows for part in self.parts.values()), len(mask))
        kept, done = {}, 0
        for name, part in self.parts.items():
            kept[name] = part.select(mask[done : done + part.table.num_rows])
            done += part.table.num_rows
        make: Any = type(self.given)
        return make(kept)


@dataclass(slots=True)
class RowSource:
    """Texts, or rows with a text among other things, one by one."""

    #: What ``select`` returns the same type as.
    given: Any
    rows: Sequence[Any]
    wanted: Wanted
    name: str = "rows"
    format: str = "arrow"
    problems: list[Problem] = field(default_factory=list)
    #: Not known before they are read.
    size: int = 0
    done: int = 0

    def batches(self) -> Iterator[Texts]:
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

    def _batch(self, batch: list[tuple[str | None, bytes | str | None]], start: int) -> Texts:
        """Return rows as they are, or with their numbers where these are wanted."""
        column = self.wanted.number
        if column is None:
            return Texts(batch)
        rows = self.rows[start : start + len(batch)]
        found = [_number(value_at(row, column)) if isinstance(row, Mapping) else math.nan for row in rows]
        return Texts(batch, found)

    def _row(self, number: int, row: Any) -> tuple[str | None, bytes | str | None]:
        name, text = None, row
        if isinstance(row, Mapping):
            found = value_at(row, self.wanted.name) if self.wanted.name is not None else None
            name, text = name_of(found), value_at(row, self.wanted.text)
        if is_missing(text):
            return name, None
        if isinstance(text, str | bytes) and len(text) <= RECORD_BYTES:
            return name, text
        is_long = isinstance(text, str | bytes)
        reason = f"longer than {in_bytes(RECORD_BYTES)}" if is_long else f"its text is {type(text).__name__}, no string"
        self.problems.append(Problem(self.name, f"row {number}", f"{reason}; it is not compared", 1))
        return name, None

    def select(self, mask: bytes) -> Any:
        """Return the rows that the mask keeps: a tuple for a tuple, a frame for a frame, a list for any iterable."""
        check_rows(len(self.rows), len(mask))
        return selected(self.given, mask)


ObjectSource = TableSource | ScanSource | SplitSource | RowSource


def open_object(
    given: Any,
    text_column: str = "text",
    id_column: str | None = None,
    number_column: str | None = None,
    *,
    with_others: bool = False,
) -> ObjectSource:
    """Return the rows of an object as a source; ``with_others``: also its other columns that have small values.

    Errors: ``ParameterError``, ``MissingExtraError``.
    """
    wanted = Wanted(text_column, id_column, number_column)
    if is_dataset(given):
        return _of_dataset(given, wanted, with_others)
    if isinstance(given, Mapping) and given and all(map(is_dataset, given.values())):
        return SplitSource(given, {name: _of_dataset(one, wanted, with_others) for name, one in given.items()})
    if is_scanned(given):
        others = _small(given.schema) if with_others else ()
        return ScanSource(given, wanted.among(field_names(given.schema), "arrow"), others)
    if library_of(given) in ("polars", "pandas") or speaks_arrow(given):
        source = _of_column(given, wanted) if _is_column(given) else _of_frame(given, wanted, with_others)
        if source is not None:
            return source
    if hasattr(given, "columns") or hasattr(given, "column_names"):
        # Iterating a table yields the names of its columns.
        raise ParameterError(
            f"source is {type(given).__name__}, a table that cannot be read as Arrow: "
            "give its column of texts, or a table of pyarrow, polars or pandas"
        )
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ParameterError(
            f"source is {type(given).__name__}, which has no rows: give paths, a table that speaks Arrow, "
            "or an iterable of texts or dicts"
        )
    return _of_rows(given, wanted)


def _of_table(given: Any, table: pa.Table, wanted: Wanted, with_others: bool = False) -> TableSource:
    found = wanted.among(field_names(table.schema), "arrow")
    pa = arrow("reading Arrow")
    read = {name: field_at(table, name) for name in found.names}
    others = {name: table.column(name) for name in _small(table.schema) if name not in read} if with_others else {}
    return TableSource(given, pa.table(read | others), found)


def _small(schema: pa.Schema) -> list[str]:
    """Return the columns that hold strings, numbers, truth values and times; not those whose name several have."""
    kinds = arrow("reading Arrow").types

    def is_small(kind: pa.DataType) -> bool:
        kind = kind.value_type if kinds.is_dictionary(kind) else kind
        return bool(kinds.is_primitive(kind) or is_string(kind) or kinds.is_string_view(kind))

    return [one.name for one in schema if is_small(one.type) and schema.names.count(one.name) == 1]


def _of_dataset(given: Any, wanted: Wanted, with_others: bool) -> TableSource:
    """Read a dataset, with rows in its order, which need not be that of its table."""
    pa = arrow("reading a dataset")
    names = _heads(wanted, list(given.column_names))
    names += [name for name in _small(given.features.arrow_schema) if name not in names] if with_others else []
    chosen = given.select_columns(names).with_format("arrow")
    tables = list(chosen.iter(batch_size=_MOST_ROWS))
    table = pa.concat_tables(tables) if tables else chosen.features.arrow_schema.empty_table()
    return _of_table(given, table, wanted, with_others)


def _heads(wanted: Wanted, names: Sequence[str]) -> list[str]:
    """Return the columns that hold what is wanted. Errors: ``ParameterError`` if one is not there."""
    inner = wanted._replace(
        **{option: head_of(path, names) for option, path in wanted._asdict().items() if path is not None}
    )
    return inner.among(names, "arrow").names


def _is_column(given: Any) -> bool:
    """Tell whether an object is one column: it has no names of several, or is an array that is no table."""
    if library_of(given) in ("polars", "pandas"):
        return not hasattr(type(given), "columns")
    column = None if hasattr(given, "schema") else column_of(given)
    pa = arrow("reading Arrow")
    return column is not None and not pa.types.is_struct(column.type)


def _of_column(given: Any, wanted: Wanted) -> ObjectSource:
    """Read one column of texts."""
    found = wanted.of_texts("arrow")
    column = column_of(given)
    if column is None:
        return RowSource(given, list(given), found)
    pa = arrow("reading Arrow")
    return TableSource(given, pa.table({found.text: column}), found)


def _of_frame(given: Any, wanted: Wanted, with_others: bool) -> ObjectSource | None:
    """Read an object with columns; of frames only those that are wanted. ``None`` for what is no table after all."""
    library = library_of(given)
    if library == "polars":
        frame = given.collect() if hasattr(given, "collect") else given
        # Objects of Python are no Arrow.
        others = [name for name, kind in frame.schema.items() if str(kind) != "Object"] if with_others else []
        names = list(dict.fromkeys([*_heads(wanted, frame.columns), *others]))
        held = given if frame is given else Held(frame, "lazy")
        return _of_table(held, _arrow_table(frame.select(names)), wanted, with_others)
    if library == "pandas":
        return _of_pandas(given, wanted, with_others)
    table = _arrow_table(given)
    if table is None and hasattr(given, "columns") and hasattr(given, "iloc"):
        # A column that nobody asked for may hold anything.
        table = _arrow_table(given[_heads(wanted, [str(name) for name in given.columns])])
    if table is None:
        return None
    held = Held(table, "reader") if hasattr(given, "read_next_batch") else given
    return _of_table(held, table, wanted, with_others)


def _of_pandas(given: Any, wanted: Wanted, with_others: bool) -> ObjectSource:
    """Read a frame of pandas; one whose columns hold mixed values is read row by row."""
    pa = arrow("reading a frame of pandas")
    names = [str(name) for name in given.columns]
    heads = _heads(wanted, names)
    for name in (name for name in heads if names.count(name) > 1):
        raise ParameterError(f"`{name}` is the name of several columns: give each its own")
    frame = given if with_others and len(set(names)) == len(names) else given[heads]
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, UnicodeError):
        rows = frame.to_dict("records")
        return RowSource(given, rows, _wanted_of(rows, wanted))
    return _of_table(given, table, wanted, with_others)


def _of_rows(given: Iterable[Any], wanted: Wanted) -> RowSource:
    is_kept = isinstance(given, list | tuple)
    rows = given if isinstance(given, list | tuple) else list(given)
    if is_kept:
        refuse_paths(rows)
    path = next((row for row in rows if isinstance(row, os.PathLike)), None)
    if path is not None:
        raise ParameterError(f"`{path}` is a path among texts: give a list of paths, or a list of texts")
    return RowSource(rows, rows, _wanted_of(rows, wanted))


def _wanted_of(rows: Sequence[Any], wanted: Wanted) -> Wanted:
    """Return the columns that rows have. All rows are asked: none need have the columns of another."""
    if not any(isinstance(row, Mapping) for row in rows):
        return wanted.of_texts("rows")
    names = list(dict.fromkeys(str(key) for row in rows if isinstance(row, Mapping) for key in row))
    for path in wanted.names:
        if path not in names and any(value_at(row, path) is not None for row in rows if isinstance(row, Mapping)):
            names.append(path)
    return wanted.among(names, "rows")


def _number(value: object) -> float:
    """Return a value, or a string that is one, as a number; NaN if it is none."""
    if isinstance(value, str):
        return number_in(value)
    if isinstance(value, bool) or not isinstance(value, SupportsFloat):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if isinstance(value, int) and value > 0 else -math.inf
    except (TypeError, ValueError):
        return math.nan


def _arrow_table(given: Any) -> pa.Table | None:
    """Return an object as a table, or nothing if it is none."""
    pa = arrow("reading Arrow")
    if isinstance(given, pa.Table):
        return given
    try:
        if isinstance(given, pa.StructArray):
            return pa.Table.from_struct_array(given)
        return pa.table(given)
    except (pa.ArrowInvalid, TypeError, ValueError):
        return None
