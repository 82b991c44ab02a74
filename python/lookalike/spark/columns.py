"""Arrow columns to blocks of bytes, as the core takes them, and back. No row becomes an object."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lookalike.corpora.arrays import buffers_of
from lookalike.corpora.batches import as_bytes

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


def strings(data: bytes, offsets: bytes, kind: pa.DataType | None = None) -> pa.Array:
    """Return strings of bytes, of which offsets say where each begins and ends."""
    import pyarrow as pa

    rows = len(offsets) // 4 - 1
    return pa.Array.from_buffers(kind or pa.binary(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def lists(data: bytes, offsets: bytes) -> pa.Array:
    """Return lists of 64-bit numbers."""
    import pyarrow as pa

    rows = len(offsets) // 4 - 1
    values = numbers(data, pa.int64())
    return pa.Array.from_buffers(pa.list_(pa.int64()), rows, [None, pa.py_buffer(offsets)], children=[values])


def numbers(data: bytes, kind: pa.DataType, present: bytes | None = None) -> pa.Array:
    """Return numbers of a type; with ``present`` null where its byte is 0."""
    import pyarrow as pa

    rows = len(data) // (kind.bit_width // 8)
    made = pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(data)])
    if present is None:
        return made
    import numpy as np
    import pyarrow.compute as pc

    is_there = pa.array(np.frombuffer(present, dtype=bool))
    return pc.if_else(is_there, made, pa.scalar(None, kind))


def raw(column: pa.Array, kind: str) -> np.ndarray[Any, Any]:
    """Return the numbers of a column without nulls, as this type of numpy."""
    import numpy as np

    return np.ascontiguousarray(column.to_numpy(zero_copy_only=False)).astype(kind, copy=False)


def block(column: pa.Array, kind: str) -> bytes:
    """Return the numbers of a column without nulls as a block of bytes."""
    return raw(column, kind).tobytes()


def buffers(column: pa.Array) -> tuple[Any, ...]:
    """Return the buffers of a column of strings, as the core takes them."""
    validity, offsets, data, width = buffers_of(column)
    return None if validity is None else as_bytes(validity), as_bytes(offsets), as_bytes(data), width, len(column)


def sixteens(data: bytes) -> pa.Array:
    """Return strings of 16 bytes."""
    import numpy as np

    return strings(data, np.arange(0, len(data) + 1, 16, dtype=np.int32).tobytes())


def are_equal(made: pa.Array, column: pa.Array) -> bool:
    """Return whether strings of bytes are those of a column of Spark, which may have offsets of 32 or 64 bits."""
    return bool(made.equals(column.cast(made.type)))


def records(batch: pa.RecordBatch, kind: np.dtype[Any]) -> bytes:
    """Return the columns that a type names, numbers or strings of one length, as a block of records."""
    import numpy as np
    import pyarrow as pa

    made = np.empty(batch.num_rows, dtype=kind)
    for name in kind.names or ():
        of_name, column = kind[name], batch[name]
        if of_name.kind == "V":
            fixed = column.cast(pa.binary(of_name.itemsize))
            made[name] = np.frombuffer(fixed.buffers()[1], of_name, len(fixed), fixed.offset * of_name.itemsize)
        else:
            made[name] = column.to_numpy()
    return made.tobytes()


def joined(columns: Iterable[pa.Array]) -> pa.Array:
    """Return columns, of which there is at least one, as one."""
    import pyarrow as pa

    return pa.concat_arrays(list(columns))
