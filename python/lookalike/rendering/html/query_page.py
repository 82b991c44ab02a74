"""Writes the answers about one document as a folder: a page of answers, and a page of each listed document's passages.

The pages of documents are those of pairs of a comparison: both texts side by side, every passage marked.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike import _core
from lookalike._types import counted
from lookalike.rendering.comparison_tables import KIND, SCHEMA_VERSION
from lookalike.rendering.html import frame
from lookalike.rendering.html.folder import JSON, OVERVIEW, drafted
from lookalike.rendering.html.pair_page import PairPages
from lookalike.rendering.safe import visible
from lookalike.rendering.terminal import queries
from lookalike.rendering.wording import decimal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lookalike.archive.answers import Answer, Match, Queried

#: A heading for each question, and what it asks, in plain words.
ASKS = {
    "identical": ("The same text", "Documents whose readable text is the same as that of this one."),
    "passages": (
        "Shared passages",
        "Documents that share passages with this one. Open one to read both texts side by side, with every shared "
        "passage marked. The score is that of `compare --index`. Most shared fingerprints first.",
    ),
    "resemblance": (
        "Similar as a whole",
        "Documents that are similar from beginning to end. Resemblance is the share of all runs of words of both "
        "documents that both have: 1 is the same text.",
    ),
    "containment": (
        "One inside the other",
        "Documents that contain much of this one, or of which this one contains much.",
    ),
    "distance": (
        "A similar fingerprint",
        "Documents whose fingerprint of 64 bits differs in few bits. Similar texts have similar fingerprints; so, "
        "rarely, have others.",
    ),
}
#: Headings of the measures of each question.
_COLUMNS = {
    "identical": (),
    "passages": ("Shared fingerprints", "Tokens in passages", "Lines here = there"),
    "resemblance": ("Resemblance",),
    "containment": ("Of this document in it", "Of it in this document"),
    "distance": ("Bits that differ",),
}
#: What was asked, in plain words.
_ASKED = {
    "question": "Questions",
    "threshold": "Least resemblance and containment",
    "distance": "Most bits that differ",
    "window": "Window of passages, in k-grams",
    "top": "Most documents listed (0: all)",
    "where": "Only documents with",
}


class Row(NamedTuple):
    """A document in a list."""

    title: str
    #: The page of the document, or nothing.
    address: str
    where: str
    copies: int
    measures: list[str]


class Section(NamedTuple):
    """The answer to a question, ready to be shown."""

    name: str
    title: str
    asks: str
    heading: str
    columns: tuple[str, ...]
    rows: list[Row]
    common: list[str]
    certificate: str


def write(found: Queried, out: Path, *, overwrite: bool = False) -> Path:
    """Write a new folder, or with ``overwrite`` replace an earlier report; return the page of answers.

    Errors: ``ParameterError`` if the folder is not free, ``OSError``.
    """
    addresses = _addresses(found)
    with drafted(out, overwrite=overwrite) as draft:
        (draft / OVERVIEW).write_bytes(page(found, addresses).encode())
        (draft / JSON).write_bytes(_json(found, addresses).encode())
        if addresses:
            (draft / "pairs").mkdir()
        for address, made in _pairs(found, addresses):
            (draft / address).write_bytes(made.encode())
    return out / OVERVIEW


def page(found: Queried, addresses: Mapping[str, str]) -> str:
    """Return the page of answers as HTML; ``addresses``: the pages of documents by their ids."""
    name = visible(found.name)
    size = f"{counted(found.tokens, 'token')} and {counted(found.shingles, 'distinct shingle')}"
    return frame.page(
        "query",
        title=f"{name} against the archive",
        lead=f"{name} has {size}. It was compared with {queries.asked_of(found)} of {visible(found.index)}.",
        tiles=[(answer.question, ASKS[answer.question][0], answer.documents) for answer in found.answers],
        sections=[_section(answer, addresses, _scores(found)) for answer in found.answers],
        notes=[visible(note) for note in found.notes],
        facts=list(_facts(found)),
        version=_core.__version__,
    )


def _addresses(found: Queried) -> dict[str, str]:
    """Return the page of each listed document that has one, by its id, in the order of the list."""
    answer = found.find("passages")
    if answer is None or found.evidence is None:
        return {}
    ids = [match.id for match in answer.matches if match.id in found.evidence.pairs]
    return {id_: f"pairs/{number:03}.html" for number, id_ in enumerate(ids, 1)}


def _pairs(found: Queried, addresses: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return addresses and pages of documents."""
    if found.evidence is None:
        return []
    report, pairs = found.evidence.report, found.evidence.pairs
    made = PairPages(
        report, [visible(entry.name) for entry in report.entries], report.marks, is_asked=True, exports=False
    )
    around = ["", *addresses.values(), ""]
    return [
        (address, made.page(pairs[id_], f"document {i:,} of {len(addresses):,}", around[i - 1], around[i + 1]))
        for i, (id_, address) in enumerate(addresses.items(), 1)
    ]


def _scores(found: Queried) -> dict[str, str]:
    """Return the score of each listed document that was compared, by its id."""
    return {} if found.evidence is None else {id_: decimal(one.score) for id_, one in found.evidence.pairs.items()}


def _section(answer: Answer, addresses: Mapping[str, str], scores: Mapping[str, str]) -> Section:
    is_compared = answer.question == "passages" and bool(scores)
    rows = [_row(match, addresses, scores) if is_compared else _row(match, {}, None) for match in answer.matches]
    title, asks = ASKS[answer.question]
    heading = queries.heading(answer).partition(": ")[2]
    common = [_sentence(line) for line in queries.common(answer)]
    columns = (*(("Score",) if is_compared else ()), *_COLUMNS[answer.question])
    return Section(answer.question, title, asks, heading, columns, rows, common, _sentence(answer.certificate))


def _row(match: Match, addresses: Mapping[str, str], scores: Mapping[str, str] | None) -> Row:
    measures = [*(() if scores is None else (scores.get(match.id, "–"),)), *queries.measures(match)]
    return Row(visible(match.title), addresses.get(match.id, ""), queries.origin(match), match.copies, measures)


def _sentence(text: str) -> str:
    return visible(f"{text[:1].upper()}{text[1:]}.")


def _facts(found: Queried) -> list[tuple[str, str, bool]]:
    """Return what proves later what was asked: name, value, and whether the value is for programs."""
    asked = [
        (_ASKED[key], visible(_told(value)), False) for key, value in found.asked.items() if value not in (None, {}, ())
    ]
    return [
        (visible(found.name), f"SHA-256 {found.digest}", True),
        ("Bytes of its readable text", f"{found.bytes:,}", False),
        ("Index", f"{visible(found.index)}, {queries.asked_of(found)}", False),
        *asked,
    ]


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={wanted}" for key, wanted in value.items())
    return frame.plain(value)


def _json(found: Queried, addresses: Mapping[str, str]) -> str:
    parts: dict[str, Any] = {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "of": "query",
        "version": _core.__version__,
        **found.to_json(),
        "pages": dict(addresses),
    }
    return json.dumps(parts, indent=1) + "\n"
