"""Arrow arrays → the buffers of a batch, without copying where they are strings already."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.corpora.batches import RECORD_BYTES, Columns, Names, Quoted
from lookalike.corpora.written import numbers_in
from lookalike.documents.reasons import in_bytes
from lookalike.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from typing_extensions import Buffer

#: The column of ids that is taken where none is asked for, if it is there.
USUAL_ID = "id"
#: How many columns a message names.
_LISTED = 50


def arrow(what: str) -> Any:
    """Return pyarrow. Errors: ``MissingExtraError``."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError(what, "data") from None
    return pyarrow


class Wanted(NamedTuple):
    """The columns that are read of each row."""

    text: str
    #: Ids; by default ``USUAL_ID`` where there is such a column.
    name: str | None = None
    #: Numbers that decide who survives.
    number: str | None = None

    def among(self, names: Sequence[str], source: str) -> Wanted:
        """Return them as a source has them. Errors: ``ParameterError`` that names the columns there are."""
        for column, option in ((self.text, "text"), (self.name, "id"), (self.number, "number")):
            if column is not None and column not in names:
                advice = f"; name one of them as {option} column" if names else ""
                raise ParameterError(f"{option} column `{column}` is not in `{source}`: it has {listed(names)}{advice}")
        return self._replace(name=USUAL_ID if self.name is None and USUAL_ID in names else self.name)

    def of_texts(self, source: str) -> Wanted:
        """Return them for a source that has texts only. Errors: ``ParameterError`` if numbers are wanted of it."""
        if self.number is not None:
            raise ParameterError(f"number column `{self.number}` is not in `{source}`: it has no columns")
        return self._replace(name=None)

    @property
    def names(self) -> list[str]:
        """Each of them once."""
        return list(dict.fromkeys(name for name in self if name is not None))


def listed(names: Sequence[str]) -> str:
    """Name the columns there are."""
    shown = ", ".join(f"`{name}`" for name in names[:_LISTED]) + (", …" if len(names) > _LISTED else "")
    return shown or "no columns"


def field_names(schema: pa.Schema) -> list[str]:
    """Name all columns, and the fields of structs behind the names of what holds them: ``doc``, ``doc.text``."""
    return [name for field in schema for name in _below(field.name, field.type)]


def _below(path: str, kind: pa.DataType) -> Iterator[str]:
    import pyarrow as pa

    yield path
    if pa.types.is_struct(kind):
        for field in kind:
            yield from _below(f"{path}.{field.name}", field.type)


def head_of(path: str, names: Container[str]) -> str:
    """Return the column that a path leads into: the longest of the names that it begins with, else the path."""
    parts = path.split(".")
    heads = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((head for head in heads if head in names), path)


def value_at(row: object, path: str) -> Any:
    """Return the value of a row at a path, which may lead into the values of it; ``None`` where there is none.

    >>> value_at({"doc": {"text": "a"}}, "doc.text"), value_at({"doc.text": "b"}, "doc.text"), value_at("a", "text")
    ('a', 'b', None)
    """
    if not isinstance(row, Mapping) or path in row:
        return row[path] if isinstance(row, Mapping) else None
    head = head_of(path, row)
    return None if head == path else value_at(row[head], path[len(head) + 1 :])


def field_at(batch: Any, path: str) -> Any:
    """Return a column of a table or batch, or a field of its structs; null where what holds it is null."""
    head = head_of(path, batch.schema.names)
    if head == path:
        return batch[path]
    import pyarrow.compute as pc

    return pc.struct_field(batch[head], path[len(head) + 1 :].split("."))


def columns(batch: pa.RecordBatch, wanted: Wanted, source: str) -> tuple[Columns, list[str]]:
    """Return a batch, and what is wrong with rows of it. Errors: ``ParameterError`` if columns hold something else."""
    ids = None if wanted.name is None else names_of(field_at(batch, wanted.name))
    numbers = None if wanted.number is None else numbers_of(field_at(batch, wanted.number), wanted.number, source)
    made, notes = texts_of(field_at(batch, wanted.text), source, ids, numbers)
    rest = [name for name in batch.schema.names if name != wanted.text]
    return replace(made, others=lambda: batch.select(rest).to_pylist()) if rest else made, notes


def texts_of(
    texts: pa.Array, source: str, ids: Names | None = None, numbers: array[float] | None = None
) -> tuple[Columns, list[str]]:
    """Return texts as a batch, and what is wrong with rows of it. Errors: ``ParameterError`` if they are no texts."""
    texts, notes = _capped(strings_of(texts, source))
    return Columns(*buffers_of(texts), len(texts), ids, numbers, is_string(texts.type)), notes


