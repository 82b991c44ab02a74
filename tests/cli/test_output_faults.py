"""Outputs that cannot be written: exit 7, the path the user gave, and the bytes needed; nothing is left behind."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike as la
from lookalike.documents.reasons import in_bytes
from lookalike.rendering.html import folder
from support.children import PATIENCE
from support.dedups import cells, corpus, lines
from support.submissions import prose, run

linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc is a folder of Linux")


def classroom(root: Path) -> Path:
    for name in ("ann", "bob"):
        (root / name).mkdir(parents=True)
        (root / name / "essay.txt").write_text(prose(1, 400))
    return root


def rows(root: Path) -> Path:
    path = root / "rows.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": prose(i, 300)}) + "\n" for i in range(20)))
    return path


COMMANDS = ("compare", "dedup", "simhash", "near", "save", "design")


def writing(tmp_path: Path, command: str, out: Path) -> list[str | Path]:
    """Return a command that writes an output named x to a folder."""
    prints = tmp_path / "prints.csv"
    prints.write_text("id,fingerprint\n1,5\n2,7\n")
    arguments: dict[str, list[str | Path]] = {
        "compare": ["compare", classroom(tmp_path / "class"), "--out", out / "x"],
        "dedup": ["dedup", rows(tmp_path), "-o", out / "x.jsonl"],
        "simhash": ["simhash", rows(tmp_path), "-o", out / "x.csv"],
        "near": ["near", prints, "-o", out / "x.csv"],
        "save": ["near", prints, "--save", out / "x"],
        "design": ["design", "--distance", "3", "-o", out / "x.json"],
    }
    return arguments[command]


@pytest.mark.parametrize("command", COMMANDS)
def test_folders_above_an_output_are_made(tmp_path: Path, command: str):
    out = tmp_path / "not" / "there"
    ran = run(*writing(tmp_path, command, out))
    assert ran.code == 0, ran.err
    assert [path.stem for path in out.iterdir()] == ["x"]


@linux
@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_where_nothing_can_be_written_exits_7(tmp_path: Path, command: str):
    ran = run(*writing(tmp_path, command, Path("/proc")))
    assert ran.code == 7, ran.err
    assert re.fullmatch(r"lookalike: `/proc/x(\.\w+)?` cannot be written: .*", ran.err.splitlines()[-1])


def limited(bytes_: int, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a process whose files may not grow beyond some bytes, as if the disk were full there."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))

    command = [sys.executable, "-m", "lookalike", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, check=False)


def test_a_full_disk_in_compare_tells_the_bytes_needed(tmp_path: Path):
    root, out = classroom(tmp_path / "class"), tmp_path / "report"
    whole = run("compare", root, "--out", tmp_path / "whole")
    assert whole.code == 0
    done = limited(4_096, "compare", root, "--out", out)
    assert (done.returncode, done.stdout) == (7, "")
    size = sum(path.stat().st_size for path in (tmp_path / "whole").rglob("*") if path.is_file())
    assert done.stderr.splitlines() == [
        f"lookalike: `{out}` cannot be written: a file may have at most 4 KiB (`ulimit -f`); "
        f"up to {in_bytes(size)} are needed"
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["class", "whole"]


@pytest.mark.parametrize("command", ["dedup", "simhash"])
def test_a_full_disk_names_the_output(tmp_path: Path, command: str):
    out = tmp_path / ("out.jsonl" if command == "dedup" else "out.csv")
    done = limited(100, command, rows(tmp_path), "-o", out)
    assert done.returncode == 7
    assert done.stderr.splitlines()[-1].startswith(
        f"lookalike: `{out}` cannot be written: a file may have at most 100 bytes (`ulimit -f`); up to "
    )
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_standard_output_is_named(tmp_path: Path):
    command = [sys.executable, "-m", "lookalike", "dedup", str(rows(tmp_path)), "-o", "-"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    said = f"lookalike: `standard output` cannot be written: {os.strerror(errno.ENOSPC)}"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (7, said)


def test_an_output_folder_that_vanishes_exits_7(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root, out = classroom(tmp_path / "class"), tmp_path / "away" / "report"
    out.parent.mkdir()
    honest = folder.make_pages

    def vanishing(*arguments, **named):
        shutil.rmtree(out.parent)
        return honest(*arguments, **named)

    monkeypatch.setattr(folder, "make_pages", vanishing)
    ran = run("compare", root, "--out", out)
    assert (ran.code, ran.out) == (7, "")
    assert ran.err.splitlines()[-1] == f"lookalike: `{out}` cannot be written: {os.strerror(2)}"


def test_an_input_folder_that_vanishes_exits_7(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from lookalike.documents import collection

    root = classroom(tmp_path / "class")
    honest = collection._roots

    def vanishing(paths, *more, **named):
        made = honest(paths, *more, **named)
        if paths:
            shutil.rmtree(root)
        return made

    monkeypatch.setattr(collection._Root, "is_folder", property(lambda _: True))
    monkeypatch.setattr(collection, "_roots", vanishing)
    ran = run("compare", root, "--out", tmp_path / "out")
    assert (ran.code, ran.out) == (7, "")
    assert ran.err.splitlines()[-1] == f"lookalike: `{root}` cannot be read or written: it vanished during the run"


@pytest.mark.parametrize("rows_to", ["out.jsonl", "-"])
def test_a_closed_pipe_leaves_complete_files_and_exit_0(tmp_path: Path, rows_to: str):
    """The reader is gone before the first byte is written."""
    (tmp_path / "rows.jsonl").write_bytes(lines(corpus(60)))
    reader, writer = os.pipe()
    os.close(reader)
    arguments = ["dedup", "rows.jsonl", "-o", rows_to, "--ledger", "ledger", "--clusters", "clusters.csv"]
    done = subprocess.run(
        [sys.executable, "-m", "lookalike", *arguments],
        stdout=writer,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        timeout=PATIENCE,
        check=False,
    )
    os.close(writer)
    assert done.returncode == 0
    # Where rows go to standard output, the summary goes to standard error.
    assert done.stderr.splitlines()[1:2] == ([] if rows_to != "-" else [b"  removed: 23 identical, 67 exact"])
    la.dedup(tmp_path / "rows.jsonl", clusters=tmp_path / "expected.csv")
    assert len(cells(tmp_path / "clusters.csv")) == len(cells(tmp_path / "expected.csv")) > 10
    clean = tmp_path / "clean.jsonl"
    la.dedup(tmp_path / "rows.jsonl", out=clean)
    if rows_to != "-":
        assert (tmp_path / rows_to).read_bytes() == clean.read_bytes()
    la.restore(tmp_path / "ledger", clean, tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "rows.jsonl").read_bytes()
