"""What `compare` answers, computed slowly from its definition: every pair is aligned, nothing is filtered or limited.

Two submissions of different persons, not both old, are aligned by tiles: of the common runs of at least t tokens that
are free on both sides the longest is taken, until none is left; of equally long ones that with most equal exact text,
then the first in the submission whose name sorts first, then the first in the other. The score is the weight in tiles
and in equal string literals over all weight. Submissions with the same content are tiled part by part, however short.

From the core it takes tokens and picks (``ReadFile.parts``), nothing else.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise
from typing import NamedTuple

from lookalike import _core, params

UNIT, RENAMED, FLOOR, LETTER = 1000, 700, 0.02, 200
BINS, LISTED = 20, 32


class Source(NamedTuple):
    """A file: the language it is read as, its text, and the language, start and end of each stretch that is read."""

    language: str
    text: str
    #: Empty for all of the text. Labels of pages and cells are in the text and are not read.
    stretches: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True)
class Handed:
    """A submission as it was handed in."""

    name: str
    files: tuple[Source, ...]
    person: str | None = None
    old: bool = False


class Part(NamedTuple):
    """A file of a submission: its tokens and thresholds."""

    start: int
    end: int
    k: int
    t: int
    worth: int
    file: int


class Tile(NamedTuple):
    """A run of equal tokens: where it begins on both sides, and its length."""

    a: int
    b: int
    n: int


@dataclass
class Entry:
    """A submission as tokens; files follow each other, with a token between them that equals none."""

    name: str = ""
    person: object = None
    old: bool = False
    tokens: list[object] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    picks: list[tuple[int, int]] = field(default_factory=list)
    literals: dict[int, tuple[int, int]] = field(default_factory=dict)
    weights: list[int] = field(default_factory=list)
    holders: list[int] = field(default_factory=list)
    literal_weights: dict[int, int] = field(default_factory=dict)
    literal_holders: dict[int, int] = field(default_factory=dict)
    files: tuple[Source, ...] = ()

    @cached_property
    def total(self) -> int:
        """Weight of all its material."""
        return sum(self.weights) + sum(self.literal_weights.values())

    @cached_property
    def content(self) -> object:
        """What identical submissions have in common."""
        bare = tuple(part[:5] for part in self.parts)
        return tuple(token for part in self.parts for token in self.tokens[part.start : part.end]), bare, *self.texts

    def part(self, at: int) -> Part:
        """Return the part of a token."""
        return next(part for part in self.parts if at < part.end)


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


#: File, first and last character, first and last line.
Place = tuple[int, int, int, int, int]
#: A passage as it is told: two places, tokens, persons that share it, whether it is exact, what it is, share
#: of its matching tokens that have the same text.
Told = tuple[Place, Place, int, int, bool, str, float]


class Compared(NamedTuple):
    """A pair of the answer; sides are indices of submissions."""

    left: int
    right: int
    score: float
    coverage: tuple[float, float]
    matched: int
    longest: int
    passages: list[Told]
    stands_for: int


class Answer(NamedTuple):
    """What the job answers."""

    pairs: list[Compared]
    count: int
    below: int
    histogram: list[int]
    clusters: list[tuple[int, list[tuple[int, float]]]]
    groups: list[list[int]]


def read(handed: Handed, number: int, k: int | None = None, t: int | None = None) -> Entry:
    """Join the files of a submission."""
    entry = Entry(handed.name, handed.person or number, handed.old, files=handed.files)
    for file, (whole, text, stretches) in enumerate(handed.files):
        asked = []
        for language, first, end in stretches or ((whole, 0, len(text)),):
            usual = params.LANGUAGE_THRESHOLDS.get(language, params.CODE_THRESHOLDS)
            asked.append((language, first, end, None, None, k or usual[0], t or usual[1]))
        source = _core.ReadFile(text, asked, False)
        for ((own_k, own_t), prose, tokens, texts, spans), (picks, literals) in source.parts():
            if not tokens:
                continue
            if entry.tokens:
                entry.tokens.append(object())
                entry.texts.append(0)
                entry.spans.append((0, 0))
            start = len(entry.tokens)
            entry.tokens += tokens
            entry.texts += texts or [0] * len(tokens)
            entry.spans += spans
            entry.parts.append(Part(start, len(entry.tokens), own_k, own_t, LETTER if prose else UNIT, file))
            entry.picks += [(key, at + start) for key, at in picks]
            for key, at, words in literals:
                entry.literals.setdefault(key, (at + start, words))
    return entry


def weight(holders: int, persons: int) -> int:
    """Weight of what so many of all persons have."""
    if persons <= 2:
        return UNIT
    share = math.log((persons + 1) / min(max(holders, 2), persons)) / math.log((persons + 1) / 2)
    return math.floor(min(max(share, FLOOR), 1.0) * UNIT + 0.5)


def grams(entry: Entry, part: Part, n: int, *, exact: bool = False) -> Iterator[tuple[int, tuple[object, ...]]]:
    """Yield the runs of n tokens of a part, by their exact text if asked."""
    stream = list(zip(entry.tokens, entry.texts, strict=True)) if exact else entry.tokens
    for at in range(part.start, part.end - n + 1):
        yield at, (part.k, part.t, *stream[at : at + n])


def weigh(entries: Sequence[Entry], templates: Sequence[Entry], max_sharing: int | None) -> int:
    """Set the weights of all submissions; return the number of persons."""
    persons = len({entry.person for entry in entries})
    keys, words = defaultdict(set), defaultdict(set)
    for entry in entries:
        for key, _ in entry.picks:
            keys[key].add(entry.person)
        for key in entry.literals:
            words[key].add(entry.person)
    whole = [(file, part) for file in templates for part in file.parts]
    runs = {gram for file, part in whole for _, gram in grams(file, part, part.t)}
    exact = {gram for file, part in whole for _, gram in grams(file, part, part.k, exact=True)}
    given = {key for file in templates for key in file.literals}
    for entry in entries:
        entry.holders = [len(keys[key]) for key, _ in entry.picks]
        rarity = rarities(entry)
        for part in entry.parts:
            own = set(range(part.start, part.end))
            own -= {at + i for at, gram in grams(entry, part, part.t) if gram in runs for i in range(part.t)}
            own -= {
                at + i for at, gram in grams(entry, part, part.k, exact=True) if gram in exact for i in range(part.k)
            }
            entry.weights += [0] * (part.start - len(entry.weights))
            for at in range(part.start, part.end):
                common = max_sharing is not None and rarity[at] > max_sharing
                heavy = at in own and not common
                entry.weights.append(max(1, weight(rarity[at], persons) * part.worth // UNIT) if heavy else 0)
        for key, (_, count) in entry.literals.items():
            holders = entry.literal_holders[key] = len(words[key])
            shared = max_sharing is not None and holders > max_sharing
            entry.literal_weights[key] = 0 if key in given or shared else count * weight(holders, persons)
    return persons


def rarities(entry: Entry) -> dict[int, int]:
    """Persons that hold the rarest shared pick over each token; without one, as many as for the token before."""
    found = {}
    for part in entry.parts:
        inside = [(at, n) for (_, at), n in zip(entry.picks, entry.holders, strict=True) if part.start <= at < part.end]
        last = inside[0][1] if inside else 1
        for token in range(part.start, part.end):
            over = [n for at, n in inside if at <= token < at + part.k]
            last = min((n for n in over if n > 1), default=1) if over else last
            found[token] = last
    return found


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


def score(a: Entry, b: Entry, tiles: Iterable[Tile]) -> float | None:
    """Return the share of all weight that lies in tiles and equal literals; none without weight."""
    total = a.total + b.total
    matched = sum(
        (a.weights[i] + b.weights[j]) * (UNIT if a.texts[i] == b.texts[j] else RENAMED)
        for tile in tiles
        for i, j in zip(range(tile.a, tile.a + tile.n), range(tile.b, tile.b + tile.n), strict=True)
    )
    equal = sum(a.literal_weights[key] + b.literal_weights[key] for key in a.literals.keys() & b.literals.keys())
    return (matched + UNIT * equal) / (total * UNIT) if total else None


def aligned(a: Entry, b: Entry) -> tuple[list[Tile], bool]:
    """Return the tiles that count, and whether no run in common was cut."""
    if a.content == b.content:
        return [Tile(part.start, part.start, part.end - part.start) for part in a.parts], True
    return tiling(a, b, "t")


def compare(
    handed: Sequence[Handed],
    templates: Sequence[Source] = (),
    *,
    min_score: float = 0.0,
    cluster_threshold: float = 0.5,
    max_sharing: int | None = None,
    k: int | None = None,
    t: int | None = None,
) -> Answer:
    """Align every pair."""
    entries = [read(one, -1 - number, k, t) for number, one in enumerate(handed)]
    persons = weigh(entries, [read(Handed("", (one,)), 0, k, t) for one in templates], max_sharing)
    order = sorted(range(len(entries)), key=lambda i: (handed[i].name, i))
    classes: dict[object, list[int]] = defaultdict(list)
    for i in order:
        classes[entries[i].content if entries[i].parts else i].append(i)
    of = {i: members for members in classes.values() for i in members}
    may = [(i, j) for i, j in combinations(order, 2) if may_pair(entries[i], entries[j])]
    rows: dict[object, list[tuple[int, int]]] = defaultdict(list)
    for i, j in may:
        in_group = max(len(of[i]), len(of[j])) > LISTED
        rows[frozenset((of[i][0], of[j][0])) if in_group else (i, j)].append((i, j))
    found, links = [], []
    for pairs in rows.values():
        i, j = pairs[0]
        tiles, whole = aligned(entries[i], entries[j])
        value = score(entries[i], entries[j], tiles)
        if value and value >= min_score:
            found.append(told(entries, (i, j), value, tiles, whole, persons, len(pairs)))
            links += [(*pair, value) for pair in pairs]
    place = {i: n for n, i in enumerate(order)}
    found.sort(key=lambda pair: (-pair.score, place[pair.left], place[pair.right]))
    bins = Counter(min(int(value * BINS), BINS - 1) for _, _, value in links)
    return Answer(
        found,
        len(links),
        len(may) - len(links),
        [bins[i] for i in range(BINS)],
        clusters([link for link in links if link[2] >= cluster_threshold], place),
        [members for members in classes.values() if len(members) > LISTED],
    )


def may_pair(a: Entry, b: Entry) -> bool:
    """Whether two submissions are compared."""
    return a.person != b.person and not (a.old and b.old)


def clusters(
    links: Sequence[tuple[int, int, float]], place: dict[int, int]
) -> list[tuple[int, list[tuple[int, float]]]]:
    """Return leaders, by the sum of their scores in units of 10^-9, with the free ones they are paired with."""
    near: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for i, j, value in links:
        near[i].append((j, value))
        near[j].append((i, value))
    strength = {i: sum(int(value * 1e9) for _, value in others) for i, others in near.items()}
    taken: set[int] = set()
    found = []
    for leader in sorted(near, key=lambda i: (-strength[i], place[i])):
        members = [other for other in near[leader] if other[0] not in taken]
        if leader not in taken and members:
            taken |= {leader, *(i for i, _ in members)}
            found.append((leader, sorted(members, key=lambda other: (-other[1], place[other[0]]))))
    return found


def told(
    entries: Sequence[Entry],
    pair: tuple[int, int],
    value: float,
    tiles: list[Tile],
    whole: bool,
    persons: int,
    stands_for: int,
) -> Compared:
    """Return a pair with its passages."""
    sides = a, b = entries[pair[0]], entries[pair[1]]
    shown = sorted(tiles + (tiling(a, b, "k", tiles)[0] if a.content != b.content else []))
    judge = Judge(a, b, persons)
    passages = judge.passages(shown, whole)
    matched = [sum(side.weights[at] > 0 for tile in tiles for at in spread(tile, i)) for i, side in enumerate(sides)]
    own = [max(1, sum(one > 0 for one in side.weights)) for side in sides]
    longest = max((passage.tokens for passage in passages if passage.sort != "literal"), default=0)
    coverage = matched[0] / own[0], matched[1] / own[1]
    rows = [(*places(sides, one), *one[2:-1], sum(one.same) / len(one.same)) for one in passages]
    return Compared(*pair, value, coverage, max(matched), longest, rows, stands_for)


def places(sides: tuple[Entry, Entry], passage: Passage) -> Iterator[Place]:
    """Yield where a passage stands on both sides."""
    for side, start, end in zip(sides, passage.start, passage.end, strict=True):
        file, first, last = side.part(start).file, side.spans[start][0], side.spans[end - 1][1]
        text = side.files[file].text
        lines = text.count("\n", 0, first) + 1, text.count("\n", 0, max(last - 1, first)) + 1
        yield file, first, last, *lines


def spread(tile: Tile, side: int) -> range:
    """Return the tokens of a tile on one side."""
    return range(tile[side], tile[side] + tile.n)


class Judge(NamedTuple):
    """Two submissions whose passages are told."""

    a: Entry
    b: Entry
    persons: int

    def passages(self, tiles: Sequence[Tile], whole: bool) -> list[Passage]:
        """Return passages: tiles without template, joined over small gaps; further copies; literals."""
        merged: list[Passage] = []
        for passage in (self.passage(piece, "run") for tile in tiles for piece in self.clipped(tile)):
            if merged and self.follows(merged[-1], passage):
                last = merged.pop()
                exact = last.exact and passage.exact and last.end == passage.start
                amounts = last.tokens + passage.tokens, min(last.shared_by, passage.shared_by)
                merged.append(Passage(last.start, passage.end, *amounts, exact, "run", last.same + passage.same))
            else:
                merged.append(passage)
        found = [passage for passage in merged if self.is_told(passage)]
        if not whole:
            found += self.repeats(found)
        found += list(self.literals(found))
        return sorted((passage for passage in found if self.is_told(passage)), key=lambda one: (one.start, one.end))

    def clipped(self, tile: Tile) -> Iterator[Tile]:
        """Yield the stretches of own tokens, over gaps shorter than k."""
        k = self.a.part(tile.a).k
        own = [i for i in range(tile.n) if self.a.weights[tile.a + i] > 0 or self.b.weights[tile.b + i] > 0]
        while own:
            size = next((n for n in range(1, len(own)) if own[n] - own[n - 1] - 1 >= k), len(own))
            yield Tile(tile.a + own[0], tile.b + own[0], own[size - 1] - own[0] + 1)
            own = own[size:]

    def passage(self, tile: Tile, sort: str) -> Passage:
        """Return a tile as a passage."""
        both = list(zip(spread(tile, 0), spread(tile, 1), strict=True))
        tokens = max(sum(side.weights[at] > 0 for at in spread(tile, i)) for i, side in enumerate((self.a, self.b)))
        holders = []
        for side, start in ((self.a, tile.a), (self.b, tile.b)):
            k = side.part(start).k
            picks = zip(side.picks, side.holders, strict=True)
            holders += [n for (_, at), n in picks if start <= at and at + k <= start + tile.n]
        same = [self.a.texts[i] == self.b.texts[j] for i, j in both]
        end = tile.a + tile.n, tile.b + tile.n
        return Passage((tile.a, tile.b), end, tokens, max(2, min(holders, default=2)), all(same), sort, same)

    def follows(self, last: Passage, after: Passage) -> bool:
        """Whether a passage begins within k tokens after another, on both sides."""
        parts = [(side.part(last.start[i]), side.part(after.start[i])) for i, side in enumerate((self.a, self.b))]
        gaps = [after.start[i] - last.end[i] for i in (0, 1)]
        return all(one == two and 0 <= gap <= one.k for (one, two), gap in zip(parts, gaps, strict=True))

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
                found += [self.passage(own, "repeat") for own in self.clipped(turned)]
        return found

    def literals(self, passages: Sequence[Passage]) -> Iterator[Passage]:
        """Yield equal literals that lie in no passage."""
        for key in self.a.literals.keys() & self.b.literals.keys():
            (i, words), (j, _) = self.a.literals[key], self.b.literals[key]
            inside = any(p.start[0] <= i < p.end[0] and p.start[1] <= j < p.end[1] for p in passages)
            if not inside and (self.a.literal_weights[key] or self.b.literal_weights[key]):
                holders = max(2, self.a.literal_holders[key])
                yield Passage((i, j), (i + 1, j + 1), words, holders, True, "literal", [True])

    def is_told(self, passage: Passage) -> bool:
        """Whether a passage is long, or rare and not noise."""
        part = self.a.part(passage.start[0])
        rare = 2 * weight(passage.shared_by, self.persons) >= UNIT
        return passage.tokens >= part.t or (rare and (passage.tokens >= part.k or passage.sort == "literal"))


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
