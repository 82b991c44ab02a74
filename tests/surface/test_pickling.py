"""Everything a call returns pickles and copies: the copy equals the original, or gives the same answers."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import random
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lookalike as la
from lookalike import errors
from lookalike.comparison.result import KeptMarks

TEXT = "to be or not to be, that is the question: whether it is nobler in the mind to suffer " * 3
TEXTS = [TEXT, TEXT.replace("nobler", "better"), "zażółć gęślą jaźń 🐢 " * 20, "", b"\xff\xfeb\x00a\x00", "short"]


def pickled(protocol: int) -> Callable[[Any], Any]:
    return lambda one: pickle.loads(pickle.dumps(one, protocol))


def out_of_band(one: Any) -> Any:
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(one, 5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=buffers)


WAYS: dict[str, Callable[[Any], Any]] = {
    **{f"protocol {number}": pickled(number) for number in range(2, 6)},
    "out of band": out_of_band,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def similarity_measures() -> Any:
    return la.measure(TEXTS[0], TEXTS[1])


def estimate() -> Any:
    return la.sketch(TEXTS[0]).resemblance(la.sketch(TEXTS[1]))


#: What compares equal to its copy.
EQUAL: dict[str, Callable[[], Any]] = {
    "sketch": lambda: la.sketch(TEXT),
    "sketch of an encoding": lambda: la.sketch(TEXT.encode("utf-16")),
    **{f"sketch {kind}": lambda kind=kind: la.sketch(TEXT, sketch=kind) for kind in la.params.SKETCHES},
    "merged sketch": lambda: merged(),
    "sketch table": lambda: la.sketch_batch(TEXTS, 16),
    "fingerprints": lambda: la.fingerprint(TEXT, k=5, t=8),
    "fingerprints of bytes": lambda: la.fingerprint(TEXT.encode("utf-16"), k=5, t=8),
    "fingerprints of a view": lambda: la.fingerprint(memoryview(TEXT.encode()), k=5, t=8),
    "fingerprint table": lambda: la.fingerprint_batch(TEXTS, k=5, t=8),
    "stream": lambda: la.stream(TEXT),
    "column of hashes": lambda: la.fingerprint(TEXT, k=5, t=8).hashes,
    "column of positions": lambda: la.fingerprint(TEXT, k=5, t=8).positions,
    "column of spans": lambda: la.stream(TEXT).spans,
    "column of rows": lambda: la.sketch_batch(TEXTS, 3).rows,
    "rows of one": lambda: la.sketch_batch(TEXTS, 1).rows,
    "empty column": lambda: la.fingerprint("").hashes,
    "empty spans": lambda: la.stream("").spans,
    "empty rows": lambda: la.sketch_batch([], 3).rows,
    "simhash table": lambda: la.simhash_batch(TEXTS, languages=True),
    "idf table": lambda: la.idf_table(TEXTS, min_documents=1),
    "design": lambda: la.design(0.8),
    "filter": lambda: la.Filter(6, 14, 2),
    "sketch design": lambda: la.design_sketch(0.05),
    "table designs": lambda: la.design_tables(),
    "estimate": estimate,
    "measures": similarity_measures,
    "similarity": lambda: la.similarity(TEXTS[0], TEXTS[1]),
    "look-up": lambda: la.fingerprint(TEXT, k=5, t=8).look_up(la.fingerprint(TEXTS[1], k=5, t=8)),
}


def merged() -> la.Sketch:
    made = la.sketch(TEXT)
    made.merge(la.sketch(TEXTS[1]))
    return made


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", EQUAL)
def test_the_copy_is_equal(kind: str, way: str):
    original = EQUAL[kind]()
    again = WAYS[way](original)
    assert type(again) is type(original)
    assert again == original


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [name for name in EQUAL if name.startswith(("column", "rows", "empty"))])
def test_a_column_keeps_its_type_and_shape(kind: str, way: str):
    original = np.asarray(EQUAL[kind]())
    again = np.asarray(WAYS[way](EQUAL[kind]()))
    assert (again.dtype, again.shape) == (original.dtype, original.shape)


def test_a_column_is_pickled_as_its_bytes():
    column = la.sketch_batch(TEXTS * 50, 64).rows
    for protocol in range(3, 6):
        assert len(pickle.dumps(column, protocol)) < np.asarray(column).nbytes + 200


def test_out_of_band_the_numbers_are_not_in_the_pickle():
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(la.sketch_batch(TEXTS * 50, 64), 5, buffer_callback=buffers.append)
    assert len(buffers) == 2
    assert len(data) < 1000


@pytest.mark.parametrize(
    ("data", "format", "width"),
    [(b"123", "<I", None), (b"12345678", "<Q", 3), (b"1234", "<I", 2), (b"12345678", "<f", None), (b"", "<Q", 0)],
)
def test_bytes_that_are_no_column_are_refused(data: bytes, format: str, width: int | None):
    with pytest.raises(la.ParameterError):
        la.Column(data, format, width)


def test_a_column_of_the_other_byte_order_is_turned():
    assert la.Column(bytes([0, 0, 1, 2]), ">I") == [258]
    assert la.Column(bytes([2, 1, 0, 0]), "<I") == [258]
    assert la.Column(bytes([0] * 7 + [5] + [0] * 7 + [6]), ">Q", 2) == [(5, 6)]


def test_spans_of_a_copy_are_found_again():
    original = la.fingerprint(memoryview(TEXT.encode()), k=5, t=8)
    assert pickle.loads(pickle.dumps(original)).spans == original.spans


def test_a_sketch_and_its_copy_change_apart():
    original = la.sketch(TEXT)
    for way in WAYS.values():
        again = way(original)
        again.update("something else")
        assert again != original


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("tables", "hold"), [("compact", "plain"), ("fast", "compressed"), (4, "plain")])
def test_a_table_in_memory_gives_the_same_answers(way: str, tables: str | int, hold: str):
    rng = random.Random(1)
    values = [rng.getrandbits(64) for _ in range(300)]
    table = la.HammingTable.build(values, range(1000, 1300), distance=4, tables=tables, hold=hold)
    table.remove(values[:9], range(1000, 1009))
    again = WAYS[way](table)
    assert (again.rows(), again.distance, len(again)) == (table.rows(), 4, 291)
    assert again.query_batch(values)[:3] == table.query_batch(values)[:3], (
        "only the cost differs: removed rows are gone"
    )
    again.insert([1], [1])
    assert (len(again), len(table)) == (292, 291)


def test_a_table_in_a_folder_is_refused(tmp_path: Path):
    with la.HammingTable.build([1, 2, 3]) as table:
        table.save(tmp_path / "table")
        for way in WAYS.values():
            with pytest.raises(TypeError, match="open it in the other process"):
                way(table)
    with la.HammingTable.open(tmp_path / "table") as table, pytest.raises(TypeError, match="lives in a folder"):
        pickle.dumps(table)


@pytest.mark.parametrize("way", WAYS)
def test_a_batch_of_queries_gives_the_same_answers(way: str):
    batch = la.QueryBatch([0b0000, 0b1111, 7 << 60], distance=2)
    again = WAYS[way](batch)
    stored = [0b0001, 0b0111, 0, 3 << 61]
    assert again.chunk(stored, 10) == batch.chunk(stored, 10)
    assert repr(again) == repr(batch)


CORPUS = [TEXT, TEXTS[1], "another text entirely, of some length, that nobody wrote before", TEXT, None, TEXT + " x"]


def answers(one: la.Deduplication) -> Any:
    return (
        one.to_json(),
        list(one.survivors),
        list(one.resemblances),
        one.links,
        one.gone,
        one.cluster_sizes,
        one.labels,
        one.capped,
        one.giants,
        one.problems,
        one.settings,
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", ["minhash", "exact", "containment", "simhash"])
@pytest.mark.parametrize("kind", [list, tuple, iter, lambda rows: pa.table({"text": rows})])
def test_a_deduplication_keeps_its_answer_and_its_object(way: str, method: str, kind: Callable[[Any], Any]):
    answer = la.dedup(kind(CORPUS), method=method, threshold=0.5)
    again = WAYS[way](answer)
    assert answers(again) == answers(answer)
    assert repr(again) == repr(answer)
    assert again.select() == answer.select()
    assert type(again.select()) is type(answer.select())


def test_distances_of_a_pickled_deduplication():
    answer = la.dedup(CORPUS, method="simhash", distance=10)
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(answer))))
    pairs = [(0, 1), (0, 2), (0, 4)]
    assert again.distances(pairs) == answer.distances(pairs)
    with pytest.raises(la.ParameterError, match="not part of a pickled deduplication"):
        pickle.loads(pickle.dumps(la.dedup(CORPUS))).distances(pairs)


def test_a_pickled_deduplication_of_files_says_that_they_stayed_behind(tmp_path: Path):
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"text": "one text"}\n{"text": "one text"}\nno object\n')
    answer = la.dedup(path)
    again = pickle.loads(pickle.dumps(answer))
    assert answers(again) == answers(answer)
    with pytest.raises(la.ParameterError, match=r"the rows of `.*corpus.jsonl` are not part of a pickled"):
        again.select()
    with pytest.raises(la.ParameterError, match="not part of a pickled"):
        list(again.stretches[0].source.batches())
    with pytest.raises(la.ParameterError, match="shingles of the rows"):
        again.core.scores([(0, 1)], False)


def test_a_relation_of_duckdb_stays_behind():
    duckdb = pytest.importorskip("duckdb")
    table = pa.table({"text": CORPUS})
    again = pickle.loads(pickle.dumps(la.dedup(duckdb.from_arrow(table))))
    assert again.gone == la.dedup(table).gone
    with pytest.raises(la.ParameterError, match="not part of a pickled"):
        again.select()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> la.Report:
    folder = tmp_path_factory.mktemp("class")
    lines = [
        f"def f{i}(a, b):\n    total = a * {i} + b\n    return total if total > {i} else -total\n" for i in range(30)
    ]
    for name, part in {"ada": lines, "boris": [*lines[5:], "print('own')\n"], "chiara": lines[:9]}.items():
        (folder / f"{name}.py").write_text("# own words\n" + "".join(part))
    starter = folder.parent / "starter.py"
    starter.write_text("".join(lines[:4]))
    return la.compare(folder, template=starter)


def pages(report: la.Report, out: Path) -> dict[str, bytes]:
    la.write_report(report, out)
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("way", WAYS)
def test_a_report_writes_the_same_pages(way: str, report: la.Report, tmp_path: Path):
    again = WAYS[way](report)
    assert again == report
    expected = pages(report, tmp_path / "original")
    assert any(b"<mark" in page or b"class=" in page for page in expected.values())
    assert pages(again, tmp_path / "again") == expected


def test_the_colouring_of_a_pickled_report_is_that_of_all_files(report: la.Report):
    again = pickle.loads(pickle.dumps(report))
    assert isinstance(again.marks, KeptMarks)
    counted = [(entry, file) for entry, one in enumerate(report.entries) for file in range(len(one.files))]
    assert any(report.marks(*at) for at in counted)
    assert all(again.marks(*at) == report.marks(*at) for at in counted)
    assert again.marks(99, 0) == report.marks(99, 0) == b""
    assert pickle.loads(pickle.dumps(again)).marks == again.marks


def test_reports_of_corpora_and_files(tmp_path: Path):
    made = la.simhash_corpus(["one text", "another text"], tmp_path / "out.parquet")
    found = la.near(tmp_path / "out.parquet", distance=3)
    for way in WAYS.values():
        assert way(made) == made
        assert way(found) == found


@pytest.mark.parametrize("name", errors.__all__)
@pytest.mark.parametrize("way", [name for name in WAYS if name != "out of band"])
def test_errors_pickle(name: str, way: str):
    kind = getattr(errors, name)
    error = kind("reading", "data") if name == "MissingExtraError" else kind("a reason")
    again = WAYS[way](error)
    assert (type(again), str(again), again.args) == (kind, str(error), error.args)


def test_things_go_to_another_process_and_come_back():
    sent = [la.sketch(TEXT), la.fingerprint_batch(TEXTS, k=5, t=8), la.simhash_batch(TEXTS)]
    table, answer = la.HammingTable.build([1, 2, 3]), la.dedup(CORPUS)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(copy.copy, sent)) == sent
        assert pool.submit(copy.copy, table).result().rows() == table.rows()
        assert answers(pool.submit(copy.copy, answer).result()) == answers(answer)
        with pytest.raises(la.ParameterError, match="scheme `none` is not known"):
            pool.submit(la.select, [1, 2], 1, "none").result()
