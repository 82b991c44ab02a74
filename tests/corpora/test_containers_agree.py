"""The same texts give the same answer, row by row, whatever holds them: typed strings are Unicode, never guessed at."""

from __future__ import annotations

import csv
import io
import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu"
#: Texts that a guess takes for something else than the Unicode they are.
AWKWARD = [
    WORDS,
    "\ufeff" + WORDS,
    WORDS.replace(" ", " \ufeff"),
    WORDS.replace(" ", "\0"),
    "\0".join(WORDS),
    "\0" + "\0".join(WORDS),
    "\x1b$B$3$l$O\x1b(B " + WORDS,
    "\x1b$B" + WORDS + "\x1b(B",
    "caf\u00e9 \u00c3\u00a9 na\u00c3\u00afve " + WORDS,
    "\u00ff\u00fe" + WORDS,
    "\u00fe\u00ff" + WORDS,
    "\x01\x02\x03\x04\x05\x06\x0e\x0f" * 3,
    "\x01\x02\x03\x04\x05\x06\x0e\x0f" * 3,
    "%PDF-1.4 " + WORDS,
    "<html><body>" + WORDS + "</body></html>",
    "PK\x03\x04 " + WORDS,
    "\u3053\u308c\u306f\u6587\u7ae0\u3067\u3059 " + WORDS,
    "+AGEAYgBj- " + WORDS,
    "~{<:Ky2;~} " + WORDS,
    '"quoted", with, commas\r\nand lines\n' + WORDS,
    "x",
    "",
    " \u00a0\n",
]
#: Halves of surrogate pairs, which only some containers can hold.
HALVES = ["\ud800" + WORDS, "\udc00\ud800 " + WORDS, "\ufffd" + WORDS]


def generated(number: int) -> list[str]:
    """Texts of a few letters with marks, escapes and NULs among them."""
    draw = random.Random(10)
    pieces = ["\0", "\x1b$B", "\x1b(B", "\ufeff", "\u00ff\u00fe", "\u00e9", "\u20ac", " alpha", " beta", " gamma", " "]
    return ["".join(draw.choices(pieces, k=draw.randrange(1, 40))) for _ in range(number)]


def lines(texts: list[str], encoding: str = "utf-8", escaped: bool = False) -> bytes:
    rows = (json.dumps({"id": row, "text": text}, ensure_ascii=escaped) for row, text in enumerate(texts))
    return "".join(row + "\n" for row in rows).encode(encoding)


def cells(texts: list[str], encoding: str = "utf-8") -> bytes:
    file = io.StringIO(newline="")
    made = csv.writer(file, quoting=csv.QUOTE_ALL)
    made.writerow(["id", "text"])
    made.writerows(enumerate(texts))
    return file.getvalue().encode(encoding)


def written(folder: Path, name: str, data: bytes) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def parquet(folder: Path, texts: list[str], **options: Any) -> Path:
    pq.write_table(pa.table({"id": range(len(texts)), "text": texts}), folder / "rows.parquet", **options)
    return folder / "rows.parquet"


