"""Bundles of pairs and the cells where they are judged: each pair is judged, whatever the windows and batches are."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lookalike as la
from lookalike.spark import cells, columns, judging, proposing
from support.bundles import cell_of, unbundled

WORTH = np.dtype([("worth", "<f4"), ("content", "V16")])
CHOSEN = {"memory": "64MiB", "threads": 1}
TEXT = "the keeper of the light wrote down every ship that passed the rock in the year of the storm"
GONE = "the input gave other rows or texts when it was read again"


def drawn(seed: int, documents: int, count: int) -> list[dict[str, Any]]:
    """Pairs with what is known of them, some of them repeated."""
    draw = random.Random(seed)
    names = [f"{number:0{draw.choice([3, 30])}d}".encode() for number in range(documents)]
    pairs = [tuple(sorted(draw.sample(names, 2))) for _ in range(count)]
    return [
        {"left": left, "right": right, "worth": float(len(left)), "content": (left + right)[:16].ljust(16, b"\0")}
        for left, right in pairs
    ]


def tabled(pairs: list[dict[str, Any]], text: pa.DataType) -> pa.Table:
    kinds = [("left", text), ("right", text), ("worth", pa.float32()), ("content", text)]
    return pa.Table.from_pylist(pairs, pa.schema(kinds))


def rows_of(batches: Iterator[pa.RecordBatch]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("text", [pa.binary(), pa.large_binary()], ids=str)
@pytest.mark.parametrize(("side", "size"), [(1, 7), (3, 1000), (16, 64)])
def test_bundles_hold_every_pair_with_what_is_known_of_it(side: int, size: int, text: pa.DataType) -> None:
    pairs = drawn(side, 60, 500)
    # A batch that begins in the middle of its buffers, as batches of Spark do.
    table = pa.concat_tables([tabled(pairs[:1], text), tabled(pairs, text)]).combine_chunks().slice(1)
    found = unbundled(rows_of(cells.packed(table.to_batches(size), side, WORTH)), WORTH)
    expected = {
        (cell_of(one["left"], one["right"], side), one["left"], one["right"], (one["worth"], one["content"]))
        for one in pairs
    }
    assert sorted(found) == sorted(expected)


def in_a_cell(documents: list[bytes], bundles: list[pa.RecordBatch], number: int) -> list[pa.RecordBatch]:
    """The rows of a cell as a worker is given them: documents, then bundles."""
    kinds: dict[str, pa.DataType] = {
        "cell": pa.int32(),
        "tag": pa.int32(),
        "rank": pa.binary(),
        "ranks": pa.list_(pa.binary()),
        "pairs": pa.binary(),
    }
    rows = [{"cell": number, "tag": 0, "rank": rank} for rank in documents]
    rows += [{**row, "cell": number, "tag": 1} for batch in bundles for row in batch.to_pylist()]
    return pa.Table.from_pylist(rows, pa.schema(list(kinds.items()))).to_batches(50)


@pytest.mark.parametrize("once", [True, False])
@pytest.mark.parametrize(("window", "waiting"), [(1, 1), (600, 40), (5000, 100), (1 << 20, 400)])
def test_a_cell_accepts_the_same_pairs_however_many_wait(
    window: int, waiting: int, once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was rejected may be judged again; with ``once`` no accepted one is."""
    monkeypatch.setattr(cells, "_TAKEN", 2)
    monkeypatch.setattr(cells, "WAITING_BYTES", window)
    made, known, batches = list[tuple[bytes, bytes, float]](), list[bytes](), list[pa.RecordBatch]()
    windows = 0
    for number in range(3):
        pairs = drawn(number, 80, 400)
        # A pair may be in several cells here.
        made += {(one["left"], one["right"], one["worth"]) for one in pairs if len(one["left"]) > 3}
        bundles = [one for at in range(0, 400, waiting) for one in packed_alone(pairs[at : at + waiting])]
        names = sorted({one[side] for one in pairs for side in ("left", "right")})
        batches += in_a_cell(names, bundles, number)

    def documents(batch: pa.RecordBatch, is_new: bool) -> None:
        known[:] = [] if is_new else [*known, *batch["rank"].to_pylist()]

    def judged(left: bytes, right: bytes, extras: Any) -> tuple[Any, list[pa.Array]]:
        nonlocal windows
        windows += 1
        names = [[known[place] for place in np.frombuffer(one, np.uint32)] for one in (left, right)]
        assert len(set(zip(*names, strict=True))) == len(extras)
        longs = np.array([len(name) > 3 for name in names[0]])
        return longs, [pa.array(extras["worth"][longs])]

    found = rows_of(cells.each_cell(iter(batches), documents, judged, WORTH, ["worth"], once=once))
    told = [(row["left"], row["right"], row["worth"]) for row in found]
    assert (sorted(told) if once else sorted(set(told))) == sorted(made if once else set(made))
    assert windows == 3 if window == 1 << 20 else windows > 3


