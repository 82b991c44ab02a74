"""Reads plain text and the core's languages: the bytes are the readable text, which the core decodes and splits."""

from __future__ import annotations

from lookalike.frontends.languages import CORE_LANGUAGES, TEXT
from lookalike.frontends.readable import BuiltIn, Part, Readable


def read(data: bytes, language: str, comments: bool) -> Readable:
    """Return the bytes unchanged; the core decides about comments."""
    return Readable(data, (Part(language, 0, len(data)),))


FRONT_END = BuiltIn((TEXT, *CORE_LANGUAGES), read)
