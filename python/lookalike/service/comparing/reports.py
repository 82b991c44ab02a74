"""Files of a report over HTTP: only those that a report has, with the policy that the page itself declares.

A report is opened by its address, which cannot be guessed, and without a token. The name of a file is matched against
the few names that reports have; it is never joined to a path before that, so nothing else can be reached.
"""

from __future__ import annotations

import asyncio
import html
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

from starlette.responses import Response, StreamingResponse

from lookalike.service.faults import Fault, FaultError

NO_REPORT = Fault(404, "no-such-report", "there is no report at this address, or it has expired")
OVERVIEW = "report.html"
#: The tables of a report, which its owner can also get by the id of the job.
TABLES = ("report.json", "pairs.csv", "passages.csv", "sections.csv", "clusters.csv")
_PAGE = re.compile(r"pairs/(?:[0-9]{3,9}|more)\.html")
_TYPES = {".html": "text/html; charset=utf-8", ".json": "application/json", ".csv": "text/csv; charset=utf-8"}
#: What a page declares about itself, in its first bytes.
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
HEAD_BYTES = 4096
_PIECE = 1 << 18
#: Caches must not keep a report, search engines must not list it, and its links tell no other site its address.
PRIVATE = {"Cache-Control": "private, no-store", "X-Robots-Tag": "noindex, nofollow", "Referrer-Policy": "no-referrer"}


def opened(report: Path, name: str) -> BinaryIO:
    """Open a file of a report. Errors: ``FaultError`` if a report has no such file."""
    if name not in (OVERVIEW, *TABLES) and not _PAGE.fullmatch(name):
        raise FaultError(NO_REPORT)
    try:
        return os.fdopen(os.open(report / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb")
    except (FileNotFoundError, NotADirectoryError):
        raise FaultError(NO_REPORT) from None


def kind(name: str) -> str:
    """Return the content type of a file of a report."""
    return _TYPES[os.path.splitext(name)[1]]


def streamed(file: BinaryIO, name: str) -> Response:
    """Return a file as an answer, which closes it."""
    headers = {**PRIVATE, "Content-Length": str(os.fstat(file.fileno()).st_size)}
    if name.endswith(".html"):
        headers["Content-Security-Policy"] = policy(file.read(HEAD_BYTES))
        file.seek(0)
    return StreamingResponse(_pieces(file), headers=headers, media_type=kind(name))


def policy(head: bytes) -> str:
    """Return the policy that a page declares, which allows its own scripts by their hashes, and forbids framing.

    A page of another version of lookalike has other hashes, so the policy is that of the page. Without one, nothing
    runs.
    """
    found = _POLICY.search(head)
    declared = html.unescape(found[1].decode("ascii", "replace")) if found else "default-src 'none'"
    return f"{declared}; frame-ancestors 'none'"


async def _pieces(file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        while piece := await asyncio.to_thread(file.read, _PIECE):
            yield piece
