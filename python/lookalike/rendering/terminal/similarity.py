"""The similarity of two documents: a table for people, JSON for programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text as Line

from lookalike._types import counted
from lookalike.rendering.safe import visible

if TYPE_CHECKING:
    from lookalike.sketches.estimated import Estimate
    from lookalike.sketches.pair import Estimated, Similarity

UNDEFINED = "undefined"


def print_table(found: Similarity, *, quiet: bool = False) -> None:
    """Print the exact measures and a row for each sketch; ``quiet`` leaves out notes."""
    console = Console(highlight=False)
    for fact in facts(found):
        console.print(Line(fact), soft_wrap=True)
    console.print(_resemblances(found))
    console.print(_containments(found))
    for note in () if quiet else found.notes:
        console.print(Line(f"note: {visible(note)}"), soft_wrap=True)


def facts(found: Similarity) -> list[str]:
    """Return lines about the documents and the shingles."""
    s, exact = found.sketching, found.exact
    how = "every occurrence counted" if s.labelled else "each counted once"
    lines = [
        f"A: {visible(found.left)}, {counted(exact.left, 'distinct shingle')}",
        f"B: {visible(found.right)}, {counted(exact.right, 'distinct shingle')}, {exact.common:,} in common",
        f"shingles of {counted(s.shingle, s.unit)}, {how}; intervals at {found.confidence:g} confidence",
        *_collisions(found),
    ]
    if found.undefined:
        return [*lines, f"{UNDEFINED}: {visible(found.undefined)}"]
    return [*lines, f"distance (1 − resemblance): {_share(exact.distance)}"]


def _collisions(found: Similarity) -> list[str]:
    """Return a line about different shingles with the same id, and what they add to the intervals."""
    s = found.sketching
    added = max((row.resemblance.collisions for row in found.estimates if row.resemblance), default=0.0)
    bound = f"|s|/2^(ℓ−1) = {64 * s.shingle:,}/2^{s.bits - 1} = {s.collision_bound:.2g}"
    return [f"two shingles have the same id with probability ≤ {bound}; intervals allow ± {added:.2g} for it"]


def _resemblances(found: Similarity) -> Table:
    table = Table("", "resemblance", "interval", "sample", "bytes", box=None, header_style="bold")
    table.add_row("exact", _share(found.exact.resemblance), "", "all", "")
    for row in found.estimates:
        sample = str(row.resemblance.sample) if row.resemblance else "0"
        stored = f"{row.left_bytes:,} + {row.right_bytes:,}"
        table.add_row(row.sketching.sketch, *_interval(row.resemblance), sample, stored)
    return table


def _containments(found: Similarity) -> Table:
    table = Table("", "A in B", "interval", "B in A", "interval", box=None, header_style="bold")
    table.add_row("exact", _share(found.exact.left_in_right), "", _share(found.exact.right_in_left), "")
    for row in found.estimates:
        if row.tells_containment:
            table.add_row(row.sketching.sketch, *_interval(row.left_in_right), *_interval(row.right_in_left))
    return table


def _share(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.4f}"


def _interval(estimate: Estimate | None) -> tuple[str, str]:
    """Return an estimate and its interval as two cells."""
    return (UNDEFINED, "") if estimate is None else (_share(estimate.value), f"{estimate.low:.4f}–{estimate.high:.4f}")


def as_json(found: Similarity) -> str:
    """Return one JSON document. Undefined values are null, and ``undefined`` has the reason."""
    document: dict[str, Any] = {
        "left": found.left,
        "right": found.right,
        "parameters": {name: value for name, value in asdict(found.sketching).items() if name != "sketch"},
        "confidence": found.confidence,
        "collision_bound": found.sketching.collision_bound,
        "exact": found.exact._asdict() | {"distance": found.exact.distance},
        "undefined": found.undefined,
        "sketches": {row.sketching.sketch: _estimated(row) for row in found.estimates},
        "notes": list(found.notes),
    }
    return json.dumps(document, indent=1)


def _estimated(row: Estimated) -> dict[str, Any]:
    """Return the fields of a row; containment only if this kind of sketch estimates it."""
    names = ("resemblance", "left_in_right", "right_in_left") if row.tells_containment else ("resemblance",)
    fields = {name: getattr(row, name) for name in names}
    shares = {name: estimate and estimate._asdict() for name, estimate in fields.items()}
    return shares | {"left_bytes": row.left_bytes, "right_bytes": row.right_bytes}
