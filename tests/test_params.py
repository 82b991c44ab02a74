"""Parameters: what fills in what was not given, and what is promised. Of messages the beginning is checked."""

from __future__ import annotations

import re
from dataclasses import asdict

import pytest

from lookalike import ParameterError, params
from lookalike.params import Parameter, selection, simhashing, sketching


def numbers(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"\d+", text)]


def test_an_option_is_the_name_with_dashes():
    assert Parameter("min_score", "help").option == "--min-score"
    assert Parameter("k", "help").option == "--k"


def test_formulas_are_guarded_in_both_widths():
    assert set(params.FORMULA) >= set("=+-@＝＋－＠")


# --- selection ---


@pytest.mark.parametrize("unit", params.UNITS)
def test_the_defaults_of_a_selection_are_those_of_its_unit(unit: str):
    k, t = params.THRESHOLDS[unit]
    found = selection(unit=unit)
    assert asdict(found) == {
        "k": k,
        "t": t,
        "scheme": params.SCHEME.default,
        "unit": unit,
        "homoglyphs": False,
        "modulus": found.modulus,
        "count": 128,
    }


def test_a_selection_without_a_word_is_of_characters():
    assert selection() == selection(25, 50, "robust", "character", False, count=128)
    assert selection(unit="sentence").k == selection().k


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"t": 10}, (10, 10)),
        ({"t": 25}, (25, 25)),
        ({"t": 26}, (25, 26)),
        ({"t": 1}, (1, 1)),
        ({"t": 0}, (25, 0)),
        ({"t": -5}, (25, -5)),
        ({"k": 60}, (60, 60)),
        ({"k": 50}, (50, 50)),
        ({"k": 49}, (49, 50)),
        ({"k": 3}, (3, 50)),
        ({"k": 0}, (0, 50)),
        ({"k": 7, "t": 9}, (7, 9)),
        ({"k": 9, "t": 7}, (9, 7)),
        ({"k": 0, "t": 0}, (0, 0)),
        ({"t": 3, "unit": "word"}, (3, 3)),
        ({"k": 13, "unit": "word"}, (13, 13)),
    ],
)
def test_a_lone_k_or_t_moves_the_other_along(given: dict[str, int], expected: tuple[int, int]):
    found = selection(**given)  # type: ignore[arg-type]
    assert (found.k, found.t) == expected


def test_the_window_is_t_minus_k_plus_one():
    assert selection(k=5, t=12).window == 8
    assert selection(k=5, t=5).window == 1


@pytest.mark.parametrize(("k", "t"), [(5, 12), (25, 50), (7, 7)])
def test_the_modulus_is_that_of_the_window(k: int, t: int):
    from lookalike import _core

    assert selection(k=k, t=t, scheme="modulo").modulus == _core.modulus_for("modulo", t - k + 1)
    assert selection(k=k, t=t, scheme="modulo", modulus=9).modulus == 9
    assert selection(k=k, t=t, scheme="modulo", modulus=0).modulus == 0


@pytest.mark.parametrize(("k", "t"), [(9, 7), (9, 2**40), (-3, -9)])
def test_thresholds_that_contradict_each_other_get_the_modulus_of_one(k: int, t: int):
    """So that the check of k and t, and not that of the modulus, is what refuses them."""
    from lookalike import _core

    assert selection(k=k, t=t, scheme="modulo").modulus == _core.modulus_for("modulo", 1)


def test_the_modulus_at_the_greatest_t_is_that_of_its_window():
    from lookalike import _core

    found = selection(k=_core.MAX_T - 9, t=_core.MAX_T, scheme="modulo")
    assert found.modulus == _core.modulus_for("modulo", 10) != _core.modulus_for("modulo", 1)


def test_what_is_given_is_kept():
    chosen = {"k": 4, "t": 8, "scheme": "winnow", "unit": "line", "homoglyphs": True, "modulus": 3, "count": 0}
    assert asdict(selection(**chosen)) == chosen  # type: ignore[arg-type]
    assert selection(homoglyphs=False).homoglyphs is False


@pytest.mark.parametrize("scheme", params.SCHEMES)
def test_a_promise_names_t_then_k_and_the_unit(scheme: str):
    found = selection(k=6, t=13, scheme=scheme, unit="word").promise
    assert numbers(found) == ([13, 6] if scheme in params.GUARANTEED else [6])
    assert found.count("words") == len(numbers(found))
    assert (scheme in found) == (scheme not in params.GUARANTEED)
    assert not re.search(r"XX|\w+[A-Z]", found)


# --- sketching ---


def test_the_defaults_of_a_sketch_are_those_of_the_parameters():
    found = asdict(sketching())
    assert found.pop("homoglyphs") is False
    assert found.pop("shingle") == params.SHINGLES["word"]
    assert found == {name: params.SKETCHING[name].default for name in found}
    assert sorted(found) == ["bits", "labelled", "modulus", "size", "sketch", "unit"]


@pytest.mark.parametrize("unit", params.UNITS)
def test_the_shingle_is_that_of_the_unit(unit: str):
    assert sketching(unit=unit).shingle == params.SHINGLES[unit]
    assert sketching(unit=unit, shingle=3).shingle == 3
    assert sketching(unit=unit, shingle=0).shingle == 0
    assert sketching(unit="sentence").shingle == params.SHINGLES["word"]


def test_what_is_given_of_a_sketch_is_kept():
    chosen = {
        "sketch": "modulo",
        "size": 0,
        "modulus": 3,
        "shingle": 7,
        "unit": "line",
        "homoglyphs": True,
        "labelled": True,
        "bits": 20,
    }
    assert asdict(sketching(**chosen)) == chosen  # type: ignore[arg-type]


# --- simhashing ---


def test_the_defaults_of_a_simhash_are_those_of_the_parameters():
    found = asdict(simhashing())
    assert (found.pop("language"), found.pop("idf"), found.pop("ignore")) == (None, None, ())
    assert found == {name: params.SIMHASHING[name].default for name in found}
    assert sorted(found) == ["features", "homoglyphs", "languages", "shingle", "unit"]


def test_what_is_given_of_a_simhash_is_kept():
    chosen = {"unit": "line", "homoglyphs": True, "shingle": 3, "features": "words", "languages": True}
    found = asdict(simhashing(**chosen, ignore=["a", "b"]))  # type: ignore[arg-type]
    assert found == {**chosen, "ignore": ("a", "b"), "language": None, "idf": None}
    paper = simhashing(features="paper", language="en", idf="digest", ignore=iter("x"))
    assert (paper.language, paper.idf, paper.ignore) == ("en", "digest", ("x",))


@pytest.mark.parametrize(
    ("given", "begins"),
    [
        ({"ignore": "one"}, "^ignore `one`"),
        ({"features": "paper", "unit": "line"}, "^features `paper`"),
        ({"features": "paper", "shingle": 2}, "^features `paper`"),
        ({"language": "en"}, "^language means"),
        ({"idf": "digest"}, "^idf means"),
        ({"language": "en", "idf": "digest", "features": "words"}, "^language means.* `words`"),
    ],
)
def test_what_contradicts_itself_is_refused(given: dict[str, str], begins: str):
    with pytest.raises(ParameterError, match=begins):
        simhashing(**given)  # type: ignore[arg-type]


def test_features_of_the_paper_may_name_what_they_are():
    assert simhashing(features="paper", unit="word", shingle=1) == simhashing(features="paper")
