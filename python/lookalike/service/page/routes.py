"""Serves the page: its files from memory, under a policy that runs only them, and the view of a pair.

Nothing of the page is private, so it needs no token; all it shows comes from the API with the token of its user. The
view of a pair is a page of the report in a sandboxed frame, which inherits this policy: so the policy names the hashes
of that page's style and script.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from lookalike import params
from lookalike.frontends import LANGUAGES
from lookalike.rendering.html import frame
from lookalike.service import given
from lookalike.service.context import Context
from lookalike.service.faults import NO_DOCUMENT, NOT_FOUND, FaultError
from lookalike.service.operations import Operation
from lookalike.service.options import chosen
from lookalike.service.page.pairing import pair_page

_FILES = Path(__file__).parent / "static"
#: The style of the report, which the page shares.
_LOOK = "look.css"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
#: The policy of the page of a pair outside of its frame.
_ALONE = "default-src 'none'; sandbox; frame-ancestors 'none'"
_NAME = re.compile(r"[a-z_]+\.(?:css|js)")


@cache
def files() -> dict[str, bytes]:
    """Return the files of the page by name."""
    found = {path.name: path.read_bytes() for path in _FILES.iterdir() if path.suffix in _TYPES}
    return found | {_LOOK: (frame.TEMPLATES / _LOOK).read_bytes(), "known.js": _known()}


def _known() -> bytes:
    """Return what the page knows of the package: the languages of files, and defaults of parameters."""
    languages = sorted(name for name, one in LANGUAGES.items() if one.kind != "format")
    cut_offs = f"{params.CODE_CUT_OFF} code, {params.LANGUAGE_CUT_OFFS['text']} prose"
    defaults = {"min_score": cut_offs, "top": params.ASKING["top"].default}
    return (
        f"export const LANGUAGES = {json.dumps(languages)};\nexport const DEFAULTS = {json.dumps(defaults)};\n".encode()
    )


@cache
def policy() -> str:
    """Return the policy of the page: its own files, the API, and the page of a pair in a frame."""
    style, script = frame.hashes("pair")
    return (
        f"default-src 'none'; style-src 'self' {style}; script-src 'self' {script}; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


async def page(_request: Request) -> Response:
    """Return the page."""
    return _file("page.html")


async def static(request: Request) -> Response:
    """Return a file of the page."""
    name = request.path_params["file"]
    if not _NAME.fullmatch(name) or name not in files():
        raise FaultError(NOT_FOUND)
    return _file(name)


def _file(name: str) -> Response:
    kind = f"{_TYPES[Path(name).suffix]}; charset=utf-8"
    # Files change with the version; a browser asks again.
    headers = {"Content-Security-Policy": policy(), "Cache-Control": "no-cache"}
    return Response(files()[name], headers=headers, media_type=kind)


class Pairing:
    """The view of a pair: a document of a request beside one of an index."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def show(self, request: Request) -> Response:
        """Return the page of the pair."""
        options = chosen(request.scope["query_string"], [params.ASKING["name"]])
        id_ = given.checked_id(request.path_params["id"])
        index = self._context.index(request.path_params["name"])
        one = given.document(await request.body(), request.headers.get("content-type", ""), options["name"])
        folder = self._context.settings.run
        found = await self._context.run(request, lambda: pair_page(one, index, id_, folder))
        if found is None:
            raise FaultError(NO_DOCUMENT)
        # Opened by itself nothing in it runs.
        return Response(found, headers={"Content-Security-Policy": _ALONE}, media_type="text/html")


def routes(context: Context) -> list[Operation]:
    """Return the operations of the page; the API document does not list them."""
    show = Pairing(context).show
    return [
        Operation("GET", "/", page, "Return the page.", is_listed=False),
        Operation("GET", "/static/{file}", static, "Return a file of the page.", is_listed=False),
        Operation(
            "POST", "/page/pairs/{name}/{id:path}", show, "Show a document beside one of an index.", ("read",),
            is_listed=False,
        ),
    ]  # fmt: skip
