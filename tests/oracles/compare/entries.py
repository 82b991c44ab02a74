"""Submissions as tokens.

From the core it takes tokens and picks (``ReadFile.parts``) and which tokens cannot run (``unreachable``), no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from lookalike import _core, params

UNIT, LETTER = 1000, 200


class Source(NamedTuple):
    """A file: the language it is read as, its text, and the language, start and end of each stretch that is read."""

    language: str
    text: str
    #: Empty for all of the text. Labels of pages and cells are in the text and are not read.
    stretches: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True)
class Handed:
    """A submission as it was handed in."""

    name: str
    files: tuple[Source, ...]
    person: str | None = None
    old: bool = False


class Part(NamedTuple):
    """A file of a submission: its tokens and thresholds."""

    start: int
    end: int
    k: int
    t: int
    worth: int
    file: int
    language: str


@dataclass
class Entry:
    """A submission as tokens; files follow each other, with a token between them that equals none."""

    name: str = ""
    person: object = None
    old: bool = False
    tokens: list[object] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    picks: list[tuple[int, int]] = field(default_factory=list)
    literals: dict[int, tuple[int, int]] = field(default_factory=dict)
    weights: list[int] = field(default_factory=list)
    holders: list[int] = field(default_factory=list)
    #: Persons that hold the rarest shared pick over each token; 1 if none is shared.
    rarity: list[int] = field(default_factory=list)
    literal_weights: dict[int, int] = field(default_factory=dict)
    literal_holders: dict[int, int] = field(default_factory=dict)
    files: tuple[Source, ...] = ()
    #: Tokens that are no evidence.
    trivial: set[int] = field(default_factory=set)
    #: Surprise of each own token, and of each own literal, in thousandths of a bit.
    bits: list[int] = field(default_factory=list)
    literal_bits: dict[int, int] = field(default_factory=dict)

    #: Whether each token cannot run, and whether that is known.
    dead: list[bool] = field(default_factory=list)
    analysed: bool = False

    @cached_property
    def live_weights(self) -> list[int]:
        """Weights of tokens; none for those that cannot run."""
        return [0 if dead else one for one, dead in zip(self.weights, self.dead, strict=True)]

    @cached_property
    def live_literals(self) -> dict[int, int]:
        """Weights of literals; none for those that cannot run."""
        return {key: 0 if self.dead[self.literals[key][0]] else one for key, one in self.literal_weights.items()}

    @cached_property
    def total(self) -> int:
        """Weight of all its material."""
        return sum(self.weights) + sum(self.literal_weights.values())

    @cached_property
    def content(self) -> object:
        """What identical submissions have in common."""
        bare = tuple(part[:5] for part in self.parts), tuple(self.dead), self.analysed
        return tuple(token for part in self.parts for token in self.tokens[part.start : part.end]), bare, *self.texts

    def part(self, at: int) -> Part:
        """Return the part of a token."""
        return next(part for part in self.parts if at < part.end)


def read(handed: Handed, number: int, k: int | None = None, t: int | None = None) -> Entry:
    """Join the files of a submission."""
    entry = Entry(handed.name, handed.person or number, handed.old, files=handed.files)
    sources, found = [], []
    for file, (whole, text, stretches) in enumerate(handed.files):
        asked = []
        for language, first, end in stretches or ((whole, 0, len(text)),):
            usual = params.LANGUAGE_THRESHOLDS.get(language, params.CODE_THRESHOLDS)
            asked.append((language, first, end, None, None, k or usual[0], t or usual[1]))
        source = _core.ReadFile(text, asked, False)
        sources.append(source)
        languages = [language for language, _ in groupby(asked, key=lambda one: one[0])]
        for language, (columns, (picks, literals, trivial)) in zip(languages, source.parts(), strict=True):
            (own_k, own_t), prose, tokens, texts, spans = columns
            if not tokens:
                continue
            if entry.tokens:
                entry.tokens.append(object())
                entry.texts.append(0)
                entry.spans.append((0, 0))
            start = len(entry.tokens)
            entry.tokens += tokens
            entry.texts += texts or [0] * len(tokens)
            entry.spans += spans
            worth = LETTER if prose else UNIT
            entry.parts.append(Part(start, len(entry.tokens), own_k, own_t, worth, file, language))
            entry.trivial |= {at + start for at in trivial}
            entry.picks += [(key, at + start) for key, at in picks]
            found += [(key, at + start, words) for key, at, words in literals]
    entry.dead, verdict = _core.unreachable(sources)
    entry.analysed = verdict == "analysed"
    # A literal stands where it first occurs in code that can run, otherwise where it first occurs.
    for key, at, words in sorted(found, key=lambda one: (entry.dead[one[1]], one[1])):
        entry.literals.setdefault(key, (at, words))
    return entry


def grams(entry: Entry, part: Part, n: int, *, exact: bool = False) -> Iterator[tuple[int, tuple[object, ...]]]:
    """Yield the runs of n tokens of a part, by their exact text if asked."""
    stream = list(zip(entry.tokens, entry.texts, strict=True)) if exact else entry.tokens
    for at in range(part.start, part.end - n + 1):
        yield at, (part.k, part.t, *stream[at : at + n])
