"""Limits on pairs of fingerprints: similar lengths, and the same language (Manku 2007, §6 A and C).

Lengths and languages are columns of the files, with the names that ``lookalike simhash`` gives them. A row of which the
language is not known is in no pair. Cost: see ``row_limits.rs``; no object per row.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from lookalike import _core
from lookalike.errors import ParameterError
from lookalike.neighbours.rows import Prints

#: Names of the columns.
LENGTH, LANGUAGE = "length", "language"


@dataclass(frozen=True)
class Limits:
    """What was asked for."""

    length_within: float | None = None
    same_language: bool = False

    @property
    def asked(self) -> list[tuple[str, str]]:
        """The names of the limits that were asked for, each with its column."""
        lengths = [("length_within", LENGTH)] if self.length_within is not None else []
        return lengths + ([("same_language", LANGUAGE)] if self.same_language else [])

    @property
    def columns(self) -> list[str]:
        """The columns that they need."""
        return [column for _, column in self.asked]

    def traits(self, rows: Prints, name: str) -> tuple[_core.Column | None, _core.Column | None]:
        """Return lengths and languages of rows of the file ``name``. Errors: ``ParameterError``."""
        found = dict(zip(self.columns, rows.others, strict=True))
        lengths = _lengths(rows.ids, found[LENGTH], name) if LENGTH in found else None
        return lengths, found.get(LANGUAGE)

    def check(self, is_table: bool, queries: object) -> None:
        """Errors: ``ParameterError`` if a share is out of range, or if what is searched has no such columns."""
        share = self.length_within
        if share is not None and not 0 <= share <= 1:
            raise ParameterError(f"length_within `{share}` must be 0 to 1, such as 0.2")
        for name, column in self.asked:
            if is_table:
                raise ParameterError(f"{name} needs the column `{column}`, and a saved table has none: search the file")
            if queries is not None and not isinstance(queries, str | os.PathLike):
                raise ParameterError(
                    f"{name} needs the column `{column}`, and fingerprints alone have none: give queries in a file"
                )


def _lengths(ids: Sequence[str], texts: _core.Column, name: str) -> _core.Column:
    """Return lengths as numbers. Errors: ``ParameterError``, which names the first row without one."""
    numbers = _core.whole_numbers(texts)
    if numbers is not None:
        return numbers
    row = next(row for row, text in enumerate(texts) if _core.whole_numbers([text]) is None)
    raise ParameterError(
        f"`{name}`, id `{ids[row]}`: {LENGTH} `{texts[row]}` is not a whole number of tokens: correct it, or leave out "
        "length_within"
    )
