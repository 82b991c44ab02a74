"""Rank and frequency: how often the k-grams of a corpus occur, and how often its fingerprints do (Figure 4).

The frequency of a k-gram is how often it occurs, its rank its place when frequencies are sorted downwards. Equal
frequencies form plateaus, of which only the left and right ends are drawn and fitted; a plateau of one counts twice.
Documents are concatenated, as in the paper.

*All* is everything. *Cleaned* lacks aberrant plateaus, by this rule: under a power law plateaus get longer as
frequencies fall, so one that is more than five times as long as each of the five plateaus of next lower frequency is
aberrant: one file that occurs many times, or one long repeated pattern.

Cost: the identities of all k-grams are sorted; about 45 bytes a k-gram at the peak.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lookalike import _core
from lookalike.fingerprints import Fingerprints
from lookalike.lab.shared import plots
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import Claim, Outcome, Table
from lookalike.lab.shared.setting import Integers, K, W, fingerprints

#: §5.1: the slope; the shares of distinct fingerprints that occur once, twice, thrice; the most frequent k-gram.
PAPER = {"slope": -0.7, "1": 0.82, "2": 0.14, "3": 0.02, "most frequent of all k-grams": 3270}
#: Bytes of text that are looked at, because all k-grams are held: the paper took 20,000 of its 500,000 pages.
MOST_BYTES = 64_000_000
#: A plateau is aberrant if it is so many times as long as each of so many plateaus of next lower frequency.
TIMES, NEIGHBOURS = 5, 5
#: How many of the most frequent k-grams are shown, and among how many they are looked for.
SHOWN, CANDIDATES = 8, 64
CURVES = {"all k-grams": "every", "fingerprints": "winnow"}


@dataclass(frozen=True)
class Plateaus:
    """How many k-grams have each frequency; frequencies fall."""

    frequency: Integers
    length: Integers

    @classmethod
    def of(cls, counts: Integers) -> Plateaus:
        """Collect the plateaus of k-grams that occur so often."""
        frequency, length = np.unique(counts, return_counts=True)
        return cls(frequency[::-1], length[::-1])

    def ends(self) -> tuple[Integers, Integers]:
        """Return ranks and frequencies of the ends of all plateaus, left, right, left, right …"""
        right = self.length.cumsum()
        return np.column_stack((right - self.length + 1, right)).ravel(), self.frequency.repeat(2)

    def aberrant(self) -> NDArray[np.bool_]:
        """Say which plateaus the rule at the head of this file calls aberrant."""
        lower = (self.length[i : i + NEIGHBOURS] for i in range(1, len(self.length)))
        marks = [bool(own > TIMES * next_.max()) for own, next_ in zip(self.length[:-1], lower, strict=True)]
        return np.array([*marks, False])

    def cleaned(self) -> Plateaus:
        """Return the plateaus without the aberrant ones."""
        kept = ~self.aberrant()
        return Plateaus(self.frequency[kept], self.length[kept])

    def fit(self) -> tuple[float, float]:
        """Fit log10 frequency to log10 rank by least squares: slope and intercept."""
        x, y = np.log10(self.ends())
        spread = float(x.var())
        slope = float(((x - x.mean()) * (y - y.mean())).mean()) / spread if spread else 0.0
        return slope, float(y.mean() - slope * x.mean())

    def share(self, frequency: int) -> float:
        """Return the share of distinct k-grams with this frequency."""
        return float(self.length[self.frequency == frequency].sum() / self.length.sum())


def measure(corpus: Corpus, seed: int) -> Outcome:
    """Count the k-grams and the fingerprints of the corpus."""
    text, capped = _capped(corpus.text)
    found = {name: fingerprints(text, scheme) for name, scheme in CURVES.items()}
    counted = {name: np.unique(f.hashes, return_counts=True) for name, f in found.items()}
    plateaus = {name: Plateaus.of(counts) for name, (_, counts) in counted.items()}
    return Outcome(
        name="rank-frequency",
        title=f"Frequency by rank at k = {K}, w = {W}",
        sections="§5.1 (Figure 4)",
        parameters={"k": K, "w": W, "most bytes": MOST_BYTES, "seed": seed},
        corpus=corpus.facts(),
        claims=tuple(claim for name, p in plateaus.items() for claim in _claims(name, p)),
        tables=(_plateau_table(plateaus), _most_frequent(text, found["all k-grams"], *counted["all k-grams"])),
        notes=(*corpus.notes(), *capped, *_notes(plateaus)),
        series={name: _curves(p) for name, p in plateaus.items()},
    )


def _capped(text: bytes) -> tuple[bytes, tuple[str, ...]]:
    if len(text) <= MOST_BYTES:
        return text, ()
    note = f"only the first {MOST_BYTES:,} of {len(text):,} bytes were looked at, as all k-grams are held in memory"
    return text[:MOST_BYTES].decode(errors="ignore").encode(), (note,)


def _claims(name: str, plateaus: Plateaus) -> list[Claim]:
    return [
        Claim(f"slope, {name}, cleaned", PAPER.get("slope"), plateaus.cleaned().fit()[0], note="paper: about −0.7"),
        *(Claim(f"{name} that occur {n}×", PAPER.get(str(n)), plateaus.share(n), "of distinct") for n in (1, 2, 3)),
        Claim(f"most frequent of {name}", PAPER.get(f"most frequent of {name}"), int(plateaus.frequency[0]), "times"),
    ]


def _plateau_table(plateaus: Mapping[str, Plateaus]) -> Table:
    rows = tuple(
        (name, what, int((p.frequency * p.length).sum()), int(p.length.sum()), len(p.length), p.fit()[0])
        for name, everything in plateaus.items()
        for what, p in (("all", everything), ("cleaned", everything.cleaned()))
    )
    return Table("plateaus", ("of", "data", "occurrences", "distinct", "plateaus", "slope"), rows)


def _most_frequent(text: bytes, found: Fingerprints, hashes: NDArray[np.uint64], counts: Integers) -> Table:
    """Show the most frequent k-grams as text, leaving out those that overlap one already shown."""
    best = np.argsort(-counts, kind="stable")[:CANDIDATES]
    shown: dict[int, int] = {}
    for candidate in best:
        first = int(np.argmax(np.asarray(found.hashes) == hashes[candidate]))
        if all(abs(first - other) >= K for other in shown):
            shown[first] = int(counts[candidate])
        if len(shown) == SHOWN:
            break
    rows = tuple((count, _text_at(text, found, first)) for first, count in shown.items())
    return Table("the most frequent k-grams", ("occurrences", "text"), rows)


def _text_at(text: bytes, found: Fingerprints, at: int) -> str:
    ((start, end),) = _core.locate(text, found.positions[at : at + 1], K, "character", False)
    return " ".join(text[start:end].decode(errors="replace").split())


def _notes(plateaus: Mapping[str, Plateaus]) -> list[str]:
    rule = f"aberrant is a plateau more than {TIMES}× as long as each of the {NEIGHBOURS} of next lower frequency"
    removed = [
        f"cleaned of {name}: {length:,} that occur {frequency:,} times each"
        for name, p in plateaus.items()
        for frequency, length in zip(p.frequency[p.aberrant()], p.length[p.aberrant()], strict=True)
    ]
    return ["documents are concatenated, as in the paper", rule, *(removed or ["no plateau was aberrant"])]


def _curves(plateaus: Plateaus) -> dict[str, Any]:
    cleaned = plateaus.cleaned()
    (rank, frequency), (rank_cleaned, frequency_cleaned) = plateaus.ends(), cleaned.ends()
    return {
        "rank": rank,
        "frequency": frequency,
        "rank, cleaned": rank_cleaned,
        "frequency, cleaned": frequency_cleaned,
        "fit": cleaned.fit(),
    }


def draw(outcome: Outcome) -> Figure:
    """Draw both curves, all and cleaned, with the fitted lines and the paper's slope."""
    figure, (axes,) = plots.panels(outcome, 1)
    figure.set_size_inches(7.5, 5.5)
    everything = outcome.series["all k-grams"]
    _draw_curve(axes, "all k-grams", everything, plots.BLUE)
    if slope := PAPER.get("slope"):
        _draw_line(axes, everything, slope, ls="--", color=plots.RED, label=f"paper: slope {slope}")
    _draw_curve(axes, "fingerprints", outcome.series["fingerprints"], plots.GREEN)
    axes.set(xscale="log", yscale="log", xlabel="rank", ylabel="frequency")
    axes.set_ylim(0.7, 2 * everything["frequency"][0])
    plots.legend_below(axes, columns=2)
    return figure


def _draw_curve(axes: Axes, name: str, curve: Mapping[str, Any], colour: str) -> None:
    axes.plot(curve["rank"], curve["frequency"], "-", color=colour, lw=0.8, alpha=0.5, label=f"{name}, all")
    axes.plot(curve["rank, cleaned"], curve["frequency, cleaned"], ".", ms=4, color=colour, label=f"{name}, cleaned")
    slope = curve["fit"][0]
    _draw_line(axes, curve, slope, ls=":", lw=1.5, color=colour, label=f"fit, slope {slope:.2f}")


def _draw_line(axes: Axes, curve: Mapping[str, Any], slope: float, **look: Any) -> None:
    """Draw a line of this slope through the middle of a curve's cleaned ends, where every fitted line passes."""
    x, y = np.log10(curve["rank, cleaned"]), np.log10(curve["frequency, cleaned"])
    ends = np.array([x[0], x[-1]])
    axes.plot(10**ends, 10 ** (y.mean() + slope * (ends - x.mean())), **{"lw": 1, **look})
