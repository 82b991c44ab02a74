"""Prints a comparison: totals, the best pairs as a table, and skipped files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from lookalike import params
from lookalike._types import counted
from lookalike.comparison.result import Pair, Remark, Report
from lookalike.rendering.safe import visible
from lookalike.rendering.wording import amount, decimal, left_aside, percent, units

if TYPE_CHECKING:
    from lookalike.rendering.html.folder import Written

#: Pairs shown at the terminal; the report has all of them.
SHOWN = 20
#: Remarks shown at the terminal.
SHOWN_REMARKS = 5


def print_table(report: Report, written: Written | None = None, *, quiet: bool = False) -> None:
    """Print totals, the best pairs, remarks, and where the report is; ``quiet`` leaves out the remarks."""
    for line in _head(report):
        _say(line)
    _print_pairs(report, report.pairs, "score")
    if report.contained:
        _say(f"contained in {params.MUCH_LARGER}: {counted(report.contained_count, 'pair')}")
        _print_pairs(report, report.contained, "contained")
    if report.shared:
        _say(f"below {report.cut_off:g}, with a passage that is worth a look: {counted(report.shared_count, 'pair')}")
        _print_pairs(report, report.shared, "strongest")
    if report.little_count:
        _say(f"too little in common to say anything: {counted(report.little_count, 'pair')}, listed in the report")
    if not quiet:
        _print_remarks("not compared", report.undefined)
        _print_remarks("skipped", report.skipped)
        _print_remarks("note", report.warnings)
    if written is not None:
        for said in () if quiet else written.left_out:
            _say(said)
        _say(f"report: {visible(str(written.overview))}", bold=True)
        for path in written.secrets:
            _say(f"names behind the codes, keep private: {visible(str(path))}")


def _say(line: str, bold: bool = False) -> None:
    """Print a line in the encoding of stdout; click alone would write UTF-8 even to an ASCII terminal."""
    click.secho(line, bold=bold, file=sys.stdout)


def _head(report: Report) -> Iterator[str]:
    if report.understood:
        yield f"read as: {visible(report.understood)}"
    files = [file for entry in report.entries for file in entry.files]
    tokens = amount(sum(entry.tokens for entry in report.entries), units(files))
    without = f", {len(report.undefined):,} not comparable" if report.undefined else ""
    aside = f", without those of {left_aside(report.elsewhere)}" if report.elsewhere else ""
    yield f"compared: {counted(report.compared, 'submission')}{without}; {counted(len(files), 'file')}, {tokens}{aside}"
    yield f"guarantee: {report.promise}"
    at = f"with a score of {report.cluster_threshold:g} or more"
    clusters = f"; {counted(len(report.clusters), 'cluster')} {at}" if report.clusters else ""
    if not report.cut_off:
        rest = f"{counted(report.below, 'pair')} {'shares' if report.below == 1 else 'share'} nothing"
        which = "that shares something" if report.pair_count == 1 else "that share something"
        yield f"{counted(report.pair_count, 'pair')} {which}{clusters}; {rest}"
    elif report.pair_count:
        found = f"{counted(report.pair_count, 'pair')} with a score of {report.cut_off:g} or more{clusters}"
        yield f"{found}; {counted(report.below, 'other pair')} without a score"
    else:
        yield f"no pairs: no two submissions have a score of {report.cut_off:g} or more"


#: The first column of a list, by its heading.
_VALUES: dict[str, Callable[[Pair], str]] = {
    "score": lambda pair: decimal(pair.score),
    "contained": lambda pair: percent(pair.contained),
    "strongest": lambda pair: f"{pair.strongest_bits or 0:.0f} bits",
}


def _print_pairs(report: Report, pairs: Sequence[Pair], value: str) -> None:
    """Print the best pairs of a list as columns. A long name widens its column; nothing is cut."""
    if not pairs:
        return
    names = [visible(entry.name) for entry in report.entries]
    rows = [
        (
            _VALUES[value](pair),
            names[pair.left],
            percent(pair.left_coverage),
            names[pair.right] + (f" (stands for {pair.stands_for:,} pairs)" if pair.stands_for > 1 else ""),
            percent(pair.right_coverage),
            str(len(pair.passages)),
            str(pair.longest),
        )
        for pair in pairs[:SHOWN]
    ]
    head = (value, "left", "shared", "right", "shared", "passages", "longest")
    widths = [max(map(_columns, column)) for column in zip(head, *rows, strict=True)]
    _say(_line(head, widths), bold=True)
    for row in rows:
        _say(_line(row, widths))
    if len(pairs) > SHOWN:
        _say(f"… {sum(pair.stands_for for pair in pairs[SHOWN:]):,} more in the report")


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    """Align cells: names (second and fourth) to the left, numbers to the right."""
    cells = []
    for i, (cell, width) in enumerate(zip(row, widths, strict=True)):
        room = " " * (width - _columns(cell))
        cells.append(cell + room if i in (1, 3) else room + cell)
    return "  ".join(cells)


def _columns(text: str) -> int:
    """Return the width of a text on a terminal: an ideograph takes two columns, a combining accent none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _print_remarks(title: str, remarks: tuple[Remark, ...]) -> None:
    for remark in remarks[:SHOWN_REMARKS]:
        _say(f"{title}: {visible(remark.name)}: {visible(remark.reason)}")
    if len(remarks) > SHOWN_REMARKS:
        _say(f"{title}: {len(remarks) - SHOWN_REMARKS:,} more, all listed in the report")
