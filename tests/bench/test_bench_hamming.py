"""The rows on Hamming distances: their data are what they say, their answers those of comparing with everything."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench import definition, hamming
from bench.outcome import answer_of
from bench.works import Run

ROWS = {name: row for name, row in definition.load(definition.FOLDER).items() if row.work.startswith("hamming")}
SMALL = {"quick_fingerprints": 4000, "quick_queries": 300}


def naive(row: definition.Definition) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    values = hamming.fingerprints(row.options["data"], row.options["quick_fingerprints"])
    queries = hamming.queries_of(values, row.options["quick_queries"], row.options["distance"])
    distances = np.bitwise_count(queries[:, None] ^ values[None, :])
    query, position = np.nonzero(distances <= row.options["distance"])
    return query.astype(np.uint32), position.astype(np.uint64), distances[query, position].astype(np.uint32)


@pytest.mark.parametrize("name", ROWS)
def test_answers_match_naive(name: str) -> None:
    row = replace(ROWS[name], options=ROWS[name].options | SMALL)
    query, position, distance = naive(row)
    assert len(query) >= SMALL["quick_queries"] // 2
    work = hamming.online if row.work == "hamming" else hamming.streamed
    assert work(row, Run(quick=True)).answer == answer_of([query, position, distance], len(query))


def test_clusters_are_clusters() -> None:
    uniform, clustered = (hamming.fingerprints(kind, 5000) for kind in ("uniform", "clustered"))
    assert len(np.unique(uniform)) == 5000
    assert len(np.unique(clustered)) < 4960
    near = np.bitwise_count(clustered[2] ^ clustered) <= 10
    assert near.sum() > 10


def test_large_rows_wait_to_be_named() -> None:
    row = ROWS["hamming compact of 100 million"]
    with pytest.raises(hamming.SkippedError, match="--only"):
        hamming.sized(row, Run())
    assert hamming.sized(row, Run(is_named=True))[0] == 100_000_000
