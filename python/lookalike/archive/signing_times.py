"""Watches the times of rows while they are signed: counts those that cannot be read, and refuses a missing column.

Cost: one look at each signed record, only where a time column is given.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from lookalike import _core
from lookalike._types import Problem, counted
from lookalike.archive.view import meta_of
from lookalike.errors import ParameterError

#: Columns that a message names, and characters of a value that it shows.
_NAMED, _SHOWN = 10, 40


class Times:
    """The times of the rows of one source."""

    def __init__(self, source: str, column: str | None) -> None:
        self._source, self._column = source, column
        self._unread, self._first, self._is_checked = 0, "", False

    def look(self, records: list[bytes], *, is_named: bool) -> None:
        """Count the signed rows without a time. Errors: ``ParameterError`` if none of the first has the column.

        ``is_named``: a row has the column, also one that the index has already.
        """
        self._is_checked = self._is_checked or is_named
        if self._column is None or not records:
            return
        segment = _core.Segment.of_records(records, b"{}")
        rows = [segment.row(row) for row in range(segment.rows)]
        fields = [_fields(row.meta) for row in rows if row.time is None]
        if not self._is_checked and len(fields) == len(rows) and not any(self._column in one for one in fields):
            raise missing(self._source, self._column, fields)
        self._is_checked = True
        for one in fields:
            self._first = self._first or _told(one.get(self._column))
        self._unread += len(fields)

    def problems(self) -> list[Problem]:
        """Return a note on the rows whose time could not be read."""
        if not self._unread:
            return []
        reason = (
            f"time not read in {counted(self._unread, 'row')}, first: {self._first}; they have none. Use seconds since "
            "1970, 2024-12-31, 2024-12-31T23:59:00+01:00 or Tue, 31 Dec 2024 23:59:00 +0100"
        )
        return [Problem(self._source, f"column `{self._column}`", reason, self._unread, True)]


def missing(source: str, column: str, rows: Iterable[Any]) -> ParameterError:
    """Return the error that says which columns there are."""
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    there = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    choice = f"use one of {there}" if names else "its rows have no other columns, leave it out"
    return ParameterError(f"time column `{column}` is not in `{source}`: {choice}")


def _fields(meta: bytes) -> dict[str, Any]:
    found = meta_of(bytes(meta)).get("fields")
    return found if isinstance(found, dict) else {}


def _told(value: Any) -> str:
    if value is None:
        return "no value"
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
