"""Documents of an index: put, get, list, remove, and add many at once.

A reader signs documents and the keeper appends them; the answer comes when they are durable. Documents with an id that
the index has replace it if their content differs. Answers about an index of a class tell which language each file was
read as, because a wrong one hides copies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from lookalike import params
from lookalike._types import bytes_of
from lookalike.archive.store import Index
from lookalike.archive.view import View, conditions, entry
from lookalike.archive.where import matches
from lookalike.archive.where import parsed as parsed_where
from lookalike.errors import ParameterError
from lookalike.params import Parameter
from lookalike.service import given, signing
from lookalike.service.answering import answer, encoded
from lookalike.service.context import Context, grant_of
from lookalike.service.faults import NO_DOCUMENT, Fault, FaultError
from lookalike.service.given import Given
from lookalike.service.keeper import packed
from lookalike.service.operations import Operation
from lookalike.service.options import chosen, refused

_AFTER = Parameter("after", "The id of the last document of the page before.")
_NAME = Parameter("name", "File name of the document, such as loans.py; it decides the format and the language.")
_LABEL = Parameter("label", "Year and exercise of a submission, such as 2025-hw3, which `where` finds.")
_ID = Parameter("id", "Only the document with this id.")
_PREFIX = Parameter("prefix", "Only documents whose id begins with this.")
_ONE = "/v1/indexes/{name}/documents/{id:path}"
_ALL = "/v1/indexes/{name}/documents"
#: Most characters of an idempotency key.
_KEY = 255
READ_ONLY = Fault(409, "read-only", "this index holds nothing that can be added to or changed over HTTP")


class Documents:
    """The operations on the documents of an index."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def _index(self, request: Request) -> Index:
        return self._context.index(request.path_params["name"])

    def _changeable(self, request: Request) -> Index:
        """Return an index that takes documents. Errors: ``FaultError``."""
        index = self._index(request)
        parameters = index.parameters
        if parameters.bands is not None or parameters.keyed is not None:
            raise FaultError(READ_ONLY)
        parameters.check_versions(request.path_params["name"])
        return index

    async def put(self, request: Request) -> Response:
        """Add or replace one document."""
        id_ = given.new_id(request.path_params["id"])
        options = chosen(request.scope["query_string"], [_NAME, _LABEL])
        index = self._changeable(request)
        content_type = request.headers.get("content-type", "")
        body = await request.body()
        one = await self._context.read(request, body, lambda: given.document(body, content_type, options["name"]))
        if one.is_zip and index.parameters.kind != "class":
            raise FaultError(Fault(415, "other-type", "only an index of a class takes an archive as one document"))
        made = _labelled(
            replace(one, name=one.name or _base(id_, index, content_type), id=id_), options["label"], index
        )
        (outcome,) = await self._signed(request, index, [made])
        if outcome.signed is None:
            raise FaultError(Fault(422, "unreadable", f"the document cannot be read: {outcome.refusal}"))
        told, _ = await self._context.keeper.ask(
            "add",
            {"index": request.path_params["name"], "key": None, "told": {}},
            packed([outcome.signed]),
        )
        what = next(key for key in ("added", "replaced", "unchanged") if told[key])
        every = [*one.notes, *outcome.notes]
        files = [{"name": name, "language": language} for name, language in outcome.files]
        more = {"files": files, "notes": every}
        told = {"id": id_, "outcome": what, **{key: value for key, value in more.items() if value}}
        return answer(told, 201 if what == "added" else 200)

    async def _signed(self, request: Request, index: Index, some: list[Given]) -> list[signing.Outcome]:
        parameters, folder = index.parameters, self._context.settings.run
        return await self._context.run(request, lambda: signing.sign(some, parameters, folder))

    async def post(self, request: Request) -> Response:
        """Add many documents in one commit. Those that cannot be read are listed; a line without JSON refuses all."""
        chosen(request.scope["query_string"], [])
        given.check_type(request.headers.get("content-type", ""), given.LINES)
        key = key_of(request)
        index = self._changeable(request)
        body = await request.body()
        most = self._context.settings.max_documents
        batch = await self._context.read(request, body, lambda: _batch(body, most))
        found = await self._signed(request, index, [one for _, one in batch.rows])
        name = request.path_params["name"]
        told, _ = await self._context.keeper.ask(
            "add",
            {
                "index": name,
                "key": None if key is None else [grant_of(request).id, name, key, batch.digest],
                "told": batch.told(found),
            },
            packed([one.signed for one in found if one.signed is not None]),
        )
        keys = ("added", "replaced", "unchanged", "skipped", "languages", "notes")
        return answer({what: told[what] for what in keys if what in told})

    async def get(self, request: Request) -> Response:
        """Return one document with its readable text."""
        chosen(request.scope["query_string"], [])
        id_, index = given.checked_id(request.path_params["id"]), self._index(request)

        def work() -> bytes | None:
            with index.snapshot() as view:
                found = view.document(id_)
                if found is None:
                    return None
                texts = [{"name": name.decode("utf-8", "replace"), "text": text} for name, text in view.texts(id_)]
                return encoded({**found.to_json(), "texts": texts})

        found = await self._context.run(request, work)
        if found is None:
            raise FaultError(NO_DOCUMENT)
        return answer(found)

    async def list(self, request: Request) -> Response:
        """Return a page of documents in the order of arrival."""
        options = chosen(request.scope["query_string"], [params.WHERE, _ID, _PREFIX, _AFTER, params.PAGE])
        index = self._index(request)
        where, after = parsed_where(options["where"] or (), "where"), options["after"]

        def work() -> bytes:
            with index.snapshot() as view:
                if options["id"] is not None:
                    return encoded({"documents": _one(view, options["id"], where), "next": None})
                found = page(view, where, after, options["limit"], options["prefix"] or "")
            if where and after is None and not found["documents"] and (why := index._unmet(where)):
                found["notes"] = [why]
            return encoded(found)

        return answer(await self._context.run(request, work))

    async def remove(self, request: Request) -> Response:
        """Remove one document."""
        options = chosen(request.scope["query_string"], [params.PURGE])
        id_ = given.checked_id(request.path_params["id"])
        self._changeable(request)
        head = {"index": request.path_params["name"], "id": id_, "purge": options["purge"]}
        told, _ = await self._context.keeper.ask("remove", head)
        if not told["removed"]:
            raise FaultError(NO_DOCUMENT)
        return Response(status_code=204)


