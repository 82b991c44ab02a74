"""Containment within one corpus by its definition (docs/dedup.md): every document is compared with every one before it.

Documents are distinct texts with a shingle, those with most shingles first, repeated ones counted. One of which an
earlier leader has at least the threshold goes, for the leader with the highest share, then the first. Others lead.
"""

from __future__ import annotations

from collections.abc import Sequence

from oracles.blank import is_blank
from oracles.shingles import containment, shingles, tokens_of


def contained(texts: Sequence[str], *, threshold: float = 0.8, shingle: int = 5) -> dict[int, tuple[int, float]]:
    """Return each row that goes, with the row kept for it and the share of it that this row has."""
    first = {text: texts.index(text) for text in texts if not is_blank(text)}
    size = {row: len(tokens_of(texts[row])) - shingle + 1 for row in first.values()}
    leaders: list[int] = []
    gone: dict[int, tuple[int, float]] = {}
    own = {row: shingles(texts[row], shingle) for row in size if size[row] > 0}
    for row in sorted(own, key=lambda row: (-size[row], row)):
        shares = [(containment(own[row], own[leader]), leader) for leader in leaders]
        best = max(shares, key=lambda one: one[0], default=(0.0, row))
        if best[0] >= threshold:
            gone[row] = best[1], best[0]
        else:
            leaders.append(row)
    for row, text in enumerate(texts):
        if not is_blank(text) and first[text] != row:
            gone[row] = gone.get(first[text], (first[text], 1.0))
    return gone
