"""``MinHash`` and ``LeanMinHash``: what datasketch documents of them holds here."""

from __future__ import annotations

import copy
import doctest
import math
import pickle
import random
import re
import struct
import zlib
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from lookalike import FormatError
from lookalike.compat.datasketch import LeanMinHash, MinHash

#: Four standard errors of an estimate from t coordinates, at most.
TOLERANCE = 4 * 0.5


def elements(start: int, end: int) -> list[bytes]:
    return [b"%d" % i for i in range(start, end)]


def made(start: int, end: int, **chosen: object) -> MinHash:
    minhash = MinHash(**chosen)  # type: ignore[arg-type]
    minhash.update_batch(elements(start, end))
    return minhash


def crc(data: bytes) -> int:
    return zlib.crc32(data)


@pytest.mark.parametrize(
    "module", ["datasketch.minhash", "datasketch.lean_minhash", "datasketch.lsh", "datasketch.disk", "simhash"]
)
def test_docstring_examples_run(module: str):
    result = doctest.testmod(import_module(f"lookalike.compat.{module}"))
    assert (result.attempted >= 1, result.failed) == (True, 0)


def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[2] / "docs" / "coming-from-datasketch.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 3
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)


# --- constructor ---


def test_a_new_minhash_has_128_values_and_no_elements():
    minhash = MinHash()
    assert (len(minhash), minhash.num_perm, minhash.seed, minhash.is_empty()) == (128, 128, 1, True)
    assert len(minhash.hashvalues) == len(minhash.digest()) == 128
    assert set(minhash.digest()) == {2**64 - 1}


@pytest.mark.parametrize("num_perm", [1, 2, 16, 333, 16384])
def test_num_perm_is_the_number_of_hash_values(num_perm: int):
    assert len(made(0, 5, num_perm=num_perm).hashvalues) == num_perm


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"num_perm": 0}, "num_perm `0`"),
        ({"num_perm": -1}, "num_perm `-1`"),
        ({"num_perm": 16385}, "use 1 to 16384"),
        ({"seed": -1}, "seed `-1`"),
        ({"seed": 2**32}, "use 0 to 4294967295"),
        ({"hashfunc": 3}, "hashfunc `3`"),
        ({"hashvalues": [1, -2]}, "from 0 to"),
        ({"hashvalues": [1, 2**64]}, "from 0 to"),
        ({"hashvalues": [1, 2**64 - 1]}, "contradict"),
        ({"hashvalues": []}, "num_perm `0`"),
        ({"num_perm": 4, "permutations": ([1, 2], [3, 4])}, "not 4 pairs"),
        ({"gpu_mode": "sometimes"}, "gpu_mode `sometimes`"),
        ({"scheme": "legacy"}, "scheme `legacy`"),
    ],
)
def test_what_cannot_be_made_is_a_value_error(chosen: dict[str, object], said: str):
    with pytest.raises(ValueError, match=said):
        MinHash(**chosen)  # type: ignore[arg-type]


def test_arguments_that_mean_nothing_here_are_accepted():
    plain = made(0, 50)
    for chosen in ({"gpu_mode": "detect"}, {"hashobj": object()}, {"scheme": "affine64"}, {"scheme": plain.scheme}):
        assert made(0, 50, **chosen) == plain
    with pytest.raises(RuntimeError, match="GPU"):
        MinHash(gpu_mode="always")


def test_the_greatest_seed_is_accepted():
    assert made(0, 5, seed=2**32 - 1) == made(0, 5, seed=2**32 - 1)
    assert made(0, 5, seed=0) == made(0, 5, seed=0)


def test_hash_values_of_another_are_a_start():
    old = made(0, 100, num_perm=64, seed=5)
    for values in (old.hashvalues, old.digest(), list(old.hashvalues), np.asarray(old.hashvalues)):
        new = MinHash(num_perm=1, seed=5, hashvalues=values, permutations=old.permutations)
        assert (new, new.num_perm, new.jaccard(old), new.is_empty()) == (old, 64, 1.0, False)
    new.update(b"another")
    old.update(b"another")
    assert new == old
    assert abs(new.count() / 101 - 1) < 4 / math.sqrt(64)
    assert MinHash(hashvalues=MinHash(num_perm=8).hashvalues).is_empty()