@pytest.mark.parametrize("length", [9, 4000])
def test_what_a_cell_accepts_comes_in_small_batches(length: int) -> None:
    """Each pair names both ranks, so batches of long ranks have fewer pairs. Bundles of them are small too."""
    ranks = [f"{place:0{length}d}".encode() for place in range(150)]
    pairs = [{"left": left, "right": right, "worth": 1.0, "content": bytes(16)} for left in ranks for right in ranks]
    table = tabled(pairs[: 90 * 150], pa.large_binary())
    bundles = list(cells.packed(table.to_batches(), 1, WORTH))
    batches = in_a_cell(ranks, bundles, 0)

    def judged(left: bytes, right: bytes, extras: Any) -> tuple[Any, list[pa.Array]]:
        return np.ones(len(extras), dtype=bool), [pa.array(extras["worth"])]

    found = list(cells.each_cell(iter(batches), lambda *_: None, judged, WORTH, ["worth"], once=True))
    assert sum(batch.num_rows for batch in found) == 90 * 150
    assert max(batch.nbytes for batch in found) < 1.1 * cells.BATCH_BYTES
    assert max(batch.nbytes for batch in bundles) < 5 * cells.BATCH_BYTES


def packed_alone(pairs: list[dict[str, Any]]) -> list[pa.RecordBatch]:
    return list(cells.packed(tabled(pairs, pa.binary()).to_batches(), 1, WORTH))


def test_ranks_of_a_proposed_pair_are_those_of_its_cell() -> None:
    rows = pa.table({"key": [5] * 40, "rank": pa.array([b"%04d" % place for place in range(40)], pa.binary())})
    made = rows_of(proposing.pair_batches(iter(rows.to_batches()), False, 5))
    pairs = unbundled(made)
    assert all(cell == cell_of(left, right, 5) for cell, left, right, _ in pairs)
    assert len(pairs) == 40 * 39 // 2


def test_pairs_of_long_ranks_come_in_small_batches() -> None:
    """A window names a rank once, and ends long before the ranks of all pairs fill the memory."""
    ranks = pa.array([b"%03900d" % place for place in range(300)], pa.binary())
    rows = pa.RecordBatch.from_arrays([pa.array([5] * 300), ranks], names=["key", "rank"])
    batches = list(proposing.pair_batches(iter([rows]), False, 2))
    pairs = {one[1:3] for one in unbundled(row for row in rows_of(iter(batches)) if row["cell"] is not None)}
    assert len(pairs) == sum(1 for right in range(300) for left in range(right) if left < 64 or right - left <= 64)
    assert max(batch.nbytes for batch in batches) < 3 * cells.BATCH_BYTES
    assert len(batches) > 2


def test_cells_have_numbers_of_32_bits() -> None:
    assert cells.side(100_000_000_000, 3000, 64 << 20, 8) ** 2 < 2**31
    assert cells.side(8_000_000_000, 2721, 64 << 20, 8) == 46_340
    assert cells.side(100_000_000, 600, 64 << 20, 8) == 1788


def test_a_document_that_is_gone_when_it_is_read_again_is_told() -> None:
    pair = [{"left": b"a", "right": b"b", "worth": 1.0, "content": bytes(16)}]
    batches = in_a_cell([b"a"], packed_alone(pair), 0)
    with pytest.raises(la.ParameterError, match=GONE):
        list(cells.each_cell(iter(batches), lambda *_: None, lambda *_: (np.ones(1, bool), []), WORTH, [], once=True))


def test_a_text_that_is_gone_or_another_one_when_it_is_read_again_is_told() -> None:
    rows = pa.record_batch({"cell": pa.array([0, 0], pa.int32()), "tag": pa.array([0, 0], pa.int32())})
    rows = rows.append_column("rank", pa.array([b"a", b"b"], pa.binary()))
    texts = rows.append_column("text", pa.array([TEXT, None]))
    with pytest.raises(la.ParameterError, match=GONE):
        list(judging.score_batches(iter([texts]), CHOSEN, False, True))
    contents = {name: pa.array([bytes(16)], pa.binary()) for name in ("left_content", "right_content")}
    ends = {"left": pa.array([b"a"], pa.binary()), "right": pa.array([b"b"], pa.binary())}
    pairs = pa.record_batch({**ends, "estimate": pa.array([0.5], pa.float32()), **contents})
    bundle = next(judging.pack_batches(iter([pairs]), False, 1))
    second = pa.record_batch({"cell": bundle["cell"], "tag": pa.array([1], pa.int32())})
    second = second.append_column("ranks", bundle["ranks"]).append_column("pairs", bundle["pairs"])
    texts = rows.append_column("text", pa.array([TEXT, TEXT]))
    with pytest.raises(la.ParameterError, match=GONE):
        list(judging.score_batches(iter([texts, second]), CHOSEN, False, True))


def test_records_are_the_values_of_their_columns() -> None:
    batch = tabled(drawn(1, 9, 20), pa.large_binary()).to_batches()[0].slice(3, 10)
    found = np.frombuffer(columns.records(batch, WORTH), WORTH).tolist()
    assert found == list(zip(batch["worth"].to_pylist(), batch["content"].to_pylist(), strict=True))
    assert columns.records(batch, np.dtype([])) == b""
