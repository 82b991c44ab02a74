"""Documents that are tokens of the caller's own: every call agrees with a naive twin, and with texts of those words."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike import _core, params
from lookalike.simhashes.texts import LANGUAGES

MASK = 2**64 - 1
SEQUENCES = st.lists(st.integers(0, 4) | st.integers(0, MASK), max_size=60)
WORDS = "the lamp burned whale oil for three years then paraffin and it was turned by hand".split()  # noqa: SIM905


def mix64(x: int) -> int:
    """SplitMix64's finaliser, as FORMAT.md has it."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def packed(window: Sequence[int]) -> bytes:
    return b"".join(value.to_bytes(8, "little") for value in window)


def windows(values: Sequence[int], width: int) -> list[bytes]:
    return [packed(values[at : at + width]) for at in range(len(values) - width + 1)]


def vote(features: Counter[int]) -> int | None:
    """The definition of a simhash in FORMAT.md."""
    sums = [0] * 64
    for value, weight in features.items():
        hashed = mix64(value ^ 0xBB67AE8584CAA73B)
        for bit in range(64):
            sums[bit] += weight if hashed >> bit & 1 else -weight
    return sum(1 << bit for bit in range(64) if sums[bit] > 0) if any(sums) else None


@given(SEQUENCES, SEQUENCES, st.integers(1, 4))
def test_measures_match_sets_of_windows(a: list[int], b: list[int], width: int):
    left, right = set(windows(a, width)), set(windows(b, width))
    found = la.measure(la.Tokens(a), b, shingle=width)
    assert found[:3] == (len(left), len(right), len(left & right))
    expected = len(left & right) / len(left | right) if left and right else None
    assert found.resemblance == la.resemblance(a, b, shingle=width) == expected
    assert la.containment(a, b, shingle=width) == (len(left & right) / len(left) if left and right else None)


@given(SEQUENCES, SEQUENCES, st.integers(1, 3))
def test_labelled_measures_match_multisets(a: list[int], b: list[int], width: int):
    left, right = Counter(windows(a, width)), Counter(windows(b, width))
    found = la.measure(a, b, shingle=width, labelled=True)
    assert found[:3] == (left.total(), right.total(), (left & right).total())


@pytest.mark.parametrize("kind", ["fast", "permutations", "smallest", "modulo", "smallest-modulo"])
@given(values=SEQUENCES, width=st.integers(1, 4))
def test_a_sketch_matches_its_shingles_one_by_one(kind: str, values: list[int], width: int):
    """A shingle given as bytes has the id of the tokens that these bytes are."""
    twin = la.Sketch.empty(kind, 16, modulus=2, shingle=width)
    twin.update(*windows(values, width))
    made = la.sketch(la.Tokens(values), 16, kind, modulus=2, shingle=width)
    assert made.values == twin.values
    assert made.is_empty == (len(values) < width)


@given(SEQUENCES)
def test_a_simhash_matches_its_votes(values: list[int]):
    assert la.simhash(la.Tokens(values)) == vote(Counter(values))


@given(SEQUENCES, st.integers(1, 4), st.integers(0, 5))
def test_fingerprints_match_naive_winnowing(values: list[int], k: int, more: int):
    """Every window of k-grams has a fingerprint in it, and each fingerprint is the hash of the tokens it stands for."""
    found = la.fingerprint(la.Tokens(values), k=k, t=k + more, scheme="winnow")
    assert found.tokens == len(values)
    assert found.hashes == [_core.xxh3(packed(values[at : at + k])) for at in found.positions]
    chosen = set(found.positions)
    for start in range(len(values) - (k + more) + 1):
        assert chosen & set(range(start, start + more + 1))
    every = la.fingerprint(values, k=k, t=k, scheme="every")
    assert every.positions == list(range(max(len(values) - k + 1, 0)))


