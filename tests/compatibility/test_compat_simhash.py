"""``Simhash`` and ``SimhashIndex``: what the package simhash documents of them holds here."""

from __future__ import annotations

import copy
import hashlib
import pickle
import random
import re
from collections import Counter

import pytest

import lookalike as la
from lookalike.compat.simhash import Simhash, SimhashIndex, votes

TEXT = "How are you? I AM fine. blar blar blar blar blar Thanks."


def flipped(value: int, bits: int, f: int, rng: random.Random) -> int:
    for bit in rng.sample(range(f), bits):
        value ^= 1 << bit
    return value


# --- fingerprints ---


def test_texts_that_differ_little_are_near():
    other = Simhash(TEXT.replace("Thanks", "thank"))
    assert Simhash(TEXT).distance(other) < 16 < Simhash(TEXT).distance(Simhash("This is something else."))
    assert Simhash(TEXT).distance(Simhash(TEXT)) == 0


def test_a_text_is_its_runs_of_four_letters():
    letters = re.sub(r"\W", "", TEXT.lower())
    runs = Counter(letters[i : i + 4] for i in range(len(letters) - 3))
    assert Simhash(TEXT) == Simhash(runs) == Simhash(list(runs.items())) == Simhash(list(runs.elements()))
    assert Simhash("ab") == Simhash(["ab"])
    assert Simhash("") == Simhash("?!") == Simhash([""])
    assert Simhash("ab 12", reg="[a-z]+") == Simhash("ab", reg=re.compile("[a-z]+"))
    assert Simhash("你好，世界") == Simhash("你好世界")


def test_64_bits_are_those_of_our_own_features():
    assert Simhash([("rose", 2.0), ("is", 1.0)]).value == la.simhash(features={"rose": 2.0, "is": 1.0})


def test_numbers_and_fingerprints_are_taken_as_they_are():
    assert Simhash(5).value == Simhash(Simhash(5)).value == 5
    assert Simhash(2**64 - 1).distance(Simhash(0)) == 64
    assert Simhash(2**100, f=128).value == 2**100
    for value in (-1, 2**64):
        with pytest.raises(ValueError, match="does not fit into f = 64 bits"):
            Simhash(value)


def test_no_features_give_zero():
    assert Simhash([]).value == Simhash({}).value == Simhash([], f=32).value == 0


def test_weights_of_any_size_keep_their_ratio():
    assert Simhash({"a": 1_000_000, "b": 1}) == Simhash({"a": 1})
    assert Simhash({"a": 3e6, "b": 2e6, "c": 2e6}) == Simhash({"a": 3, "b": 2, "c": 2})
    assert Simhash({"a": 32_767, "b": 1}) == Simhash({"a": 1})


@pytest.mark.parametrize("f", [8, 32, 64, 128, 1024])
def test_every_multiple_of_eight_is_a_width(f: int):
    made = Simhash(TEXT, f=f)
    assert (made.f, made.value.bit_length() <= f) == (f, True)
    assert made.distance(Simhash(TEXT, f=f)) == 0


@pytest.mark.parametrize("f", [0, -8, 12])
def test_other_widths_are_refused(f: int):
    with pytest.raises(ValueError, match=f"f `{f}`"):
        Simhash("a", f=f)


def test_widths_do_not_mix():
    with pytest.raises(ValueError, match="64 and 32 bits"):
        Simhash("a").distance(Simhash("a", f=32))


def naive_votes(digests: list[tuple[bytes, float]], count: int) -> int:
    value = 0
    for bit in range(8 * count):
        signs = (weight if int.from_bytes(one, "big") >> bit & 1 else -weight for one, weight in digests)
        value |= (sum(signs) > 0) << bit
    return value


@pytest.mark.parametrize("count", [1, 4, 16])
def test_votes_match_naive(count: int):
    rng = random.Random(3)
    for features in (1, 2, 7, 300):
        digests = [(rng.randbytes(count), float(rng.randrange(-3, 9))) for _ in range(features)]
        assert votes(digests, count) == naive_votes(digests, count)


def test_a_hash_function_returns_bytes_or_a_number():
    def md5(data: bytes) -> bytes:
        return hashlib.md5(data).digest()

    by_bytes = Simhash(TEXT, hashfunc=md5)
    assert by_bytes == Simhash(TEXT, hashfunc=lambda data: int.from_bytes(md5(data), "big")) != Simhash(TEXT)
    assert Simhash(["a"], hashfunc=md5).value == int.from_bytes(md5(b"a")[-8:], "big")
    with pytest.raises(ValueError, match="returned 16 bytes: f = 256 bits need 32"):
        Simhash(TEXT, f=256, hashfunc=md5)


@pytest.mark.parametrize("wrong", [3.5, None, [1, 2], b"bytes"])
def test_what_has_no_fingerprint_is_a_type_error(wrong: object):
    with pytest.raises(TypeError):
        Simhash(wrong)  # type: ignore[arg-type]


