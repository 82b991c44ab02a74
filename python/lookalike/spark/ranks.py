"""Ranks: strings of bytes that sort as rows are preferred for keeping, and name a row wherever it goes.

    ┌───────────┬───────────────────┬───────────────────────┬──────────────────────────────┐
    │ reference │ containment only  │ keep rule             │ order                        │
    │ 1 byte    │ 4: most shingles  │ longest 4, max: 8     │ 8 for numbers, else the text │
    └───────────┴───────────────────┴───────────────────────┴──────────────────────────────┘

So no row needs a number that someone would have to count out, and a rank does not depend on where it was made. Of two
rows the smaller rank is preferred: references first, then the rule, then the order, as on one machine. The part before
the order has the same length in all ranks of a job, so the order can be read from a rank.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lookalike.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

#: The first byte of the rank of a reference, and of any other row.
REFERENCE, OWN = 0, 1
#: Types of whole numbers.
WHOLE = ("tinyint", "smallint", "int", "bigint")
#: Types of longer ones, which have no word: Spark reads unsigned numbers of 64 bits as such.
_LONG = re.compile(r"decimal\(([0-9]+),0\)")
#: The longest rank, in bytes: tasks hold many of them at a time.
LONGEST = 4096
#: The longest number that has room for one more digit in a decimal of Spark.
_LONGEST_NUMBER = 37
#: What turns signed numbers into such that sort as bytes.
_SIGN = 1 << 63


def kind_of(kind: DataType, column: str) -> str:
    """Return how values of a column are ordered: `number`, `text`, or a type of long numbers.

    Errors: ``ParameterError`` for other types.
    """
    name: str = kind.simpleString()
    if name in WHOLE:
        return "number"
    if name == "string":
        return "text"
    if 0 < _digits(name) <= _LONGEST_NUMBER:
        return name
    raise ParameterError(
        f"order column `{column}` is of type {name}: use one of whole numbers or of strings, or cast it"
    )


def ordered(given: Column, kind: str) -> Column:
    """Return the order of rows as ranks hold it: long numbers as texts of one length, which sort as they do."""
    if kind == "number":
        return given.cast("bigint")
    if kind == "text":
        return given
    return (given.cast("decimal(38,0)") + _raised(kind)).cast("string")


def as_given(order: Column, kind: str) -> Column:
    """Return the order that a rank holds as the rows have it."""
    return order if kind in ("number", "text") else order.cast("decimal(38,0)") - _raised(kind)


def _raised(kind: str) -> Column:
    """Return what makes long numbers positive and equally long: with 3 digits 2000, for 1001 to 2999 have four."""
    from pyspark.sql import functions as sql

    return sql.lit("2" + "0" * _digits(kind)).cast("decimal(38,0)")


def _digits(kind: str) -> int:
    found = _LONG.fullmatch(kind)
    return int(found[1]) if found else 0


def prefix_bytes(method: str, keep: str) -> int:
    """Return the bytes of a rank before the order."""
    rule = 8 if keep.startswith("max:") else 4 if keep == "longest" else 0
    return 1 + (4 if method == "containment" else 0) + rule


def ranks(
    order: pa.Array, flag: int, shingles: bytes | None, sizes: bytes | None, largest: np.ndarray[Any, Any] | None
) -> pa.Array:
    """Return the ranks of rows.

    ``shingles`` and ``sizes`` are 32-bit numbers of which larger ones come first; ``largest`` are numbers of which
    larger ones come first and those that are none last.
    """
    import numpy as np
    import pyarrow as pa

    rows = len(order)
    parts = [np.full((rows, 1), flag, dtype=np.uint8)]
    for counts in (shingles, sizes):
        if counts is not None:
            parts.append(_bytes(~np.frombuffer(counts, dtype=np.uint32), ">u4"))
    if largest is not None:
        parts.append(_bytes(_descending(largest), ">u8"))
    if pa.types.is_integer(order.type):
        values = order.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        parts.append(_bytes(values.view(np.uint64) ^ np.uint64(_SIGN), ">u8"))
        return _fixed(np.hstack(parts))
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(_fixed(np.hstack(parts)), order.cast(pa.binary()).fill_null(b""), b"")


def _bytes(values: np.ndarray[Any, Any], kind: str) -> np.ndarray[Any, Any]:
    import numpy as np

    made = values.astype(kind)
    return made.view(np.uint8).reshape(len(values), made.itemsize)


def _descending(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return words that ascend where numbers descend in their total order; the largest word for what is no number."""
    import numpy as np

    bits = values.astype(np.float64).view(np.uint64)
    is_negative = (bits >> np.uint64(63)).astype(bool)
    ascending = np.where(is_negative, ~bits, bits | np.uint64(_SIGN))
    return np.where(np.isnan(values), np.uint64(2**64 - 1), ~ascending)


def _fixed(table: np.ndarray[Any, Any]) -> pa.Array:
    """Return rows of bytes as strings of bytes."""
    import numpy as np
    import pyarrow as pa

    rows, width = table.shape
    offsets = (np.arange(rows + 1, dtype=np.int64) * width).astype(np.int32)
    return pa.Array.from_buffers(pa.binary(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(table.tobytes())])


def order_of(rank: Column, prefix: int, kind: str) -> Column:
    """Return the order that a rank holds."""
    from pyspark.sql import functions as sql

    if kind != "number":
        return sql.substring(rank, prefix + 1, 2**31 - 1).cast("string")
    # A negative base reads the word as a signed number.
    word = sql.conv(sql.hex(sql.substring(rank, prefix + 1, 8)), 16, -10).cast("bigint")
    return word.bitwiseXOR(sql.lit(-_SIGN))


def has_no_number(rank: Column, prefix: int) -> Column:
    """Return whether the keep rule ``max:`` found no number in a row. It stands before the order."""
    from pyspark.sql import functions as sql

    return sql.substring(rank, prefix - 7, 8) == sql.lit(b"\xff" * 8)


def is_reference(rank: Column) -> Column:
    """Return whether a rank is that of a reference."""
    from pyspark.sql import functions as sql

    return sql.substring(rank, 1, 1) == sql.lit(bytes([REFERENCE]))
