"""Questions: query and seen, the same answers as `lookalike query --json` and `seen --json`, and two texts compared."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lookalike import params
from lookalike.archive.answers import Seen
from lookalike.archive.asked import Given as Asked
from lookalike.archive.store import Index
from lookalike.archive.where import parsed as parsed_where
from lookalike.errors import ParameterError, VersionError
from lookalike.rendering.terminal.similarity import as_json
from lookalike.service import given, signing
from lookalike.service.answering import answer, encoded
from lookalike.service.context import INLINE, Context, grant_of
from lookalike.service.faults import Fault, FaultError
from lookalike.service.given import Given
from lookalike.service.operations import Operation
from lookalike.service.options import chosen
from lookalike.sketches import pair

_SEEN = (params.ASKING["where"], params.ASKING["name"])
#: Without `sketch` every kind is shown, as on the command line.
_SKETCHING = [replace(one, default=None) if one.name == "sketch" else one for one in params.SKETCHING.values()]
_SIDE = {"oneOf": [{"type": "string"}, given.SCHEMA]}


class Asking:
    """The questions."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def query(self, request: Request) -> Response:
        """Return which documents are like the one in the body."""
        options = chosen(request.scope["query_string"], params.ASKING.values())
        where, name = parsed_where(options.pop("where"), "where"), options.pop("name")
        index, called = self._index(request)
        body, content_type = await request.body(), request.headers.get("content-type", "")
        folder = self._context.settings.run

        def work() -> bytes:
            one = given.document(body, content_type, name)
            try:
                found = index.query(_asked(one, folder), name=one.name, where=where, **options)
            except VersionError as error:
                # The window is shorter than that of the index: here the client is wrong, and not the index.
                raise ParameterError(str(error)) if options["window"] is not None else error from None
            return encoded(replace(found, index=called, notes=(*one.notes, *found.notes)).to_json())

        return answer(await self._context.run(request, work))

    async def seen(self, request: Request) -> Response:
        """Tell whether the index has a document like the one in the body, or those of its lines."""
        options = chosen(request.scope["query_string"], _SEEN)
        where = parsed_where(options["where"], "where")
        index, called = self._index(request)
        content_type = request.headers.get("content-type", "")
        told = _verdict if "read" in grant_of(request).scopes else _short
        # A body has a time limit of its own. A timer for short ones, which are answered at once, would cost more.
        body, folder = await request.body(), self._context.settings.run
        if content_type.partition(";")[0].strip().lower() == given.LINES:
            return await self._many(request, body, index, where, told)

        def work(one: Given) -> bytes:
            found = index.seen(_asked(one, folder), name=one.name, where=where)
            return encoded(told(replace(found, notes=(*one.notes, *found.notes)) if one.notes else found))

        def read() -> Given:
            return given.document(body, content_type, options["name"])

        if len(body) > INLINE:
            return answer(await self._timed(request, lambda: work(read())))
        one = read()
        if _is_cheap(one, self._context.kinds[called]):
            return answer(work(one))
        return answer(await self._timed(request, lambda: work(one)))

    async def _timed(self, request: Request, work: Callable[[], bytes]) -> bytes:
        """Compute in a thread, and give up after ``--answer-seconds``. Errors: ``TimeoutError``, as ``run``."""
        async with asyncio.timeout(self._context.settings.answer_seconds):
            return await self._context.run(request, work)

    async def _many(
        self, request: Request, body: bytes, index: Index, where: dict[str, str], told: Callable[[Seen], dict[str, Any]]
    ) -> Response:
        given.check_type(request.headers.get("content-type", ""), given.LINES)
        most = self._context.settings.max_documents

        def work() -> bytes:
            some = [_row(number, row) for number, row in given.lines(body, most)]
            found = index.seen_many([one.content for one in some], where=where)
            lines = []
            for one, verdict in zip(some, found, strict=True):
                id_ = {} if one.id is None else {"id": one.id}
                lines.append(encoded({**id_, **told(verdict)}) + b"\n")
            return b"".join(lines)

        return Response(await self._timed(request, work), media_type=given.LINES)

    async def compare(self, request: Request) -> Response:
        """Compare two documents of the request; nothing is stored."""
        options = chosen(request.scope["query_string"], [*_SKETCHING, params.HOMOGLYPHS])
        given.check_type(request.headers.get("content-type", ""), given.JSON)
        body = await request.body()
        sketch, confidence = options.pop("sketch"), options.pop("confidence")
        kinds = (sketch,) if sketch else params.SKETCHES

        def work() -> bytes:
            left, right = _sides(given.parsed(body))
            return as_json(pair.compared(left, right, kinds, params.sketching(**options), confidence)).encode()

        return Response(await self._context.run(request, work), media_type=given.JSON)

    def _index(self, request: Request) -> tuple[Index, str]:
        name = request.path_params["name"]
        return self._context.index(name), name


