"""Reads bundles of pairs one by one, as their definition says: ``lookalike.spark.cells`` makes and judges them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from lookalike import _core

#: (cell, left, right, further values) of a pair.
Pair = tuple[int, bytes, bytes, tuple[Any, ...]]


def unbundled(rows: Iterable[dict[str, Any]], extra: np.dtype[Any] | None = None) -> list[Pair]:
    """Return the pairs of rows (cell, ranks, pairs)."""
    kind = np.dtype([("left", "<u4"), ("right", "<u4"), *(() if extra is None else extra.descr)])
    pairs = []
    for row in rows:
        for left, right, *further in np.frombuffer(row["pairs"], kind).tolist():
            pairs.append((row["cell"], row["ranks"][left], row["ranks"][right], tuple(further)))
    return pairs


def cell_of(left: bytes, right: bytes, side: int) -> int:
    """Return the cell of a pair."""
    return _core.xxh3(left) % side * side + _core.xxh3(right) % side
