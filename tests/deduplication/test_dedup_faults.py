"""What strangers, disks and impatient people do to `lookalike dedup`: nothing is lost, nothing half done looks done."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.corpora.batches import RECORD_BYTES
from lookalike.documents.reasons import in_bytes
from support.children import PATIENCE, started_until
from support.dedups import FORMATS, WORDS, command, corpus, edited, lines, table
from support.memory import measured, needs_peak
from support.packing import zstd

ROWS = corpus()
Capture = pytest.CaptureFixture[str]
MIB = 2**20

DEEP = '{"a":' + "[" * 1000 + "]" * 1000 + ', "text": "the same text as another one"}'
#: Lines that are no records, and why.
BAD = {
    "{bad": "not JSON: key must be a string at byte 2",
    "": None,
    "[1]": "the line is an array, not an object",
    '"a"': "the line is a string, not an object",
    "null": "the line is null, not an object",
    "NaN": "not JSON: expected value at byte 1",
    '{"text": NaN}': "not JSON: expected value at byte 10",
    '{"text": 5}': "`text` is a number, not a string",
    '{"text": ["a"]}': "`text` is an array, not a string",
    '{"text": {"text": "a"}}': "`text` is an object, not a string",
    '{"text": null}': None,
    '{"body": "a"}': None,
    '{"id": "twice", "text": "the same text as another one"}': None,
    '{"id": "twice", "text":"the same text as another one"}': None,
    DEEP: None,
}


def test_bad_lines_are_told_by_number_and_reason_kept_and_end_nothing(tmp_path: Path, capfd: Capture):
    path = tmp_path / "rows.jsonl"
    data = b"".join(line.encode() + b"\n" for line in BAD) + b"\xff\xfe\n" + b'{"text": "cut off'
    path.write_bytes(data)
    arguments = ["dedup", path, "-o", tmp_path / "out.jsonl", "--ledger", tmp_path / "gone", "--overwrite"]
    facts = json.loads(command(capfd, *arguments, "--json").out)
    told = {problem["place"]: problem["reason"] for problem in facts["problems"]}
    for number, reason in enumerate(BAD.values(), 1):
        assert told.get(f"line {number}") == reason
    assert told["line 16"].startswith("not JSON")
    assert told["line 17"].startswith("not JSON: EOF")
    assert facts["removed"]["identical"] == sum(facts["removed"].values()) == 2, (
        "ids that are twice there are nobody's fault"
    )
    kept = [line for at, line in enumerate(data.splitlines(True)) if at not in (13, 14)]
    assert (tmp_path / "out.jsonl").read_bytes() == b"".join(kept)
    command(capfd, "dedup", tmp_path / "out.jsonl", "--restore", tmp_path / "gone", "-o", tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == data
    command(capfd, *arguments, "--strict", expected=3)
    command(capfd, *arguments, "--max-errors", len(told), expected=0)
    done = command(capfd, *arguments, "--max-errors", len(told) - 1, expected=3)
    assert f"{len(told)} rows could not be read, more than --max-errors `{len(told) - 1}` allows" in done.err


def test_of_many_bad_lines_the_first_are_told_and_all_are_counted(tmp_path: Path, capfd: Capture):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"{bad\n" * 30_000)
    facts = json.loads(command(capfd, "dedup", path, "--json", expected=3).out)
    assert facts["states"]["bad"] == 30_000
    assert sum(problem["rows"] for problem in facts["problems"]) == 30_000
    assert len(facts["problems"]) < 2000
    shown = command(capfd, "dedup", path, "--pairs", tmp_path / "pairs.csv", expected=3).out
    assert shown.count("not read:") == 5


CUTS: dict[str, Callable[[bytes], bytes]] = {
    "rows.jsonl.gz": lambda data: data[: len(data) // 2],
    "rows.jsonl.zst": lambda data: data[: len(data) // 2],
    "rows.csv.gz": lambda data: data[: len(data) // 2],
}


@pytest.mark.parametrize("name", CUTS)
def test_of_a_file_that_is_cut_short_what_is_there_is_used_and_the_rest_is_told(
    tmp_path: Path, capfd: Capture, name: str
):
    source, out = tmp_path / name, tmp_path / "out" / name
    rows = corpus(300)
    FORMATS[name](source, rows)
    whole = source.read_bytes()
    source.write_bytes(CUTS[name](whole))
    arguments = ["dedup", source, "-o", out, "--ledger", tmp_path / "gone", "--overwrite"]
    facts = json.loads(command(capfd, *arguments, "--json").out)
    assert 10 < facts["rows"] < len(rows)
    assert [problem["reason"] for problem in facts["problems"]][-1:] != []
    assert any("cut short" in problem["reason"] for problem in facts["problems"])
    command(capfd, *arguments, "--strict", expected=3)
    plain = tmp_path / f"again.{name.split('.')[1]}"
    command(capfd, "dedup", out, "--restore", tmp_path / "gone", "-o", plain)
    unpack = gzip.decompress if name.endswith(".gz") else zstd.decompress
    again = plain.read_bytes()
    assert unpack(whole).startswith(again)
    assert len(again) > 1000


def test_a_table_that_is_cut_short_is_told_and_the_others_are_done(tmp_path: Path, capfd: Capture):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a.parquet", "b.parquet"):
        FORMATS["rows.parquet"](folder / name, ROWS)
    (folder / "a.parquet").write_bytes((folder / "a.parquet").read_bytes()[:-100])
    arguments = ["dedup", folder, "-o", tmp_path / "out", "--json"]
    facts = json.loads(command(capfd, *arguments, "--strict", expected=3).out)
    assert facts["rows"] == len(ROWS)
    (problem,) = facts["problems"]
    assert problem["source"].endswith("a.parquet")
    assert "damaged, or no Parquet file" in problem["reason"]
    assert problem["reason"].endswith("it is not in the output")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["b.parquet"]
    assert pq.read_table(tmp_path / "out" / "b.parquet").num_rows == facts["kept"]


def test_a_damaged_row_group_is_told_counted_and_ends_nothing(tmp_path: Path, capfd: Capture):
    source = tmp_path / "rows.parquet"
    pq.write_table(table(ROWS), source, row_group_size=20, compression="zstd", use_dictionary=False)
    data = bytearray(source.read_bytes())
    column = pq.ParquetFile(source).metadata.row_group(1).column(1)
    start = column.data_page_offset
    data[start : start + 200] = b"\xff" * 200
    source.write_bytes(data)
    arguments = ["dedup", source, "-o", tmp_path / "out.parquet"]
    facts = json.loads(command(capfd, *arguments, "--json").out)
    (problem,) = facts["problems"]
    assert (problem["place"], problem["rows"]) == ("row group 1", 20)
    assert facts["rows"] == len(ROWS)
    done = command(capfd, *arguments, "--overwrite", "--max-errors", 19, expected=3)
    assert "20 rows could not be read" in done.err


def write_long_line(path: Path, size: int) -> None:
    """Write a corpus with a line of so many bytes, which take no room on the disk."""
    with open(path, "wb") as file:
        file.write(lines(ROWS[:20]) + b'{"text": "')
        file.seek(size, os.SEEK_CUR)
        file.write(b'"}\n' + lines(ROWS[20:]))


@needs_peak
def test_a_line_without_end_is_refused_and_the_next_is_found_in_bounded_memory(tmp_path: Path):
    """Memory does not grow with the line beyond what a record may have: so it is with one of any length."""
    write_long_line(tmp_path / "rows.jsonl", 2**30)
    done, peak = measured("dedup", tmp_path / "rows.jsonl", "--json", "--memory", "64MiB")
    facts = json.loads(done.stdout)
    assert facts["rows"] == len(ROWS) + 1
    (problem,) = facts["problems"]
    assert problem["place"] == "line 21"
    assert "more bytes than the limit" in problem["reason"]
    assert sum(facts["removed"].values()) == len(la.dedup([row.text for row in ROWS]).gone)
    assert peak < RECORD_BYTES + 128 * MIB


def test_a_line_that_is_too_long_is_in_the_output(tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lookalike.deduplication.reading.RECORD_BYTES", 2**20)
    path = tmp_path / "rows.jsonl"
    write_long_line(path, 20 * MIB)
    arguments = ["dedup", path, "-o", tmp_path / "out.jsonl", "--ledger", tmp_path / "gone"]
    assert "line 21: the line has more bytes than the limit of" in command(capfd, *arguments).out
    assert (tmp_path / "out.jsonl").stat().st_size > 20 * MIB
    command(capfd, "dedup", tmp_path / "out.jsonl", "--restore", tmp_path / "gone", "-o", tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == path.read_bytes()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus whose shingles take 48 MiB, with near-duplicates all over."""
    rng = random.Random(4)
    passages = [" ".join(rng.choices(WORDS, k=200)) for _ in range(4000)]
    path = tmp_path_factory.mktemp("large") / "rows.jsonl"
    with open(path, "w", encoding="utf-8") as file:
        text = ""
        for number in range(3000):
            text = edited(text, rng) if number % 5 == 4 else " ".join(rng.choices(passages, k=10))
            file.write(json.dumps({"id": number, "text": text}) + "\n")
    return path