def _row(number: int, row: Any) -> Given:
    """Return the document of a line. Errors: ``FaultError``, which names the line."""
    try:
        return given.of_json(row, with_id=isinstance(row, dict) and "id" in row)
    except FaultError as error:
        fault = error.fault
        raise FaultError(replace(fault, message=f"line {number}: {fault.message}")) from None


def _asked(one: Given, folder: str) -> Asked:
    """Return a document as an index is asked about it."""
    return signing.files(one, folder) if one.is_zip else one.content


def _is_cheap(one: Given, kind: str) -> bool:
    """Whether a verdict on a short body takes less time than handing it to a thread: there is no format to be read."""
    return (one.name is None or isinstance(one.content, str)) and not one.is_zip and kind == "corpus"


def _verdict(found: Seen) -> dict[str, Any]:
    return found.to_json()


def _short(found: Seen) -> dict[str, Any]:
    """Return a verdict for a token that may add but not read: yes or no, the id and the score of the nearest."""
    whole = found.to_json()
    if found.nearest is not None:
        whole["nearest"] = {key: whole["nearest"][key] for key in ("id", "resemblance") if key in whole["nearest"]}
    return whole


def _sides(row: Any) -> tuple[pair.Side, pair.Side]:
    """Return the two documents of a body. Errors: ``FaultError``."""
    if not isinstance(row, dict) or set(row) != {"left", "right"}:
        raise given.bad_value("the body is an object with `left` and `right`, each a text or a document")
    return _side(row["left"], "left"), _side(row["right"], "right")


def _side(value: Any, name: str) -> pair.Side:
    """Return one of two documents. Errors: ``FaultError``."""
    one = given.of_json({"text": value} if isinstance(value, str) else value)
    if one.metadata or one.time is not None:
        raise FaultError(Fault(422, "bad-value", f"`{name}` is not stored: leave out metadata and time"))
    if one.name is None:
        return pair.Side(name, one.content)
    return pair.read(one.name, one.document().data)


def routes(context: Context) -> list[Operation]:
    """Return the operations of this file."""
    of = Asking(context)
    bodies = given.BODIES
    batch = {"type": "string", "description": "One JSON object per line: text, and if wanted id."}
    both = {
        "type": "object",
        "required": ["left", "right"],
        "additionalProperties": False,
        "properties": {"left": _SIDE, "right": _SIDE},
    }
    return [
        Operation(
            "POST", "/v1/indexes/{name}/query", of.query, "List the documents that are like the one in the body.",
            ("read",), tuple(params.ASKING.values()), bodies,
        ),
        Operation(
            "POST", "/v1/indexes/{name}/seen", of.seen,
            "Tell whether the index has a document like the one in the body; one verdict per line for lines.",
            ("read", "add"), _SEEN, {**bodies, given.LINES: batch}, types=(given.JSON, given.LINES), is_timed=False,
        ),
        Operation(
            "POST", "/v1/compare", of.compare, "Measure how similar two documents are; nothing is stored.",
            ("compare",), (*_SKETCHING, params.HOMOGLYPHS), {given.JSON: both},
        ),
    ]  # fmt: skip
