"""What questions to an index are defined to answer (`crates/index/src/questions`), computed the slow way.

The ids of shingles, the elements of sketches and the simhash of a text, which FORMAT.md defines, are taken from the
core, or for small inputs computed by `features` and `simhashes`. Everything else is here: which documents are
candidates, what sketches and samples rule out, exact shares, order, copies, and the verdict of `seen`.

Cost: every document is looked at for every question, in plain Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import lookalike as la
from lookalike import _core
from oracles import features, simhashes
from oracles.dedup import ALPHA, rejected

#: Candidates that `seen` counts exactly before a verdict ends the search.
COUNTED = 8


@dataclass(frozen=True)
class Stored:
    """A document of an index. A hidden one is removed, a shadow or starter code."""

    id: str
    text: str
    meta: Mapping[str, Any] = field(default_factory=dict)
    is_hidden: bool = False


@dataclass(frozen=True)
class Rules:
    """The parameters of an index; `filter` is k, s, r."""

    threshold: float = 0.8
    filter: tuple[int, int, int] = (6, 4, 1)
    shingle: int = 3
    labelled: bool = False
    sketch: str = "fast"
    size: int = 24
    modulus: int = 2
    texts: bool = True
    #: Whether shingles, sketches and fingerprints are computed without the core.
    is_independent: bool = False


@dataclass(frozen=True)
class Told:
    """A document that is told: id, documents with its content, and its measures."""

    id: str
    copies: int
    values: tuple[float, ...] = ()
    distance: int = 0


@dataclass(frozen=True)
class Verdict:
    """Whether a document was seen, the nearest, and whether that has the same content."""

    is_seen: bool
    nearest: Told | None
    is_identical: bool = False


class Archive:
    """Documents in order of arrival, and the questions. Shingles of starter code do not count."""

    def __init__(self, documents: Sequence[Stored], rules: Rules, starter: Sequence[str] = ()) -> None:
        self.documents = [one for one in documents if not one.is_hidden]
        self.rules = rules
        made = (rules.size, 1, rules.shingle, "word", False, rules.labelled, 64)
        shingles, sketches = _core.SketchMaker("modulo", *made), _core.SketchMaker(rules.sketch, *made)
        self.ids: Callable[[str], frozenset[int]] = cache(lambda text: frozenset(shingles.one(text)[0].values))
        self.sketch: Callable[[str], list[int]] = cache(
            lambda text: [one % 2**32 for one in sketches.one(text)[0].values]
        )
        self.print: Callable[[str], int | None] = cache(la.simhash)
        if rules.is_independent and not rules.labelled:
            of = features.fast if rules.sketch == "fast" else features.permutations
            self.ids = cache(
                lambda text: frozenset(features.ids(list(la.stream(text, unit="word").tokens), rules.shingle))
            )
            self.sketch = cache(lambda text: [one % 2**32 for one in of(set(self.ids(text)), rules.size)])
            self.print = cache(simhashes.of_text)
        self.starter = frozenset(one for text in starter for one in self.ids(text))

    def own(self, text: str) -> frozenset[int]:
        """Return the shingles of a text that are not those of starter code."""
        return self.ids(text) - self.starter

    def is_starter(self, text: str) -> bool:
        """Tell whether a text has nothing but starter code."""
        return bool(self.starter) and bool(self.ids(text)) and not self.own(text)

    def whole_threshold(self, text: str, threshold: float) -> float:
        """Return the least resemblance of whole texts if that without starter code reaches the threshold."""
        own, starter = len(self.own(text)), len(self.starter)
        return threshold * own / (own + starter) if starter else threshold

    def contents(self, where: Mapping[str, str]) -> list[tuple[Stored, int]]:
        """Return the first document of each content that meets the conditions, and how many there are."""
        found: dict[str, list[Stored]] = {}
        for one in self.documents:
            if all(_value(one.meta, key) == value for key, value in where.items()):
                found.setdefault(one.text, []).append(one)
        return [(group[0], len(group)) for group in found.values()]

    def identical(self, text: str, where: Mapping[str, str]) -> list[Told]:
        """Return the document with the same text; starter code is none."""
        found = [] if self.is_starter(text) else self.contents(where)
        return [Told(one.id, copies) for one, copies in found if one.text == text]

    def keys(self, text: str) -> set[object]:
        """Return the groups of r equal features by which a document is found; none without shingles."""
        k, s, r = self.rules.filter
        elements = self.sketch(text)
        made = [(group, *elements[group * s : group * s + s]) for group in range(k)]
        return set(combinations(made, r)) if self.ids(text) else set()

    def equal(self, left: str, right: str) -> int:
        """Return the number of equal elements of two sketches."""
        return sum(map(int.__eq__, self.sketch(left), self.sketch(right)))

    def resemblance_of(self, left: str, right: str) -> float:
        """Return the exact resemblance, or its estimate if texts are not kept."""
        if not self.rules.texts:
            return self.equal(left, right) / self.rules.size
        return len(self.own(left) & self.own(right)) / max(1, len(self.own(left) | self.own(right)))

    def candidates(self, text: str, where: Mapping[str, str]) -> list[tuple[Stored, int]]:
        """Return the documents that share a key."""
        keys = self.keys(text)
        return [(one, copies) for one, copies in self.contents(where) if keys & self.keys(one.text)]

    def resemblance(self, text: str, threshold: float, where: Mapping[str, str]) -> list[Told]:
        """Return the documents that share a key, are not ruled out by sketches, and reach the threshold."""
        least = rejected(self.rules.size, self.whole_threshold(text, threshold))
        found = [
            Told(one.id, copies, (value,))
            for one, copies in self.candidates(text, where)
            if self.equal(text, one.text) >= least and (value := self.resemblance_of(text, one.text)) >= threshold
        ]
        return sorted(found, key=lambda told: -told.values[0])

    def samples(self, text: str) -> frozenset[int]:
        """Return the ids that are sampled."""
        return frozenset(one for one in self.own(text) if one <= (2**64 - 1) // self.rules.modulus)

    def containment(self, text: str, threshold: float, where: Mapping[str, str]) -> list[Told]:
        """Return the documents that share a sample, are not ruled out by it, and reach the threshold either way."""
        found = []
        for one, copies in self.contents(where):
            common = len(self.samples(text) & self.samples(one.text))
            # How much starter code the other text has is not known before it is read.
            smaller = min(len(self.own(text)), max(0, len(self.ids(one.text)) - len(self.starter)))
            if common and common >= too_few(math.ceil(threshold * smaller), self.rules.modulus):
                values = self.shares(text, one.text, common)
                if max(values) >= threshold:
                    found.append(Told(one.id, copies, values))
        return sorted(found, key=lambda told: -max(told.values))

    def shares(self, text: str, other: str, common: int) -> tuple[float, float]:
        """Return the share of the asked text that is in the other, and the other way round."""
        mine, theirs = self.own(text), self.own(other)
        estimate = min(common * self.rules.modulus, len(mine), len(theirs))
        both = len(mine & theirs) if self.rules.texts else estimate
        return both / len(mine), both / len(theirs)

    def distance(self, text: str, bits: int, where: Mapping[str, str]) -> list[Told]:
        """Return the documents whose fingerprints differ in few bits."""
        mine = self.print(text)
        near = [(one, copies, self.print(one.text)) for one, copies in self.contents(where)]
        found = [
            Told(one.id, copies, (), (mine ^ theirs).bit_count())
            for one, copies, theirs in near
            if mine is not None and theirs is not None and (mine ^ theirs).bit_count() <= bits
            if not self.starter or self.own(text) & self.own(one.text)
        ]
        return sorted(found, key=lambda told: told.distance)

    def seen(self, text: str, where: Mapping[str, str]) -> Verdict:
        """Tell whether a document like this one is there."""
        for told in self.identical(text, where):
            return Verdict(True, Told(told.id, told.copies, (1.0,)), True)
        if self.is_starter(text):
            return Verdict(False, None)
        threshold = self.rules.threshold
        least = rejected(self.rules.size, self.whole_threshold(text, threshold))
        found = sorted(self.candidates(text, where), key=lambda pair: -self.equal(text, pair[0].text))
        nearest: Told | None = None
        is_seen = False
        for place, (one, copies) in enumerate(found):
            if place >= COUNTED and (is_seen or self.equal(text, one.text) < least):
                break
            value = self.resemblance_of(text, one.text)
            if self.starter and not value:
                continue
            is_seen = is_seen or value >= threshold
            if nearest is None or value > nearest.values[0]:
                nearest = Told(one.id, copies, (value,))
        return Verdict(is_seen, nearest)


@cache
def too_few(least: int, modulus: int) -> int:
    """Return the least number of shared samples under which so many common shingles are not too improbable."""
    chance = Fraction(0)
    for common in range(least + 1):
        chance += Fraction(math.comb(least, common) * (modulus - 1) ** (least - common), modulus**least)
        if chance > ALPHA:
            return common
    return least


def _value(meta: Mapping[str, Any], key: str) -> str | None:
    fields = meta.get("fields", {})
    found = fields[key] if key in fields else meta.get(key)
    if isinstance(found, bool):
        return "true" if found else "false"
    return found if found is None or isinstance(found, str) else str(found)


def cut(told: Iterable[Told], top: int) -> list[Told]:
    """Return the first of them."""
    return list(told)[:top]