Container = Callable[[list[str], Path], Any]
CONTAINERS: dict[str, Container] = {
    "list": lambda texts, _: texts,
    "tuple": lambda texts, _: tuple(texts),
    "generator": lambda texts, _: (text for text in texts),
    "dicts": lambda texts, _: [{"id": row, "text": text} for row, text in enumerate(texts)],
    "lines": lambda texts, folder: written(folder, "rows.jsonl", lines(texts)),
    "escaped lines": lambda texts, folder: written(folder, "rows.jsonl", lines(texts, escaped=True)),
    "lines with a mark": lambda texts, folder: written(folder, "rows.jsonl", lines(texts, "utf-8-sig")),
    "lines in UTF-16": lambda texts, folder: written(folder, "rows.jsonl", lines(texts, "utf-16")),
    "lines in UTF-16 without a mark": lambda texts, folder: written(folder, "rows.jsonl", lines(texts, "utf-16-be")),
    "lines in UTF-32": lambda texts, folder: written(folder, "rows.jsonl", lines(texts, "utf-32")),
    "CSV": lambda texts, folder: written(folder, "rows.csv", cells(texts)),
    "CSV with a mark": lambda texts, folder: written(folder, "rows.csv", cells(texts, "utf-8-sig")),
    "CSV in UTF-16": lambda texts, folder: written(folder, "rows.csv", cells(texts, "utf-16")),
    "Parquet": lambda texts, folder: parquet(folder, texts),
    "Parquet without dictionaries": lambda texts, folder: parquet(folder, texts, use_dictionary=False),
    "Arrow": lambda texts, _: pa.table({"text": texts}),
    "Arrow, large": lambda texts, _: pa.table({"text": pa.array(texts, pa.large_string())}),
    "Arrow, views": lambda texts, _: pa.table({"text": pa.array(texts, pa.string_view())}),
    "Arrow, dictionary": lambda texts, _: pa.table({"text": pa.array(texts).dictionary_encode()}),
    "Arrow, an array": lambda texts, _: pa.array(texts),
    "pandas": lambda texts, _: pd.DataFrame({"text": texts}),
    "pandas, objects": lambda texts, _: pd.DataFrame({"text": pd.Series(texts, dtype=object)}),
    "pandas, a column": lambda texts, _: pd.Series(texts),
    "polars": lambda texts, _: pl.DataFrame({"text": texts}),
    "polars, lazy": lambda texts, _: pl.DataFrame({"text": texts}).lazy(),
    "polars, a column": lambda texts, _: pl.Series(texts),
}
#: Those that can hold half a surrogate pair.
HOLDING_HALVES = ("list", "tuple", "generator", "dicts", "escaped lines", "pandas, objects")
METHODS: dict[str, dict[str, Any]] = {
    "minhash": {"threshold": 0.5, "shingle": 2},
    "exact": {"method": "exact"},
    "containment": {"method": "containment", "modulus": 1, "shingle": 2},
    "simhash": {"method": "simhash", "distance": 8, "threshold": 0.3, "shingle": 2},
    "longest": {"threshold": 0.5, "shingle": 2, "keep": "longest"},
}


def answer(given: Any, **chosen: Any) -> tuple[list[int], list[float], bytes, dict[str, int]]:
    found = la.dedup(given, **chosen)
    return list(found.survivors), list(found.resemblances), found.links, found.states


def prints(given: Any, folder: Path) -> list[str]:
    la.simhash_corpus(given, folder / "prints.csv", overwrite=True)
    with open(folder / "prints.csv", newline="") as file:
        return [row["fingerprint"] for row in csv.DictReader(file)]


def expected_prints(texts: list[str]) -> list[str]:
    made = (la.simhash(text) for text in texts)
    return ["" if one is None else f"0x{one:016x}" for one in made]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [kind for kind in CONTAINERS if kind != "list"])
def test_every_container_gives_the_answer_of_a_list(tmp_path: Path, kind: str, method: str):
    texts = AWKWARD + AWKWARD[:4] + generated(200)
    expected = answer(texts, **METHODS[method])
    assert sum(row != survivor for row, survivor in enumerate(expected[0])) >= 5, "something is removed"
    assert answer(CONTAINERS[kind](texts, tmp_path), **METHODS[method]) == expected


@pytest.mark.parametrize("kind", CONTAINERS)
def test_every_container_gives_the_fingerprints_of_its_strings(tmp_path: Path, kind: str):
    texts = AWKWARD + generated(200)
    assert prints(CONTAINERS[kind](texts, tmp_path), tmp_path) == expected_prints(texts)


