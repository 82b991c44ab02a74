"""Tables and iterables: their texts come out of whatever holds them, and the same kind of thing comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.corpora import open_object
from lookalike.corpora.arrays import texts_of
from lookalike.corpora.batches import packed, unpacked
from lookalike.errors import ParameterError
from support.corpora import rows, texts

VALUES = ["a", None, "b", "a", "żółw 🐢", ""]
EXPECTED = [None if one is None else one.encode() for one in VALUES]
MASK = bytes([1, 1, 1, 0, 1, 1])
TABLE = pa.table({"id": range(6), "text": VALUES, "other": list("uvwxyz")})
KEPT = [0, 1, 2, 4, 5]


def polars_frame() -> Any:
    return pytest.importorskip("polars").DataFrame(TABLE)


def pandas_frame() -> Any:
    pytest.importorskip("pandas")
    return TABLE.to_pandas()


def dataset() -> Any:
    datasets = pytest.importorskip("datasets")
    return datasets.Dataset(TABLE)


def shuffled_dataset() -> Any:
    """A dataset whose rows are not those of its table."""
    datasets = pytest.importorskip("datasets")
    order = [3, 5, 0, 1, 4, 2]
    return datasets.Dataset(TABLE.take([order.index(row) for row in range(6)])).select(order)


KINDS: dict[str, tuple[Callable[[], Any], Callable[[Any], list[Any]]]] = {
    "pyarrow table": (lambda: TABLE, lambda found: found["id"].to_pylist()),
    "pyarrow chunks": (
        lambda: pa.concat_tables([TABLE[:1], TABLE[1:4], TABLE[4:]]),
        lambda found: found["id"].to_pylist(),
    ),
    "pyarrow batch": (lambda: TABLE.to_batches()[0], lambda found: found["id"].to_pylist()),
    "pyarrow reader": (TABLE.to_reader, lambda found: found.read_all()["id"].to_pylist()),
    "polars": (polars_frame, lambda found: found["id"].to_list()),
    "pandas": (pandas_frame, lambda found: found["id"].tolist()),
    "dataset": (dataset, lambda found: found["id"][:]),
    "shuffled dataset": (shuffled_dataset, lambda found: found["id"][:]),
    "dicts": (TABLE.to_pylist, lambda found: [row["id"] for row in found]),
    "tuple of dicts": (lambda: tuple(TABLE.to_pylist()), lambda found: [row["id"] for row in found]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_read_and_the_same_kind_comes_back_without_some(kind: str):
    make, ids = KINDS[kind]
    given_object = make()
    source = open_object(given_object)
    for _ in range(2):
        assert rows(source) == list(zip(map(str, range(6)), EXPECTED, strict=True)), "also the second time"
    found = source.select(MASK)
    assert type(found) is type(given_object)
    assert list(ids(found)) == KEPT


def test_a_relation_of_duckdb_comes_back_as_one():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.from_arrow(TABLE)
    source = open_object(relation)
    assert texts(source) == EXPECTED
    found = source.select(MASK)
    assert type(found) is type(relation)
    assert [row[0] for row in found.fetchall()] == KEPT


@pytest.mark.parametrize("kind", [list, tuple, iter])
def test_an_iterable_of_texts_is_rows_without_ids(kind: Callable[[Any], Any]):
    source = open_object(kind(VALUES))
    assert rows(source) == [(None, one) for one in EXPECTED]
    assert list(source.select(MASK)) == ["a", None, "b", "żółw 🐢", ""]


def test_other_columns_of_a_table_come_back_untouched():
    assert open_object(TABLE).select(MASK).column_names == ["id", "text", "other"]


def test_a_row_without_a_text_is_kept_and_reported():
    source = open_object([{"text": 5, "id": 1}, {"id": 2}, {"text": "a"}])
    assert rows(source) == [("1", None), ("2", None), (None, b"a")]
    assert [(problem.place, problem.reason) for problem in source.problems] == [
        ("row 0", "its text is int, no string; it is not compared")
    ]


@pytest.mark.parametrize("given_object", ["a text", b"bytes", {"text": "a"}, 5, None])
def test_what_has_no_rows_is_refused(given_object: object):
    with pytest.raises(ParameterError, match="which has no rows"):
        open_object(given_object)


@pytest.mark.parametrize("given_object", [TABLE, TABLE.to_pylist()], ids=["table", "dicts"])
def test_a_column_that_is_not_there_is_refused_with_those_that_are(given_object: object):
    with pytest.raises(ParameterError, match=r"text column `body` is not in `.*`: it has `id`, `text`, `other`"):
        open_object(given_object, "body")
    with pytest.raises(ParameterError, match="id column `key`"):
        open_object(given_object, "text", "key")


def test_a_column_of_numbers_is_refused():
    with pytest.raises(ParameterError, match="holds int64"):
        list(open_object(TABLE, "id").batches())


ARRAYS = st.lists(st.none() | st.text(max_size=5), max_size=40)
TYPES = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]


@given(ARRAYS, st.integers(0, 40), st.integers(0, 40), st.sampled_from(TYPES))
def test_buffers_of_any_slice_say_what_the_slice_says(
    values: list[str | None], start: int, length: int, kind: pa.DataType
):
    part = pa.array(values, pa.string()).cast(kind).slice(start, length) if start <= len(values) else pa.array([], kind)
    batch, notes = texts_of(part, "test")
    expected = [None if one is None else one.encode() for one in values[start : start + length]]
    assert (unpacked(batch), notes) == (expected, [])
    assert memoryview(batch.offsets).nbytes == batch.width * (batch.rows + 1)


@given(st.lists(st.none() | st.binary(max_size=5), max_size=40))
def test_texts_packed_without_arrow_are_unpacked_again(values: list[bytes | None]):
    assert unpacked(packed(values, None)) == values


def test_texts_that_are_too_long_are_left_out_and_counted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lookalike.corpora.arrays.RECORD_BYTES", 10)
    batch, notes = texts_of(pa.array(["short", "far too long for this", None, "ok"]), "test")
    assert unpacked(batch) == [b"short", None, None, b"ok"]
    assert notes == ["1 texts are longer than 10 bytes; they are not compared"]
