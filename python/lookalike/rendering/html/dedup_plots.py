"""The plots in the report of a deduplication: cluster sizes, resemblances, and the curve of the filter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import floor, log1p
from typing import NamedTuple

from lookalike.deduplication import Deduplication
from lookalike.designs.curves import Curve, curve

#: Height of the highest bar and of the curve, and the room above for labels, in pixels.
PLOT, PLOT_TOP = 150, 24
#: Sizes of clusters at which a bar begins.
SIZES = (2, 3, 4, 5, 10, 20, 50, 100, 1_000, 10_000)
#: Smallest number of bars, so that one alone does not fill the plot.
FEWEST = 6
#: Bars of resemblances.
BARS = 20
#: Steps of the curve, all possible with 50 shingles, and random pairs for each point: the standard error is below
#: 0.008.
STEPS, TRIALS = 50, 4_000
#: Resemblances in the table below the curve, besides the threshold.
TOLD = (0.5, 0.6, 0.7, 0.8, 0.9, 0.96)


class Bar(NamedTuple):
    """A bar: from the left and its width in per cent, its height in pixels."""

    x: float
    width: float
    height: float
    amount: int
    #: The amount, short enough for the bar.
    shown: str
    label: str
    #: The label below the bar, if any.
    tick: str = ""


class Line(NamedTuple):
    """A line of the curve: its name, and its points for SVG in a square of 100 by 100."""

    name: str
    points: str


class CurvePlot(NamedTuple):
    """The filter's curve, drawn and in numbers."""

    curve: Curve
    lines: tuple[Line, ...]
    rows: tuple[tuple[float, float, list[float | None]], ...]


def size_bars(answer: Deduplication) -> list[Bar]:
    """Return clusters by size."""
    counts = [0] * len(SIZES)
    for size, clusters in Counter(answer.cluster_sizes.values()).items():
        counts[max(i for i, least in enumerate(SIZES) if least <= size)] += clusters
    used = max((i for i, count in enumerate(counts) if count), default=0)
    used = max(used + 1, FEWEST)
    bars = _bars(counts[:used], [_size_label(i) for i in range(used)])
    return [bar._replace(tick=_size_tick(i)) for i, bar in enumerate(bars)]


def _size_label(i: int) -> str:
    if i + 1 == len(SIZES):
        return f"{SIZES[i]:,} or more"
    last = SIZES[i + 1] - 1
    return f"{SIZES[i]:,}" if last == SIZES[i] else f"{SIZES[i]:,}–{last:,}"


def _size_tick(i: int) -> str:
    """Return a short label for the smallest size of a bar."""
    least = SIZES[i] if SIZES[i] < 1_000 else f"{SIZES[i] // 1_000}k"
    return f"{least}+" if "–" in _size_label(i) or i + 1 == len(SIZES) else f"{least}"


def resemblance_bars(answer: Deduplication) -> tuple[float, list[Bar]]:
    """Return the left end of the plot, and the removed rows by resemblance, without identical texts."""
    found = [answer.resemblances[row] for row in answer.gone if answer.links[row] != 1]
    # In a chain, a row may resemble the row kept for it less than the threshold.
    least = floor(min([answer.settings.threshold, *found]) * 20 + 1e-6) / 20
    least = min(least, 0.95)
    counts = [0] * BARS
    for value in found:
        counts[min(max(int((value - least) / (1 - least) * BARS + 1e-6), 0), BARS - 1)] += 1
    edges = [least + (1 - least) * i / BARS for i in range(BARS + 1)]
    return least, _bars(counts, [f"{edges[i]:.3g}–{edges[i + 1]:.3g}" for i in range(BARS)])


def _bars(counts: Sequence[int], labels: Iterable[str]) -> list[Bar]:
    """Return bars side by side. Heights are logarithmic, so that one among thousands is visible."""
    top = max(map(log1p, counts), default=0) or 1
    width = 100 / len(counts)
    return [
        Bar(round(i * width, 3), round(width, 3), round(log1p(count) / top * PLOT, 1), count, _short(count), label)
        for i, (count, label) in enumerate(zip(counts, labels, strict=True))
    ]


def _short(count: int) -> str:
    return str(count) if count < 10_000 else f"{count // 1000}k"


def curve_plot(answer: Deduplication) -> CurvePlot | None:
    """Return the curve of the filter, or ``None`` without a filter."""
    settings = answer.settings
    if settings.filter is None:
        return None
    steps = [i / STEPS for i in range(STEPS + 1)]
    found = curve(settings.filter, settings.sketch, [*steps, settings.threshold], TRIALS)
    lines = [Line("formula", _points(found.rho, found.formula))]
    lines += [Line(f"{size.union:,} shingles", _points(found.rho, size.accepted)) for size in found.simulated]
    told = {*TOLD, settings.threshold}
    return CurvePlot(found, tuple(lines), tuple(row for row in found.rows() if row[0] in told))


def _points(rho: Sequence[float], accepted: Sequence[float | None]) -> str:
    return " ".join(f"{x * 100:.4g},{100 - y * 100:.4g}" for x, y in zip(rho, accepted, strict=True) if y is not None)
