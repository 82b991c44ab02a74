"""What an answer is worth, measured on the corpus itself: a seeded sample is judged exactly, with intervals.

Precision: rows that go are scored exactly against the row that stays for them. Recall needs the pairs that nothing ever
proposed. Random pairs of a corpus are next to never near-duplicates, so documents are drawn instead, and *all* partners
of each are found in the corpus by a way of its own that cannot miss one: a pair that reaches the threshold t agrees in
one of the first n − ⌈tn⌉ + 1 of the n shingles of either, in whatever order all shingles are put (prefix filtering:
Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007). Candidates are scored exactly. Neither sketches nor features
have a part in it.

Cost: a pass over the sources for the sample and one for everybody else, some 100 µs of CPU a document of 450 words, and
at most ``SAMPLE`` × ``CANDIDATES`` exact comparisons.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from heapq import heappop, heappush
from typing import Any, NamedTuple

from lookalike import _core, params
from lookalike._types import Progress, unheard
from lookalike.deduplication.picking import rows_of
from lookalike.deduplication.result import LINKS, Deduplication
from lookalike.deduplication.settings import Settings
from lookalike.designs.sketch_size import between

#: Documents that are drawn, and rows that go of each kind. Of 200 documents with a partner, if all are found, 98.2 % is
#: the lower limit; that many are in the sample where one document in ten has one.
SAMPLE = 2_000
#: Rows among which partners are looked for; of more, so many are drawn.
ROWS = 1_000_000
#: Candidates of a drawn document that are scored, and documents that are kept for one of its shingles. Of more, so many
#: are drawn, and the audit says for how many documents.
CANDIDATES, HOLDERS = 200, 100
#: Shingles of all drawn documents together, some 100 bytes each while they are counted; of long ones fewer are drawn.
SHINGLES = 2_000_000
#: How often an interval must hold the truth.
CONFIDENCE = 0.95
#: Pairs nobody found that are kept to be looked at.
MISSED = 10
#: Bands of resemblance from the threshold to 1 in which pairs are told; pairs at 1 are a band of their own.
BANDS = 4
#: What an audit measures, by name.
SHARES = ("removed", "estimated", "partnered", "documents", "pairs")
AUDITING = "auditing"
#: Progress is told once in so many rows.
TOLD = 1_000


@dataclass(frozen=True)
class Share:
    """So many of so many, and between which limits the share of all of them lies."""

    hits: int
    trials: int
    #: Whether that was all of them, so that nothing is left to estimate.
    is_whole: bool = False

    @property
    def value(self) -> float | None:
        """The share, undefined where there was nothing to look at."""
        return self.hits / self.trials if self.trials else None

    @property
    def limits(self) -> tuple[float, float]:
        """The interval of Clopper and Pearson (1934): exact, never too narrow; of all of them the share itself."""
        if self.is_whole and self.value is not None:
            return self.value, self.value
        return interval(self.hits, self.trials)

    def to_json(self) -> dict[str, Any]:
        """Return it for a program; nothing is said where nothing is known."""
        low, high = self.limits if self.trials else (None, None)
        return asdict(self) | {"value": self.value, "low": low, "high": high, "confidence": CONFIDENCE}


class Band(NamedTuple):
    """True pairs of the sample between two resemblances, and how many of them are known."""

    low: float
    high: float
    pairs: int
    known: int


class Missed(NamedTuple):
    """A pair that reaches the threshold, both of which stay."""

    left: int
    right: int
    resemblance: float


@dataclass(frozen=True)
class Audit:
    """What was measured, on how much, and what was not covered."""

    seed: int
    #: Rows that go and are not identical to the one that stays: those that reach the threshold against it.
    removed: Share
    #: The same for rows that go by an estimate only.
    estimated: Share
    #: Documents: those with a partner at or above the threshold.
    partnered: Share
    #: Documents with a partner: those in a cluster or pair.
    documents: Share
    #: One partner each, drawn among those below 1: pairs that were found, or of which one goes anyway. Where all
    #: documents were drawn, all these pairs.
    pairs: Share
    bands: tuple[Band, ...]
    missed: tuple[Missed, ...]
    #: Rows that were drawn, rows among which their partners were looked for, exact comparisons that took.
    drawn: int
    searched: int
    comparisons: int
    #: One sentence for each thing that was not covered.
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it for a program."""
        shares = {name: getattr(self, name).to_json() for name in SHARES}
        lists = {name: [one._asdict() for one in getattr(self, name)] for name in ("bands", "missed")}
        return asdict(self) | shares | lists | {"notes": list(self.notes)}


