"""The order of rows by a column, where that is not the order in which they stand.

The column is read by a pass of its own, as ids are. Its values are whole numbers, which are compared as numbers, or
strings, which are compared by their bytes in UTF-8. Each row has its own value: with ties an order would depend on
where rows lie.

Cost: one pass over the sources, and a sort; a string per row while it lasts.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from lookalike.corpora.batches import Quoted
from lookalike.deduplication.picking import pick
from lookalike.deduplication.reading import Stretch
from lookalike.deduplication.settings import Settings
from lookalike.errors import ParameterError

_WHOLE = re.compile(r"-?\d+")


def places(parts: Sequence[Sequence[Stretch]], asked: Settings) -> array[int]:
    """Return the place of each row among the rows of its part. The stretches were opened with the order as ids.

    Errors: ``ParameterError`` for a row without a value, a value of two rows, or numbers beside strings.
    """
    read = replace(asked, id_column=asked.order)
    found = array("I")
    for stretches in parts:
        rows = sum(stretch.rows for stretch in stretches)
        first = stretches[0].first if stretches else 0
        named = pick(stretches, range(first, first + rows), read)
        values = [named[row].name if named[row].is_named else None for row in range(first, first + rows)]
        found.extend(_places(values, str(asked.order)))
    return found


def _places(values: Sequence[str | None], column: str) -> array[int]:
    """Return the place of each value in their order. Errors: as ``places``."""
    keys = _keys(values, column)
    order = sorted(range(len(keys)), key=keys.__getitem__)
    for one, other in pairwise(order):
        if keys[one] == keys[other]:
            raise ParameterError(
                f"order column `{column}` has `{values[one]}` in rows {one:,} and {other:,}: every row needs a value "
                "of its own, so that the answer does not depend on where a row lies"
            )
    found = array("I", bytes(4 * len(keys)))
    for place, row in enumerate(order):
        found[row] = place
    return found


def _keys(values: Sequence[str | None], column: str) -> list[int] | list[bytes]:
    """Return what is compared."""
    if None in values:
        raise ParameterError(
            f"order column `{column}` has no value in row {values.index(None):,}: every row needs a value of its own; "
            "without an order, rows that cannot be read are listed"
        )
    given = [value for value in values if value is not None]
    strings = sum(isinstance(value, Quoted) for value in given)
    if not strings and all(_WHOLE.fullmatch(value) for value in given):
        return [int(value) for value in given]
    if strings not in (0, len(given)):
        raise ParameterError(f"order column `{column}` holds numbers and strings: use one of them in all rows")
    return [value.encode("utf-8", "surrogatepass") for value in given]
