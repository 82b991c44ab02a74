"""What a client is told when a request fails: one table from exceptions to status, stable code and message.

Messages name no path, host or file of the server: where an error of the package does, the table has its own words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lookalike.errors import (
    DamagedError,
    FrontendError,
    LockedError,
    LookalikeError,
    NoSpaceError,
    ParameterError,
    VersionError,
)


@dataclass(frozen=True)
class Fault:
    """Why a request fails, as its client is told."""

    status: int
    #: It stays the same between versions, so that programs can decide by it.
    code: str
    message: str
    #: Seconds after which it makes sense to try again.
    retry_after: int | None = None
    #: Methods that an address takes.
    allow: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the body of the answer."""
        return {"error": {"code": self.code, "message": self.message}}


class FaultError(Exception):
    """A request that fails."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


#: Errors of the package whose messages name files of the server, and what a client is told instead.
_OWN_WORDS: tuple[tuple[type[Exception], Fault], ...] = (
    (DamagedError, Fault(503, "index-damaged", "the index is damaged: ask the operator of this server")),
    (VersionError, Fault(503, "index-version", "the index was made by another version: ask the operator")),
    (LockedError, Fault(503, "index-locked", "another program changes the index: try again later", 5)),
    (NoSpaceError, Fault(507, "no-space", "the server has no room for this: ask the operator of this server")),
    (OSError, Fault(503, "storage-failed", "the server cannot read or write its files: try again later", 5)),
)
INTERNAL = Fault(500, "internal", "a fault of the server, which is in its log: report it to the operator")
BUSY = Fault(429, "busy", "the server has too much to do: try again after the seconds in Retry-After", 1)
NOT_FOUND = Fault(404, "not-found", "there is nothing at this address")
NO_INDEX = Fault(404, "no-such-index", "there is no index with this name: GET /v1/indexes lists them")
NO_DOCUMENT = Fault(404, "no-such-document", "the index has no document with this id")
#: The client ended the connection; no answer is sent.
GONE = Fault(400, "gone", "the connection ended before the answer")
KEEPER_GONE = Fault(503, "restarting", "the server was interrupted: repeat the request, which is safe", 1)


def fault_of(error: BaseException) -> Fault:
    """Return what a client is told about an error."""
    if isinstance(error, FaultError):
        return error.fault
    for kind, fault in _OWN_WORDS:
        if isinstance(error, kind):
            return fault
    if isinstance(error, FrontendError):
        return Fault(422, "unreadable", f"the document cannot be read: {error}")
    if isinstance(error, ParameterError):
        return Fault(422, "bad-parameter", str(error))
    if isinstance(error, LookalikeError):
        return Fault(422, "refused", str(error))
    return INTERNAL
