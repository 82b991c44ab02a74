"""Tables as files: CSV, compressed or not, or Parquet, as the suffix says."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, BinaryIO, TextIO, cast

from lookalike.corpora.arrays import arrow
from lookalike.corpora.compression import compressed
from lookalike.corpora.suffixes import split
from lookalike.rendering.tables import write_rows

#: Columns that are not texts, with their types in Arrow.
TYPES = {
    **dict.fromkeys(("cluster", "row", "representative_row", "left_row", "right_row"), "int64"),
    **dict.fromkeys(("resemblance", "containment", "contains", "contained"), "float64"),
    "distance": "uint8",
    "features": "uint32",
}
#: Rows of Parquet written at a time.
BATCH = 1 << 16


@contextmanager
def text_file(path: str, target: str) -> Iterator[TextIO]:
    """Open a file for CSV, compressed as the name of its ``target`` says. Names of files may be invalid UTF-8."""
    with open(path, "wb") as raw:
        stream = compressed(raw, packing) if (packing := split(target)[1]) else raw
        text = io.TextIOWrapper(cast(BinaryIO, stream), "utf-8", "backslashreplace", newline="")
        yield text
        text.close()


def write_table(path: str, target: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table to ``path`` in the format of ``target``. Errors: ``OSError``, ``MissingExtraError``."""
    if split(target)[0] == ".csv":
        with text_file(path, target) as file:
            write_rows(file, [header])
            write_rows(file, rows)
        return
    pa = arrow("a Parquet file")
    from pyarrow import parquet

    types = [pa.type_for_alias(TYPES.get(name, "string")) for name in header]
    schema = pa.schema(list(zip(header, types, strict=True)))
    pending = iter(rows)
    with parquet.ParquetWriter(path, schema) as writer:
        while batch := list(islice(pending, BATCH)):
            columns = (map(_plain, column) for column in zip(*batch, strict=True))
            arrays = [pa.array(_typed(column, kind), kind) for column, kind in zip(columns, types, strict=True)]
            writer.write_batch(pa.record_batch(arrays, schema=schema))


def _plain(value: Any) -> Any:
    """Return a value that Arrow takes: names of files may be invalid UTF-8."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _typed(column: Iterable[Any], kind: Any) -> list[Any]:
    """Return the cells of a column; resemblances and shares come as texts."""
    return [None if one in ("", None) else float(one) for one in column] if kind == "double" else list(column)
