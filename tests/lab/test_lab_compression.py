"""The lab on compression: codecs are lossless, the entropy is right, and a slice stands for 8 billion."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from lookalike import lab
from lookalike._core import EncodedColumn
from lookalike.errors import ParameterError
from lookalike.lab.simhash import compression
from lookalike.lab.simhash.compression import BITS, CODECS, CRAWL, Kind

SEED = 5


def uniform(size: int, below: int = 1 << BITS) -> np.ndarray:
    return np.unique(np.random.default_rng(SEED).integers(below, size=size, dtype=np.uint64))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compression, "UNIFORM", 20_000)
    monkeypatch.setattr(compression, "PATIENCE", 0.0)


@pytest.mark.parametrize("codec", CODECS.values())
@pytest.mark.parametrize(
    "values", [[], [7], [0, 2**64 - 1], [5, 5, 3, 5], list(range(1000))], ids=["none", "one", "ends", "equal", "dense"]
)
def test_codecs_give_back_what_they_took(codec: str, values: list[int]):
    column = EncodedColumn(codec, values)
    assert column.decode() == sorted(values)
    assert column.decode_pass(3) == sum(values) % 2**64
    assert column.nbytes >= 0


@pytest.mark.parametrize("codec", CODECS.values())
@pytest.mark.parametrize("bits", [0, 1, 12, 32, 64])
def test_queries_count_shared_prefixes(codec: str, bits: int):
    values = uniform(3000, 1 << 40) << np.uint64(24)
    queries = np.concatenate([values[::100], uniform(20)])
    prefix = [int(value) >> (64 - bits) for value in values]
    expected = sum(prefix.count(int(query) >> (64 - bits)) for query in queries)
    assert EncodedColumn(codec, values.data).count(queries.data, bits) == expected


def test_an_unknown_codec_is_refused():
    with pytest.raises(ParameterError, match="codec `zip` is not known: use one of elias-fano, packed, xor-huffman"):
        EncodedColumn("zip", [1])


def test_entropy_is_that_of_a_set():
    # There are about (2^64)^n / n! sets of n, because n is small beside 2^32.
    for size in (10_000, 10**6):
        exact = (BITS * size - math.lgamma(size + 1) / math.log(2)) / size
        assert compression.entropy(size) == pytest.approx(exact, abs=0.001)
    assert compression.entropy(CRAWL) == pytest.approx(32.54, abs=0.01)


def test_the_code_without_losses_is_counted_by_hand():
    # Steps: 1 (h = 0), 0b11 (h = 1), 0b1 (h = 0): 2/3 and 1/3 of the symbols, 1 bit below in total.
    values = np.array([0, 1, 2, 3], dtype=np.uint64)
    symbols = -(2 / 3 * math.log2(2 / 3) + 1 / 3 * math.log2(1 / 3))
    assert compression.code_entropy(values) == pytest.approx(symbols + 1 / 3)


def test_paper_manku2007_half_at_8_billion():
    values = uniform(200_000, (200_000 << BITS) // CRAWL)
    found = {one.codec: one for one in compression.measured(Kind("slice", values, CRAWL), SEED)}
    assert found["XOR–Huffman"].bits / BITS == pytest.approx(0.55, abs=0.01)
    assert found["Elias–Fano"].bits < found["packed differences"].bits < found["XOR–Huffman"].bits
    assert all(1 < one.above < 3 for one in found.values())


def test_a_slice_is_as_dense_as_the_whole():
    whole = uniform(400_000)
    for codec in CODECS.values():
        slice_bits = EncodedColumn(codec, whole[:100_000].data).nbytes * 8 / 100_000
        assert slice_bits == pytest.approx(EncodedColumn(codec, whole.data).nbytes * 8 / len(whole), abs=0.1), codec


def test_clusters_take_fewer_bits_of_the_papers_code(tmp_path: Path):
    outcome = lab.run("compression", None, SEED, tmp_path)
    rows = {(row[0], row[1]): row for row in outcome.tables[0].rows}
    kinds = list(dict.fromkeys(row[0] for row in outcome.tables[0].rows))
    assert kinds[0] == "corpus"
    assert rows["corpus", "XOR–Huffman"][2] < rows[kinds[1], "XOR–Huffman"][2] - 5
    assert len(rows) == len(kinds) * len(CODECS) == 12
    assert (tmp_path / "compression.png").exists()
    extrapolated = {row[0]: row for row in outcome.tables[2].rows}
    assert extrapolated["plain"][3] == 64.0
    assert extrapolated["XOR–Huffman"][4] < extrapolated["XOR–Huffman"][1]
