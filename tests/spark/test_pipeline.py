"""The steps of a job one after the other in one process, each in small batches and windows: the pairs of one machine.

Spark's shuffles are dictionaries and sorts here, and rows that it holds equal come in any order. So what a cluster
meets only with millions of pairs, such as a cell that is judged in several windows, runs on some hundred documents.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from lookalike import _core
from lookalike.deduplication.settings import Settings
from lookalike.spark import cells, contaminated, judging, proposing, signing
from lookalike.spark.ranks import OWN
from lookalike.spark.shipping import filled, plain
from support import engines
from support.generated import Row, mixed

Step = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
Rows = list[dict[str, Any]]
#: What is known of a document where sketches are compared, and where texts are.
SKETCHES = [
    *(("sketch", pa.binary()), ("print", pa.int64()), ("length", pa.int32())),
    *(("language", pa.int8()), ("content", pa.binary())),
]
TEXTS = [("text", pa.string())]


def crowded() -> list[Row]:
    """Many different texts with few fingerprints."""
    base = random.Random(4).choices([f"w{number}" for number in range(4000)], k=300)
    texts = [" ".join([*base, f"x{place}"]) for place in range(220)]
    return [{"id": place, "text": text, "number": None, "name": str(place)} for place, text in enumerate(texts)]


class Steps:
    """Runs steps on rows that are cut into batches of any size."""

    def __init__(self, seed: int, chosen: dict[str, Any]) -> None:
        self.draw, self.chosen = random.Random(seed), {"memory": "64MiB", **plain(chosen), "threads": 1}
        self.asked = filled(self.chosen)

    def run(self, step: Step, rows: Rows, schema: pa.Schema) -> Rows:
        return [row for batch in step(self._cut(rows, schema)) for row in batch.to_pylist()]

    def _cut(self, rows: Rows, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        start = 0
        while start < len(rows):
            size = self.draw.randrange(60)
            yield pa.RecordBatch.from_pylist(rows[start : start + size], schema)
            start += size

    def signed(self, rows: list[Row]) -> Rows:
        kinds = [("order", pa.int64()), ("text", pa.string())]
        if self.asked.number_column is not None:
            kinds.append(("number", pa.float64()))
        given = [{"order": row["id"], **row} for row in rows]
        self.draw.shuffle(given)
        step: Step = lambda batches: signing.sign_batches(batches, self.chosen, OWN, False)  # noqa: E731
        return self.run(step, given, pa.schema(kinds))

    def proposed(self, documents: Rows, side: int) -> Rows:
        kinds = [("key", pa.int64()), ("rank", pa.binary())]
        if self.asked.method == "simhash":
            kinds[1:1] = [("other", pa.int64()), ("role", pa.int8())]
            listed = near_prints(documents, self.asked.distance)
        else:
            listed = [{"key": key, "rank": one["rank"]} for one in documents for key in set(one["keys"])]
        listed.sort(key=lambda row: (row["key"], row.get("other"), row["rank"]))
        step: Step = lambda batches: proposing.pair_batches(batches, False, side)  # noqa: E731
        return [
            row
            for part in range(2)
            for row in self.run(step, [row for row in listed if row["key"] % 2 == part], pa.schema(kinds))
        ]

    def in_cells(self, bundles: Rows, known: dict[bytes, dict[str, Any]], kinds: list[Any], step: Step) -> Rows:
        """Run a step on bundles and what is known of the documents of their pairs, in three tasks."""
        tasks = defaultdict[int, Rows](list)
        for cell, rank in {(one["cell"], rank) for one in bundles for rank in one["ranks"]}:
            tasks[cell % 3].append({"cell": cell, "tag": 0, "rank": rank, **known[rank]})
        for one in bundles:
            tasks[one["cell"] % 3].append({**one, "tag": 1})
        names = [("cell", pa.int32()), ("tag", pa.int32()), ("rank", pa.binary()), *kinds]
        schema = pa.schema([*names, ("ranks", pa.list_(pa.binary())), ("pairs", pa.binary())])
        found: Rows = []
        for rows in tasks.values():
            self.draw.shuffle(rows)
            found += self.run(step, sorted(rows, key=lambda row: (row["cell"], row["tag"])), schema)
        return found

    def pairs(self, rows: list[Row], side: int, further: int) -> tuple[Rows, Rows]:
        """Return edges, and the crowded keys. ``side`` and ``further`` are cells along a side of both steps."""
        signed = self.signed(rows)
        first: dict[bytes, dict[str, Any]] = {}
        for row in sorted(signed, key=lambda row: row["rank"]):
            first.setdefault(row["content"], row)
        documents = {row["rank"]: row for row in first.values() if row["state"] == 0}
        proposals = self.proposed(list(documents.values()), side)
        by_sketch = self.asked.is_by_features or self.asked.is_by_distance
        glance: Step = lambda batches: judging.glance_batches(batches, self.chosen, by_sketch, further)  # noqa: E731
        score: Step = lambda batches: judging.score_batches(batches, self.chosen, by_sketch, True)  # noqa: E731
        bundles = [row for row in proposals if row["cell"] is not None]
        sketches = {rank: {name: row[name] for name, _ in SKETCHES} for rank, row in documents.items()}
        possible = self.in_cells(bundles, sketches, SKETCHES, glance)
        if by_sketch:
            edges = self.in_cells(possible, sketches, SKETCHES, score)
        else:
            of_id = {row["id"]: row["text"] for row in rows}
            texts = {rank: {"text": of_id[row["id"]]} for rank, row in documents.items()}
            edges = self.in_cells(possible, texts, TEXTS, score)
        ids = {row["rank"]: row["id"] for row in signed}
        named = [{**edge, "left": ids[edge["left"]], "right": ids[edge["right"]]} for edge in edges]
        return named, [row for row in proposals if row["cell"] is None]


def near_prints(documents: Rows, distance: int) -> Rows:
    """Return the holders of each fingerprint, and of each two near ones, with what they do in their list."""
    holders = defaultdict[int, list[bytes]](list)
    for one in documents:
        if one["print"] is not None:
            holders[one["print"]].append(one["rank"])
    listed = []
    for key in holders:
        for other in holders:
            if key == other:
                listed += [{"key": key, "other": key, "role": 0, "rank": rank} for rank in holders[key]]
            elif ((key ^ other) % 2**64).bit_count() <= distance:
                listed += [
                    {"key": key, "other": other, "role": role, "rank": rank}
                    for role, of in ((1, key), (2, other))
                    for rank in holders[of]
                ]
    return listed


@pytest.mark.parametrize("window", [64, 4096, cells.WAITING_BYTES])
@pytest.mark.parametrize(
    ("rows", "chosen"),
    [
        (mixed(500, 1), {}),
        (mixed(400, 2), {"method": "containment", "keep": "longest"}),
        (mixed(400, 3), {"method": "simhash", "distance": 6, "keep": "max:number"}),
        (crowded(), {"method": "simhash", "distance": 3}),
    ],
    ids=["minhash", "containment", "simhash", "crowded"],
)
def test_pairs_are_those_of_one_machine_whatever_waits(
    rows: list[Row], chosen: dict[str, Any], window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "WAITING_BYTES", window)
    monkeypatch.setattr(cells, "BATCH_BYTES", 40 * window)
    monkeypatch.setattr(cells, "_TAKEN", 1)
    steps = Steps(window, chosen)
    edges, crowds = steps.pairs(rows, steps.draw.choice([1, 2, 5]), steps.draw.choice([1, 3, 4]))
    expected = engines.local(rows, **chosen)
    found = sorted((edge["left"], edge["right"], engines.bits(edge["score"])) for edge in edges)
    assert found == [pair[:3] for pair in expected["pairs"] if pair[3] != "identical"]
    assert found
    told = sorted((row["key"] % 2**64, row["documents"], row["untried"]) for row in crowds)
    assert told == expected["summary"]["capped"]


def test_long_sketches_are_made_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = mixed(200, 5)
    whole = Steps(1, {"size": 400, "recall": 1}).signed(rows)
    parts: list[int] = []
    signed = signing.signed

    def counted(core: _core.Corpus, asked: Settings, texts: pa.Array) -> _core.SignedColumns:
        parts.append(len(texts))
        return signed(core, asked, texts)

    monkeypatch.setattr(signing, "_PART_BYTES", 3 * 12 * 400)
    monkeypatch.setattr(signing, "signed", counted)
    assert Steps(1, {"size": 400, "recall": 1}).signed(rows) == whole
    assert (max(parts), sum(parts)) == (3, len(rows))


def test_rows_that_have_every_reference_are_looked_up_in_small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before them come many that have none, and could be looked up together."""
    draw, count = random.Random(6), 20
    words = [f"w{number}" for number in range(400)]
    references = [" ".join(draw.choices(words, k=12)) for _ in range(count)]
    texts = [" ".join(draw.choices(words, k=60)) for _ in range(300)]
    texts += [" . ".join(draw.sample(references, count)) for _ in range(40)]
    steps = Steps(7, {"method": "containment", "shingle": 5})
    signed = steps.signed([{"id": at, "text": text, "number": None} for at, text in enumerate(references + texts)])
    contents = {row["id"]: row["content"] for row in signed}
    rows: Rows = [
        {"cell": 0, "tag": int(at >= count), "rank": b"%03d" % at, "content": contents[at], "text": text}
        for at, text in enumerate(references + texts)
    ]
    held: list[int] = []
    drain = _core.drain_matches

    def drained(core: _core.Corpus) -> Any:
        made = drain(core)
        held.append(len(made[-1]))
        return made

    monkeypatch.setattr(contaminated, "_MOST_FOUND", 100)
    monkeypatch.setattr(_core, "drain_matches", drained)
    kinds = [("cell", pa.int32()), ("tag", pa.int32()), ("rank", pa.binary()), ("content", pa.binary())]
    step: Step = lambda batches: contaminated.look_up(batches, steps.chosen)  # noqa: E731
    found = steps.run(step, rows, pa.schema([*kinds, ("text", pa.string())]))
    ranks = [row["rank"] for row in rows]
    expected = [(left, right) for left in ranks[:count] for right in ranks[-40:]]
    assert sorted((one["left"], one["right"]) for one in found) == expected
    assert max(held) == 100