def test_strings_are_hashed_as_words_are():
    text = " ".join(WORDS)
    tokens = la.Tokens(WORDS)
    assert tokens.values == la.stream(text, unit="word").tokens
    assert la.sketch(tokens) == la.sketch(text)
    assert la.simhash(tokens, shingle=2) == la.simhash(text, shingle=2)
    assert la.fingerprint(tokens, k=3, t=5).hashes == la.fingerprint(text, k=3, t=5, unit="word").hashes
    assert la.resemblance(tokens, text) == 1.0
    assert la.select(tokens, 4) == la.select(tokens.values.tolist(), 4)


def test_tokens_may_be_any_sequence():
    numpy, arrow = pytest.importorskip("numpy"), pytest.importorskip("pyarrow")
    numbers = [3, 1, 4, 1, 5, 9, 2, 6]
    given: list[Any] = [tuple(numbers), numpy.array(numbers), numpy.array(numbers, numpy.uint64), arrow.array(numbers)]
    for one in (*given, la.Tokens(numbers).values, (number for number in numbers)):
        assert la.Tokens(one) == la.Tokens(numbers)
    for one in given:
        assert la.simhash(one) == la.simhash(numbers)
    assert la.Tokens(arrow.array(["a", "b"])) == la.Tokens(["a", "b"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: la.Tokens([-1]), "whole numbers from 0"),
        (lambda: la.Tokens([2**64]), "whole numbers from 0"),
        (lambda: la.Tokens(["a", 1]), "whole numbers from 0"),
        (lambda: la.Tokens([1.5]), "whole numbers from 0"),
        (lambda: la.Tokens(["\ud800"]), "UTF-8"),
        (lambda: la.Tokens("text"), "a text or bytes is no such sequence"),
        (lambda: la.Tokens([1], text="a"), "needs spans"),
        (lambda: la.Tokens([1, 2], spans=[(0, 1)]), "`1` spans for `2` tokens"),
        (lambda: la.Tokens([1, 2], spans=[(1, 2), (0, 1)]), "span `\\(0, 1\\)` of token `1` is out of order"),
        (lambda: la.Tokens([1], spans=[(0, 2)], text="a"), "out of the text"),
        (lambda: la.fingerprint([1, 2], k=1, t=1).spans, "have no spans"),
        (lambda: la.fingerprint([1, 2], unit="word"), "unit `word` makes tokens of a text"),
        (lambda: la.simhash([1, 2], features="paper"), "features `paper` makes tokens of a text"),
        (lambda: la.canonical([1, 2]), "tokens are no text"),
        (lambda: la.dedup([la.Tokens([1]), "a text"]), "some rows are Tokens and others are not"),
        (lambda: la.dedup([la.Tokens([1])], unit="line"), "unit makes tokens of a text"),
    ],
)
def test_what_is_no_token_is_refused(make: Any, message: str):
    with pytest.raises(la.ParameterError, match=message):
        make()


def test_spans_lead_to_the_text():
    text = "PUSH  push ; comment\nADD"
    tokens = la.Tokens(["push", "push", "add"], spans=[(0, 4), (6, 10), (21, 24)], text=text)
    found = la.fingerprint(tokens, k=2, t=2)
    assert [text[start:end] for start, end in found.spans] == ["PUSH  push", "push ; comment\nADD"]
    assert found.coarser(3).spans
    assert "tokens" in found.selection.promise


def rows(seed: int, count: int) -> list[la.Tokens]:
    """Documents of which every third is a version of the one before it."""
    chance = random.Random(seed)
    made: list[list[int]] = []
    for at in range(count):
        values = [chance.getrandbits(64) for _ in range(60)] if at % 3 else list(made[-1] if made else range(60))
        if at % 3 == 0 and made:
            values[chance.randrange(60)] += 1
        made.append(values)
    return [la.Tokens(values) for values in made]


@pytest.mark.parametrize("method", ["minhash", "exact", "simhash"])
def test_dedup_of_tokens_matches_all_pairs(method: str):
    documents = rows(1, 60)
    found = la.dedup(documents, method=method, distance=10 if method == "simhash" else None)
    reaches = {
        (a, b)
        for b in range(len(documents))
        for a in range(b)
        if (la.resemblance(documents[a], documents[b]) or 0) >= (1 if method == "exact" else 0.8)
    }
    pairs = {(pair.left, pair.right) for pair in found.pairs()}
    assert pairs == reaches if method != "simhash" else pairs <= reaches
    for row in found.gone:
        assert found.resemblances[row] == pytest.approx(la.resemblance(documents[row], documents[found.survivors[row]]))
    assert found.select() == [documents[row] for row in range(60) if row not in set(found.gone)]


