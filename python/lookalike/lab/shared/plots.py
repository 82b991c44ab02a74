"""How the plots of the lab look, and how they are written: the same bytes for the same outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from lookalike.lab.shared.outcome import Outcome

#: Colours that people with any colour vision tell apart (Okabe, Ito 2008), one a scheme in every plot.
COLOURS = {
    "modulo": "#d55e00",
    "safe-modulo": "#cc79a7",
    "winnow": "#0072b2",
    "robust": "#56b4e9",
    "compact": "#009e73",
    "compact-robust": "#e69f00",
}
GREY, INK, BLUE, GREEN, RED = "#999999", "#222222", "#0072b2", "#009e73", "#d55e00"

STYLE: dict[Any, Any] = {
    # Ids inside an SVG are random without a salt; fonts are the ones matplotlib brings along.
    "svg.hashsalt": "lookalike",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.constrained_layout.use": True,
    "figure.dpi": 150,
}


def panels(outcome: Outcome, count: int = 2) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels side by side, headed by the experiment's title."""
    figure = Figure(figsize=(5.6 * count, 5))
    figure.suptitle(f"{outcome.title}  ·  corpus: {outcome.corpus['name']}", x=0.01, ha="left", color=INK)
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def legend_below(axes: Axes, columns: int = 3) -> None:
    """Put the legend under the axes, where it hides no data."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=columns, markerscale=0.8)


def dots(axes: Axes, values: Sequence[float], heights: Sequence[float], least: float, **look: Any) -> None:
    """Draw a marker a row with its value beside it; values below ``least``, the left end of the axis, stand there."""
    placed = [max(value, least) for value in values]
    axes.plot(placed, heights, ls="none", **look)
    for value, x, y in zip(values, placed, heights, strict=True):
        axes.annotate(f"{value:.5f}", (x, y), (8, 0), textcoords="offset points", va="center", fontsize=7)


def crosses(axes: Axes, printed: Sequence[tuple[float, float]], label: str | None) -> None:
    """Mark the paper's values, if any, at these places."""
    if printed:
        axes.plot(*zip(*printed, strict=True), ls="none", marker="x", ms=9, color=RED, label=label)


def plain_ticks(axis: Axis, values: Sequence[float]) -> None:
    """Label a logarithmic axis at these values, as people write them."""
    axis.set_major_locator(FixedLocator(list(values)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_locator(NullLocator())


def save(draw: Callable[[Outcome], Figure], outcome: Outcome) -> None:
    """Draw an outcome and write it as PNG and SVG, without the time of day."""
    write(lambda: draw(outcome), outcome.figure, outcome.figure.with_suffix(".svg"))


def write(draw: Callable[[], Figure], *paths: Path) -> None:
    """Draw a figure and write it to each path, PNG or SVG by its suffix, without the time of day."""
    with matplotlib.rc_context(STYLE):
        figure = draw()
        for path in paths:
            figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else {"Software": None})
