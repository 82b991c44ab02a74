"""What FORMAT.md says of sketches, read aloud in Python, is what the core makes."""

from __future__ import annotations

import struct
from pathlib import Path

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


def each(kind: str, size: int, labelled: bool, bits: int) -> int:
    """Bytes of an element: of round and hash, of 32 bits, of an id that labels mixed again, or of its bits."""
    needed = 48 + (2 * size - 1).bit_length() if kind == "fast" else 32 if kind == "permutations" else bits
    return 8 if labelled and kind not in params.COORDINATES else -(-needed // 8)


@pytest.mark.parametrize("bits", [16, 17, 40, 64])
@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("kind", params.SKETCHES)
def test_stored_sketches_are_what_the_document_says(kind: str, labelled: bool, bits: int):
    text = "to be or not to be"
    made = la.sketch(text, 3, kind, modulus=2, shingle=1, labelled=labelled, bits=bits)
    stored, values = made.to_bytes(), made.values.tolist()
    limit = MASK // 2 if kind in ("modulo", "smallest-modulo") else MASK
    is_exact = labelled or kind not in params.COORDINATES
    head = struct.pack(
        "<4s8BIIQQQQ",
        *(b"LASK", 2, la.TEXT_VERSION, params.SKETCHES.index(kind), 1, 2 * labelled | 4 * is_exact, bits),
        *(each(kind, 3, labelled, bits), 0, 1, 0 if kind in params.CONTAINING else 3, 2 if limit < MASK else 1),
        *(6 if labelled or not is_exact else 4, limit, len(values)),
    )
    if kind not in params.COORDINATES and not labelled:
        mixed = {mix64(one): one for one in (rabin_of(word) >> (64 - bits) for word in text.split())}
        values = [mixed[value] for value in values]
    content = head + b"".join(value.to_bytes(each(kind, 3, labelled, bits), "little") for value in values)
    assert stored == content + struct.pack("<Q", _core.xxh3(content))
    assert la.Sketch.from_bytes(stored) == made
    assert made.len_bytes == len(stored)


def rabin_of(word: str) -> int:
    return rabin(struct.pack("<Q", _core.xxh3(word.encode())))


def test_paper_broder1997_a_sketch_of_100_elements_takes_300_to_800_bytes():
    text = " ".join(f"w{i}" for i in range(1000))
    sizes = {bits: la.sketch(text, 100, "smallest", bits=bits).len_bytes for bits in (24, 40, 64)}
    assert sizes == {24: 360, 40: 560, 64: 860}


OLD = Path(__file__).resolve().parent / "compat" / "sketch_v1"
HAMLET = (
    "to be or not to be, that is the question: whether 'tis nobler in the mind to suffer the slings and arrows of "
    "outrageous fortune"
)


@pytest.mark.parametrize("path", sorted(OLD.iterdir()), ids=lambda path: path.stem)
def test_sketches_of_version_1_are_still_read(path: Path):
    stored = path.read_bytes()
    assert stored[4] == 1
    kind, bits, *rest = path.stem.replace("smallest-modulo", "smallest_modulo").split("-")
    text = "" if "empty" in rest else HAMLET
    made = la.sketch(text, 8, kind.replace("_", "-"), modulus=2, shingle=2, bits=int(bits), labelled="labelled" in rest)
    found = la.Sketch.from_bytes(stored)
    assert found == made
    assert found.to_bytes() == made.to_bytes() != stored
    damaged = stored[:-9] + bytes([stored[-9] ^ 1]) + stored[-8:]
    with pytest.raises(la.FormatError):
        la.Sketch.from_bytes(damaged)


@pytest.mark.parametrize("path", sorted(OLD.iterdir())[:3], ids=lambda path: path.stem)
def test_sketches_of_text_1_with_folded_look_alikes_are_refused(path: Path):
    stored = bytearray(path.read_bytes())
    assert (stored[5], stored[8] & 1) == (1, 0)
    stored[8] |= 1
    with pytest.raises(la.FormatError, match=f"version 1 of text 1, .* of text {la.TEXT_VERSION}; make it again"):
        la.Sketch.from_bytes(bytes(stored))
