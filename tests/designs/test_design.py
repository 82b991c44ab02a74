"""Filters and sketch sizes: the papers' figures, the solver against enumeration, the sketch against the formula."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

import lookalike as la
from lookalike.designs import curves, sketch_size, solve
from lookalike.designs.filters import MAX_ELEMENTS, Filter
from lookalike.errors import ParameterError

PAPER = Filter(6, 14, 2)
SHAPES = [Filter(1, 1, 1), PAPER, Filter(20, 5, 1), Filter(32, 4, 2), Filter(40, 3, 7), Filter(9, 2, 9)]


def exact(found: Filter, rho: Fraction) -> Fraction:
    """P as the paper writes it, in fractions."""
    q = rho**found.s
    terms = (math.comb(found.k, i) * q**i * (1 - q) ** (found.k - i) for i in range(found.r, found.k + 1))
    return sum(terms, Fraction(0))


def simpson(function, low: float, high: float, steps: int = 4000) -> float:
    width = (high - low) / steps
    weights = [1, *([4, 2] * (steps // 2 - 1)), 4, 1]
    return width / 3 * math.fsum(w * function(low + i * width) for i, w in enumerate(weights))


def test_paper_broder2000_half_of_the_pairs_pass_at_0_909():
    assert f"{PAPER.half:.6f}" == "0.909366"
    assert PAPER.accept(PAPER.half) == pytest.approx(0.5, abs=1e-12)


def test_paper_broder2000_s_of_14_is_steepest_at_0_931():
    assert PAPER.steepest == pytest.approx(0.931063, abs=1e-6)
    assert Filter.best_s(PAPER.steepest) == pytest.approx(14)


def test_paper_broder2000_shares_that_pass_and_are_missed():
    assert PAPER.reject(0.99) == pytest.approx(0.00020817, rel=1e-4)
    assert PAPER.accept(0.77) == pytest.approx(0.0092863, rel=1e-4)
    assert PAPER.accept(0.5) == pytest.approx(5.5870e-8, rel=1e-4)


def test_erratum_broder2000_misses_more_than_a_hundredth_at_97_5_percent():
    assert PAPER.reject(0.975) == pytest.approx(0.0106722, rel=1e-4)
    assert PAPER.reject(0.9754) > 0.01 > PAPER.reject(0.97541)
    assert "0.0107" in PAPER.notes[0]
    assert not Filter(6, 13, 2).notes


def test_paper_broder2000_features_take_48_bytes_and_15_super_features_120():
    assert (PAPER.features_bytes, PAPER.keys, PAPER.keys_bytes, PAPER.elements) == (48, 15, 120, 84)


@pytest.mark.parametrize("found", SHAPES, ids=str)
@pytest.mark.parametrize("rho", ["0.01", "0.3", "0.5", "0.77", "0.9", "0.99", "0.9999"])
def test_acceptance_matches_fractions(found: Filter, rho: str):
    true = exact(found, Fraction(rho))
    assert found.accept(float(rho)) == pytest.approx(float(true), rel=1e-11)
    # Digits of 1 − P survive where P is close to 1.
    assert found.reject(float(rho)) == pytest.approx(float(1 - true), rel=1e-11)


def test_acceptance_keeps_its_digits_down_to_1e_300():
    assert Filter(2, 500, 2).accept(0.5) == pytest.approx(2.0**-1000, rel=1e-12)
    assert Filter(2, 8000, 2).accept(0.5) == 0.0


def test_acceptance_is_certain_at_the_ends():
    assert (PAPER.accept(0), PAPER.reject(0), PAPER.accept(1), PAPER.reject(1)) == (0, 1, 1, 0)


@pytest.mark.parametrize("found", SHAPES, ids=str)
@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.8, 0.95])
def test_integrals_match_quadrature(found: Filter, threshold: float):
    false = simpson(found.accept, 0, threshold)
    missed = simpson(found.reject, threshold, 1)
    assert found.false_mass(threshold) == pytest.approx(false, rel=1e-9)
    assert found.missed_mass(threshold) == pytest.approx(missed, rel=1e-9, abs=1e-14)
    assert found.total_error(threshold) == pytest.approx(false + missed, rel=1e-9)


def test_total_error_is_least_where_half_of_the_pairs_pass():
    least = PAPER.total_error(PAPER.half)
    assert all(PAPER.total_error(PAPER.half + step) > least for step in (-0.01, -0.001, 0.001, 0.01))


def test_false_pairs_are_pairs_times_the_share_that_passes():
    assert PAPER.false_pairs(1000, 0.9, rho=0.77) == pytest.approx(499_500 * PAPER.accept(0.77))
    assert PAPER.false_pairs(1000, 0.9) == pytest.approx(499_500 * PAPER.false_mass(0.9) / 0.9)
    assert PAPER.false_pairs(1, 0.9) == 0


def test_best_r_is_the_features_to_expect_at_the_threshold():
    assert PAPER.best_r(0.909366) == pytest.approx(6 * 0.909366**14)


def test_curve_is_given_at_points_or_in_equal_steps():
    assert PAPER.curve(4) == [(rho, PAPER.accept(rho)) for rho in (0, 0.25, 0.5, 0.75, 1)]
    assert PAPER.curve([0.77]) == [(0.77, PAPER.accept(0.77))]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Filter(0, 1, 1), "k `0` of a filter is out of range: use 1 to 1000 features"),
        (lambda: Filter(1001, 1, 1), "k `1001` of a filter"),
        (lambda: Filter(6, 0, 1), f"s `0` of a filter with `6` features is out of range: use 1 to {MAX_ELEMENTS // 6}"),
        (lambda: Filter(6, 14, 7), "r `7` of a filter with `6` features is out of range: use 1 to 6"),
        (lambda: Filter.parse("6,14"), "filter `6,14` is not k,s,r: give three whole numbers, as in 6,14,2"),
        (lambda: Filter.parse("a,b,c"), "filter `a,b,c` is not k,s,r"),
        (lambda: PAPER.accept(1.5), "resemblance `1.5` is out of range: use 0 to 1"),
        (lambda: PAPER.accept(math.nan), "resemblance `nan` is out of range"),
        (lambda: PAPER.total_error(0), "threshold `0` is out of range: use more than 0 and less than 1"),
    ],
)
def test_wrong_filters_say_what_to_use(call, message: str):
    with pytest.raises(ParameterError) as error:
        call()
    assert str(error.value).startswith(message)


def brute_force(threshold, recall, elements=None, bytes=None, false_accept=None, at=None, max_r=2, most=40):
    """The best of all filters with k and s up to ``most``."""
    every = (
        Filter(k, s, r) for k, s in itertools.product(range(1, most + 1), repeat=2) for r in range(1, min(k, max_r) + 1)
    )
    feasible = [
        found
        for found in every
        if found.reject(threshold) <= 1 - recall
        and (elements is None or found.elements <= elements)
        and (bytes is None or found.keys_bytes <= bytes)
        and (at is None or found.accept(at) <= false_accept)
    ]
    return min(feasible, key=lambda found: (found.false_mass(threshold), found.elements, found), default=None)


@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.8, 0.9])
@pytest.mark.parametrize("recall", [0.5, 0.9, 0.995])
@pytest.mark.parametrize(
    "limits",
    [
        {"elements": 40, "max_r": 2},
        {"elements": 12, "max_r": 2},
        {"elements": 40, "bytes": 64},
        {"elements": 40, "max_r": 1},
        {"elements": 40, "max_r": 4},
    ],
    ids=str,
)
def test_solver_matches_enumeration(threshold: float, recall: float, limits: dict[str, int]):
    expected = brute_force(threshold, recall, **limits)
    if expected is None:
        with pytest.raises(ParameterError):
            la.design(threshold, recall, **limits)
    else:
        assert la.design(threshold, recall, **limits).filter == expected


@pytest.mark.parametrize("false_accept", [0.5, 0.1, 0.01, 0.001])
def test_solver_matches_enumeration_with_a_bound_of_false_accepts(false_accept: float):
    expected = brute_force(0.8, 0.9, elements=40, false_accept=false_accept, at=0.4)
    if expected is None:
        with pytest.raises(ParameterError, match="is out of reach"):
            la.design(0.8, 0.9, elements=40, false_accept=false_accept, at=0.4)
    else:
        assert la.design(0.8, 0.9, elements=40, false_accept=false_accept, at=0.4).filter == expected


def test_solver_without_limits_uses_a_sketch_of_128():
    assert la.design() == la.design(0.8, 0.995, elements=128)
    assert la.design().recall >= 0.995


def test_design_without_a_goal_is_the_filter_of_dedup():
    assert la.design(threshold=0.8).filter == Filter(18, 6, 1)
    assert la.dedup(["a b c d e f"]).settings.filter == Filter(18, 6, 1)


def test_solver_with_bytes_alone_takes_the_elements_it_needs():
    found = la.design(0.9, 0.99, bytes=120)
    assert found.filter.keys_bytes <= 120
    assert found.filter.elements > 128
    assert found.false_mass < la.design(0.9, 0.99, bytes=120, elements=128).false_mass


def test_filter_of_dedup_reaches_its_recall_in_its_sketch():
    found = la.design(0.8, recall=0.995, elements=128, max_r=1)
    assert found.filter.accept(0.8) >= 0.995
    assert found.filter.elements <= 128
    assert found.filter.r == 1


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ({"bytes": 4}, "bytes `4` hold no feature: one takes 8; use at least as many"),
        ({"elements": 0}, "elements `0` are no sketch: use at least 1"),
        ({"recall": 1.0}, "recall `1` is out of range: use more than 0 and less than 1"),
        ({"threshold": math.nan}, "threshold `nan` is out of range"),
        ({"at": 0.5}, "false_accept and at=… belong together"),
        ({"at": 0.9, "false_accept": 0.1}, "at `0.9` is not below the threshold `0.8`: use a lower one"),
        ({"sketch": "magic"}, "sketch `magic` is not known: use one of fast, permutations"),
        ({"max_r": 0}, "max_r `0` is out of range"),
        (
            {"threshold": 0.05, "recall": 0.9999, "elements": 8},
            "recall `0.9999` at threshold `0.05` is out of reach with 8 elements, which give at most 0.3365: "
            "use elements ≥ 180, or recall ≤ 0.3365",
        ),
        ({"threshold": 0.001, "recall": 0.999}, "recall `0.999` at threshold `0.001` is out of reach: 1000 features"),
        (
            {"false_accept": 1e-6, "at": 0.5, "recall": 0.99},
            "false_accept `1e-06` at `0.5` with recall `0.99` at `0.8` is out of reach with 128 elements, "
            "where 0.11 is the least: use elements ≥ 6588",
        ),
        (
            {"false_accept": 1e-3, "at": 0.5, "bytes": 48, "recall": 0.99},
            "false_accept `0.001` at `0.5` with recall `0.99` at `0.8` is out of reach with 48 bytes, "
            "where 0.77 is the least: use bytes ≥ 2032",
        ),
        (
            {"false_accept": 1e-6, "at": 0.5, "bytes": 48, "elements": 64, "recall": 0.99},
            "false_accept `1e-06` at `0.5` with recall `0.99` at `0.8` is out of reach with 64 elements and 48 bytes",
        ),
        (
            {"false_accept": 1e-6, "at": 0.75, "recall": 0.99},
            "false_accept `1e-06` at `0.75` with recall `0.99` at `0.8` is out of reach of",
        ),
    ],
    ids=str,
)
def test_goals_that_cannot_be_met_say_what_stands_in_the_way(goal: dict, message: str):
    with pytest.raises(ParameterError) as error:
        la.design(**goal)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("k", range(1, 40))
def test_recall_just_out_of_reach_is_refused_and_just_within_is_not(k: int):
    recall = Filter(k, 1, 1).accept(0.3)
    assert la.design(0.3, recall - 1e-12, elements=k)
    with pytest.raises(ParameterError, match=f"use elements ≥ {k + 1}"):
        la.design(0.3, recall + 1e-12, elements=k)


@pytest.mark.parametrize("k", range(1, 40))
def test_recall_met_to_the_last_digit_is_answered_either_way(k: int):
    """Logarithms would put the edge elsewhere than the filter itself does, and advise what was given."""
    recall = Filter(k, 1, 1).accept(0.3)
    for asked in (math.nextafter(recall, 0), recall, math.nextafter(recall, 1)):
        refusal = ""
        try:
            la.design(0.3, asked, elements=k)
        except ParameterError as error:
            refusal = str(error)
        assert refusal == "" or f"use elements ≥ {k + 1}" in refusal


def test_what_a_refusal_advises_succeeds():
    assert la.design(0.05, 0.9999, elements=180)
    assert la.design(0.05, 0.3365, elements=8)
    assert la.design(recall=0.99, false_accept=1e-6, at=0.5, elements=6588)
    assert la.design(recall=0.99, false_accept=1e-3, at=0.5, bytes=2032)
    assert la.design(recall=0.99, false_accept=0.11, at=0.5)
    with pytest.raises(ParameterError):
        la.design(recall=0.99, false_accept=1e-6, at=0.5, elements=6587)


TRIALS = 40_000


def standard_error(p: float) -> float:
    return math.sqrt(p * (1 - p) / TRIALS)


@pytest.mark.parametrize(
    ("union", "shared", "accepted"),
    [(40, 31, 0.0053), (100, 77, 0.0044), (100, 98, 0.9998), (1000, 909, 0.4917), (1000, 975, 0.9916)],
)
def test_fast_sketch_accepts_as_another_simulation_found(union: int, shared: int, accepted: float):
    """Figures of an earlier, separate simulation; their own error comes on top and is not allowed for."""
    (found,) = PAPER.simulate(union, [shared], TRIALS, seed=11)
    assert abs(found - accepted) <= 4 * standard_error(accepted)


def test_fast_sketch_comes_close_to_the_formula_on_long_documents():
    shared = [8200, 8800, 9090, 9400, 9750]
    for count, found in zip(shared, PAPER.simulate(10_000, shared, 8_000, seed=5), strict=True):
        assert found == pytest.approx(PAPER.accept(count / 10_000), abs=4 * 0.5 / math.sqrt(8_000))


@pytest.mark.parametrize("union", curves.UNIONS)
@pytest.mark.parametrize("threshold", [0.6, 0.8, 0.9])
def test_fast_sketch_reaches_the_recall_that_the_formula_promises(union: int, threshold: float):
    found = la.design(threshold, 0.99)
    (accepted,) = found.filter.simulate(union, [round(union * threshold)], TRIALS, seed=3)
    assert accepted >= found.recall - 4 * standard_error(found.recall)


def test_simulation_is_the_same_twice_and_ascends():
    shared = [0, 10, 30, 40, 45, 50]
    first = PAPER.simulate(50, shared, 2000, seed=1)
    assert first == PAPER.simulate(50, shared, 2000, seed=1)
    assert first != PAPER.simulate(50, shared, 2000, seed=2)
    assert first == sorted(first)
    assert (first[0], first[-1]) == (0, 1)


def test_curve_leaves_out_what_so_few_shingles_cannot_have():
    made = curves.curve(PAPER, rho=(0.5, 0.975, 0.99), trials=200)
    assert [size.union for size in made.simulated] == [50, 100, 1000]
    missing = [[value is None for value in size.accepted] for size in made.simulated]
    assert missing == [[False, True, True], [False, True, False], [False, False, False]]
    assert made.formula == tuple(PAPER.accept(rho) for rho in (0.5, 0.975, 0.99))


def test_formula_is_the_curve_of_permutations():
    assert curves.curve(PAPER, "permutations").simulated == ()


def binomial(size: int, low: int, high: int, r: Fraction) -> Fraction:
    counts = range(max(low, 0), min(high, size) + 1)
    return sum((math.comb(size, k) * r**k * (1 - r) ** (size - k) for k in counts), Fraction(0))


def worst(size: int, error: Fraction) -> float:
    """The least chance over both sides of every place where a value enters or leaves ±error."""
    nudge = Fraction(1, 10**9)
    places = [
        Fraction(j, size) + sign * error + side * nudge for j in range(size + 1) for sign in (1, -1) for side in (1, -1)
    ]
    within = (
        binomial(size, math.ceil(size * (r - error)), math.floor(size * (r + error)), r) for r in places if 0 <= r <= 1
    )
    return float(min(within))


def test_paper_broder1997_no_pair_below_half_is_taken_for_nine_tenths():
    assert sketch_size.any_mistaken(100, 30_000_000) == pytest.approx(7.5e-4, rel=5e-3)
    assert sketch_size.mistaken(100) == pytest.approx(float(binomial(100, 91, 100, Fraction(1, 2))), rel=1e-12)
    # Ninety of a hundred is not above 90 %.
    assert sketch_size.mistaken(100) < float(binomial(100, 90, 100, Fraction(1, 2))) / 5


@pytest.mark.parametrize(("size", "r", "error"), [(100, "0.5", "0.05"), (100, "0.9", "0.05"), (40, "0.33", "0.1")])
def test_chance_within_the_error_matches_fractions(size: int, r: str, error: str):
    x, e = Fraction(r), Fraction(error)
    true = binomial(size, math.ceil(size * (x - e)), math.floor(size * (x + e)), x)
    assert sketch_size.within(size, float(r), float(error)) == pytest.approx(float(true), rel=1e-11)


@pytest.mark.parametrize("size", [7, 10, 20, 33])
@pytest.mark.parametrize("error", ["0.05", "0.1", "0.13", "0.2"])
def test_worst_resemblance_matches_enumeration(size: int, error: str):
    found, _ = sketch_size.worst_within(size, float(error))
    assert found == pytest.approx(worst(size, Fraction(error)), abs=1e-7)


@pytest.mark.parametrize(("error", "confidence"), [(0.2, 0.8), (0.15, 0.9), (0.1, 0.6), (0.13, 0.7)])
def test_sketch_is_the_smallest_that_will_do(error: float, confidence: float):
    sizes = range(1, 200)
    smallest = next(size for size in sizes if sketch_size.worst_within(size, error)[0] >= confidence)
    assert la.design_sketch(error, confidence).size == smallest


def test_sketch_for_a_twentieth_with_95_percent():
    found = la.design_sketch(error=0.05, confidence=0.95, documents=30_000_000)
    assert found.size == 390
    assert found.bytes == 3120
    assert found.worst >= 0.95 > sketch_size.worst_within(380, 0.05)[0]
    assert found.within(0.5) >= found.worst
    assert found.within(0.9) > found.within(0.8) > found.within(0.5)
    assert found.any_unlike_as_alike < 1e-40


def test_smallest_error_that_is_advised_can_be_had():
    assert la.design_sketch(0.0078).size <= MAX_ELEMENTS


def test_paper_broder1997_ids_of_40_bits_move_little():
    assert sketch_size.collision_error(1000, bits=40) == 1000 / 2**29
    assert sketch_size.collision_error(10, bits=8) == 1


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ({"error": 0.5}, "error `0.5` is out of range: use more than 0 and less than 0.5"),
        (
            {"error": 0.005},
            "error `0.005` with confidence `0.95` needs more than the 16384 elements of a sketch: use error ≥ 0.0078",
        ),
        ({"error": 1e-9}, "error `1e-09` with confidence `0.95` needs more than"),
        ({"confidence": 1}, "confidence `1` is out of range: use more than 0 and less than 1"),
        ({"documents": 0}, "documents `0` is out of range: use at least 1"),
    ],
)
def test_wrong_sketches_say_what_to_use(goal: dict, message: str):
    with pytest.raises(ParameterError) as error:
        la.design_sketch(**goal)
    assert str(error.value).startswith(message)


def test_look_takes_the_half_point_unless_told():
    assert solve.look(PAPER).threshold == PAPER.half
    assert solve.look(PAPER, 0.8).threshold == 0.8


def fewest(bits: int, distance: int, prefix: int, most: int) -> int | None:
    """The paper's X by trying all sequences of cuts, every choice of blocks in each, up to so many tables."""

    def choices(left: frozenset[int], blocks: int) -> list[frozenset[int]]:
        places, size = sorted(left, reverse=True), len(left)
        parts, start = [], 0
        for part in range(blocks):
            end = start + size // blocks + (part < size % blocks)
            parts.append(frozenset(places[start:end]))
            start = end
        return [frozenset().union(*chosen) for chosen in itertools.combinations(parts, blocks - distance)]

    everything = frozenset(range(bits))
    waiting: list[list[frozenset[int]]] = [[frozenset()]]
    found: list[int] = []
    while waiting:
        tables = waiting.pop()
        if min(map(len, tables)) >= prefix:
            found.append(len(tables))
            continue
        for blocks in range(distance + 1, bits + 1):
            if len(tables) * math.comb(blocks, distance) > most:
                break
            waiting.append([one | more for one in tables for more in choices(everything - one, blocks)])
    return min(found, default=None)


