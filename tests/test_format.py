"""FORMAT.md is true: its vectors are what the code computes, and an independent reading of its definitions agrees."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike import _core

FORMAT = (Path(__file__).resolve().parent.parent / "FORMAT.md").read_text(encoding="utf-8")
MASK = 2**64 - 1
BASE = 0x9E3779B5


def vector(function: str, argument: str) -> int:
    """Value of a row of the table of test vectors."""
    row = re.search(rf"^\| {re.escape(function)} \| {re.escape(argument)} \| `([0-9a-f]+)` \|$", FORMAT, re.MULTILINE)
    assert row, f"FORMAT.md has no vector for {function} of {argument}"
    return int(row[1], 16)


def h_prime(tokens: list[int]) -> int:
    """H′ as FORMAT.md writes it."""
    k = len(tokens)
    return sum(c * pow(BASE, k - i, 2**32) for i, c in enumerate(tokens)) % 2**32


def mix64(x: int) -> int:
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def naive_winnow(hashes: list[tuple[int, int]], w: int) -> list[int]:
    """Definition 1, read aloud."""
    picked = set()
    for start in range(max(len(hashes) - w + 1, 1 if hashes else 0)):
        window = hashes[start : start + w]
        smallest = min(window)
        picked.add(start + max(i for i, value in enumerate(window) if value == smallest))
    return sorted(picked)


def test_xxh3_of_nothing():
    assert _core.xxh3(b"") == vector("XXH3-64", "empty")


def test_identity_of_characters():
    assert la.fingerprint("A DORU!", k=5, t=5).hashes == [vector("identity, characters", "`adoru`")]
    assert _core.xxh3(b"adoru") == vector("identity, characters", "`adoru`")


def test_identity_of_words():
    words = la.stream("a do", unit="word").tokens
    assert words == [_core.xxh3(b"a"), _core.xxh3(b"do")]
    values = b"".join(token.to_bytes(8, "little") for token in words)
    assert _core.xxh3(values) == vector("identity, words", "`a`, `do`")
    assert la.fingerprint("a do", k=2, t=2, unit="word").hashes == [vector("identity, words", "`a`, `do`")]


def test_order_of_k_grams():
    value = h_prime(list(b"adoru"))
    assert value == vector("H′", "`adoru` (5 code points)")
    assert _core.kgram_keys(b"adoru", 5, False) == [value]


def test_mix64():
    assert mix64(1) == vector("mix64", "1")


@given(st.text("abcd é", max_size=200), st.integers(1, 8), st.integers(0, 10))
def test_winnowing_is_what_the_document_says(text: str, k: int, more: int):
    canonical = la.canonical(text)
    grams = [canonical[i : i + k] for i in range(len(canonical) - k + 1)]
    ranked = [(h_prime([ord(c) for c in gram]), _core.xxh3(gram.encode())) for gram in grams]
    want = naive_winnow(ranked, more + 1)
    found = la.fingerprint(text, k=k, t=k + more, scheme="winnow")
    assert found.positions == want
    assert found.hashes == [ranked[i][1] for i in want]


@given(st.text("abcd ", max_size=200), st.integers(1, 6), st.integers(1, 9))
def test_zero_mod_p_divides_the_mixed_key(text: str, k: int, modulus: int):
    canonical = la.canonical(text).encode()
    keys = [h_prime(list(canonical[i : i + k])) for i in range(len(canonical) - k + 1)]
    want = [i for i, key in enumerate(keys) if mix64(key) % modulus == 0]
    assert la.fingerprint(text, k=k, t=k, scheme="modulo", modulus=modulus).positions == want


def open_closed_class(tokens: list[int], r: int) -> int:
    """Class of a k-gram of characters, by FORMAT.md."""
    if len(tokens) <= r:
        return 0
    inner = [h_prime(tokens[i : i + r]) for i in range(len(tokens) - r + 1)]
    scrambled = [(s ^ (s >> 15)) * 0x2C1B3C6D % 2**32 for s in inner]
    x = scrambled.index(min(scrambled))
    last = len(tokens) - r
    return 0 if x == last // 2 else 1 if x in (0, last) else 2


@given(st.text("abcd é", max_size=150), st.integers(1, 12), st.integers(0, 10))
def test_compact_is_what_the_document_says(text: str, k: int, more: int):
    canonical = la.canonical(text)
    grams = [canonical[i : i + k] for i in range(len(canonical) - k + 1)]
    codes = [[ord(c) for c in gram] for gram in grams]
    ranked = [
        ((open_closed_class(code, 4) << 30) + h_prime(code) // 4, _core.xxh3(gram.encode()))
        for code, gram in zip(codes, grams, strict=True)
    ]
    assert la.fingerprint(text, k=k, t=k + more, scheme="compact").positions == naive_winnow(ranked, more + 1)
