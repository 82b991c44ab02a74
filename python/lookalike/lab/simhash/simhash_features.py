"""What do features and weights change? Distances, precision and recall of simhash for each way of making features.

Manku 2007, §6 E asks how sensitive the method is to them, and leaves it open. Here each way fingerprints the same
texts; all pairs of drawn texts with others are counted by distance, and among them the true ones, which are those of an
exact resemblance. A true pair of which a text has no fingerprint counts as missed.

Cost: a scan for each way (`partners.py`), and about a millisecond a text for all weights of words together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lookalike import params
from lookalike.errors import FrontendError
from lookalike.lab.shared import plots
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import CRAWLING, Cell, Claim, Outcome, Table
from lookalike.lab.shared.setting import Integers
from lookalike.lab.simhash import weighing
from lookalike.lab.simhash.partners import Partners, by_resemblance, count_distances
from lookalike.lab.simhash.simhashed import BITS, SHINGLE, Simhashed, Words, popcount, read_several
from lookalike.simhashes.texts import idf_table, simhash_batch

#: §4.1, with features that the paper names and weights that it does not.
PAPER = {"precision at k = 3, words": 0.75, "recall at k = 3, words": 0.75}
K = 3
#: Resemblance from which a pair is true.
THRESHOLD: float = params.THRESHOLD.default
#: Ways of weighing words, by name; the first is the default of `simhash`.
WEIGHTS = {
    "words": weighing.frequency,
    "words, log tf": weighing.logarithm,
    "words, binary": weighing.binary,
    "words, tf × idf": weighing.rarity,
}
#: Shingles as features: unit and width.
SHINGLES = {
    "2 words": ("word", 2),
    "4 words": ("word", 4),
    "4 characters": ("character", 4),
    "8 characters": ("character", 8),
}
COLOURS = (
    *("#0072b2", "#56b4e9", "#009e73", "#7f3c8d", "#cc79a7", "#e69f00", "#999999", "#222222", "#8c6d31", "#d55e00"),
)


@dataclass(frozen=True)
class Way:
    """What one way of making features does to pairs."""

    name: str
    #: Pairs at each distance from 0 to 64: all, and the true ones.
    every: Integers
    true: Integers
    #: True pairs, those without a distance too; texts without a fingerprint.
    positives: int
    without: int

    def precision(self, k: int) -> float | None:
        """The share of true pairs among those within k bits, if there are any."""
        found = int(self.every[: k + 1].sum())
        return float(self.true[: k + 1].sum() / found) if found else None

    def recall(self, k: int) -> float:
        """The share of the true pairs that is within k bits."""
        return float(self.true[: k + 1].sum() / self.positives)

    def f1(self, k: int) -> float:
        """The harmonic mean of the two."""
        precision, recall = self.precision(k) or 0.0, self.recall(k)
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    @property
    def best(self) -> int:
        """The k of the highest F1, of several the smallest."""
        return max(range(BITS + 1), key=lambda k: (self.f1(k), -k))


def quantile(counts: Integers, share: float) -> int | None:
    """Return the distance within which this share of pairs lies; ``None`` of no pairs."""
    total = int(counts.sum())
    return int(np.searchsorted(np.cumsum(counts), share * total)) if total else None


def look(name: str, fingerprints: Words, has: NDArray[np.bool_], drawn: Integers, true: Partners) -> Way:
    """Count all pairs and the true ones by distance, from the drawn texts that have a fingerprint."""
    every = count_distances(fingerprints[has], np.flatnonzero(np.isin(np.flatnonzero(has), drawn)))
    both = has[true.drawn] & has[true.other]
    apart = popcount(fingerprints[true.drawn[both]] ^ fingerprints[true.other[both]])
    return Way(name, every, np.bincount(apart, minlength=BITS + 1), len(true), int((~has).sum()))


def ways(found: Simhashed, drawn: Integers, true: Partners) -> list[Way]:
    """Fingerprint the texts in every way."""
    vectors = weighing.read(found.texts)
    made = [look(name, *weighing.fingerprints(vectors, weigh), drawn, true) for name, weigh in WEIGHTS.items()]
    texts = list(found.texts)
    tables = {name: simhash_batch(texts, unit=unit, shingle=width) for name, (unit, width) in SHINGLES.items()}
    tables["paper"] = simhash_batch(texts, features="paper")
    tables["paper, idf"] = simhash_batch(texts, features="paper", idf=idf_table(texts))
    for name, table in tables.items():
        has = np.frombuffer(table.valid, dtype=np.uint8).astype(bool)
        made.append(look(name, np.asarray(table.fingerprints, dtype=np.uint64), has, drawn, true))
    return made


def measure(corpus: Corpus, seed: int) -> Outcome:
    """Compare all ways of making features on a corpus. Errors: ``FrontendError`` if it has no true pair."""
    found = read_several(corpus)
    drawn = found.draw(seed)
    true = by_resemblance(found.shingles, drawn, THRESHOLD)
    if not len(true):
        raise FrontendError(
            f"corpus `{corpus.name}` has no two texts that resemble each other by {THRESHOLD} without being identical: "
            "recall needs some; give a corpus with near-duplicates"
        )
    every = ways(found, drawn, true)
    return Outcome(
        name="simhash-features",
        title=f"Simhash of {len(found):,} texts by features and weights",
        sections="§6 E",
        parameters={"threshold": THRESHOLD, "shingle": SHINGLE, "k": K, "drawn": len(drawn), "seed": seed},
        corpus=corpus.facts(),
        claims=_claims(every),
        tables=(_table(every), _by_k(every)),
        notes=(
            *corpus.notes(),
            *found.notes(),
            f"truth: an exact resemblance of {THRESHOLD} or more, word shingles of {SHINGLE}, which favours features "
            f"that see the order of words; true pairs: {len(true.once()):,}",
            "idf is measured on this corpus; paper: features after Manku 2007, §2 (no stop words, stems, phrases), by "
            "the language that a text seems to be in",
            "the number of false pairs grows with the square of the corpus, that of true ones need not: precision is "
            "that of a corpus of this size",
            "the best k is chosen on these very pairs, so expect a little less on others",
        ),
        series={way.name: _columns(way) for way in every},
        paper=CRAWLING,
    )


def _claims(every: Sequence[Way]) -> tuple[Claim, ...]:
    made: list[tuple[str, float | None, str]] = []
    for way in every[:1]:
        note = "paper: its own features and tags, each distance alike (see simhash-pr)"
        made += [(f"precision at k = {K}, {way.name}", way.precision(K), note)]
        made += [(f"recall at k = {K}, {way.name}", way.recall(K), note)]
    ranked = sorted(every, key=lambda way: (way.f1(way.best), way.name))
    for what, way in (("highest", ranked[-1]), ("lowest", ranked[0])):
        made.append((f"{what} best F1 of all features", way.f1(way.best), f"{way.name} at k = {way.best}"))
    at_k = sorted(every, key=lambda way: (way.f1(K), way.name))
    for what, way in (("highest", at_k[-1]), ("lowest", at_k[0])):
        made.append((f"{what} F1 at k = {K}", way.f1(K), way.name))
    return tuple(Claim(name, PAPER.get(name), value, "", note) for name, value, note in made if value is not None)


def _table(every: Sequence[Way]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for way in every:
        apart = (quantile(way.true, 0.5), quantile(way.true, 0.9), quantile(way.every, 0.5), quantile(way.every, 0.001))
        quality = (way.precision(K), way.recall(K), way.f1(K), str(way.best), way.f1(way.best))
        rows.append((way.name, *apart, *quality, way.without))
    columns = (
        *("features", "true: median", "true: 90 %", "all: median", "all: 0.1 %"),
        *(f"precision, k = {K}", f"recall, k = {K}", f"F1, k = {K}", "best k", "F1 there", "no fingerprint"),
    )
    return Table("distances of true and of all pairs, and what follows", columns, tuple(rows))


def _by_k(every: Sequence[Way]) -> Table:
    rows: list[tuple[Cell, ...]] = [(str(k), *(way.f1(k) for way in every)) for k in range(11)]
    return Table("F1 by k", ("k", *(way.name for way in every)), tuple(rows))


def _columns(way: Way) -> dict[str, Any]:
    ks = list(range(BITS + 1))
    return {
        "k": ks,
        "pairs": way.every,
        "true": way.true,
        "precision": [way.precision(k) for k in ks],
        "recall": [way.recall(k) for k in ks],
        "best": way.best,
    }


def draw(outcome: Outcome) -> Figure:
    """Draw where true and all pairs lie, and precision against recall."""
    figure, (left, right) = plots.panels(outcome)
    names = list(outcome.series)
    for height, (name, colour) in enumerate(zip(names, COLOURS, strict=False)):
        columns = outcome.series[name]
        _draw_spread(left, columns, height, colour)
        _draw_curve(right, columns, name, colour)
    left.set_yticks(range(len(names)), names)
    left.invert_yaxis()
    left.plot([], [], "o-", color=plots.INK, ms=5, label="true pairs: median, to 90 %")
    left.plot([], [], "|-", color=plots.GREY, ms=9, label="all pairs: from 0.1 % to the median")
    left.axvline(K, color=plots.RED, ls=":", label=f"k = {K}")
    left.set(xlabel="Hamming distance", title="distances of pairs", xlim=(-0.7, BITS / 2 + 1))
    if PAPER:
        right.plot([0.75], [0.75], "x", ms=10, mew=2, color=plots.RED, label="the paper says, k = 3")
    right.set(
        xlabel="recall", ylabel="precision", title=f"each k a point; squares: k = {K}", xlim=(0, 1.03), ylim=(0, 1.03)
    )
    plots.legend_below(left, columns=1)
    plots.legend_below(right)
    return figure


def _draw_spread(axes: Axes, columns: Mapping[str, Any], height: float, colour: str) -> None:
    # Side by side, so that neither hides the other. What is not there is drawn nowhere.
    true = np.array([quantile(np.asarray(columns["true"]), share) for share in (0.5, 0.9)], dtype=float)
    every = np.array([quantile(np.asarray(columns["pairs"]), share) for share in (0.001, 0.5)], dtype=float)
    axes.plot(true, [height - 0.12] * 2, "-", color=colour, lw=2)
    axes.plot(true[:1], [height - 0.12], "o", color=colour, ms=5)
    axes.plot(every, [height + 0.18] * 2, "|-", color=plots.GREY, ms=9, lw=1)


def _draw_curve(axes: Axes, columns: Mapping[str, Any], name: str, colour: str) -> None:
    both = zip(columns["recall"], columns["precision"], strict=True)
    points = [(recall, precision) for recall, precision in both if precision is not None]
    if points:
        axes.plot(*zip(*points, strict=True), ".-", ms=3, lw=0.9, color=colour, label=name)
    if columns["precision"][K] is not None:
        axes.plot([columns["recall"][K]], [columns["precision"][K]], "s", ms=6, color=colour)
