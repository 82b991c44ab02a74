"""The features of a document are those of the oracle, whatever it is given as."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import ParameterError
from oracles import features as oracle

WORDS = [f"w{i}" for i in range(40)]


def values(text: str) -> list[int]:
    return la.stream(text, unit="word").tokens.tolist()


@pytest.mark.parametrize("sketch", ["fast", "permutations"])
@given(
    text=st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join),
    k=st.integers(1, 5),
    s=st.integers(1, 4),
    bits=st.sampled_from([20, 40, 64]),
)
def test_features_are_what_the_document_says(sketch: str, text: str, k: int, s: int, bits: int):
    found = la.features(text, (k, s, 1), sketch=sketch, shingle=3, bits=bits)
    assert found.tolist() == oracle.features(values(text), k, s, 3, sketch, bits)


def test_features_take_what_its_siblings_take(tmp_path: Path):
    text = "to be or not to be, that is the question"
    path = tmp_path / "hamlet.txt"
    path.write_text(text, encoding="utf-8")
    found = la.features(text)
    assert len(found) == 6
    assert all(la.features(one) == found for one in (text.encode(), path))
    assert la.features(la.Tokens(values(text))) == found
    assert la.features(text, "6,14,2") == la.features(text, la.Filter(6, 14, 2)) == found
    assert la.features(text, "6,14,1") == found != la.features(text, "7,14,1")[:6]
    assert la.features("too short") == []


@pytest.mark.parametrize(
    ("filter", "message"),
    [
        ("6,14", "filter `6,14` is not k,s,r"),
        ((6, 14), "filter `\\(6, 14\\)` is not k,s,r"),
        ((6, 14, 7), "r `7` of a filter with `6` features is out of range"),
    ],
)
def test_what_is_no_filter_is_refused(filter: str | tuple[int, int, int], message: str):
    with pytest.raises(ParameterError, match=message):
        la.features("to be or not to be", filter)


def test_features_need_coordinates():
    with pytest.raises(ParameterError, match="sketch `smallest` has no features: use one of fast, permutations"):
        la.features("to be or not to be", sketch="smallest")
