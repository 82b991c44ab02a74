"""The application of a reader: finds the operation of a request, checks its token, and answers within the time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from starlette.requests import Request

from lookalike.errors import ParameterError
from lookalike.service import log
from lookalike.service.answering import told
from lookalike.service.api import asking, documents, state
from lookalike.service.bodies import Body
from lookalike.service.comparing import api as comparing
from lookalike.service.context import Context
from lookalike.service.door import Door
from lookalike.service.faults import NO_INDEX, NOT_FOUND, Fault, FaultError
from lookalike.service.metrics import Metrics
from lookalike.service.moss import page as moss
from lookalike.service.operations import Operation
from lookalike.service.page import routes as page
from lookalike.service.tokens import OPEN

NO_TOKEN = Fault(401, "no-token", "send a valid token: Authorization: Bearer TOKEN")
NO_SCOPE = Fault(403, "no-scope", "the token does not allow this: ask the operator for one with scope {}")
FORM = Fault(
    415,
    "other-type",
    "a page of any site can send this content type with a form, so a server without tokens takes no change with it: "
    "leave the Content-Type out, or send that of the body",
)
#: The types that a form can send.
_FORMS = (b"application/x-www-form-urlencoded", b"multipart/form-data", b"text/plain")
TOO_LONG = Fault(504, "too-long", "the answer took too long: send a smaller document, or ask for less")
_PART = re.compile(r"\{(\w+)(:path)?\}")
#: Values of the parts of an address, and its operations by method.
Route: TypeAlias = tuple[dict[str, str], dict[str, Operation]]
#: Addresses that are remembered, and most characters of one.
_REMEMBERED, _SHORT = 1_024, 200


def operations(context: Context) -> list[Operation]:
    """Return all operations, in the order in which addresses are tried."""
    listed = [*documents.routes(context), *asking.routes(context), *comparing.routes(context), *moss.routes(context)]
    listed += page.routes(context)
    return [*state.routes(context, listed), *listed]


def application(context: Context, slot: int) -> Door:
    """Return the ASGI application of a reader, by its number."""
    every = operations(context)
    routes = [(one.method, one.path) for one in every]
    context.metrics = Metrics(context.settings, f"reader-{slot}", routes)
    log.sink().on_drop = context.metrics.count_unlogged
    return Door(Routes(context, every), context.settings, context.metrics)


def pattern(path: str) -> re.Pattern[str]:
    """Return what matches the addresses of an operation.

    >>> pattern("/v1/indexes/{name}/documents/{id:path}").fullmatch("/v1/indexes/news/documents/2024/a").groupdict()
    {'name': 'news', 'id': '2024/a'}
    """
    parts, place = [], 0
    for found in _PART.finditer(path):
        parts += [re.escape(path[place : found.start()]), f"(?P<{found[1]}>{'.+' if found[2] else '[^/]+'})"]
        place = found.end()
    return re.compile("".join(parts) + re.escape(path[place:]), re.DOTALL)


class Routes:
    """All operations of a reader, by address and method."""

    def __init__(self, context: Context, every: Iterable[Operation]) -> None:
        self._context = context
        by_path: dict[str, dict[str, Operation]] = {}
        for one in every:
            by_path.setdefault(one.path, {})[one.method] = one
        self._routes = [(pattern(path), methods) for path, methods in by_path.items()]
        #: The routes that an address was found at, which spares the search for those that are asked for often.
        self._found: dict[str, list[Route]] = {}

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Answer a request. Errors: ``FaultError``, and those of the operation."""
        operation = self._find(scope)
        scope["visit"].route = operation.path
        self._admit(operation, scope)
        most = operation.max_body or self._context.settings.max_body
        budget = self._context.budget if operation.max_body is None else None
        visit = scope["visit"]
        body = Body(receive, visit.headers, most, self._context.settings.body_seconds, budget, visit.token)
        request = Request(scope, body.receive, send)
        try:
            if operation.is_timed:
                async with asyncio.timeout(self._context.settings.answer_seconds):
                    answer = await operation.handle(request)
            else:
                answer = await operation.handle(request)
        except TimeoutError:
            answer = told(TOO_LONG)
        except ParameterError as error:
            answer = told(Fault(422, "bad-parameter", self._context.named(error)))
        finally:
            body.release()
        await answer(scope, body.receive, send)

    def _find(self, scope: dict[str, Any]) -> Operation:
        """Return the operation of a request. Errors: ``FaultError``."""
        allowed: set[str] = set()
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        for values, methods in self._at(scope["path"]):
            if method in methods:
                scope["path_params"] = dict(values)
                return methods[method]
            allowed |= methods.keys()
        if not allowed:
            raise FaultError(NOT_FOUND)
        shown = ", ".join(sorted(allowed))
        raise FaultError(Fault(405, "other-method", f"this address takes {shown} only", allow=shown))

    def _at(self, path: str) -> list[Route]:
        """Return the routes of an address, in their order."""
        found = self._found.get(path)
        if found is None:
            tried = ((address.fullmatch(path), methods) for address, methods in self._routes)
            found = [(match.groupdict(), methods) for match, methods in tried if match]
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            if found and len(path) <= _SHORT:
                self._found[path] = found
        return found

    def _admit(self, operation: Operation, scope: dict[str, Any]) -> None:
        """Check the token of a request: first who, then which index, then what. Errors: ``FaultError``."""
        if not operation.scopes:
            return
        grant = self._context.tokens.find(_presented(scope))
        if grant is None:
            raise FaultError(NO_TOKEN)
        scope["visit"].token, scope["grant"] = grant.name, grant
        if operation.is_change and grant is OPEN and _kind(scope) in _FORMS:
            raise FaultError(FORM)
        name = scope["path_params"].get("name")
        if name is not None and (name not in self._context.indexes or not grant.sees(name)):
            raise FaultError(NO_INDEX)
        if not grant.allows(operation.scopes):
            wanted = " or ".join(operation.scopes)
            raise FaultError(Fault(NO_SCOPE.status, NO_SCOPE.code, NO_SCOPE.message.format(wanted)))


def _kind(scope: dict[str, Any]) -> bytes:
    """Return the content type of a request, without its parameters."""
    given: bytes = scope["visit"].headers.get(b"content-type", b"")
    return given.partition(b";")[0].strip().lower()


def _presented(scope: dict[str, Any]) -> str | None:
    """Return the token of a request, or ``None``."""
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(given) != 1:
        return None
    scheme, _, token = given[0].decode("latin-1").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
