"""Reads Parquet by row groups, copies a file without some rows, and restores it.

The copy keeps the original's row groups (except those that lose all rows), schema, metadata, codecs and encodings. One
row group is held at a time. It may expand to what it declares or to ``memory``, whichever is more; values that are
stored once and repeated (see ``dictionaries``) could otherwise make terabytes of kilobytes.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lookalike._types import Problem
from lookalike.corpora.arrays import Wanted, arrow, columns, field_at, field_names, filtered, names_of, taken
from lookalike.corpora.batches import CHUNK_BYTES, Columns, without_texts
from lookalike.corpora.dictionaries import longest_value
from lookalike.corpora.ipc_messages import is_compressed
from lookalike.corpora.lines import check_rows, reason_of
from lookalike.corpora.places import InPlace, Place
from lookalike.documents.reasons import GIB, MIB, RefusedError, in_bytes

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

#: Largest row group by its declared expanded size; larger ones would not fit in memory and are not read.
GROUP_BYTES = 16 * GIB
#: Most rows a row group may declare.
_GROUP_ROWS = 2**31
#: Bytes of a column read at a time, so that a row group's column is not held whole.
_BUFFER_BYTES = MIB
#: Rows handed over at a time, whatever their size.
_MOST_ROWS = 2**16
#: Bytes to which the rows handed over at a time may expand where values are repeated.
_EXPANDED_BYTES = 32 * MIB
#: Bytes to which a row group may expand if nothing else is said.
MEMORY = 4 * GIB
#: Longest names and lists in a footer, in bytes and elements.
_THRIFT_LIMIT = 100 * 2**20


@dataclass
class ParquetSource(InPlace):
    """A Parquet file."""

    place: Place
    wanted: Wanted
    problems: list[Problem] = field(default_factory=list)
    #: Row groups that the last iteration could not read.
    unread: set[int] = field(default_factory=set)
    #: Whether its footer could be read.
    is_readable: bool = True
    format: str = "parquet"
    #: Bytes to which a row group may expand beyond what it declares.
    memory: int = MEMORY
    #: Whether rows of it will be copied to an output. Then every column is read, not the wanted ones alone: a row group
    #: that cannot be copied is lost before anything is decided, so no row is removed in favour of one of its rows.
    is_copied: bool = False

    def batches(self) -> Iterator[Columns]:
        """Yield the texts of all row groups; those of an unreadable group are missing."""
        self.problems.clear()
        self.unread.clear()
        self.is_readable = True
        self.done = 0
        try:
            with opened(self.place) as file:
                for group in range(file.metadata.num_row_groups):
                    start, size = self.done, group_size(file, group)
                    rows, taken = file.metadata.row_group(group).num_rows, 0
                    for batch in self._group(file, group):
                        taken += batch.rows
                        self.done = start + size * taken // max(rows, 1)
                        yield batch
                    self.done = start + size
        except (RefusedError, OSError) as error:
            self.is_readable = False
            self.problems.append(Problem(self.name, "", f"{reason_of(error)}; it is not in the output"))

    def _group(self, file: pq.ParquetFile, group: int) -> Iterator[Columns]:
        import pyarrow as pa

        rows = file.metadata.row_group(group).num_rows
        wanted = self.wanted.among(field_names(file.schema_arrow), self.name)
        done = 0
        try:
            check_group(file, group)
            room = _Room(file, group, self.memory)
            read = None if self.is_copied else wanted.names
            for batch in file.iter_batches(_batch_rows(file, group, self.place, read), [group], read):
                room.take(batch.nbytes)
                done += batch.num_rows
                made, notes = columns(batch, wanted, self.name)
                self.problems += [Problem(self.name, f"row group {group}", note) for note in notes]
                yield made
            if done < rows:
                raise RefusedError("has fewer rows than it says")
        except (RefusedError, OSError, pa.ArrowException) as error:
            self._lose(group, rows - done, error)
            for start in range(done, rows, _MOST_ROWS):
                yield without_texts(min(_MOST_ROWS, rows - start))

    def named(self) -> Iterator[Columns]:
        """Yield the ids of all rows that were read, without the texts. REQUIRES: ``batches`` has ended."""
        if not self.is_readable:
            return
        with opened(self.place) as file:
            column = self.wanted.among(field_names(file.schema_arrow), self.name).name
            self.done = 0
            for group in range(file.metadata.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                if column is not None and group not in self.unread:
                    for batch in file.iter_batches(_batch_rows(file, group, self.place, [column]), [group], [column]):
                        yield replace(without_texts(batch.num_rows), ids=names_of(field_at(batch, column)))
                else:
                    yield without_texts(rows)
                self.done += group_size(file, group)

    def _lose(self, group: int, rows: int, error: Exception) -> None:
        self.unread.add(group)
        reason = str(error) if isinstance(error, RefusedError) else f"damaged: {_first_line(error)}"
        self.problems.append(
            Problem(self.name, f"row group {group}", f"{reason}; its rows are not in the output", rows)
        )

    def check(self) -> None:
        """Errors: ``ParameterError`` if a column is missing."""
        try:
            with opened(self.place) as file:
                self.wanted.among(field_names(file.schema_arrow), self.name)
        except (RefusedError, OSError):
            return


@contextmanager
def opened(place: Place) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file. Errors: ``RefusedError``, ``OSError``, ``MissingExtraError``."""
    pa = arrow(f"reading `{place.name}`")
    import pyarrow.parquet as pq

    with place.open() as raw, pa.OSFile(place.path) if place.path is not None else nullcontext(raw) as handle:
        try:
            file = pq.ParquetFile(
                handle,
                buffer_size=_BUFFER_BYTES if place.path is not None else 0,
                pre_buffer=place.path is None,
                thrift_string_size_limit=_THRIFT_LIMIT,
                thrift_container_size_limit=_THRIFT_LIMIT,
            )
        except (OSError, pa.ArrowException) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise RefusedError(f"damaged, or no Parquet file: {_first_line(error)}") from None
        with file:
            groups = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
            if not all(0 <= rows <= _GROUP_ROWS for rows in groups):
                raise RefusedError(f"damaged: a row group says that it has {max(groups, key=abs):,} rows")
            yield file