@pytest.fixture(scope="module")
def unlimited(large: Path) -> tuple[dict[str, bytes], int]:
    return outputs_of(large, "unlimited", memory="4GiB")


def outputs_of(path: Path, name: str, **chosen: object) -> tuple[dict[str, bytes], int]:
    out = path.parent / name
    out.mkdir()
    answer = la.dedup(
        path,
        out=out / "out.jsonl",
        clusters=out / "clusters.csv",
        pairs=out / "pairs.csv",
        ledger=out / "ledger",
        **chosen,  # type: ignore[arg-type]
    )
    assert len(answer.gone) >= 590
    return {one.name: one.read_bytes() for one in out.iterdir()}, answer.work["spilled_bytes"]


@pytest.mark.parametrize("chosen", [{"memory": "16MiB"}, {"threads": 1}, {"memory": "16MiB", "threads": 1}], ids=str)
def test_outputs_are_the_same_bytes_with_little_memory_and_any_number_of_threads(
    large: Path, unlimited: tuple[dict[str, bytes], int], chosen: dict[str, object]
):
    written, spilled = outputs_of(large, str(chosen), **chosen)
    assert written == unlimited[0]
    assert unlimited[1] == 0
    assert spilled > 2.2 * 16 * MIB if "memory" in chosen else spilled == 0


