"""Columns as Arrow and numpy see them, and columns of Arrow as input: each row as in a list."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.corpora import batching
from lookalike.corpora.batching import batches

TEXT = "to be or not to be, that is the question: whether it is nobler in the mind to suffer "
VALUES = [TEXT * 3, None, "", "zażółć gęślą jaźń 🐢 " * 20, TEXT, "short", None, TEXT * 9, "x" * 70] * 5

COLUMNS: dict[str, tuple[Callable[[], la.Column], pa.DataType]] = {
    "hashes": (lambda: la.fingerprint(TEXT * 3).hashes, pa.uint64()),
    "positions": (lambda: la.fingerprint(TEXT * 3).positions, pa.uint32()),
    "spans": (lambda: la.stream(TEXT).spans, pa.list_(pa.uint32(), 2)),
    "rows": (lambda: la.sketch_batch([TEXT, TEXT * 2], 7).rows, pa.list_(pa.uint64(), 7)),
    "no hashes": (lambda: la.fingerprint("").hashes, pa.uint64()),
    "no spans": (lambda: la.stream("").spans, pa.list_(pa.uint32(), 2)),
    "no rows": (lambda: la.sketch_batch([], 7).rows, pa.list_(pa.uint64(), 7)),
}


def as_listed(column: la.Column) -> list[Any]:
    return [list(item) if isinstance(item, tuple) else item for item in column.tolist()]


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_is_an_array_of_pyarrow(kind: str):
    make, expected = COLUMNS[kind]
    column = make()
    found = pa.array(column)
    found.validate(full=True)
    assert (found.type, found.null_count, found.to_pylist()) == (expected, 0, as_listed(column))


def test_nothing_is_copied():
    column = la.fingerprint(TEXT * 3).hashes
    assert pa.array(column).buffers()[1].address == np.asarray(column).ctypes.data
    rows = la.sketch_batch([TEXT], 4).rows
    assert pa.array(rows).values.buffers()[1].address == np.asarray(rows).ctypes.data


def test_an_array_outlives_its_column():
    expected = la.sketch_batch([TEXT] * 1000, 64).rows.tolist()
    arrays = [pa.array(la.sketch_batch([TEXT] * 1000, 64).rows) for _ in range(3)]
    child = arrays[0].flatten()
    gc.collect()
    _ = [bytes(512 * 1000) for _ in range(10)]
    assert all(array.to_pylist() == [list(row) for row in expected] for array in arrays)
    del arrays
    gc.collect()
    assert child.to_pylist() == [number for row in expected for number in row]


def test_capsules_that_nobody_takes_are_freed():
    column = la.fingerprint(TEXT * 3).hashes
    for _ in range(1000):
        column.__arrow_c_array__()
        column.__arrow_c_schema__()
    assert pa.DataType._import_from_c_capsule(column.__arrow_c_schema__()) == pa.uint64()


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_is_a_series_of_polars(kind: str):
    polars = pytest.importorskip("polars")
    make, _ = COLUMNS[kind]
    column = make()
    found = polars.Series(column)
    assert found.to_list() == as_listed(column)
    number = polars.UInt32 if "positions" in kind or "spans" in kind else polars.UInt64
    assert found.dtype == (polars.Array(number, 2 if "spans" in kind else 7) if column_is_wide(column) else number)


def column_is_wide(column: la.Column) -> bool:
    return memoryview(column).ndim == 2


def test_a_table_of_sketches_is_its_matrix():
    table = la.sketch_batch([TEXT, TEXT * 2, ""], 16)
    matrix = np.asarray(table)
    assert (matrix.shape, matrix.dtype) == ((3, 16), np.uint64)
    assert np.shares_memory(matrix, np.asarray(table.rows))
    assert np.asarray(table, dtype=np.float64).dtype == np.float64
    assert not np.shares_memory(np.array(table), np.asarray(table.rows)), "array copies where asarray does not"


def test_a_table_of_simhashes_is_its_column():
    table = la.simhash_batch([TEXT, "?!"])
    assert np.asarray(table).tolist() == table.fingerprints.tolist()
    assert np.shares_memory(np.asarray(table), np.asarray(table.fingerprints))


def polars_series(values: list[Any]) -> Any:
    return pytest.importorskip("polars").Series("text", values)


def pandas_series(kind: str) -> Callable[[list[Any]], Any]:
    def make(values: list[Any]) -> Any:
        pandas = pytest.importorskip("pandas")
        return pandas.Series(values, dtype="string[pyarrow]" if kind == "string[pyarrow]" else kind)

    return make


def arrow_backed(values: list[Any]) -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.Series(values, dtype=pandas.ArrowDtype(pa.large_string()))


INPUTS: dict[str, Callable[[list[Any]], Any]] = {
    **{str(kind): lambda values, kind=kind: pa.array(values, kind) for kind in (pa.string(), pa.large_string())},
    "string view": lambda values: pa.array(values, pa.string_view()),
    "dictionary": lambda values: pa.array(values, pa.string()).dictionary_encode(),
    "slice": lambda values: pa.array(["before", None, *values, "after"], pa.string())[2:-1],
    "slice at a byte": lambda values: pa.array([None, *"1234567", *values], pa.string())[8:],
    "chunks": lambda values: pa.chunked_array([values[:3], [], values[3:4], values[4:]], pa.string()),
    "no chunks, then one": lambda values: pa.chunked_array([[], values], pa.large_string()),
    "polars": polars_series,
    "pandas object": pandas_series("object"),
    "pandas str": pandas_series("str"),
    "pandas string": pandas_series("string[python]"),
    "pandas string of arrow": pandas_series("string[pyarrow]"),
    "pandas arrow": arrow_backed,
    "tuple": tuple,
    "iterator": iter,
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", INPUTS)
def test_a_column_gives_what_a_list_gives(kind: str, threads: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(batching, "BATCH_BYTES", 500)
    make = INPUTS[kind]
    assert la.fingerprint_batch(make(VALUES), k=5, t=8, threads=threads) == la.fingerprint_batch(VALUES, k=5, t=8)
    assert la.sketch_batch(make(VALUES), 8, threads=threads) == la.sketch_batch(VALUES, 8)
    assert la.simhash_batch(make(VALUES), threads=threads) == la.simhash_batch(VALUES)
    assert la.idf_table(make(VALUES)) == la.idf_table(VALUES)


@pytest.mark.parametrize("kind", [name for name in INPUTS if name not in ("tuple", "iterator")])
def test_a_column_makes_no_object_per_row(kind: str):
    assert all(isinstance(batch, tuple) for batch in batches(INPUTS[kind](VALUES)))


def test_null_is_a_document_that_cannot_be_read():
    table = la.fingerprint_batch(pa.array([TEXT * 2, None, "b"]), k=5, t=8)
    assert (len(table), table.offsets[1], table.offsets[2]) == (3, table.offsets[1], table.offsets[1])
    assert [(note.index, note.refused) for note in table.notes] == [(1, True)]
    assert table.notes[0].message == "there is no document: the value is null"
    assert la.simhash_batch(pa.array([None, "b"]))[0] is None
    sketches = la.sketch_batch(pa.array([None, "b"]), 4)
    assert (sketches.rows[0], sketches.shingles[0]) == ((2**64 - 1,) * 4, 0)


def test_bytes_are_read_in_their_encoding_as_in_a_list():
    values = [TEXT.encode("utf-16"), TEXT.encode(), "zażółć".encode("cp1250") * 20, None, b""]
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        assert la.fingerprint_batch(pa.array(values, kind), k=5, t=8) == la.fingerprint_batch(values, k=5, t=8)


def test_a_column_of_strings_that_are_no_utf8_is_mended_and_never_guessed_at():
    values = ["zażółć gęślą jaźń ".encode("cp1250") * 20, b"plain"]
    broken = pa.Array.from_buffers(pa.string(), 2, pa.array(values, pa.binary()).buffers())
    found = la.sketch_batch(broken, 8)
    assert found.rows == la.sketch_batch([value.decode("utf-8", "replace") for value in values], 8).rows
    assert [(note.index, note.refused) for note in found.notes] == [(0, False)]


@given(st.lists(st.none() | st.text(max_size=12), max_size=60), st.integers(0, 60), st.integers(1, 40))
def test_any_slice_and_any_size_of_batch(values: list[str | None], start: int, size: int):
    before, batching.BATCH_BYTES = batching.BATCH_BYTES, size
    try:
        found = la.fingerprint_batch(pa.array(values, pa.string())[start:], k=2, t=3)
    finally:
        batching.BATCH_BYTES = before
    assert found == la.fingerprint_batch(iter(values[start:]), k=2, t=3)


def test_mixed_values_of_pandas_are_read_one_by_one():
    pandas = pytest.importorskip("pandas")
    values = [TEXT, TEXT.encode(), None, float("nan"), pandas.NA]
    assert la.sketch_batch(pandas.Series(values, dtype=object), 8) == la.sketch_batch(
        [*values[:2], None, None, None], 8
    )


@pytest.mark.parametrize("table", [pa.table({"text": ["a"]}), pa.array([1, 2]), pa.array([["a"]])])
def test_what_is_no_column_of_texts_is_refused(table: Any):
    with pytest.raises(la.ParameterError, match="text column of `texts` holds"):
        la.sketch_batch(table)


def test_without_pyarrow_a_column_is_read_like_a_list():
    pytest.importorskip("polars")
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import polars, lookalike as la\n"
        "values = ['to be or not to be, that is the question', None, 'b']\n"
        "print(la.sketch_batch(polars.Series(values)) == la.sketch_batch(values))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "True\n"


def test_files_are_given_as_paths(tmp_path: Path):
    (tmp_path / "a.txt").write_bytes(TEXT.encode("utf-16"))
    (tmp_path / "b.txt").write_text(TEXT)
    mixed = [tmp_path / "a.txt", "a text", tmp_path / "b.txt", None]
    expected = [TEXT.encode("utf-16"), "a text", TEXT.encode(), None]
    for threads in (1, 2):
        assert la.sketch_batch(mixed, 8, threads=threads) == la.sketch_batch(expected, 8)


def test_many_rows_on_all_threads():
    rng = random.Random(7)
    words = [f"word{number}" for number in range(500)]
    values = [" ".join(rng.choices(words, k=rng.randrange(60))) for _ in range(20_000)]
    assert la.sketch_batch(pa.array(values), 4) == la.sketch_batch(values, 4)
