"""Shows a document beside one of an index, as the page of a pair in a report, with every passage they share.

Both are compared by ``compare``, with k, t and the starter code of the index; a corpus is compared as text. Cost: that
of ``compare`` on two submissions, and a pass over the flags of all documents.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from typing import Any, TypeAlias

from lookalike.archive.store import Index
from lookalike.comparison.job import compare
from lookalike.documents import Document
from lookalike.frontends import LANGUAGES, detect, installed
from lookalike.rendering.html.pair_page import PairPages
from lookalike.rendering.safe import visible
from lookalike.service import signing
from lookalike.service.faults import Fault, FaultError
from lookalike.service.given import Given

NO_PASSAGE = Fault(422, "no-passage", "the two documents share no passage that is long enough to be shown")
NO_TEXT = Fault(409, "no-text", "the index does not keep texts, so the documents cannot be shown side by side")
#: Characters of a file name that are kept; the name is only shown.
_ODD = re.compile(r"[^A-Za-z0-9._-]")
#: The submissions that are compared: one folder each.
_ASKED, _STORED = "asked", "stored"
#: A file of a document: its name, and its readable text.
_File: TypeAlias = tuple[bytes, str]


def pair_page(asked: Given, index: Index, id_: str, folder: str) -> str | None:
    """Return the page of two documents, or ``None`` if the index has none with this id. Errors: ``FaultError``."""
    with index.snapshot() as view:
        if view.document(id_) is None:
            return None
        texts = view.texts(id_)
        starter = [file for number in view.core.templates() for file in view.core.texts(number)]
    if not texts or not index.parameters.texts:
        raise FaultError(NO_TEXT)
    parameters = index.parameters
    is_corpus = parameters.kind == "corpus"
    own = [_text(asked)] if is_corpus else signing.files(asked, folder)
    question: dict[str, Any] = {"comments": parameters.comments, "k": parameters.k, "t": parameters.t}
    if is_corpus:
        question["k"], question["t"] = parameters.thresholds_of("text")
    with tempfile.TemporaryDirectory(dir=folder, prefix="pair-") as place:
        both, given = os.path.join(place, "both"), os.path.join(place, "starter")
        os.mkdir(both)
        _write(os.path.join(both, _ASKED), own)
        _write(os.path.join(both, _STORED), _documents(texts, is_corpus))
        _write(given, _documents(starter, is_corpus))
        question |= {"template": [given] if starter else []}
        report = compare(
            both, by_directory=True, layout="dirs", language=parameters.language, min_score=0, threads=1, **question
        )
    pairs = [*report.pairs, *report.contained, *report.shared]
    if not pairs:
        raise FaultError(NO_PASSAGE)
    shown = {_ASKED: visible(asked.title), _STORED: visible(id_)}
    names = [shown.get(entry.name, entry.name) for entry in report.entries]
    pages = PairPages(report, names, report.marks, is_alone=True, is_asked=True)
    return pages.page(pairs[0], "your document beside one of the archive")


def _documents(files: Iterable[_File], is_corpus: bool) -> list[Document]:
    """Return stored texts as files."""
    named = ((_readable(name.decode("utf-8", "replace"), is_corpus), text) for name, text in files)
    return [Document(name, text.encode("utf-8", "replace")) for name, text in named]


def _readable(name: str, is_corpus: bool) -> str:
    """Return a name under which a stored text is read as it is: what was a PDF or a page is text by now."""
    if is_corpus:
        return f"{name or 'document'}.txt"
    language = LANGUAGES.get(detect(name, b""))
    return f"{name}.txt" if language is None or language.kind == "format" else name


def _text(asked: Given) -> Document:
    """Return the readable text of a document as a file. Errors: ``FrontendError``."""
    if isinstance(asked.content, str):
        return Document(f"{asked.title}.txt", asked.content.encode("utf-8", "replace"))
    text = installed().extract(asked.title, asked.content).text
    return Document(f"{asked.title}.txt", text.encode("utf-8", "replace") if isinstance(text, str) else text)


def _write(folder: str, documents: Iterable[Document]) -> None:
    """Write files under names that stay in the folder."""
    os.mkdir(folder)
    for number, document in enumerate(documents, 1):
        base = _ODD.sub("_", os.path.basename(document.name.replace("\\", "/")))[-100:].lstrip(".") or "file"
        path = os.path.join(folder, base)
        if os.path.exists(path):
            os.mkdir(os.path.join(folder, str(number)))
            path = os.path.join(folder, str(number), base)
        with open(path, "wb") as file:
            file.write(document.data)