#: The calls at which a run is stopped. While reading: when it copies standard input, of which it never gets the end.
#: While writing: when it has packed 16 MiB of the input into the output.
PHASES: dict[str, dict[str, Any]] = {
    "reading": {"place": "shutil:copyfileobj", "waits": False, "given": lines(ROWS)},
    "writing": {"place": "lookalike.corpora.filtering:Filtering._tell_of", "call": 16},
}


@pytest.mark.parametrize(
    ("phase", "stop"),
    [
        ("reading", signal.SIGKILL),
        ("reading", signal.SIGTERM),
        ("writing", signal.SIGKILL),
        ("writing", signal.SIGTERM),
        ("writing", signal.SIGINT),
    ],
)
def test_a_run_that_is_stopped_leaves_nothing_that_looks_finished_and_the_next_cleans_up(
    large: Path, tmp_path: Path, phase: str, stop: signal.Signals
):
    scratch, folder = tmp_path / "scratch", tmp_path / "out"
    source = large if phase == "writing" else "-"
    folder.mkdir()
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch)}
    arguments = ["-o", folder / "out.jsonl.gz", "--ledger", folder / "ledger", "--clusters", folder / "clusters.csv"]
    child = started_until(**PHASES[phase], arguments=["dedup", source, *arguments], env=environment)
    if phase == "writing":
        assert [one for one in folder.glob(".*/*") if one.stat().st_size > 2**16]
    else:
        assert [*scratch.glob("*/1")]
    child.send_signal(stop)
    _, said = child.communicate(timeout=PATIENCE)
    assert [one for one in folder.iterdir() if not one.name.startswith(".")] == []
    if stop == signal.SIGKILL:
        assert child.returncode == -stop
        assert [*scratch.iterdir()], "it could not clean up"
    else:
        assert (child.returncode, said.strip()) == (130, b"lookalike: interrupted")
        assert [*scratch.iterdir()] == [*folder.iterdir()] == []
    command = [sys.executable, "-m", "lookalike", "dedup", "-", *arguments]
    done = subprocess.run(
        command, input=lines(ROWS), capture_output=True, timeout=PATIENCE, env=environment, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(one.name for one in folder.iterdir()) == ["clusters.csv", "ledger", "out.jsonl.gz"]
    assert [*scratch.iterdir()] == []


LIMITED = """
import resource, sys
from lookalike.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))
sys.argv[1:] = {arguments!r}
main()
"""


@pytest.mark.parametrize("what", ["output", "temporary files"])
def test_a_disk_that_takes_no_more_is_told_and_nothing_is_left(large: Path, tmp_path: Path, what: str):
    """The limit of a process on its files stands for a full disk, which only the superuser can make."""
    scratch, folder = tmp_path / "scratch", tmp_path / "out"
    folder.mkdir()
    scratch.mkdir()
    arguments = ["dedup", str(large), "-o", str(folder / "out.jsonl")]
    arguments += ["--memory", "16MiB" if what == "temporary files" else "1GiB"]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(most=2 * MIB, arguments=arguments)],
        capture_output=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    said = done.stderr.decode()
    assert done.returncode == 7, said
    if what == "output":
        assert f"`{folder / 'out.jsonl'}` cannot be written: a file may have at most 2 MiB (`ulimit -f`); " in said
        assert f"up to {in_bytes(large.stat().st_size)} are needed" in said
    else:
        assert "cannot be read or written: File too large" in said
    assert said.count("\n") == 1
    assert [*folder.iterdir()] == [*scratch.iterdir()] == []


def test_an_input_that_changes_between_the_passes_is_refused(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(ROWS))

    def change(phase: str, done: int, total: int | None) -> None:
        if phase == "comparing":
            path.write_bytes(lines(ROWS[:-5]))

    with pytest.raises(ValueError, match="the input changed"):
        la.dedup(path, out=tmp_path / "out.jsonl", progress=change)
    assert [one.name for one in tmp_path.iterdir()] == ["rows.jsonl"]


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="there are no devices here")
def test_a_device_is_never_replaced(tmp_path: Path, capfd: Capture):
    (tmp_path / "rows.jsonl").write_bytes(lines(ROWS))
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    for target in (fifo, "/dev/null"):
        done = command(capfd, "dedup", tmp_path / "rows.jsonl", "-o", target, "--overwrite", expected=2)
        assert "exists already: use another name" in done.err
    assert fifo.is_fifo()


def test_a_folder_that_may_not_be_written_is_an_io_error(tmp_path: Path):
    if os.getuid() == 0:
        pytest.skip("the superuser may write anywhere")
    (tmp_path / "rows.jsonl").write_bytes(lines(ROWS))
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(PermissionError):
        la.dedup(tmp_path / "rows.jsonl", out=tmp_path / "closed" / "out.jsonl")
