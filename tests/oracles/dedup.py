"""What `dedup` is defined to answer (docs/dedup.md, "How a row is removed"), computed the slow way.

The ids of shingles, the elements of sketches and the simhash of a text, which FORMAT.md defines, are taken from the
core, or for small inputs computed by `features` and `simhashes`. Everything else is here: keys, the rule for crowded
keys, the judge, exact resemblance, leaders, components, greedy.

Cost: every two documents that share a key, in plain Python.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb

import lookalike as la
from lookalike import _core
from oracles import features, simhashes
from oracles.blank import is_blank

#: Holders of a key that reach all later ones, and holders before the later one that reach it.
FIRST, LAST = 64, 64
#: The chance with which a sketch may reject a pair at the threshold.
ALPHA = Fraction(1, 10**6)
#: Greedy: clusters that an element finds, and clusters that are tried.
CROWD, TRIED = 64, 8


@dataclass(frozen=True)
class Answer:
    """For each row the row kept for it and the exact score, and all edges of distinct texts with their scores."""

    survivors: list[int]
    scores: list[float]
    pairs: dict[tuple[int, int], float]


@dataclass(frozen=True)
class Asked:
    """How a corpus is deduplicated; `filter` is k, s, r, or `None` for every pair."""

    threshold: float
    filter: tuple[int, int, int] | None
    clustering: str = "star"
    shingle: int = 5
    unit: str = "word"
    sketch: str = "fast"
    size: int = 128
    #: Rows below this number are references.
    references: int | None = None
    #: Of simhash: most bits, and whether resemblance decides.
    distance: int | None = None
    is_verified: bool = True
    #: Whether shingles, sketches and fingerprints are computed without the core.
    is_independent: bool = False


def rank_of(texts: Sequence[str | None], rule: Callable[[int], float], references: int | None = None) -> list[int]:
    """Rows in order of rank: references first, then what the rule puts first, then the row."""
    return sorted(range(len(texts)), key=lambda row: (row >= (references or 0), rule(row), row))


def dedup(texts: Sequence[str | None], order: Sequence[int], asked: Asked) -> Answer:
    """Deduplicate texts whose rows are in this order of rank."""
    corpus = Corpus(texts, asked)
    first: dict[str, int] = {}
    for row in order:
        if (text := texts[row]) is not None and not is_blank(text):
            first.setdefault(text, row)
    documents = [row for row in order if first.get(texts[row] or "") == row and corpus.is_compared(row)]
    proposed = corpus.proposed(documents)
    edges = {pair for pair in proposed if corpus.is_edge(*pair)}
    if asked.clustering == "greedy":
        leader = greedy(documents, corpus)
    elif asked.clustering == "components":
        leader = components(documents, edges)
    else:
        leader = star(documents, edges, corpus.estimate)
    survivors, scores = list(range(len(texts))), [1.0] * len(texts)
    for row, text in enumerate(texts):
        own = first.get(text or "", row)
        # A reference stays, also where a chain ties it to another, and what repeats its text goes for it.
        kept = own if own < (asked.references or 0) else leader.get(own, own)
        if asked.references is not None and (row < asked.references or kept >= asked.references):
            continue
        survivors[row] = kept
        scores[row] = 1.0 if kept == own else float(corpus.score(kept, own))
    return Answer(survivors, scores, {pair: float(corpus.score(*pair)) for pair in edges})


def star(
    documents: Sequence[int], edges: set[tuple[int, int]], estimate: Callable[[int, int], float]
) -> dict[int, int]:
    """Take leaders in order of rank; each other document follows its best, by estimate, then rank."""
    leader: dict[int, int] = {}
    for later, document in enumerate(documents):
        own = [other for other in documents[:later] if leader[other] == other and (other, document) in edges]
        leader[document] = max(own, key=lambda other: estimate(other, document), default=document)
    return leader


def components(documents: Sequence[int], edges: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Let the first document of each component lead it."""
    leader = {document: document for document in documents}
    rank = {document: place for place, document in enumerate(documents)}
    for left, right in edges:
        one, other = sorted((leader[left], leader[right]), key=rank.__getitem__)
        leader = {document: one if its == other else its for document, its in leader.items()}
    return leader


def greedy(documents: Sequence[int], corpus: Corpus) -> dict[int, int]:
    """Broder 1997, §4.4: a document joins the cluster of which it shares most elements, if the first member accepts.

    With references only their clusters are found.
    """
    leader: dict[int, int] = {}
    members: list[list[int]] = []
    elements: list[list[tuple[int, int]]] = []
    finds: dict[tuple[int, int], list[int]] = defaultdict(list)
    for document in documents:
        own = list(enumerate(corpus.elements(document)))
        shared: dict[int, int] = defaultdict(int)
        for element in own:
            for cluster in finds[element]:
                shared[cluster] += 1
        enough = [one for one in shared if shared[one] >= corpus.asked.threshold / 2 * len(own)]
        tried = sorted(enough, key=lambda one: (-shared[one], one))[:TRIED]
        joined = next((one for one in tried if corpus.is_edge(members[one][0], document)), None)
        if joined is None and not corpus.may_lead(document):
            leader[document] = document
            continue
        if joined is None:
            joined = len(members)
            members.append([document])
            elements.append(own)
            entered = own
        else:
            members[joined].append(document)
            entered = []
            if len(members[joined]).bit_count() == 1:
                count: dict[tuple[int, int], int] = defaultdict(int)
                for member in members[joined]:
                    for element in enumerate(corpus.elements(member)):
                        count[element] += 1
                entered = sorted(count, key=lambda one: (-count[one], one))[: len(own)]
                for element in elements[joined]:
                    finds[element] = [one for one in finds[element] if one != joined]
                elements[joined] = entered
        for element in entered:
            if len(finds[element]) < CROWD:
                finds[element].append(joined)
        leader[document] = members[joined][0]
    return leader


