"""Measures precision and recall of a result on the corpus itself: a seeded sample is scored exactly, with intervals.

Precision: removed rows are scored exactly against the rows kept for them. Recall needs pairs that no filter proposed.
Random pairs of a corpus are hardly ever near-duplicates. So documents are drawn instead, and *all* partners of each are
found by prefix filtering, which cannot miss one: two documents at threshold t share one of the first n − ⌈tn⌉ + 1 of
the n shingles of either, in any fixed order of shingles (Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007).
Candidates are scored exactly. Sketches and features are not used.

Cost: two passes over the sources, some 100 µs of CPU per document of 450 words, and at most ``SAMPLE`` ×
``CANDIDATES`` exact comparisons.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from heapq import heappop, heappush
from typing import Any, NamedTuple

from lookalike import _core, params
from lookalike._types import Progress, unheard
from lookalike.deduplication.picking import rows_of
from lookalike.deduplication.result import LINKS, Deduplication
from lookalike.deduplication.settings import Settings
from lookalike.designs.stats import CONFIDENCE, interval

#: Most documents drawn, and most removed rows of each kind. If one document in ten has a partner, 200 in the sample
#: have one; if all of these are found, the lower limit of recall is 98.2 %.
SAMPLE = 2_000
#: Most rows among which partners are searched; of more, so many are drawn.
ROWS = 1_000_000
#: Most candidates scored per drawn document, and most documents kept per shingle. Of more, so many are drawn, and the
#: audit says for how many documents.
CANDIDATES, HOLDERS = 200, 100
#: Most shingles of all drawn documents, some 100 bytes each; of long documents fewer are drawn.
SHINGLES = 2_000_000
#: Missed pairs that are kept for the report.
MISSED = 10
#: Bands of resemblance from the threshold to 1; pairs at 1 are a band of their own.
BANDS = 4
#: Links whose rows can be scored again.
MEASURED = ("exact", "contained")
#: Names of the measured shares.
SHARES = ("removed", "partnered", "documents", "pairs")
AUDITING = "auditing"
#: Progress is reported once in so many rows.
TOLD = 1_000


@dataclass(frozen=True)
class Share:
    """A share measured on a sample, and the limits between which the share of all lies."""

    hits: int
    trials: int
    #: Whether the sample was everything, so that the share is exact.
    is_whole: bool = False

    @property
    def value(self) -> float | None:
        """The share; ``None`` if the sample was empty."""
        return self.hits / self.trials if self.trials else None

    @property
    def limits(self) -> tuple[float, float]:
        """The interval of Clopper and Pearson (1934), which is never too narrow; the share itself if it is exact."""
        if self.is_whole and self.value is not None:
            return self.value, self.value
        return interval(self.hits, self.trials)

    def to_json(self) -> dict[str, Any]:
        """Return the share as values that JSON can hold."""
        low, high = self.limits if self.trials else (None, None)
        return asdict(self) | {"value": self.value, "low": low, "high": high, "confidence": CONFIDENCE}


class Band(NamedTuple):
    """Pairs of the sample between two resemblances, and how many of them were found."""

    low: float
    high: float
    pairs: int
    known: int


class Missed(NamedTuple):
    """A pair at or above the threshold whose two rows are both kept."""

    left: int
    right: int
    resemblance: float


@dataclass(frozen=True)
class Audit:
    """The measured shares, the size of the sample, and what was not covered."""

    seed: int
    #: Of removed rows that are not identical to the row kept for them, those that reach the threshold with it.
    removed: Share
    #: Of all documents, those with a partner at or above the threshold.
    partnered: Share
    #: Of documents with a partner, those in a cluster or pair.
    documents: Share
    #: Of pairs below 1, those that were found, or of which one row is removed anyway. One pair per document is drawn;
    #: if all documents were drawn, all their pairs.
    pairs: Share
    bands: tuple[Band, ...]
    missed: tuple[Missed, ...]
    #: Rows drawn, rows among which their partners were searched, and exact comparisons made.
    drawn: int
    searched: int
    comparisons: int
    #: One sentence for each limit of the audit.
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the audit as values that JSON can hold."""
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
    """Measure a result while its corpus is open. The same seed gives the same audit. Errors: ``OSError``."""
    rng = random.Random(seed)
    removed = _precision(answer, sample, rng)
    nothing = Share(0, 0)
    if answer.settings.method == "exact" or answer.contamination is not None:
        note = "recall: identical texts are compared as a whole, so none can be missed; no others were searched"
        if answer.contamination is not None:
            note = "recall: every shingle of every row was looked up in the references, so none can be missed"
        return Audit(seed, removed, nothing, nothing, nothing, (), (), 0, 0, removed.trials, (note,))
    found = _Search(answer, sample, rng, progress or unheard)
    known = _Known(answer, found.partners)
    flagged = sum(map(known.is_flagged, found.partners))
    return Audit(
        seed=seed,
        removed=removed,
        partnered=Share(len(found.partners), len(found.drawn), found.is_whole),
        documents=Share(flagged, len(found.partners), found.is_whole),
        pairs=_pairs(found, known, rng),
        bands=_bands(found.partners, known, answer.settings.threshold),
        missed=_missed(found.partners, known),
        drawn=len(found.drawn),
        searched=len(found.others),
        comparisons=found.comparisons + removed.trials,
        notes=tuple(found.notes()),
    )


