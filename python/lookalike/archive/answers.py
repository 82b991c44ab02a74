"""Answers to questions about a document: what was found in an index, how near it is, and what the answer is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from lookalike import _core
from lookalike._types import text_of
from lookalike.archive.view import meta_of

if TYPE_CHECKING:
    from lookalike.archive.evidence import Evidence


@dataclass(frozen=True)
class Score:
    """A share between 0 and 1: counted on the texts, or estimated, with an interval at 95 % confidence.

    >>> str(Score(0.875, 0.875, 0.875, True)), str(Score(0.8, 0.72, 0.86, False))
    ('0.875', '0.800 (0.720–0.860, estimated)')
    """

    value: float
    low: float
    high: float
    #: Whether it was counted on the texts. Else it is an estimate from sketches or samples.
    is_exact: bool

    def __str__(self) -> str:
        if self.is_exact:
            return f"{self.value:.3f}"
        return f"{self.value:.3f} ({self.low:.3f}–{self.high:.3f}, estimated)"

    def to_json(self) -> dict[str, Any]:
        """Return the score as values that JSON can hold."""
        return {"value": self.value, "low": self.low, "high": self.high, "exact": self.is_exact}


class Stretch(NamedTuple):
    """A part of one file: characters of its readable text, and lines from 1."""

    file: int
    start: int
    end: int
    start_line: int
    end_line: int


class Shared(NamedTuple):
    """A passage of the asked document and of a document of the index, equal token by token."""

    asked: Stretch
    stored: Stretch
    #: Its tokens; for a string literal, its words.
    tokens: int
    #: Whether names and values are equal too.
    exact: bool
    is_literal: bool

    def to_json(self) -> dict[str, Any]:
        """Return the passage as values that JSON can hold."""
        sides = {"asked": self.asked._asdict(), "stored": self.stored._asdict()}
        return {**sides, "tokens": self.tokens, "exact": self.exact, "literal": self.is_literal}


class CommonPart(NamedTuple):
    """A part of the asked document that very many documents have; it is told once."""

    asked: Stretch
    documents: int

    def to_json(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return {"asked": self.asked._asdict(), "documents": self.documents}


@dataclass(frozen=True)
class Match:
    """A document of the index that answers a question; documents with the same content are told once.

    >>> found = Match("2024/ann", {"title": "ann"}, 3, distance=1)
    >>> found.title, found.copies
    ('ann', 3)
    """

    id: str
    #: Title, person, label, files and further fields, as they were given.
    meta: Mapping[str, Any]
    #: Number of documents with this content, this one included.
    copies: int
    resemblance: Score | None = None
    #: The share of the asked document's shingles that this one has.
    inside: Score | None = None
    #: The share of this document's shingles that the asked one has.
    holds: Score | None = None
    #: Number of bits in which the simhashes differ.
    distance: int | None = None
    #: Fingerprints that it shares with the asked document, and the passages around them.
    fingerprints: int | None = None
    passages: tuple[Shared, ...] = ()
    #: The hash of its readable text, in hexadecimal digits.
    content: str = ""

    @property
    def title(self) -> str:
        """Its title; its id where it has none."""
        return str(self.meta.get("title", self.id))

    def to_json(self) -> dict[str, Any]:
        """Return the match as values that JSON can hold; measures that the question does not have are left out."""
        made: dict[str, Any] = {"id": self.id, "meta": dict(self.meta), "copies": self.copies, "content": self.content}
        scores = {"resemblance": self.resemblance, "inside": self.inside, "holds": self.holds}
        made |= {name: score.to_json() for name, score in scores.items() if score is not None}
        if self.fingerprints is not None:
            made |= {"fingerprints": self.fingerprints, "passages": [one.to_json() for one in self.passages]}
        return made if self.distance is None else {**made, "distance": self.distance}


@dataclass(frozen=True)
class Answer:
    """The answer to one question.

    >>> Answer("distance", (), 0, 0, "complete within 3 bits").question
    'distance'
    """

    question: str
    #: Nearest first.
    matches: tuple[Match, ...]
    #: All documents that answer the question, listed or not, and how many contents they have.
    documents: int
    distinct: int
    #: What is guaranteed, in one or two sentences.
    certificate: str
    #: Holders of keys, rows, sketches and texts that were read.
    work: tuple[int, ...] = field(default=(), compare=False)
    #: Of passages: what very many documents have, told once.
    common: tuple[CommonPart, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the answer as values that JSON can hold."""
        more = {"common": [one.to_json() for one in self.common]} if self.question == "passages" else {}
        return more | {
            "question": self.question,
            "documents": self.documents,
            "distinct": self.distinct,
            "certificate": self.certificate,
            "matches": [match.to_json() for match in self.matches],
        }


