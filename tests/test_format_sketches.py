"""What FORMAT.md says of sketches, read aloud in Python, is what the core makes."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike import _core, params
from test_format import MASK, mix64, vector

ODD = 0x9E3779B97F4A7C15
POLYNOMIAL = (1 << 64) | 0xE255B237B8BB18FB
TEXTS = st.text("ab ", max_size=120)


def rabin(data: bytes) -> int:
    """Remainder of a one, the bits of the string and 64 zeros, by long division."""
    value = int.from_bytes(b"\x01" + data, "big") << 64
    while value.bit_length() > 64:
        value ^= POLYNOMIAL << (value.bit_length() - 65)
    return value


def ids(text: str, width: int, labelled: bool = False, bits: int = 64) -> list[int]:
    tokens = la.stream(text, unit="word").tokens
    found, seen = [], dict[int, int]()
    for i in range(len(tokens) - width + 1):
        value = mix64(rabin(struct.pack(f"<{width}Q", *tokens[i : i + width])) >> (64 - bits))
        seen[value] = seen.get(value, 0) + 1
        found.append(mix64(value ^ mix64(seen[value])) if labelled and seen[value] > 1 else value)
    return found


def fast(values: list[int], size: int) -> list[int]:
    rows = [MASK] * size
    for i in range(2 * size):
        for value in values:
            h = value if i == 0 else mix64((value + i * ODD) & MASK)
            at = (h >> 48) * size // 2**16 if i < size else i - size
            rows[at] = min(rows[at], i * 2**48 + h % 2**48)
    return rows


def permutations(values: list[int], size: int) -> list[int]:
    def image(j: int, value: int) -> int:
        a, b = (mix64((2 * j + n) * ODD & MASK) % 2**32 for n in (1, 2))
        return ((a | 1) * (value >> 32) + b) % 2**32

    return [min((image(j, value) for value in values), default=MASK) for j in range(size)]


def sample(kind: str, values: list[int], size: int, modulus: int) -> list[int]:
    distinct = sorted(set(values))
    level = next(i for i in range(64) if len(distinct) <= 100 * 2**i)
    limit = {"smallest": MASK, "adaptive": MASK >> level}.get(kind, MASK // modulus)
    kept = [value for value in distinct if value <= limit]
    return kept if kind in ("modulo", "adaptive") else kept[:size]


def expected(kind: str, values: list[int], size: int, modulus: int) -> list[int]:
    if kind in params.COORDINATES:
        return (fast if kind == "fast" else permutations)(values, size)
    return sample(kind, values, size, modulus)


def test_rabin_and_the_id_of_a_shingle():
    assert rabin(b"abc") == vector("Rabin, published P", "`abc`")
    assert ids("a do", 2) == [vector("id, words", "`a`, `do`")]
    assert ids("a do a do", 2, labelled=True)[2] == vector("id, words, second occurrence", "`a`, `do`")
    assert la.sketch("a do", sketch="smallest", shingle=2).values == ids("a do", 2)


@pytest.mark.parametrize("kind", params.SKETCHES)
@given(text=TEXTS, size=st.integers(1, 12), modulus=st.integers(1, 5), labelled=st.booleans(), bits=st.integers(16, 64))
def test_sketches_are_what_the_document_says(kind: str, text: str, size: int, modulus: int, labelled: bool, bits: int):
    made = la.sketch(text, size, kind, modulus=modulus, shingle=2, labelled=labelled, bits=bits)
    assert made.values == expected(kind, ids(text, 2, labelled, bits), size, modulus)


def test_a_long_text_has_the_level_of_its_size():
    text = " ".join(f"w{i}" for i in range(701))
    assert la.sketch(text, sketch="adaptive", shingle=2).values == sample("adaptive", ids(text, 2), 0, 1)


@pytest.mark.parametrize("kind", params.SKETCHES)
def test_stored_sketches_are_what_the_document_says(kind: str):
    made = la.sketch("to be or not to be", 3, kind, modulus=2, shingle=1, labelled=True)
    stored, values = made.to_bytes(), made.values.tolist()
    limit = MASK // 2 if kind in ("modulo", "smallest-modulo") else MASK
    head = struct.pack(
        "<4s8BIIQQQQ",
        *(b"LASK", 1, la.TEXT_VERSION, params.SKETCHES.index(kind), 1, 2 | 4, 64, 0, 0, 1),
        *(0 if kind in params.CONTAINING else 3, 2 if limit < MASK else 1, 6, limit, len(values)),
    )
    content = head + struct.pack(f"<{len(values)}Q", *values)
    assert stored == content + struct.pack("<Q", _core.xxh3(content))