@pytest.mark.parametrize("kind", HOLDING_HALVES)
def test_half_a_surrogate_pair_is_a_mark_in_every_container(tmp_path: Path, kind: str):
    texts = HALVES + AWKWARD[:3]
    given = CONTAINERS[kind](texts, tmp_path)
    found = la.dedup(given, method="exact")
    assert list(found.survivors) == [0, 1, 0, 3, 4, 5]
    (note,) = found.problems
    assert note.is_note
    assert note.rows == 2
    assert "half a surrogate pair" in note.reason
    assert prints(CONTAINERS[kind](texts, tmp_path), tmp_path) == expected_prints(texts)


COLUMNS: dict[str, Callable[[list[str]], Any]] = {
    "list": list,
    "tuple": tuple,
    "generator": iter,
    "Arrow": pa.array,
    "Arrow, chunks": lambda texts: pa.chunked_array([texts[:7], [], texts[7:]]),
    "Arrow, views": lambda texts: pa.array(texts, pa.string_view()),
    "pandas": pd.Series,
    "pandas, objects": lambda texts: pd.Series(texts, dtype=object),
    "polars": pl.Series,
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_batches_give_what_each_text_gives_alone(kind: str):
    texts = AWKWARD + generated(100)
    made = la.simhash_batch(COLUMNS[kind](texts))
    assert list(made) == [la.simhash(text) for text in texts]
    sketches = la.sketch_batch(COLUMNS[kind](texts), 16, shingle=2)
    alone = [la.sketch(text, 16, "fast", shingle=2) for text in texts]
    for row, (count, coordinates) in enumerate(zip(sketches.shingles, np.asarray(sketches), strict=True)):
        assert coordinates.tolist() == list(alone[row].values) or not count, repr(texts[row])
        assert bool(count) is not alone[row].is_empty
    found = la.fingerprint_batch(COLUMNS[kind](texts), k=3, t=5)
    hashes = [found.hashes[start:end].tolist() for start, end in itertools.pairwise(found.offsets)]
    assert hashes == [la.fingerprint(text, k=3, t=5).hashes.tolist() for text in texts]


def test_bytes_are_guessed_at_as_before():
    japanese = "\u3053\u308c\u306f\u6587\u7ae0\u3067\u3059\u3002" * 5
    data = [japanese.encode("iso-2022-jp"), japanese.encode("utf-16"), japanese.encode()]
    for given in (data, pa.table({"text": pa.array(data, pa.binary())}), pl.DataFrame({"text": data})):
        found = la.dedup(given, unit="character", shingle=4)
        assert list(found.survivors) == [0, 0, 0]
    as_text = [one.decode("latin-1") for one in data]
    assert list(la.dedup(as_text, unit="character", shingle=4).survivors) == [0, 1, 2]


def test_a_string_column_with_ill_formed_bytes_is_mended_and_told(tmp_path: Path):
    data = pa.array([WORDS.encode() + b" \xff", WORDS.encode() + b" \xfe", WORDS.encode()], pa.binary())
    typed = pa.Array.from_buffers(pa.string(), 3, data.buffers())
    found = la.dedup(pa.table({"text": typed}), method="exact")
    assert list(found.survivors) == [0, 0, 2]
    assert [(one.rows, one.is_note) for one in found.problems] == [(2, True)]


def test_a_file_of_cells_has_one_encoding(tmp_path: Path):
    texts = [
        "f\u00eate d'\u00e9t\u00e9 \u00e0 No\u00ebl, d\u00e9j\u00e0 vu",
        "\u00e9",
        "\u00df",
        "plain",
        "\u00e0 la carte",
    ] * 3
    given = written(tmp_path, "rows.csv", cells(texts, "windows-1252"))
    assert prints(given, tmp_path) == expected_prints(texts)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "utf-8"])
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_a_marked_or_wide_file_is_copied_and_restored_in_its_encoding(tmp_path: Path, encoding: str, kind: str):
    texts = [WORDS, WORDS, "\u00e9\U0001f600 " * 5000, WORDS, "\u00e9\U0001f600 " * 5000, "other words"]
    make = lines if kind == "jsonl" else cells
    given = written(tmp_path, f"rows.{kind}", make(texts, encoding))
    out, ledger = tmp_path / f"out.{kind}", tmp_path / "ledger.jsonl"
    found = la.dedup(given, out=out, ledger=ledger, method="exact")
    assert found.gone == [1, 3, 4]
    assert not found.problems
    kept = make(texts, encoding).decode(encoding)
    rows = kept.splitlines(keepends=True)
    start = kind == "csv"
    assert out.read_bytes() == "".join(row for at, row in enumerate(rows) if at - start not in (1, 3, 4)).encode(
        encoding
    )
    la.restore(ledger, out, tmp_path / f"back.{kind}")
    assert (tmp_path / f"back.{kind}").read_bytes() == given.read_bytes()


