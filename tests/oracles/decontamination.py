"""Decontamination by its definition (docs/dedup.md): every row is compared with every reference.

A row contains a reference if it has at least the threshold of the reference's distinct shingles; it is contained in
one that has at least the threshold of the row's. Where either text has no shingle, only identical texts count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import lookalike as la
from oracles.blank import is_blank
from oracles.shingles import containment, shingles


class Found(NamedTuple):
    """A reference and a row, and the shares of each that are in the other."""

    reference: int
    row: int
    contains: float
    contained: float
    side: str
    is_identical: bool


class Answer(NamedTuple):
    """Every pair, the pair for whose sake each row is removed, and the references that were found."""

    pairs: list[Found]
    best: dict[int, Found]
    references: set[int]


def is_text(document: str | la.Tokens) -> bool:
    """Tell whether there is anything to compare."""
    return bool(document.values) if isinstance(document, la.Tokens) else not is_blank(document)


def is_same(left: str | la.Tokens, right: str | la.Tokens) -> bool:
    """Tell whether two documents are identical."""
    if isinstance(left, la.Tokens) and isinstance(right, la.Tokens):
        return list(left.values) == list(right.values)
    return left == right


def decontaminate(
    rows: Sequence[str | la.Tokens],
    references: Sequence[str | la.Tokens],
    *,
    threshold: float = 0.8,
    contains: bool = True,
    contained: bool = True,
    shingle: int = 5,
    unit: str = "word",
    labelled: bool = False,
) -> Answer:
    """Compare all with all. References with the same text are one, named by the first."""
    pairs: list[Found] = []
    found: set[int] = set()
    of_reference = [shingles(one, shingle, unit, labelled=labelled) for one in references]
    for number, row in enumerate(rows):
        own = shingles(row, shingle, unit, labelled=labelled)
        for reference, (text, other) in enumerate(zip(references, of_reference, strict=True)):
            if not is_text(row) or not is_text(text):
                continue
            is_identical = is_same(row, text)
            if not is_identical and not (own and other):
                continue
            shares = [containment(other, own), containment(own, other)] if own and other else [1.0, 1.0]
            asked = zip(("contains", "contained"), shares, (contains, contained), strict=True)
            sides = [name for name, share, is_asked in asked if is_asked and share >= threshold]
            if sides:
                found.add(reference)
                first = next(at for at, one in enumerate(references) if is_same(one, text))
                side = "both" if len(sides) == 2 else sides[0]
                pairs += [Found(reference, number, *shares, side, is_identical)] if first == reference else []
    return Answer(sorted(pairs), _best(pairs), found)


def _best(pairs: Sequence[Found]) -> dict[int, Found]:
    """Return for each row the identical reference, else that with the highest share that counts, then the first."""

    def order(one: Found) -> tuple[bool, float, int]:
        share = {"contains": one.contains, "contained": one.contained}.get(one.side, max(one.contains, one.contained))
        return one.is_identical, share, -one.reference

    best: dict[int, Found] = {}
    for one in pairs:
        if one.row not in best or order(one) > order(best[one.row]):
            best[one.row] = one
    return best
