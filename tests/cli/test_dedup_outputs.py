"""Where `lookalike dedup` writes: standard output, and files whose suffix names what is in them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.errors import ParameterError
from support.dedups import FORMATS, cells, command, content, corpus, lines

ROWS = corpus()
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(ROWS))
    return path


def piped(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    typed = [sys.executable, "-m", "lookalike", "dedup", *map(str, arguments)]
    return subprocess.run(typed, input=stdin, capture_output=True, timeout=120, check=False)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz", "rows.csv", "rows.parquet"])
def test_standard_output_holds_what_a_file_would(tmp_path: Path, name: str):
    FORMATS[name](tmp_path / name, ROWS)
    plain = tmp_path / f"out.{name.split('.')[1]}"
    named = piped(tmp_path / name, "-o", plain)
    done = piped(tmp_path / name, "-o", "-")
    assert done.returncode == 0, done.stderr
    assert done.stdout == plain.read_bytes()
    facts = done.stderr.decode()
    assert "rows read" in facts
    assert "out: standard output" in facts
    assert facts.replace("standard output", str(plain)) == named.stdout.decode()


def test_from_standard_input_to_standard_output(rows: Path, tmp_path: Path):
    piped(rows, "-o", tmp_path / "out.jsonl")
    done = piped("-", "-o", "-", "--quiet", stdin=rows.read_bytes())
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == (tmp_path / "out.jsonl").read_bytes()


def test_json_facts_go_to_stderr_beside_rows(rows: Path):
    done = piped(rows, "-o", "-", "--json")
    assert json.loads(done.stderr)["rows"] == len(ROWS)
    assert done.stdout.startswith(lines(ROWS)[:10])


def test_several_files_of_lines_are_one_stream(tmp_path: Path):
    """Each begins on a new line, however the one before it ends or is compressed."""
    (tmp_path / "a.jsonl").write_bytes(lines(ROWS[:20]).rstrip())
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines(ROWS[20:])))
    done = piped(tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz", "-o", "-")
    piped(tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz", "-o", tmp_path / "out")
    parts = [
        (tmp_path / "out" / "a.jsonl").read_bytes(),
        gzip.decompress((tmp_path / "out" / "b.jsonl.gz").read_bytes()),
    ]
    expected = [json.loads(line) for part in parts for line in part.splitlines()]
    assert [json.loads(line) for line in done.stdout.splitlines()] == expected


@pytest.mark.parametrize(
    ("names", "more", "message"),
    [
        (["rows.csv", "rows.jsonl"], [], "several inputs in one stream must all be JSON Lines"),
        (["rows.jsonl", "rows.jsonl.gz"], ["--ledger", "gone"], "cannot be restored by --ledger"),
        (["texts"], [], "one stream cannot hold a folder of texts: use a folder as --out"),
    ],
)
def test_what_is_no_stream_is_refused_before_work(tmp_path: Path, names: list[str], more: list[str], message: str):
    for name in names:
        FORMATS[name](tmp_path / name, ROWS[:5])
    done = piped(*(tmp_path / name for name in names), "-o", "-", *more)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()


def test_a_reader_that_goes_away_leaves_the_other_files_whole(tmp_path: Path):
    (tmp_path / "rows.jsonl").write_bytes(lines(corpus(2000)))
    typed = f"{sys.executable} -m lookalike dedup rows.jsonl -o - --clusters c.csv --ledger gone.jsonl --quiet"
    script = f"set -o pipefail; {typed} | head -c 100 > begin"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "begin").stat().st_size == 100
    assert len(cells(tmp_path / "c.csv")) > 100
    assert json.loads((tmp_path / "gone.jsonl").read_bytes().splitlines()[0])["ledger"]


def test_the_ledger_restores_what_was_saved_from_the_stream(rows: Path, tmp_path: Path, capfd: Capture):
    (tmp_path / "clean.jsonl").write_bytes(piped(rows, "-o", "-", "--ledger", tmp_path / "gone").stdout)
    command(capfd, "dedup", tmp_path / "clean.jsonl", "--restore", tmp_path / "gone", "-o", tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == rows.read_bytes()


def test_a_failure_writes_no_row(rows: Path, tmp_path: Path):
    rows.write_bytes(lines(ROWS) + b"{bad\n")
    done = piped(rows, "-o", "-", "--max-errors", "0")
    assert (done.returncode, done.stdout) == (3, b"")


def test_python_takes_an_open_file_and_no_dash(rows: Path, tmp_path: Path):
    stream = io.BytesIO()
    la.dedup(rows, out=stream)
    la.dedup(rows, out=tmp_path / "out.jsonl")
    assert stream.getvalue() == (tmp_path / "out.jsonl").read_bytes()
    with pytest.raises(ParameterError, match="`-` is not a file"):
        la.dedup(rows, out="-")


@pytest.mark.parametrize(
    ("source", "out", "message"),
    [
        ("rows.jsonl", "x.parquet", "names Parquet, but the input is JSON Lines"),
        ("rows.jsonl", "x.csv", "use a name that ends in .jsonl"),
        ("rows.jsonl", "x.xlsx", "has the unknown suffix `.xlsx`"),
        ("rows.jsonl", "x.csv.gz", "names CSV"),
        ("rows.parquet", "x.jsonl", "use a name that ends in .parquet"),
        ("rows.parquet", "x.parquet.gz", "Parquet compresses its columns itself"),
        ("rows.csv", "x.tsv", "would have the delimiters of `.csv`"),
        ("rows.warc.gz", "x.warc", "WARC records are copied as they are"),
    ],
)
def test_a_suffix_of_another_format_is_refused(tmp_path: Path, capfd: Capture, source: str, out: str, message: str):
    FORMATS[source](tmp_path / source, ROWS[:5])
    done = command(capfd, "dedup", tmp_path / source, "-o", tmp_path / out, expected=2)
    assert f"--out `{tmp_path / out}`" in done.err
    assert message in done.err
    assert not (tmp_path / out).exists()


@pytest.mark.parametrize("name", ["x", "x.ndjson", "x.2024", "x.jsonl.gz", "x.jsonl.zst", "X.JSONL"])
def test_a_suffix_of_the_same_format_or_none_is_taken(rows: Path, tmp_path: Path, capfd: Capture, name: str):
    command(capfd, "dedup", rows, "-o", tmp_path / "plain.jsonl")
    command(capfd, "dedup", rows, "-o", tmp_path / name)
    kept = (tmp_path / "plain.jsonl").read_bytes()
    again = content(tmp_path / name) if name.endswith((".gz", ".zst")) else (tmp_path / name).read_bytes()
    assert again == kept or again == content(tmp_path / "plain.jsonl")


def test_a_restored_file_has_a_suffix_of_its_format(rows: Path, tmp_path: Path, capfd: Capture):
    command(capfd, "dedup", rows, "-o", tmp_path / "clean.jsonl", "--ledger", tmp_path / "gone.jsonl")
    arguments = ["dedup", tmp_path / "clean.jsonl", "--restore", tmp_path / "gone.jsonl", "-o"]
    assert "names Parquet" in command(capfd, *arguments, tmp_path / "again.parquet", expected=2).err


@pytest.mark.parametrize(
    ("option", "name"),
    [("--clusters", "x"), ("--clusters", "x.jsonl"), ("--pairs", "x.parquet.gz"), ("--ledger", "x.csv")],
)
def test_tables_and_ledgers_have_suffixes_of_theirs(rows: Path, tmp_path: Path, capfd: Capture, option: str, name: str):
    done = command(capfd, "dedup", rows, "-o", tmp_path / "out.jsonl", option, tmp_path / name, expected=2)
    assert f"{option} `{tmp_path / name}`" in done.err
    assert not (tmp_path / "out.jsonl").exists()


NUMBERS = ("cluster", "row", "representative_row", "left_row", "right_row")


def test_tables_are_the_same_in_every_format(rows: Path, tmp_path: Path, capfd: Capture):
    for suffix in ("csv", "csv.gz", "parquet"):
        files = ["--clusters", tmp_path / f"clusters.{suffix}", "--pairs", tmp_path / f"pairs.{suffix}"]
        command(capfd, "dedup", rows, *files)
    for name in ("clusters", "pairs"):
        plain = cells(tmp_path / f"{name}.csv")
        packed = gzip.decompress((tmp_path / f"{name}.csv.gz").read_bytes()).decode()
        assert list(csv.reader(io.StringIO(packed, newline=""))) == plain
        table = pq.read_table(tmp_path / f"{name}.parquet")
        assert table.column_names == plain[0]
        assert [list(row.values()) for row in table.to_pylist()] == [
            [float(cell) if column == "resemblance" else int(cell) if column in NUMBERS else cell
             for column, cell in zip(plain[0], row, strict=True)]
            for row in plain[1:]
        ]  # fmt: skip


def test_fingerprints_and_near_pairs_can_be_compressed(rows: Path, tmp_path: Path, capfd: Capture):
    for suffix in ("csv", "csv.gz"):
        command(capfd, "simhash", rows, "-o", tmp_path / f"prints.{suffix}")
        command(capfd, "near", tmp_path / "prints.csv", "-o", tmp_path / f"near.{suffix}")
    for name in ("prints", "near"):
        packed = (tmp_path / f"{name}.csv.gz").read_bytes()
        assert gzip.decompress(packed) == (tmp_path / f"{name}.csv").read_bytes()


@pytest.mark.parametrize(
    ("data", "said"), [(b"id,text\n1,a b c\n", "format of standard input is not clear"), (b"", None)]
)
def test_standard_input_is_rows_or_refused(data: bytes, said: str | None, tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-m", "lookalike", "dedup", "-", "-o", "clean.jsonl"],
        input=data, capture_output=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == (2 if said else 0)
    assert (said or "").encode() in done.stderr
    assert (tmp_path / "clean.jsonl").is_file() == (said is None)


def test_restore_does_not_write_a_file_named_minus(tmp_path: Path):
    (tmp_path / "rows.jsonl").write_text('{"text": "one two three four five six"}\n' * 2)
    command = [sys.executable, "-m", "lookalike", "dedup"]
    subprocess.run([*command, "rows.jsonl", "-o", "clean.jsonl", "--ledger", "gone.jsonl"], cwd=tmp_path, check=True)
    done = subprocess.run(
        [*command, "clean.jsonl", "--restore", "gone.jsonl", "-o", "-"], capture_output=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 2
    assert b"--out `-` is not a file" in done.stderr
    assert not (tmp_path / "-").exists()
