"""What whole jobs promise, asked through the public functions alone and compared with brute force."""

from __future__ import annotations

import random
from itertools import combinations

import lookalike as la


def programs(count: int, seed: int) -> dict[str, la.Tokens]:
    """Short programs made of few statements, many of which are in several programs."""
    rng = random.Random(seed)
    statements = [[rng.randrange(30) for _ in range(rng.randrange(3, 9))] for _ in range(40)]
    return {
        f"s{number:02}": la.Tokens([token for _ in range(rng.randrange(6, 14)) for token in rng.choice(statements)])
        for number in range(count)
    }


def scores(given: dict[str, la.Tokens], cut_off: float) -> dict[tuple[str, str], float]:
    report = la.compare(given, min_score=cut_off, k=5, t=12)
    return {(report.entries[one.left].name, report.entries[one.right].name): one.score for one in report.pairs}


def test_a_cut_off_drops_no_pair_above_it():
    for seed in range(8):
        given = programs(24, seed)
        every = scores(given, 0)
        for cut_off in (0.1, 0.3):
            assert scores(given, cut_off) == {pair: score for pair, score in every.items() if score >= cut_off}, seed


def test_a_large_class_of_identical_submissions_is_one_row():
    same = la.Tokens(range(40))
    report = la.compare({f"s{number:02}": same for number in range(40)})
    assert len(report.pairs) == 1


def test_rows_that_contain_a_reference_are_removed():
    rng = random.Random(8)
    texts = [" ".join(f"w{rng.randrange(10**6)}" for _ in range(120)) for _ in range(30)]
    items = [" ".join(f"t{rng.randrange(10**6)}" for _ in range(20)) for _ in range(10)]
    rows = [f"{text} {items[number]} {text}" if number < 10 else text for number, text in enumerate(texts)]
    answer = la.dedup(rows, against=items, method="containment")
    removed = [row - 10 for row, survivor in enumerate(answer.survivors) if survivor != row]
    assert removed == list(range(10))


def family(size: int, seed: int, words: int = 100) -> list[str]:
    """A text and edits of it, each of one more word than the one before: neighbours resemble each other most."""
    rng = random.Random(seed)
    text = [f"w{rng.randrange(10**6)}" for _ in range(words)]
    made = []
    for _ in range(size):
        made.append(" ".join(text))
        text = list(text)
        text[rng.randrange(words)] = f"x{rng.randrange(10**6)}"
    return made


def test_pairs_are_all_pairs_and_not_only_the_links():
    texts = [text for seed in range(6) for text in family(5, seed)]
    reached = {
        (left, right)
        for left, right in combinations(range(len(texts)), 2)
        if (la.resemblance(texts[left], texts[right], shingle=5) or 0.0) >= 0.8
    }
    answer = la.dedup(texts)
    assert {(one.left, one.right) for one in answer.pairs()} == reached
    assert len(reached) > sum(survivor != row for row, survivor in enumerate(answer.survivors))


def test_simhash_removes_what_comparing_all_with_all_removes():
    """Most of each text is common to all, so that very many fingerprints are near each other."""
    common = [f"c{number}" for number in range(100)]
    made = [[*common, *(f"u{row}x{number}" for number in range(12))] for row in range(300)]
    texts = [" ".join(one) for one in (*made, *([*one[:-1], f"v{row}"] for row, one in enumerate(made)))]
    random.Random(3).shuffle(texts)
    prints = [la.simhash(text) or 0 for text in texts]
    leaders: list[int] = []
    for row, text in enumerate(texts):
        near = (other for other in leaders if (prints[other] ^ prints[row]).bit_count() <= 3)
        if not any((la.resemblance(texts[other], text, shingle=5) or 0.0) >= 0.9 for other in near):
            leaders.append(row)
    answer = la.dedup(texts, method="simhash", distance=3, threshold=0.9)
    assert [row for row, survivor in enumerate(answer.survivors) if survivor == row] == leaders
