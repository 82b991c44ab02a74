"""What the service can be asked: each operation once, with its route, scope, limits, and what the API document says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from lookalike.params import Parameter

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

Handle: TypeAlias = "Callable[[Request], Awaitable[Response]]"


@dataclass(frozen=True)
class Operation:
    """One method of one address. The handler raises ``FaultError`` or an error of the package for what it refuses."""

    method: str
    #: The address; ``{name}`` is an index, ``{…:path}`` takes slashes.
    path: str
    handle: Handle
    #: A sentence for the API document.
    summary: str
    #: The scopes of which a token needs one; none: everyone may.
    scopes: tuple[str, ...] = ()
    #: Parameters of the query string, from ``params``.
    query: tuple[Parameter, ...] = ()
    #: Content types of the body, with a JSON schema for those that are JSON.
    bodies: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    #: Statuses of success and what they mean; those of failures that every operation can give are added.
    answers: Mapping[int, str] = field(default_factory=lambda: {200: "The answer."})
    #: Content types of a success.
    types: tuple[str, ...] = ("application/json",)
    #: Further failures, by status.
    failures: Mapping[int, str] = field(default_factory=dict)
    #: Most bytes of a body; ``None``: ``--max-body``.
    max_body: int | None = None
    #: Whether it is given up after ``--answer-seconds``; others look after their time themselves.
    is_timed: bool = True
    #: Whether it takes an idempotency key.
    is_idempotent: bool = False
    #: Whether it is a POST that changes something. A server without tokens refuses it with a type that a form can send.
    is_change: bool = False
    #: Whether the API document lists it.
    is_listed: bool = True
