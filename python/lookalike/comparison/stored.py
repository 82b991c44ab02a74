"""What an archive keeps of a submission for a comparison, besides its files: digest, formats, places and notes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import NamedTuple

from lookalike.comparison.reading import Read
from lookalike.documents import Submission


class FileFacts(NamedTuple):
    """What is known of a file besides its text and tokens; as in ``Read``."""

    name: str
    languages: tuple[str, ...]
    notes: tuple[str, ...]
    format: str
    places: tuple[tuple[int, str], ...]


class Facts(NamedTuple):
    """What is known of a submission."""

    digest: str
    files: tuple[FileFacts, ...]


def facts(submission: Submission, reads: Sequence[Read]) -> bytes:
    """Return what is stored beside the files of a submission that could be read, in their order."""
    files = [
        [read.name, read.languages, read.notes, read.format, read.places] for read in reads if read.file is not None
    ]
    return json.dumps({"digest": digest(submission), "files": files}, separators=(",", ":")).encode("ascii")


def read_facts(stored: bytes) -> Facts:
    """Return what ``facts`` stored. Errors: ``ValueError`` for other bytes."""
    try:
        found = json.loads(stored)
        return Facts(str(found["digest"]), tuple(_file(*row) for row in found["files"]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"the facts of a stored submission are not what was written: {error}") from None


def _file(name: str, languages: list[str], notes: list[str], form: str, places: list[tuple[int, str]]) -> FileFacts:
    return FileFacts(name, tuple(languages), tuple(notes), form, tuple((int(at), str(what)) for at, what in places))


def digest(submission: Submission) -> str:
    """Return SHA-256 over each file's name and bytes, each preceded by its length."""
    made = hashlib.sha256()
    for document in submission.documents:
        for piece in (document.name.encode("utf-8", "surrogateescape"), document.data):
            made.update(len(piece).to_bytes(8, "little"))
            made.update(piece)
    return made.hexdigest()
