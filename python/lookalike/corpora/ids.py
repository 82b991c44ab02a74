"""Hands the ids of batches to the core, which keeps a key of 64 bits for each row."""

from __future__ import annotations

from collections.abc import Sequence

from lookalike import _core
from lookalike.corpora.arrays import id_buffers
from lookalike.corpora.batches import Columns, Names, Quoted, Texts, as_bytes


def take(seen: _core.SeenIds, batch: Columns | Texts) -> None:
    """Take the ids of a batch; lines have their keys from the core."""
    if isinstance(batch, Texts):
        _take_names(seen, [name for name, _ in batch.rows])
    elif batch.ids is None:
        seen.skip(batch.rows)
    elif isinstance(batch.ids, Names) and batch.ids.column is not None:
        (validity, offsets, data, width), is_string = id_buffers(batch.ids.column)
        valid = None if validity is None else as_bytes(validity)
        seen.push_columns(valid, as_bytes(offsets), as_bytes(data), width, batch.rows, is_string)
    else:
        _take_names(seen, list(batch.ids))


def _take_names(seen: _core.SeenIds, names: Sequence[str | None]) -> None:
    encoded = [None if name is None else name.encode("utf-8", "surrogatepass") for name in names]
    seen.push_names(encoded, bytes(isinstance(name, Quoted) for name in names))
