"""`order`: rows are in the order of a column, wherever they stand."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lookalike as la
from lookalike.errors import ParameterError
from support.generated import mixed

ROWS = mixed(400, seed=8)


def removed(found: la.Deduplication, rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The removed rows by id, with the row kept for each and the score."""
    return sorted((rows[row]["id"], rows[found.survivors[row]]["id"], found.resemblances[row]) for row in found.gone)


@pytest.mark.parametrize("keep", ["first", "longest", "max:number"])
@pytest.mark.parametrize("column", ["id", "name"])
def test_the_answer_is_that_of_sorted_rows(column: str, keep: str, tmp_path: Path):
    rows = random.Random(1).sample(ROWS, len(ROWS))
    by = sorted(rows, key=lambda row: row[column])
    expected = removed(la.dedup(pa.Table.from_pylist(by), keep=keep), by)
    assert removed(la.dedup(pa.Table.from_pylist(rows), keep=keep, order=column), rows) == expected
    assert removed(la.dedup(pa.Table.from_pylist(rows), keep=keep), rows) != expected
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert removed(la.dedup(file, keep=keep, order=column), rows) == expected


def test_references_have_an_order_of_their_own():
    rows, references = ROWS[:200], random.Random(2).sample(ROWS[:100], 100)
    by = sorted(references, key=lambda row: row["id"])
    expected = removed(la.dedup(pa.Table.from_pylist(rows), against=pa.Table.from_pylist(by)), [*by, *rows])
    found = la.dedup(pa.Table.from_pylist(rows), against=pa.Table.from_pylist(references), order="id")
    assert removed(found, [*references, *rows]) == expected


@pytest.mark.parametrize(
    ("values", "reason"),
    [([1, 1], "in rows 0 and 1"), ([1, None], "no value in row 1"), ([1, "1"], "numbers and strings")],
)
def test_an_order_with_ties_or_gaps_is_refused(values: list[Any], reason: str, tmp_path: Path):
    file = tmp_path / "rows.jsonl"
    rows = [{"text": f"text number {place}", "place": value} for place, value in enumerate(values)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(ParameterError, match=f"order column `place` .*{reason}"):
        la.dedup(file, order="place")
