"""The slow program that decides rows day by day gives the answer of the slow program that sees all days at once."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import dedup as oracle
from oracles.dedup import Asked
from oracles.dedup_days import Archive
from support.days import cut, low_entropy

METHODS = {
    "minhash": Asked(0.7, (6, 2, 1), shingle=2, size=12),
    "crowded": Asked(0.5, (2, 1, 1), shingle=1, size=4),
    "simhash": Asked(0.5, None, shingle=2, size=12, distance=3),
    "unverified": Asked(0.5, None, shingle=2, size=12, distance=6, is_verified=False),
}


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(0, 60), days=st.integers(1, 5))
def test_days_one_by_one_are_all_days_at_once(name: str, seed: int, rows: int, days: int):
    rng = random.Random(seed)
    texts = low_entropy(rng, rows)
    archive = Archive(METHODS[name])
    found = [verdict for day in cut(rng, texts, days) for verdict in archive.day(day)]
    whole = oracle.dedup(texts, range(len(texts)), METHODS[name])
    assert [verdict.survivor for verdict in found] == whole.survivors
    assert [verdict.score for verdict in found] == pytest.approx(whole.scores)


@pytest.mark.parametrize("name", ["minhash", "simhash"])
def test_crowded_lists_too(name: str, monkeypatch: pytest.MonkeyPatch):
    """Lists of more holders than are compared: here with 2 and 3, so that small corpora have them."""
    monkeypatch.setattr("oracles.dedup.FIRST", 2)
    monkeypatch.setattr("oracles.dedup.LAST", 3)
    monkeypatch.setattr("oracles.dedup_days.FIRST", 2)
    monkeypatch.setattr("oracles.dedup_days.LAST", 3)
    rng = random.Random(5)
    is_cut = False
    for _ in range(20):
        texts = low_entropy(rng, 60)
        archive = Archive(METHODS[name])
        found = [verdict.survivor for day in cut(rng, texts, 4) for verdict in archive.day(day)]
        assert found == oracle.dedup(texts, range(len(texts)), METHODS[name]).survivors
        is_cut |= any(len(held) > 5 for held in archive.holders.values())
    assert is_cut


def test_the_method_exact_removes_identical_texts_only():
    archive = Archive(METHODS["minhash"], is_near=False)
    days = [["a b c d e", None, " ", "a b c d f"], ["a b c d f", " ", "a b c d e", "a"]]
    found = [verdict.survivor for day in days for verdict in archive.day(day)]
    assert found == [0, 1, 2, 3, 3, 5, 0, 7]