def audit(
    answer: Deduplication,
    *,
    seed: int = params.SEED.default,
    sample: int = SAMPLE,
    progress: Progress | None = None,
) -> Audit:
    """Measure an answer while its corpus is open. The same seed gives the same audit. Errors: ``OSError``."""
    rng = random.Random(seed)
    removed, estimated = (_precision(answer, links, sample, rng) for links in ((LINKS[2], LINKS[3]), (LINKS[3],)))
    precise = removed.trials + estimated.trials
    nothing = Share(0, 0)
    if answer.settings.method == "exact":
        note = "recall: identical texts are compared as a whole, so none can be missed; nothing else was looked for"
        return Audit(seed, removed, estimated, nothing, nothing, nothing, (), (), 0, 0, precise, (note,))
    found = _Search(answer, sample, rng, progress or unheard)
    known = _Known(answer, found.partners)
    flagged = sum(map(known.is_flagged, found.partners))
    return Audit(
        seed=seed,
        removed=removed,
        estimated=estimated,
        partnered=Share(len(found.partners), len(found.drawn), found.is_whole),
        documents=Share(flagged, len(found.partners), found.is_whole),
        pairs=_pairs(found, known, rng),
        bands=_bands(found.partners, known, answer.settings.threshold),
        missed=_missed(found.partners, known),
        drawn=len(found.drawn),
        searched=len(found.others),
        comparisons=found.comparisons + precise,
        notes=tuple(found.notes()),
    )