@pytest.mark.parametrize("distance", [1, 2, 3])
@pytest.mark.parametrize("prefix", [8, 16, 20, 25, 28, 31, 33, 40])
def test_paper_manku2007_fewest_tables_for_a_prefix_match_all_cuts(distance: int, prefix: int):
    expected = fewest(64, distance, prefix, 64)
    if expected is None:
        with pytest.raises(ParameterError, match=f"prefix `{prefix}` bits in every prefix need more than 64 tables"):
            la.design_tables(distance, 2**34, prefix=prefix)
        return
    chosen = la.design_tables(distance, 2**34, prefix=prefix).chosen
    assert len(chosen.tables) == expected
    assert all(bits >= prefix and radius == 0 for bits, radius in chosen.tables)


def test_paper_manku2007_example_3_1_by_prefix():
    found = {prefix: len(la.design(distance=3, prefix=prefix).chosen.tables) for prefix in (16, 25, 28, 31)}
    assert found == {16: 4, 25: 10, 28: 16, 31: 20}


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ({"prefix": 0}, "prefix `0` is out of range: use 1 to 64 leading bits"),
        ({"prefix": 65}, "prefix `65` is out of range"),
        ({"prefix": 28, "tables": 4}, "prefix and tables contradict each other"),
        ({"prefix": 28, "bytes": 4}, "prefix and bytes contradict each other"),
    ],
)
def test_prefixes_that_cannot_be_are_refused(goal: dict[str, int], message: str):
    with pytest.raises(ParameterError, match=message):
        la.design_tables(3, 1e6, **goal)
