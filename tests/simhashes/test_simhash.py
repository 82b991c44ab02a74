"""Simhash: against a reference written from FORMAT.md, on every script; and what a fingerprint promises."""

from __future__ import annotations

import random
from itertools import pairwise
from statistics import mean

import pytest

import lookalike as la
from lookalike import _core
from oracles.arithmetic import mix64
from oracles.simhashes import of_text
from oracles.simhashes import simhash as oracle_of

SCRIPTS = {
    "latin": "It was a bright cold day in April, and the clocks were striking thirteen.",
    "german": "Die Würde des Menschen ist unantastbar; sie zu achten ist Verpflichtung. Straße, ẞ!",
    "greek": "Άνδρα μοι ἔννεπε, Μοῦσα, πολύτροπον, ὃς μάλα πολλὰ πλάγχθη",
    "russian": "Все счастливые семьи похожи друг на друга, каждая несчастлива по-своему.",
    "chinese": "人人生而自由,在尊严和权利上一律平等。",
    "japanese": "すべての人間は、生まれながらにして自由であり、カタカナも読めます。",
    "korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "arabic": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.",
    "hebrew": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.",
    "hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है।",
    "thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
    "emoji": "👩‍👩‍👧 1️⃣ ❤️ ２３ 𝐛𝐨𝐥𝐝 ﬁne",
}


def distance(left: int | None, right: int | None) -> int:
    assert left is not None
    assert right is not None
    return (left ^ right).bit_count()


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("unit", ["character", "word", "line"])
def test_every_script_matches_the_reference(script: str, unit: str):
    text = SCRIPTS[script] + "\n" + SCRIPTS[script][::-1]
    assert la.simhash(text, unit=unit) == of_text(text, unit)


def test_scripts_have_distinct_fingerprints_far_from_each_other():
    made = [la.simhash(text) for text in SCRIPTS.values()]
    assert len(set(made)) == len(SCRIPTS)
    texts = [
        "人人生而自由,在尊严和权利上一律平等。", "天下大势,分久必合,合久必分。",
        "يولد جميع الناس أحرارًا متساوين", "كان يا ما كان في قديم الزمان",
        "มนุษย์ทั้งหลายเกิดมามีอิสระ", "กาลครั้งหนึ่งนานมาแล้ว",
    ]  # fmt: skip
    made = [la.simhash(text) for text in texts]
    assert min(distance(a, b) for i, a in enumerate(made) for b in made[:i]) > 8


def test_the_vectors_of_the_format_hold():
    assert f"{mix64(0xBB67AE8584CAA73B):016x}" == "86fa59fa943fe6f8"
    assert f"{la.simhash('a rose is a rose is a rose'):016x}" == "b93806ffb59f62c9"


def test_shingles_are_features_too():
    text = SCRIPTS["latin"]
    tokens = list(la.stream(text, unit="word").tokens)
    assert la.simhash(text, shingle=1) == la.simhash(text)
    assert la.simhash(text, shingle=2) not in (None, la.simhash(text))
    assert la.simhash(text, shingle=len(tokens)) is not None
    assert la.simhash(text, shingle=len(tokens) + 1) is None
    assert la.simhash(" ".join(text.split()[::-1])) == la.simhash(text), "single words have no order"


@pytest.mark.parametrize("text", ["", " \n", "?!…", "\u200b", b""])
def test_a_document_without_features_has_no_fingerprint(text: str | bytes):
    assert la.simhash(text) is None


def test_given_features_match_the_reference():
    rng = random.Random(2007)
    for size in (1, 2, 7, 300):
        features = {f"feature {i}": rng.uniform(-50, 50) for i in range(size)}
        fixed = [(_core.xxh3(name.encode()), round(weight * 65536)) for name, weight in features.items()]
        assert la.simhash(features=features) == oracle_of(fixed)
        assert la.simhash(features=list(features.items())) == oracle_of(fixed)


