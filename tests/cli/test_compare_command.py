"""`lookalike compare` as a person or a script meets it: exit codes, streams, folders, interrupts, one line of error."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

import lookalike as la
from lookalike import frontends
from support.children import PATIENCE
from support.submissions import classroom, pairs, prose, run, snapshot, work, write

#: Resets what a background job would ignore, and lets something be done first.
CHILD = (
    "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n{}\n"
    "from lookalike.cli.main import main\nmain()"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return classroom(tmp_path / "in")


def child(*arguments: str | Path, before: str = "", **extra: Any) -> subprocess.Popen[bytes]:
    """Start the command in a process of its own."""
    command = [sys.executable, "-c", CHILD.format(before), "compare", *map(str, arguments)]
    return subprocess.Popen(command, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | extra)


def finished(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=PATIENCE)
    assert b"Traceback" not in err
    return process.returncode, out.decode(), err.decode()


def test_all_is_well_and_stderr_is_empty(root: Path, tmp_path: Path):
    ran = run("compare", root, "--out", tmp_path / "out")
    assert (ran.code, ran.err) == (0, "")
    assert f"report: {tmp_path / 'out' / 'report.html'}" in ran.out


def test_a_report_inside_the_class_is_no_submission(root: Path):
    first = run("compare", root, "--out", root / "report")
    again = run("compare", root, "--out", root / "second")
    pattern = run("compare", root / "*", "--out", root.parent / "third")
    assert (first.code, again.code, pattern.code) == (0, 0, 0)
    tables = [folder / "pairs.csv" for folder in (root / "report", root / "second", root.parent / "third")]
    assert len({table.read_bytes() for table in tables}) == 1
    skipped = json.loads((root / "second" / "report.json").read_text())["skipped"]
    assert "a report that lookalike wrote" in json.dumps(skipped)


def test_without_out_the_report_goes_to_a_new_dated_folder(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert run("compare", "in").code == 0
    made = sorted(path.name for path in tmp_path.iterdir() if path.name != "in")
    assert [name.startswith("lookalike-") for name in made] == [True, True]
    assert all((tmp_path / name / "report.html").is_file() for name in made)


def test_json_is_the_report_and_nothing_else(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    ran = run("compare", root, "--json")
    told = json.loads(ran.out)
    report = la.compare(root)
    assert told["pair_count"] == report.pair_count
    assert [entry["name"] for entry in told["entries"]] == [entry.name for entry in report.entries]
    assert len(told["pairs"][0]["passages"]) == len(report.pairs[0].passages)
    assert ran.err == ""
    assert [path.name for path in tmp_path.iterdir()] == ["in"], "no folder was asked for"


def test_json_beside_a_folder_is_its_report(root: Path, tmp_path: Path):
    ran = run("compare", root, "--json", "--out", tmp_path / "out")
    told, kept = json.loads(ran.out), json.loads((tmp_path / "out" / "report.json").read_bytes())
    assert {**told, "pairs": None} == {**kept, "pairs": None}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "5", "-t", "3"], "-t `3` is smaller than -k `5`"),
        (["-k", "0"], "-k `0` is not a noise threshold"),
        (["-t", "0"], "-t `0` is not a guarantee threshold"),
        (["-k", "99999999999"], "-k `99999999999` is not a noise threshold"),
        (["-l", "klingon"], "--language `klingon` is not known: use auto or one of ada"),
        (["-m", "1"], "--max-sharing `1` is out of range: use 2 to 4294967295"),
        (["--min-score", "2"], "--min-score `2` is out of range: use 0 to 1"),
        (["--min-score", "nan"], "--min-score `nan` is not a number: use"),
        (["--cluster-threshold", "-1"], "--cluster-threshold `-1` is out of range: use 0 to 1"),
        (["--fail-above", "0.05", "--min-score", "0.1"], "--fail-above `0.05` is below --min-score `0.1`"),
        (["--fail-above", "nan"], "--fail-above `nan` is not a number: use"),
        (["-d", "--layout", "canvas"], "--layout `canvas` and --by-directory contradict each other"),
    ],
)
def test_bad_values_exit_2_with_one_line_and_write_nothing(
    root: Path, tmp_path: Path, arguments: list[str], message: str
):
    ran = run("compare", root, "--out", tmp_path / "out", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"lookalike: {message}")
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments", [["--layout", "x"], ["--colour"]])
def test_bad_options_exit_2(root: Path, arguments: list[str]):
    ran = run("compare", root, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "Error:" in ran.err


def test_no_path_at_all_exits_2():
    assert run("compare").code == 2


@pytest.mark.parametrize("option", [None, "--template", "--old"])
def test_a_path_that_is_not_there_exits_2(root: Path, option: str | None):
    missing = root.parent / "nowhere"
    ran = run("compare", *([missing] if option is None else [root, option, missing]))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"lookalike: `{missing}` does not exist: check the path\n"


def test_fail_above_exits_1_when_a_pair_is_above(root: Path, tmp_path: Path):
    assert run("compare", root, "--out", tmp_path / "1", "--fail-above", "0.3").code == 1
    assert run("compare", root, "--out", tmp_path / "2", "--fail-above", "0.99").code == 0
    assert run("compare", root, "--out", tmp_path / "3", "--fail-above", "0.01").code == 1, "below the default cut-off"
    assert (tmp_path / "1" / "report.html").exists()


@pytest.mark.parametrize(("above", "cut_off"), [("0.01", 0.01), ("0.1", 0.05), ("0.25", 0.25), ("0.9", 0.25)])
def test_fail_above_lowers_the_cut_off_as_the_help_says(tmp_path: Path, above: str, cut_off: float):
    for name in ("ann.py", "bob.py"):
        (tmp_path / name).write_text(f"def {name[:3]}(a, b):\n    return a * b - len(a)\n")
    ran = run("compare", tmp_path, "--json", "--fail-above", above)
    assert json.loads(ran.out)["parameters"]["min_score"] == cut_off


def test_fail_above_changes_no_list(root: Path, tmp_path: Path):
    plain, failing = tmp_path / "plain", tmp_path / "failing"
    run("compare", root, "--out", plain)
    run("compare", root, "--out", failing, "--fail-above", "0.8")
    assert (plain / "pairs.csv").read_bytes() == (failing / "pairs.csv").read_bytes()


def test_strict_exits_3_when_something_was_skipped(root: Path, tmp_path: Path):
    assert run("compare", root, "--out", tmp_path / "1", "--strict").code == 0
    write(root, {"picture.dat": b"\x89PNG\r\n\x1a\n"})
    ran = run("compare", root, "--out", tmp_path / "2", "--strict", "--fail-above", "0.3")
    assert (ran.code, ran.err) == (3, "lookalike: 1 input could not be read, and --strict was given\n")
    assert (tmp_path / "2" / "report.html").exists()
    assert "skipped: picture.dat" in ran.out


def test_a_folder_that_is_there_is_not_touched(root: Path, tmp_path: Path):
    out = write(tmp_path / "out", {"notes.txt": "mine"})
    ran = run("compare", root, "--out", out, "--overwrite")
    assert (ran.code, ran.out) == (2, "")
    assert "exists and is not a report of lookalike" in ran.err
    assert snapshot(out) == {"notes.txt": b"mine"}


def test_an_earlier_report_is_replaced_only_with_overwrite(root: Path, tmp_path: Path):
    out = tmp_path / "out"
    run("compare", root, "--out", out)
    before = snapshot(out)
    write(root, {"new.txt": work(100, "text")})
    ran = run("compare", root, "--out", out)
    assert (ran.code, ran.out) == (2, "")
    assert "--overwrite" in ran.err
    assert snapshot(out) == before
    assert run("compare", root, "--out", out, "--overwrite").code == 0
    assert b"new.txt" in snapshot(out)["pairs.csv"]
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out"}, "nothing is left beside it"


def test_a_folder_that_cannot_be_made_exits_7(root: Path, tmp_path: Path):
    write(tmp_path, {"file": "x"})
    ran = run("compare", root, "--out", tmp_path / "file" / "out")
    assert (ran.code, ran.out) == (7, "")
    assert ran.err.count("\n") == 1


def test_top_is_the_number_of_pages_and_0_is_all(tmp_path: Path):
    root = write(tmp_path / "in", {f"{i}.txt": prose(1) for i in range(4)})
    own = [f"{i:03}.html" for i in range(1, 7)]
    for option, top, pages in (("-n", "2", [*own[:2], "more.html"]), ("--max-pages", "0", own)):
        ran = run("compare", root, "--out", tmp_path / top, option, top)
        assert sorted(path.name for path in (tmp_path / top / "pairs").iterdir()) == pages
        assert "pair pages" not in ran.out


def test_pairs_that_cannot_be_opened_are_told_with_the_option(tmp_path: Path):
    root = write(tmp_path / "in", {f"{i}.txt": prose(1) for i in range(4)})
    ran = run("compare", root, "--out", tmp_path / "out", "--max-size", "1000", "--max-rows", "4")
    assert "pair pages: the first 1 of 4 pairs can be opened, at most 1,000 bytes; --max-size 0 writes all" in ran.out
    assert "pairs: the best 4 of 6 are listed; --max-pairs 0 lists all" in ran.out


def test_anonymise_leaves_no_name_anywhere(tmp_path: Path):
    text = f"Written by Ottilie Quandt. {prose(1)}"
    files: dict[str, str | bytes] = {"Ottilie_Quandt/work.txt": text, "Benedikt_Zorn/work.txt": text}
    files |= {
        "Wilhelmina_Frey/work.txt": prose(2),
        "Wilhelmina_Frey/Wilhelmina.dat": b"\x89PNG",
        "Xaver/e.txt": "",
    }
    root = write(tmp_path / "in", files)
    secret = ("ottilie", "quandt", "benedikt", "zorn", "wilhelmina", "frey", "xaver")
    printed = [run("compare", root, "--out", tmp_path / "out", "--anonymise").out]
    printed.append(run("compare", root, "--anonymise", "--json").out)
    shown = [text.encode() for text in printed] + list(snapshot(tmp_path / "out").values())
    assert "S-" in printed[0]
    assert [name for name in secret for text in shown if name.encode() in text.lower()] == []
    assert b"Ottilie" in (tmp_path / "out-names" / "names.csv").read_bytes()


def test_anonymous_json_and_folder_use_the_same_codes(root: Path, tmp_path: Path):
    ran = run("compare", root, "--out", tmp_path / "out", "--anonymise", "--json")
    kept = json.loads((tmp_path / "out" / "report.json").read_bytes())
    assert [entry["name"] for entry in json.loads(ran.out)["entries"]] == [entry["name"] for entry in kept["entries"]]


def test_nothing_is_sent_anywhere(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert run("compare", root, "--out", tmp_path / "out").code == 0


def test_a_fault_of_a_front_end_costs_one_file(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    honest = frontends.read

    def faulty(name: str, *arguments: Any, **named: Any) -> frontends.Readable:
        return honest(name, *arguments, **named) if name != "honest0.txt" else 1 // 0  # type: ignore[return-value]

    monkeypatch.setattr(frontends, "read", faulty)
    report = la.compare(root)
    assert pairs(report) == [("thief.txt", "victim.txt")]
    assert "please report it with the file: ZeroDivisionError" in report.skipped[0].reason


def on_call(module: str, function: str, number: int = 1) -> str:
    """Return code that sends an interrupt to its own process when a function is called for the nth time."""
    return (
        f"import itertools\nimport {module} as module\nhonest, calls = module.{function}, itertools.count(1)\n"
        f"def interrupted(*a, **k):\n    if next(calls) == {number}:\n        os.kill(os.getpid(), signal.SIGINT)\n"
        f"    return honest(*a, **k)\nmodule.{function} = interrupted\n"
    )


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("lookalike.documents.gathering", "read_at_most"),
        ("lookalike.comparison.reading", "read_one"),
        ("lookalike.comparison.job", "_pairs"),
        ("lookalike.rendering.html.folder", "make_pages"),
        ("lookalike.rendering.html.folder", "overview"),
        ("lookalike.rendering.html.folder", "_put"),
    ],
)
def test_an_interrupt_exits_130_and_leaves_nothing(root: Path, tmp_path: Path, module: str, function: str):
    process = child(root, "--out", tmp_path / "out", before=on_call(module, function))
    assert finished(process) == (130, "", "\nlookalike: interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_an_interrupt_leaves_the_earlier_report_as_it_was(root: Path, tmp_path: Path):
    out = tmp_path / "out"
    run("compare", root, "--out", out)
    before = snapshot(out)
    write(root, {"new.txt": work(100, "text")})
    for function in ("overview", "_put"):
        process = child(root, "--out", out, "--overwrite", before=on_call("lookalike.rendering.html.folder", function))
        assert finished(process)[0] == 130
        assert snapshot(out) == before
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out"}


def all_of(terminal: int) -> bytes:
    """Read what a terminal is shown until the other side is closed, which Linux tells by an error."""
    shown = b""
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 4096):
            shown += part
    return shown


def on_a_terminal(*arguments: str | Path, before: str = "") -> tuple[int, str, bytes]:
    """Run the command with a terminal for stderr; return its exit code, stdout and what the terminal was shown."""
    terminal, end = pty.openpty()
    process = child(*arguments, before=before, stderr=end, env=os.environ | {"TERM": "xterm", "COLUMNS": "100"})
    os.close(end)
    try:
        shown = all_of(terminal)
        out, _ = process.communicate(timeout=PATIENCE)
    finally:
        os.close(terminal)
    return process.returncode, out.decode(), shown


def test_a_terminal_is_shown_phase_and_count(root: Path, tmp_path: Path):
    code, out, shown = on_a_terminal(root, "--out", tmp_path / "out")
    assert code == 0
    assert b"reading files" in shown
    assert b"6 of 6" in shown
    assert "reading files" not in out


def test_an_interrupt_amid_thousands_of_files_leaves_nothing(tmp_path: Path):
    text = [prose(i, 40) for i in range(40)]
    root = write(tmp_path / "in", {f"{i}.txt": text[i % 40] + prose(i, 30) for i in range(2000)})
    amid = on_call("lookalike.comparison.reading", "read_one", 1000)
    code, out, shown = on_a_terminal(root, "--out", tmp_path / "out", before=amid)
    assert b"reading files" in shown
    assert (code, out) == (130, "")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_a_reader_that_goes_away_is_no_error(root: Path, tmp_path: Path, arguments: list[str]):
    reader, writer = os.pipe()
    os.close(reader)
    process = child(root, "--out", tmp_path / "out", *arguments, stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, b"")
    assert (tmp_path / "out" / "report.html").exists()


def test_a_terminal_that_lacks_a_letter_shows_its_escape(tmp_path: Path):
    root = write(tmp_path / "in", {"zoë→漢.txt": prose(1), "b.txt": prose(1)})
    process = child(root, "--out", tmp_path / "out", env=os.environ | {"PYTHONIOENCODING": "ascii", "COLUMNS": "200"})
    code, out, err = finished(process)
    assert (code, err) == (0, "")
    assert "zo\\xeb\\u2192\\u6f22.txt" in out


# --- nothing to compare ---


def _files(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x = 1\n" * 30)
    return root


@pytest.mark.parametrize(
    ("names", "arguments", "code", "message"),
    [
        ([], [], 2, "there are no files to compare: give a folder, an archive or files of at least two submissions"),
        (["ann/a.py"], [], 2, "there is only one submission, `ann`: give at least two, or earlier ones with --old"),
        (
            ["ann/a.py", "ann/b.py"],
            [],
            2,
            "there is only one submission, `ann`: give at least two, or earlier ones with --old or --index, "
            'or --layout "flat" to compare its 2 files with each other',
        ),
        (["ann/a.py", "bob/b.py"], ["--include", "*.xyz"], 2, "no file matches --include `*.xyz`: check the pattern"),
        (["ann/a.png", "bob/b.png"], [], 2, "every file is left out: `*.png` excluded: 2 files not read."),
        (["ann.7z"], [], 3, "nothing could be read: `ann.7z`: a 7z archive, which is not read"),
    ],
)
def test_nothing_to_compare_is_an_error_and_no_report(
    tmp_path: Path, names: list[str], arguments: list[str], code: int, message: str
):
    root = _files(tmp_path / "class", *names)
    root.mkdir(exist_ok=True)
    for path in root.glob("*.7z"):
        path.write_bytes(b"7z\xbc\xaf\x27\x1c" + bytes(9))
    ran = run("compare", root, "--out", tmp_path / "out", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith(f"lookalike: {message}")
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_lone_submission_is_compared_with_old_ones(tmp_path: Path):
    _files(tmp_path, "new/ann/a.py", "old/bob/b.py")
    ran = run("compare", tmp_path / "new", "--old", tmp_path / "old", "--out", tmp_path / "out")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == "read as: each folder in `new` is a submission"


def test_the_first_line_says_what_was_understood(tmp_path: Path):
    _files(tmp_path, "ann/a.py", "bob/b.py")
    ran = run("compare", tmp_path / "ann", tmp_path / "bob", "--out", tmp_path / "out")
    assert ran.out.splitlines()[0] == "read as: each of 2 folders that hold files is a submission"
    assert ran.out.splitlines()[1].startswith("compared: 2 submissions; 2 files")


def test_when_no_file_can_be_read_the_code_is_3(tmp_path: Path):
    for name in ("ann", "bob"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "a.py").write_bytes(bytes(range(256)) * 9)
    ran = run("compare", tmp_path / "class", "--out", tmp_path / "out")
    assert ran.code == 3
    assert "skipped: ann/a.py: " in ran.out
    assert ran.err == "lookalike: none of the files could be read: the reasons are listed\n"


def test_a_row_that_stands_for_a_group_counts_for_all_its_pairs(tmp_path: Path):
    """40 identical submissions are one row; 7 others are 21 rows, of which the terminal shows 19."""
    files = {f"{i:02}.txt": prose(7, 100) for i in range(40)} | {f"b{i:02}.txt": prose(8, 100) for i in range(7)}
    root = write(tmp_path / "in", files)
    ran = run("compare", root, "--out", tmp_path / "out")
    told = json.loads((tmp_path / "out" / "report.json").read_text())
    assert (told["pair_count"], told["listed"], told["left_out"]) == (780 + 21, 780 + 21, [])
    assert len(told["pairs"]) == 22
    assert "… 2 more in the report" in ran.out
    assert "--max-pairs" not in ran.out
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "Not written" not in page.partition("</header>")[0]
    assert "All pairs are in pairs.csv" in page
    assert 'role="status">801 pairs<' in page
    ran = run("compare", root, "--out", tmp_path / "cut", "--max-pairs", "2")
    assert "pairs: the best 781 of 801 are listed; --max-pairs 0 lists all" in ran.out
    assert "more in the report" not in ran.out
    assert "The best 781 pairs are in pairs.csv" in (tmp_path / "cut" / "report.html").read_text("utf-8")


def test_a_cut_off_of_0_tells_pairs_that_share_something_from_the_others(root: Path, tmp_path: Path):
    ran = run("compare", root, "--min-score", "0", "--out", tmp_path / "out")
    told = json.loads((tmp_path / "out" / "report.json").read_text())
    assert told["pair_count"] == 1
    assert (
        f"1 pair that shares something; 1 cluster with a score of 0.5 or more; {told['below']} pairs share" in ran.out
    )
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert f"{told['below']} pairs share nothing." in page
    assert "pair that shares something<" in page
    apart = write(tmp_path / "apart", {f"{i}.txt": prose(i) for i in range(3)})
    ran = run("compare", apart, "--min-score", "0", "--out", tmp_path / "none")
    assert "0 pairs that share something; 3 pairs share nothing" in ran.out
    assert "No two submissions share anything" in (tmp_path / "none" / "report.html").read_text("utf-8")


def test_submissions_without_a_file_that_is_read_are_not_compared(root: Path, tmp_path: Path):
    (root / "Empty").mkdir()
    write(root, {"Pic/a.png": "not read"})
    ran = run("compare", root, "--out", tmp_path / "out")
    assert ran.code == 0
    assert "not compared: Empty: no file that is read\nnot compared: Pic: no file that is read\n" in ran.out
    told = json.loads((tmp_path / "out" / "report.json").read_text())
    assert [row["name"] for row in told["undefined"]] == ["Empty", "Pic"]
    assert "Not comparable: 2" in (tmp_path / "out" / "report.html").read_text("utf-8")
    for kind in ("zip", "gztar"):
        archive = shutil.make_archive(str(tmp_path / "packed"), kind, root.parent, root.name)
        packed = run("compare", archive, "--out", tmp_path / f"out-{kind}")
        assert "not compared: Empty: no file that is read\nnot compared: Pic: no file that is read\n" in packed.out
    write(tmp_path, {"a/Bob/b.txt": prose(1)})
    (tmp_path / "a" / "Empty").mkdir()
    ran = run("compare", tmp_path / "a" / "Empty", tmp_path / "a" / "Bob", "--out", tmp_path / "two")
    assert ran.code == 2
    assert "there is only one submission, `Bob` (no file that is read is in `Empty`)" in ran.err


def test_an_include_that_matches_nothing_is_exit_2_whatever_else_is_there(tmp_path: Path):
    root = write(tmp_path / "k", {"a/a.py": work(1, "python"), "b/b.py": work(2, "python")})
    (root / "link.py").symlink_to(root / "a" / "a.py")
    (root / "c.zip").write_bytes(b"PK\3\4 damaged")
    ran = run("compare", root, "--include", "*.rs", "--out", tmp_path / "out")
    assert ran.code == 2
    assert "no file matches --include `*.rs`" in ran.err
    for path in (root / "a" / "a.py", root / "b" / "b.py", root / "link.py"):
        path.unlink()
    ran = run("compare", root, "--include", "*.rs", "--out", tmp_path / "out")
    assert ran.code == 3
    (root / "c.zip").unlink()
    (root / "d.rs").symlink_to(root / "a")
    assert run("compare", root, "--include", "*.rs", "--out", tmp_path / "out").code == 3


def test_what_is_shared_by_too_many_is_not_called_a_template(tmp_path: Path):
    root = write(tmp_path / "in", {f"{i}.py": work(1, "python") for i in range(4)} | {"x.py": work(2, "python")})
    ran = run("compare", root, "-m", "3", "--out", tmp_path / "out")
    assert "not compared: 0.py: shared by more than 3 submitters: nothing of its own is left" in ran.out
    assert "template" not in ran.out
    ran = run("compare", root, "-b", root / "x.py", "--out", tmp_path / "with")
    assert "not compared: x.py: template only: nothing of its own is left" in ran.out


def test_a_template_that_holds_nothing_is_told(root: Path, tmp_path: Path):
    (tmp_path / "starter").mkdir()
    ran = run("compare", root, "-b", tmp_path / "starter", "--out", tmp_path / "out")
    assert ran.code == 0
    assert "note: template starter: the template holds nothing, so nothing is left out for it" in ran.out


def test_a_person_of_both_years_is_not_paired_with_themselves(tmp_path: Path):
    same = work(1, "python")
    new = {"Ann Lee/a.py": same, "Bob/b.py": same, "Main.py": same}
    write(tmp_path / "y2", new)
    write(tmp_path / "y1", {"Ann Lee/other.py": same, "Cyd/c.py": same, "Main.py": same})
    report = la.compare(tmp_path / "y2", old=tmp_path / "y1")
    found = {(report.entries[pair.left].name, report.entries[pair.right].name) for pair in report.pairs}
    assert len(found) == 3 + 3 * 3 - 1
    assert not any({"y1/Ann Lee", "y2/Ann Lee"} == set(pair) for pair in found)
    assert any({"y1/Main.py", "y2/Main.py"} == set(pair) for pair in found)
    assert [remark.name for remark in report.warnings if "same person" in remark.reason] == ["y1/Ann Lee"]


def test_a_person_of_both_years_is_known_by_the_names_of_a_platform_or_a_table(tmp_path: Path):
    same = work(1, "python")
    for year, first in (("y1", 10), ("y2", 20)):
        folders = [f"{name}_{first + i}_assignsubmission_file_" for i, name in enumerate(("Ann Lee", "Bob Ray"))]
        write(tmp_path / year, {f"{folder}/a.py": same for folder in folders})
    report = la.compare(tmp_path / "y2", old=tmp_path / "y1")
    assert report.pair_count == 3
    write(tmp_path / "old", {"1/x.py": same, "info.csv": "filename,full_name\n1/x.py,Ann Lee\n"})
    report = la.compare(tmp_path / "y2", old=tmp_path / "old")
    assert report.pair_count == 2


def test_a_name_that_two_new_submissions_have_decides_nothing(tmp_path: Path):
    same = work(1, "python")
    for place in ("a", "b", "old"):
        write(tmp_path / place, {"Ann/x.py": same, f"{place}/y.py": work(2, "python")})
    report = la.compare([tmp_path / "a", tmp_path / "b"], old=tmp_path / "old")
    assert sum("Ann" in report.entries[pair.left].name for pair in report.pairs) == 3