# --- update ---


def test_one_by_one_is_the_same_as_a_batch_in_any_order():
    one_by_one, batch = MinHash(), MinHash()
    shuffled = elements(0, 3000)
    random.Random(1).shuffle(shuffled)
    for element in shuffled:
        one_by_one.update(element)
    batch.update_batch(iter(elements(0, 3000)))
    assert one_by_one == batch
    one_by_one.update(b"7")
    assert one_by_one == batch


def test_updates_wait_in_a_list_that_stays_short():
    minhash = MinHash(num_perm=4)
    for element in elements(0, 5000):
        minhash.update(element)
        assert len(minhash._pending) < 1024


def test_an_update_is_seen_by_whatever_is_asked_next():
    for ask in (MinHash.digest, MinHash.count, MinHash.copy, bytes_of, MinHash.__getstate__):
        minhash = MinHash(num_perm=4)
        minhash.update(b"x")
        before = ask(minhash)
        minhash.update(b"y")
        assert ask(minhash) != before


def bytes_of(minhash: MinHash) -> bytes:
    return bytes(minhash.hashvalues)


def test_elements_are_bytes_or_have_some():
    plain, others = MinHash(), MinHash()
    plain.update_batch([b"ab", b"cd", np.int64(3).tobytes()])
    others.update_batch([bytearray(b"ab"), memoryview(b"cd"), np.int64(3)])
    assert plain == others
    for wrong in ("text", 5, None):
        with pytest.raises(TypeError):
            plain.update(wrong)
        with pytest.raises(TypeError):
            plain.update_batch([wrong])
    assert plain == others


def test_a_batch_that_fails_adds_nothing():
    minhash = made(0, 10)
    with pytest.raises(TypeError):
        minhash.update_batch([b"x", "y"])
    assert minhash == made(0, 10)


def test_a_hash_function_takes_what_it_likes():
    by_text, by_bytes = MinHash(hashfunc=lambda text: crc(text.encode())), MinHash(hashfunc=crc)
    by_text.update("rose")
    by_bytes.update(b"rose")
    assert by_text == by_bytes != made(0, 1)
    assert MinHash(hashfunc=crc).copy().hashfunc is crc


@pytest.mark.parametrize(
    ("found", "error"), [(-1, ValueError), (2**64, ValueError), (b"x", TypeError), (1.5, TypeError)]
)
def test_a_hash_function_returns_64_bits(found: object, error: type[Exception]):
    minhash = MinHash(hashfunc=lambda _: found)  # type: ignore[arg-type,return-value]
    with pytest.raises(error):
        minhash.update(b"x")
    assert minhash.is_empty()
    edges = MinHash(hashfunc=index_of)
    edges.update_batch([0, 2**64 - 1])
    assert edges.count() == 2


def index_of(value: int) -> int:
    return value


def test_a_seed_makes_another_family():
    assert made(0, 50, seed=2) == made(0, 50, seed=2)
    assert bytes_of(made(0, 50, seed=2)) != bytes_of(made(0, 50, seed=3)) != bytes_of(made(0, 50))


# --- jaccard, merge, union, copy, count ---


@pytest.mark.parametrize("seed", [0, 1, 42])
@pytest.mark.parametrize("shared", [0, 100, 500, 900, 1000])
def test_jaccard_estimates_the_resemblance(shared: int, seed: int):
    left, right = made(0, 1000, seed=seed), made(1000 - shared, 2000 - shared, seed=seed)
    found = left.jaccard(right)
    assert found == right.jaccard(left)
    assert abs(found - shared / (2000 - shared)) <= TOLERANCE / math.sqrt(128)


def test_jaccard_of_empty_sets_is_that_of_datasketch():
    assert MinHash().jaccard(MinHash()) == 1.0
    assert MinHash().jaccard(made(0, 5)) == made(0, 5).jaccard(MinHash()) == 0.0


