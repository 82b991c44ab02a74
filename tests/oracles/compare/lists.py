"""Which pairs are listed where, in which order, and their clusters."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from lookalike import params
from oracles.compare.bits import measure
from oracles.compare.entries import Entry, Handed, Source, read
from oracles.compare.passages import Gap, Told, longest_piece, told_gaps, told_passages
from oracles.compare.scores import Worth, worth
from oracles.compare.strong import strength
from oracles.compare.tiles import Tile, aligned, spread, tiling
from oracles.compare.weights import weigh

BINS, LISTED = 20, 32


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
    contained: float
    bits: float
    whole: float
    reachable: float | None
    strongest: float | None
    gaps: list[Gap]


class Answer(NamedTuple):
    """What the job answers."""

    pairs: list[Compared]
    count: int
    below: int
    histogram: list[int]
    clusters: list[tuple[int, list[tuple[int, float]]]]
    groups: list[list[int]]
    contained: list[Compared]
    contained_count: int
    little: list[Compared]
    little_count: int
    shared: list[Compared]
    shared_count: int


def compare(
    handed: Sequence[Handed],
    templates: Sequence[Source] = (),
    *,
    min_score: float = 0.0,
    min_contained: float = params.MIN_CONTAINED.default,
    min_evidence: int = params.MIN_EVIDENCE,
    min_bits: int = params.MIN_BITS,
    passages: Mapping[str, int] | None = None,
    cluster_threshold: float = 0.5,
    max_sharing: int | None = None,
    k: int | None = None,
    t: int | None = None,
) -> Answer:
    """Align every pair. Passages are strong from so much on, by language; by default as in the product."""
    entries = [read(one, -1 - number, k, t) for number, one in enumerate(handed)]
    persons = weigh(entries, [read(Handed("", (one,)), 0, k, t) for one in templates], max_sharing)
    measure(entries)
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
    lists: dict[str, list[Compared]] = {"main": [], "contained": [], "little": [], "shared": []}
    counts: Counter[str] = Counter()
    unlisted = len(may)
    least = usual(entries) if passages is None else passages
    links = []
    for pairs in rows.values():
        i, j = pairs[0]
        tiles, whole = aligned(entries[i], entries[j])
        found = worth(entries[i], entries[j], tiles)
        strongest = strength(entries[i], entries[j], tiles, least, persons)
        names = list(listed(found, strongest, min_score, min_contained, min_evidence, min_bits))
        unlisted -= len(pairs) if names else 0
        for name in names:
            lists[name].append(told(entries, (i, j), found, strongest, tiles, whole, persons, len(pairs)))
            counts[name] += len(pairs)
            links += [(*pair, found.score) for pair in pairs if name == "main"]
    place = {i: n for n, i in enumerate(order)}
    for name, pairs in lists.items():
        value = {"contained": "contained", "shared": "strongest"}.get(name, "score")
        pairs.sort(key=lambda pair: (-getattr(pair, value), place[pair.left], place[pair.right]))
    bins = Counter(min(int(value * BINS), BINS - 1) for _, _, value in links)
    return Answer(
        lists["main"],
        counts["main"],
        unlisted,
        [bins[i] for i in range(BINS)],
        clusters([link for link in links if link[2] >= cluster_threshold], place),
        [members for members in classes.values() if len(members) > LISTED],
        lists["contained"],
        counts["contained"],
        lists["little"],
        counts["little"],
        lists["shared"],
        counts["shared"],
    )


def usual(entries: Sequence[Entry]) -> dict[str, int]:
    """Return from what on passages of each language are strong by default."""
    languages = {part.language for entry in entries for part in entry.parts}
    return {language: params.LANGUAGE_PASSAGES.get(language, params.CODE_PASSAGE) for language in languages}


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
    found: Worth,
    strongest: int | None,
    tiles: list[Tile],
    whole: bool,
    persons: int,
    stands_for: int,
) -> Compared:
    """Return a pair with its passages."""
    sides = a, b = entries[pair[0]], entries[pair[1]]
    shown = sorted(tiles + (tiling(a, b, "k", tiles)[0] if a.content != b.content else []))
    passages = told_passages(a, b, persons, shown, whole)
    matched = [sum(side.weights[at] > 0 for tile in tiles for at in spread(tile, i)) for i, side in enumerate(sides)]
    longest = longest_piece(a, b, persons, tiles)
    own = [max(1, sum(one > 0 for one in side.weights)) for side in sides]
    coverage = matched[0] / own[0], matched[1] / own[1]
    amounts = max(matched), longest, passages, stands_for, found.contained, found.bits / 1000
    gaps = told_gaps(a, b, persons, shown)
    strong = None if strongest is None else strongest / 1000
    return Compared(*pair, found.score, coverage, *amounts, found.whole, found.reachable, strong, gaps)


def listed(
    found: Worth | None, strongest: int | None, min_score: float, min_contained: float, min_evidence: int, min_bits: int
) -> Iterator[str]:
    """Yield the lists in which a pair stands."""
    if found is None:
        return
    enough = found.evidence >= min_evidence
    unusual = enough and found.bits >= 1000 * min_bits
    scored = found.score and found.score >= min_score
    inside = unusual and found.uneven and found.contained and found.contained >= min_contained
    if scored:
        yield "main" if enough else "little"
    if inside:
        yield "contained"
    if unusual and strongest is not None and not scored and not inside:
        yield "shared"
