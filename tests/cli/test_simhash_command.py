"""`lookalike simhash` as people run it: every format in, Parquet and CSV out, rows without a fingerprint, refusals."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.corpora.batches import CHUNK_BYTES
from support.dedups import FORMATS, command, corpus, lines

ROWS = corpus()
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(ROWS))
    return path


def read(path: Path) -> list[tuple[str, int | None, int]]:
    """The rows of an output of either format."""
    if path.suffix == ".parquet":
        return [(row["id"], row["fingerprint"], row["length"]) for row in pq.read_table(path).to_pylist()]
    with path.open(encoding="utf-8", newline="") as file:
        header, *found = csv.reader(file)
    assert header == ["id", "fingerprint", "length"]
    return [(name, int(bits, 16) if bits else None, int(length)) for name, bits, length in found]


def expected(**chosen: str | int) -> list[tuple[str, int | None, int]]:
    return [(row.id, la.simhash(row.text or "", **chosen), len(la.stream(row.text or "", unit="word"))) for row in ROWS]


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.parquet"])
def test_tables_of_every_format_give_the_fingerprints_of_the_surface(
    tmp_path: Path, capfd: Capture, name: str, suffix: str
):
    FORMATS[name](tmp_path / name, ROWS)
    out = tmp_path / f"prints.{suffix}"
    facts = json.loads(command(capfd, "simhash", tmp_path / name, "-o", out, "--json").out)
    assert read(out) == expected()
    assert facts["rows"] == len(ROWS)
    assert facts["states"]["fingerprinted"] == sum(row.text is not None for row in ROWS)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_the_same_fingerprints(tmp_path: Path, capfd: Capture, name: str):
    """Names and lengths differ with the format, and so may the order; the texts are the same."""
    FORMATS[name](tmp_path / name, [row for row in ROWS if row.text])
    out = tmp_path / "prints.parquet"
    command(capfd, "simhash", tmp_path / name, "-o", out)
    want = sorted(bits for _, bits, _ in expected() if bits is not None)
    assert sorted(bits for _, bits, _ in read(out) if bits is not None) == want


def test_options_reach_the_fingerprint(rows: Path, tmp_path: Path, capfd: Capture):
    out = tmp_path / "prints.csv"
    command(capfd, "simhash", rows, "-o", out, "--shingle", 3, "--threads", 1)
    assert [row[1] for row in read(out)] == [row[1] for row in expected(shingle=3)]


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_languages_and_features_of_the_paper_on_request(tmp_path: Path, capfd: Capture, suffix: str):
    texts = ["The train was late because of a tree on the line.", "Der Zug war 7 Minuten zu spät.", "12 34"]
    path, out = tmp_path / "rows.jsonl", tmp_path / f"prints.{suffix}"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    options = ["--features", "paper", "--ignore", "numbers", "--languages"]
    facts = json.loads(command(capfd, "simhash", path, "-o", out, *options, "--json").out)
    assert facts["parameters"]["ignore"] == ["numbers"]
    found = (
        pq.read_table(out).to_pylist() if suffix == "parquet" else list(csv.DictReader(out.read_text().splitlines()))
    )
    assert [row["language"] or None for row in found] == ["en", "de", None]
    made = [la.simhash(text, features="paper", ignore=["numbers"]) for text in texts]
    as_int = (lambda bits: bits) if suffix == "parquet" else (lambda bits: int(bits, 16) if bits else None)
    assert [as_int(row["fingerprint"]) for row in found] == made
    assert made[2] is None


@pytest.mark.parametrize("threads", [1, 2])
def test_chunks_and_threads_do_not_show(tmp_path: Path, capfd: Capture, threads: int):
    """Lines across chunks, of which the first ends nowhere near one."""
    texts = [f"row {at} " + "filler words and more " * (at * 7919 % 4000) for at in range(300)]
    assert sum(map(len, texts)) > CHUNK_BYTES
    path, out = tmp_path / "long.jsonl", tmp_path / "prints.parquet"
    path.write_text("".join(json.dumps({"id": at, "text": text}) + "\n" for at, text in enumerate(texts)))
    command(capfd, "simhash", path, "-o", out, "--threads", threads)
    assert [row[:2] for row in read(out)] == [(str(at), la.simhash(text)) for at, text in enumerate(texts)]


def test_rows_without_a_fingerprint_are_listed_and_counted(tmp_path: Path, capfd: Capture):
    path, out = tmp_path / "odd.jsonl", tmp_path / "prints.csv"
    path.write_text('{"id":"a","text":"to be"}\n\n{"text":"??"}\nnope\n{"id":"n","text":null}\n{"text":"to be"}')
    printed = command(capfd, "simhash", path, "-o", out).out
    to_be = la.simhash("to be")
    named = [f"{path}:{line}" for line in (2, 3, 4)]
    assert read(out) == [
        ("a", to_be, 2), (named[0], None, 0), (named[1], None, 0), (named[2], None, 0), ("n", None, 0),
        (f"{path}:6", to_be, 2),
    ]  # fmt: skip
    assert "6 rows read, 2 with a fingerprint" in printed
    assert "1 without a feature, 1 without a text, 1 unreadable, 1 blank line" in printed
    assert "1 distinct fingerprint; the most common one belongs to 2 rows" in printed
    assert f"not read: {path}, line 4: not JSON" in printed
    command(capfd, "simhash", path, "-o", out, "--overwrite", "--strict", expected=3)


def test_names_that_look_like_formulas_are_defused_in_csv_only(tmp_path: Path, capfd: Capture):
    path = tmp_path / "odd.jsonl"
    path.write_text('{"id":"=1+1","text":"to be"}\n')
    for suffix, name in (("csv", "'=1+1"), ("parquet", "=1+1")):
        out = tmp_path / f"prints.{suffix}"
        command(capfd, "simhash", path, "-o", out)
        assert [row[0] for row in read(out)] == [name]


def test_several_inputs_make_one_output_in_their_order(rows: Path, tmp_path: Path, capfd: Capture):
    other = tmp_path / "other.csv"
    other.write_text("id,text\nx,to be or not\n")
    out = tmp_path / "prints.csv"
    command(capfd, "simhash", other, rows, "-o", out)
    assert read(out) == [("x", la.simhash("to be or not"), 4), *expected()]


def test_nothing_is_overwritten_or_left_behind(rows: Path, tmp_path: Path, capfd: Capture):
    out = tmp_path / "prints.csv"
    out.write_text("mine")
    assert "exists" in command(capfd, "simhash", rows, "-o", out, expected=2).err
    assert out.read_text() == "mine"
    rows.write_bytes(lines(ROWS) + b"nope\nnope\n")
    err = command(capfd, "simhash", rows, "-o", out, "--overwrite", "--max-errors", 1, expected=3).err
    assert "2 rows could not be read, more than --max-errors `1` allows; the first is" in err
    assert out.read_text() == "mine"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["prints.csv", "rows.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no input"),
        (["ROWS"], "no output: give --out"),
        (["ROWS", "-o", "-"], "has no suffix of a table"),
        (["ROWS", "-o", "prints.txt"], "ends in .csv, .csv.gz or .parquet"),
        (["ROWS", "-o", "prints.csv", "--shingle", "0"], "shingle `0` is not a width"),
        (["ROWS", "-o", "prints.csv", "--threads", "-1"], "--threads `-1` must be 0 (one per core) to 1024"),
        (["ROWS", "-o", "prints.csv", "--text-column", "body"], "text column `body` is not in"),
        (["missing.jsonl", "-o", "prints.csv"], "does not exist"),
    ],
)
def test_what_cannot_be_done_is_said(
    rows: Path, tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
):
    monkeypatch.chdir(tmp_path)
    err = command(capfd, "simhash", *(str(rows) if one == "ROWS" else one for one in arguments), expected=2).err
    assert message in err
    assert not list(tmp_path.glob("prints*"))


def test_the_call_takes_objects_too(tmp_path: Path):
    report = la.simhash_corpus(["to be", "or not", "to be"], tmp_path / "prints.csv")
    assert (report.rows, report.distinct, report.largest) == (3, 2, 2)
    assert [row[1] for row in read(tmp_path / "prints.csv")] == [la.simhash(t) for t in ("to be", "or not", "to be")]
