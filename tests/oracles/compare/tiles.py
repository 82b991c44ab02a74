"""Which runs of tokens of two submissions count: tiles, the longest first.

Of the common runs of at least t tokens that are free on both sides the longest is taken, until none is left; of equally
long ones that with most equal exact text, then the first in the submission whose name sorts first, then the first in
the other. Submissions with the same content are tiled part by part, however short.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from oracles.compare.entries import Entry, grams


class Tile(NamedTuple):
    """A run of equal tokens: where it begins on both sides, and its length."""

    a: int
    b: int
    n: int


def runs_in_common(a: Entry, b: Entry, which: str, free: tuple[set[int], set[int]]) -> list[Tile]:
    """Return the maximal runs of at least k or t equal free tokens, in parts with the same thresholds."""
    places = defaultdict(list)
    for part in b.parts:
        for at, gram in grams(b, part, getattr(part, which)):
            places[gram].append(at)
    found = []

    def same(i: int, j: int) -> bool:
        return i in free[0] and j in free[1] and a.tokens[i] == b.tokens[j]

    for part in a.parts:
        least = getattr(part, which)
        for at, gram in grams(a, part, least):
            for place in places.get(gram, ()):
                if same(at - 1, place - 1) or not same(at, place):
                    continue
                n = 1
                while same(at + n, place + n):
                    n += 1
                if n >= least:
                    found.append(Tile(at, place, n))
    return found


def tiling(a: Entry, b: Entry, which: str, taken: Sequence[Tile] = ()) -> tuple[list[Tile], bool]:
    """Return the tiles of at least k or t tokens, and whether every run in common became a tile."""
    free = set(range(len(a.tokens))), set(range(len(b.tokens)))
    for tile in taken:
        free[0].difference_update(range(tile.a, tile.a + tile.n))
        free[1].difference_update(range(tile.b, tile.b + tile.n))
    waiting = runs_in_common(a, b, which, free)
    every, tiles = set(waiting), []
    while waiting:
        equal = {one: sum(a.texts[one.a + i] == b.texts[one.b + i] for i in range(one.n)) for one in waiting}
        best = max(waiting, key=lambda one: (one.n, equal[one], -one.a, -one.b))
        tiles.append(best)
        waiting = [piece for one in waiting for piece in cut(one, best) if piece.n >= getattr(a.part(piece.a), which)]
    return tiles, every == set(tiles)


def cut(run: Tile, tile: Tile) -> list[Tile]:
    """Return the stretches of a run that a tile leaves free on both sides."""
    gone = {at - run.a for at in range(tile.a, tile.a + tile.n)} | {at - run.b for at in range(tile.b, tile.b + tile.n)}
    edges = [-1, *sorted(i for i in gone if 0 <= i < run.n), run.n]
    return [Tile(run.a + i + 1, run.b + i + 1, j - i - 1) for i, j in pairwise(edges) if j > i + 1]


def aligned(a: Entry, b: Entry) -> tuple[list[Tile], bool]:
    """Return the tiles that count, and whether no run in common was cut."""
    if a.content == b.content:
        return [Tile(part.start, part.start, part.end - part.start) for part in a.parts], True
    return tiling(a, b, "t")


def spread(tile: Tile, side: int) -> range:
    """Return the tokens of a tile on one side."""
    return range(tile[side], tile[side] + tile.n)


def covering(here: Entry, there: Entry) -> list[Tile]:
    """Return runs over every token in a common run of t; each goes on where the one before stood, else where first."""
    first: dict[object, int] = {}
    for part in there.parts:
        for at, gram in grams(there, part, part.t):
            first.setdefault(gram, at)
    found: list[Tile] = []
    for part in here.parts:
        open_: Tile | None = None
        place: int | None = None
        for at, gram in grams(here, part, part.t):
            last = at + part.t - 1
            goes_on = place is not None and place + part.t < len(there.tokens)
            if goes_on and there.tokens[place + part.t] == here.tokens[last]:
                place += 1
            else:
                place = first.get(gram)
            if place is None:
                continue
            if open_ and place + open_.a == open_.b + at and at <= open_.a + open_.n:
                open_ = Tile(open_.a, open_.b, last + 1 - open_.a)
            else:
                found += [open_] if open_ else []
                open_ = Tile(at, place, part.t)
        found += [open_] if open_ else []
    return found