def test_families_do_not_mix():
    minhash = made(0, 10)
    for other, said in ((made(0, 10, num_perm=64), "`128` and `64`"), (made(0, 10, seed=2), "seeds `1` and `2`")):
        for ask in (minhash.jaccard, minhash.merge, lambda other: MinHash.union(minhash, other)):
            with pytest.raises(ValueError, match=said):
                ask(other)
    assert minhash == made(0, 10)


def test_merge_and_union_are_the_sketch_of_both():
    left, right, both = made(0, 600), made(400, 1000), made(0, 1000)
    united = MinHash.union(left, right, made(0, 1))
    assert (type(united), united) == (MinHash, both)
    assert left == made(0, 600)
    left.merge(right)
    assert left == both
    left.merge(MinHash())
    assert left == both
    for few in ((), (left,)):
        with pytest.raises(ValueError, match="at least two"):
            MinHash.union(*few)


def test_a_copy_is_its_own():
    first = made(0, 10)
    for twin in (first.copy(), copy.copy(first), copy.deepcopy(first)):
        assert (type(twin), twin) == (MinHash, first)
        twin.update(b"new")
        assert twin != first == made(0, 10)


def test_the_digest_stays_as_it_was():
    minhash = made(0, 10)
    digest = minhash.digest()
    before = list(digest)
    minhash.update(b"new")
    assert list(digest) == before != list(minhash.digest())


@pytest.mark.parametrize("count", [0, 1, 2, 30, 5000])
def test_count_estimates_the_elements(count: int):
    minhash = MinHash()
    for element in elements(0, count):
        minhash.update(element)
    _ = minhash.copy().merge(made(0, 1))
    assert abs(minhash.count() - count) <= 4 * count / math.sqrt(128)
    stored = MinHash(hashvalues=minhash.hashvalues)
    assert abs(stored.count() - count) <= 4 * count / math.sqrt(128)


def test_clear_forgets_everything_but_the_family():
    minhash = MinHash(num_perm=32, seed=4, hashfunc=crc)
    minhash.update(b"x")
    minhash.clear()
    assert minhash.is_empty()
    assert (minhash.num_perm, minhash.seed, minhash.hashfunc) == (32, 4, crc)
    assert minhash == MinHash(num_perm=32, seed=4)


def test_bulk_and_generator_make_many():
    sets = [elements(0, 5), [], elements(3, 9)]
    bulk = MinHash.bulk(sets, num_perm=16, seed=3, hashfunc=crc)
    assert bulk == list(MinHash.generator(iter(sets), num_perm=16, seed=3, hashfunc=crc))
    assert bulk[0] == made(0, 5, num_perm=16, seed=3, hashfunc=crc)
    assert bulk[1].is_empty()
    assert MinHash.bulk([]) == []


def test_equality_looks_at_family_and_values():
    minhash = made(0, 10)
    assert minhash == made(0, 10)
    assert minhash != made(0, 11)
    assert minhash != made(0, 10, num_perm=64)
    assert MinHash() != MinHash(seed=2)
    assert minhash != "something else"
    assert minhash != LeanMinHash(minhash)
    with pytest.raises(TypeError, match="unhashable"):
        hash(minhash)


def test_a_minhash_pickles():
    minhash = made(0, 10, num_perm=32, seed=9, hashfunc=crc)
    minhash.update(b"pending")
    twin = pickle.loads(pickle.dumps(minhash))
    assert (twin, twin.seed, twin.num_perm, twin.hashfunc) == (minhash, 9, 32, crc)
    twin.update(b"x")
    minhash.update(b"x")
    assert twin == minhash


def test_the_sketch_inside_has_an_interval():
    estimate = made(0, 100).sketch.resemblance(made(50, 150).sketch)
    assert estimate is not None
    assert estimate.low <= 1 / 3 <= estimate.high
    assert repr(MinHash(num_perm=7)) == "<MinHash of 7 hash values, seed 1>"


# --- lean ---


