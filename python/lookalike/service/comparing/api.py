"""Comparisons over HTTP: upload a class, follow the job, read its tables by its id and its report by its address.

A reader writes uploads straight to the folder of the job and tells the keeper, which owns the file of jobs. A job of
another owner does not exist.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike import params
from lookalike._types import decimal
from lookalike.service.answering import answer
from lookalike.service.api.documents import key_of
from lookalike.service.comparing import options, reports, uploads
from lookalike.service.comparing.folders import Folders
from lookalike.service.comparing.jobs import DONE, Job
from lookalike.service.comparing.keeping import NO_JOB
from lookalike.service.context import Context, grant_of
from lookalike.service.faults import NO_INDEX, Fault, FaultError
from lookalike.service.operations import Handle, Operation
from lookalike.service.options import chosen

ZIP = "application/zip"
#: Types under which programs send zip archives; none: they do not say.
_ZIPS = (ZIP, "application/x-zip-compressed", "application/octet-stream", "")
_ZIP_HEADS = (b"PK\3\4", b"PK\5\6")
NOT_A_ZIP = Fault(422, "not-a-zip", "the body is no zip archive: send one, or no body and then one PUT per file")
OTHER_TYPE = Fault(415, "other-type", f"the body must be a zip archive: send it as {ZIP}")
NOT_READABLE = Fault(
    403, "no-scope", "to compare with an index, the token also needs the scope read: leave index out, or ask for it"
)
NOT_DONE = Fault(409, "not-done", "the comparison has no report: GET it, its `state` and `reason` say why")
#: Bytes that are written at a time.
_BLOCK = 1 << 20
PLACE = params.Parameter("after", "The `next` of the page before.")
ALL = "/v1/comparisons"
SCOPES = ("compare",)
_STATE = {409: "The comparison is in a state that does not allow this."}


def routes(context: Context) -> list[Operation]:
    """Return the operations of this file."""
    made = Comparisons(context)
    return [
        *_all(made, context.settings.max_upload),
        *_one(made, context.settings.max_upload),
        *(
            _of_one(made.table, "GET", f"/{table}", f"Get {table} of a report.", _STATE, types=(reports.kind(table),))
            for table in reports.TABLES
        ),
        Operation("GET", "/reports/{address}", made.redirect, "Open a report.", is_listed=False),
        Operation("GET", "/reports/{address}/{file:path}", made.report, "Get a page of a report.", is_listed=False),
    ]


def _all(made: Comparisons, most: int) -> list[Operation]:
    """Return the operations on all comparisons."""
    return [
        Operation(
            "POST",
            ALL,
            made.create,
            "Compare the submissions in a zip archive. Without a body: begin an upload of single files.",
            scopes=SCOPES,
            query=(*options.OPTIONS, params.START),
            bodies={ZIP: {"type": "string", "format": "binary"}},
            answers={201: "The comparison, which waits for its turn or for files."},
            failures={404: "There is no such index.", 415: OTHER_TYPE.message},
            max_body=most,
            is_timed=False,
            is_idempotent=True,
            is_change=True,
        ),
        Operation(
            "GET",
            ALL,
            made.listed,
            "List your comparisons, the newest first.",
            scopes=SCOPES,
            query=(PLACE, params.PAGE),
        ),
    ]


def _one(made: Comparisons, most: int) -> list[Operation]:
    """Return the operations on one comparison, without its tables."""
    deleted = {204: "It is deleted."}
    stored = {200: "The file is stored. `replaced`: whether there was one of this role and path, which is gone."}
    return [
        _of_one(made.get, "GET", "", "Tell how far a comparison has come."),
        _of_one(made.delete, "DELETE", "", "Delete a comparison with its files and its report.", answers=deleted),
        _of_one(
            made.put,
            "PUT",
            "/files/{role}/{path:path}",
            "Add a file to the submissions, templates or earlier submissions of a comparison, or replace it.",
            _STATE,
            bodies={"application/octet-stream": {"type": "string", "format": "binary"}},
            answers=stored,
            max_body=most,
            is_timed=False,
        ),
        _of_one(made.start, "POST", "/start", "Start a comparison.", _STATE, is_change=True),
        _of_one(made.cancel, "POST", "/cancel", "Stop a comparison, and keep only its state.", _STATE, is_change=True),
    ]


def _of_one(
    handle: Handle,
    method: str,
    path: str,
    summary: str,
    failures: Mapping[int, str] = MappingProxyType({}),
    **more: Any,
) -> Operation:
    """Return an operation on one comparison."""
    missing = {404: "There is no such comparison of yours."}
    return Operation(
        method, f"{ALL}/{{id}}{path}", handle, summary, scopes=SCOPES, failures={**missing, **failures}, **more
    )


class Comparisons:
    """The handlers."""

    def __init__(self, context: Context) -> None:
        self._context, self._keeper, self._settings = context, context.keeper, context.settings
        self._folders = Folders(context.settings.data)

    async def create(self, request: Request) -> Response:
        """Create a job, and start it if its archive is there."""
        values = chosen(request.scope["query_string"], (*options.OPTIONS, params.START))
        grant = grant_of(request)
        names = values["index"] or ()
        # The scope comes first: a token without it must not learn which indexes there are.
        if names and not grant.allows(("read",)):
            raise FaultError(NOT_READABLE)
        if any(name not in self._settings.indexes or not grant.sees(name) for name in names):
            raise FaultError(NO_INDEX)
        key = key_of(request)
        asked = await asyncio.to_thread(options.given, values, [self._context.index(name) for name in names])
        blocks = _blocks(request)
        head = await anext(blocks, b"")
        if head:
            _check_zip(request, head)
        told, _ = await self._keeper.ask("jobs.create", {"owner": grant.id, "options": asked})
        job, created = told["job"], told["job"]["id"]
        try:
            digest = ""
            if head:
                digest, _ = await self._store(request, created, uploads.ARCHIVE, uploads.ARCHIVE_NAME, head, blocks)
            if key is not None:
                keyed = {"key": key, "digest": f"{json.dumps([asked, values['start']], sort_keys=True)} {digest}"}
                job = (await self._ask("key", request, job["id"], keyed))["job"]
            if head and values["start"]:
                job = (await self._ask("start", request, job["id"]))["job"]
        except BaseException:
            with contextlib.suppress(FaultError):
                await asyncio.shield(self._ask("delete", request, created))
            raise
        return answer(self._public(job), 201, {"Location": f"{ALL}/{job['id']}"})

    async def put(self, request: Request) -> Response:
        """Store one file."""
        role = request.path_params["role"]
        if role not in uploads.ROLES or role == uploads.ARCHIVE:
            raise FaultError(Fault(404, "no-such-role", "a file is one of submissions, templates, old or years"))
        path = uploads.checked(request.path_params["path"])
        name, blocks = request.path_params["id"], _blocks(request)
        _, is_replaced = await self._store(request, name, role, path, await anext(blocks, b""), blocks)
        return answer({"role": role, "path": path, "replaced": is_replaced})

    async def _store(
        self, request: Request, name: str, role: str, path: str, head: bytes, rest: AsyncIterator[bytes]
    ) -> tuple[str, bool]:
        """Write a body to the uploads of a job, and record it. Each block is reserved in the keeper before.

        Returns its digest, and whether it replaces an earlier one. Errors: ``FaultError``.
        """
        stored = uploads.new_name()
        upload = None
        try:
            await self._reserve(request, name, stored, 0, len(head))
            folder = self._folders.uploads(name)
            upload = await asyncio.to_thread(uploads.Upload, folder, self._settings.max_upload, stored)
            await asyncio.to_thread(upload.write, head)
            async for block in rest:
                await self._reserve(request, name, stored, upload.bytes, len(block))
                await asyncio.to_thread(upload.write, block)
            await asyncio.to_thread(upload.finish)
            files = [[role, path, stored, upload.bytes]]
            told = await self._ask("add", request, name, {"files": files})
            return upload.digest.hexdigest(), told["replaced"] > 0
        except BaseException as error:
            if upload is not None:
                upload.discard()
            with contextlib.suppress(FaultError):
                await asyncio.shield(self._keeper.ask("jobs.release", {"stored": stored}))
            if isinstance(error, FileNotFoundError):
                # Its folder is gone: it was deleted meanwhile.
                raise FaultError(NO_JOB) from None
            raise

    async def _reserve(self, request: Request, name: str, stored: str, before: int, more: int) -> None:
        """Reserve room for a block of an upload. Errors: ``FaultError``."""
        await self._ask("reserve", request, name, {"stored": stored, "before": before, "bytes": before + more})

    async def start(self, request: Request) -> Response:
        """Start a job."""
        return answer(self._public((await self._ask("start", request))["job"]))

    async def cancel(self, request: Request) -> Response:
        """Stop a job, and keep only its state."""
        return answer(self._public((await self._ask("cancel", request))["job"]))

    async def get(self, request: Request) -> Response:
        """Tell the state of a job."""
        return answer(self._public((await self._ask("get", request))["job"]))

    async def delete(self, request: Request) -> Response:
        """Delete a job."""
        await self._ask("delete", request)
        return Response(status_code=204)

    async def listed(self, request: Request) -> Response:
        """List the jobs of an owner."""
        values = chosen(request.scope["query_string"], (PLACE, params.PAGE))
        after, limit = _place(values["after"]), values["limit"]
        asked = {"owner": grant_of(request).id, "after": after, "limit": limit + 1}
        told, _ = await self._keeper.ask("jobs.list", asked)
        jobs = told["jobs"][:limit]
        more = f"{jobs[-1]['created']!r}-{jobs[-1]['id']}" if len(told["jobs"]) > limit else None
        return answer({"comparisons": [self._public(job) for job in jobs], "next": more})

    async def table(self, request: Request) -> Response:
        """Return a table of a report to the owner of its job."""
        job = _job((await self._ask("get", request))["job"])
        if job.state != DONE:
            raise FaultError(NOT_DONE)
        name = request.url.path.rpartition("/")[2]
        return reports.streamed(reports.opened(self._folders.report(job), name), name)

    async def redirect(self, request: Request) -> Response:
        """Lead to the overview of a report."""
        await self._at(request)
        headers = dict(reports.PRIVATE)
        return RedirectResponse(f"{request.path_params['address']}/{reports.OVERVIEW}", 307, headers)

    async def report(self, request: Request) -> Response:
        """Return a file of a report by its address."""
        name = request.path_params["file"]
        return reports.streamed(reports.opened(self._folders.report(await self._at(request)), name), name)

    async def _at(self, request: Request) -> Job:
        """Return the job of an address. Errors: ``FaultError`` if it has no report."""
        job = await at(self._context, request.path_params["address"])
        if job.state != DONE:
            raise FaultError(reports.NO_REPORT)
        return job

    async def _ask(
        self, op: str, request: Request, name: str | None = None, more: Mapping[str, Any] = MappingProxyType({})
    ) -> dict[str, Any]:
        """Ask the keeper about a job of the sender of a request. Errors: ``FaultError``."""
        wanted = request.path_params["id"] if name is None else name
        if not wanted.isascii():
            raise FaultError(NO_JOB)
        told, _ = await self._keeper.ask(f"jobs.{op}", {"id": wanted, "owner": grant_of(request).id, **more})
        return told

    def _public(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return what the owner of a job is told."""
        kept = ("id", "state", "origin", "options", "files", "bytes", "attempts", "progress", "reason", "summary")
        shown = {name: job[name] for name in kept}
        shown |= {name: _moment(job[name]) for name in ("created", "started", "finished", "expires")}
        address = f"{self._settings.public_url or ''}/reports/{job['address']}/{reports.OVERVIEW}"
        return shown | {"report": address if job["state"] == DONE else None}


