"""What an alignment is worth: score, containment, evidence and bits.

The score is the weight in tiles and in equal string literals over all weight of both sides: of everything, or of tokens
and literals that can run if one side was analysed, whichever gives more. Containment is the same of the
side with less weight; on a tie, of the one whose name sorts first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oracles.compare.entries import UNIT, Entry
from oracles.compare.tiles import Tile, spread

RENAMED = 700


class Worth(NamedTuple):
    """The measures of a pair."""

    score: float
    contained: float
    #: Own matched tokens that are not trivial, on the side that has fewer, and words of equal literals.
    evidence: int
    #: Thousandths of a bit, on the side that has fewer.
    bits: int
    #: Whether one side weighs at least three times as much as the other, which weighs something.
    uneven: bool
    #: The score of everything, and of what can run.
    whole: float
    reachable: float | None


def worth(a: Entry, b: Entry, tiles: Sequence[Tile]) -> Worth | None:
    """Measure a pair; none if neither side weighs anything."""
    if not a.total + b.total:
        return None
    sides = a, b
    equal = sorted(a.literals.keys() & b.literals.keys())
    matched = [UNIT * sum(side.literal_weights[key] for key in equal) for side in sides]
    live = [UNIT * sum(side.live_literals[key] for key in equal) for side in sides]
    tokens = [0, 0]
    bits = [0, 0]
    for tile in tiles:
        for places in zip(spread(tile, 0), spread(tile, 1), strict=True):
            share = UNIT if a.texts[places[0]] == b.texts[places[1]] else RENAMED
            for i, (side, at) in enumerate(zip(sides, places, strict=True)):
                matched[i] += side.weights[at] * share
                live[i] += side.live_weights[at] * share
                tokens[i] += side.weights[at] > 0 and at not in side.trivial
                bits[i] += side.bits[at]
    small = 1 if b.total < a.total else 0
    least, most = sorted((a.total, b.total))
    own = [key for key in equal if a.literal_weights[key]]
    whole = sum(matched) / ((a.total + b.total) * UNIT)
    running = [sum(side.live_weights) + sum(side.live_literals.values()) for side in sides]
    enough = all(weight in (side.total, max(weight, 60 * UNIT)) for weight, side in zip(running, sides, strict=True))
    told = sum(running) and enough and (a.analysed or b.analysed)
    reachable = sum(live) / (sum(running) * UNIT) if told else None
    return Worth(
        max(whole, reachable or 0.0),
        matched[small] / (least * UNIT) if least else 0.0,
        min(tokens) + sum(a.literals[key][1] for key in own),
        min(bits) + sum(a.literal_bits[key] for key in own),
        least > 0 and most >= 3 * least,
        whole,
        reachable,
    )
