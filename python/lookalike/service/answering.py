"""Answers as HTTP: JSON in one form, and faults."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from lookalike.service.faults import Fault

JSON = "application/json"


def encoded(value: Any) -> bytes:
    """Return a value as JSON. Half a surrogate pair, which file names may have, is escaped.

    Errors: ``ValueError`` for an infinite number, which JSON does not have; values of metadata never are.
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a value as an answer in JSON; large values are better ``encoded`` in a thread."""
    return Response(value if isinstance(value, bytes) else encoded(value), status, headers, JSON)


def told(fault: Fault) -> Response:
    """Return a fault as an answer."""
    headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
    headers |= {} if fault.allow is None else {"Allow": fault.allow}
    if fault.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return answer(fault.to_json(), fault.status, headers)
