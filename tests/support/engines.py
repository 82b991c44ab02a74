"""The answers of both engines in one form: what is compared by the contract suite."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

import lookalike as la
from lookalike.deduplication.result import LINKS

Row = dict[str, Any]
#: What a corpus looks like to Spark, and to Arrow.
SCHEMA = "id bigint, text string, number double, name string"
KINDS = pa.schema([("id", pa.int64()), ("text", pa.string()), ("number", pa.float64()), ("name", pa.string())])


def local(rows: Sequence[Row], against: Sequence[Row] | None = None, name: str = "id", **chosen: Any) -> dict[str, Any]:
    """Return the answer of the local engine; rows are given in their order."""
    tables = [pa.Table.from_pylist(list(part), schema=KINDS) for part in (rows, against or [])]
    found = la.dedup(tables[0], against=None if against is None else tables[1], **chosen)
    ids = [row[name] for row in (*(against or []), *rows)]
    first = len(against or [])
    gone = set(found.gone)
    removed = [
        (ids[row], ids[found.survivors[row]], bits(found.resemblances[row]), LINKS[found.links[row]])
        for row in found.gone
    ]
    return {
        "kept": sorted(ids[row] for row in range(first, len(ids)) if row not in gone),
        "removed": sorted(removed),
        "clusters": sorted([*removed, *((ids[row], ids[row], bits(1.0), LINKS[0]) for row in found.cluster_sizes)]),
        "pairs": sorted((ids[one.left], ids[one.right], bits(one.resemblance), one.link) for one in found.pairs()),
        **_counts(found.to_json(), ids),
    }


def collected(table: Any) -> Iterable[Sequence[Any]]:
    """Return the rows of a small table by way of the driver."""
    rows: list[Sequence[Any]] = table.collect()
    return rows


def cluster(
    answer: Any, name: str = "id", rows_of: Callable[[Any], Iterable[Sequence[Any]]] = collected
) -> dict[str, Any]:
    """Return an answer of the engine on Spark. ``rows_of`` reads a table."""

    def listed(table: Any) -> list[tuple[Any, ...]]:
        return sorted((row[0], row[1], bits(row[2]), row[3]) for row in rows_of(table))

    summary = {**answer.summary, **answer.summary["work"]}
    summary["giants"] = [(one["survivor"], one["documents"], one["keys"]) for one in summary["giants"]]
    summary["capped"] = [tuple(one.values()) for one in summary["capped"]]
    return {
        "kept": sorted(row[0] for row in rows_of(answer.kept.select(name))),
        "removed": listed(answer.removed),
        "clusters": listed(answer.clusters),
        "pairs": listed(answer.pairs),
        "summary": _counted(summary),
    }


_COUNTED = (
    *("rows", "references", "states", "removed", "kept", "clusters", "largest_cluster", "documents", "unsampled"),
    *("removed_below", "capped", "giants", "contamination", "repeated_ids", "notes"),
)


def _counts(told: dict[str, Any], ids: Sequence[Any]) -> dict[str, Any]:
    summary = {**told, **told["work"]}
    summary["giants"] = [(ids[one["survivor"]], one["documents"], one["keys"]) for one in told["giants"]]
    summary["capped"] = [tuple(one.values()) for one in told["capped"]]
    return {"summary": _counted(summary)}


def _counted(summary: dict[str, Any]) -> dict[str, Any]:
    """What a summary counts. Of repeated ids only their numbers: a cluster knows no first row."""
    told = {key: summary.get(key) for key in _COUNTED}
    if (repeated := told["repeated_ids"]) is not None:
        told["repeated_ids"] = repeated["ids"], repeated["rows"]
    return told


def bits(score: float) -> bytes:
    """The 32 bits of a score: equal means the same bytes."""
    return struct.pack("<f", score)