def _base(id_: str, index: Index, content_type: str) -> str | None:
    """Return the last part of an id as a file name, if it can be one, and nothing else tells the format."""
    if index.parameters.kind == "corpus" and content_type not in ("", "application/octet-stream"):
        return None
    try:
        return given.checked_name(id_.rpartition("/")[2] or None)
    except FaultError:
        return None


def _labelled(one: Given, label: str | None, index: Index) -> Given:
    """Return a document with a label. Errors: ``FaultError`` if it has another one, or the index has no labels."""
    if label is None:
        return one
    if index.parameters.kind != "class":
        raise refused("label is for submissions, and this is an index of a corpus: leave it out")
    return replace(one, metadata=given.metadata({**one.metadata, "label": label}))


class _Batch(NamedTuple):
    """The documents of a batch with their lines, the lines that are none, and what a repeated request is known by."""

    rows: list[tuple[int, Given]]
    skipped: list[dict[str, Any]]
    digest: str

    def told(self, outcomes: Sequence[signing.Outcome]) -> dict[str, Any]:
        """Return what the answer tells besides counts: rows that were skipped, languages, and notes."""
        both = [(line, one, outcome) for (line, one), outcome in zip(self.rows, outcomes, strict=True)]
        refused = [{"line": line, "id": one.id, "reason": how.refusal} for line, one, how in both if how.signed is None]
        languages = {one.id: language for _, one, how in both for _, language in how.files}
        notes = [{"line": line, "id": one.id, "note": note} for line, one, how in both for note in how.notes]
        more = {"languages": languages, "notes": notes}
        skipped = sorted([*self.skipped, *refused], key=lambda row: row["line"])
        return {"skipped": skipped, **{key: value for key, value in more.items() if value}}


