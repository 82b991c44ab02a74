"""Reads what can be read of a damaged catalogue, and counts the new documents that cannot be read.

SQLite stops at the first damaged page of a table, or passes over rows without a word. So the records of the tail are
looked up one by one, and a page costs only the records on it. Cost: a lookup per arrival since the last segment.
"""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass, field
from urllib.parse import quote

from lookalike.archive.folder import Folder

#: What SQLite raises when it reads a damaged file.
_DAMAGE = (sqlite3.Error, sqlite3.Warning, OverflowError)
#: Arrivals that are looked up at the most: a damaged catalogue may name any number.
_MOST = 1 << 20


@dataclass
class Remains:
    """What is left of a catalogue."""

    #: New documents by arrival.
    tail: list[tuple[int, bytes]] = field(default_factory=list)
    #: Bitmaps of removed rows by the number of their segment.
    removed: dict[int, bytes] = field(default_factory=dict)
    #: The single values.
    about: dict[str, object] = field(default_factory=dict)
    #: New documents that cannot be read, at most: removed ones are among them. ``None`` if nobody can say how many.
    unread: int | None = None


def remains(folder: Folder, last: int) -> Remains:
    """Return what can be read of a catalogue. ``last``: the last arrival that is in a segment."""
    found = Remains()
    with (
        contextlib.suppress(*_DAMAGE),
        contextlib.closing(sqlite3.connect(f"file:{quote(folder.catalogue)}?mode=ro", uri=True)) as base,
    ):
        base.execute("PRAGMA trusted_schema=OFF")
        about, removed, tail = (_rows(base, name) for name in ("about", "removed", "tail"))
        found.about = {str(key): value for key, value in about}
        found.removed = {n: b for n, b in removed if isinstance(n, int) and isinstance(b, bytes)}
        end = found.about.get("next_arrival")
        arrivals = range(last + 1, end) if isinstance(end, int) and end <= last + _MOST else range(0)
        tail += _looked_up(base, arrivals)
        found.tail = sorted({a: r for a, r in tail if isinstance(a, int) and a > 0 and isinstance(r, bytes)}.items())
        if isinstance(end, int) and last < end <= last + _MOST:
            found.unread = len(arrivals) - sum(arrival in arrivals for arrival, _ in found.tail)
    return found


def _rows(base: sqlite3.Connection, table: str) -> list[tuple[object, object]]:
    """Return the rows of a table up to the first damage."""
    rows: list[tuple[object, object]] = []
    with contextlib.suppress(*_DAMAGE):
        rows += (row for row in base.execute(f"SELECT * FROM {table}") if len(row) == 2)
    return rows


def _looked_up(base: sqlite3.Connection, arrivals: range) -> list[tuple[object, object]]:
    """Return the records of these arrivals that can be read."""
    rows: list[tuple[object, object]] = []
    for arrival in arrivals:
        with contextlib.suppress(*_DAMAGE):
            rows += base.execute("SELECT arrival, record FROM tail WHERE arrival = ?", (arrival,)).fetchall()
    return rows
