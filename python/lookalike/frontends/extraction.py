"""Reads foreign formats in a worker process (see ``engines.confined``): the same text, within limits.

PDF and Word files always, because their parsers may take anything. A server, which also must be able to give up what
strangers send, has HTML and mail read so, too. ``reader`` makes the front end that this process uses. ``serve`` is what
the worker runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from lookalike.engines import confined
from lookalike.errors import FrontendError
from lookalike.frontends.readable import Part, Readable

#: The modules that read in a worker, by the name of their format.
_MODULES = {format: f"lookalike.frontends.{format}" for format in ("pdf", "docx", "html", "mail")}


def reader(format: str) -> Callable[[bytes, str, bool], Readable]:
    """Return a function that has a worker read a document. Errors of it: ``FrontendError``."""

    def read(data: bytes, language: str, comments: bool) -> Readable:
        asked = {"module": __name__, "format": format, "language": language, "comments": comments}
        try:
            head, text = confined.ask(asked, data)
        except confined.BrokenError as error:
            raise FrontendError(str(error)) from None
        if "refusal" in head:
            raise FrontendError(head["refusal"])
        if "fault" in head:
            raise RuntimeError(head["fault"])
        parts = tuple(Part(*part) for part in head["parts"])
        places = tuple((start, label) for start, label in head["places"])
        return Readable(text.decode(), parts, tuple(head["notes"]), places)

    return read


def serve(head: dict[str, Any], data: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Read a document, and answer with its text or the reason why it cannot be read."""
    try:
        readable = import_module(_MODULES[head["format"]]).read(data, head["language"], head["comments"])
    except FrontendError as error:
        yield {"refusal": str(error)}, b""
        return
    parts = [part[:3] for part in readable.parts]
    yield {"parts": parts, "notes": readable.notes, "places": readable.places}, readable.text.encode()
