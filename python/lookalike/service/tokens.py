"""Tokens: who may ask what. The file holds the SHA-256 of each token, never the token itself.

A token is 32 random bytes, so a plain hash is enough. A presented token is compared with every stored hash in constant
time. The file has one JSON object per line: ``name``, ``sha256``, ``scopes``, ``indexes`` (``null`` for all) and
``expires`` (seconds since 1970, or ``null``). Readers look at it again when it changes; one that cannot be read allows
nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import time
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from lookalike import params
from lookalike.archive import retention
from lookalike.errors import FormatError, ParameterError
from lookalike.service import log

#: Seconds between two looks at the file.
_LOOK = 1.0
#: Characters of the id of a token: as many of its hash, in hexadecimal.
ID_LENGTH = 32


@dataclass(frozen=True)
class Grant:
    """What the bearer of a token may do."""

    name: str
    scopes: frozenset[str]
    #: The indexes that exist for it; ``None``: all.
    indexes: frozenset[str] | None = None
    expires: float | None = None
    #: Whose comparisons are whose: the beginning of the token's hash, so a new token of the same name is another one.
    id: str = ""

    def sees(self, index: str) -> bool:
        """Return whether an index exists for it."""
        return self.indexes is None or index in self.indexes

    def allows(self, scopes: Collection[str]) -> bool:
        """Return whether it has one of these scopes; always if none is needed."""
        return not scopes or not self.scopes.isdisjoint(scopes)


#: What everyone on this machine may do where there is no file of tokens.
OPEN = Grant("", frozenset(params.SCOPES))


class Tokens:
    """The tokens of a file."""

    def __init__(self, path: str | None) -> None:
        """Read a file; ``None``: everyone may do everything. Errors: ``FormatError``, ``OSError``."""
        self._path = path
        self._state: tuple[int, ...] = ()
        self._grants: list[tuple[bytes, Grant]] = []
        self._looked = time.monotonic()
        if path is not None:
            self._state = _state(path)
            self._grants = read(path)

    def find(self, presented: str | None) -> Grant | None:
        """Return what a token allows; ``None`` if it is missing, unknown or expired."""
        if self._path is None:
            return OPEN
        self._look(self._path)
        digest = _digest(presented or "")
        found = None
        for stored, grant in self._grants:
            if hmac.compare_digest(stored, digest):
                found = grant
        if presented is None or found is None or (found.expires is not None and found.expires <= time.time()):
            return None
        return found

    def _look(self, path: str) -> None:
        """Read the file again if it has changed."""
        if time.monotonic() - self._looked < _LOOK:
            return
        self._looked = time.monotonic()
        try:
            state = _state(path)
            if state != self._state:
                self._grants, self._state = read(path), state
        except (OSError, FormatError) as error:
            self._grants, self._state = [], ()
            log.event("tokens-unreadable", error=type(error).__name__, reason=str(error))


def _state(path: str) -> tuple[int, ...]:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def read(path: str) -> list[tuple[bytes, Grant]]:
    """Return hashes of tokens with what they allow. Errors: ``FormatError``, which names the line; ``OSError``."""
    found = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.startswith("#"):
                try:
                    found.append(_entry(json.loads(line)))
                except (ValueError, TypeError, KeyError, RecursionError):
                    raise FormatError(
                        f"line {number} of `{path}` is no token: delete it, and make a new one with `lookalike token`"
                    ) from None
    return found


def _entry(row: dict[str, Any]) -> tuple[bytes, Grant]:
    indexes, expires = row.get("indexes"), row.get("expires")
    if expires is not None and type(expires) not in (int, float):
        raise ValueError(expires)
    digest = bytes.fromhex(row["sha256"])
    if len(digest) != hashlib.sha256().digest_size:
        raise ValueError(digest)
    scopes = frozenset(map(str, row["scopes"]))
    allowed = None if indexes is None else frozenset(map(str, indexes))
    return digest, Grant(str(row["name"]), scopes, allowed, expires, digest.hex()[:ID_LENGTH])


def owners(path: str) -> dict[str, str]:
    """Return ids of tokens by name; a name that several tokens have is left out. Errors: as ``read``."""
    grants = [grant for _, grant in read(path)]
    names = Counter(grant.name for grant in grants)
    return {grant.name: grant.id for grant in grants if names[grant.name] == 1}


def make(
    path: str,
    *,
    name: str | None = None,
    scopes: Iterable[str],
    indexes: Iterable[str] = (),
    expires: str | None = None,
) -> str:
    """Make a token, append its hash to a file that only its owner can read, and return it.

    Errors: ``ParameterError``, ``FormatError`` if the file holds something else, ``OSError``.
    """
    wanted = _scopes(scopes)
    token = secrets.token_urlsafe(32)
    digest = _digest(token).hex()
    row = {
        "name": name or f"token-{digest[:8]}",
        "sha256": digest,
        "scopes": wanted,
        "indexes": sorted(set(indexes)) or None,
        "expires": None if expires is None else _end(expires),
    }
    _check_folder(path)
    earlier = ""
    with contextlib.suppress(FileNotFoundError):
        names = {grant.name for _, grant in read(path)}
        if row["name"] in names:
            raise ParameterError(
                f"`{path}` has a token called `{row['name']}`: choose another --name, or delete its line"
            )
        with open(path, encoding="utf-8") as file:
            earlier = file.read()
    earlier += "" if not earlier or earlier.endswith("\n") else "\n"
    _replace(path, f"{earlier}{json.dumps(row)}\n")
    return token


def _check_folder(path: str) -> None:
    """Errors: ``ParameterError`` if the folder of a file does not exist."""
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        raise ParameterError(f"folder `{folder}` does not exist: make it first, or choose another FILE")


def _scopes(given: Iterable[str]) -> list[str]:
    wanted = [one.strip() for one in given]
    for one in wanted:
        if one not in params.SCOPES:
            raise ParameterError(f"--scope `{one}` is not known: use some of {', '.join(params.SCOPES)}")
    return [one for one in params.SCOPES if one in wanted]


def _end(expires: str) -> int:
    """Return when a token ends: an age from now on, or a date. Errors: ``ParameterError``."""
    now = int(time.time())
    try:
        cut = retention.cut(expires, lambda: now, [])
    except ParameterError:
        raise ParameterError(f"--expires `{expires}` is no time: give an age such as 90d or 2y, or a date") from None
    end = 2 * now - cut if cut <= now else cut
    is_date = "-" in expires
    if is_date and cut <= now:
        raise ParameterError(f"--expires `{expires}` is past: give a later date")
    return end


def _replace(path: str, text: str) -> None:
    """Replace a file; a reader sees either the old or the new one."""
    new = f"{path}.{secrets.token_hex(4)}.new"
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise
