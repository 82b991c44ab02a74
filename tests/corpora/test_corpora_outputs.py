"""Outputs and ledgers: named after the inputs, there as a whole or not at all, and never in the way of anything."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.corpora import Plan, Scratch, Staging, open_sources, restore
from lookalike.corpora.scratch import PREFIX, sweep
from lookalike.errors import LedgerError, NoSpaceError, ParameterError
from support.corpora import dedup, rows, tree
from support.dedups import cells

A, B = b'{"text":"a"}\n', b'{"text":"b"}\n'


def write(root: Path, **files: bytes) -> Path:
    for name, data in files.items():
        path = root / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


# --- what is read ---------------------------------------------------------------------------------


def names(*inputs: object, **options: str) -> list[tuple[str, str]]:
    with Scratch() as scratch:
        corpus = open_sources([str(one) for one in inputs], scratch, **options)
        return [(source.name, source.format) for source in corpus.sources]


def test_a_folder_with_files_of_rows_is_these_files_in_order_of_their_names(tmp_path: Path, monkeypatch):
    write(tmp_path, d__b_jsonl=A, d__a__z_csv=b"text\n", d__a_jsonl_gz=gzip.compress(A), d__README_md=b"about")
    monkeypatch.chdir(tmp_path)
    assert names("d") == [("d/a/z.csv", "csv"), ("d/a.jsonl.gz", "jsonl"), ("d/b.jsonl", "jsonl")]
    with Scratch() as scratch:
        problems = open_sources(["d"], scratch).problems
    assert [problem.reason for problem in problems] == [
        "1 file not read and not in any output, because other files here have rows and this suffix names no rows: "
        "`d/README.md`"
    ]


def test_a_stray_table_without_the_text_column_is_listed_and_the_others_are_read(tmp_path: Path, monkeypatch):
    write(tmp_path, d__a_csv=b"other\n1\n", d__b_csv=b"text\na\n", t__a_txt=b"a", t__facts_csv=b"name,size\na.txt,1\n")
    write(tmp_path, n__a_csv=b"other\n1\n")
    monkeypatch.chdir(tmp_path)
    for folder, found in (("d", [("d/b.csv", "csv")]), ("t", [("t", "text")]), ("d/*.csv", [("d/b.csv", "csv")])):
        assert names(folder) == found
        with Scratch() as scratch:
            (problem,) = open_sources([folder], scratch).problems
        assert problem.source.endswith(".csv")
        assert "text column `text` is not in" in problem.reason
    for alone in ("n", "d/a.csv"):
        with pytest.raises(ParameterError, match="text column `text` is not in"):
            names(alone)


def test_shards_of_one_name_keep_their_folders(tmp_path: Path):
    root = write(tmp_path, a__x__p_jsonl=A, b__x__p_jsonl=B, b__q_jsonl=A, c__p_jsonl=A)
    dedup([root / "a", root / "b", root / "c" / "p.jsonl"], root / "out", root / "ledger")
    assert set(tree(root / "out")) == {"a/x/p.jsonl", "b/x/p.jsonl", "q.jsonl", "p.jsonl"}
    restore(root / "ledger", root / "out", root / "back")
    assert tree(root / "back")["b/x/p.jsonl"] == B


def test_a_folder_without_such_files_is_one_source_of_texts(tmp_path: Path, monkeypatch):
    write(tmp_path, d__a_txt=b"a", d__b__c=b"b", d__package_json=b'{\n "name": 1\n}\n')
    monkeypatch.chdir(tmp_path)
    assert names("d") == [("d", "text")]
    assert names("d/a.txt", "d/b/c") == [("texts", "text")]


def test_a_json_file_in_a_folder_is_lines_if_its_first_line_is_an_object(tmp_path: Path, monkeypatch):
    write(tmp_path, d__a_json_gz=gzip.compress(A + B))
    monkeypatch.chdir(tmp_path)
    assert names("d") == [("d/a.json.gz", "jsonl")]


def test_patterns_and_formats_by_content_are_understood(tmp_path: Path, monkeypatch):
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "table")
    write(tmp_path, lines=b"\n " + A, packed=gzip.compress(A), crawl=b"WARC/1.0\r\n", note=b"prose")
    monkeypatch.chdir(tmp_path)
    assert names("*") == [
        ("crawl", "warc"), ("lines", "jsonl"), ("packed", "jsonl"), ("table", "parquet"), ("texts", "text"),
    ]  # fmt: skip
    assert names("note", format="jsonl") == [("note", "jsonl")]
    with pytest.raises(ParameterError, match="format `xml` is not known"):
        names("note", format="xml")


def test_standard_input_is_set_aside_and_read_twice(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(A + B)))
    with Scratch() as scratch:
        source = open_sources(["-"], scratch).sources[0]
        assert rows(source) == rows(source) == [(None, b"a"), (None, b"b")]


def test_a_pipe_is_set_aside_and_read_twice(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["sh", "-c", f"printf '%s' '{A.decode()}' > '{tmp_path}/pipe'"]), Scratch() as scratch:
        source = open_sources([str(tmp_path / "pipe")], scratch).sources[0]
        assert rows(source) == rows(source) == [(None, b"a")]


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path):
    write(tmp_path, d__a_jsonl=A)
    with Scratch() as scratch:
        corpus = open_sources([str(tmp_path / "d" / "a.jsonl"), str(tmp_path / "d")], scratch)
    assert len(corpus.sources) == 1
    assert [problem.reason for problem in corpus.problems] == ["was given twice; it is read once"]


def test_addresses_are_read_through_fsspec(tmp_path: Path):
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.pipe({"/in/a.jsonl": A + A, "/in/b/c.jsonl.gz": gzip.compress(B + B)})
    table = io.BytesIO()
    pq.write_table(pa.table({"text": ["c", "c"]}), table)
    memory.pipe("/in/t.parquet", table.getvalue())
    facts, problems = dedup(["memory://in"], tmp_path / "out", tmp_path / "ledger")
    assert ([one.rows for one in facts], problems) == ([2, 2, 2], [])
    assert sorted(tree(tmp_path / "out")) == ["a.jsonl", "b/c.jsonl.gz", "t.parquet"]
    assert names("memory://in/*.jsonl") == [("memory:///in/a.jsonl", "jsonl")]
    restore(tmp_path / "ledger", tmp_path / "out", tmp_path / "back")
    assert (tmp_path / "back" / "a.jsonl").read_bytes() == A + A
    write(tmp_path, here_jsonl=A)
    assert names(f"file://{tmp_path}/here.jsonl") == [(f"{tmp_path}/here.jsonl", "jsonl")]


def test_a_place_elsewhere_that_fails_in_its_own_way_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import fsspec
    from fsspec.implementations.memory import MemoryFile

    def fail(*_: object) -> bytes:
        raise RuntimeError("the network\nis gone")

    fsspec.filesystem("memory").pipe("/gone/a.jsonl", A)
    with Scratch() as scratch:
        source = open_sources(["memory://gone/a.jsonl"], scratch).sources[0]
        monkeypatch.setattr(MemoryFile, "read", fail, raising=False)
        assert rows(source) == []
    assert [problem.reason for problem in source.problems] == ["cannot be read: the network"]


def test_progress_ends_at_the_size(tmp_path: Path):
    write(tmp_path, a_jsonl=A * 99, b_jsonl_gz=gzip.compress(A * 99), c_csv=b"text\na\n", d_warc=b"", t__x=b"abc")
    with Scratch() as scratch:
        for given in ("a.jsonl", "b.jsonl.gz", "c.csv", "d.warc", "t"):
            source = open_sources([str(tmp_path / given)], scratch).sources[0]
            assert source.done == 0
            rows(source)
            assert source.done == source.size, given


@pytest.mark.parametrize("name", ["nothing.jsonl", "no*thing", "memory://nothing/at/all.jsonl"])
def test_what_is_not_there_is_refused(name: str):
    with pytest.raises(FileNotFoundError, match="nothing matches it"):
        names(name)


def test_an_address_of_no_known_kind_is_refused_in_one_sentence():
    with pytest.raises(ParameterError, match="`gopher://x` cannot be read: "):
        names("gopher://x")


# --- where it goes --------------------------------------------------------------------------------


def test_several_inputs_keep_their_names_in_a_folder_and_equal_names_are_told_apart(tmp_path: Path):
    write(tmp_path, x__p_jsonl_gz=gzip.compress(A), y__p_jsonl_gz=gzip.compress(B), z__P_jsonl_gz=gzip.compress(A))
    inputs = [tmp_path / one / two for one, two in (("x", "p.jsonl.gz"), ("y", "p.jsonl.gz"), ("z", "P.jsonl.gz"))]
    dedup(inputs, tmp_path / "out", tmp_path / "ledger")
    found = tree(tmp_path / "out")
    assert {name: gzip.decompress(data) for name, data in found.items()} == {
        "x/p.jsonl.gz": A, "y/p.jsonl.gz": B, "z/P.jsonl.gz": b"",
    }  # fmt: skip
    restore(tmp_path / "ledger", tmp_path / "out", tmp_path / "back")
    assert gzip.decompress((tmp_path / "back" / "z" / "P.jsonl.gz").read_bytes()) == A


def test_many_files_of_all_formats_come_back_below_one_folder(tmp_path: Path):
    root = write(tmp_path, **{f"in__{n % 7}__{n}_jsonl": A + B * n for n in range(60)}, in__t__x_csv=b"text\na\nq\nq\n")
    pq.write_table(pa.table({"text": ["a", "new"]}), root / "in" / "ü 🐢.parquet")
    dedup([root / "in"], root / "out", root / "ledger.jsonl.zst")
    restore(root / "ledger.jsonl.zst", root / "out", root / "back")
    back, given = tree(root / "back"), tree(root / "in")
    assert pq.read_table(root / "back" / "ü 🐢.parquet").equals(pq.read_table(root / "in" / "ü 🐢.parquet"))
    del back["ü 🐢.parquet"], given["ü 🐢.parquet"]
    assert back == given


@pytest.mark.parametrize(
    ("out", "many", "is_folder"),
    [("o.jsonl", False, False), ("o/", False, True), ("o", True, True), ("o", False, False)],
)
def test_the_output_is_a_folder_for_several_inputs_or_if_its_name_says_so(tmp_path: Path, out, many, is_folder):
    assert Plan.new(f"{tmp_path}/{out}", ["a.jsonl"], many=many).is_folder is is_folder


def test_a_single_output_is_compressed_as_its_name_says(tmp_path: Path):
    write(tmp_path, in_jsonl_gz=gzip.compress(A + A))
    dedup([tmp_path / "in.jsonl.gz"], tmp_path / "out.jsonl", tmp_path / "ledger")
    assert (tmp_path / "out.jsonl").read_bytes() == A
    restore(tmp_path / "ledger", tmp_path / "out.jsonl", tmp_path / "back.jsonl.gz")
    assert gzip.decompress((tmp_path / "back.jsonl.gz").read_bytes()) == A + A


def test_what_is_there_is_not_overwritten_unless_allowed(tmp_path: Path):
    write(tmp_path, in_jsonl=A + A, out_jsonl=b"precious")
    with pytest.raises(FileExistsError, match=r"exists already.*out\.jsonl"):
        dedup([tmp_path / "in.jsonl"], tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == b"precious"
    dedup([tmp_path / "in.jsonl"], tmp_path / "out.jsonl", overwrite=True)
    assert (tmp_path / "out.jsonl").read_bytes() == A


def test_an_input_is_never_written_not_even_through_a_link_or_from_inside(tmp_path: Path):
    write(tmp_path, in_jsonl=A + A, d__a_txt=b"a")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "in.jsonl")
    for out in ("in.jsonl", "link.jsonl"):
        with pytest.raises(FileExistsError, match="is an input"):
            dedup([tmp_path / "in.jsonl"], tmp_path / out, overwrite=True)
    for out in ("d", "d/clean"):
        with pytest.raises(FileExistsError, match="is inside the input"):
            dedup([tmp_path / "d"], tmp_path / out, overwrite=True)
    with pytest.raises(ParameterError, match="is not a local path"):
        dedup([tmp_path / "in.jsonl"], "s3://bucket/out.jsonl")
    assert (tmp_path / "in.jsonl").read_bytes() == A + A


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path):
    write(tmp_path, x_jsonl=A, y_jsonl=B, out=b"precious")
    with pytest.raises(FileExistsError, match="is a file, but a folder is needed"):
        dedup([tmp_path / "x.jsonl", tmp_path / "y.jsonl"], tmp_path / "out", overwrite=True)
    assert (tmp_path / "out").read_bytes() == b"precious"


def test_single_text_files_go_into_a_folder(tmp_path: Path):
    write(tmp_path, x__n_txt=b"same", y__n_txt=b"same", z__n_txt=b"other")
    dedup([tmp_path / one / "n.txt" for one in "xyz"], tmp_path / "out", tmp_path / "ledger")
    assert tree(tmp_path / "out") == {"n.txt": b"same", "n-3.txt": b"other"}
    restore(tmp_path / "ledger", tmp_path / "out", tmp_path / "back")
    assert tree(tmp_path / "back") == {"n.txt": b"same", "n-2.txt": b"same", "n-3.txt": b"other"}


def test_the_same_input_gives_the_same_bytes_ledger_and_all(tmp_path: Path):
    write(tmp_path, in__a_jsonl_gz=gzip.compress(A + A), in__b_jsonl=A + B)
    for run in ("1", "2"):
        (tmp_path / run).mkdir()
        dedup([tmp_path / "in"], tmp_path / run / "out", tmp_path / run / "ledger.jsonl.gz")
    assert tree(tmp_path / "1") == tree(tmp_path / "2")


# --- whole or not at all --------------------------------------------------------------------------


def test_nothing_is_left_of_outputs_that_were_not_committed(tmp_path: Path):
    def fail(staging: Staging) -> None:
        (Path(staging.folder(str(tmp_path / "out"))) / "a").write_bytes(b"half")
        Path(staging.file(str(tmp_path / "deep" / "er" / "b"))).write_bytes(b"half")
        assert all(path.name.startswith(".") for path in tmp_path.iterdir())
        raise ArithmeticError

    with pytest.raises(ArithmeticError), Staging() as staging:
        fail(staging)
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
sys.path[:0] = {paths!r}
from support.corpora import dedup
from lookalike.corpora import LineFilter
class Killing(LineFilter):
    def feed(self, data, last):
        if last:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().feed(data, last)
dedup([{source!r}], {out!r}, make=Killing)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
def test_a_killed_run_leaves_nothing_that_looks_finished_and_the_next_one_sweeps_it(tmp_path: Path):
    write(tmp_path, in_jsonl=A + A)
    paths = [str(Path(__file__).parents[1]), *sys.path]
    code = KILLED.format(paths=paths, source=str(tmp_path / "in.jsonl"), out=str(tmp_path / "out.jsonl"))
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    left = {path.name for path in tmp_path.iterdir()} - {"in.jsonl"}
    assert len(left) == 1
    assert left.pop().startswith(".lookalike-")
    dedup([tmp_path / "in.jsonl"], tmp_path / "out.jsonl")
    assert {path.name for path in tmp_path.iterdir()} == {"in.jsonl", "out.jsonl"}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
def test_no_space_is_one_error_that_says_what_is_needed(tmp_path: Path):
    def fill(staging: Staging) -> None:
        Path(staging.file(str(tmp_path / "out"))).write_bytes(bytes(1000))
        with open("/dev/full", "wb", buffering=0) as file:
            file.write(b"more")

    with (
        pytest.raises(NoSpaceError, match=r"up to 3 GiB are needed, .* are free") as caught,
        Staging(expected_bytes=3 * 2**30) as staging,
    ):
        fill(staging)
    assert caught.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []


def test_scratch_is_private_and_gone_at_the_end(tmp_path: Path):
    with Scratch(tmp_path) as scratch:
        Path(scratch.path()).write_bytes(b"secret")
        assert stat.S_IMODE(os.stat(scratch.folder).st_mode) == 0o700
    assert list(tmp_path.iterdir()) == []


def test_scratch_of_the_dead_is_swept_and_that_of_the_living_is_not(tmp_path: Path):
    with Scratch(tmp_path) as living:
        write(tmp_path / f"{PREFIX}dead", _lock=b"", spool=b"x")
        write(tmp_path / "other", _lock=b"")
        (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "other")
        kept = {os.path.basename(living.folder), "other", f"{PREFIX}link"}
        with Scratch(tmp_path) as second:
            kept.add(os.path.basename(second.folder))
            assert {path.name for path in tmp_path.iterdir()} == kept


@pytest.mark.parametrize("call", ["open", "rename"])
def test_scratch_is_not_swept_while_it_is_being_locked(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = getattr(os, call)

    def beside(*arguments: Any, **named: Any) -> Any:
        found = real(*arguments, **named)
        monkeypatch.setattr(os, call, real)
        sweep(str(tmp_path), PREFIX)
        return found

    with Scratch(tmp_path) as scratch:
        monkeypatch.setattr(os, call, beside)
        assert os.path.isdir(scratch.folder)


# --- ledgers that are not to be trusted -----------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path) -> Path:
    write(tmp_path, in__a_jsonl=A + A + B, in__b_jsonl=B + B)
    dedup([tmp_path / "in"], tmp_path / "out", tmp_path / "ledger")
    return tmp_path


def test_a_ledger_tells_who_went_why_and_for_whom(run: Path):
    header, *entries = [json.loads(line) for line in (run / "ledger").read_text().splitlines()]
    assert (header["ledger"], header["entries"], header["parameters"]) == (1, 3, {})
    assert [(one["name"], one["rows"], one["size"], one["clean"]) for one in header["sources"]] == [
        (str(run / "in/a.jsonl"), 3, 39, "a.jsonl"), (str(run / "in/b.jsonl"), 2, 26, "b.jsonl"),
    ]  # fmt: skip
    assert entries[0] == {
        "source": 0, "row": 1, "survivor": {"source": 0, "row": 0, "id": None}, "resemblance": 1.0,
        "basis": "identical", "method": "exact", "at": 13, "data": '{"text":"a"}\n',
    }  # fmt: skip
    assert [entry["survivor"]["row"] for entry in entries] == [0, 2, 2]


def changed(run: Path, old: bytes, new: bytes) -> bytes:
    data = (run / "ledger").read_bytes()
    assert old in data
    return data.replace(old, new)


#: What becomes of the ledger, and what is said about it.
DAMAGE = {
    "cut at a line": (lambda run: (run / "ledger").read_bytes().rpartition(b'{"source":1')[0], "cut short"),
    "cut in a line": (lambda run: (run / "ledger").read_bytes()[:-9], "cut short"),
    "cut when packed": (lambda run: gzip.compress((run / "ledger").read_bytes())[:-30], "cannot be read|cut short"),
    "empty": (lambda run: b"", "is not a ledger"),
    "other file": (lambda run: A, "is not a ledger"),
    "binary": (lambda run: bytes(range(256)), "is not a ledger"),
    "newer": (lambda run: changed(run, b'{"ledger":1', b'{"ledger":9'), "of version 9, this program reads 1"),
    "row changed": (lambda run: changed(run, b'\\"a\\"', b'\\"x\\"'), "was changed"),
    "leads out": (lambda run: changed(run, b'"clean":"a.jsonl"', b'"clean":"../a.jsonl"'), "outside the folder"),
    "no sources": (lambda run: changed(run, b'"sources"', b'"fountains"'), "header lacks"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_ledger_that_is_damaged_is_refused_and_nothing_is_written(run: Path, name: str):
    damage, reason = DAMAGE[name]
    (run / "ledger").write_bytes(damage(run))
    assert re.search(reason, refusal(run))
    assert sorted(path.name for path in run.iterdir()) == ["in", "ledger", "out"]


@pytest.mark.parametrize("data", [B + A, A, b""])
def test_a_ledger_of_other_files_is_refused_and_nothing_is_written(run: Path, data: bytes):
    (run / "out" / "a.jsonl").write_bytes(data)
    assert "is not what the run of ledger" in refusal(run)
    assert sorted(path.name for path in run.iterdir()) == ["in", "ledger", "out"]


def refusal(run: Path) -> str:
    """Return why rows cannot be restored, in one line."""
    with pytest.raises(LedgerError) as caught:
        restore(run / "ledger", run / "out", run / "back")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_output_may_be_compressed_or_expanded_before_its_rows_come_back(run: Path):
    (run / "out" / "a.jsonl").write_bytes(gzip.compress((run / "out" / "a.jsonl").read_bytes()))
    restore(run / "ledger", run / "out", run / "back")
    assert gzip.decompress((run / "back" / "a.jsonl").read_bytes()) == A + A + B


def test_rows_do_not_come_back_into_the_output(run: Path):
    for out in ("out", "out/back"):
        with pytest.raises(FileExistsError, match="is inside the input"):
            restore(run / "ledger", run / "out", run / out, overwrite=True)


def test_an_output_that_is_not_there_is_named(run: Path):
    (run / "out" / "b.jsonl").unlink()
    with pytest.raises(FileNotFoundError, match=r"b\.jsonl"):
        restore(run / "ledger", run / "out", run / "back")
    assert not (run / "back").exists()


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()], ids=str)
def test_views_are_read_written_and_restored(tmp_path: Path, kind: pa.DataType):
    """Texts, ids and other columns that are views of Arrow, which pyarrow can neither filter nor take."""
    texts = ["one two three four five six", "One, two, three, four, five, six!", None, "Boat to let."]
    given = [text if text is None or kind == pa.string_view() else text.encode() for text in texts]
    ids = pa.array(["a", "b", "c", "d"], pa.string_view())
    table = pa.table({"text": pa.array(given, kind), "id": ids, "more": pa.array([b"1", None, b"3", b"4"], kind)})
    pq.write_table(table, tmp_path / "rows.parquet")
    assert pq.ParquetFile(tmp_path / "rows.parquet").schema_arrow.field("text").type == kind
    out, ledger, clusters = tmp_path / "out.parquet", tmp_path / "ledger", tmp_path / "clusters.csv"
    la.dedup(tmp_path / "rows.parquet", out=out, ledger=ledger, clusters=clusters)
    assert pq.read_table(out).column("id").to_pylist() == ["a", "c", "d"]
    assert [row[0] for row in cells(clusters)[1:]] == ["a", "b"]
    la.restore(ledger, out, tmp_path / "again.parquet")
    assert pq.read_table(tmp_path / "again.parquet").equals(table)
    assert la.dedup(table).select().column("id").to_pylist() == ["a", "c", "d"]
