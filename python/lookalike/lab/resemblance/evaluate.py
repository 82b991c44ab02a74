"""Which unit, width and threshold agree best with what a person says? Precision and recall on labelled pairs.

Resemblance is exact here, so that what is measured is the measure and not a sketch. A pair whose resemblance is
undefined is never found; where it should have been, that counts as missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lookalike import params
from lookalike.errors import FrontendError
from lookalike.lab.shared import labels, plots
from lookalike.lab.shared.corpus import Corpus, summary
from lookalike.lab.shared.labels import Labels
from lookalike.lab.shared.outcome import RESEMBLANCE, Cell, Claim, Outcome, Table
from lookalike.sketches.exact import resemblance

#: §1: the threshold at which the paper clustered the Web.
PAPER = {"best threshold": 0.5}
#: Widths that are tried, by unit.
GRID = {"word": (1, 2, 3, 4, 5, 7, 10), "character": (4, 8, 12, 16, 24, 32), "line": (1, 2)}
#: Thresholds of the table and the curve.
THRESHOLDS = tuple(i / 20 for i in range(1, 21))
COLOURS = {"word": plots.BLUE, "character": plots.GREEN, "line": plots.RED}


@dataclass(frozen=True)
class Quality:
    """How well a decision at one threshold agrees with the labels."""

    threshold: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(frozen=True)
class Row:
    """One unit and width on all pairs."""

    unit: str
    width: int
    #: Resemblance and label, most similar first; undefined ones are left out.
    ranked: tuple[tuple[float, bool], ...]
    positives: int
    undefined: int

    def at(self, threshold: float) -> Quality:
        """Return the quality at a threshold. With nothing found nothing is wrong: the precision is 1."""
        found = [is_same for score, is_same in self.ranked if score >= threshold]
        return Quality(threshold, sum(found) / len(found) if found else 1.0, sum(found) / self.positives)

    @cached_property
    def steps(self) -> list[Quality]:
        """The quality at every score there is, highest first: equal scores are one step."""
        made, found, seen = [], 0, 0
        for score, group in groupby(self.ranked, key=lambda one: one[0]):
            labels_ = [is_same for _, is_same in group]
            found, seen = found + sum(labels_), seen + len(labels_)
            made.append(Quality(score, found / seen, found / self.positives))
        return made

    @property
    def average_precision(self) -> float:
        """The area under the steps of precision over recall."""
        before = [0.0, *(step.recall for step in self.steps)]
        return sum(step.precision * (step.recall - last) for step, last in zip(self.steps, before, strict=False))

    @property
    def best(self) -> Quality:
        """The threshold of the highest F1, of several the largest."""
        return max(self.steps, key=lambda one: one.f1)


def rank(unit: str, width: int, given: Labels) -> Row:
    """Measure all pairs with one unit and width."""
    scored = [(resemblance(one.left, one.right, unit=unit, shingle=width), one.is_same) for one in given.pairs]
    known = [(score, is_same) for score, is_same in scored if score is not None]
    ranked = tuple(sorted(known, key=lambda one: (-one[0], one[1])))
    return Row(unit, width, ranked, given.positives, len(scored) - len(known))


def measure(corpus: Corpus, seed: int, pairs: Path | None = None) -> Outcome:
    """Measure the labelled pairs in every unit and width; without labels, planted ones."""
    given = labels.plant(corpus, seed) if pairs is None else labels.read(pairs, corpus)
    rows = [rank(unit, width, given) for unit, widths in GRID.items() for width in widths]
    usable = [row for row in rows if row.ranked]
    if not usable:
        raise FrontendError("no labelled pair has two texts as long as a shingle: give longer texts")
    best = max(usable, key=lambda row: (row.best.f1, row.average_precision, -row.width))
    usual = next(row for row in rows if (row.unit, row.width) == ("word", params.SHINGLES["word"]))
    return Outcome(
        name="evaluate",
        title=f"{len(given.pairs)} labelled pairs, {given.positives} of them the same",
        sections="§2",
        parameters={
            "grid": {unit: list(widths) for unit, widths in GRID.items()},
            "pairs": len(given.pairs),
            "positives": given.positives,
            "best": {"unit": best.unit, "width": best.width},
            "seed": seed,
        },
        corpus=corpus.facts() | {"labels": given.origin, "labels_left_out": list(given.left_out)},
        claims=_claims(best, usual),
        tables=(_table(rows, best), _thresholds(best)),
        notes=(
            *corpus.notes(),
            f"labels: {given.origin}",
            *([summary("rows without a usable pair", given.left_out)] if given.left_out else []),
            *([f"pairs labelled unknown, which count nowhere: {given.unknown:,}"] if given.unknown else []),
            f"best: {best.unit} shingles of {best.width} at a threshold of {best.best.threshold:.2f}; chosen on these "
            "very pairs, so expect a little less on others",
            "a pair with a text shorter than a shingle is undefined and never found",
        ),
        series={unit: _columns([row for row in rows if row.unit == unit]) for unit in GRID}
        | {"best": _curve(best), "usual": _curve(usual)},
        paper=RESEMBLANCE,
    )


def _claims(best: Row, usual: Row) -> tuple[Claim, ...]:
    quality, default = best.best, usual.at(params.THRESHOLD.default)
    named = f"{best.unit} shingles of {best.width}"
    other = f"{usual.unit} shingles of {usual.width} at {default.threshold:g}"
    ours = {
        "best threshold": (quality.threshold, f"{named}; paper: its clusters of the Web"),
        "best F1": (quality.f1, named),
        "average precision there": (best.average_precision, named),
        "F1 by default": (default.f1, f"dedup: {other}"),
        "precision by default": (default.precision, f"dedup: {other}"),
        "recall by default": (default.recall, f"dedup: {other}"),
    }
    return tuple(Claim(name, PAPER.get(name), value, "", note) for name, (value, note) in ours.items())


def _table(rows: Sequence[Row], best: Row) -> Table:
    made: list[tuple[Cell, ...]] = []
    for row in rows:
        if not row.ranked:
            made.append((row.unit, str(row.width), None, None, None, None, None, row.undefined, ""))
            continue
        at = row.best
        figures = (row.average_precision, at.threshold, at.precision, at.recall, at.f1)
        made.append((row.unit, str(row.width), *figures, row.undefined, "← best" if row is best else ""))
    columns = ("unit", "width", "AP", "threshold", "precision", "recall", "F1", "undefined", "")
    return Table("every unit and width, at its own best threshold", columns, tuple(made))


def _thresholds(best: Row) -> Table:
    rows = tuple((f"{one.threshold:.2f}", one.precision, one.recall, one.f1) for one in map(best.at, THRESHOLDS))
    return Table(f"{best.unit} shingles of {best.width}", ("threshold", "precision", "recall", "F1"), rows)


def _columns(rows: Sequence[Row]) -> dict[str, list[float | int | None]]:
    return {
        "width": [row.width for row in rows],
        "average precision": [row.average_precision if row.ranked else None for row in rows],
        "F1": [row.best.f1 if row.ranked else None for row in rows],
        "undefined": [row.undefined for row in rows],
    }


def _curve(row: Row) -> dict[str, list[float]]:
    found = [row.at(threshold) for threshold in THRESHOLDS]
    return {
        "threshold": list(THRESHOLDS),
        "precision": [one.precision for one in found],
        "recall": [one.recall for one in found],
        "F1": [one.f1 for one in found],
    }


def draw(outcome: Outcome) -> Figure:
    """Draw quality by width for every unit, and by threshold for the best of them."""
    figure, (left, right) = plots.panels(outcome)
    for unit, colour in COLOURS.items():
        columns = outcome.series[unit]
        for what, line in (("average precision", "o-"), ("F1", "s--")):
            points = [(x, y) for x, y in zip(columns["width"], columns[what], strict=True) if y is not None]
            if points:
                left.plot(*zip(*points, strict=True), line, ms=4, lw=1, color=colour, label=f"{unit}: {what}")
    left.set(xscale="log", xlabel="tokens in a shingle", ylabel="quality", title="units and widths", ylim=(0, 1.03))
    plots.plain_ticks(left.xaxis, sorted({width for widths in GRID.values() for width in widths}))
    plots.legend_below(left, columns=2)
    _draw_best(right, outcome)
    return figure


def _draw_best(axes: Axes, outcome: Outcome) -> None:
    chosen, columns = outcome.parameters["best"], outcome.series["best"]
    for what, colour in (("precision", plots.BLUE), ("recall", plots.GREEN), ("F1", plots.INK)):
        axes.plot(columns["threshold"], columns[what], "o-", ms=3, lw=1, color=colour, label=what)
    axes.axvline(params.THRESHOLD.default, color=plots.GREY, ls=":", label="default threshold of dedup")
    axes.set(
        xlabel="threshold", title=f"{chosen['unit']} shingles of {chosen['width']}", ylim=(0, 1.03), xlim=(0, 1.01)
    )
    plots.legend_below(axes, columns=2)