def test_given_features_are_the_words_of_a_text():
    assert la.simhash(features={"a": 3, "rose": 3, "is": 2}) == la.simhash("a rose is a rose is a rose")
    pairs = [(word, 1) for word in ["a", "rose", "is", "a", "rose", "is", "a", "rose"]]
    assert la.simhash(features=pairs) == la.simhash("a rose is a rose is a rose")


def test_scaling_all_weights_changes_nothing():
    features = {"one": 1.0, "two": 2.5, "three": 0.25}
    assert la.simhash(features=features) == la.simhash(features={name: 4 * w for name, w in features.items()})


def test_weights_that_say_nothing_give_no_fingerprint():
    assert la.simhash(features={}) is None
    assert la.simhash(features={"a": 0, "b": 1e-9}) is None
    assert la.simhash(features=[("a", 2), ("a", -2)]) is None


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -float("inf"), 1e6])
def test_what_is_no_weight_is_refused(weight: float):
    with pytest.raises(la.ParameterError, match="cannot be counted: use a number from −32767 to 32767"):
        la.simhash(features={"a": 1, "b": weight})


def test_huge_weights_do_not_overflow():
    heavy = {f"h{i}": 32767.0 for i in range(2000)}
    assert la.simhash(features=heavy) == la.simhash(features=dict.fromkeys(heavy, 1))


def test_calls_that_contradict_themselves_are_refused():
    with pytest.raises(la.ParameterError, match="give one of the two"):
        la.simhash()
    with pytest.raises(la.ParameterError, match="give one of the two"):
        la.simhash("text", features={"a": 1})
    with pytest.raises(la.ParameterError, match="`unit` makes features of a text"):
        la.simhash(features={"a": 1}, unit="word")
    with pytest.raises(la.ParameterError, match="is not a pair"):
        la.simhash(features=["ab"])  # type: ignore[list-item]
    with pytest.raises(la.ParameterError, match="shingle `0` is not a width"):
        la.simhash("text", shingle=0)
    with pytest.raises(la.ParameterError, match="unit `sentence` is not known"):
        la.simhash("text", unit="sentence")


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_is_its_texts_one_by_one(threads: int):
    texts = [*SCRIPTS.values(), "", "?", *(f"text number {i} " * (i % 40) for i in range(500))]
    table = la.simhash_batch(texts, threads=threads)
    assert [table[i] for i in range(len(table))] == [la.simhash(text) for text in texts]
    assert table.lengths == [len(la.stream(text, unit="word")) for text in texts]
    assert table.valid == bytes(length > 0 for length in table.lengths)
    assert table.notes == ()


def test_a_bad_text_of_a_batch_is_noted_and_ends_nothing():
    table = la.simhash_batch(["one", b"\x89PNG\r\n\x1a\n\0\0\0\0", "Straße".encode("utf-16")], threads=1)
    assert table.valid == b"\1\0\1"
    assert [(note.index, note.refused) for note in table.notes] == [(1, True)]
    assert table[2] == la.simhash("Straße")


def prose(rng: random.Random, words: int) -> list[str]:
    """Words by Zipf's law: the r-th is drawn about 1/r as often as the first."""
    return [f"word{int(2 ** rng.uniform(0, 13))}" for _ in range(words)]


def test_one_changed_word_moves_few_bits():
    """The mean is what docs/simhash.md tells: about one bit of 64 in texts of 200 words, half of that in 800."""
    rng = random.Random(2007)
    for words, limit in ((200, 1.9), (800, 0.9)):
        moved = []
        for _ in range(150):
            text = prose(rng, words)
            changed = list(text)
            changed[rng.randrange(words)] = "another"
            moved.append(distance(la.simhash(" ".join(text)), la.simhash(" ".join(changed))))
        assert 0 < mean(moved) < limit, f"{words} words: {mean(moved):.2f} bits, at most {max(moved)}"


def test_texts_without_a_word_in_common_differ_in_about_half_of_the_bits():
    rng = random.Random(2002)
    made = [la.simhash(" ".join(f"{i}x{rng.randrange(10**6)}" for _ in range(100))) for i in range(200)]
    assert 30 < mean(distance(a, b) for a, b in pairwise(made)) < 34