@dataclass(frozen=True)
class Queried:
    """All answers about one document.

    >>> Queried("essay.txt", "archive", 10, ()).find("identical") is None
    True
    """

    #: The name of the document that was asked about, and that of the index.
    name: str
    index: str
    #: Documents in the index, without starter code.
    documents: int
    #: One for each question that was asked.
    answers: tuple[Answer, ...] = field(repr=False)
    #: Tokens as passages have them, distinct shingles and bytes of the document that was asked about.
    tokens: int = field(default=0, repr=False)
    shingles: int = field(default=0, repr=False)
    bytes: int = field(default=0, repr=False)
    #: How it was read, where that is worth a remark.
    notes: tuple[str, ...] = field(default=(), repr=False)
    #: SHA-256 of its files, as a report of ``compare`` has it.
    digest: str = field(default="", repr=False)
    #: What was asked: questions, threshold, distance, window, top and conditions.
    asked: Mapping[str, Any] = field(default_factory=dict, repr=False)
    #: Documents that meet the conditions; without conditions all.
    documents_asked: int = field(default=0, repr=False)
    #: The comparison with the listed documents, if it was asked for and could be made.
    evidence: Evidence | None = field(default=None, compare=False, repr=False)

    def find(self, question: str) -> Answer | None:
        """Return the answer to a question, or ``None`` if it was not asked.

        :param question: One of identical, passages, resemblance, containment, distance.
        """
        return next((answer for answer in self.answers if answer.question == question), None)

    def to_json(self) -> dict[str, Any]:
        """Return all answers as values that JSON can hold."""
        return {
            "name": self.name,
            "index": self.index,
            "documents": self.documents,
            "documents_asked": self.documents_asked,
            "tokens": self.tokens,
            "shingles": self.shingles,
            "bytes": self.bytes,
            "digest": self.digest,
            "asked": dict(self.asked),
            "notes": list(self.notes),
            "answers": [answer.to_json() for answer in self.answers],
        }


@dataclass(frozen=True)
class Seen:
    """Whether a document like the asked one is in an index, and the nearest one. It is true if the answer is yes.

    >>> bool(Seen(False, None, False, "nothing shares a key"))
    False
    """

    is_seen: bool
    #: The nearest document, if any is near enough to be compared.
    nearest: Match | None = field(repr=False)
    #: Whether the nearest has the same content.
    is_identical: bool
    #: What the answer is worth.
    certificate: str = field(repr=False)
    #: Why the document could not be read; then the answer is no.
    refusal: str | None = None
    #: How the document was read and what cannot be compared, where that is worth a remark.
    notes: tuple[str, ...] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        return self.is_seen

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as values that JSON can hold."""
        made: dict[str, Any] = {
            "seen": self.is_seen,
            "identical": self.is_identical,
            "nearest": None if self.nearest is None else self.nearest.to_json(),
            "certificate": self.certificate,
            "notes": list(self.notes),
        }
        return made if self.refusal is None else {**made, "refusal": self.refusal}


#: A match as the core tells it: number, row, documents with this content, scores, bits, whether it is identical.
Found: TypeAlias = tuple[int, _core.StoredRow, int, list[tuple[float, float, float, bool]], int, bool]


def match_of(question: str, found: Found, prefix: str = "") -> Match:
    """Return a match of the core as an object; ``prefix`` stands before its id."""
    _, row, copies, scores, bits, _ = found
    made = [Score(*score) for score in scores]
    id, meta = prefix + text_of(row.id), meta_of(row.meta)
    content = bytes(row.content).hex()
    if question == "containment":
        return Match(id, meta, copies, inside=made[0], holds=made[1], content=content)
    if question == "distance":
        return Match(id, meta, copies, distance=bits, content=content)
    return Match(id, meta, copies, resemblance=made[0] if question == "resemblance" else None, content=content)
