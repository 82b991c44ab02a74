"""The overview page: the guarantee, the lists of pairs and submissions, plots, clusters, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log1p
from statistics import median
from typing import Any, NamedTuple

from lookalike import params
from lookalike.comparison.outliers import best_scores
from lookalike.comparison.result import Report
from lookalike.rendering import comparison_tables
from lookalike.rendering.html.frame import page, parameters, title
from lookalike.rendering.html.overview_data import Ends, overview_data
from lookalike.rendering.wording import units

#: Colours of labels in the graph and the table, used in turn.
LABEL_COLOURS = 8
#: Longest lists; report.json and the CSV files have everything. ``rows`` are in the page without a script.
MOST = {"rows": 50, "remarks": 500, "common": 100, "clusters": 300, "members": 60, "printed": 500, "outliers": 20}
#: The plots of scores, in pixels: the highest bar, and the room above it for labels.
PLOT, PLOT_TOP = 120, 34
#: Intervals of the plots.
INTERVALS = 20


class Bar(NamedTuple):
    """One interval of scores in a plot: from the left in per cent, the rest in pixels."""

    x: float
    y: float
    height: float
    amount: int
    #: The amount, short enough for the bar.
    shown: str
    label: str
    is_above: bool


class Best(NamedTuple):
    """The plot of the best score of every submission."""

    bars: list[Bar]
    #: Submissions without a pair in any list, those with pairs in other lists than the main one only, and the median of
    #: the rest.
    without: int
    elsewhere: int
    median: float | None


def overview(report: Report, names: Sequence[str], pages: Mapping[Ends, str], left_out: Sequence[str]) -> str:
    """Return the page. ``names`` are the entries' names to show, ``pages`` the addresses of the pages of pairs."""
    labels = sorted({entry.label for entry in report.entries if entry.label is not None})
    return page(
        "overview",
        report=report,
        title=title(report),
        parameters=parameters(report),
        names=names,
        pages=pages,
        left_out=left_out,
        labels=labels,
        hue={label: i % LABEL_COLOURS for i, label in enumerate(labels)},
        files=sum(len(entry.files) for entry in report.entries),
        tokens=sum(entry.tokens for entry in report.entries),
        bars=_bars(report.histogram, report.cut_off),
        best=_best(report),
        plot=(PLOT, PLOT_TOP),
        unit=units(file for entry in report.entries for file in entry.files),
        timed=sum(entry.time is not None for entry in report.entries) > 1,
        remarks=_remarks(report),
        most=MOST,
        much_larger=params.MUCH_LARGER,
        data=overview_data(report, names, labels, pages),
    )


def _bars(counts: Sequence[int], cut_off: float) -> list[Bar]:
    """Return a plot of scores. Heights are logarithmic, so that one pair among thousands is visible."""
    top = max(map(log1p, counts)) or 1
    bars = []
    for i, count in enumerate(counts):
        height = round(log1p(count) / top * PLOT, 1)
        low, high = i / len(counts), (i + 1) / len(counts)
        label, shown = f"{low:.2f}–{high:.2f}", str(count) if count < 10_000 else f"{count // 1000}k"
        is_above = high > cut_off + 1e-9
        bars.append(Bar(round(low * 100, 2), round(PLOT - height, 1), height, count, shown, label, is_above))
    return bars


def _best(report: Report) -> Best:
    """Return how the best scores of the submissions are distributed."""
    scores = best_scores(report.pairs, report.groups)
    counts = [0] * INTERVALS
    for score in scores.values():
        counts[min(INTERVALS - 1, int(score * INTERVALS))] += 1
    middle = median(scores.values()) if scores else None
    every = [pair for _, pairs in comparison_tables.lists(report) for pair in pairs]
    listed = len(best_scores(every, report.groups))
    without = len(report.entries) - listed
    return Best(_bars(counts, report.cut_off), without, listed - len(scores), middle)


def _remarks(report: Report) -> list[tuple[str, str, str, Any]]:
    """Return the lists of skipped and doubtful inputs: anchor, title, what it means, remarks."""
    return [
        ("skipped", "Skipped", "These files were not read, so they were not compared.", report.skipped),
        (
            "undefined",
            "Not comparable",
            "These submissions have too little material of their own to be compared, or none. They have no score.",
            report.undefined,
        ),
        (
            "warnings",
            "Remarks",
            "These were compared. The remark says what was guessed, left out or unusual.",
            report.warnings,
        ),
    ]
