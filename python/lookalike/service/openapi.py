"""The API document (OpenAPI 3.1), made from the operations and the parameters: nothing in it is written twice."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from lookalike._core import __version__
from lookalike.params import Parameter
from lookalike.service.operations import Operation
from lookalike.service.settings import Settings

_TYPES = {int: "integer", float: "number", bool: "boolean", str: "string"}
#: Ranges that the calls check themselves.
_RANGES: dict[str, dict[str, Any]] = {
    "where": {"pattern": "^[^=]+="},
    "threshold": {"exclusiveMinimum": 0, "maximum": 1},
    "confidence": {"exclusiveMinimum": 0, "exclusiveMaximum": 1},
}
#: Failures that every operation can give, and those that come with a token, an index, a body.
_ALWAYS = {
    400: "The request is malformed.",
    403: "A page of another site sent it, or the token has not the scope.",
    421: "The server does not answer for this host name.",
    422: "A value or parameter cannot be used.",
    429: "The server has too much to do; Retry-After tells when to try again.",
    431: "The headers are too long.",
    500: "A fault of the server.",
    503: "The server was interrupted; repeat the request.",
    504: "The answer took too long.",
}
_WITH_TOKEN = {401: "No valid token was sent."}
_WITH_INDEX = {404: "There is no such index."}
_WITH_BODY = {
    408: "The body arrived too slowly.",
    413: "The body is too large, or has too many documents.",
    415: "The content type or encoding is not read.",
}
_SCHEMAS = {
    "Fault": {
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
            }
        },
    }
}


def described(operations: Iterable[Operation], settings: Settings) -> dict[str, Any]:
    """Return the document."""
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        if one.is_listed:
            paths.setdefault(one.path.replace(":path", ""), {})[one.method.lower()] = _operation(one)
    made: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "lookalike", "version": __version__},
        "paths": paths,
        "components": {"schemas": _SCHEMAS},
    }
    if settings.token_file is not None:
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"token": []}]
    return made


def _operation(one: Operation) -> dict[str, Any]:
    names = re.findall(r"\{(\w+)", one.path)
    made: dict[str, Any] = {
        "operationId": f"{one.method.lower()}{re.sub(r'[^a-zA-Z]+', '-', one.path).rstrip('-')}",
        "summary": one.summary,
        "parameters": [_in_path(name) for name in names] + [_in_query(parameter) for parameter in one.query],
        "responses": _responses(one, names),
    }
    if not one.scopes:
        made["security"] = []
    if one.is_idempotent:
        schema = {"type": "string", "pattern": "^[!-~]{1,255}$"}
        made["parameters"].append({"name": "Idempotency-Key", "in": "header", "schema": schema})
    if one.bodies:
        content = {kind: {"schema": schema} for kind, schema in one.bodies.items()}
        made["requestBody"] = {"required": True, "content": content}
    return made


def _in_path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}


def _in_query(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": _TYPES[parameter.kind]}
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.least is not None:
        schema["minimum"] = parameter.least
    if parameter.most is not None:
        schema["maximum"] = parameter.most
    schema |= _RANGES.get(parameter.name, {})
    if parameter.many:
        schema = {"type": "array", "items": schema}
    elif parameter.default is not None:
        schema["default"] = parameter.default
    return {"name": parameter.name, "in": "query", "description": parameter.help, "schema": schema}


def _responses(one: Operation, names: list[str]) -> dict[str, Any]:
    failures = {**_ALWAYS, **(_WITH_TOKEN if one.scopes else {}), **(_WITH_INDEX if names else {})}
    failures |= {**(_WITH_BODY if one.bodies else {}), **one.failures}
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Fault"}}}
    made: dict[str, Any] = {str(status): _success(one, status, told) for status, told in one.answers.items()}
    return made | {str(status): {"description": told, "content": content} for status, told in sorted(failures.items())}


def _success(one: Operation, status: int, told: str) -> dict[str, Any]:
    if status == 204:
        return {"description": told}
    return {"description": told, "content": {kind: {"schema": {}} for kind in one.types}}
