"""The steps that workers run, without a cluster: however rows are cut into batches, the answer is the same."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lookalike import _core
from lookalike.errors import VersionError
from lookalike.spark import clustering, proposing, signing
from lookalike.spark.ranks import OWN, ranks
from lookalike.spark.shipping import shipped, told, versions
from support.bundles import unbundled
from support.generated import mixed


def cut(table: pa.Table, draw: random.Random) -> Iterator[pa.RecordBatch]:
    """A table in batches of any size, empty ones among them."""
    start = 0
    while start < table.num_rows:
        size = draw.randrange(40)
        yield from table.slice(start, size).combine_chunks().to_batches()
        start += size


def drawn_edges(draw: random.Random, documents: int, count: int) -> pa.Table:
    pairs = {tuple(sorted(draw.sample(range(documents), 2))) for _ in range(count)}
    left, right = zip(*sorted(pairs), strict=True)
    estimates = np.array([draw.randrange(5) / 8 for _ in pairs], dtype=np.float32)
    return pa.table(
        {
            "left": pa.array([f"{one:05d}".encode() for one in left], pa.binary()),
            "right": pa.array([f"{one:05d}".encode() for one in right], pa.binary()),
            "estimate": estimates,
            "score": estimates / 2 + 0.5,
        }
    )


def labelled(edges: pa.Table) -> pa.Table:
    """Edges with the first document of their component, by union-find."""
    root: dict[bytes, bytes] = {}

    def find(one: bytes) -> bytes:
        while root.setdefault(one, one) != one:
            one = root[one]
        return one

    pairs = list(zip(edges["left"].to_pylist(), edges["right"].to_pylist(), strict=True))
    for left, right in pairs:
        one, other = sorted((find(left), find(right)))
        root[other] = one
    names = pa.array([find(left) for left, _ in pairs], pa.binary())
    return edges.append_column("component", names).sort_by("component")


def listed(batches: Iterator[pa.RecordBatch]) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for batch in batches for row in batch.to_pylist())


@pytest.mark.parametrize("method", ["star", "components"])
@pytest.mark.parametrize("seed", range(20))
def test_components_one_by_one_are_all_edges_at_once(method: str, seed: int):
    draw = random.Random(seed)
    edges = labelled(drawn_edges(draw, 200, 150))
    at_once = listed(clustering.cluster_all(iter(edges.to_batches()), method))
    assert at_once == listed(clustering.cluster_components(cut(edges, draw), method))
    assert at_once


@pytest.mark.parametrize("seed", range(20))
def test_one_pass_with_a_bit_per_document_is_star_clustering(seed: int):
    draw = random.Random(seed)
    edges = labelled(drawn_edges(draw, 120, 300))
    expected = listed(clustering.cluster_all(iter(edges.to_batches()), "star"))
    members: dict[bytes, list[bytes]] = {}
    for name, left, right in zip(*(edges[one].to_pylist() for one in ("component", "left", "right")), strict=True):
        members.setdefault(name, []).extend((left, right))
    places = {name: sorted(set(own)) for name, own in members.items()}
    rows = [
        {
            **row,
            "first": places[row["component"]].index(row["left"]),
            "second": places[row["component"]].index(row["right"]),
        }
        for row in edges.to_pylist()
    ]
    rows.sort(key=lambda row: (row["component"], row["second"], row["first"]))
    names = [(name, pa.binary()) for name in ("component", "left", "right")]
    numbers = [(name, pa.int64()) for name in ("first", "second")]
    schema = pa.schema([*names, *numbers, ("estimate", pa.float32()), ("score", pa.float32())])
    assert expected == listed(clustering.pass_batches(cut(pa.Table.from_pylist(rows, schema=schema), draw)))


def test_pairs_do_not_depend_on_batches():
    draw = random.Random(5)
    rows = sorted((draw.randrange(6) - 3, f"{OWN:c}{place:04d}".encode()) for place in range(900))
    table = pa.table({"key": [key for key, _ in rows], "rank": pa.array([rank for _, rank in rows], pa.binary())})

    def told_of(batches: Iterator[pa.RecordBatch]) -> tuple[list[Any], list[Any]]:
        return proposals(proposing.pair_batches(batches, False, 3))

    pairs, crowded = told_of(iter(table.to_batches()))
    assert (pairs, crowded) == told_of(cut(table, draw))
    assert {cell for cell, *_ in pairs} == set(range(9))
    # A key with more than 130 holders tells what it leaves out.
    assert len(crowded) == 6


def proposals(batches: Iterator[pa.RecordBatch]) -> tuple[list[Any], list[Any]]:
    """The pairs of bundles, each once, and the crowded keys."""
    rows = [row for batch in batches for row in batch.to_pylist()]
    crowded = [(row["key"], row["documents"], row["untried"]) for row in rows if row["cell"] is None]
    return sorted(set(unbundled(row for row in rows if row["cell"] is not None))), crowded


def test_pairs_are_those_of_the_rule_for_crowded_keys():
    """The earlier of two holders is among the first 64, or among the last 64 before the later one."""
    holders = {-1: 1, 0: 2, 5: 64, 7: 129, 2**40: 300}
    rows = [(key, f"{key}/{place:04d}".encode()) for key, count in holders.items() for place in range(count)]
    table = pa.table({"key": [key for key, _ in rows], "rank": pa.array([rank for _, rank in rows], pa.binary())})
    pairs, crowded = proposals(proposing.pair_batches(cut(table, random.Random(2)), False, 1))
    expected = [
        (f"{key}/{i:04d}".encode(), f"{key}/{j:04d}".encode())
        for key, count in holders.items()
        for j in range(count)
        for i in range(j)
        if i < 64 or j - i <= 64
    ]
    assert [(left, right) for _, left, right, _ in pairs] == sorted(expected)
    untried = 300 * 299 // 2 - sum(1 for left, _ in expected if left.startswith(str(2**40).encode()))
    assert crowded == [(2**40, 300, untried)]


@pytest.mark.parametrize(("distance", "count"), [(0, 10), (1, 1_000), (3, 10), (3, 10**8), (6, 10**6), (10, 100)])
def test_every_two_near_fingerprints_are_found_once(distance: int, count: int):
    draw = random.Random(distance)
    bases = [draw.getrandbits(64) for _ in range(5)]
    prints = {base ^ sum(1 << bit for bit in draw.sample(range(64), draw.randrange(8))) for base in bases * 12}
    signed = sorted(one - 2**64 if one >> 63 else one for one in prints)
    keyed = proposing.key_prints(iter(pa.table({"print": signed}).to_batches()), distance, count)
    rows = pa.Table.from_batches(list(keyed)).sort_by(
        [("choice", "ascending"), ("bits", "ascending"), ("print", "ascending")]
    )
    found = proposing.near_batches(cut(rows, draw), distance, count)
    pairs = sorted(tuple(sorted((row["key"], row["other"]))) for batch in found for row in batch.to_pylist())
    near = [
        (left, right)
        for place, left in enumerate(signed)
        for right in signed[place + 1 :]
        if ((left ^ right) % 2**64).bit_count() <= distance
    ]
    assert pairs == near


def test_ranks_sort_as_rows_are_preferred():
    draw = random.Random(9)
    count = 300
    order = pa.array([draw.randrange(-(2**63), 2**63) for _ in range(count)])
    sizes = np.array([draw.randrange(4) for _ in range(count)], dtype=np.uint32)
    numbers = np.array(
        [draw.choice([float("nan"), -0.0, 0.0, -1.5, 7.0, float("inf"), -float("inf")]) for _ in range(count)]
    )
    rows = range(count)
    of_sizes = ranks(order, OWN, None, sizes.tobytes(), None).to_pylist()
    assert sorted(rows, key=of_sizes.__getitem__) == sorted(
        rows, key=lambda row: (-int(sizes[row]), order[row].as_py())
    )
    of_numbers = ranks(order, OWN, None, None, numbers).to_pylist()

    def key(row: int) -> tuple[Any, ...]:
        # Of zeros the positive one is larger; what is no number comes last.
        number, place = float(numbers[row]), order[row].as_py()
        return (True, 0, False, place) if np.isnan(number) else (False, -number, bool(np.signbit(number)), place)

    assert sorted(rows, key=of_numbers.__getitem__) == sorted(rows, key=key)
    names = pa.array([f"n{draw.randrange(10**6)}é"[: draw.randrange(1, 9)] + str(row) for row in rows])
    of_names = ranks(names, OWN, None, None, None).to_pylist()
    assert sorted(rows, key=of_names.__getitem__) == sorted(rows, key=lambda row: names[row].as_py().encode())


def test_what_is_signed_does_not_depend_on_batches():
    rows = mixed(300, seed=3)
    table = pa.table(
        {"order": [row["id"] for row in rows], "text": pa.array([row["text"] for row in rows], pa.string())}
    )

    def signed(batches: Iterator[pa.RecordBatch]) -> list[dict[str, Any]]:
        made = signing.sign_batches(batches, {"memory": "64MiB"}, OWN, False)
        return [row for batch in made for row in batch.to_pylist()]

    whole = signed(iter(table.to_batches()))
    assert whole == signed(cut(table, random.Random(1)))
    assert {row["state"] for row in whole} == {0, 1, 2}
    assert all(len(row["keys"]) == 18 for row in whole if row["state"] == 0)


def test_another_version_on_a_worker_is_refused_by_name():
    step = shipped("lookalike.spark.clustering.cluster_all", "star", expected=versions() | {"__version__": "9.8.7"})
    with pytest.raises(VersionError, match=rf"has lookalike {_core.__version__}, and the driver has 9\.8\.7"), told():
        list(step(iter(())))
