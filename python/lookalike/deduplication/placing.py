"""Where the rows of an output come from, and what their ids are: two rows may have one id, a place is of one row."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence

from lookalike.corpora.batches import Quoted
from lookalike.deduplication.after import Kept
from lookalike.deduplication.picking import Row
from lookalike.deduplication.reading import Stretch


class Places:
    """The sources of a corpus, by the rows that begin them."""

    def __init__(self, stretches: Sequence[Stretch], kept: Sequence[Kept] = ()) -> None:
        """``kept``: documents of an index, which are numbered before all rows."""
        self._stretches, self._kept = stretches, kept
        self._firsts = [one.first for one in stretches]

    def __getitem__(self, row: int) -> tuple[str, int | None]:
        """Return the name of a row's source, and the row's number there, from 0; ``None`` if it is not known."""
        if row < len(self._kept):
            return self._kept[row].source, self._kept[row].row
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
