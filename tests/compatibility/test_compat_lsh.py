"""``MinHashLSH``: what datasketch documents of it holds here."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Hashable

import pytest

from lookalike.compat.datasketch import LeanMinHash, MinHash, MinHashLSH
from lookalike.compat.datasketch.lsh import best_bands


def made(*words: str, num_perm: int = 128, seed: int = 1) -> MinHash:
    minhash = MinHash(num_perm=num_perm, seed=seed)
    minhash.update_batch(word.encode() for word in words)
    return minhash


def family(count: int, changed: int) -> list[MinHash]:
    """Return sketches of sets of 100 elements; each differs from the first in ``changed`` elements of its own."""
    base = [f"common {i}" for i in range(100)]
    return [made(*base[: 100 - changed], *(f"own {i} {j}" for j in range(changed))) for i in range(count)]


# --- parameters ---


@pytest.mark.parametrize(
    ("threshold", "num_perm", "expected"),
    [(0.9, 128, (5, 25)), (0.5, 128, (25, 5)), (0.8, 128, (9, 13)), (0.5, 256, (42, 6)), (0.1, 64, (15, 1))],
)
def test_bands_are_those_that_datasketch_chooses(threshold: float, num_perm: int, expected: tuple[int, int]):
    lsh = MinHashLSH(threshold, num_perm)
    assert (lsh.b, lsh.r, lsh.h, lsh.threshold) == (*expected, num_perm, threshold)


@pytest.mark.parametrize(("threshold", "weights"), [(0.3, (0.5, 0.5)), (0.7, (0.2, 0.8)), (0.85, (0.9, 0.1))])
def test_the_best_bands_match_naive(threshold: float, weights: tuple[float, float]):
    """By sums over a fine grid, as the definition says."""
    steps = 4000

    def cost(b: int, r: int) -> float:
        missed = [(1 - ((i + 0.5) / steps) ** r) ** b for i in range(steps)]
        edge = round(threshold * steps)
        return weights[0] * sum(1 - one for one in missed[:edge]) + weights[1] * sum(missed[edge:])

    num_perm = 24
    pairs = [(b, r) for b in range(1, num_perm + 1) for r in range(1, num_perm // b + 1)]
    assert best_bands(threshold, num_perm, *weights) == min(pairs, key=lambda pair: cost(*pair))


def test_more_weight_on_misses_gives_more_bands():
    assert MinHashLSH(0.8, weights=(0.1, 0.9)).b > MinHashLSH(0.8).b > MinHashLSH(0.8, weights=(0.9, 0.1)).b


def test_params_stand_above_the_threshold():
    lsh = MinHashLSH(threshold=0.9, params=(16, 8))
    assert (lsh.b, lsh.r) == (16, 8)
    assert lsh.hashranges == [(8 * i, 8 * i + 8) for i in range(16)]


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"threshold": -0.1}, "threshold `-0.1`"),
        ({"threshold": 1.1}, "threshold `1.1`"),
        ({"num_perm": 1}, "num_perm `1`"),
        ({"weights": (0.5, 0.6)}, "weights"),
        ({"weights": (-0.5, 1.5)}, "weights"),
        ({"weights": (1.0,)}, "weights"),
        ({"params": (1, 8)}, "`1` band is too few"),
        ({"threshold": 0.99}, "`1` band is too few"),
        ({"params": (2, 0)}, "do not fit"),
        ({"params": (3, 43)}, "at most num_perm, which is 128"),
        ({"params": (3, 4, 5)}, "unpack"),
        ({"storage_config": {"type": "redis"}}, "storage `redis`"),
    ],
)
def test_what_cannot_be_an_index_is_a_value_error(chosen: dict[str, object], said: str):
    with pytest.raises(ValueError, match=said):
        MinHashLSH(**chosen)  # type: ignore[arg-type]


def test_edges_of_parameters_are_accepted():
    assert MinHashLSH(threshold=0.0).b > 1
    assert MinHashLSH(num_perm=2, params=(2, 1)).r == 1
    assert MinHashLSH(params=(2, 64), storage_config={"type": "dict"}, prepickle=True).b == 2


# --- insert and query ---


def test_a_query_finds_what_is_alike_and_nothing_else():
    lsh = MinHashLSH(threshold=0.5)
    assert lsh.is_empty()
    near, far = family(20, 5), [made(*(f"far {i} {j}" for j in range(100))) for i in range(200)]
    for i, minhash in enumerate(near):
        lsh.insert(i, minhash)
    for i, minhash in enumerate(far):
        lsh.insert(f"far {i}", minhash)
    assert not lsh.is_empty()
    for minhash in near:
        assert sorted(lsh.query(minhash)) == list(range(20))
    assert lsh.query(far[7]) == ["far 7"]
    assert lsh.query(made("nobody")) == []


def test_the_answer_is_that_of_the_bands():
    """Against all keys, band by band."""
    rng, lsh = random.Random(5), MinHashLSH(num_perm=32, params=(8, 4))
    sets = [made(*(str(rng.randrange(30)) for _ in range(20)), num_perm=32) for _ in range(150)]
    for key, minhash in enumerate(sets):
        lsh.insert(key, minhash)

    def alike(left: MinHash, right: MinHash, b: int) -> bool:
        return any(list(left.digest()[4 * i : 4 * i + 4]) == list(right.digest()[4 * i : 4 * i + 4]) for i in range(b))

    for query in sets:
        expected = {key for key, one in enumerate(sets) if alike(query, one, 8)}
        assert set(lsh.query(query)) == expected
        assert len(lsh.query(query)) == len(expected)
        assert lsh._query_b(query, 3) == {key for key, one in enumerate(sets) if alike(query, one, 3)}
        assert lsh._query_b(query, 8) == expected
    with pytest.raises(ValueError, match="use at most 8"):
        lsh._query_b(sets[0], 9)


def test_keys_in_one_bucket_come_in_the_order_of_insertion():
    lsh = MinHashLSH(params=(2, 1))
    keys = [9, "b", (1, 2), None, b"c"]
    for key in keys:
        lsh.insert(key, made("rose"))
    assert lsh.query(made("rose")) == keys


@pytest.mark.parametrize("key", ["text", b"bytes", 7, -1, 2.5, None, ("a", 1), frozenset({1}), True])
def test_keys_are_anything_hashable(key: Hashable):
    lsh = MinHashLSH()
    lsh.insert(key, made("a"))
    assert lsh.query(made("a")) == [key]
    assert key in lsh
    lsh.remove(key)
    assert key not in lsh
    assert lsh.is_empty()


def test_a_key_that_cannot_be_hashed_is_a_type_error():
    lsh = MinHashLSH()
    with pytest.raises(TypeError, match="unhashable"):
        lsh.insert(["a"], made("a"))  # type: ignore[arg-type]
    assert lsh.is_empty()


def test_a_key_is_inserted_once_unless_duplicates_are_allowed():
    lsh = MinHashLSH()
    lsh.insert("a", made("one"))
    with pytest.raises(ValueError, match="key `'a'` is in the index already"):
        lsh.insert("a", made("two"))
    assert lsh.query(made("two")) == []
    lsh.insert("a", made("two"), check_duplication=False)
    assert lsh.query(made("one")) == lsh.query(made("two")) == ["a"]
    lsh.remove("a")
    assert lsh.query(made("one")) == lsh.query(made("two")) == []
    assert lsh.get_counts() == [{}] * lsh.b


def test_sketches_of_another_family_are_refused():
    lsh = MinHashLSH()
    other = MinHashLSH()
    other.insert("b", made("b", seed=2))
    for ask in (lsh.query, lambda minhash: lsh.insert("a", minhash), lsh.add_to_query_buffer):
        with pytest.raises(ValueError, match="has 64 hash values, those of this index have 128"):
            ask(made("a", num_perm=64))
    lsh.insert("a", made("a"))
    for ask in (lsh.query, lambda minhash: lsh.insert("b", minhash)):
        with pytest.raises(ValueError, match="has seed `2`, those of this index have `1`"):
            ask(made("a", seed=2))
    with pytest.raises(ValueError, match="seeds `1` and `2`"):
        lsh.merge(other)
    assert list(lsh.keys) == ["a"]


def test_empty_sets_find_each_other():
    lsh = MinHashLSH()
    lsh.insert("empty", MinHash())
    lsh.insert("full", made("a"))
    assert lsh.query(MinHash()) == ["empty"]
    assert lsh.query_with_scores(MinHash()) == [("empty", 1.0)]


def test_lean_ones_go_in_and_ask():
    lsh = MinHashLSH()
    lsh.insert("lean", LeanMinHash(made("a")))
    assert lsh.query(made("a")) == lsh.query(LeanMinHash(made("a"))) == ["lean"]


def test_later_updates_do_not_change_the_index():
    minhash = made("a")
    lsh = MinHashLSH()
    lsh.insert("a", minhash)
    minhash.update(b"b")
    assert lsh.query(made("a")) == ["a"]
    assert lsh.query_with_scores(made("a")) == [("a", 1.0)]


def test_scores_are_the_estimates_and_come_best_first():
    lsh = MinHashLSH(threshold=0.2)
    sets = {changed: family(1, changed)[0] for changed in (30, 0, 10, 20)}
    for changed, minhash in sets.items():
        lsh.insert(changed, minhash)
    scored = lsh.query_with_scores(sets[0])
    assert scored == [(changed, sets[0].jaccard(sets[changed])) for changed in (0, 10, 20, 30)]
    least = scored[1][1]
    assert lsh.query_with_scores(sets[0], min_score=least) == scored[:2]


def test_the_score_of_a_key_with_two_sketches_is_the_better_one():
    lsh = MinHashLSH(threshold=0.2)
    near, far = family(1, 0)[0], family(1, 20)[0]
    lsh.insert("a", near)
    lsh.insert("a", far, check_duplication=False)
    assert lsh.query_with_scores(near) == lsh.query_with_scores(far) == [("a", 1.0)]


def test_a_buffer_of_queries_gives_what_all_of_them_find():
    lsh = MinHashLSH(params=(128, 1))
    lsh.insert("ab", made("a", "b"))
    lsh.insert("a", made("a"))
    lsh.insert("b", made("b"))
    assert lsh.collect_query_buffer() == []
    lsh.add_to_query_buffer(made("a"))
    lsh.add_to_query_buffer(made("b"))
    assert lsh.collect_query_buffer() == ["ab"]
    assert lsh.collect_query_buffer() == []
    lsh.add_to_query_buffer(made("a"))
    assert lsh.collect_query_buffer() == ["ab", "a"]


def test_a_hash_function_shortens_the_bands():
    lsh = MinHashLSH(hashfunc=lambda band: band[:3])
    lsh.insert("a", made("a"))
    assert lsh.query(made("a")) == ["a"]
    assert {len(band) for table in lsh.get_counts() for band in table} == {3}
    assert lsh.get_subset_counts("a") == lsh.get_counts()


# --- remove, sessions, merge, counts, pickle ---


def test_remove_takes_a_key_out_of_every_table():
    lsh = MinHashLSH(threshold=0.5)
    near = family(10, 5)
    for i, minhash in enumerate(near):
        lsh.insert(i, minhash)
    lsh.remove(3)
    assert 3 not in lsh
    assert sorted(lsh.query(near[3])) == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    with pytest.raises(ValueError, match="key `3` is not in the index"):
        lsh.remove(3)
    lsh.insert(3, near[3])
    assert 3 in lsh.query(near[0])
    for i in range(10):
        lsh.remove(i)
    assert lsh.is_empty()
    assert lsh.get_counts() == [{}] * lsh.b


def test_sessions_insert_and_remove():
    near, lsh = family(5, 5), MinHashLSH(threshold=0.5)
    with lsh.insertion_session(buffer_size=10) as session:
        for i, minhash in enumerate(near):
            session.insert(i, minhash)
        with pytest.raises(ValueError, match="already"):
            session.insert(0, near[0])
        session.insert(0, near[0], check_duplication=False)
    assert sorted(lsh.query(near[0])) == [0, 1, 2, 3, 4]
    with lsh.deletion_session() as leaving:
        leaving.remove(0)
        with pytest.raises(ValueError, match="not in the index"):
            leaving.remove(0)
    assert sorted(lsh.query(near[0])) == [1, 2, 3, 4]


def test_an_error_inside_a_session_comes_out():
    lsh = MinHashLSH()
    session = lsh.insertion_session()
    session.insert("a", made("a"))
    with pytest.raises(RuntimeError, match="mine"), session:
        raise RuntimeError("mine")
    assert "a" in lsh


def test_merge_takes_everything_of_another_index():
    left, right = MinHashLSH(threshold=0.5), MinHashLSH(threshold=0.5)
    near = family(4, 5)
    for i, minhash in enumerate(near):
        (left if i < 2 else right).insert(i, minhash)
    left.merge(right)
    assert sorted(left.query(near[0])) == [0, 1, 2, 3]
    assert sorted(right.query(near[0])) == [2, 3]
    with pytest.raises(ValueError, match="keys in common"):
        left.merge(right, check_overlap=True)
    with pytest.raises(ValueError, match="num_perm or bands"):
        left.merge(MinHashLSH(threshold=0.8))
    with pytest.raises(ValueError, match="`int`"):
        left.merge(3)  # type: ignore[arg-type]
    empty = MinHashLSH(threshold=0.5)
    empty.merge(left)
    with pytest.raises(ValueError, match="seed `2`"):
        empty.query(made("a", seed=2))


def test_counts_tell_how_full_buckets_are():
    lsh = MinHashLSH(params=(4, 32))
    for key, words in {"a": ["x"], "b": ["x"], "c": ["y"]}.items():
        lsh.insert(key, made(*words))
    assert [sorted(table.values()) for table in lsh.get_counts()] == [[1, 2]] * 4
    assert [sorted(table.values()) for table in lsh.get_subset_counts("a", "c", "a")] == [[1, 1]] * 4
    assert lsh.get_subset_counts("unknown") == [{}] * 4


@pytest.mark.parametrize("twin_of", [lambda lsh: pickle.loads(pickle.dumps(lsh)), copy.deepcopy])
def test_an_index_pickles(twin_of):
    lsh = MinHashLSH(threshold=0.5, weights=(0.4, 0.6))
    near = family(10, 5)
    for i, minhash in enumerate(near):
        lsh.insert(("key", i), minhash)
    lsh.insert(("key", 0), made("other"), check_duplication=False)
    twin = twin_of(lsh)
    assert twin.get_counts() == lsh.get_counts()
    assert twin.query(near[0]) == lsh.query(near[0])
    assert twin.query_with_scores(near[0]) == lsh.query_with_scores(near[0])
    twin.remove(("key", 0))
    assert ("key", 0) in lsh
    assert twin.query(made("other")) == []
    with pytest.raises(ValueError, match="seed"):
        twin.insert("x", made("a", seed=2))


def test_an_index_tells_what_it_is():
    assert repr(MinHashLSH()) == "<MinHashLSH of 0 keys, 5 bands of 25 hash values>"
