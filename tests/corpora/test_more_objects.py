"""More objects with rows: single columns, datasets, lazy frames, splits, nested columns, columns that hold anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.corpora import open_object
from lookalike.corpora.lines import ChangedError
from lookalike.errors import ParameterError
from support.corpora import rows, texts

VALUES = ["a", None, "b", "a", "żółw 🐢", ""]
EXPECTED = [None if one is None else one.encode() for one in VALUES]
MASK = bytes([1, 1, 1, 0, 1, 1])
LEFT = ["a", None, "b", "żółw 🐢", ""]
TABLE = pa.table({"id": range(6), "text": VALUES, "other": list("uvwxyz")})
KEPT = [0, 1, 2, 4, 5]


def polars() -> Any:
    return pytest.importorskip("polars")


def pandas() -> Any:
    return pytest.importorskip("pandas")


COLUMNS: dict[str, tuple[Callable[[], Any], Callable[[Any], list[Any]]]] = {
    "array": (lambda: pa.array(VALUES), lambda found: found.to_pylist()),
    "large array": (lambda: pa.array(VALUES, pa.large_string()), lambda found: found.to_pylist()),
    "view": (lambda: pa.array(VALUES, pa.string_view()), lambda found: found.to_pylist()),
    "dictionary": (lambda: pa.array(VALUES).dictionary_encode(), lambda found: found.to_pylist()),
    "bytes": (lambda: pa.array(EXPECTED), lambda found: found.cast(pa.string()).to_pylist()),
    "chunks": (lambda: pa.chunked_array([VALUES[:2], VALUES[2:]]), lambda found: found.to_pylist()),
    "polars": (lambda: polars().Series("t", VALUES), lambda found: found.to_list()),
    "pandas": (lambda: pandas().Series(VALUES), lambda found: [one if isinstance(one, str) else None for one in found]),
    "pandas objects": (
        lambda: pandas().Series(VALUES, dtype=object, index=list("aabbcc")),
        lambda found: [one if isinstance(one, str) else None for one in found],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_single_column_is_texts_and_comes_back_as_it_was(kind: str):
    make, listed = COLUMNS[kind]
    given = make()
    source = open_object(given)
    for _ in range(2):
        assert rows(source) == [(None, one) for one in EXPECTED]
    found = source.select(MASK)
    assert type(found) is type(given)
    assert listed(found) == LEFT
    assert getattr(found, "type", None) == getattr(given, "type", None)


def test_a_series_keeps_its_name_and_index():
    given = pandas().Series(VALUES, name="t", index=list("abcdef"))
    found = open_object(given).select(MASK)
    assert (found.name, list(found.index)) == ("t", list("abcef"))
    assert open_object(polars().Series("t", VALUES)).select(MASK).name == "t"


def test_a_column_of_structs_is_a_table():
    given = TABLE.to_struct_array().combine_chunks()
    source = open_object(given)
    assert rows(source) == list(zip(map(str, range(6)), EXPECTED, strict=True))
    found = source.select(MASK)
    assert type(found) is type(given)
    assert [row["id"] for row in found.to_pylist()] == KEPT


@pytest.mark.parametrize("given", [pa.array([1, 2]), pa.chunked_array([[1.5]])])
def test_a_column_of_numbers_is_refused(given: Any):
    with pytest.raises(la.ParameterError, match="holds"):
        list(open_object(given).batches())


def test_a_number_column_is_no_part_of_a_column():
    with pytest.raises(la.ParameterError, match="number column `stars` is not in `arrow`"):
        open_object(pa.array(VALUES), number_column="stars")


@pytest.fixture
def dataset(tmp_path: Path) -> ds.Dataset:
    for number, part in enumerate((TABLE[:2], TABLE[2:5], TABLE[5:])):
        pq.write_table(part, tmp_path / f"{number}.parquet")
    return ds.dataset(tmp_path)


def test_a_dataset_of_files_is_scanned_and_comes_back_as_one_in_memory(dataset: ds.Dataset):
    source = open_object(dataset)
    for _ in range(2):
        assert rows(source) == list(zip(map(str, range(6)), EXPECTED, strict=True))
    found = source.select(MASK)
    assert isinstance(found, ds.Dataset)
    assert found.schema == dataset.schema
    assert found.to_table()["id"].to_pylist() == KEPT
    assert isinstance(open_object(found).select(b"\1" * 5), ds.Dataset)


def test_a_dataset_that_has_changed_is_refused(dataset: ds.Dataset):
    for mask in (MASK[:-1], MASK + b"\1"):
        with pytest.raises(ChangedError, match="the input changed"):
            open_object(dataset).select(mask)


def test_a_column_that_is_not_in_a_dataset_is_refused(dataset: ds.Dataset):
    with pytest.raises(la.ParameterError, match="it has `id`, `text`, `other`"):
        open_object(dataset, "body")


def test_a_lazy_frame_is_read_once_and_comes_back_lazy():
    reads = []

    def noted(frame: Any) -> Any:
        reads.append(len(frame))
        return frame

    given = polars().DataFrame(TABLE).lazy().map_batches(noted)
    source = open_object(given)
    for _ in range(2):
        assert rows(source) == list(zip(map(str, range(6)), EXPECTED, strict=True))
    found = source.select(MASK)
    assert type(found) is type(given)
    assert found.collect()["id"].to_list() == KEPT
    assert reads == [6]


class Dataset:
    """A stand-in with the protocol of a dataset of Hugging Face, rows in an order of its own."""

    def __init__(self, table: pa.Table, order: list[int] | None = None, format: str | None = None) -> None:
        self.table, self.format = table, format
        self.order = list(range(table.num_rows)) if order is None else order

    @property
    def column_names(self) -> list[str]:
        return list(self.table.column_names)

    @property
    def num_rows(self) -> int:
        return len(self.order)

    @property
    def features(self) -> Any:
        return type("Features", (), {"arrow_schema": self.table.schema})

    def select(self, indices: list[int]) -> Dataset:
        return Dataset(self.table, [self.order[index] for index in indices])

    def select_columns(self, names: list[str]) -> Dataset:
        return Dataset(self.table.select(names), self.order)

    def with_format(self, format: str) -> Dataset:
        return Dataset(self.table, self.order, format)

    def iter(self, batch_size: int) -> Iterator[pa.Table]:
        assert self.format == "arrow"
        taken = self.table.take(pa.array(self.order, pa.int64()))
        yield from (taken[start : start + batch_size] for start in range(0, taken.num_rows, batch_size))


class Splits(dict[str, Any]):
    """A stand-in for a dictionary of datasets."""


def stand_ins() -> tuple[Any, Callable[[pa.Table], Any]]:
    return Splits, Dataset


def real_ones() -> tuple[Any, Callable[[pa.Table], Any]]:
    datasets = pytest.importorskip("datasets")
    return datasets.DatasetDict, datasets.Dataset


KINDS = pytest.mark.parametrize("kinds", [stand_ins, real_ones])


@KINDS
def test_a_dataset_in_an_order_of_its_own(kinds: Callable[[], Any]):
    given = kinds()[1](TABLE).select([3, 5, 0])
    source = open_object(given)
    assert rows(source) == [("3", b"a"), ("5", b""), ("0", b"a")]
    found = source.select(bytes([1, 0, 1]))
    assert type(found) is type(given)
    assert rows(open_object(found)) == [("3", b"a"), ("0", b"a")]


@KINDS
def test_splits_are_read_as_one_corpus_and_come_back_as_splits(kinds: Callable[[], Any]):
    make, dataset = kinds()
    given = make({"train": dataset(TABLE[:4]), "empty": dataset(TABLE[:0]), "test": dataset(TABLE[4:])})
    source = open_object(given)
    for _ in range(2):
        assert rows(source) == list(zip(map(str, range(6)), EXPECTED, strict=True))
    found = source.select(MASK)
    assert type(found) is type(given)
    assert list(found) == ["train", "empty", "test"]
    assert [type(one) for one in found.values()] == [type(one) for one in given.values()]
    ids = {name: [row[0] for row in rows(open_object(one))] for name, one in found.items()}
    assert ids == {"train": ["0", "1", "2"], "empty": [], "test": ["4", "5"]}
    with pytest.raises(ChangedError):
        source.select(MASK[:-1])


@KINDS
def test_what_is_in_one_split_leaves_the_next(kinds: Callable[[], Any]):
    make, dataset = kinds()
    text = "the same long enough text in both of the splits, word by word"
    given = make(
        {"train": dataset(pa.table({"text": [text, "one"]})), "test": dataset(pa.table({"text": ["two", text]}))}
    )
    answer = la.dedup(given)
    assert answer.gone == [3]
    assert [one.num_rows for one in answer.select().values()] == [2, 1]


def nested(row: int, text: str | None) -> dict[str, Any] | None:
    return None if text is None else {"text": text, "meta": {"id": f"n{row}", "stars": row}}


NESTED = pa.table({"doc": [nested(row, one) for row, one in enumerate(VALUES)], "a.b": ["plain"] * 6})
NAMES = [None if one is None else f"n{row}" for row, one in enumerate(VALUES)]

HOLDERS: dict[str, Callable[[], Any]] = {
    "table": lambda: NESTED,
    "batch": lambda: NESTED.to_batches()[0],
    "reader": lambda: NESTED.to_reader(),
    "scan": lambda: ds.dataset(NESTED),
    "polars": lambda: polars().DataFrame(NESTED),
    "lazy": lambda: polars().DataFrame(NESTED).lazy(),
    "pandas": lambda: pandas() and NESTED.to_pandas(),
    "dataset": lambda: real_ones()[1](NESTED),
    "stand-in": lambda: Dataset(NESTED),
    "dicts": lambda: NESTED.to_pylist(),
}


@pytest.mark.parametrize("kind", HOLDERS)
def test_a_path_leads_to_nested_columns(kind: str):
    given = HOLDERS[kind]()
    source = open_object(given, "doc.text", "doc.meta.id")
    assert rows(source) == list(zip(NAMES, EXPECTED, strict=True))
    found = source.select(MASK)
    assert type(found) is type(given) or kind == "scan"
    assert texts(open_object(HOLDERS[kind](), "a.b")) == [b"plain"] * 6, "a column of that very name comes first"
    with pytest.raises(la.ParameterError, match=r"text column `doc.body` is not in `.*`: it has `doc`"):
        open_object(HOLDERS[kind](), "doc.body")
    with pytest.raises(la.ParameterError, match=r"text column `none.text`"):
        open_object(HOLDERS[kind](), "none.text")


@pytest.mark.parametrize("kind", ["table", "pandas", "polars", "dicts"])
def test_a_nested_number_decides_who_survives(kind: str):
    text = "a text that is long enough to be compared with another one of its kind"
    holder = pa.table({"doc": [{"text": text, "stars": 1}, {"text": text, "stars": 5}, {"text": text, "stars": 3}]})
    make = {
        "table": lambda: holder,
        "pandas": lambda: pandas() and holder.to_pandas(),
        "polars": lambda: polars().DataFrame(holder),
        "dicts": holder.to_pylist,
    }
    given = make[kind]()
    answer = la.dedup(given, text_column="doc.text", keep="max:doc.stars")
    assert answer.gone == [0, 2]


def test_nested_columns_of_parquet(tmp_path: Path):
    pq.write_table(NESTED, tmp_path / "nested.parquet")
    report = la.simhash_corpus(
        tmp_path / "nested.parquet", tmp_path / "out.csv", text_column="doc.text", id_column="doc.meta.id"
    )
    assert (report.states["fingerprinted"], report.states["missing"]) == (4, 2)
    found = (tmp_path / "out.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in found[1:]] == [name or f"{tmp_path}/nested.parquet:2" for name in NAMES]
    clusters = tmp_path / "clusters.csv"
    la.dedup(tmp_path / "nested.parquet", text_column="doc.text", id_column="doc.meta.id", clusters=clusters)
    assert "n3" in clusters.read_text()


def test_string_views_in_tables_and_datasets():
    views = pa.table(
        {"text": pa.array(VALUES, pa.string_view()), "id": range(6), "b": pa.array(EXPECTED, pa.binary_view())}
    )
    for given in (views, views.to_batches()[0], ds.dataset(views)):
        found = open_object(given).select(MASK)
        kept = found.to_table() if isinstance(found, ds.Dataset) else found
        assert kept.schema == views.schema
        assert (kept["id"].to_pylist(), kept["text"].to_pylist()) == (KEPT, LEFT)


def mixed() -> Any:
    pandas()
    frame = TABLE.to_pandas()
    frame["anything"] = [1, "two", 3.0, None, {"four": 4}, object()]
    return frame


def test_the_other_columns_of_a_frame_may_hold_anything():
    given = mixed()
    source = open_object(given)
    assert rows(source) == list(zip(map(str, range(6)), EXPECTED, strict=True))
    found = source.select(MASK)
    assert type(found) is type(given)
    assert found["id"].tolist() == KEPT
    assert found["anything"].tolist() == [given["anything"][row] for row in KEPT]


def test_a_text_column_of_mixed_values_is_read_row_by_row():
    frame = pandas().DataFrame({"text": ["a", 5, None, float("nan"), b"b"], "id": [1, 2, 3, 4, 5]})
    source = open_object(frame)
    assert texts(source) == [b"a", None, None, None, b"b"]
    assert [problem.place for problem in source.problems] == ["row 1"]
    found = source.select(bytes([0, 1, 1, 1, 1]))
    assert type(found) is type(frame)
    assert found["id"].tolist() == [2, 3, 4, 5]


def test_objects_in_other_columns_of_polars():
    frame = polars().DataFrame({"text": ["a", "b"], "any": polars().Series([object(), {1}], dtype=polars().Object)})
    source = open_object(frame)
    assert texts(source) == [b"a", b"b"]
    assert source.select(bytes([0, 1]))["text"].to_list() == ["b"]


def test_a_frame_without_the_column_is_refused():
    for given in (mixed(), polars().DataFrame(TABLE)):
        with pytest.raises(la.ParameterError, match="text column `body` is not in `arrow`"):
            open_object(given, "body")


@pytest.mark.parametrize(
    "make",
    [
        lambda values: pa.array(values),
        lambda values: pa.chunked_array([values]),
        lambda values: pa.array(values, pa.string_view()),
        lambda values: ds.dataset(pa.table({"text": values})),
        lambda values: polars().LazyFrame({"text": values}),
        lambda values: polars().Series(values),
        lambda values: pandas().Series(values),
    ],
    ids=["array", "chunked array", "string view", "dataset", "lazy frame", "polars series", "pandas series"],
)
def test_dedup_and_simhash_corpus_take_them(make: Callable[[list[str]], Any], tmp_path: Path):
    text = "a text that is long enough to be compared with another one of its kind"
    values = [text, "something else", text]
    answer = la.dedup(make(values))
    assert answer.gone == la.dedup(values).gone == [2]
    assert len(texts(open_object(answer.select()))) == 2
    report = la.simhash_corpus(make(values), tmp_path / "out.parquet")
    assert (report.rows, report.distinct) == (3, 2)


def test_a_dictionary_of_views_is_read_as_its_texts():
    views = pa.array(["one two three four five six", "b"], pa.string_view())
    texts = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, None], pa.uint32()), views)
    found = la.dedup(pa.table({"text": texts}))
    assert found.removed["identical"] == 1
    assert list(found.gone) == [2]


def derived_frame(columns: dict[str, Any]) -> Any:
    """A frame of a class of one's own, which the package of frames did not make."""
    own = type("Own", (pandas().DataFrame,), {"__module__": "own", "_constructor": property(lambda frame: type(frame))})
    return own(columns)


