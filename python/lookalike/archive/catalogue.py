"""The catalogue: a SQLite file that says which segments, removed rows and new documents an index consists of.

It is the one commit point: what a committed transaction says is the index, and nothing else is. WAL mode with
``synchronous=FULL`` makes each commit durable before it returns. It has no row per document except those of the tail.

The file may come from a stranger (FAULTS.md, D12): the schema must be exactly ours, so that no trigger or view runs;
every number is checked against its range; a digest covers the whole state. Tables and limits: FORMAT.md, "Catalogue".
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import uuid
from typing import Any
from urllib.parse import quote

from lookalike.archive import faults
from lookalike.archive.connection import GUARD, Connection, connected
from lookalike.archive.folder import NEW_CATALOGUE, Folder
from lookalike.archive.parameters import FORMAT
from lookalike.archive.state import OPTIONAL, Change, SegmentRow, State
from lookalike.engines.writing import sync
from lookalike.errors import VersionError

#: `look` in ASCII: the kind of the file, in SQLite's header.
APPLICATION = 0x6C6F6F6B
#: The tables, as SQLite keeps their text.
TABLES = {
    "about": "CREATE TABLE about (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID",
    "garbage": "CREATE TABLE garbage (name TEXT PRIMARY KEY) WITHOUT ROWID",
    "removed": "CREATE TABLE removed (number INTEGER PRIMARY KEY, bitmap BLOB NOT NULL)",
    "segments": "CREATE TABLE segments (number INTEGER PRIMARY KEY, name TEXT NOT NULL, seal TEXT NOT NULL, "
    "length INTEGER NOT NULL, rows INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, "
    "level INTEGER NOT NULL)",
    "tail": "CREATE TABLE tail (arrival INTEGER PRIMARY KEY, record BLOB NOT NULL)",
}


class Catalogue:
    """An open catalogue. It is used by one thread at a time (``turn``); only the process that opened it writes."""

    def __init__(self, folder: Folder, *, write: bool) -> None:
        """Open and check the catalogue of a folder. Errors: ``DamagedError``, ``VersionError``, ``OSError``."""
        self.folder = folder
        folder.check_index()
        self._connection = Connection(folder, self._check_kind, write=write)
        self.process, self.turn = self._connection.process, self._connection.turn
        try:
            with self.turn, faults.spoken(folder.catalogue):
                self._connection.base()
        except BaseException:
            self.close()
            raise

    @property
    def _base(self) -> sqlite3.Connection:
        return self._connection.base()

    @classmethod
    def create(cls, folder: Folder, parameters: str) -> None:
        """Make the catalogue of a new index; it appears whole or not at all. REQUIRES: the writer's lock.

        Errors: ``FileExistsError`` if there is one, ``OSError``.
        """
        new = folder.file(NEW_CATALOGUE)
        for name in (new, *(f"{new}-{kind}" for kind in ("wal", "shm", "journal"))):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
        with GUARD, faults.spoken(new):
            base = connected(f"file:{quote(new)}?mode=rwc")
            try:
                _make(base, State(uuid.uuid4().hex, parameters, shadows=0))
            finally:
                base.close()
        sync(new)
        publish(folder)

    def _check_kind(self, base: sqlite3.Connection) -> None:
        """Check kind, version, schema and pages of the file. Errors: ``DamagedError``, ``VersionError``."""
        with faults.spoken(self.folder.catalogue):
            (kind,), (version,) = base.execute("PRAGMA application_id"), base.execute("PRAGMA user_version")
            if kind[0] == APPLICATION and version[0] > FORMAT:
                raise VersionError(
                    f"index `{self.folder.path}` was made by format {version[0]}, this program reads ≤ {FORMAT}: "
                    "use a newer version of lookalike"
                )
            schema = base.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name").fetchall()
            if kind[0] != APPLICATION or version[0] != FORMAT or schema != _schema():
                raise faults.damaged(self.folder.catalogue, "it is not the catalogue of an index")
            found = base.execute("PRAGMA quick_check(1)").fetchone()
            if found != ("ok",):
                raise faults.damaged(self.folder.catalogue, "SQLite finds its pages inconsistent")

    def generation(self) -> int:
        """Return the number of the last commit. Cost: one read of a page in memory."""
        with self.turn, faults.spoken(self.folder.catalogue):
            row = self._base.execute("SELECT value FROM about WHERE key = 'generation'").fetchone()
        if row is None or type(row[0]) is not int:
            raise faults.damaged(self.folder.catalogue, "it has no generation")
        return row[0]

    def read(self, after: int = 0) -> tuple[State, list[tuple[int, bytes]]]:
        """Return the state, and the records of the tail that arrived after a number, from one transaction."""
        with self.turn, faults.spoken(self.folder.catalogue):
            self._base.execute("BEGIN")
            try:
                state = self._state()
                records = self._base.execute("SELECT arrival, record FROM tail WHERE arrival > ? ORDER BY 1", (after,))
                tail = records.fetchall()
            finally:
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")
        if any(type(record) is not bytes for _, record in tail):
            raise faults.damaged(self.folder.catalogue, "a record of the tail has another type")
        return state, tail

    def _state(self) -> State:
        about = dict(self._base.execute("SELECT key, value FROM about"))
        segments = self._base.execute(
            "SELECT number, name, seal, length, rows, first, last, level FROM segments ORDER BY first"
        )
        try:
            seal = about.pop("seal")
            state = State(
                **about,
                segments=tuple(SegmentRow.of(row) for row in segments),
                removed={number: _bytes(bitmap) for number, bitmap in self._base.execute("SELECT * FROM removed")},
                arrivals=tuple(arrival for (arrival,) in self._base.execute("SELECT arrival FROM tail ORDER BY 1")),
                garbage=frozenset(name for (name,) in self._base.execute("SELECT name FROM garbage")),
            )
            state.check()
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise faults.damaged(self.folder.catalogue, f"it is inconsistent ({error})") from None
        if seal != state.seal():
            raise faults.damaged(self.folder.catalogue, "it fails its checksum")
        return state

    def apply(self, state: State, change: Change) -> State:
        """Commit a change, durably, and return the new state. REQUIRES: the writer's lock; ``state`` is the newest.

        Errors: ``LockedError`` if another process has committed since ``state``, ``OSError``. The transaction is then
        rolled back.
        """
        new = change.after(state)
        new.check()
        self.folder.check_same()
        with self.turn, faults.spoken(self.folder.catalogue):
            try:
                self._base.execute("BEGIN IMMEDIATE")
                if self.generation() != state.generation:
                    raise faults.overtaken(self.folder.path)
                self._write(change, new)
                self._base.execute("COMMIT")
            except BaseException:
                if self._base.in_transaction:
                    with contextlib.suppress(sqlite3.Error):
                        self._base.execute("ROLLBACK")
                raise
        return new

    def _write(self, change: Change, new: State) -> None:
        many = self._base.executemany
        many("DELETE FROM segments WHERE number = ?", ((number,) for number in change.dropped))
        many("DELETE FROM removed WHERE number = ?", ((number,) for number in change.dropped))
        many("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (one.stored() for one in change.made))
        many(
            "REPLACE INTO removed VALUES (?, ?)",
            ((one, new.removed[one]) for one in change.removed if one in new.removed),
        )
        many("DELETE FROM tail WHERE arrival = ?", ((arrival,) for arrival in change.untailed))
        many("INSERT INTO tail VALUES (?, ?)", change.tail)
        many("REPLACE INTO garbage VALUES (?)", ((name,) for name in change.garbage))
        many("DELETE FROM garbage WHERE name = ?", ((name,) for name in change.kept))
        many("DELETE FROM about WHERE key = ?", ((name,) for name in OPTIONAL if name not in new.about()))
        many("REPLACE INTO about VALUES (?, ?)", [*new.about().items(), ("seal", new.seal())])

    def erase(self) -> None:
        """Rewrite the file without free pages, and empty its journal, so that deleted rows leave no bytes behind.

        Errors: ``LockedError`` if a reader keeps the journal for more than ten seconds, ``OSError``.
        """
        with self.turn, faults.spoken(self.folder.catalogue):
            self._base.execute("VACUUM")
            busy = self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise faults.kept(self.folder.path)

    def write_back(self) -> None:
        """Write the journal back, as far as readers and the disk let it: it begins anew. Errors: ``OSError``."""
        with self.turn, faults.spoken(self.folder.catalogue):
            self._base.execute("PRAGMA wal_checkpoint(RESTART)")

    def problems(self) -> list[str]:
        """Return what SQLite's full check finds."""
        with self.turn, faults.spoken(self.folder.catalogue):
            found = [row[0] for row in self._base.execute("PRAGMA integrity_check(20)")]
        return [] if found == ["ok"] else [str(one) for one in found]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def publish(folder: Folder) -> None:
    """Give a new catalogue its name, durably; never in the place of another one. Errors: ``FileExistsError``."""
    new = folder.file(NEW_CATALOGUE)
    folder.sync()
    try:
        os.link(new, folder.catalogue)
    except FileExistsError:
        raise FileExistsError(errno.EEXIST, "is an index already: choose another path", folder.path) from None
    except OSError:
        # A file system without links: the lock has to do.
        if os.path.lexists(folder.catalogue):
            raise
        os.rename(new, folder.catalogue)
    else:
        os.unlink(new)
    folder.sync()