def is_string(kind: pa.DataType) -> bool:
    """Tell whether a type promises text, which is UTF-8, and not bytes in any encoding."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def buffers_of(texts: pa.Array) -> tuple[Buffer | None, Buffer, Buffer, int]:
    """Return the validity, offsets and bytes of the rows of an array of strings, and the bytes per offset."""
    import pyarrow as pa

    width = 8 if pa.types.is_large_string(texts.type) or pa.types.is_large_binary(texts.type) else 4
    if texts.null_count and texts.offset % 8:
        texts = pa.concat_arrays([texts, texts[:0]])
    validity, offsets, data = texts.buffers()
    start, rows = texts.offset, len(texts)
    if texts.null_count == 0:
        validity = None
    elif start:
        validity = validity.slice(start // 8, (rows + 7) // 8)
    if offsets is None or offsets.size == 0:
        offsets = bytes(width)
    elif start or offsets.size != width * (rows + 1):
        offsets = offsets.slice(start * width, width * (rows + 1))
    return validity, offsets, b"" if data is None else data, width


def strings_of(texts: pa.Array, source: str) -> pa.Array:
    """Return an array of plain strings, or of bytes, which have the same layout."""
    import pyarrow as pa

    types = pa.types
    kind = texts.type
    if isinstance(texts, pa.ExtensionArray):
        return strings_of(texts.storage, source)
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        if types.is_dictionary(kind):
            # Views, which polars uses, cannot be decoded; plain strings can.
            return strings_of(texts.dictionary, source).take(texts.indices)
        return strings_of(pa.compute.run_end_decode(texts), source)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return texts.cast(pa.large_string() if types.is_string_view(kind) else pa.large_binary())
    if types.is_null(kind):
        return texts.cast(pa.string())
    if any(is_it(kind) for is_it in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)):
        return texts
    raise ParameterError(f"text column of `{source}` holds {kind}: name a column of strings as text column")


def _capped(texts: pa.Array) -> tuple[pa.Array, list[str]]:
    """Take out texts that are too long to be compared."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if sum(buffer.size for buffer in texts.buffers() if buffer is not None) <= RECORD_BYTES:
        return texts, []
    too_long = pc.fill_null(pc.greater(pc.binary_length(texts), RECORD_BYTES), False)
    count = pc.sum(too_long).as_py() or 0
    if not count:
        return texts, []
    short = pc.if_else(too_long, pa.scalar(None, texts.type), texts)
    return short, [f"{count:,} texts are longer than {in_bytes(RECORD_BYTES)}; they are not compared"]


def names_of(ids: pa.Array) -> Names:
    """Return the ids of a column, each made when it is asked for."""
    return Names(len(ids), lambda row: name_of(ids[row].as_py()), ids)


def name_of(value: object) -> str | None:
    """Return an id as people write it."""
    if value is None or isinstance(value, str):
        return None if value is None else Quoted(value)
    return Quoted(value.decode("utf-8", "backslashreplace")) if isinstance(value, bytes) else str(value)


def id_buffers(ids: pa.Array) -> tuple[tuple[Buffer | None, Buffer, Buffer, int], bool]:
    """Return the buffers of ids as strings, and whether they are strings in their column."""
    import pyarrow as pa

    try:
        return buffers_of(strings_of(ids, "")), True
    except ParameterError:
        pass
    try:
        return buffers_of(ids.cast(pa.large_string())), False
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return buffers_of(pa.array([name_of(one) for one in ids.to_pylist()], pa.large_string())), False


def numbers_of(values: pa.Array, column: str, source: str) -> array[float]:
    """Return numbers, and moments as numbers; NaN where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    types, kind = pa.types, values.type
    if types.is_dictionary(kind):
        return numbers_of(values.dictionary_decode(), column, source)
    if types.is_temporal(kind) and not types.is_interval(kind):
        values = values.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    elif any(is_it(kind) for is_it in (types.is_string, types.is_large_string, types.is_string_view)):
        values = numbers_in(strings_of(values, source))
    elif not any(is_it(kind) for is_it in (types.is_integer, types.is_floating, types.is_decimal, types.is_null)):
        raise ParameterError(f"number column `{column}` of `{source}` holds {kind}: name a column of numbers")
    found = pc.fill_null(values.cast(pa.float64(), safe=False), float("nan"))
    return array("d", bytes(found.buffers()[1].slice(8 * found.offset, 8 * len(found))))


def filtered(given: Any, keep: pa.Array) -> Any:
    """Filter a table, batch or array by a mask, also views, which pyarrow cannot filter as they are."""
    return _by_columns(given, lambda one: one.filter(keep))


def taken(given: Any, rows: Sequence[int]) -> Any:
    """Return some rows of a table in this order, also of views."""
    return _by_columns(given, lambda one: one.take(rows))


def _by_columns(given: Any, work: Callable[[Any], Any]) -> Any:
    import pyarrow as pa

    try:
        return work(given)
    except pa.ArrowNotImplementedError:
        if isinstance(given, pa.Table | pa.RecordBatch):
            return type(given).from_arrays([_by_columns(one, work) for one in given.columns], schema=given.schema)
        plain = pa.large_string() if pa.types.is_string_view(given.type) else pa.large_binary()
        return work(given.cast(plain)).cast(given.type)
