"""How many bits may differ? Precision and recall against k, from equal samples of pairs at exactly each distance.

After Manku 2007, §4.1. The paper draws as many pairs at distance 1 as at distance 10 and counts them alike, although a
corpus has many more at 10 than at 1: its figures are those of the sample. Here they stand beside the same weighed by
how many pairs the corpus has at each distance, which is what a user of k would see, and, where truth is measured,
beside the recall of all true pairs, those further apart than ten bits too.

Truth is a person's (a sheet to tag is written, and read back), or an exact resemblance. Cost: a scan of the drawn
fingerprints (`partners.py`) and ``EACH`` × 11 exact comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lookalike import params
from lookalike.errors import FrontendError
from lookalike.lab import SHEET
from lookalike.lab.shared import labels, plots
from lookalike.lab.shared.corpus import Corpus, summary
from lookalike.lab.shared.outcome import CRAWLING, Cell, Claim, Outcome, Table
from lookalike.lab.shared.setting import Integers
from lookalike.lab.simhash import sheet
from lookalike.lab.simhash.partners import Partners, by_distance, by_resemblance, resemblances
from lookalike.lab.simhash.simhashed import BITS, SHINGLE, Simhashed, popcount, read_several, sample, share_of_pairs
from lookalike.simhashes.texts import simhash

#: §4.1: "Choosing k = 3 is reasonable because both precision and recall are near 0.75."
PAPER: dict[str, float] = {
    "precision at k = 3, each distance alike": 0.75,
    "recall at k = 3, each distance alike": 0.75,
    "k where the two are nearest": 3,
}
K = 3
#: Distances that are sampled; the paper's begin at 1.
DISTANCES = range(11)
#: Pairs at each distance that are judged, and that stand on the sheet.
EACH, TO_TAG = 1_000, 20
#: Resemblance from which a pair is true, and others to see what depends on it.
THRESHOLD: float = params.THRESHOLD.default
THRESHOLDS = (0.3, 0.5, THRESHOLD, 0.9)


class Tally(NamedTuple):
    """The pairs at one distance: how many there are, and what those that were judged turned out to be."""

    distance: int
    #: In the corpus, counted or estimated from the drawn texts.
    pairs: float
    true: int
    false: int
    unknown: int

    @property
    def share(self) -> float | None:
        """The share of true ones, of those that could be told."""
        decided = self.true + self.false
        return self.true / decided if decided else None


class Point(NamedTuple):
    """Precision and recall if all pairs within k bits are reported; ``None`` where nothing is known."""

    k: int
    precision: float | None
    recall: float | None


#: A pair that was judged: its distance, and its resemblance or a person's 1 or 0; ``None`` if it cannot be told.
Judged = tuple[int, float | None]


def curve(tallies: Sequence[Tally], is_weighted: bool) -> list[Point]:
    """Return precision and recall at each k from 1.

    Each distance from 1 counts alike, as in the paper; or each from 0 as often as there are pairs.
    """
    known = {one.distance: (one.pairs if is_weighted else 1.0, one.share) for one in tallies if one.share is not None}
    if not is_weighted:
        known.pop(0, None)
    true = sum(weight * (share or 0) for weight, share in known.values())
    points = []
    for k in DISTANCES[1:]:
        inside = [(weight, share or 0) for distance, (weight, share) in known.items() if distance <= k]
        total, hits = math.fsum(w for w, _ in inside), math.fsum(w * share for w, share in inside)
        points.append(Point(k, hits / total if total else None, hits / true if true else None))
    return points


def tally(counts: Sequence[float], judged: Sequence[Judged], threshold: float) -> list[Tally]:
    """Count verdicts by distance."""
    made = []
    for distance in DISTANCES:
        scores = [score for at, score in judged if at == distance]
        known = [score >= threshold for score in scores if score is not None]
        true = sum(known)
        made.append(Tally(distance, counts[distance], true, len(known) - true, len(scores) - len(known)))
    return made


def sampled(near: Partners, seed: int) -> list[tuple[int, int, int]]:
    """Draw as many pairs at each distance, in the order in which they are to be judged: distance, left, right."""
    rng = np.random.default_rng(seed)
    made = []
    for distance in DISTANCES:
        places = np.flatnonzero(near.scores == distance)
        places = rng.permutation(places[sample(rng, len(places), EACH)])
        made += [(distance, int(near.drawn[i]), int(near.other[i])) for i in places]
    return made


def _judge(found: Simhashed, left: int, right: int) -> float | None:
    if not len(found.shingles[left]) or not len(found.shingles[right]):
        return None
    return float(resemblances(found.shingles, left, np.array([right]))[0])


def measure(corpus: Corpus, seed: int, pairs: Path | None = None) -> Outcome:
    """Draw Figure 1 on a corpus, by the tags of a person or by exact resemblance."""
    found = read_several(corpus)
    drawn = found.draw(seed)
    near = by_distance(found.fingerprints, drawn, DISTANCES[-1]).once()
    if not len(near):
        raise FrontendError(f"corpus `{corpus.name}` has no two texts within {DISTANCES[-1]} bits: give a larger one")
    share = share_of_pairs(len(found), len(drawn))
    counts = [float((near.scores == distance).sum() / share) for distance in DISTANCES]
    chosen = sampled(near, seed)
    given = None if pairs is None else labels.read(pairs, corpus)
    if given is None:
        judged = [(distance, _judge(found, left, right)) for distance, left, right in chosen]
        truth = f"exact resemblance of {THRESHOLD} or more, word shingles of {SHINGLE}"
    else:
        judged, truth = _tagged(given), given.origin
    tallies = tally(counts, judged, THRESHOLD)
    every = None if given else _recall_of_all(found, drawn)
    return Outcome(
        name="simhash-pr",
        title=f"Precision and recall of simhash within k bits, {len(found):,} texts",
        sections="§4.1, Figure 1",
        parameters={"threshold": THRESHOLD, "each": EACH, "to_tag": TO_TAG, "drawn": len(drawn), "seed": seed},
        corpus=corpus.facts() | {"truth": truth, "labels_left_out": list(given.left_out if given else ())},
        claims=_claims(tallies, every),
        tables=(_table(tallies, every), *([] if given else [_sensitivity(counts, judged)])),
        notes=(*corpus.notes(), *found.notes(), *_notes(found, len(drawn), truth, given, judged)),
        series={
            "distances": {name: [getattr(one, name) for one in tallies] for name in (*Tally._fields, "share")}
            | {"uniform": [_uniform(len(found), distance) for distance in DISTANCES]},
            "each distance alike": _columns(curve(tallies, False)),
            "as many as there are": _columns(curve(tallies, True)),
        }
        | ({} if every is None else {"all true pairs": {"k": list(DISTANCES), "recall": every}}),
        paper=CRAWLING,
        sheets={} if given else _sheets(found, chosen, corpus.name, seed),
    )


def _tagged(given: labels.Labels) -> list[Judged]:
    """Return what a person said of pairs, by their distance; those without a fingerprint or further apart are out."""
    judged: list[Judged] = []
    for pair in given.pairs:
        left, right = simhash(pair.left), simhash(pair.right)
        if left is not None and right is not None:
            judged.append(((left ^ right).bit_count(), float(pair.is_same)))
    return judged


def _recall_of_all(found: Simhashed, drawn: Integers) -> list[float] | None:
    """Return the share of all true pairs, whatever their distance, that are within each distance."""
    true = by_resemblance(found.shingles, drawn, THRESHOLD).once()
    if not len(true):
        return None
    apart = popcount(found.fingerprints[true.drawn] ^ found.fingerprints[true.other])
    return [float((apart <= distance).mean()) for distance in DISTANCES]


def _uniform(texts: int, distance: int) -> float:
    """Return how many pairs at a distance uniform fingerprints are expected to have."""
    return float(math.comb(texts, 2) * math.comb(BITS, distance) / 2**BITS)


def nearest(points: Sequence[Point]) -> int | None:
    """Return the k at which precision and recall differ least, of several the smallest."""
    known = [(abs(p - r), k) for k, p, r in points if p is not None and r is not None]
    return min(known)[1] if known else None


def _claims(tallies: Sequence[Tally], every: Sequence[float] | None) -> tuple[Claim, ...]:
    alike, weighed = curve(tallies, False), curve(tallies, True)
    made: list[tuple[str, float | None, str]] = []
    for points, way in ((alike, "each distance alike"), (weighed, "as many as there are")):
        at = points[K - 1]
        note = "paper's way" if points is alike else "distance 0 too, weighed by the pairs in this corpus"
        made += [(f"precision at k = {K}, {way}", at.precision, note), (f"recall at k = {K}, {way}", at.recall, note)]
    made.append(("k where the two are nearest", nearest(alike), "each distance alike"))
    if every is not None:
        made.append((f"recall at k = {K} of all true pairs", every[K], "those further apart than 10 bits too"))
    return tuple(Claim(name, PAPER.get(name), value, "", note) for name, value, note in made if value is not None)


def _notes(
    found: Simhashed, drawn: int, truth: str, given: labels.Labels | None, judged: Sequence[Judged]
) -> list[str]:
    made = [
        f"truth: {truth}; the paper's are a person's tags, so its figures and these differ in what they call true too",
        "recall is the share of the true pairs in the sample, that is within 10 bits, as in the paper; what is further "
        "apart is in the recall of all true pairs only",
        "the paper does not say how many pairs it tagged, nor whether its pages had copies",
    ]
    if drawn < len(found):
        made.append(f"pairs were looked for from {drawn:,} drawn texts, and their number is an estimate")
    if given is not None:
        outside = sum(distance > DISTANCES[-1] for distance, _ in judged)
        made.append(f"pairs tagged unknown: {given.unknown:,}; pairs further apart than 10 bits: {outside:,}")
        if given.left_out:
            made.append(summary("rows without a usable pair", given.left_out))
    else:
        made.append(f"a text shorter than {SHINGLE} words has no shingle: its pairs count as unknown")
        made.append(
            f"to tag yourself: {SHEET} or the page beside it; then `lookalike lab simhash-pr {SHEET} --corpus …`"
        )
    return made


def _table(tallies: Sequence[Tally], every: Sequence[float] | None) -> Table:
    curves = {way: {0: Point(0, None, None)} | {one.k: one for one in curve(tallies, way)} for way in (False, True)}
    rows: list[tuple[Cell, ...]] = [
        (
            str(one.distance),
            round(one.pairs),
            one.true,
            one.false,
            one.unknown,
            one.share,
            *curves[False][one.distance][1:],
            *curves[True][one.distance][1:],
            None if every is None else every[one.distance],
        )
        for one in tallies
    ]
    found = ("precision", "recall", "weighed precision", "weighed recall", "of all true pairs")
    columns = ("k", "pairs at k", "true", "false", "unknown", "share true", *found)
    return Table("pairs at exactly k bits; precision and recall of all within k", columns, tuple(rows))


def _sensitivity(counts: Sequence[float], judged: Sequence[Judged]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for threshold in THRESHOLDS:
        tallies = tally(counts, judged, threshold)
        alike, weighed = curve(tallies, False), curve(tallies, True)
        rows.append((f"{threshold:g}", *alike[K - 1][1:], *weighed[K - 1][1:], nearest(alike)))
    columns = ("true from", "precision", "recall", "weighed precision", "weighed recall", "nearest at k")
    return Table(f"what depends on the truth, k = {K}", columns, tuple(rows))


def _columns(points: Sequence[Point]) -> dict[str, list[Any]]:
    return {name: [getattr(point, name) for point in points] for name in Point._fields}


def _sheets(found: Simhashed, chosen: Sequence[tuple[int, int, int]], corpus: str, seed: int) -> dict[str, str]:
    """Return the sheet of some pairs at each distance, in an order that tells nothing, in both forms."""
    first = [pair for distance in DISTANCES for pair in [one for one in chosen if one[0] == distance][:TO_TAG]]
    order = np.random.default_rng(seed).permutation(len(first)).tolist()
    rows = [
        sheet.Row(found.names[left], found.names[right], found.texts[left], found.texts[right])
        for _, left, right in (first[i] for i in order)
    ]
    return {SHEET: sheet.to_csv(rows), Path(SHEET).with_suffix(".html").name: sheet.to_html(rows, corpus, SHEET)}


def draw(outcome: Outcome) -> Figure:
    """Draw precision and recall against k, and how many pairs there are at each distance."""
    figure, (left, right) = plots.panels(outcome)
    for way, line in (("each distance alike", "o-"), ("as many as there are", "s--")):
        for what, colour in (("precision", plots.BLUE), ("recall", plots.GREEN)):
            _draw_known(left, outcome.series[way], what, line, colour, f"{what}, {way}")
    if "all true pairs" in outcome.series:
        _draw_known(left, outcome.series["all true pairs"], "recall", "^:", plots.INK, "recall of all true pairs")
    if PAPER:
        left.plot([K], [0.75], "x", ms=10, mew=2, color=plots.RED, label="paper: both near 0.75 at k = 3")
    left.set(xlabel="k: bits that may differ", ylabel="precision, recall", ylim=(0, 1.03), title="Figure 1")
    left.set_xticks(list(DISTANCES))
    _draw_pairs(right, outcome.series["distances"])
    for axes in (left, right):
        plots.legend_below(axes, columns=2)
    return figure


def _draw_known(axes: Axes, columns: Mapping[str, Any], what: str, line: str, colour: str, label: str) -> None:
    points = [(k, value) for k, value in zip(columns["k"], columns[what], strict=True) if value is not None]
    if points:
        axes.plot(*zip(*points, strict=True), line, ms=4, lw=1, color=colour, label=label)


def _draw_pairs(axes: Axes, columns: Mapping[str, Any]) -> None:
    pairs, shares = columns["pairs"], columns["share"]
    true = [count * (share or 0) for count, share in zip(pairs, shares, strict=True)]
    least = min([1.0, *(count for count in true if count)]) / 2
    lines = (
        (pairs, "o-", plots.BLUE, "pairs at this distance"),
        (true, "s-", plots.GREEN, "true ones, estimated"),
        (columns["uniform"], "--", plots.INK, "pairs if uniform"),
    )
    for values, line, colour, label in lines:
        shown = [(x, count) for x, count in zip(columns["distance"], values, strict=True) if count > least]
        if shown:
            axes.plot(*zip(*shown, strict=True), line, ms=4, lw=1, color=colour, label=label)
    axes.set(yscale="log", xlabel="Hamming distance", ylabel="pairs in the corpus", title="why weighing matters")
    axes.set_xticks(list(DISTANCES))
