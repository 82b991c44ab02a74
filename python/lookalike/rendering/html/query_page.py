"""Writes the answers about one document as a page: a folder with report.html and report.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike import _core
from lookalike._types import counted
from lookalike.rendering.comparison_tables import KIND, SCHEMA_VERSION
from lookalike.rendering.html import frame
from lookalike.rendering.html.folder import JSON, OVERVIEW, drafted
from lookalike.rendering.safe import visible
from lookalike.rendering.terminal import queries

if TYPE_CHECKING:
    from lookalike.archive.answers import Answer, Queried

#: What each question asks, as a heading for people.
ASKS = {
    "identical": "The same text",
    "passages": "Shared passages",
    "resemblance": "Many common shingles",
    "containment": "Contained in it, or containing it",
    "distance": "A near simhash",
}
_COLUMNS = {
    "identical": (),
    "passages": ("Shared fingerprints", "Tokens in passages", "Lines here = there"),
    "resemblance": ("Resemblance",),
    "containment": ("Share of this document that is in it", "Share of it that is in this document"),
    "distance": ("Bits that differ",),
}


class Row(NamedTuple):
    """A document in a list."""

    title: str
    where: str
    copies: int
    measures: list[str]


class Section(NamedTuple):
    """The answer to a question, ready to be shown."""

    name: str
    title: str
    heading: str
    columns: tuple[str, ...]
    rows: list[Row]
    certificate: str


def write(found: Queried, out: Path, *, overwrite: bool = False) -> Path:
    """Write a new folder, or with ``overwrite`` replace an earlier report; return the page.

    Errors: ``ParameterError`` if the folder is not free, ``OSError``.
    """
    with drafted(out, overwrite=overwrite) as draft:
        (draft / OVERVIEW).write_bytes(page(found).encode())
        (draft / JSON).write_bytes(_json(found).encode())
    return out / OVERVIEW


def page(found: Queried) -> str:
    """Return the page as HTML."""
    name = visible(found.name)
    size = f"{counted(found.tokens, 'token')} and {counted(found.shingles, 'distinct shingle')}"
    documents = counted(found.documents, "document")
    return frame.page(
        "query",
        title=f"{name} against the archive",
        lead=f"{name} has {size}. It was compared with {documents} of {visible(found.index)}.",
        tiles=[(answer.question, answer.documents) for answer in found.answers],
        sections=[_section(answer) for answer in found.answers],
        notes=[visible(note) for note in found.notes],
        version=_core.__version__,
    )


def _section(answer: Answer) -> Section:
    rows = [
        Row(visible(match.title), queries.origin(match), match.copies, queries.measures(match))
        for match in answer.matches
    ]
    certificate = ". ".join([*queries.common(answer), answer.certificate])
    certificate = certificate[:1].upper() + certificate[1:] + "."
    heading = queries.heading(answer).partition(": ")[2]
    return Section(
        answer.question, ASKS[answer.question], heading, _COLUMNS[answer.question], rows, visible(certificate)
    )


def _json(found: Queried) -> str:
    parts: dict[str, Any] = {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "of": "query",
        "version": _core.__version__,
        **found.to_json(),
    }
    return json.dumps(parts, indent=1) + "\n"
