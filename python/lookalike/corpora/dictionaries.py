"""How long the values of a Parquet dictionary are: each is stored once, however many rows have it.

A column says how many bytes it stores, not to how many it expands: 2.5 KB can hold one value of 6 MiB in 600 rows. So
the rows that are read at a time are bounded by the longest value of the dictionary.

The dictionary comes with the first row of a row group, if it is read as a dictionary. The header of its page says how
large it is (Parquet, `PageHeader`, in Thrift's compact protocol); if what came is not all of it, its size stands for
the longest value. Cost: the page of the dictionary is read once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

#: Bytes of a page's header that are looked at; the numbers come first.
_HEADER_BYTES = 64
#: Thrift's number of a 32-bit integer.
_I32 = 5
#: Bytes before each value of a dictionary.
_PREFIX = 4


def longest_value(file: pq.ParquetFile, group: int, column: int, raw: BinaryIO) -> int:
    """Return a bound of the longest value in the dictionary of a column; 0 if it has none."""
    leaf = file.metadata.row_group(group).column(column)
    if leaf.physical_type != "BYTE_ARRAY" or not leaf.has_dictionary_page:
        return 0
    raw.seek(leaf.dictionary_page_offset)
    size = min(page_size(raw.read(_HEADER_BYTES)), leaf.total_uncompressed_size)
    lengths = _lengths(file, group, leaf.path_in_schema, raw)
    if lengths is None or sum(lengths) + _PREFIX * len(lengths) != size:
        return int(size)
    return max(lengths, default=0)


def page_size(header: bytes) -> int:
    """Return the expanded size that the header of a page tells; a very large one if it cannot be read."""
    at, field = 0, 0
    while at < len(header):
        kind = header[at] & 15
        field += header[at] >> 4
        number, at = _varint(header, at + 1)
        if kind != _I32 or field > 2:
            break
        if field == 2:
            return (number >> 1) ^ -(number & 1)
    return 2**31


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, and where it ends."""
    number = shift = 0
    while at < len(data):
        number |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            break
    return number, at


def _lengths(file: pq.ParquetFile, group: int, path: str, raw: BinaryIO) -> list[int] | None:
    """Return the lengths of the values that come with the first row; ``None`` if they cannot be read."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    raw.seek(0)
    try:
        with pq.ParquetFile(raw, metadata=file.metadata, read_dictionary=[path]) as peek:
            batch = next(peek.iter_batches(1, [group], [path]), None)
            values = None if batch is None else _dictionary(batch.column(0))
            return None if values is None else pc.binary_length(values).to_pylist()
    except (OSError, pa.ArrowException):
        # Damage is told where the column is read.
        return None


def _dictionary(column: pa.Array) -> pa.Array | None:
    """Return the dictionary of a column; ``None`` for one inside lists or structures."""
    import pyarrow as pa

    return column.dictionary if isinstance(column, pa.DictionaryArray) else None