def _precision(answer: Deduplication, sample: int, rng: random.Random) -> Share:
    """Score removed rows, whose link can be measured again, against the rows kept for them."""
    kinds = {LINKS.index(link) for link in MEASURED}
    rows = [row for row in answer.gone if answer.links[row] in kinds]
    pairs = [(answer.survivors[row], row) for row in sorted(rng.sample(rows, min(sample, len(rows))))]
    scores = answer.scores(pairs)
    reached = sum(score is not None and score >= answer.settings.threshold for score in scores)
    return Share(reached, len(pairs), len(pairs) == len(rows))


#: Drawn documents with their partners and scores.
Partners = dict[int, list[tuple[int, float]]]


class _Index:
    """Drawn documents by shingles, one of which every partner must have, and the holders of these shingles."""

    def __init__(self, shingles: dict[int, Sequence[int]], settings: Settings, rng: random.Random) -> None:
        self._threshold, self._rng = settings.threshold, rng
        self._is_containment = settings.method == "containment"
        counts = Counter(id for ids in shingles.values() for id in ids)
        #: Shingles of several drawn documents come last in the order of shingles, because they select least.
        self._common = {id: count for id, count in counts.items() if count > 1}
        self._asked = {row: self._first(ids) for row, ids in shingles.items()}
        self._holders: dict[int, list[int]] = {id: [] for ids in self._asked.values() for id in ids}
        #: Shingles with more holders than are kept, and how many more.
        self._many: Counter[int] = Counter()
        #: Drawn documents whose candidates were not all kept.
        self.thinned: set[int] = set()

    def _first(self, ids: Sequence[int]) -> Sequence[int]:
        """Return the first n − ⌈tn⌉ + 1 of ascending ids, common ones last; rounding errors add one, never drop one."""
        if not self._common.keys().isdisjoint(ids):
            ids = sorted(ids, key=lambda id: (self._common.get(id, 0), id))
        return ids[: len(ids) - math.ceil(self._threshold * len(ids) - 1e-9) + 1]

    def add(self, other: int, ids: Sequence[int]) -> None:
        """Keep a document for the shingles of drawn documents; of too many, keep a random part (a reservoir)."""
        # A document that contains another may have its shingles anywhere among its own.
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
        """Yield each drawn document with its candidates: all that were added, or a random part of too many."""
        for row, ids in self._asked.items():
            found = sorted({other for id in ids for other in self._holders[id]} - {row})
            if len(found) > CANDIDATES or not self._many.keys().isdisjoint(ids):
                self.thinned.add(row)
            yield row, self._rng.sample(found, min(CANDIDATES, len(found)))


