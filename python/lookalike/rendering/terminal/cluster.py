"""What a run on a cluster found, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lookalike._types import counted
from lookalike.rendering.safe import visible

#: Rows without a comparison, by their state: one of them, several of them.
_STATES = {
    "missing": ("row without text", "rows without text"),
    "bad": ("unreadable row", "unreadable rows"),
    "blank": ("blank row", "blank rows"),
}


def deduplicated(
    summary: Mapping[str, Any], bad: int, files: Mapping[str, str | None], told: Sequence[str], *, quiet: bool
) -> str:
    """Return what a deduplication found and where the outputs are; ``bad``: lines that could not be read."""
    notes = () if quiet else (*_notes(summary, bad), *(f"  note: {one}" for one in told))
    return "\n".join(map(visible, [*_found(summary), *notes, *_written(files)]))


def _found(summary: Mapping[str, Any]) -> Iterator[str]:
    own, gone = summary["rows"] - summary["references"], sum(summary["removed"].values())
    share = f" ({gone / own:.1%})" if own else ""
    yield f"{counted(own, 'row')} read, {summary['kept']:,} kept, {gone:,} removed{share}"
    if gone:
        yield "  removed: " + ", ".join(f"{count:,} {link}" for link, count in summary["removed"].items() if count)
        largest = counted(summary["largest_cluster"], "row")
        yield f"  {counted(summary['clusters'], 'cluster')}, the largest with {largest}"


def _notes(summary: Mapping[str, Any], bad: int) -> Iterator[str]:
    if bad:
        yield f"  left out: {counted(bad, 'line')} that cannot be parsed"
    for state, words in _STATES.items():
        if count := summary["states"].get(state, 0):
            yield f"  kept without comparison: {counted(count, *words)}"
    for one in summary.get("capped", ()):
        yield f"  a key of {one['documents']:,} documents: {one['untried']:,} of its pairs were not tried"


def _written(files: Mapping[str, str | None]) -> Iterator[str]:
    for name, path in files.items():
        if path is not None:
            yield f"  {name}: {path}"
