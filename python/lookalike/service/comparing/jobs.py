"""The jobs of comparisons, in one SQLite file: which exist, whose they are, and how far each has come.

::

    uploading ─▶ waiting ─▶ running ─▶ done
        │           │  ▲──────┤  └───▶ failed
        └───────────┴─────────┴──────▶ cancelled

Each change is one durable transaction (write-ahead log, synchronous=FULL), made only from a state that allows it. A job
that was running when the server died waits again; after ``attempts`` tries it has failed, and says why. One process
opens the file, and one thread at a time uses it. Cost: one fsync per change, about a millisecond.

What is deleted is overwritten with zeros, and the log is emptied before the call returns: no byte of it is in a file.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from lookalike.errors import FormatError, LookalikeError

UPLOADING, WAITING, RUNNING = "uploading", "waiting", "running"
DONE, FAILED, CANCELLED = "done", "failed", "cancelled"
#: States that a job never leaves.
FINAL = (DONE, FAILED, CANCELLED)
STATES = (UPLOADING, WAITING, RUNNING, *FINAL)
#: Version of the tables, kept as the file's ``user_version``.
VERSION = 2
#: Random bytes of the id, which its owner uses with a token, and of the address, which opens the report without one.
ID_BYTES, ADDRESS_BYTES = 12, 24
_SCHEMA = """
CREATE TABLE jobs (
    id TEXT PRIMARY KEY, address TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, origin TEXT NOT NULL, state TEXT NOT NULL,
    options TEXT NOT NULL, created REAL NOT NULL, started REAL, finished REAL, expires REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, reason TEXT, summary TEXT, key TEXT, digest TEXT,
    bytes INTEGER NOT NULL DEFAULT 0, files INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX jobs_by_key ON jobs (owner, key) WHERE key IS NOT NULL;
CREATE INDEX jobs_by_owner ON jobs (owner, created, id);
CREATE INDEX jobs_by_state ON jobs (state, created, id);
CREATE TABLE files (
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE, role TEXT NOT NULL, path BLOB NOT NULL,
    stored TEXT NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY (job, role, path)
) STRICT, WITHOUT ROWID;
"""
#: From version 1 on: what is uploaded is counted in its job.
_COUNTED = """
ALTER TABLE jobs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN files INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET bytes = (SELECT coalesce(sum(bytes), 0) FROM files WHERE job = id),
    files = (SELECT count(*) FROM files WHERE job = id);
"""
_COLUMNS = (
    "id, address, owner, origin, state, options, created, started, finished, expires, attempts, reason, summary, "
    "bytes, files"
)
#: Before the name of a token that owned a job of version 1 and is gone: no id of a token has a colon.
GONE = "gone:"


class FullError(LookalikeError):
    """Too many jobs are waiting: come back later."""


class StateError(LookalikeError):
    """The job is in a state that does not allow what was asked."""


class TooLargeError(LookalikeError):
    """The files of a job are larger or more than allowed."""


def no_room(most: int) -> str:
    """Return what an owner is told who has as much as the server keeps."""
    return f"your comparisons would take more than {most:,} bytes, the most this server keeps for you: delete some"


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it is now."""

    id: str
    address: str
    #: The id of the token that created it.
    owner: str
    #: The interface that created it: `http` or `moss`.
    origin: str
    state: str
    options: dict[str, Any] = field(hash=False)
    created: float
    started: float | None
    finished: float | None
    expires: float
    #: How often it was started.
    attempts: int
    #: Why it failed or was cancelled.
    reason: str | None
    summary: dict[str, Any] | None = field(hash=False)
    #: Bytes and number of the files that were uploaded.
    bytes: int
    files: int

    @property
    def is_final(self) -> bool:
        """Whether it stays in its state."""
        return self.state in FINAL


class Stored(NamedTuple):
    """An uploaded file: what it is for, its label, its name in the folder of uploads, and its size."""

    role: str
    path: str
    stored: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be kept."""

    #: Jobs that are being uploaded or wait, together.
    queue: int
    #: Starts of one job.
    attempts: int
    #: Files of one job, and their bytes together.
    files: int
    bytes: int
    #: Bytes of all jobs of one owner: uploads, and reports that are not deleted.
    kept: int
    #: Seconds after which a finished job, and one that was never started, is deleted.
    retain: float
    upload: float
    #: Seconds after which one is deleted that was not started and gets no more files.
    idle: float = float("inf")
    #: Whether an owner may only have as many open jobs as there are free places, so that others get in.
    is_shared: bool = False


class Jobs:
    """The file of jobs."""

    def __init__(self, path: Path, limits: Limits, owners: Mapping[str, str] = MappingProxyType({})) -> None:
        """Open or create the file; ``owners`` are ids of tokens by name, for a file of version 1, which had names.

        Errors: ``FormatError`` if it is not a file of jobs, or of a newer version.
        """
        self._limits = limits
        #: Jobs of version 1 that belong to nobody now, because no token, or several, has the name of their owner.
        self.ownerless = 0
        if path.name != ":memory:":
            path.touch(mode=0o600)
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(owners)
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise FormatError(f"the file of jobs `{path.name}` cannot be used: {error}; move it away") from None
        except FormatError:
            self._connection.close()
            raise

    def _prepare(self, owners: Mapping[str, str]) -> None:
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"):
            self._connection.execute(f"PRAGMA {pragma}")
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            self._connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
        elif version == 1:
            self._upgrade(owners)
        elif version != VERSION:
            raise FormatError(f"the file of jobs has format {version}, and this version of lookalike reads {VERSION}")

    def _upgrade(self, owners: Mapping[str, str]) -> None:
        """Make version 2 of version 1, all or nothing."""
        with _Transaction(self._connection):
            for statement in _COUNTED.split(";"):
                self._connection.execute(statement)
            # Without a file of tokens the owner is empty, then and now.
            for (name,) in self._connection.execute("SELECT DISTINCT owner FROM jobs WHERE owner != ''").fetchall():
                owner = owners.get(name, f"{GONE}{name}")
                found = self._connection.execute("UPDATE jobs SET owner = ? WHERE owner = ?", (owner, name))
                self.ownerless += found.rowcount if name not in owners else 0
            self._connection.execute(f"PRAGMA user_version = {VERSION}")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def create(self, owner: str, origin: str, options: dict[str, Any], now: float) -> Job:
        """Create a job that waits for its files. Errors: ``FullError``, ``TooLargeError``."""
        with _Transaction(self._connection):
            self._check_room(owner, 1)
            self._check_queue(owner)
            made = secrets.token_hex(ID_BYTES), secrets.token_urlsafe(ADDRESS_BYTES)
            self._connection.execute(
                "INSERT INTO jobs (id, address, owner, origin, state, options, created, expires) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *made,
                    owner,
                    origin,
                    UPLOADING,
                    json.dumps(options),
                    now,
                    now + min(self._limits.upload, self._limits.idle),
                ),
            )
        return self._job("id", made[0])

    def _check_queue(self, owner: str) -> None:
        """Refuse one more open job. Errors: ``FullError``."""
        open_jobs, own = self._one(
            "SELECT count(*), coalesce(sum(owner = ?), 0) FROM jobs WHERE state IN (?, ?)", owner, UPLOADING, WAITING
        )
        free = self._limits.queue - open_jobs
        if free <= 0:
            raise FullError(f"{open_jobs:,} comparisons are waiting, the most this server holds: try again later")
        if self._limits.is_shared and own >= free:
            raise FullError(
                f"{own:,} comparisons of your token are waiting, and {free:,} places are left for others: start or "
                "delete some, or try again later"
            )

    def keep_key(self, name: str, key: str, digest: str) -> tuple[str, bool]:
        """Let the idempotency key of its owner stand for a job, unless it stands for an earlier one.

        Returns the job that it stands for, and whether that was made of the same request. Errors: ``StateError``.
        """
        with _Transaction(self._connection):
            owner = self._job("id", name).owner
            query = "SELECT id, digest FROM jobs WHERE owner = ? AND key = ?"
            found = self._connection.execute(query, (owner, key)).fetchone()
            if found is None:
                self._set(name, key=key, digest=digest)
        return (name, True) if found is None else (found[0], found[1] == digest)

    def get(self, name: str, owner: str | None = None) -> Job | None:
        """Return a job by its id, or ``None``; with an ``owner`` only a job of that owner exists."""
        found = self._find("id", name)
        return found if found is not None and owner in (None, found.owner) else None

    def at(self, address: str, now: float) -> Job | None:
        """Return the job whose report has this address, until it expires."""
        found = self._find("address", address)
        return found if found is not None and now < found.expires else None

    def listed(self, owner: str, after: tuple[float, str] | None, limit: int) -> list[Job]:
        """Return jobs of an owner, the newest first; ``after`` is creation time and id of the last one known."""
        place = after or (float("inf"), "")
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM jobs WHERE owner = ? AND (created, id) < (?, ?) "
            "ORDER BY created DESC, id DESC LIMIT ?",
            (owner, *place, limit),
        )
        return [_job(row) for row in rows]

    def add_files(self, name: str, files: Sequence[Stored], now: float = 0.0) -> list[str]:
        """Record uploaded files; return the stored names of those that they replace.

        Errors: ``StateError``, ``TooLargeError``.
        """
        replaced = []
        with _Transaction(self._connection):
            job = self._expect(name, (UPLOADING,), "takes no more files")
            has_archive = self._one("SELECT count(*) FROM files WHERE job = ? AND role = 'archive'", name)[0]
            if has_archive and any(one.role == "submissions" for one in files):
                raise StateError("the submissions of this comparison came as a zip archive: it takes no more of them")
            size, count = job.bytes, job.files
            for one in files:
                key = name, one.role, one.path.encode("utf-8", "surrogateescape")
                old = self._connection.execute(
                    "DELETE FROM files WHERE job = ? AND role = ? AND path = ? RETURNING stored, bytes", key
                ).fetchall()
                replaced += [stored for stored, _ in old]
                size, count = size + one.bytes - sum(freed for _, freed in old), count + 1 - len(old)
                self._connection.execute("INSERT INTO files VALUES (?, ?, ?, ?, ?)", (*key, one.stored, one.bytes))
            expires = max(job.expires, min(now + self._limits.idle, job.created + self._limits.upload))
            self._set(name, bytes=size, files=count, expires=expires)
            if count > self._limits.files:
                raise TooLargeError(f"a comparison takes at most {self._limits.files:,} files: upload a zip archive")
            if size > self._limits.bytes:
                raise TooLargeError(self.too_large())
            self._check_room(job.owner, 0)
        return replaced

    def too_large(self) -> str:
        """Return what is told of a job with too many bytes."""
        return f"a comparison takes at most {self._limits.bytes:,} bytes"

    def check_growth(self, name: str, owner: str, job_bytes: int, owner_bytes: int) -> Job:
        """Return a job whose uploads under way take so many bytes, and all of its owner so many.

        Errors: ``StateError``, ``TooLargeError``.
        """
        job = self._expect(name, (UPLOADING,), "takes no more files")
        if job.bytes + job_bytes > self._limits.bytes:
            raise TooLargeError(self.too_large())
        self._check_room(owner, owner_bytes)
        return job

    def room(self, owner: str) -> int:
        """Return how many more bytes an owner may have here. Cost: linear in the jobs of the owner."""
        (kept,) = self._one(
            "SELECT coalesce(sum(bytes + coalesce(json_extract(summary, '$.bytes'), 0)), 0) FROM jobs WHERE owner = ?",
            owner,
        )
        return int(self._limits.kept - kept)

    def _check_room(self, owner: str, more: int) -> None:
        """Refuse more bytes than an owner may have. Errors: ``TooLargeError``."""
        if self.room(owner) < more:
            raise TooLargeError(no_room(self._limits.kept))

    def files(self, name: str) -> list[Stored]:
        """Return the files of a job, by role and path."""
        rows = self._connection.execute(
            "SELECT role, path, stored, bytes FROM files WHERE job = ? ORDER BY role, path", (name,)
        )
        return [
            Stored(role, path.decode("utf-8", "surrogateescape"), stored, size) for role, path, stored, size in rows
        ]

    def start(self, name: str, options: dict[str, Any] | None = None) -> None:
        """Let a job wait for its turn, with these options if there are any. Errors: ``StateError``."""
        with _Transaction(self._connection):
            self._expect(name, (UPLOADING,), "was started already")
            self._set(name, state=WAITING, **({} if options is None else {"options": json.dumps(options)}))

    def claim(self, now: float) -> Job | None:
        """Take the job that has waited longest and let it run."""
        with _Transaction(self._connection):
            row = self._connection.execute(
                "SELECT id FROM jobs WHERE state = ? ORDER BY created, id LIMIT 1", (WAITING,)
            ).fetchone()
            if row is None:
                return None
            self._connection.execute("UPDATE jobs SET attempts = attempts + 1 WHERE id = ?", row)
            self._set(row[0], state=RUNNING, started=now)
        return self._job("id", row[0])

    def finish(self, name: str, summary: dict[str, Any], now: float) -> None:
        """Record the result of a running job. Its uploads are no longer listed. Errors: ``StateError``."""
        with _Transaction(self._connection):
            self._expect(name, (RUNNING,), "does not run")
            self._end(name, DONE, now, summary=json.dumps(summary))

    def fail(self, name: str, reason: str, now: float) -> None:
        """Record why a job has no result. Errors: ``StateError``."""
        with _Transaction(self._connection):
            self._expect(name, (UPLOADING, WAITING, RUNNING), "is over")
            self._end(name, FAILED, now, reason=reason)

    def cancel(self, name: str, now: float) -> None:
        """Record that a job is not wanted any more. Errors: ``StateError``."""
        with _Transaction(self._connection):
            self._expect(name, (UPLOADING, WAITING, RUNNING), "is over")
            self._end(name, CANCELLED, now, reason="it was cancelled")
        self.erase()

    def delete(self, name: str) -> None:
        """Forget a job, whatever its state. Afterwards no file has a byte of it."""
        with _Transaction(self._connection):
            self._connection.execute("DELETE FROM jobs WHERE id = ?", (name,))
        self.erase()

    def erase(self) -> None:
        """Empty the write-ahead log, which still holds what was deleted."""
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def wait_again(self, name: str) -> None:
        """Let a running job wait again without counting the start: the server stops, the job did nothing wrong."""
        with _Transaction(self._connection):
            self._expect(name, (RUNNING,), "does not run")
            self._connection.execute("UPDATE jobs SET attempts = attempts - 1 WHERE id = ?", (name,))
            self._set(name, state=WAITING)

    def recover(self, now: float) -> tuple[list[Job], list[Job]]:
        """Put jobs in order after the server died; return those that wait again, and those that failed.

        Uploads over the MOSS protocol are over with their connection, so such jobs are deleted.
        """
        again, failed = [], []
        with _Transaction(self._connection):
            self._connection.execute("DELETE FROM jobs WHERE state = ? AND origin = 'moss'", (UPLOADING,))
            for (name,) in self._connection.execute("SELECT id FROM jobs WHERE state = ?", (RUNNING,)).fetchall():
                job = self._job("id", name)
                if job.attempts < self._limits.attempts:
                    self._set(name, state=WAITING)
                    again.append(name)
                    continue
                reason = f"the server stopped {job.attempts} times while this comparison ran: send less, or try again"
                self._end(name, FAILED, now, reason=reason)
                failed.append(name)
        self.erase()
        return [self._job("id", name) for name in again], [self._job("id", name) for name in failed]

    def expired(self, now: float) -> list[Job]:
        """Return the jobs whose time is over. Those that wait or run are kept until they are done."""
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM jobs WHERE expires <= ? AND state NOT IN (?, ?)", (now, WAITING, RUNNING)
        )
        return [_job(row) for row in rows]

    def counts(self) -> dict[str, int]:
        """Return how many jobs are in each state."""
        found = dict(self._connection.execute("SELECT state, count(*) FROM jobs GROUP BY state").fetchall())
        return {state: found.get(state, 0) for state in STATES}

    def names(self) -> set[str]:
        """Return the ids of all jobs."""
        return {name for (name,) in self._connection.execute("SELECT id FROM jobs")}

    def recorded(self) -> dict[str, set[str]]:
        """Return the stored names of the uploads of each job that takes files or waits."""
        found: dict[str, set[str]] = {name: set() for name in self.names()}
        for name, stored in self._connection.execute("SELECT job, stored FROM files"):
            found[name].add(stored)
        return found

    def _end(self, name: str, state: str, now: float, **values: str) -> None:
        self._connection.execute("DELETE FROM files WHERE job = ?", (name,))
        self._set(name, state=state, finished=now, expires=now + self._limits.retain, bytes=0, files=0, **values)

    def _set(self, name: str, **values: str | float | None) -> None:
        assigned = ", ".join(f"{column} = ?" for column in values)
        self._connection.execute(f"UPDATE jobs SET {assigned} WHERE id = ?", (*values.values(), name))

    def _expect(self, name: str, states: Iterable[str], refusal: str) -> Job:
        """Return a job that is in one of these states. Errors: ``StateError``."""
        job = self._find("id", name)
        if job is None:
            raise StateError("the comparison does not exist any more")
        if job.state not in states:
            raise StateError(f"the comparison is {job.state}: it {refusal}")
        return job

    def _find(self, column: str, value: str) -> Job | None:
        row = self._connection.execute(f"SELECT {_COLUMNS} FROM jobs WHERE {column} = ?", (value,)).fetchone()
        return None if row is None else _job(row)

    def _job(self, column: str, value: str) -> Job:
        found = self._find(column, value)
        if found is None:
            raise StateError("the comparison does not exist any more")
        return found

    def _one(self, query: str, *values: Any) -> tuple[Any, ...]:
        row: tuple[Any, ...] = self._connection.execute(query, values).fetchone()
        return row


class _Transaction:
    """Commits at the end of a block; an error undoes all of it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        self._connection.execute("COMMIT" if kind is None else "ROLLBACK")


def _job(row: Sequence[Any]) -> Job:
    values = list(row)
    values[5] = json.loads(values[5])
    values[12] = None if values[12] is None else json.loads(values[12])
    return Job(*values)
