"""Where the rows of an output come from, and what their ids are: two rows may have one id, a place is of one row."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence

from lookalike._types import Problem, counted
from lookalike.deduplication.picking import Quoted, Row
from lookalike.deduplication.reading import Stretch


class Places:
    """The sources of a corpus, by the rows that begin them."""

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        self._stretches = stretches
        self._firsts = [one.first for one in stretches]

    def __getitem__(self, row: int) -> tuple[str, int]:
        """Return the name of a row's source, and the row's number there, from 0."""
        # Several sources may begin at this row; all but the last of them are empty.
        own = self._stretches[bisect_right(self._firsts, row) - 1]
        return own.source.name, row - own.first


def told_apart(names: dict[int, Row]) -> dict[int, Row]:
    """Write the id `"1"` in quotes where another row has the id `1`."""
    plain = {row.name for row in names.values() if row.is_named and not isinstance(row.name, Quoted)}
    return {
        number: row._replace(name=json.dumps(row.name, ensure_ascii=False))
        if isinstance(row.name, Quoted) and row.name in plain
        else row
        for number, row in names.items()
    }


def repeated(names: dict[int, Row], places: Places) -> list[Problem]:
    """Return a note on ids that name several of the rows, if there are any."""
    first: dict[str, int] = {}
    again: dict[str, int] = {}
    for number, row in names.items():
        if row.is_named and first.setdefault(row.name, number) != number:
            again.setdefault(row.name, number)
    if not again:
        return []
    example, second = next(iter(again.items()))
    where = " and ".join(f"row {row} of `{source}`" for source, row in (places[first[example]], places[second]))
    what = f"{counted(len(again), 'id')} of the rows in these outputs {'names' if len(again) == 1 else 'name'} several"
    return [Problem("", "", f"{what}, such as `{example}`: {where}; source and row tell them apart", is_note=True)]
