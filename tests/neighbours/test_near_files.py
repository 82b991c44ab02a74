"""Files of fingerprints as people have them: string ids, compressed, guarded cells, rows that lack something."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import pickle
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike import _core
from lookalike.errors import ParameterError
from lookalike.neighbours.files import near
from lookalike.rendering.tables import guarded
from support.children import PATIENCE

URLS = [f"https://example.org/{'a' * (number % 7)}?page={number}" for number in range(300)]
ODD = [
    "=1+1",
    "+A1",
    "-2+3",
    "@sum",
    "'=already",
    "''@twice",
    "a,b",
    'say "hi"',
    "two\nlines",
    " space",
    "ünï",
    "-5",
    "'x",
]


def run(*arguments: str | Path, code: int = 0, given: bytes = b"") -> tuple[str, str]:
    command = [sys.executable, "-m", "lookalike", *map(str, arguments)]
    done = subprocess.run(command, input=given, capture_output=True, timeout=PATIENCE, check=False)
    shown, told = done.stdout.decode(), done.stderr.decode()
    assert done.returncode == code, told
    assert "Traceback" not in told
    return shown, told


def prints(count: int, seed: int) -> list[int]:
    chance = random.Random(seed)
    centres = [chance.getrandbits(64) for _ in range(12)]
    return [chance.choice(centres) ^ 1 << chance.randrange(64) ^ 1 << chance.randrange(64) for _ in range(count)]


def csv_text(rows: list[tuple[str, int]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([("id", "fingerprint"), *((guarded(name), hex(value)) for name, value in rows)])
    return out.getvalue()


def pairs_of(shown: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(shown, newline="")))[1:]


def naive(queries: list[tuple[str, int]], stored: list[tuple[str, int]], distance: int) -> list[list[str]]:
    near_rows = [(name, other, (value ^ print_).bit_count()) for name, value in queries for other, print_ in stored]
    return [[guarded(name), guarded(other), str(bits)] for name, other, bits in near_rows if bits <= distance]


def test_ids_are_any_strings_from_the_file_to_the_table_and_back(tmp_path: Path):
    stored = list(zip([*URLS, *ODD], prints(len(URLS) + len(ODD), 1), strict=True))
    queries = list(zip([f"q{name}" for name in ODD], prints(len(ODD), 1), strict=True))
    for name, rows in (("stored", stored), ("queries", queries)):
        (tmp_path / f"{name}.csv").write_text(csv_text(rows), newline="")
    expected = naive(queries, stored, 3)
    assert expected
    shown, _ = run("near", tmp_path / "stored.csv", "--query", tmp_path / "queries.csv")
    assert pairs_of(shown) == expected
    run("near", tmp_path / "stored.csv", "--save", tmp_path / "seen")
    shown, _ = run("near", tmp_path / "seen", "--query", tmp_path / "queries.csv")
    order = {guarded(name): place for place, (name, _) in enumerate(queries)}
    by_id = sorted(naive(queries, sorted(stored), 3), key=lambda pair: order[pair[0]])
    assert pairs_of(shown) == by_id
    with la.HammingTable.open(tmp_path / "seen") as table:
        assert table.is_named
        assert sorted(zip(*table.rows(), strict=True)) == sorted((value, name) for name, value in stored)


def test_rows_are_inserted_and_removed_from_the_command_line(tmp_path: Path):
    rows = list(zip(URLS, prints(len(URLS), 2), strict=True))
    for name, part in (("old", rows[:200]), ("new", rows[150:]), ("gone", rows[:50])):
        (tmp_path / f"{name}.csv").write_text(csv_text(part), newline="")
    assert "200 fingerprints in" in run("near", tmp_path / "old.csv", "--save", tmp_path / "seen")[1]
    told = run("near", tmp_path / "seen", "--insert", tmp_path / "new.csv", "--remove", tmp_path / "gone.csv")[1]
    assert "250 fingerprints in" in told
    assert "100 inserted, 50 removed" in told
    shown = json.loads(run("near", tmp_path / "seen", "--insert", tmp_path / "new.csv", "--json")[0])
    assert (shown["rows"], shown["inserted"], shown["removed"]) == (250, 0, 0)
    with la.HammingTable.open(tmp_path / "seen") as table:
        assert sorted(zip(*table.rows(), strict=True)) == sorted((value, name) for name, value in rows[50:])
    report = near(tmp_path / "seen", remove=tmp_path / "new.csv", queries=[0])
    assert (report.removed, report.fingerprints) == (150, 100)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["prints.csv", "--insert", "prints.csv"], "is no saved table"),
        (["seen", "--insert", "prints.csv", "--query", "prints.csv"], "--query has no effect"),
        (["seen", "--insert", "prints.csv", "--distance", "2"], "--distance has no effect"),
        (["prints.csv", "--save", "other", "--remove", "prints.csv"], "--remove has no effect"),
        (["numbers", "--insert", "prints.csv"], "id `a` is not a whole number"),
        (["seen", "--insert", "nothing.csv"], "nothing.csv"),
    ],
)
def test_what_cannot_be_changed_is_refused(tmp_path: Path, monkeypatch, arguments: list[str], words: str):
    monkeypatch.chdir(tmp_path)
    Path("prints.csv").write_text("id,fingerprint\na,1\n")
    for name, ids in (("seen", ["a"]), ("numbers", [7])):
        with la.HammingTable.build([1], ids) as table:
            table.save(name)
    assert words in run("near", *arguments, code=2)[1]


def test_a_table_of_numbers_stays_one(tmp_path: Path):
    (tmp_path / "old.csv").write_text("id,fingerprint\n7,1\n8,2\n")
    (tmp_path / "new.csv").write_text("id,fingerprint\n9,3\n")
    run("near", tmp_path / "old.csv", "--save", tmp_path / "seen")
    run("near", tmp_path / "seen", "--insert", tmp_path / "new.csv")
    run("near", tmp_path / "seen", "--remove", tmp_path / "old.csv")
    with la.HammingTable.open(tmp_path / "seen") as table:
        assert not table.is_named
        assert table.rows() == ([3], [9])


def test_a_table_that_is_being_written_is_told_so(tmp_path: Path):
    (tmp_path / "prints.csv").write_text("id,fingerprint\na,1\n")
    with la.HammingTable.build([1], ["a"]) as table:
        table.save(tmp_path / "seen")
        assert "is being written" in run("near", tmp_path / "seen", "--insert", tmp_path / "prints.csv", code=5)[1]


def zstd(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd as packing
    else:
        from backports import zstd as packing
    return packing.compress(data)


PACKINGS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("layout", ["csv", "jsonl"])
def test_compressed_files_are_read(tmp_path: Path, packing: str, layout: str):
    rows = list(zip(URLS, prints(len(URLS), 3), strict=True))
    text = (
        csv_text(rows) if layout == "csv" else "".join(json.dumps({"id": a, "fingerprint": b}) + "\n" for a, b in rows)
    )
    path = tmp_path / f"prints.{layout}.{packing}"
    path.write_bytes(PACKINGS[packing](text.encode()))
    (tmp_path / f"plain.{layout}").write_text(text, newline="")
    found, plain = la.near(path), la.near(tmp_path / f"plain.{layout}")
    assert (found.left, found.right, found.distances) == (plain.left, plain.right, plain.distances)
    assert len(found.left) > 100
    # A second stream that is damaged: what is whole before it is read, and not the row that it cuts.
    half, packed = text.encode()[: text.index("page=90") + 20], PACKINGS[packing]
    path.write_bytes(packed(half) + packed(b"rest")[:-5])
    cut = la.near(path, [value for _, value in rows], distance=0)
    assert set(cut.right) <= set(URLS[:90])
    assert (cut.left_out, cut.fingerprints) == (1, 90)
    assert "damaged" in cut.problems[0].reason


def test_every_container_gives_the_same_rows(tmp_path: Path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = list(zip([*URLS, *ODD], prints(len(URLS) + len(ODD), 4), strict=True))
    names, values = [name for name, _ in rows], [value for _, value in rows]
    parquet.write_table(pa.table({"id": names, "fingerprint": pa.array(values, pa.uint64())}), tmp_path / "a.parquet")
    strings = pa.table(
        {"fingerprint": [f"{value:016x}" for value in values], "id": pa.array(names).dictionary_encode()}
    )
    parquet.write_table(strings, tmp_path / "b.parquet", row_group_size=7)
    (tmp_path / "c.csv").write_text(csv_text(rows), newline="")
    (tmp_path / "d.tsv").write_text(
        csv_text([(name, value) for name, value in rows if "," not in name]).replace(",", "\t")
    )
    (tmp_path / "e.jsonl").write_text("".join(json.dumps({"fingerprint": b, "id": a}) + "\n" for a, b in rows))
    (tmp_path / "f.csv").write_text(csv_text(rows).replace("\r\n", "\n"), newline="")
    expected = la.near(tmp_path / "a.parquet")
    assert len(expected.left) > 100
    for name in ("b.parquet", "c.csv", "e.jsonl", "f.csv"):
        found = la.near(tmp_path / name)
        assert (found.left, found.right, found.distances) == (expected.left, expected.right, expected.distances), name
    assert not la.near(tmp_path / "d.tsv").left_out
    shown, _ = run("near", "-", "--json", given=(tmp_path / "c.csv").read_bytes())
    assert json.loads(shown)["left"] == expected.left


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.jsonl", '{"id": 1, "fingerprint": 2}\n\n{"id": 2}\n', "a.jsonl`, line 3: has no column `fingerprint`"),
        ("a.jsonl", '{"fingerprint": 2}\n', "a.jsonl`, line 1: has no column `id`"),
        ("a.csv", "id,fingerprint\na,1\nb\n", "a.csv`, line 3: has no column `fingerprint`: it has too few fields"),
        ("a.csv", "id,print\na,1\n", "a.csv`, line 1: has no column `fingerprint`: it has `id`, `print`; name yours"),
    ],
)
def test_a_row_without_the_columns_is_an_error(tmp_path: Path, name: str, text: str, words: str):
    (tmp_path / name).write_text(text)
    shown, told = run("near", tmp_path / name, code=2)
    assert words in told
    assert not shown
    assert words in run("near", tmp_path / name, "--save", tmp_path / "seen", code=2)[1]
    assert not (tmp_path / "seen").exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.jsonl", '{"id": 1, "fingerprint": 2}\n'), ("a.csv", "id,fingerprint\na,1\n"), ("a.parquet", "")],
)
@pytest.mark.parametrize(
    ("flags", "column"), [(["--length-within", "0.2"], "length"), (["--same-language"], "language")]
)
def test_a_limit_without_its_column_is_an_error(tmp_path: Path, name: str, text: str, flags: list[str], column: str):
    (tmp_path / name).write_text(text)
    if name.endswith(".parquet"):
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({"id": ["a"], "fingerprint": [1]}), tmp_path / name)
    (tmp_path / "whole.csv").write_text("id,fingerprint,length,language\na,1,5,en\n")
    for arguments in ([name], [name, "--query", tmp_path / "whole.csv"], ["whole.csv", "--query", tmp_path / name]):
        shown, told = run("near", tmp_path / arguments[0], *arguments[1:], *flags, code=2)
        assert f"{name}`" in told
        assert f"has no column `{column}`" in told
        assert "`lookalike simhash --languages` writes it" in told
        assert not shown


@pytest.mark.parametrize(
    ("flags", "words"), [(["--length-within", "0.2"], "--length-within"), (["--same-language"], "--same-language")]
)
def test_a_saved_table_and_bare_fingerprints_have_no_limits(tmp_path: Path, flags: list[str], words: str):
    path, table = tmp_path / "whole.csv", tmp_path / "table"
    path.write_text("id,fingerprint,length,language\na,1,5,en\n")
    told = run("near", path, "--save", table, *flags, code=2)[1]
    assert words in told
    assert "a saved table has none: search the file" in told
    assert not table.exists()
    run("near", path, "--save", table)
    for arguments in ([], ["--query", path], ["--insert", path]):
        assert "a saved table has none: search the file" in run("near", table, *arguments, *flags, code=2)[1]
    assert "give queries in a file" in run("near", path, "--fingerprint", "0x1", *flags, code=2)[1]
    assert run("near", path, "--query", path, *flags)[0].splitlines()[1:] == ["a,a,0"]


@pytest.mark.parametrize("length", ["", "x", "-1", "1.5"])
def test_a_length_that_is_no_number_is_an_error(tmp_path: Path, length: str):
    path = tmp_path / "a.csv"
    path.write_text(f"id,fingerprint,length\na,1,5\nb,1,{length}\n")
    words = f"a.csv`, id `b`: length `{length}` is not a whole number of tokens"
    assert words in run("near", path, "--length-within", "0.2", code=2)[1]
    assert len(la.near(path).left) == 1
    for share in ("1.5", "-0.1", "nan"):
        assert "--length-within" in run("near", path, "--length-within", share, code=2)[1]


def test_the_columns_that_simhash_writes_are_those_that_limits_read(tmp_path: Path):
    words = "the cat and the dog are in the house of the man that was with them "
    german = "der Hund und die Katze sind in dem Haus von einem Mann der mit ihnen war "
    rows = [words * 10, words * 12, words * 20, german * 10, german * 11, "1 2 3 " * 9, "1 2 3 " * 9]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in rows))
    pytest.importorskip("pyarrow")
    for name in ("prints.csv", "prints.parquet"):
        run("simhash", tmp_path / "in.jsonl", "-o", tmp_path / name, "--languages")
        ids = [f"in.jsonl:{number}" for number in range(1, 8)]
        found = [
            tuple(next(number for number, id_ in enumerate(ids) if one.endswith(id_)) for one in pair[:2])
            for pair in pairs_of(run("near", tmp_path / name, "--length-within", "0.2", "--same-language")[0])
        ]
        assert found == [(0, 1), (3, 4)]


def test_a_file_of_which_nothing_can_be_read_is_refused(tmp_path: Path):
    (tmp_path / "bad.csv").write_text("id,fingerprint\na,x\nb,\n")
    for arguments in (["--save", tmp_path / "seen"], []):
        told = run("near", tmp_path / "bad.csv", *arguments, code=3)[1]
        assert "no row of" in told
        assert "line 2: `x` is not a fingerprint" in told
    assert not (tmp_path / "seen").exists()
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"id,fingerprint\na,1\n")[:25])
    assert "damaged" in run("near", tmp_path / "cut.csv.gz", code=3)[1]
    (tmp_path / "featureless.csv").write_text("id,fingerprint\na,\n")
    shown, told = run("near", tmp_path / "featureless.csv")
    assert shown == "left,right,distance\r\n"
    assert "line 2: has no fingerprint" in told


def test_problems_are_listed_with_their_lines(tmp_path: Path):
    (tmp_path / "a.csv").write_text('id,fingerprint\n"two\nlines",1\nb,\nc,x\n')
    report = la.near(tmp_path / "a.csv")
    assert report.left_out == 2
    assert [problem.place for problem in report.problems] == ["line 4", "line 5"]


@given(st.text(alphabet="='+-@a1.,\"\n\r\t＝", max_size=6))
def test_the_core_guards_cells_as_the_package_does(text: str):
    line = _core.csv_pairs([text], ["b"], _core.Column(b"\x01\0\0\0", "<I"), 0, 1).decode()
    assert next(csv.reader(io.StringIO(line, newline=""))) == [guarded(text), "b", "1"]
    reader = _core.PrintReader("csv", ["id", "fingerprint"], 1000)
    out = io.StringIO(newline="")
    csv.writer(out).writerows([("id", "fingerprint"), (guarded(text), "1")])
    assert reader.push(out.getvalue().encode(), True)[0] == [text]


def test_a_column_of_strings_is_a_sequence():
    column = _core.Column.texts(["a", "", "ü", "d"])
    assert column == ["a", "", "ü", "d"]
    assert column != ["a"]
    assert (column[-1], column[1:3].tolist(), len(column)) == ("d", ["", "ü"], 4)
    assert repr(column) == "['a', '', 'ü', 'd']"
    assert pickle.loads(pickle.dumps(column)) == column
    with pytest.raises(IndexError):
        column[4]
    with pytest.raises(BufferError, match="strings have no buffer"):
        memoryview(column)


def test_columns_of_strings_speak_arrow():
    pa = pytest.importorskip("pyarrow")
    names = ["a", "", "ü"]
    assert pa.array(_core.Column.texts(names)).to_pylist() == names
    for ids in (pa.array(names), pa.array(names, pa.large_string()), pa.array(["x", *names])[1:], names):
        with la.HammingTable.build([1, 2, 3], ids) as table:
            assert table.rows()[1] == names
            assert table.remove([1], ids[:1]) == 1
    with pytest.raises(ParameterError, match="an id is null"):
        la.HammingTable.build([1], pa.array([None], pa.string()))
    assert la.HammingTable.build([5], pa.array([7], pa.uint64())).rows()[1] == [7]


def test_ids_are_all_numbers_or_all_strings():
    with la.HammingTable.build([1, 2], ["a", "b"]) as table:
        with pytest.raises(ParameterError, match="ids of this table are strings, not numbers"):
            table.insert([3], [3])
        with pytest.raises(ParameterError, match="all be strings"):
            table.insert([3, 4], ["c", 4])
        assert table.insert([], []) == 0
        assert pickle.loads(pickle.dumps(table)).rows() == table.rows()
    with la.HammingTable.build([1]) as table:
        with pytest.raises(ParameterError, match="ids of this table are numbers"):
            table.insert([1], ["a"])
        assert table.remove([], _core.Column.texts([])) == 0
    with la.HammingTable.build() as table:
        assert table.insert([1], ["a"]) == 1
        assert table.query(0).ids == ["a"]
        assert table.query_batch([0, 1]).ids == ["a", "a"]
