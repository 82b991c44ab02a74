"""What is told of a pair: passages, with who else has them, how unusual they are, and where they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from oracles.compare.entries import UNIT, Entry
from oracles.compare.tiles import Tile, covering, spread
from oracles.compare.weights import weight

#: File, first and last character, first and last line.
Place = tuple[int, int, int, int, int]
#: Side, file, first and last character.
Gap = tuple[int, int, int, int]
#: A passage as it is told: two places, tokens, persons that share it, whether it is exact, what it is, share
#: of its matching tokens that have the same text, bits, whether it is weak.
Told = tuple[Place, Place, int, int, bool, str, float, float, bool]


class Passage(NamedTuple):
    """A passage: first token and token after the last on both sides."""

    start: tuple[int, int]
    end: tuple[int, int]
    tokens: int
    shared_by: int
    exact: bool
    sort: str
    #: For each matching token, whether its text is the same.
    same: list[bool]
    #: Thousandths of a bit.
    bits: int


class Judge(NamedTuple):
    """Two submissions whose passages are told."""

    a: Entry
    b: Entry
    persons: int

    def passages(self, tiles: Sequence[Tile], whole: bool) -> list[Passage]:
        """Return passages: tiles without template, joined over small gaps; further copies; literals."""
        found = [self.passage(group, "run") for group in self.runs(tiles)]
        if not whole:
            found += self.repeats(found)
        found += list(self.literals(found))
        return sorted((passage for passage in found if self.is_told(passage)), key=lambda one: (one.start, one.end))

    def runs(self, tiles: Sequence[Tile]) -> list[list[Tile]]:
        """Return the tiles of each passage that is told, without template, joined over small gaps."""
        groups: list[list[Tile]] = []
        for piece in (piece for tile in tiles for piece in self.clipped(tile)):
            if groups and self.follows(groups[-1][-1], piece):
                groups[-1].append(piece)
            else:
                groups.append([piece])
        return [group for group in groups if self.is_told(self.passage(group, "run"))]

    def gaps(self, tiles: Sequence[Tile]) -> Iterator[Gap]:
        """Yield what lies between the tiles of a passage, on each side that has something there."""
        for group in self.runs(tiles):
            for last, after in pairwise(group):
                for side, entry in enumerate((self.a, self.b)):
                    start, end = last[side] + last.n, after[side]
                    if start < end:
                        yield side, entry.part(start).file, entry.spans[start][0], entry.spans[end - 1][1]

    def clipped(self, tile: Tile) -> Iterator[Tile]:
        """Yield the stretches of own tokens, over gaps shorter than k."""
        k = self.a.part(tile.a).k
        own = [i for i in range(tile.n) if self.a.weights[tile.a + i] > 0 or self.b.weights[tile.b + i] > 0]
        while own:
            size = next((n for n in range(1, len(own)) if own[n] - own[n - 1] - 1 >= k), len(own))
            yield Tile(tile.a + own[0], tile.b + own[0], own[size - 1] - own[0] + 1)
            own = own[size:]

    def passage(self, tiles: Sequence[Tile], sort: str) -> Passage:
        """Return tiles that follow each other as one passage."""
        sides, last = (self.a, self.b), tiles[-1]
        places = [[at for tile in tiles for at in spread(tile, i)] for i in (0, 1)]
        own = [[at for at in places[i] if side.weights[at] > 0] for i, side in enumerate(sides)]
        same = [self.a.texts[i] == self.b.texts[j] for i, j in zip(*places, strict=True)]
        end = last.a + last.n, last.b + last.n
        whole = all(places[i] == list(range(places[i][0], end[i])) for i in (0, 1))
        bits = min(sum(side.bits[at] for at in own[i]) for i, side in enumerate(sides))
        tokens = max(map(len, own))
        start = tiles[0].a, tiles[0].b
        return Passage(start, end, tokens, self.shared_by(tiles), whole and all(same), sort, same, bits)

    def shared_by(self, tiles: Sequence[Tile]) -> int:
        """Return how many persons have most of some tiles: the lower median over own tokens under a shared pick."""
        found = []
        for tile in tiles:
            for i, j in zip(spread(tile, 0), spread(tile, 1), strict=True):
                holders = max(self.a.rarity[i], self.b.rarity[j])
                if (self.a.weights[i] or self.b.weights[j]) and holders > 1:
                    found.append(holders)
        return sorted(found)[(len(found) - 1) // 2] if found else 2

    def follows(self, last: Tile, after: Tile) -> bool:
        """Whether a tile begins within k tokens after another, on both sides, and both are rare or neither is."""
        parts = [(side.part(last[i]), side.part(after[i])) for i, side in enumerate((self.a, self.b))]
        gaps = [after[i] - last[i] - last.n for i in (0, 1)]
        near = all(one == two and 0 <= gap <= one.k for (one, two), gap in zip(parts, gaps, strict=True))
        return near and self.is_rare(self.shared_by([last])) == self.is_rare(self.shared_by([after]))

    def is_rare(self, holders: int) -> bool:
        """Whether material of so many persons weighs at least half."""
        return 2 * weight(holders, self.persons) >= UNIT

    def repeats(self, passages: Sequence[Passage]) -> list[Passage]:
        """Return passages over own tokens in common runs of t that no passage covers yet, on either side."""
        found = []
        for side, (here, there) in enumerate(((self.a, self.b), (self.b, self.a))):
            covered = {at for passage in passages for at in range(passage.start[side], passage.end[side])}
            for tile in covering(here, there):
                open_ = [i for i in range(tile.n) if tile.a + i not in covered and here.weights[tile.a + i] > 0]
                if not open_:
                    continue
                covered.update(spread(tile, 0))
                n = min(max(open_[-1] + 1 - open_[0], here.part(tile.a).t), tile.n)
                start = min(open_[0], tile.n - n)
                piece = Tile(tile.a + start, tile.b + start, n)
                turned = Tile(piece.b, piece.a, piece.n) if side else piece
                found += [self.passage([own], "repeat") for own in self.clipped(turned)]
        return found

    def literals(self, passages: Sequence[Passage]) -> Iterator[Passage]:
        """Yield equal literals that lie in no passage."""
        for key in self.a.literals.keys() & self.b.literals.keys():
            (i, words), (j, _) = self.a.literals[key], self.b.literals[key]
            inside = any(p.start[0] <= i < p.end[0] and p.start[1] <= j < p.end[1] for p in passages)
            if not inside and (self.a.literal_weights[key] or self.b.literal_weights[key]):
                holders = max(2, self.a.literal_holders[key])
                bits = self.a.literal_bits[key]
                yield Passage((i, j), (i + 1, j + 1), words, holders, True, "literal", [True], bits)

    def is_told(self, passage: Passage) -> bool:
        """Whether a passage is long, or rare and not noise."""
        part = self.a.part(passage.start[0])
        rare = self.is_rare(passage.shared_by)
        return passage.tokens >= part.t or (rare and (passage.tokens >= part.k or passage.sort == "literal"))

    def is_weak(self, passage: Passage) -> bool:
        """Whether a passage has fewer than 30 bits, and less than a tenth of the bits of either submission."""
        return passage.bits < min(30_000, min(sum(self.a.bits), sum(self.b.bits)) / 10)


def places(sides: tuple[Entry, Entry], passage: Passage) -> Iterator[Place]:
    """Yield where a passage stands on both sides."""
    for side, start, end in zip(sides, passage.start, passage.end, strict=True):
        file, first, last = side.part(start).file, side.spans[start][0], side.spans[end - 1][1]
        text = side.files[file].text
        lines = text.count("\n", 0, first) + 1, text.count("\n", 0, max(last - 1, first)) + 1
        yield file, first, last, *lines


def told_passages(a: Entry, b: Entry, persons: int, tiles: Sequence[Tile], whole: bool) -> list[Told]:
    """Return the passages of a pair over these tiles."""
    judge, sides = Judge(a, b, persons), (a, b)
    rows: list[Told] = []
    for one in judge.passages(tiles, whole):
        share = sum(one.same) / len(one.same)
        left, right = places(sides, one)
        amounts = one.tokens, one.shared_by, one.exact, one.sort, share, one.bits / 1000, judge.is_weak(one)
        rows.append((left, right, *amounts))
    return rows


def told_gaps(a: Entry, b: Entry, persons: int, tiles: Sequence[Tile]) -> list[Gap]:
    """Return what does not match inside the passages of a pair over these tiles."""
    return list(Judge(a, b, persons).gaps(tiles))


def longest_piece(a: Entry, b: Entry, persons: int, tiles: Sequence[Tile]) -> int:
    """Return the own tokens of the longest stretch of these tiles that no template cuts, on the side with more."""
    judge = Judge(a, b, persons)
    pieces = [piece for tile in tiles for piece in judge.clipped(tile)]
    own = [sum(side.weights[at] > 0 for at in spread(one, i)) for one in pieces for i, side in enumerate((a, b))]
    return max(own, default=0)