MIXED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": lambda columns: pandas().DataFrame(columns),
    "derived from pandas": derived_frame,
    "polars": lambda columns: polars().DataFrame(
        {
            name: polars().Series(values, dtype=None if name == "text" else polars().Object)
            for name, values in columns.items()
        }
    ),
}


@pytest.mark.parametrize("kind", MIXED)
def test_a_column_of_anything_is_beside_the_point(kind: str):
    text = "one two three four five six seven"
    frame = MIXED[kind]({"text": [text, "other", text], "mixed": [1, "a", [2.5]]})
    left = la.dedup(frame).select()
    assert type(left) is type(frame)
    assert left.shape == (2, 2)
    assert list(left["text"]) == [text, "other"]
    assert list(left["mixed"]) == [1, "a"]


def test_a_table_that_no_package_reads_is_refused_and_never_iterated():
    class Table:
        columns = ("text", "other")

        def __iter__(self) -> Iterator[str]:
            return iter(self.columns)

    with pytest.raises(ParameterError, match="a table that cannot be read as Arrow: give its column of texts"):
        la.dedup(Table())


def test_a_mixed_text_column_is_read_and_what_is_no_text_is_told():
    text = "one two three four five six seven"
    frame = pandas().DataFrame({"text": [text, 3, text, ["x"]], "other": [1, "a", None, {}]})
    found = la.dedup(frame)
    assert found.gone == [2]
    assert [problem.place for problem in found.problems] == ["row 1", "row 3"]
    assert found.select().index.tolist() == [0, 1, 3]


def test_two_columns_of_one_name_are_refused():
    frame = pandas().DataFrame([["a", "b"]], columns=["text", "text"])
    with pytest.raises(ParameterError, match="`text` is the name of several columns"):
        la.dedup(frame)
