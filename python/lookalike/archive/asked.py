"""Reads the document that questions are asked about: a text, a file, or a folder that is one submission.

An index of a class reads it as ``compare`` does, an index of a corpus as ``dedup`` reads a document.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TypeAlias

from lookalike import _core, documents
from lookalike.archive.parameters import Parameters
from lookalike.archive.signing import encoded
from lookalike.archive.signing_submissions import question
from lookalike.comparison.reading import Read, read_one
from lookalike.documents import Document
from lookalike.errors import FrontendError
from lookalike.frontends import installed

#: A text, bytes as a file has them, or the path of a file or folder.
Given: TypeAlias = str | bytes | os.PathLike[str]
#: The name of a document that has none.
UNNAMED = "document"


@dataclass(frozen=True)
class AskedFor:
    """A document that was read."""

    name: str
    core: _core.AskedDocument
    #: Its files, for a comparison; empty for a row of a corpus.
    reads: tuple[Read, ...] = ()
    notes: tuple[str, ...] = ()
    #: The text of a row of a corpus.
    text: str | bytes = ""


def read(
    given: Given, name: str | None, parameters: Parameters, asker: _core.Asker, *, is_seen: bool = False
) -> AskedFor:
    """Read a document; ``is_seen``: only to tell whether it was seen. Errors: ``FrontendError``, ``OSError``."""
    title = name or (os.path.basename(os.fspath(given)) if isinstance(given, os.PathLike) else UNNAMED)
    if parameters.kind == "corpus":
        return _row(given, title, asker, is_seen)
    found = _documents(given, name)
    reads = [read_one(one, question(parameters), installed()) for one in found]
    files = [(encoded(one.name), one.file) for one in reads if one.file is not None]
    if not files:
        reasons = "; ".join(f"{one.name}: {one.refusal}" for one in reads[:3]) or "there is no file in it"
        raise FrontendError(f"`{title}` cannot be asked about: {reasons}")
    notes = [f"{one.name}: {one.refusal}; it is left out" for one in reads if one.refusal is not None]
    notes += [f"{one.name}: {note}" for one in reads for note in one.notes]
    return AskedFor(title, asker.files(files), tuple(reads), tuple(notes))


def _row(given: Given, title: str, asker: _core.Asker, is_seen: bool) -> AskedFor:
    """Read a row of a corpus: a typed string as it is, a file as its readable text."""
    if isinstance(given, str):
        return AskedFor(title, asker.text(given, is_seen), text=given)
    data = documents.read(given) if isinstance(given, os.PathLike) else given
    found = installed().extract(title, data)
    return AskedFor(title, asker.text(found.text, is_seen), (), tuple(found.notes), found.text)


def _documents(given: Given, name: str | None) -> list[Document]:
    if isinstance(given, os.PathLike):
        if not os.path.isdir(given):
            return [Document(name or os.path.basename(os.fspath(given)), documents.read(given))]
        below = f"{os.path.basename(os.path.abspath(given))}/"
        intake = documents.collect([], templates=[given])
        return [Document(one.name.removeprefix(below), one.data) for one in intake.templates]
    data = given.encode("utf-8", "replace") if isinstance(given, str) else bytes(given)
    return [Document(name or UNNAMED, data)]