def check_group(file: pq.ParquetFile, group: int) -> None:
    """Errors: ``RefusedError`` if a row group declares too much; checked before anything is allocated."""
    if declared_size(file, group) > GROUP_BYTES:
        raise RefusedError(f"expands beyond {in_bytes(GROUP_BYTES)}")


def group_size(file: pq.ParquetFile, group: int) -> int:
    """Return how many bytes a row group has in the file."""
    meta = file.metadata.row_group(group)
    return int(sum(meta.column(leaf).total_compressed_size for leaf in range(meta.num_columns)))


class _Room:
    """Counts to how many bytes a row group expands."""

    def __init__(self, file: pq.ParquetFile, group: int, memory: int) -> None:
        self._most = max(memory, declared_size(file, group))
        self._taken = 0

    def take(self, size: int) -> None:
        """Errors: ``RefusedError`` if it expands too far."""
        self._taken += size
        if self._taken > self._most:
            raise RefusedError(
                f"expands beyond {in_bytes(self._most)}, because values in it are repeated: more memory would read it"
            )


def declared_size(file: pq.ParquetFile, group: int) -> int:
    """Return to how many bytes a row group expands by its own account, in which a repeated value counts once."""
    meta = file.metadata.row_group(group)
    return int(sum(meta.column(number).total_uncompressed_size for number in range(meta.num_columns)))


