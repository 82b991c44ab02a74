"""The page that a client of MOSS gets: a table of pairs, each linked to its page `match0.html`, `match1.html` ….

Scripts download it: ``mosspy`` follows the links that have `match` in them, and no others. All links are whole
addresses, because the page's own address has no slash at its end, and the copy on a disk has none at all. So no other
link may have `match` in it.
"""

from __future__ import annotations

import asyncio
import html
import json
import re
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lookalike import _core
from lookalike._types import counted
from lookalike.rendering.html import frame
from lookalike.rendering.safe import visible
from lookalike.service.comparing import reports
from lookalike.service.comparing.api import at
from lookalike.service.comparing.folders import Folders
from lookalike.service.comparing.jobs import DONE, FAILED, Job
from lookalike.service.context import Context
from lookalike.service.faults import FaultError
from lookalike.service.operations import Operation

HTML = "text/html; charset=utf-8"
#: The links of a pair's page to others, which are all in its first navigation.
_LINK = re.compile(rb'href="\.\./(?:pairs/([0-9]+)\.html|([^"]*))"')
_MATCH = re.compile(r"match([0-9]{1,9})\.html")


def routes(context: Context) -> list[Operation]:
    """Return the operations of this file."""
    pages = Pages(context)
    return [
        Operation("GET", "/moss/{address}", pages.overview, "Get the pairs of a comparison.", is_listed=False),
        Operation("GET", "/moss/{address}/{page}", pages.pair, "Get the page of a pair.", is_listed=False),
    ]


class Pages:
    """The handlers."""

    def __init__(self, context: Context) -> None:
        self._context, self._folders = context, Folders(context.settings.data)

    async def overview(self, request: Request) -> Response:
        """Return the table of pairs, or why there is none."""
        job = await self._job(request)
        if job.state == FAILED:
            # A script that saves pages must not take this one for a report.
            return _page(failure(job), 422)
        rows = await asyncio.to_thread(self._rows, job)
        return _page(overview(job, rows, self._base(request)))

    async def pair(self, request: Request) -> Response:
        """Return the page of a pair, with links that lead where MOSS has them."""
        job = await self._job(request)
        found = _MATCH.fullmatch(request.path_params["page"])
        if not found or job.state != DONE:
            raise FaultError(reports.NO_REPORT)
        name = f"pairs/{int(found[1]) + 1:03}.html"
        with await asyncio.to_thread(reports.opened, self._folders.report(job), name) as file:
            data = await asyncio.to_thread(file.read)
        return _page(linked(data, self._base(request), job.address))

    async def _job(self, request: Request) -> Job:
        """Return the job of an address that came over MOSS and is over. Errors: ``FaultError``."""
        job = await at(self._context, request.path_params["address"])
        if job.origin != "moss" or job.state not in (DONE, FAILED):
            raise FaultError(reports.NO_REPORT)
        return job

    def _rows(self, job: Job) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads(self._folders.rows(job).read_bytes())
        return rows

    def _base(self, request: Request) -> str:
        """Return the address of this server as the client sees it."""
        host = html.escape(request.headers.get("host", ""))
        return self._context.settings.public_url or f"{request.url.scheme}://{host}"


def _page(data: bytes, status: int = 200) -> Response:
    headers = {**reports.PRIVATE, "Content-Security-Policy": reports.policy(data[: reports.HEAD_BYTES])}
    return Response(data, status, headers, HTML)


def overview(job: Job, rows: list[dict[str, Any]], base: str) -> bytes:
    """Return the table of pairs."""
    summary = job.summary or {}
    found = counted(summary["pairs"], "pair")
    shown = "" if len(rows) <= summary["pairs"] else " and others that share a passage"
    cut = f" The first {len(rows):,} have a page here." if len(rows) < summary["pairs"] else ""
    return frame.page(
        "moss",
        title=_title(job),
        lead=f"{counted(summary['submissions'], 'submission')} compared: {found} reach the cut-off{shown}.{cut}",
        reason="",
        report=f"{base}/reports/{job.address}/{reports.OVERVIEW}",
        rows=[row | {"page": f"{base}/moss/{job.address}/match{i}.html"} for i, row in enumerate(rows)],
        version=_core.__version__,
        expires=datetime.fromtimestamp(job.expires, UTC).date().isoformat(),
    ).encode()


def failure(job: Job) -> bytes:
    """Return why there is no report."""
    return frame.page(
        "moss",
        title=_title(job),
        lead="There is no report: the comparison failed.",
        reason=visible(_in_words_of_moss(job.reason or "")),
        report="",
        rows=[],
        version=_core.__version__,
        expires="",
    ).encode()


def _in_words_of_moss(reason: str) -> str:
    """Return a reason with what the sender of files can do instead of the options of ``compare``."""
    lone, _, advice = reason.partition(": give at least two")
    if not advice:
        return reason
    return f"{lone}: send at least two files, or with -d files of at least two folders"


def _title(job: Job) -> str:
    return visible(str(job.options.get("title") or "Comparison"))


def linked(page: bytes, base: str, address: str) -> bytes:
    """Return a pair's page whose links lead to the other pages of MOSS, and to the report."""
    top, end, rest = page.partition(b"</nav>")

    def address_of(found: re.Match[bytes]) -> bytes:
        if found[1]:
            return f'href="{base}/moss/{address}/match{int(found[1]) - 1}.html"'.encode()
        return f'href="{base}/reports/{address}/'.encode() + found[2] + b'"'

    return _LINK.sub(address_of, top) + end + rest