def test_a_lean_one_is_made_of_a_minhash_or_its_values():
    minhash = made(0, 100, num_perm=64, seed=3)
    lean = LeanMinHash(minhash)
    assert lean == LeanMinHash(seed=3, hashvalues=minhash.hashvalues) == LeanMinHash(lean) == lean.copy()
    assert (len(lean), lean.seed, isinstance(lean, MinHash)) == (64, 3, True)
    assert lean.jaccard(minhash) == minhash.jaccard(lean) == 1.0
    assert MinHash(seed=lean.seed, hashvalues=lean.hashvalues) == minhash
    assert lean.count() == pytest.approx(100, rel=0.5)
    for missing in ({}, {"seed": 1}, {"hashvalues": [1, 2]}):
        with pytest.raises(ValueError, match="a LeanMinHash is made of"):
            LeanMinHash(**missing)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="scheme"):
        LeanMinHash(minhash, scheme="legacy")


def test_a_lean_one_takes_no_more_elements():
    minhash = made(0, 10)
    lean = LeanMinHash(minhash)
    for ask in (lean.update, lean.update_batch):
        with pytest.raises(TypeError, match="no more elements"):
            ask(b"x")
    minhash.update(b"x")
    assert lean == LeanMinHash(made(0, 10))


def test_lean_ones_are_hashable():
    same = {LeanMinHash(made(0, 10)), LeanMinHash(made(0, 10)), LeanMinHash(made(0, 10, seed=2))}
    assert len(same) == 2


def test_the_union_of_lean_ones_is_lean():
    united = LeanMinHash.union(LeanMinHash(made(0, 60)), LeanMinHash(made(50, 100)))
    assert united == LeanMinHash(made(0, 100))
    with pytest.raises(ValueError, match="at least two"):
        LeanMinHash.union(united)


@pytest.mark.parametrize("byteorder", ["@", "=", "<", ">", "!"])
def test_lean_ones_go_into_buffers_of_any_byte_order(byteorder: str):
    several = [LeanMinHash(made(i, i + 20, num_perm=16, seed=2**32 - 1)) for i in range(3)]
    several.append(LeanMinHash(MinHash(num_perm=16)))
    size = several[0].bytesize(byteorder)
    buffer = bytearray(size * len(several))
    for i, lean in enumerate(several):
        lean.serialize(memoryview(buffer)[i * size :], byteorder)
    found = [LeanMinHash.deserialize(memoryview(buffer)[i * size :], byteorder) for i in range(len(several))]
    assert found == several
    assert LeanMinHash.deserialize(bytes(buffer), byteorder) == several[0]


def test_the_bytes_are_seed_count_mark_and_values():
    lean = LeanMinHash(made(0, 5, num_perm=3, seed=7))
    buffer = bytearray(lean.bytesize("<"))
    lean.serialize(buffer, "<")
    assert len(buffer) == 8 + 4 + 1 + 3 * 8
    assert bytes(buffer) == struct.pack("<qib3Q", 7, -3, ord("L"), *lean.hashvalues)


def test_bytes_that_are_no_lean_one_are_refused():
    lean = LeanMinHash(made(0, 5, num_perm=3))
    buffer = bytearray(lean.bytesize("<"))
    lean.serialize(buffer, "<")
    with pytest.raises(ValueError, match="give one of 37 bytes"):
        lean.serialize(bytearray(36), "<")
    for cut in (0, 5, 12, 13, 36):
        with pytest.raises(FormatError, match="cut off"):
            LeanMinHash.deserialize(buffer[:cut], "<")
    for foreign in (struct.pack("<qib3I", 1, -3, 1, 1, 2, 3), struct.pack("<qi3I", 1, 3, 1, 2, 3)):
        with pytest.raises(FormatError, match="not a LeanMinHash of this package"):
            LeanMinHash.deserialize(foreign, "<")
    with pytest.raises(ValueError, match="seed `-1`"):
        LeanMinHash.deserialize(struct.pack("<qib1Q", -1, -1, ord("L"), 5), "<")


def test_a_lean_one_pickles():
    lean = LeanMinHash(made(0, 10, seed=9))
    twin = pickle.loads(pickle.dumps(lean))
    assert (type(twin), twin, hash(twin)) == (LeanMinHash, lean, hash(lean))