def _batch_rows(file: pq.ParquetFile, group: int, place: Place, wanted: Container[str] | None = None) -> int:
    """Return how many rows of a group make about one chunk, by all columns or those wanted.

    Repeated values are stored once, so a column may hold more text than the file's size suggests: their longest value
    bounds the rows.
    """
    meta = file.metadata.row_group(group)
    leaves = {number: meta.column(number) for number in range(meta.num_columns)}
    chosen = {number: leaf for number, leaf in leaves.items() if wanted is None or leaf.path_in_schema in wanted}
    total = sum(leaf.total_uncompressed_size for leaf in chosen.values())
    rows = int(max(1, min(_MOST_ROWS, CHUNK_BYTES * max(1, meta.num_rows) // max(1, total))))
    longest = 0
    for number, leaf in chosen.items():
        if leaf.has_dictionary_page and rows * leaf.total_uncompressed_size > _EXPANDED_BYTES:
            with place.open() as raw:
                longest += longest_value(file, group, number, raw)
    return max(1, min(rows, _EXPANDED_BYTES // max(1, longest)))


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")[:200]


def writer(file: pq.ParquetFile, out: Any) -> pq.ParquetWriter:
    """Return a writer to ``out`` with the settings that the original file records."""
    import pyarrow.parquet as pq

    schema = file.schema_arrow
    meta = file.metadata
    options: dict[str, Any] = {
        "version": meta.format_version if meta.format_version in ("1.0", "2.4", "2.6") else "2.6"
    }
    options["store_schema"] = b"ARROW:schema" in (meta.metadata or {})
    if meta.num_row_groups:
        first = meta.row_group(0)
        leaves = [first.column(number) for number in range(first.num_columns)]
        options["compression"] = {
            leaf.path_in_schema: leaf.compression.replace("UNCOMPRESSED", "NONE") for leaf in leaves
        }
        options["use_dictionary"] = [leaf.path_in_schema for leaf in leaves if leaf.has_dictionary_page] or False
        options["write_statistics"] = [leaf.path_in_schema for leaf in leaves if leaf.is_stats_set] or False
        options["use_deprecated_int96_timestamps"] = any(leaf.physical_type == "INT96" for leaf in leaves)
        options["use_compliant_nested_type"] = not any(".list.item" in leaf.path_in_schema for leaf in leaves)
        options["sorting_columns"] = first.sorting_columns or None
    return pq.ParquetWriter(out, schema, **options)


def filter_groups(
    source: ParquetSource,
    mask: bytes,
    out: Any,
    removed: Callable[[int, list[int], pa.Table], None],
    tell: Callable[[], None] = lambda: None,
) -> list[int]:
    """Write the kept rows; report removed ones by group, row numbers and table. Return the row count of each group.

    One group may be reported in several parts. ``tell`` is called after each group.

    Errors: ``RefusedError`` if a row group whose texts were read cannot be copied whole, ``ValueError``, ``OSError``.
    """
    with opened(source.place) as file:
        groups = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
        check_rows(sum(groups), len(mask))
        source.done = 0
        with writer(file, out) as copy:
            start = 0
            for group, rows in enumerate(groups):
                if group not in source.unread:
                    _write(copy, _kept(file, group, mask[start : start + rows], source, removed, start))
                start += rows
                source.done += group_size(file, group)
                tell()
    return groups


def _kept(
    file: pq.ParquetFile,
    group: int,
    mask: bytes,
    source: ParquetSource,
    removed: Callable[[int, list[int], pa.Table], None],
    start: int,
) -> pa.Table:
    """Return the kept rows of a group; report the removed ones, numbered from ``start``."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kept = []
    done = 0
    room = _Room(file, group, source.memory)
    try:
        for batch in file.iter_batches(_batch_rows(file, group, source.place), [group]):
            part = mask[done : done + batch.num_rows]
            if 0 in part:
                keep = pa.Array.from_buffers(pa.uint8(), len(part), [None, pa.py_buffer(part)]).cast(pa.bool_())
                gone = pa.Table.from_batches([filtered(batch, pc.invert(keep))], file.schema_arrow)
                removed(group, [start + done + number for number, keeps in enumerate(part) if not keeps], gone)
                batch = filtered(batch, keep)
            done += len(part)
            room.take(batch.nbytes)
            kept.append(batch)
    except (RefusedError, OSError, pa.ArrowException) as error:
        raise RefusedError(
            f"row group {group} of `{source.name}` cannot be copied, although its texts can be read: "
            f"{_first_line(error)}; nothing was written"
        ) from None
    check_rows(done, len(mask))
    return pa.Table.from_batches(kept, file.schema_arrow)


def _write(copy: pq.ParquetWriter, table: pa.Table) -> None:
    if table.num_rows:
        copy.write_table(table, row_group_size=table.num_rows)


def merge_groups(
    clean: Place, out: Any, groups: Sequence[int], unread: set[int], removed: Iterator[tuple[list[int], pa.Table]]
) -> int:
    """Write the original of a copy, given what was removed from each row group, in order; return its rows.

    Errors: ``RefusedError`` if copy and removed rows together are not the original.
    """
    start = taken = written = 0
    waiting = next(removed, None)
    with opened(clean) as file, writer(file, out) as whole:
        for group, rows in enumerate(groups):
            if group in unread:
                start += rows
                continue
            gone: list[int] = []
            parts: list[pa.Table] = []
            while waiting is not None and waiting[0][0] < start + rows:
                gone += [row - start for row in waiting[0]]
                parts.append(waiting[1])
                waiting = next(removed, None)
            if rows > len(gone):
                if taken >= file.metadata.num_row_groups:
                    raise RefusedError(f"`{clean.name}` has fewer row groups than the ledger says")
                parts.append(file.read_row_group(taken))
                taken += 1
            if parts:
                _write(whole, _interleaved(parts, gone, rows, clean.name))
            start += rows
            written += rows
        if waiting is not None or taken != file.metadata.num_row_groups:
            raise RefusedError(f"`{clean.name}` has other row groups than the ledger says")
    return written


def _interleaved(parts: list[pa.Table], gone: list[int], rows: int, name: str) -> pa.Table:
    """Return removed rows, which come first, and kept ones in the order of the original."""
    import pyarrow as pa

    table = pa.concat_tables(parts)
    if table.num_rows != rows:
        raise RefusedError(f"`{name}` has row groups of other sizes than the ledger says")
    if not gone:
        return table
    order = [0] * rows
    is_gone = set(gone)
    for number, row in enumerate(gone):
        order[row] = number
    for number, row in enumerate(row for row in range(rows) if row not in is_gone):
        order[row] = len(gone) + number
    return taken(table, order)


def to_text(table: pa.Table) -> str:
    """Return rows as text: an Arrow stream in base64."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return base64.b64encode(sink.getvalue()).decode("ascii")


def from_text(text: str) -> pa.Table:
    """Return the rows of such a text. Errors: ``ValueError``, also if they are compressed: they could have any size."""
    pa = arrow("putting Parquet rows back")
    data = base64.b64decode(text, validate=True)
    for message in pa.ipc.MessageReader.open_stream(data):
        if is_compressed(bytes(message.metadata)):
            raise ValueError("its rows are compressed, which those of a ledger never are")
    with pa.ipc.open_stream(data) as stream:
        return stream.read_all()