async def at(context: Context, address: str) -> Job:
    """Return the job of an address until it expires. Errors: ``FaultError``."""
    found = None
    if address.isascii():
        told, _ = await context.keeper.ask("jobs.at", {"address": address})
        found = told["job"]
    if found is None:
        raise FaultError(reports.NO_REPORT)
    return _job(found)


def _job(told: dict[str, Any]) -> Job:
    return Job(**{name: value for name, value in told.items() if name != "progress"})


def _check_zip(request: Request, head: bytes) -> None:
    """Refuse a body that is no zip archive. Errors: ``FaultError``."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _ZIPS:
        raise FaultError(OTHER_TYPE)
    if not head.startswith(_ZIP_HEADS):
        raise FaultError(NOT_A_ZIP)


async def _blocks(request: Request) -> AsyncIterator[bytes]:
    """Yield a body in blocks, none of them empty."""
    parts, size = [], 0
    async for part in request.stream():
        parts.append(part)
        size += len(part)
        if size >= _BLOCK:
            yield b"".join(parts)
            parts, size = [], 0
    if size:
        yield b"".join(parts)


def _place(text: str | None) -> tuple[float, str] | None:
    """Read the place after which a page begins. Errors: ``FaultError``."""
    if text is None:
        return None
    moment, _, name = text.rpartition("-")
    try:
        return decimal(moment), name
    except ValueError:
        raise FaultError(Fault(422, "bad-parameter", "after is not the `next` of an earlier page")) from None


def _moment(seconds: float | None) -> str | None:
    """Return a time as ISO 8601 in UTC."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
