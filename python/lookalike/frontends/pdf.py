"""Reads the pages of PDF files, each under a label that is shown and never compared.

Each page is a part of its own. Nothing separates the tokens of one part from those of the next, so a passage across a
page break is found in one piece, without the page number. A word divided at the end of a line is joined if the file
marks the hyphen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from lookalike._types import counted
from lookalike.errors import FrontendError
from lookalike.frontends.extraction import reader
from lookalike.frontends.readable import BuiltIn, Composer, Language, Readable

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

#: Most pages read of one document; about 25 s of work.
MAX_PAGES = 2000
#: Most characters read of one document; a page may draw the same text a million times.
MAX_CHARACTERS = 1 << 26

#: pdfium writes U+FFFE or U+0002 for a hyphen that divides a word at the end of a line.
_DIVIDED = "[\ufffe\x02\xad]\r?\n?"
_UNREADABLE = "no PDF that can be read: cut short or damaged; print it to a new PDF"


def read(data: bytes, language: str, comments: bool) -> Readable:
    """Return the text of all pages."""
    composer = Composer()
    silent = size = 0
    for number, text, total in _pages(data):
        if number > MAX_PAGES or size > MAX_CHARACTERS:
            composer.notes.append(f"only the first {number - 1:,} of {total:,} pages were read")
            break
        composer.mark(f"page {number}")
        composer.part(text, "text")
        silent += not text.strip()
        size += len(text)
    if silent == number or not size:
        raise FrontendError(f"none of its {counted(total, 'page')} holds text: scanned? run OCR over it first")
    if silent:
        composer.notes.append(f"{silent:,} of {counted(total, 'page')} hold no text (scanned?)")
    return composer.readable()


def _pages(data: bytes) -> Iterator[tuple[int, str, int]]:
    """Yield the number, the text and the count of pages; a page that cannot be read has no text."""
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(data)
    except PdfiumError as error:
        locked = "password" in str(error).lower()
        raise FrontendError("locked by a password: save it without one" if locked else _UNREADABLE) from None
    with closing(document):
        total = len(document)
        if not total:
            raise FrontendError(_UNREADABLE)
        for index in range(total):
            try:
                yield index + 1, _page_text(document, index), total
            except PdfiumError:
                yield index + 1, "", total


def _page_text(document: PdfDocument, index: int) -> str:
    with closing(document[index]) as page, closing(page.get_textpage()) as text_page:
        text = re.sub(_DIVIDED, "", str(text_page.get_text_range()))
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


FRONT_END = BuiltIn((Language("pdf", "format", suffixes=(".pdf",)),), reader("pdf"))