def interval(hits: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the limits of Clopper and Pearson: shares at which so few, or so many, are no rarer than they may be."""
    tail = (1 - confidence) / 2
    low = _root(lambda p: between(trials, hits, trials, p) < tail) if hits else 0.0
    high = _root(lambda p: between(trials, 0, hits, p) > tail) if hits < trials else 1.0
    return low, high


def _root(is_below: Callable[[float], bool]) -> float:
    """Return where a question that is first true and then false turns."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high and high - low > 1e-12:
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def _precision(answer: Deduplication, links: Collection[str], sample: int, rng: random.Random) -> Share:
    """Score rows that go, of these kinds, against the row that stays."""
    kinds = {LINKS.index(link) for link in links}
    rows = [row for row in answer.gone if answer.links[row] in kinds]
    pairs = [(answer.survivors[row], row) for row in sorted(rng.sample(rows, min(sample, len(rows))))]
    scores = answer.core.scores(pairs, answer.settings.method == "containment")
    reached = sum(score is not None and score >= answer.settings.threshold for score in scores)
    return Share(reached, len(pairs), len(pairs) == len(rows))


#: Drawn documents with their partners, and what they score.
Partners = dict[int, list[tuple[int, float]]]


class _Index:
    """Drawn documents by the shingles of which a partner must have one, and who has these."""

    def __init__(self, shingles: dict[int, Sequence[int]], settings: Settings, rng: random.Random) -> None:
        self._threshold, self._rng = settings.threshold, rng
        self._is_containment = settings.method == "containment"
        counts = Counter(id for ids in shingles.values() for id in ids)
        #: Shingles of several drawn documents come last in the order of all shingles: they tell least.
        self._common = {id: count for id, count in counts.items() if count > 1}
        self._asked = {row: self._first(ids) for row, ids in shingles.items()}
        self._holders: dict[int, list[int]] = {id: [] for ids in self._asked.values() for id in ids}
        #: Shingles that more documents have than are kept, and how many do.
        self._many: Counter[int] = Counter()
        #: Drawn documents of which not all candidates were kept.
        self.thinned: set[int] = set()

    def _first(self, ids: Sequence[int]) -> Sequence[int]:
        """Return the first n − ⌈tn⌉ + 1 of ascending ids, common ones last; rounding makes it rather one more."""
        if not self._common.keys().isdisjoint(ids):
            ids = sorted(ids, key=lambda id: (self._common.get(id, 0), id))
        return ids[: len(ids) - math.ceil(self._threshold * len(ids) - 1e-9) + 1]

    def add(self, other: int, ids: Sequence[int]) -> None:
        """Keep a document for the shingles that drawn documents ask for; of too many a random part (a reservoir)."""
        # What contains a document may hold its shingles anywhere among its own.
        told = ids if self._is_containment else self._first(ids)
        if self._holders.keys().isdisjoint(told):
            return
        for id in self._holders.keys() & told:
            kept = self._holders[id]
            if len(kept) < HOLDERS:
                kept.append(other)
                continue
            self._many[id] += 1
            if (place := self._rng.randrange(HOLDERS + self._many[id])) < HOLDERS:
                kept[place] = other

    def candidates(self) -> Iterator[tuple[int, list[int]]]:
        """Yield each drawn document and who may be its partners: all that were added, or a random part of too many."""
        for row, ids in self._asked.items():
            found = sorted({other for id in ids for other in self._holders[id]} - {row})
            if len(found) > CANDIDATES or not self._many.keys().isdisjoint(ids):
                self.thinned.add(row)
            yield row, self._rng.sample(found, min(CANDIDATES, len(found)))


class _Search:
    """All partners of drawn documents."""

    def __init__(self, answer: Deduplication, sample: int, rng: random.Random, tell: Progress) -> None:
        self._answer, self._rng = answer, rng
        settings = answer.settings
        self._maker = _core.SketchMaker(
            "modulo", settings.size, 1, settings.shingle, settings.unit, False, settings.labelled, 64
        )
        own = range(answer.references, answer.rows)
        self.drawn = sorted(rng.sample(own, min(sample, len(own))))
        # With references, nothing else is looked for than pairs with one of them.
        self._pool = range(answer.references or answer.rows)
        self.others = self._pool if len(self._pool) <= ROWS else sorted(rng.sample(self._pool, ROWS))
        shingles = self._affordable(tell)
        self._without = len(self.drawn) - len(shingles)
        index = _Index(shingles, settings, rng)
        for other, ids in self._shingles(self.others, tell):
            index.add(other, ids.tolist())
        self.comparisons = 0
        #: Drawn documents that have partners, with all of them and what they score.
        self.partners = self._score(index.candidates())
        self._thinned = index.thinned

    def _shingles(self, rows: Sequence[int], tell: Progress) -> Iterator[tuple[int, _core.Column]]:
        """Yield the shingles of rows, ascending; what the core could not read is not tried again."""
        bad = {row for row, _ in self._answer.core.problems}
        total = sum(stretch.source.size for stretch in self._answer.stretches)
        before = 0
        for stretch in self._answer.stretches:
            last = stretch.first + stretch.rows
            wanted = {row - stretch.first for row in _within(rows, stretch.first, last) if row not in bad}
            for row, _, text in rows_of(stretch, wanted, self._answer.settings, True) if wanted else ():
                yield stretch.first + row, self._maker.one(text or "")[0].values
                if not row % TOLD:
                    tell(AUDITING, before + stretch.source.done, total or None)
            before += stretch.source.size

    def _affordable(self, tell: Progress) -> dict[int, Sequence[int]]:
        """Return the shingles of the drawn documents; where they are too many, draw fewer, whatever their length."""
        order = {row: self._rng.random() for row in self.drawn}
        held: dict[int, Sequence[int]] = {}
        last: list[tuple[float, int]] = []
        limit, total = 1.0, 0
        for row, ids in self._shingles(self.drawn, tell):
            if not ids or order[row] >= limit:
                continue
            held[row] = memoryview(ids)
            total += len(ids)
            heappush(last, (-order[row], row))
            while total > SHINGLES and len(held) > 1:
                below, out = heappop(last)
                limit, total = -below, total - len(held.pop(out))
        self.drawn = [row for row in self.drawn if order[row] < limit]
        return held

    def _score(self, candidates: Iterable[tuple[int, list[int]]]) -> Partners:
        settings = self._answer.settings
        partners: Partners = {}
        for row, others in candidates:
            self.comparisons += len(others)
            scores = self._answer.core.scores([(other, row) for other in others], settings.method == "containment")
            reached = [
                (other, score)
                for other, score in zip(others, scores, strict=True)
                if score is not None and score >= settings.threshold
            ]
            if reached:
                partners[row] = sorted(reached)
        return partners

    @property
    def is_whole(self) -> bool:
        """Whether all documents were drawn, and every partner of each was looked for."""
        own, pool = self._answer.rows - self._answer.references, len(self._pool)
        return len(self.drawn) == own and len(self.others) == pool and not self._thinned

    def notes(self) -> Iterator[str]:
        """Say what was not covered."""
        own = self._answer.rows - self._answer.references
        if len(self.drawn) < own:
            yield f"recall: {len(self.drawn):,} of {own:,} rows were drawn"
        if len(self.others) < len(self._pool):
            yield (
                f"recall: partners were looked for among {len(self.others):,} rows drawn from {len(self._pool):,}, "
                "so a document with one partner is likely to be left out, and one with many is not"
            )
        if self._without:
            yield f"recall: {self._without:,} of the rows drawn have no shingle, so that no resemblance is defined"
        if self._thinned:
            yield (
                f"recall: {len(self._thinned):,} of the rows drawn share shingles with very many others; "
                "of those some were drawn and compared"
            )


def _within(rows: Sequence[int], first: int, last: int) -> Iterable[int]:
    """Return the rows from ``first`` to before ``last``, of ascending ones."""
    return rows[bisect_right(rows, first - 1) : bisect_right(rows, last - 1)]


class _Known:
    """What the answer knows about drawn documents."""

    def __init__(self, answer: Deduplication, rows: Collection[int]) -> None:
        self._answer = answer
        wanted = {self._text(row) for row in rows}
        left, right, _, _ = answer.outcome.pairs()
        self._pairs = {pair for pair in zip(left, right, strict=True) if not wanted.isdisjoint(pair)}
        self._paired = {end for pair in self._pairs for end in pair}

    def _text(self, row: int) -> int:
        """Return the first row with the same text: what holds for it holds for its copies, and is told of it only."""
        return self._answer.survivors[row] if LINKS[self._answer.links[row]] == "identical" else row

    def is_flagged(self, row: int) -> bool:
        """Tell whether a document is in a cluster or pair."""
        is_alone = self._answer.survivors[row] == row and row not in self._answer.cluster_sizes
        return not is_alone or self._text(row) in self._paired

    def is_settled(self, row: int, other: int) -> bool:
        """Tell whether a pair was found, or one of it goes for a third one's sake; else both stay."""
        ends = self._text(row), self._text(other)
        survivors = tuple(self._answer.survivors[end] for end in ends)
        return survivors[0] == survivors[1] or survivors != ends or not self._pairs.isdisjoint((ends, ends[::-1]))


def _pairs(found: _Search, known: _Known, rng: random.Random) -> Share:
    """Draw a partner for each document, so that draws are independent; where all documents were drawn, take all."""
    if found.is_whole:
        drawn = [pair for pair, score in _once(found.partners).items() if score < 1]
    else:
        near = {row: [other for other, score in pairs if score < 1] for row, pairs in found.partners.items()}
        drawn = [(row, rng.choice(others)) for row, others in near.items() if others]
    return Share(sum(known.is_settled(*pair) for pair in drawn), len(drawn), found.is_whole)


def _once(partners: Partners) -> dict[tuple[int, int], float]:
    """Return pairs with their scores, also those of which both were drawn once; of two containments the larger."""
    found: dict[tuple[int, int], float] = {}
    for row, others in partners.items():
        for other, score in others:
            pair = min(row, other), max(row, other)
            found[pair] = max(score, found.get(pair, 0))
    return found


def _bands(partners: Partners, known: _Known, threshold: float) -> tuple[Band, ...]:
    """Count pairs by resemblance."""
    width = (1 - threshold) / BANDS
    edges = [threshold + i * width for i in range(BANDS if width else 0)] + [1.0]
    pairs, hits = Counter[int](), Counter[int]()
    for pair, score in _once(partners).items():
        band = bisect_right(edges, score) - 1
        pairs[band] += 1
        hits[band] += known.is_settled(*pair)
    ends = [*edges[1:], 1.0]
    return tuple(Band(low, high, pairs[i], hits[i]) for i, (low, high) in enumerate(zip(edges, ends, strict=True)))


def _missed(partners: Partners, known: _Known) -> tuple[Missed, ...]:
    """Return pairs nobody found, the most alike first."""
    found = {pair: score for pair, score in _once(partners).items() if not known.is_settled(*pair)}
    ranked = sorted(found.items(), key=lambda one: (-one[1], one[0]))
    return tuple(Missed(*pair, score) for pair, score in ranked[:MISSED])