def test_containment_and_reports_work_on_tokens(tmp_path: Path):
    whole = la.Tokens(range(1000))
    found = la.dedup((whole, la.Tokens(range(300, 500)), la.Tokens(range(5000, 5100))), method="containment")
    assert (found.gone, len(found.select()), type(found.select())) == ([1], 2, tuple)
    la.dedup([*rows(2, 30)], report=str(tmp_path / "report"), clusters=tmp_path / "clusters.csv")
    assert (tmp_path / "report" / "report.html").exists()
    assert "tokens:" in (tmp_path / "clusters.csv").read_text(encoding="utf-8")


def runs(a: Sequence[int], b: Sequence[int]) -> int:
    """Return the length of the longest common run, naively."""
    best = 0
    for i in range(len(a)):
        for j in range(len(b)):
            length = 0
            while i + length < len(a) and j + length < len(b) and a[i + length] == b[j + length]:
                length += 1
            best = max(best, length)
    return best


@given(st.lists(st.lists(st.integers(0, 3), max_size=30), min_size=2, max_size=4))
def test_compare_of_tokens_finds_every_run_of_t(lists: list[list[int]]):
    named = {f"s{at}": la.Tokens(values) for at, values in enumerate(lists)}
    report = la.compare(named, k=3, t=5, min_score=0)
    pairs = *report.pairs, *report.little
    found = {(report.entries[pair.left].name, report.entries[pair.right].name): pair for pair in pairs}
    for i, a in enumerate(lists):
        for j in range(i + 1, len(lists)):
            if runs(a, lists[j]) >= 5:
                assert (f"s{i}", f"s{j}") in found
    for pair in pairs:
        for passage in pair.passages:
            assert passage.tokens >= 3


def test_tokens_take_part_like_files(tmp_path: Path):
    song = "c d e f g a b c d e f g a b d f a c e g b"
    (tmp_path / "a.txt").write_text("Nothing to do with songs.", encoding="utf-8")
    spans = [(at, at + 1) for at in range(0, len(song), 2)]
    with_text = la.Tokens(song.upper().split(), spans=spans, text=song)
    report = la.compare([tmp_path / "a.txt", with_text, la.Tokens(song.upper().split())], title="songs")
    assert [entry.name for entry in report.entries] == ["a.txt", "tokens 1", "tokens 2"]
    assert [entry.files[0].language for entry in report.entries] == ["text", "tokens", "tokens"]
    (pair,) = report.pairs
    (passage,) = pair.passages
    assert (passage.tokens, passage.exact) == (21, False), "the same values, written differently"
    assert report.entries[1].files[0].text[passage.left.start : passage.left.end] == song
    assert passage.right.end_line == 21
    assert "14 tokens" in report.promise
    assert la.write_report(report, str(tmp_path / "out")).pages == 1


def test_templates_and_old_submissions_may_be_tokens():
    shared, own = list(range(40)), [100 + value for value in range(40)]
    given_out = la.compare({"a": la.Tokens(shared + own), "b": la.Tokens(shared)}, template=la.Tokens(shared))
    assert given_out.pairs == ()
    earlier = la.compare(la.Tokens(own), old=[la.Tokens(own), la.Tokens(own)])
    assert [(entry.name, entry.old) for entry in earlier.entries] == [
        ("tokens 1", False),
        ("tokens 1 (2)", True),
        ("tokens 2", True),
    ]
    assert earlier.pair_count == 2


def test_a_token_of_one_language_is_none_of_another():
    words = [f"w{number}" for number in range(30)]
    report = la.compare({"a": la.Tokens(words), "b": la.Tokens([7, *range(30)])})
    assert report.pairs == ()


def test_languages_are_those_of_texts_only():
    assert LANGUAGES
    assert params.TOKEN not in params.UNITS
