"""Whole deduplications against the slow program of their definition, and against brute force."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike import _core
from lookalike.deduplication.result import LINKS
from oracles import dedup as oracle
from oracles.blank import BLANK, is_blank
from oracles.dedup import Answer, Asked


def asked(answer: la.Deduplication, *, is_independent: bool = False) -> Asked:
    """What the program of the definition is told."""
    chosen = answer.settings
    by_bits = chosen.method == "simhash"
    return Asked(
        threshold=chosen.threshold,
        filter=None if chosen.filter is None else (chosen.filter.k, chosen.filter.s, chosen.filter.r),
        clustering=chosen.clustering,
        shingle=chosen.shingle,
        sketch=chosen.sketch,
        size=chosen.size,
        references=answer.references if answer.is_against else None,
        distance=chosen.distance if by_bits else None,
        is_verified=not chosen.no_verify,
        is_independent=is_independent,
    )


def rule(texts: Sequence[str], keep: str) -> Any:
    return (lambda row: -len(texts[row].encode())) if keep == "longest" else (lambda row: 0)


def check_dedup(
    texts: Sequence[str], against: Sequence[str] = (), *, is_independent: bool = False, **chosen: Any
) -> la.Deduplication:
    """Deduplicate, and compare all of the answer with what its definition says."""
    answer = la.dedup(list(texts), against=list(against) if against else None, **chosen)
    every = [*against, *texts]
    order = oracle.rank_of(every, rule(every, answer.settings.keep), asked(answer).references)
    assert_same(answer, every, oracle.dedup(every, order, asked(answer, is_independent=is_independent)))
    return answer


def assert_same(answer: la.Deduplication, texts: Sequence[str], expected: Answer) -> None:
    """Kept rows, clusters, exact scores and pairs are equal."""
    assert list(answer.survivors) == expected.survivors
    assert list(answer.resemblances) == pytest.approx(expected.scores, abs=1e-6)
    threshold = answer.settings.threshold
    found = {(one.left, one.right): one.resemblance for one in answer.pairs() if one.link != "identical"}
    assert found.keys() == expected.pairs.keys()
    for pair, score in expected.pairs.items():
        assert found[pair] == pytest.approx(score, abs=1e-6)
        assert (found[pair] >= threshold) == (score >= threshold), "no score is rounded over the threshold"
    for row, link in enumerate(answer.links):
        is_same = texts[row] == texts[answer.survivors[row]] and answer.survivors[row] != row
        assert (LINKS[link] == "identical") == is_same
    for one in answer.pairs():
        assert (one.link == "identical") == (texts[one.left] == texts[one.right])


def boilerplate(rows: int, families: int, *, share: float = 0.6, words: int = 60, seed: int = 1) -> list[str]:
    """Texts of which a share is the same for all, with copies of which one word is another, and some identical."""
    rng = random.Random(seed)
    known = [f"w{number}" for number in range(4_000)]
    common = rng.choices(known, k=int(words * share))
    made: list[list[str]] = []
    for row in range(rows):
        if row < families:
            made.append([*common, *rng.choices(known, k=words - len(common))])
            continue
        copy = list(made[rng.randrange(len(made))])
        for _ in range(rng.randrange(3)):
            copy[rng.randrange(words)] = rng.choice(known)
        made.append(copy)
    rng.shuffle(made)
    return [" ".join(one) for one in made]


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    families=st.integers(1, 30),
    share=st.sampled_from([0.0, 0.5, 0.8]),
    threshold=st.sampled_from([0.5, 0.7, 0.8, 0.9, 1.0]),
    keep=st.sampled_from(["first", "longest"]),
    clustering=st.sampled_from(["star", "components", "greedy"]),
    sketch=st.sampled_from(["fast", "permutations"]),
)
def test_an_answer_is_what_its_definition_says(
    seed: int, families: int, share: float, threshold: float, keep: str, clustering: str, sketch: str
):
    texts = boilerplate(60, families, share=share, seed=seed)
    check_dedup(texts, threshold=threshold, keep=keep, clustering=clustering, sketch=sketch, shingle=3)


@pytest.mark.parametrize("clustering", ["star", "components"])
def test_crowded_keys_follow_the_rule(clustering: str):
    """Keys have more holders than are all compared with each other."""
    texts = boilerplate(300, 280, share=0.96, seed=4)
    answer = check_dedup(texts, threshold=0.9, clustering=clustering, shingle=1)
    assert answer.capped
    every = la.dedup(texts, threshold=0.9, shingle=1, recall=1)
    assert len(list(answer.pairs())) < len(list(every.pairs()))


def test_an_element_finds_64_clusters_and_no_more():
    """Eighty texts of mostly the same words lead; what resembles the 64th is found, what resembles the last is not."""
    common = " ".join(f"c{number}" for number in range(57))
    made = [f"{common} {' '.join(f'u{row}x{number}' for number in range(3))}" for row in range(80)]
    copies = [f"{text} more" for text in made]
    answer = check_dedup([*made, *copies], threshold=0.95, clustering="greedy", shingle=1)
    assert [int(row in answer.gone) for row in range(80, 160)] == [1] * 64 + [0] * 16


@pytest.mark.parametrize(
    ("clustering", "recall"), [("star", 0.99), ("star", 1), ("components", 0.99), ("greedy", 0.99)]
)
@pytest.mark.parametrize(("common", "threshold"), [(8, 0.8), (6, 0.75), (18, 0.9)])
def test_a_score_at_the_threshold_is_enough(clustering: str, recall: float, common: int, threshold: float):
    """Two texts share all words but one each: 8 of 10, 6 of 8, 18 of 20."""
    shared = [" ".join(f"w{family}x{number}" for number in range(common)) for family in range(20)]
    texts = [f"{words} {end}{family}" for end in "yz" for family, words in enumerate(shared)]
    answer = check_dedup(texts, threshold=threshold, clustering=clustering, recall=recall, shingle=1)
    assert len(answer.gone) > 10


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    threshold=st.sampled_from([0.3, 0.7, 0.8, 1.0]),
    clustering=st.sampled_from(["star", "components"]),
)
def test_recall_1_finds_what_brute_force_finds(seed: int, threshold: float, clustering: str):
    texts = boilerplate(50, 20, share=0.5, seed=seed)
    answer = check_dedup(texts, threshold=threshold, clustering=clustering, recall=1, shingle=3)
    near = {
        (left, right)
        for left, right in combinations(range(len(texts)), 2)
        if (la.resemblance(texts[left], texts[right], shingle=3) or 0) >= threshold
        and texts.index(texts[left]) == left != texts.index(texts[right]) == right
    }
    assert {(one.left, one.right) for one in answer.pairs() if one.link != "identical"} == near


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    distance=st.integers(0, 10),
    no_verify=st.booleans(),
    clustering=st.sampled_from(["star", "components"]),
)
def test_simhash_groups_are_those_of_brute_force(seed: int, distance: int, no_verify: bool, clustering: str):
    texts = boilerplate(60, 25, share=0.7, seed=seed)
    check_dedup(texts, method="simhash", distance=distance, no_verify=no_verify, clustering=clustering, threshold=0.6)


def test_simhash_removes_what_brute_force_removes():
    """Very many texts have fingerprints near each other: nothing within the distance is left out."""
    texts = boilerplate(700, 600, share=0.97, seed=2)
    first = [row for row, text in enumerate(texts) if texts.index(text) == row]
    prints = [la.simhash(text) or 0 for text in texts]
    near = {(a, b) for a, b in combinations(first, 2) if (prints[a] ^ prints[b]).bit_count() <= 6}
    leader = oracle.star(first, near, lambda a, b: -(prints[a] ^ prints[b]).bit_count())
    answer = la.dedup(texts, method="simhash", distance=6, no_verify=True)
    assert list(answer.survivors) == [leader[texts.index(text)] for text in texts]
    assert len(answer.gone) > 100


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), cut=st.integers(0, 60), clustering=st.sampled_from(["star", "components", "greedy"]))
@example(seed=297962, cut=31, clustering="components")
@example(seed=1, cut=10, clustering="greedy")
def test_only_rows_like_a_reference_go(seed: int, cut: int, clustering: str):
    texts = boilerplate(60, 20, seed=seed)
    check_dedup(texts[cut:], against=texts[:cut], threshold=0.7, clustering=clustering, shingle=3)


def test_threads_memory_and_container_do_not_change_the_answer():
    pa = pytest.importorskip("pyarrow")
    texts = boilerplate(300, 120, share=0.8, seed=9)
    expected = la.dedup(texts, threshold=0.7)
    for given_texts, chosen in (
        (texts, {"threads": 1}),
        (texts, {"threads": 3, "memory": "16MiB"}),
        (tuple(texts), {}),
        (pa.table({"text": texts}), {}),
        ([{"text": text} for text in texts], {}),
    ):
        answer = la.dedup(given_texts, threshold=0.7, **chosen)
        assert list(answer.survivors) == list(expected.survivors)
        assert list(answer.resemblances) == list(expected.resemblances)
        assert list(answer.pairs()) == list(expected.pairs())


def test_boilerplate_keys_hide_no_copy():
    """Item by item: at 0.9 the caps of before removed fewer rows than brute force."""
    rng = random.Random(3)
    common = [f"c{number}" for number in range(100)]
    made = [[*common, *(f"u{row}x{number}" for number in range(12))] for row in range(300)]
    copies = [[*one[:-1], f"v{row}"] for row, one in enumerate(made)]
    texts = [" ".join(one) for one in (*made, *copies)]
    rng.shuffle(texts)
    every = la.dedup(texts, threshold=0.9, recall=1)
    found = la.dedup(texts, threshold=0.9)
    assert len(every.gone) == 300
    assert len(found.gone) == 300


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    clustering=st.sampled_from(["star", "components", "greedy"]),
    sketch=st.sampled_from(["fast", "permutations"]),
)
def test_the_definition_computed_from_words_alone_gives_the_same(seed: int, clustering: str, sketch: str):
    """Shingles, sketches and fingerprints are computed by FORMAT.md, too."""
    texts = boilerplate(12, 5, words=20, seed=seed)
    check_dedup(texts, is_independent=True, clustering=clustering, sketch=sketch, shingle=3, size=64, threshold=0.6)
    check_dedup(texts, is_independent=True, method="simhash", distance=8, shingle=3, threshold=0.6)


def made_to_look_alike(words: int, ids: _core.SketchMaker) -> tuple[str, str]:
    """Return a text, and the same with as many words again that leave its sketch as it is."""
    rng = random.Random(1)
    text = [f"w{rng.randrange(5_000)}" for _ in range(words)]
    first, longer = list(ids.one(" ".join(text))[0].values), list(text)
    while len(longer) < 2 * words:
        tried = [*longer, f"w{rng.randrange(5_000)}"]
        if list(ids.one(" ".join(tried))[0].values) == first:
            longer = tried
    return " ".join(text), " ".join(longer)


@pytest.mark.parametrize("clustering", ["star", "components", "greedy"])
def test_equal_sketches_remove_nothing_below_the_threshold(clustering: str):
    """The hash of sketches is public, so anyone can write such texts."""
    left, right = made_to_look_alike(600, _core.SketchMaker("fast", 128, 1, 5, "word", False, False, 64))
    assert 0.49 < (la.resemblance(left, right, shingle=5) or 0) < 0.51
    answer = check_dedup([left, right], threshold=0.8, clustering=clustering)
    assert answer.work["glances"] == 1
    assert not answer.gone
    assert not check_dedup([right], against=[left], threshold=0.8, clustering=clustering).gone


@pytest.mark.parametrize("sketch", ["fast", "permutations"])
@pytest.mark.parametrize("size", [16, 128, 513, 2048])
def test_a_sketch_of_any_size_rejects_by_the_same_law(size: int, sketch: str):
    """Words are added that change as much of a sketch as they can, until the sketch rules the threshold out."""
    maker = _core.SketchMaker(sketch, size, 1, 1, "word", False, False, 64)
    words = [f"w{number}" for number in range(400)]
    first = list(maker.one(" ".join(words))[0].values)

    def changed(word: str) -> int:
        return sum(map(int.__lt__, maker.one(word)[0].values, first))

    def common(count: int) -> int:
        return sum(map(int.__eq__, first, maker.one(" ".join([*words, *changing[:count]]))[0].values))

    changing = sorted((f"x{number}" for number in range(max(1_500, 48_000 // size))), key=changed, reverse=True)[:100]
    limit = oracle.rejected(size, 0.8)
    enough = next(count for count in range(101) if common(count) < limit)
    texts = [" ".join([*words, *changing[:count]]) for count in (enough - 1, enough)]
    for text, is_gone in zip(texts, (True, False), strict=True):
        answer = check_dedup([" ".join(words), text], threshold=0.8, size=size, sketch=sketch, shingle=1)
        assert bool(answer.gone) == (is_gone and answer.work["glances"] == 1)
        assert answer.work["glances"] == 1 or size < 128, "a filter of few elements may not propose it"
    assert la.dedup([" ".join(words), texts[1]], threshold=0.8, recall=1, shingle=1).gone, "the resemblance reaches it"


def test_rows_that_are_no_references_hide_none_from_greedy():
    """Ten rows share more with the last one than its reference does, and none of them reaches the threshold with it."""
    words = [f"w{number}" for number in range(300)]
    rows = [[*words[:255], *(f"c{number}" for number in range(50)), f"u{row}"] for row in range(10)]
    last = [*words[:270], *(f"c{number}" for number in range(35))]
    for count in (1, 10):
        texts = [" ".join(row) for row in (*rows[:count], last)]
        answer = check_dedup(texts, against=[" ".join(words)], threshold=0.8, clustering="greedy", shingle=1)
        assert answer.gone == [1 + count]


@pytest.mark.parametrize(
    "text", ["\x1c", "\x1f\x1e", "\x85", "\u200b", "\ufeff", "\0", "\u3000", " \t\r\n\v\f", "\u2028\xa0\u1680\u205f"]
)
def test_blank_texts_are_those_of_white_space(text: str):
    answer = check_dedup([text, text])
    assert bool(answer.gone) == (not is_blank(text))
    assert answer.states["missing"] == (2 if is_blank(text) else 0)


def test_the_blank_characters_are_listed_once():
    """Every character is blank in the product if it is in the list."""
    every = [chr(code) for code in range(0x11000) if not 0xD800 <= code < 0xE000]
    gone = la.dedup([*every, *every], method="exact").gone
    assert {every[row - len(every)] for row in gone} == set(every) - BLANK
