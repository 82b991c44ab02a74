"""Which pairs share a passage that is worth a look by itself, whatever their score.

In prose, tiles with at most 400 letters between them on both sides, in the same files, belong together, and so do those
that others connect. In code each tile stands alone. What belongs together is strong if its own tokens are worth at
least so much on both sides: 1 for a token that two persons have, less if more have it, as in the score, and nothing if
that is less than one half.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oracles.compare.entries import LETTER, UNIT, Entry
from oracles.compare.tiles import Tile, spread
from oracles.compare.weights import weight

JOINED = 400


def strength(a: Entry, b: Entry, tiles: Sequence[Tile], passages: Mapping[str, int], persons: int) -> int | None:
    """Return the most bits that count in a strong stretch, in thousandths, on the side with fewer; none if none is."""
    found = []
    for stretch in stretches(a, b, tiles):
        asked = [passages.get(side.part(stretch[0][i]).language) for i, side in enumerate((a, b))]
        least = max((one for one in asked if one is not None), default=None) if None not in asked else None
        worth, bits = [0, 0], [0, 0]
        for i, side in enumerate((a, b)):
            for at in (at for tile in stretch for at in spread(tile, i)):
                rare = weight(side.rarity[at], persons) if side.weights[at] else 0
                if 2 * rare >= UNIT:
                    worth[i] += rare
                    bits[i] += side.bits[at]
        if least is not None and min(worth) >= least * UNIT:
            found.append(min(bits))
    return max(found, default=None)


def stretches(a: Entry, b: Entry, tiles: Sequence[Tile]) -> list[list[Tile]]:
    """Return the sets of tiles that belong together."""
    sets: list[list[Tile]] = []
    for tile in tiles:
        near = [one for one in sets if any(are_neighbours(a, b, tile, other) for other in one)]
        sets = [one for one in sets if one not in near] + [[tile, *(other for one in near for other in one)]]
    return sets


def are_neighbours(a: Entry, b: Entry, one: Tile, other: Tile) -> bool:
    """Whether two tiles of prose lie close enough on both sides."""
    for i, side in enumerate((a, b)):
        part = side.part(one[i])
        between = max(one[i], other[i]) - min(one[i] + one.n, other[i] + other.n)
        if part.worth != LETTER or side.part(other[i]) != part or between > JOINED:
            return False
    return True
