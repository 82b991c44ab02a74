"""Asks the core and the oracle of `compare` the same question; programs that share blocks, to ask it of."""

from __future__ import annotations

import random
from collections.abc import Sequence

from lookalike import _core
from oracles.compare import Answer, Handed, Source, compare
from support.submissions import prose, renamed, statements, wrapped


def product(
    handed: Sequence[Handed],
    templates: Sequence[Source] = (),
    *,
    min_score: float = 0.0,
    min_contained: float = 0.5,
    min_evidence: int = 0,
    min_bits: int = 0,
    passages: dict[str, int] | None = None,
    cluster_threshold: float = 0.5,
    max_sharing: int | None = None,
    k: int = 3,
    t: int = 6,
    max_pairs: int = 10_000,
    rows: int = 3,
) -> Answer:
    """Ask the core what the oracle is asked."""

    def read(source: Source) -> _core.ReadFile:
        return _core.ReadFile(source.text, [(source.language, 0, len(source.text), None, None, k, t)], False)

    people: dict[str, int] = {}
    names = sorted({one.name for one in handed})
    given = [
        (
            people.setdefault(one.person or f"\0{i}", len(people)),
            one.old,
            names.index(one.name),
            list(map(read, one.files)),
        )
        for i, one in enumerate(handed)
    ]
    least = min_score, min_contained, min_evidence, min_bits, passages or {}
    limits = max_sharing, least, cluster_threshold, max_pairs
    cohort = _core.Cohort(given, [read(one) for one in templates], *limits, threads=1 + rows % 3)
    while cohort.advance(rows):
        pass
    (count, contained, little, shared), below, histogram, _, limited = cohort.totals()
    assert not limited
    main, inside, few, apart = (rows_of(cohort, which) for which in range(4))
    found = main, count, below, histogram, cohort.clusters(), cohort.groups(), inside, contained, few, little
    return Answer(*found, apart, shared)  # type: ignore[arg-type]


def rows_of(cohort: _core.Cohort, which: int) -> list[tuple[object, ...]]:
    """Return a list of pairs as the oracle answers."""
    return [
        (
            left,
            right,
            score,
            (one, other),
            matched,
            longest,
            passages,
            stands_for,
            contained,
            bits,
            *scores,
            strong,
            gaps,
        )
        for (
            (left, right, score, one, other, matched, longest, stands_for, _),
            (contained, bits, _, strong),
            scores,
        ), passages, gaps in zip(cohort.pairs(which), cohort.passages(which), cohort.gaps(which), strict=True)
    ]


#: Every pair is enough evidence, unless a test says otherwise.
LEAST = {"min_contained": 0.5, "min_evidence": 0, "min_bits": 0}
LISTS = ("pairs", "contained", "little", "shared")


def plain(found: Answer) -> Answer:
    """Return an answer with its pairs as plain tuples."""
    lists = {name: [tuple(pair) for pair in getattr(found, name)] for name in LISTS}
    return found._replace(**lists)  # type: ignore[arg-type]


def asked(handed: Sequence[Handed], templates: Sequence[Source] = (), k: int = 3, t: int = 6, **how: object) -> Answer:
    """Ask the oracle, with the pairs as plain tuples."""
    return plain(compare(handed, templates, k=k, t=t, **LEAST | {"passages": {}} | how))  # type: ignore[arg-type]


PHRASES = ["the tide is out", "no such row in the table", "twelve men on a raft", "an odd number of odd numbers"]


def programs(language: str, seed: int) -> list[Handed]:
    """Write programs of blocks that others have too, some under other names, with texts in them."""
    draw = random.Random(seed)
    blocks = [statements(seed + i, language, 6) for i in range(5)]
    handed = []
    for i in range(9):
        lines = [line for n in draw.sample(range(5), 2) for line in blocks[n]] + statements(seed + 50 + i, language, 8)
        said = wrapped(lines, language) + "".join(f'\nx = "{one}";' for one in draw.sample(PHRASES, 1))
        files = [Source(language, renamed(said) if draw.random() < 0.3 else said)]
        if draw.random() < 0.3:
            files.append(Source("text", f"{PHRASES[0]} {prose(seed + draw.randint(0, 1), 20)}"))
        handed.append(
            Handed(f"s{draw.randint(10, 99)}{i}", tuple(files), draw.choice([None, None, None, "ann"]), i == 7)
        )
    return handed


def cut_to(found: Answer, most: int) -> Answer:
    """Return an answer with each list cut to its best pairs."""
    return found._replace(**{name: getattr(found, name)[:most] for name in LISTS})
