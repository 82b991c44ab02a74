"""Reads the document that questions are asked about: a text, a file, or a folder that is one submission.

An index of a class reads it as ``compare`` does, an index of a corpus as ``dedup`` reads a document.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from lookalike import _core, documents
from lookalike.archive.parameters import Parameters
from lookalike.archive.signing import encoded
from lookalike.archive.signing_submissions import question
from lookalike.comparison.reading import Question, Read, read_one
from lookalike.documents import Document
from lookalike.documents.archives import has_archive_name
from lookalike.errors import FrontendError, VersionError
from lookalike.frontends import installed

#: A text, bytes as a file has them, the path of a file or folder, or the files of one submission.
Given: TypeAlias = str | bytes | os.PathLike[str] | tuple[Document, ...]
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
    #: Its files as they were given.
    documents: tuple[Document, ...] = ()


def read(
    given: Given,
    name: str | None,
    parameters: Parameters,
    asker: _core.Asker,
    *,
    is_seen: bool = False,
    window: int | None = None,
) -> AskedFor:
    """Read a document. Errors: ``FrontendError``, ``VersionError``, ``OSError``.

    ``is_seen``: only to tell whether it was seen; ``window``: fingerprints are selected with windows of so many
    k-grams, which must not be fewer than those of the index.
    """
    title = name or (os.path.basename(os.fspath(given)) if isinstance(given, os.PathLike) else UNNAMED)
    if parameters.kind == "corpus":
        _check_window(window, ["text"], parameters)
        return _row(given, title, asker, is_seen)
    found, asked = _documents(given, name), question(parameters)
    asked = asked if window is None else Coarser(**vars(asked), window=window)
    reads = [read_one(one, asked, installed()) for one in found]
    _check_window(window, (language for one in reads for language in one.languages), parameters)
    files = [(encoded(one.name), one.file) for one in reads if one.file is not None]
    if not files:
        reasons = "; ".join(f"{one.name}: {one.refusal}" for one in reads[:3]) or "there is no file in it"
        raise FrontendError(f"`{title}` cannot be asked about: {reasons}")
    notes = [f"{one.name}: {one.refusal}; it is left out" for one in reads if one.refusal is not None]
    notes += [f"{one.name}: {note}" for one in reads for note in one.notes]
    return AskedFor(title, asker.files(files), tuple(reads), tuple(notes), documents=tuple(found))


@dataclass(frozen=True)
class Coarser(Question):
    """How a document is read whose fingerprints are selected with other windows than those of the index."""

    window: int

    def thresholds(self, language: str) -> tuple[int, int]:
        """Return k of the language, and the length of a run that has a whole window."""
        k, _ = super().thresholds(language)
        return k, k + self.window - 1


def _check_window(window: int | None, languages: Iterable[str], parameters: Parameters) -> None:
    """Refuse windows that are shorter than those of the index. Errors: ``VersionError``."""
    for language in languages if window is not None else ():
        k, t = parameters.thresholds_of(language)
        if window is not None and window < t - k + 1:
            raise VersionError(
                f"window `{window}` is shorter than that of the index, which has not stored what it would select: "
                f"use {t - k + 1} or more for {language}"
            )


def _row(given: Given, title: str, asker: _core.Asker, is_seen: bool) -> AskedFor:
    """Read a row of a corpus: a typed string as it is, a file as its readable text."""
    if isinstance(given, str):
        whole = Document(title, given.encode("utf-8", "replace"))
        return AskedFor(title, asker.text(given, is_seen), text=given, documents=(whole,))
    if isinstance(given, tuple):
        raise FrontendError(f"`{title}` is several files, and an index of a corpus takes one text at a time")
    data = documents.read(given) if isinstance(given, os.PathLike) else given
    found = installed().extract(title, data)
    core, whole = asker.text(found.text, is_seen), Document(title, bytes(data))
    return AskedFor(title, core, (), tuple(found.notes), found.text, (whole,))


def _documents(given: Given, name: str | None) -> list[Document]:
    if isinstance(given, tuple):
        return list(given)
    if isinstance(given, os.PathLike):
        if not os.path.isdir(given) and not has_archive_name(os.fspath(given)):
            return [Document(name or os.path.basename(os.fspath(given)), documents.read(given))]
        # A folder or an archive is one submission, as starter code is.
        below = f"{os.path.basename(os.path.abspath(given))}/"
        intake = documents.collect([], templates=[given])
        return [Document(one.name.removeprefix(below), one.data) for one in intake.templates]
    data = given.encode("utf-8", "replace") if isinstance(given, str) else bytes(given)
    return [Document(name or UNNAMED, data)]
