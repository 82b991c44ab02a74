"""Prints the result of ``simhash``: how many rows have a fingerprint, which have none, and where the output is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lookalike._types import counted
from lookalike.rendering.safe import visible
from lookalike.rendering.terminal import problems

if TYPE_CHECKING:
    from lookalike.simhashes.corpus import SimhashReport

_STATES = {
    "without_features": ("without a feature", ""),
    "missing": ("without a text", ""),
    "bad": ("unreadable", ""),
    "blank": ("blank line", "blank lines"),
}


def print_facts(report: SimhashReport, *, quiet: bool = False) -> None:
    """Print what was read and written; ``quiet`` leaves out notes and problems."""
    told = () if quiet else (*_notes(report), *problems.lines(report.problems))
    for line in [*_facts(report), *told, f"fingerprints: {report.out}"]:
        sys.stdout.write(visible(line) + "\n")


def _notes(report: SimhashReport) -> Iterator[str]:
    if report.repeated_ids is not None:
        yield f"note: {report.repeated_ids}"


def _facts(report: SimhashReport) -> Iterator[str]:
    made = report.states["fingerprinted"]
    yield f"{counted(report.rows, 'row')} read, {made:,} with a fingerprint"
    without = [
        f"{count:,} {plural if plural and count != 1 else one}"
        for name, (one, plural) in _STATES.items()
        if (count := report.states[name])
    ]
    if without:
        yield "  without a fingerprint: " + ", ".join(without)
    if made:
        distinct = counted(report.distinct, "distinct fingerprint")
        yield f"  {distinct}; the most common one belongs to {counted(report.largest, 'row')}"
