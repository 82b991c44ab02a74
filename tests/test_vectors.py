"""Every worked example the winnowing paper prints, through the public surface."""

from __future__ import annotations

import math

import pytest

import lookalike as la
from lookalike import _core

FIGURE_1 = [77, 72, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 72, 42, 17, 98]
FIGURE_2 = [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98]
LYRIC = "A do run run run, a do run run"


def test_paper_schleimer2003_figure1_canonical_form():
    assert la.canonical(LYRIC) == "adorunrunrunadorunrun"


def test_paper_schleimer2003_figure1_has_17_five_grams():
    every = la.fingerprint(LYRIC, k=5, t=5, scheme="every")
    text = la.canonical(LYRIC)
    assert (len(text), len(every)) == (21, 17)
    grams = [text[i : i + 5] for i in range(17)]
    # Equal k-grams have equal fingerprints, distinct ones have distinct ones.
    assert len(set(every.hashes)) == len(set(grams)) == 10
    assert [grams.index(gram) for gram in grams] == [list(every.hashes).index(hash_) for hash_ in every.hashes]


def test_paper_schleimer2003_figure1_zero_mod_4():
    picked = la.select(FIGURE_1, window=4, scheme="modulo", modulus=4)
    assert [FIGURE_1[i] for i in picked] == [72, 8, 88, 72]


@pytest.mark.parametrize("scheme", ["winnow", "robust", "compact", "compact-robust"])
def test_paper_schleimer2003_figure2_windows_of_4(scheme):
    assert la.select(FIGURE_2, window=4, scheme=scheme) == [3, 6, 8, 11, 15]


def test_winnow_is_the_default_of_select():
    assert la.select(FIGURE_2, window=4) == [3, 6, 8, 11, 15]


def test_paper_schleimer2003_figure5_records_partial_windows():
    assert [FIGURE_2[i] for i in _core.figure5(FIGURE_2, 4)] == [77, 74, 42, 17, 17, 8, 39, 17]


def test_paper_schleimer2003_section5_1_equal_hashes():
    assert len(la.select([5] * 1000, window=100, scheme="winnow")) == 901
    assert len(la.select([5] * 1000, window=100, scheme="robust")) == 10


def test_paper_schleimer2003_section3_1_1_miss_rate_of_0_mod_p():
    assert pytest.approx(0.13533, abs=5e-6) == (1 - 2 / 101) ** 100


def test_paper_schleimer2003_section3_1_2_safe_0_mod_p_density():
    assert (1 + math.log(100)) / 100 == pytest.approx(0.05605, abs=5e-6)
    modulus = _core.modulus_for("safe-modulo", 100)
    assert modulus == round(100 / math.log(100))


def test_paper_schleimer2003_section5_1_run_without_0_mod_50():
    assert 29_851 * math.log10(1 - 1 / 50) == pytest.approx(-261.9, abs=0.05)


def test_paper_schleimer2003_figure3_arithmetic():
    assert pytest.approx(0.019855, abs=5e-7) == 38_530_846 / 1_940_576_399
    assert pytest.approx(0.019974, abs=5e-7) == 38_761_128 / 1_940_576_399
    assert 1_940_576_448 - 49 == 1_940_576_399


def test_paper_schleimer2003_observation1_lower_bound():
    assert pytest.approx(0.014901, abs=5e-7) == (1.5 + 1 / 200) / 101


def test_ties_go_to_the_newest_hash():
    assert la.select([0, 1, 1], window=2) == [0, 2]