def _batch(body: bytes, most: int) -> _Batch:
    """Read a batch. Errors: ``FaultError`` if a line is no JSON; other lines that are no documents are skipped."""
    made = _Batch([], [], hashlib.sha256(body).hexdigest())
    for line, row in given.lines(body, most):
        try:
            made.rows.append((line, given.of_json(row, with_id=True)))
        except FaultError as error:
            id_ = row.get("id") if isinstance(row, dict) else None
            shown = id_[: given.MOST_ID] if isinstance(id_, str) else None
            made.skipped.append({"line": line, "id": shown, "reason": str(error)})
    return made


def key_of(request: Request) -> str | None:
    """Return the idempotency key of a request. Errors: ``FaultError``."""
    key = request.headers.get("idempotency-key")
    if key is not None and not (0 < len(key) <= _KEY and key.isascii() and key.isprintable()):
        raise FaultError(Fault(400, "bad-key", f"Idempotency-Key has 1 to {_KEY} printable ASCII characters"))
    return key


def _one(view: View, id_: str, where: dict[str, str]) -> list[dict[str, Any]]:
    """Return the document with an id if it meets the conditions; unlike GET of it, its absence is no failure."""
    found = view.document(given.checked_id(id_))
    return [] if found is None or not matches(found.meta, where) else [found.to_json()]


def page(view: View, where: dict[str, str], after: str | None, limit: int, prefix: str = "") -> dict[str, Any]:
    """Return up to ``limit`` documents after an id, and the id after which the next page begins.

    ``prefix``: only documents whose id begins so. Cost: linear in the documents that are looked at.
    """
    start = 0
    if after is not None:
        number = view.core.find_ids([after.encode("utf-8", "surrogateescape")])[0]
        if number is None:
            raise ParameterError("`after` is not the id of a document: begin with the first page again")
        start = number + 1
    accepts, found = conditions(where), list[dict[str, Any]]()
    begins = bytes_of(prefix)
    for row in _rows_from(view, start):
        if bytes(row.id).startswith(begins) and accepts(row.meta):
            if len(found) == limit:
                return {"documents": found, "next": found[-1]["id"]}
            found.append(entry(row, view.parameters).to_json())
    return {"documents": found, "next": None}


def _rows_from(view: View, start: int) -> Iterator[Any]:
    """Yield the live rows from a number on; earlier ones are not read."""
    first = 0
    for segment, bitmap in view.parts:
        for row in range(max(0, start - first), segment.rows):
            if bitmap is None or not bitmap[row >> 3] >> (row & 7) & 1:
                yield segment.row(row)
        first += segment.rows


def routes(context: Context) -> list[Operation]:
    """Return the operations of this file."""
    of = Documents(context)
    bodies = given.BODIES
    batch = {"type": "string", "description": "One JSON object per line: id, text, and if known metadata, time, name."}
    put_answers = {201: "The document was added.", 200: "It was replaced, or is there with this content."}
    put_failures = {409: "The index takes no documents.", 507: "The server has no room."}
    return [
        Operation(
            "PUT", _ONE, of.put, "Add or replace a document; it is durable when the answer comes.",
            ("add",), (_NAME, _LABEL), bodies, put_answers, failures=put_failures,
        ),
        Operation(
            "GET", _ONE, of.get, "Return a document with its readable text.", ("read",),
            failures={404: "There is no such index or document."},
        ),
        Operation(
            "DELETE", _ONE, of.remove, "Remove a document; with purge no byte of it is left.", ("remove",),
            (params.PURGE,), answers={204: "It was removed."}, failures={409: "The index takes no changes."},
        ),
        Operation(
            "GET", _ALL, of.list, "List documents in the order of arrival, in pages.", ("read",),
            (params.WHERE, _ID, _PREFIX, _AFTER, params.PAGE),
        ),
        Operation(
            "POST", _ALL, of.post, "Add many documents in one commit; those that cannot be read are listed.", ("add",),
            bodies={given.LINES: batch}, failures=put_failures, is_idempotent=True, is_change=True,
        ),
    ]  # fmt: skip
