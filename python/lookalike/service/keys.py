"""Answers to requests with an idempotency key, so that a repeated request gets the same answer and changes nothing.

One SQLite file, written by the keeper before an answer is given. A crash between the commit of an index and that of the
key loses the answer only: the repeated request finds the same documents with the same content, and leaves them alone.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from lookalike import params
from lookalike.service.faults import Fault, FaultError
from lookalike.service.settings import Settings

_DAY, _HOUR = 86_400, 3_600
REUSED = Fault(422, "key-reused", "this Idempotency-Key was sent with another request: use a new key")


class Key(NamedTuple):
    """A key of a client, and the digest of the request that it stands for."""

    owner: str
    archive: str
    key: str
    digest: str

    @property
    def name(self) -> tuple[str, str, str]:
        """What identifies it: keys of different clients and indexes are different."""
        return self.owner, self.archive, self.key


class Keys:
    """The answers. Only one thread at a time uses it."""

    def __init__(self, settings: Settings) -> None:
        path = os.path.join(settings.data, "keys.sqlite")
        self._base = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        os.chmod(path, 0o600)
        #: When old answers are looked for again.
        self._next_look = 0
        self._base.execute("PRAGMA journal_mode=WAL")
        self._base.execute("PRAGMA synchronous=FULL")
        self._base.execute(
            "CREATE TABLE IF NOT EXISTS answers (owner TEXT, name TEXT, key TEXT, digest TEXT NOT NULL, "
            "answer TEXT NOT NULL, time INTEGER NOT NULL, PRIMARY KEY (owner, name, key)) WITHOUT ROWID"
        )

    def find(self, key: Key) -> dict[str, Any] | None:
        """Return the answer to an earlier request. Errors: ``FaultError`` if that was another one."""
        row = self._base.execute(
            "SELECT digest, answer FROM answers WHERE owner = ? AND name = ? AND key = ?", key.name
        ).fetchone()
        if row is None:
            return None
        if row[0] != key.digest:
            raise FaultError(REUSED)
        found: dict[str, Any] = json.loads(row[1])
        return found

    def put(self, answers: Sequence[tuple[Key, dict[str, Any]]]) -> None:
        """Keep answers durably, and forget those that are too old."""
        now = int(time.time())
        rows = [(*key.name, key.digest, json.dumps(answer), now) for key, answer in answers]
        self._base.execute("BEGIN IMMEDIATE")
        try:
            if now >= self._next_look:
                self._base.execute("DELETE FROM answers WHERE time < ?", (now - params.KEY_DAYS * _DAY,))
                self._next_look = now + _HOUR
            self._base.executemany("REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)", rows)
            self._base.execute("COMMIT")
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the file."""
        self._base.close()
