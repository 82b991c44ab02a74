"""Signs documents of requests for an index: what `lookalike index add` stores, made in a reader.

The records go to the keeper, which only appends them. What cannot be read has its reason.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from lookalike import documents
from lookalike.archive.parameters import Parameters
from lookalike.archive.signing import SignedDocument, encoded, signer
from lookalike.archive.signing_submissions import sign_one
from lookalike.documents import Document, Submission
from lookalike.documents.collection import DEFAULT_LIMITS
from lookalike.errors import FrontendError
from lookalike.frontends import installed
from lookalike.service.faults import Fault, FaultError
from lookalike.service.given import Given

#: Most bytes of the files of an archive: so many, or as a multiple of its size. Code is compressed to a fifth.
_ARCHIVE_LEAST, _ARCHIVE_RATIO = 16 << 20, 10


class Outcome(NamedTuple):
    """A document that was signed, or why it was not."""

    signed: SignedDocument | None
    refusal: str | None = None
    notes: tuple[str, ...] = ()
    #: The files of a submission, each with the language that it was read as.
    files: tuple[tuple[str, str], ...] = ()


def sign(given: Sequence[Given], parameters: Parameters, folder: str) -> list[Outcome]:
    """Sign documents, in their order. ``folder`` is a private place for archives while they are read."""
    if parameters.kind == "corpus":
        return _rows(given, parameters)
    return [_submission(one, parameters, folder) for one in given]


def _rows(given: Sequence[Given], parameters: Parameters) -> list[Outcome]:
    read = [_text(one) for one in given]
    good = [(one, text) for one, (text, _, _) in zip(given, read, strict=True) if text is not None]
    texts: list[Any] = [text for _, text in good]
    made, skipped, _ = signer(parameters).rows(
        texts,
        [encoded(one.id or "") for one, _ in good],
        [_meta(one) for one, _ in good],
        [one.time for one, _ in good],
        None,
    )
    refused, signed = dict(skipped), iter(made)
    outcomes, place = [], 0
    for text, refusal, notes in read:
        if text is None:
            outcomes.append(Outcome(None, refusal))
            continue
        reason = refused.get(place)
        outcomes.append(Outcome(next(signed), None, notes) if reason is None else Outcome(None, reason))
        place += 1
    return outcomes


def _text(one: Given) -> tuple[str | bytes | None, str | None, tuple[str, ...]]:
    """Return the readable text of a document, or why there is none, and notes."""
    if isinstance(one.content, str):
        return one.content, None, ()
    try:
        found = installed().extract(one.title, one.content)
    except FrontendError as error:
        return None, str(error), ()
    return found.text, None, tuple(found.notes)


def _meta(one: Given) -> bytes:
    return json.dumps({"fields": one.metadata} if one.metadata else {}, separators=(",", ":")).encode()


def _submission(one: Given, parameters: Parameters, folder: str) -> Outcome:
    fields = dict(one.metadata)
    person, label = (fields.pop(key) if isinstance(fields.get(key), str) else None for key in ("person", "label"))
    submission = Submission(one.id or "", person, label, one.time, False, files(one, folder), known_as=person)
    signed, problems, read = sign_one(submission, parameters, fields)
    if signed is None:
        return Outcome(None, "; ".join(problem.reason for problem in problems[:3]) or "there is no file in it")
    notes = [f"{problem.place}: {problem.reason}" if problem.place else problem.reason for problem in problems]
    return Outcome(signed, None, (*notes, *_unnamed(one, parameters, read)), tuple(read))


def _unnamed(one: Given, parameters: Parameters, read: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a note if nothing but the missing file extension made a document prose: it may well be code."""
    if one.is_zip or parameters.language != "auto" or [language for _, language in read] != ["text"]:
        return
    if not os.path.splitext(one.title)[1]:
        yield "its name has no file extension, so it was read as text: for code give a name such as Main.java"


def files(one: Given, folder: str) -> tuple[Document, ...]:
    """Return the files of a document: of an archive all of them, within limits."""
    if not one.is_zip:
        return (one.document(),)
    assert isinstance(one.content, bytes)
    with tempfile.TemporaryDirectory(dir=folder, prefix="archive-") as place:
        path = os.path.join(place, "archive.zip")
        with open(path, "wb") as file:
            file.write(one.content)
        limits = replace(DEFAULT_LIMITS, archive_bytes=max(_ARCHIVE_LEAST, _ARCHIVE_RATIO * len(one.content)))
        found = documents.collect([], templates=[path], limits=limits)
    if not found.templates:
        reason = found.skipped[0].reason if found.skipped else "there is no file in it"
        raise FaultError(Fault(422, "unreadable", f"the archive cannot be read: {reason}"))
    return tuple(Document(document.name.removeprefix("archive.zip/"), document.data) for document in found.templates)