def rewrite(path: str, state: State, tail: list[tuple[int, bytes]]) -> None:
    """Make a new catalogue file with a state; for backups and repairs. Errors: ``OSError``."""
    with GUARD, faults.spoken(path):
        base = connected(f"file:{quote(path)}?mode=rwc")
        try:
            _make(base, state, tail)
        finally:
            base.close()
    sync(path)


def _make(base: sqlite3.Connection, state: State, tail: list[tuple[int, bytes]] | None = None) -> None:
    """Fill an empty database."""
    state.check()
    base.execute("BEGIN")
    for table in TABLES.values():
        base.execute(table)
    base.execute(f"PRAGMA application_id = {APPLICATION}")
    base.execute(f"PRAGMA user_version = {FORMAT}")
    base.executemany("INSERT INTO about VALUES (?, ?)", [*state.about().items(), ("seal", state.seal())])
    base.executemany("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (one.stored() for one in state.segments))
    base.executemany("INSERT INTO removed VALUES (?, ?)", state.removed.items())
    base.executemany("INSERT INTO tail VALUES (?, ?)", tail or [])
    base.executemany("INSERT INTO garbage VALUES (?)", ((name,) for name in state.garbage))
    base.execute("COMMIT")
    base.execute("PRAGMA journal_mode=WAL")


def _schema() -> list[tuple[str, str, str, str]]:
    return [("table", name, name, text) for name, text in sorted(TABLES.items())]


def _bytes(value: Any) -> bytes:
    if type(value) is not bytes:
        raise ValueError("a bitmap has another type")
    return value