def test_wide_lines_that_end_inside_a_character_are_told(tmp_path: Path):
    data = lines([WORDS, WORDS], "utf-16")
    found = la.dedup(written(tmp_path, "rows.jsonl", data + b"\x20"), method="exact")
    assert found.gone == [1]
    (problem,) = found.problems
    assert "no UTF-16 from here on" in problem.reason


def test_the_first_row_behind_a_mark_is_read(tmp_path: Path):
    given = written(tmp_path, "rows.jsonl", lines([WORDS, "other words", WORDS], "utf-8-sig"))
    found = la.dedup(given, out=tmp_path / "out.jsonl", clusters=tmp_path / "clusters.csv", method="exact")
    assert (found.states["bad"], found.gone) == (0, [2])
    assert (tmp_path / "out.jsonl").read_bytes() == lines([WORDS, "other words"], "utf-8-sig")
    assert (tmp_path / "clusters.csv").read_text().splitlines()[1].startswith("0,1,0,")


def test_a_column_inside_an_object_is_reached_in_every_container(tmp_path: Path):
    rows = [{"doc": {"text": text, "n": row}, "text": "no"} for row, text in enumerate([WORDS, "other words", WORDS])]
    containers = [
        written(tmp_path, "rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode()),
        rows,
        pa.Table.from_pylist(rows),
        pl.DataFrame(rows),
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    for given in [*containers, tmp_path / "rows.parquet"]:
        found = la.dedup(given, text_column="doc.text", id_column="doc.n", keep="max:doc.n", method="exact")
        assert list(found.survivors) == [2, 1, 2], type(given)


#: What is written, and the number it is; None for what is none.
WRITTEN = {
    "7": 7.0, " 4.5 ": 4.5, "-1e3": -1000.0, "+.5": 0.5, "5.": 5.0, "\t8\n": 8.0, "1E-2": 0.01, "1e999": float("inf"),
    "inf": None, "-Infinity": None, "nan": None, "1_000": None, "": None, ".": None, "e5": None, "1e": None,
    "0x10": None, "\u00a09": None, "\u0664": None, "1,5": None, "--1": None, "1 2": None,
}  # fmt: skip


@pytest.mark.parametrize("beside", [0.0, -1e9])
@pytest.mark.parametrize("written", WRITTEN, ids=repr)
def test_what_a_written_number_is_does_not_depend_on_the_container(written: str, beside: float, tmp_path: Path):
    """The row beside it loses to every higher number, and to no row without one."""
    rows = [{"text": WORDS, "stars": str(beside)}, {"text": WORDS, "stars": written}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with (tmp_path / "rows.csv").open("w", newline="") as sheet:
        writer = csv.DictWriter(sheet, ["text", "stars"])
        writer.writeheader()
        writer.writerows(rows)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    files = [tmp_path / name for name in ("rows.jsonl", "rows.csv", "rows.parquet")]
    number = WRITTEN[written]
    survivor = int(number is not None and number > beside)
    for given in [rows, pa.Table.from_pylist(rows), *files]:
        assert list(la.dedup(given, keep="max:stars", method="exact").survivors) == [survivor] * 2, given