def test_fingerprints_are_equal_by_value():
    assert Simhash("a") == Simhash("a") != Simhash("b")
    assert Simhash(5) != 5
    assert pickle.loads(pickle.dumps(Simhash("a"))) == Simhash("a")
    assert repr(Simhash(255, f=16)) == "Simhash(0x00ff, f=16)"


# --- index ---


def test_names_come_back_as_documented():
    texts = {"1": TEXT, "2": TEXT.replace("Thanks", "than"), "3": "This is simhash test."}
    index = SimhashIndex([(name, Simhash(text)) for name, text in texts.items()], k=16)
    assert index.get_near_dups(Simhash(TEXT)) == ["1", "2"]
    assert index.bucket_size() == 3
    index.add("4", Simhash(TEXT))
    assert index.get_near_dups(Simhash(TEXT)) == ["1", "4", "2"]
    assert index.bucket_size() == 3


@pytest.mark.parametrize(
    ("f", "k"), [(64, 0), (64, 2), (64, 3), (64, 10), (64, 12), (32, 3), (128, 3), (128, 10), (8, 8)]
)
def test_every_fingerprint_within_k_is_found_and_no_other(f: int, k: int):
    rng = random.Random(f * k)
    centres = [rng.getrandbits(f) for _ in range(10)]
    values = [flipped(rng.choice(centres), rng.randrange(min(k + 3, f)), f, rng) for _ in range(400)]
    index = SimhashIndex(enumerate(Simhash(value, f=f) for value in values[:200]), f=f, k=k)
    for i, value in enumerate(values[200:], 200):
        index.add(i, Simhash(value, f=f))
    gone = set(rng.sample(range(400), 100))
    for i in gone:
        index.delete(i, Simhash(values[i], f=f))
    assert index.bucket_size() == len({values[i] for i in range(400) if i not in gone})
    for query in (*centres, *values[:50]):
        distances = {i: (values[i] ^ query).bit_count() for i in range(400) if i not in gone}
        found = index.get_near_dups(Simhash(query, f=f))
        assert sorted(found) == [i for i, distance in sorted(distances.items()) if distance <= k]
        assert [distances[i] for i in found] == sorted(distances[i] for i in found)


def test_a_pair_is_added_once_and_deleted_once():
    index = SimhashIndex([("a", Simhash(1)), ("a", Simhash(1)), ("a", Simhash(3))], k=1)
    assert index.get_near_dups(Simhash(1)) == ["a"]
    assert index.bucket_size() == 2
    index.delete("a", Simhash(1))
    assert index.get_near_dups(Simhash(1)) == ["a"]
    index.delete("a", Simhash(3))
    assert index.get_near_dups(Simhash(1)) == []
    assert index.bucket_size() == 0


def test_deleting_what_is_not_there_does_nothing():
    index = SimhashIndex([("a", Simhash(1)), ("b", Simhash(1))], k=1)
    index.delete("c", Simhash(1))
    index.delete("a", Simhash(7))
    assert index.get_near_dups(Simhash(1)) == ["a", "b"]
    index.delete("a", Simhash(1))
    assert index.get_near_dups(Simhash(1)) == ["b"]


def test_ends_that_agree_are_told_apart():
    """128 bits: the table knows the last 64 only."""
    index = SimhashIndex([("a", Simhash(5, f=128)), ("b", Simhash(5 | 7 << 64, f=128))], f=128, k=2)
    assert index.get_near_dups(Simhash(5, f=128)) == ["a"]
    index.delete("a", Simhash(5, f=128))
    assert index.get_near_dups(Simhash(5, f=128)) == []
    assert index.get_near_dups(Simhash(5 | 3 << 64, f=128)) == ["b"]


def test_an_index_refuses_other_widths_and_distances():
    index = SimhashIndex([], k=2)
    for ask in (index.get_near_dups, lambda one: index.add("a", one), lambda one: index.delete("a", one)):
        with pytest.raises(ValueError, match="64 and 32 bits"):
            ask(Simhash("a", f=32))
    with pytest.raises(ValueError, match="k `-1`"):
        SimhashIndex([], k=-1)


@pytest.mark.parametrize("k", [2, 20])
@pytest.mark.parametrize("twin_of", [lambda index: pickle.loads(pickle.dumps(index)), copy.deepcopy])
def test_an_index_pickles(twin_of, k: int):
    index = SimhashIndex([("a", Simhash(1)), ("b", Simhash(3))], k=k)
    twin = twin_of(index)
    assert twin.get_near_dups(Simhash(1)) == index.get_near_dups(Simhash(1)) == ["a", "b"]
    twin.delete("a", Simhash(1))
    assert twin.get_near_dups(Simhash(1)) == ["b"]
    assert index.bucket_size() == 2
    assert repr(twin) == f"<SimhashIndex of 1 fingerprints, f = 64, k = {k}>"
