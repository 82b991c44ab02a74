"""Some rows of an object → an object of the same type: each library filters its own, by a mask of one byte per row.

Libraries are recognised by their module and never imported here; whoever made the object has imported them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike.corpora.arrays import arrow, filtered
from lookalike.corpora.batching import library_of
from lookalike.corpora.lines import check_rows

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Held:
    """The rows of an input that can be read only once, and its kind."""

    #: A table of pyarrow, or a frame of polars.
    rows: Any
    #: ``reader`` or ``lazy``.
    kind: str


def is_dataset(given: Any) -> bool:
    """Tell whether this is a dataset as Hugging Face makes them."""
    return all(hasattr(given, name) for name in ("with_format", "select", "column_names", "num_rows"))


def is_scanned(given: Any) -> bool:
    """Tell whether this is a dataset of pyarrow."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(given, module.Dataset)


def selected(given: Any, mask: bytes) -> Any:
    """Return the rows that the mask does not mark with 0, as the type that was given.

    A dataset of pyarrow comes back as one in memory, an iterable as a list.
    """
    if isinstance(given, list | tuple):
        kept = [row for row, keep in zip(given, mask, strict=True) if keep]
        return tuple(kept) if isinstance(given, tuple) else kept
    if isinstance(given, Held):
        kept = selected(given.rows, mask)
        return kept.lazy() if given.kind == "lazy" else kept.to_reader()
    if is_dataset(given):
        return given.select([row for row, keep in enumerate(mask) if keep])
    library = library_of(given)
    if library == "polars":
        polars = sys.modules["polars"]
        return given.filter(polars.Series(memoryview(mask).tolist(), dtype=polars.UInt8).cast(polars.Boolean))
    if library == "pandas" or hasattr(given, "iloc"):
        return given[sys.modules["numpy"].frombuffer(mask, "uint8") != 0]
    return _of_arrow(given, mask)


def _of_arrow(given: Any, mask: bytes) -> Any:
    pa = arrow("filtering a table")
    keep = _bits(mask)
    if is_scanned(given):
        return _of_scan(given, mask)
    if isinstance(given, pa.Table | pa.RecordBatch | pa.Array | pa.ChunkedArray):
        return filtered(given, keep)
    if hasattr(given, "__arrow_c_stream__"):
        table = filtered(pa.table(given), keep)
        is_relation = library_of(given) in ("duckdb", "_duckdb")
        return sys.modules["duckdb"].from_arrow(table) if is_relation else table
    return filtered(pa.array(given), keep)


def _of_scan(given: Any, mask: bytes) -> Any:
    """Read a dataset again, and keep of each batch what the mask keeps."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    kept, done = [], 0
    for batch in given.to_batches():
        own = mask[done : done + batch.num_rows]
        done += batch.num_rows
        if len(own) == batch.num_rows:
            kept.append(filtered(batch, _bits(own)))
    check_rows(done, len(mask))
    return ds.dataset(pa.Table.from_batches(kept, given.schema))


def _bits(mask: bytes) -> pa.Array:
    """Return a mask as Arrow filters by it."""
    pa = arrow("filtering a table")
    return pa.Array.from_buffers(pa.uint8(), len(mask), [None, pa.py_buffer(mask)]).cast(pa.bool_())
