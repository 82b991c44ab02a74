"""Plain text and the core's own languages: the bytes are the readable text, and the core decodes and splits them."""

from __future__ import annotations

from lookalike.frontends.languages import CORE_LANGUAGES, TEXT
from lookalike.frontends.readable import BuiltIn, Part, Readable


def read(data: bytes, language: str, comments: bool) -> Readable:
    """Hand the bytes over as they are; whether comments count is the core's to heed."""
    return Readable(data, (Part(language, 0, len(data)),))


FRONT_END = BuiltIn((TEXT, *CORE_LANGUAGES), read)
