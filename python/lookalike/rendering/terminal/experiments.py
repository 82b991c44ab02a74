"""Prints an experiment of the lab: the paper's figures, ours, and the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text as Line

if TYPE_CHECKING:
    from lookalike.lab.shared.outcome import Outcome


def outcome_table(outcome: Outcome, *, quiet: bool = False) -> None:
    """Print the figures of the paper beside ours, then tables and notes."""
    console = Console(highlight=False)
    console.print(Line(outcome.title, style="bold"))
    console.print(Line(outcome.citation, style="dim"))
    claims = Table("", "paper", "here", "difference", "", box=None, header_style="bold")
    for claim in outcome.claims:
        paper, difference = (number(value) for value in (claim.paper, claim.difference))
        claims.add_row(claim.name, paper, f"{number(claim.ours)} {claim.unit}".strip(), difference, claim.note)
    console.print(claims)
    for table in outcome.tables:
        printed = Table(*table.columns, title=table.title, box=None, header_style="bold", title_justify="left")
        for row in table.rows:
            printed.add_row(*(cell if isinstance(cell, str) else number(cell) for cell in row))
        console.print(printed)
    for note in () if quiet else outcome.notes:
        console.print(Line(f"note: {note}"), soft_wrap=True)
    console.print(f"figure: {outcome.figure}   data: {outcome.data}", soft_wrap=True)


def number(value: float | None) -> str:
    """Return a number with thousands separators, or with five digits."""
    if value is None:
        return "–"
    if isinstance(value, int) or float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:.5g}" if abs(value) < 1e6 else f"{value:,.0f}"
