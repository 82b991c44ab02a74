"""Ids that several rows of a corpus have: how many there are, and the first two rows with one of them.

Every id of every row is counted, by a key of 64 bits in the core. Cost: 8 bytes per row while rows are read, and one
pass to the example if there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lookalike import _core
from lookalike._types import counted
from lookalike.deduplication.picking import Reading, pick
from lookalike.deduplication.placing import Places
from lookalike.deduplication.reading import Stretch


class RepeatedIds(NamedTuple):
    """Ids that name several rows. Ids are compared by keys of 64 bits; `1` and `"1"` are two ids."""

    ids: int
    #: Rows that have one of these ids.
    rows: int
    example: str
    #: Source and row, from 0, of the first two rows with the id of the example.
    first: tuple[str, int | None]
    second: tuple[str, int | None]

    def __str__(self) -> str:
        return told_repeated(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        places = [{"source": source, "row": row} for source, row in (self.first, self.second)]
        return {"ids": self.ids, "rows": self.rows, "example": self.example, "places": places}


def told_repeated(found: Mapping[str, Any]) -> str:
    """Return the words for repeated ids, as ``RepeatedIds.to_json`` has them. A cluster knows no places."""
    names = "names" if found["ids"] == 1 else "name"
    where = " and ".join(f"row {place['row']} of `{place['source']}`" for place in found["places"])
    told = (
        f"{counted(found['ids'], 'id')} {names} several rows ({found['rows']:,} in all), such as `{found['example']}`"
    )
    return f"{told}: {where}" if where else told


def repeated_ids(seen: _core.SeenIds, stretches: Sequence[Stretch], settings: Reading) -> RepeatedIds | None:
    """Return the ids that several rows have, if there are any. Cost: a sort, and a pass to the example."""
    found = seen.repeated()
    if found is None:
        return None
    ids, rows, first, second = found
    places = Places(stretches)
    # A row that is no longer there has no name: its file was changed since it was read.
    named = pick(stretches, [first], settings).get(first)
    return RepeatedIds(ids, rows, "" if named is None else named.name, places[first], places[second])
