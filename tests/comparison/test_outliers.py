"""Submissions that stand out in their class: by the definition, in small and large classes, honest and not."""

from __future__ import annotations

import random
import statistics
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.comparison.outliers import FAR, FEWEST, with_outliers
from lookalike.comparison.result import Entry, Outlier, Pair, Remark, Report

CUT_OFF = 0.25
#: A report to change: its parameters do not matter here.
EMPTY = la.compare({"a": la.Tokens(range(40)), "b": la.Tokens(range(50, 90))}, min_score=CUT_OFF)


def report(count: int, scores: dict[tuple[int, int], float], **changed: object) -> Report:
    """Make a report of so many submissions with the pairs at or above the cut-off."""
    entries = tuple(Entry(f"s{i}", (), 100, 0, 0, "") for i in range(count))
    rows = sorted(scores.items(), key=lambda row: (-row[1], row[0]))
    pairs = tuple(Pair(*ends, score, score, score, 50, 50, ()) for ends, score in rows if score >= CUT_OFF)
    made = replace(EMPTY, entries=entries, pairs=pairs, pair_count=len(pairs), clusters=(), undefined=())
    return replace(made, **changed)


def outliers(found: Report) -> tuple[Outlier, ...]:
    return with_outliers(found).outliers


def naive(count: int, scores: dict[tuple[int, int], float]) -> dict[int, float]:
    """Return the outliers and their distances by the definition of docs/compare.md."""
    listed = {ends: score for ends, score in scores.items() if score >= CUT_OFF}
    best = [max([score for ends, score in listed.items() if i in ends], default=CUT_OFF) for i in range(count)]
    ranked = sorted(best)
    # The lowest score that more than half of the class do not exceed; the same with three quarters.
    median = min(x for x in ranked if sum(y <= x for y in ranked) > count / 2)
    quartile = min(x for x in ranked if sum(y <= x for y in ranked) > 3 * count / 4)
    spread = max(0.05, (quartile - median) / statistics.NormalDist().inv_cdf(0.75))
    if count < 10:
        return {}
    return {i: (x - median) / spread for i, x in enumerate(best) if (x - median) / spread >= 3.5}


@st.composite
def classes(draw: st.DrawFn) -> tuple[int, dict[tuple[int, int], float]]:
    count = draw(st.integers(2, 40))
    ends = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda two: two[0] < two[1])
    # Hundredths: a score that lies on the bound would depend on the last digit of the quartile of the normal.
    scores = draw(st.dictionaries(ends, st.integers(1, 100).map(lambda one: one / 100), max_size=60))
    return count, scores


@given(classes())
def test_outliers_match_naive(drawn: tuple[int, dict[tuple[int, int], float]]) -> None:
    count, scores = drawn
    found = {one.entry: one.deviation for one in outliers(report(count, scores))}
    expected = naive(count, scores)
    assert found.keys() == {i for i in expected if expected[i] > FAR + 1e-4} | (found.keys() & expected.keys())
    assert all(found[i] == pytest.approx(expected[i], rel=1e-3) for i in found)


@given(classes(), st.data())
def test_scores_below_the_cut_off_change_nothing(
    drawn: tuple[int, dict[tuple[int, int], float]], data: st.DataObject
) -> None:
    count, scores = drawn
    lower = {ends: s if s >= CUT_OFF else data.draw(st.floats(0, CUT_OFF / 2)) for ends, s in scores.items()}
    assert outliers(report(count, scores)) == outliers(report(count, lower))


def class_of(count: int, middle: float, spread: float, seed: int = 1) -> dict[tuple[int, int], float]:
    """Draw best scores around a middle: each submission has one pair with the next."""
    draw = random.Random(seed)
    return {(i, i + 1): min(1.0, max(0.0, draw.gauss(middle, spread))) for i in range(0, count - 1, 2)}


@pytest.mark.parametrize("count", [12, 30, 300])
def test_two_copies_stand_out_among_honest_ones(count: int) -> None:
    scores = class_of(count, 0.3, 0.03) | {(4, 5): 0.9}
    assert {one.entry for one in outliers(report(count, scores))} == {4, 5}


@pytest.mark.parametrize("count", [30, 300])
@pytest.mark.parametrize("middle", [0.05, 0.35, 0.9])
def test_nobody_stands_out_where_all_are_alike(count: int, middle: float) -> None:
    assert outliers(report(count, class_of(count, middle, 0.03))) == ()


def test_a_pair_just_above_the_cut_off_does_not_stand_out() -> None:
    assert outliers(report(30, {(0, 1): 0.3})) == ()
    assert len(outliers(report(30, {(0, 1): 0.5}))) == 2


def test_a_class_of_five_has_no_outliers() -> None:
    assert outliers(report(5, {(0, 1): 1.0})) == ()
    assert outliers(report(FEWEST - 1, {(0, 1): 1.0})) == ()
    assert len(outliers(report(FEWEST, {(0, 1): 1.0}))) == 2


def test_where_a_quarter_copies_nobody_stands_out() -> None:
    assert outliers(report(20, {(i, i + 1): 0.9 for i in range(0, 6, 2)})) == ()
    assert len(outliers(report(20, {(i, i + 1): 0.9 for i in range(0, 4, 2)}))) == 4


def test_old_submissions_and_those_without_score_are_not_the_class() -> None:
    made = report(12, {(0, 11): 1.0})
    old = tuple(replace(entry, old=i == 11) for i, entry in enumerate(made.entries))
    assert [one.entry for one in outliers(replace(made, entries=old))] == [0]
    undefined = (Remark("s5", "template only"), Remark("s6", "template only"), Remark("s7", "template only"))
    assert outliers(replace(made, undefined=undefined)) == ()


def test_a_row_of_a_group_counts_for_all_its_members() -> None:
    made = report(300, {(0, 1): 1.0}, groups=(tuple(range(40)),))
    assert {one.entry for one in outliers(made)} == set(range(40))


def test_a_list_that_was_cut_places_the_others_at_its_end() -> None:
    made = report(20, {(0, 1): 0.9, (2, 3): 0.85})
    assert len(outliers(made)) == 4
    assert outliers(replace(made, pair_count=40)) == ()
