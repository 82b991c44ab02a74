"""The curve of the paper's filter (6, 14, 2): pairs that pass by resemblance, linear and logarithmic (Figures 1, 2).

The formula holds for independent permutations; beside it, what the product's fast sketch does on documents of several
sizes. No text takes part: the curve depends on the resemblance alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lookalike.designs import filters
from lookalike.designs.curves import Curve, curve
from lookalike.designs.filters import Filter
from lookalike.lab.shared import plots
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import FILTERING, Claim, Outcome, Table

#: §1 and §4; those of shares are bounds, "less than".
PAPER = {
    "half pass at": 0.909,
    "s is steepest at": 0.931,
    "missed at 0.99": 0.00022,
    "missed at 0.975": 0.01,
    "passing at 0.77": 0.01,
    "passing at 0.5": 0.6e-7,
}
#: Random pairs behind each simulated point.
TRIALS = 40_000
#: Resemblances of the points: some of the table, all multiples of 0.02 so that they exist on 50 shingles.
POINTS = tuple(i / 50 for i in range(25, 50))
COLOURS = (plots.RED, plots.GREEN, plots.BLUE)
#: Lower end of the logarithmic axis, as in Figure 2.
LEAST = 1e-7


def measure(corpus: Corpus, seed: int) -> Outcome:
    """Compute and simulate the curve."""
    found = Filter(*filters.PAPER)
    measured = curve(found, rho=(*POINTS, 0.77, 0.909, 0.975, 0.99), trials=TRIALS, seed=seed)
    sizes = [f"{size.union:,} shingles" for size in measured.simulated]
    return Outcome(
        name="filter-curve",
        title=f"Pairs that pass the filter {found}; {TRIALS:,} trials a point",
        sections="§3 and §4 (Figures 1 and 2)",
        parameters={"k": found.k, "s": found.s, "r": found.r, "trials": TRIALS, "seed": seed},
        corpus=corpus.facts(),
        claims=_claims(found),
        tables=(
            Table(
                f"share of pairs that pass; {TRIALS:,} trials a column",
                ("resemblance", "formula", *sizes),
                tuple((f"{rho:g}", formula, *simulated) for rho, formula, simulated in measured.rows()),
            ),
        ),
        notes=(
            "the curve depends on no corpus",
            *found.notes,
            "the paper's “more than 2 common features” means 2 or more",
            "the fast sketch draws rather without replacement: the fewer shingles, the steeper its curve",
        ),
        series={"curve": series(measured)},
        paper=FILTERING,
    )


def _claims(found: Filter) -> tuple[Claim, ...]:
    ours = {
        "half pass at": (found.half, "paper: 0.909…, where total error is least"),
        "s is steepest at": (found.steepest, "paper: 0.931…, e^(−1/s)"),
        "missed at 0.99": (found.reject(0.99), "paper: less than"),
        "missed at 0.975": (found.reject(0.975), "paper: less than, which it is not"),
        "passing at 0.77": (found.accept(0.77), "paper: less than"),
        "passing at 0.5": (found.accept(0.5), "paper: less than"),
    }
    return tuple(Claim(name, PAPER.get(name), value, "", note) for name, (value, note) in ours.items())


def series(measured: Curve) -> dict[str, list[float | None]]:
    """Return the columns of a curve by name."""
    columns: dict[str, list[float | None]] = {"rho": [*measured.rho], "formula": [*measured.formula]}
    return columns | {f"{size.union} shingles": [*size.accepted] for size in measured.simulated}


def draw(outcome: Outcome) -> Figure:
    """Draw the formula as a line and the simulated shares as points, on both scales."""
    figure, axes = plots.panels(outcome)
    _draw(axes, Filter(*(outcome.parameters[name] for name in "ksr")), outcome.series["curve"])
    return figure


def draw_curve(measured: Curve, threshold: float) -> Figure:
    """Draw any curve the same way, with its threshold."""
    figure = Figure(figsize=(11.2, 5))
    figure.suptitle(f"Pairs that pass the filter {measured.filter}", x=0.01, ha="left", color=plots.INK)
    axes = list(figure.subplots(1, 2, squeeze=False)[0])
    for each in axes:
        each.axvline(threshold, color=plots.GREY, ls=":", label=f"threshold {threshold:g}")
    _draw(axes, measured.filter, series(measured))
    return figure


def _draw(axes: list[Axes], found: Filter, columns: Mapping[str, Any]) -> None:
    for each, scale in zip(axes, ("linear", "log"), strict=True):
        line = [(x, y) for x, y in found.curve(400) if scale == "linear" or y > 0]
        each.plot(*zip(*line, strict=True), color=plots.INK, lw=1, label="formula, independent permutations")
        sizes = [name for name in columns if name not in ("rho", "formula")]
        for name, colour in zip(sizes, COLOURS, strict=False):
            points = [(x, y) for x, y in zip(columns["rho"], columns[name], strict=True) if y is not None]
            points = [(x, y) for x, y in points if scale == "linear" or y > 0]
            if points:
                each.plot(*zip(*points, strict=True), "o", ms=3.5, color=colour, label=f"fast sketch, {name}")
        each.set(xlabel="resemblance", ylabel="share of pairs that pass", yscale=scale, xlim=(0, 1.01))
        plots.legend_below(each, columns=2)
    axes[1].set_ylim(LEAST, 2)
