"""The overview page: the guarantee, all pairs in one table, the clusters, and what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from math import log1p
from typing import Any, NamedTuple

from lookalike.comparison.result import Entry, Report
from lookalike.rendering.html.frame import data_block, moment, page, parameters, read_as, thresholds, title
from lookalike.rendering.html.graph import graph
from lookalike.rendering.safe import told, visible

#: Colours of labels in the graph and the table, used in turn.
LABEL_COLOURS = 8
#: Longest lists; report.json and the CSV files have everything. ``rows`` are in the page without a script.
MOST = {"files": 100, "rows": 50, "remarks": 500, "common": 100, "clusters": 300, "members": 60, "printed": 500}
#: The plot of scores, in pixels: the highest bar, and the room above it for labels.
PLOT, PLOT_TOP = 170, 34


class Bar(NamedTuple):
    """One interval of scores in the plot: from the left in per cent, the rest in pixels."""

    x: float
    y: float
    height: float
    pairs: int
    #: The count, short enough for the bar.
    shown: str
    label: str
    is_above: bool


def overview(report: Report, names: Sequence[str], pages: Sequence[str], left_out: Sequence[str]) -> str:
    """Return the page. ``names`` are the entries' names to show, ``pages`` the files of the first pairs."""
    labels = sorted({entry.label for entry in report.entries if entry.label is not None})
    return page(
        "overview",
        report=report,
        title=title(report),
        parameters=parameters(report),
        thresholds=thresholds(report),
        names=names,
        pages=pages,
        left_out=left_out,
        labels=labels,
        hue={label: i % LABEL_COLOURS for i, label in enumerate(labels)},
        files=sum(len(entry.files) for entry in report.entries),
        tokens=sum(entry.tokens for entry in report.entries),
        bars=_bars(report),
        plot=(PLOT, PLOT_TOP),
        graph=graph(report),
        degraded=[(i, file) for i, entry in enumerate(report.entries) for file in entry.files if file.notes],
        remarks=_remarks(report),
        most=MOST,
        data=data_block(_data(report, names, labels, pages)),
    )


def _bars(report: Report) -> list[Bar]:
    """Return the plot of scores. Heights are logarithmic, so that one pair among thousands is visible."""
    top = max(log1p(count) for count in report.histogram) or 1
    bars = []
    for i, count in enumerate(report.histogram):
        height = round(log1p(count) / top * PLOT, 1)
        low, high = i / len(report.histogram), (i + 1) / len(report.histogram)
        label, shown = f"{low:.2f}–{high:.2f}", str(count) if count < 10_000 else f"{count // 1000}k"
        is_above = high > report.cut_off + 1e-9
        bars.append(Bar(round(low * 100, 2), round(PLOT - height, 1), height, count, shown, label, is_above))
    return bars


def _remarks(report: Report) -> list[tuple[str, str, Any]]:
    """Return the lists of skipped and doubtful inputs: anchor, title, remarks."""
    return [
        ("skipped", "Skipped", report.skipped),
        ("undefined", "Not comparable", report.undefined),
        ("warnings", "Warnings", report.warnings),
    ]


def _data(report: Report, names: Sequence[str], labels: Sequence[str], pages: Sequence[str]) -> dict[str, Any]:
    """Return the data for the script: rows of the table and cards of submissions."""
    hue = {label: i for i, label in enumerate(labels)}
    rows = [
        (
            pair.left,
            pair.right,
            round(pair.score, 4),
            round(pair.left_coverage, 4),
            round(pair.right_coverage, 4),
            pair.matched_tokens,
            pair.longest,
            len(pair.passages),
            pair.stands_for,
            int(pair.limited),
        )
        for pair in report.pairs
    ]
    cards = [_card(entry, name, hue) for entry, name in zip(report.entries, names, strict=True)]
    return {"labels": [visible(label) for label in labels], "cards": cards, "rows": rows, "pages": pages}


def _card(entry: Entry, name: str, hue: dict[str, int]) -> list[Any]:
    """Return a submission for the function ``card`` of the script."""
    files = [
        [visible(file.name), read_as(file), file.tokens, [told(note) for note in file.notes]]
        for file in entry.files[: MOST["files"]]
    ]
    return [
        name,
        visible(entry.person or ""),
        hue.get(entry.label, -1) if entry.label is not None else -1,
        moment(entry.time),
        int(entry.old),
        entry.digest,
        [entry.own_tokens, entry.template_tokens, entry.common_tokens],
        files,
        len(entry.files) - len(files),
    ]