class Corpus:
    """Texts, what is known of each, and the judge."""

    def __init__(self, texts: Sequence[str | None], asked: Asked) -> None:
        self.texts, self.asked = texts, asked
        made = (asked.size, 1, asked.shingle, asked.unit, False, False, 64)
        self._shingles, self._sketches = _core.SketchMaker("modulo", *made), _core.SketchMaker(asked.sketch, *made)
        self.ids = cache(lambda row: frozenset(self._shingles.one(texts[row] or "")[0].values))
        self.elements = cache(lambda row: [one & 0xFFFFFFFF for one in self._sketches.one(texts[row])[0].values])
        self.print = cache(lambda row: la.simhash(texts[row] or ""))
        if asked.is_independent:
            words = cache(lambda row: la.stream(texts[row] or "", unit=asked.unit).tokens)
            sketch = features.fast if asked.sketch == "fast" else features.permutations
            self.ids = cache(lambda row: frozenset(features.ids(words(row), asked.shingle)))
            self.elements = cache(lambda row: [one & 0xFFFFFFFF for one in sketch(self.ids(row), asked.size)])
            self.print = cache(lambda row: simhashes.of_text(texts[row] or ""))
        self.rejected = rejected(asked.size, asked.threshold)

    def is_compared(self, row: int) -> bool:
        """Return whether there is something to compare beside the whole text."""
        if self.asked.distance is not None and self.print(row) is None:
            return False
        return bool(self.ids(row)) or not self.asked.is_verified

    def may_pair(self, left: int, right: int) -> bool:
        """With references, only a reference and another row are paired."""
        return self.asked.references is None or left < self.asked.references <= right

    def may_lead(self, row: int) -> bool:
        """With references, other rows follow references only."""
        return self.asked.references is None or row < self.asked.references

    def proposed(self, documents: Sequence[int]) -> set[tuple[int, int]]:
        """Return all pairs that are proposed, the earlier first."""
        if self.asked.distance is not None:
            return self._near(documents)
        if self.asked.filter is None:
            return set(combinations(documents, 2))
        holders: dict[Hashable, list[int]] = defaultdict(list)
        for document in documents:
            for key in self.keys(document):
                holders[key].append(document)
        return {
            (held[i], held[j])
            for held in holders.values()
            for i, j in combinations(range(len(held)), 2)
            if i < FIRST or j - i <= LAST
        }

    def keys(self, document: int) -> list[Hashable]:
        """Return the groups of equal features by which a document is found."""
        k, s, r = self.asked.filter or (0, 0, 0)
        elements = self.elements(document)
        features = [(group, *elements[group * s : group * s + s]) for group in range(k)]
        return list(combinations(features, r))

    def _near(self, documents: Sequence[int]) -> set[tuple[int, int]]:
        """Return pairs within the distance: the earlier is among the first or last holders of its fingerprint."""
        found = set()
        for i, j in combinations(range(len(documents)), 2):
            left, right = documents[i], documents[j]
            same = [other for other in documents[:j] if self.print(other) == self.print(left)]
            if self.bits(left, right) <= (self.asked.distance or 0) and left in (*same[:FIRST], *same[-LAST:]):
                found.add((left, right))
        return found

    def bits(self, left: int, right: int) -> int:
        """Return the bits in which two fingerprints differ."""
        return int(self.print(left) ^ self.print(right)).bit_count()

    def estimate(self, left: int, right: int) -> float:
        """Return the estimate of the score."""
        if self.asked.distance is not None:
            return 1 - self.bits(left, right) / 64
        return sum(map(int.__eq__, self.elements(left), self.elements(right))) / self.asked.size

    def score(self, left: int, right: int) -> Fraction:
        """Return the exact score: resemblance, or 1 − distance/64."""
        if not self.asked.is_verified:
            return 1 - Fraction(self.bits(left, right), 64)
        return Fraction(len(self.ids(left) & self.ids(right)), len(self.ids(left) | self.ids(right)))

    def is_edge(self, left: int, right: int) -> bool:
        """Judge a pair: a sketch may reject it, and only the exact score accepts it."""
        if not self.may_pair(left, right):
            return False
        if not self.asked.is_verified:
            return True
        if self.asked.distance is None and self.asked.filter is not None:
            common = sum(map(int.__eq__, self.elements(left), self.elements(right)))
            if common < self.rejected:
                return False
        # A float is what users give, and what the exact score is held against.
        return float(self.score(left, right)) >= self.asked.threshold


def rejected(sample: int, threshold: float) -> int:
    """Return the least number of equal elements that leaves the threshold possible, of a sample of this size."""
    up, down = Fraction(threshold).numerator, Fraction(threshold).denominator
    chance, total = 0, down**sample
    for common in range(sample + 1):
        chance += comb(sample, common) * up**common * (down - up) ** (sample - common)
        if chance > ALPHA * total:
            return common
    return sample
