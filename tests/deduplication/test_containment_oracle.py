"""Containment within one corpus, where every shingle is a key: it equals comparing all with all."""

from __future__ import annotations

import random

import pytest

import lookalike as la
from lookalike import _core
from oracles.containment import contained
from support.dedups import WORDS


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("threshold", [0.5, 0.8, 1.0])
def test_rows_that_go_are_those_of_comparing_all_with_all(seed: int, threshold: float):
    rng = random.Random(seed)
    texts = [" ".join(rng.choices(WORDS, k=rng.randrange(3, 60))) for _ in range(30)]
    for whole in list(texts):
        words = whole.split()
        start = rng.randrange(len(words))
        texts.append(" ".join([*words[start:], *rng.choices(WORDS, k=rng.randrange(9))]))
    texts += texts[::7]
    found = la.dedup(texts, method="containment", threshold=threshold, modulus=1)
    expected = contained(texts, threshold=threshold)
    assert len(expected) > 10
    rows = {row: (found.survivors[row], found.resemblances[row]) for row in found.gone}
    assert {row: one[0] for row, one in rows.items()} == {row: one[0] for row, one in expected.items()}
    assert all(abs(rows[row][1] - expected[row][1]) < 1e-6 for row in rows)


def test_an_equal_sample_removes_nothing_below_the_threshold():
    """Words are added of which no shingle is in the sample: all of the sample is contained, and 0.6 of the text."""
    rng = random.Random(1)
    whole = [f"w{rng.randrange(5_000)}" for _ in range(1_500)]
    part = whole[:800]
    maker = _core.SketchMaker("modulo", 128, 8, 5, "word", False, False, 64)
    sample = set(maker.one(" ".join(part))[0].values)
    while len(part) < 1_300:
        tried = [*part, f"w{rng.randrange(5_000)}"]
        if set(maker.one(" ".join(tried))[0].values) == sample:
            part = tried
    texts = [" ".join(whole), " ".join(part)]
    answer = la.dedup(texts, method="containment", modulus=8)
    assert answer.work["glances"] == 1
    assert answer.gone == list(contained(texts)) == []
    assert la.dedup(texts, method="containment", modulus=8, threshold=0.5).gone == list(contained(texts, threshold=0.5))