class _Search:
    """The search for all partners of drawn documents."""

    def __init__(self, answer: Deduplication, sample: int, rng: random.Random, tell: Progress) -> None:
        self._answer, self._rng = answer, rng
        settings = answer.settings
        self._maker = _core.SketchMaker(
            "modulo", settings.size, 1, settings.shingle, settings.unit, False, settings.labelled, 64
        )
        own = range(answer.references, answer.rows)
        self.drawn = sorted(rng.sample(own, min(sample, len(own))))
        # With references, only pairs with one of them are searched.
        self._pool = range(answer.references or answer.rows)
        self.others = self._pool if len(self._pool) <= ROWS else sorted(rng.sample(self._pool, ROWS))
        shingles = self._affordable(tell)
        self._without = len(self.drawn) - len(shingles)
        index = _Index(shingles, settings, rng)
        for other, ids in self._shingles(self.others, tell):
            index.add(other, ids.tolist())
        self.comparisons = 0
        #: Drawn documents that have partners, with these and their scores.
        self.partners = self._score(index.candidates())
        self._thinned = index.thinned

    def _shingles(self, rows: Sequence[int], tell: Progress) -> Iterator[tuple[int, _core.Column]]:
        """Yield the shingles of rows, ascending, without rows that the core could not read."""
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
        """Return the shingles of the drawn documents; if there are too many, draw fewer, regardless of length."""
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
        """Whether all documents were drawn, and all partners of each were searched."""
        own, pool = self._answer.rows - self._answer.references, len(self._pool)
        return len(self.drawn) == own and len(self.others) == pool and not self._thinned

    def notes(self) -> Iterator[str]:
        """Yield the limits of the audit."""
        own = self._answer.rows - self._answer.references
        if len(self.drawn) < own:
            yield f"recall: {len(self.drawn):,} of {own:,} rows were drawn"
        if len(self.others) < len(self._pool):
            yield (
                f"recall: similar rows were sought among {len(self.others):,} rows drawn from {len(self._pool):,}; "
                "so a document with a single similar row is likely to be missed"
            )
        if self._without:
            yield f"recall: drawn rows without a shingle, which have no resemblance: {self._without:,}"
        if self._thinned:
            yield (
                f"recall: drawn rows that share shingles with very many others: {len(self._thinned):,}; only some "
                "of those others were compared"
            )


def _within(rows: Sequence[int], first: int, last: int) -> Iterable[int]:
    """Return the ascending rows from ``first`` to before ``last``."""
    return rows[bisect_right(rows, first - 1) : bisect_right(rows, last - 1)]


class _Known:
    """What the result says about drawn documents."""

    def __init__(self, answer: Deduplication, rows: Collection[int]) -> None:
        self._answer = answer
        wanted = {self._text(row) for row in rows}
        ends = ((pair.left, pair.right) for pair in answer.pairs())
        self._pairs = {pair for pair in ends if not wanted.isdisjoint(pair)}
        self._paired = {end for pair in self._pairs for end in pair}

    def _text(self, row: int) -> int:
        """Return the first row with the same text; pairs list only that row for all its copies."""
        return self._answer.survivors[row] if LINKS[self._answer.links[row]] == "identical" else row

    def is_flagged(self, row: int) -> bool:
        """Return whether a document is in a cluster or pair."""
        is_alone = self._answer.survivors[row] == row and row not in self._answer.cluster_sizes
        return not is_alone or self._text(row) in self._paired

    def is_settled(self, row: int, other: int) -> bool:
        """Return whether a pair was found, or one of its rows is removed because of a third; else both are kept."""
        ends = self._text(row), self._text(other)
        survivors = tuple(self._answer.survivors[end] for end in ends)
        return survivors[0] == survivors[1] or survivors != ends or not self._pairs.isdisjoint((ends, ends[::-1]))


def _pairs(found: _Search, known: _Known, rng: random.Random) -> Share:
    """Draw one partner per document, so that draws are independent; if all documents were drawn, take all."""
    if found.is_whole:
        drawn = [pair for pair, score in _once(found.partners).items() if score < 1]
    else:
        near = {row: [other for other, score in pairs if score < 1] for row, pairs in found.partners.items()}
        drawn = [(row, rng.choice(others)) for row, others in near.items() if others]
    return Share(sum(known.is_settled(*pair) for pair in drawn), len(drawn), found.is_whole)


def _once(partners: Partners) -> dict[tuple[int, int], float]:
    """Return each pair once, with its score; of two containments the larger."""
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
    """Return missed pairs, the most similar first."""
    found = {pair: score for pair, score in _once(partners).items() if not known.is_settled(*pair)}
    ranked = sorted(found.items(), key=lambda one: (-one[1], one[0]))
    return tuple(Missed(*pair, score) for pair, score in ranked[:MISSED])
