"""Sections by their definition (docs/compare.md): any two pieces that are near on both sides are joined, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

#: left start, left end, right start, right end, passages, letters
Box = tuple[int, int, int, int, int, int]


def sections(passages: Sequence[tuple[int, int, int, int, int]], gap: int, least: int) -> list[Box]:
    """Return the sections of passages (left start and end, right start and end, letters) of two files."""
    boxes: list[Box] = [(*passage[:4], 1, passage[4]) for passage in passages]
    while near := next((two for two in combinations(boxes, 2) if _are_near(*two, gap)), None):
        a, b = near
        boxes.remove(a)
        boxes.remove(b)
        boxes.append((min(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), max(a[3], b[3]), a[4] + b[4], a[5] + b[5]))
    return sorted(box for box in boxes if box[5] >= least)


def _are_near(a: Box, b: Box, gap: int) -> bool:
    return all(between(a[side : side + 2], b[side : side + 2]) <= gap for side in (0, 2))


def between(a: Sequence[int], b: Sequence[int]) -> int:
    """Return the characters between two stretches; none or less if they touch."""
    return max(a[0], b[0]) - min(a[1], b[1])
