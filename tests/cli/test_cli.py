"""The command line as a person or a script meets it: output, exit codes, and no traceback, ever."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike as la
from support.children import PATIENCE

TEXT = "A do run run run, a do run run. Meet me at the corner, he said, and bring the blue umbrella with you.\n" * 3


def run(*arguments: str, stdin: bytes | None = None, **extra: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "lookalike", *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=PATIENCE, check=False, **extra)  # type: ignore[call-overload]
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert b"panicked" not in done.stderr, done.stderr.decode()
    return done


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_version_names_the_package():
    assert run("--version").stdout.decode().strip() == f"lookalike, version {la.__version__}"


def test_help_says_what_the_exit_codes_mean():
    shown = run("--help").stdout.decode()
    assert all(word in shown for word in ("fingerprint", "lab", "demo", "completion", "Exit codes"))


def test_fingerprint_shows_facts_promise_and_k_grams(text: Path):
    shown = run("fingerprint", str(text), "-k", "5", "-t", "8", "-n", "0").stdout.decode()
    assert "scheme robust, k = 5, t = 8, windows of 4" in shown
    assert "any run of at least 8 characters" in shown
    assert "do run" in shown or "run ru" in shown


def test_fingerprint_json_is_what_the_library_says(text: Path):
    shown = json.loads(run("fingerprint", str(text), "-k", "5", "-t", "8", "--json").stdout)
    found = la.fingerprint(text, k=5, t=8)
    assert [int(row["hash"], 16) for row in shown["fingerprints"]] == found.hashes.tolist()
    assert [(row["start"], row["end"]) for row in shown["fingerprints"]] == found.spans.tolist()
    assert shown["parameters"]["window"] == 4
    assert shown["promise"] == found.selection.promise


def test_fingerprint_json_of_nothing_is_json():
    shown = json.loads(run("fingerprint", "-", "--json", stdin=b"").stdout)
    assert (shown["fingerprints"], shown["too_short"], shown["density"]) == ([], True, None)


def test_standard_input_is_a_document(text: Path):
    piped = run("fingerprint", "-", "--json", stdin=text.read_bytes())
    named = run("fingerprint", str(text), "--json")
    assert json.loads(piped.stdout)["fingerprints"] == json.loads(named.stdout)["fingerprints"]


def test_short_documents_are_told(tmp_path: Path):
    (tmp_path / "short.txt").write_text("too short", encoding="utf-8")
    assert "too short to compare" in run("fingerprint", str(tmp_path / "short.txt")).stdout.decode()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-k", "5", "-t", "3"], 2, "-t `3` is smaller than -k `5`"),
        (["-k", "0"], 2, "-k `0` is not a noise threshold"),
        (["-k", "-1"], 2, "-k `-1` is not a noise threshold"),
        (["-t", "99999999999"], 2, "-t `99999999999` is not a guarantee threshold"),
        (["--scheme", "magic"], 2, "is not one of"),
        (["--colour"], 2, "No such option"),
        (["-n", "-5"], 2, "is out of range: use 0 or more"),
    ],
)
def test_bad_usage_exits_2_and_says_what_to_do(text: Path, arguments: list[str], code: int, message: str):
    done = run("fingerprint", str(text), *arguments)
    assert done.returncode == code
    assert message in done.stderr.decode()
    assert not done.stdout


def test_a_missing_file_exits_2():
    done = run("fingerprint", "no/such/file")
    assert (done.returncode, done.stderr.decode().strip()) == (
        2,
        "lookalike: `no/such/file` does not exist: check the path",
    )


def test_a_folder_is_refused_with_3(tmp_path: Path):
    done = run("fingerprint", str(tmp_path))
    assert done.returncode == 3
    assert "is not a regular file" in done.stderr.decode()


def test_a_binary_file_is_refused_by_name(tmp_path: Path):
    path = tmp_path / "image.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)))
    done = run("fingerprint", str(path))
    assert done.returncode == 3
    assert "image.png`: binary, not text: a PNG image" in done.stderr.decode()


def test_names_cannot_move_the_cursor(tmp_path: Path):
    path = tmp_path / "a\x1b[2Jb\u202e.txt"
    path.write_text(TEXT, encoding="utf-8")
    shown = run("fingerprint", str(path)).stdout.decode()
    assert "\x1b[2J" not in shown
    assert "\u202e" not in shown
    assert "a\\x1b[2Jb\\u202e.txt" in shown


def test_a_name_that_is_not_utf8_works(tmp_path: Path):
    path = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    with open(path, "wb") as file:
        file.write(TEXT.encode())
    done = subprocess.run([sys.executable, "-m", "lookalike", "fingerprint", path, "--json"], capture_output=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tokens"] > 0


def test_a_reader_that_goes_away_is_no_error(text: Path):
    command = f"{sys.executable} -m lookalike fingerprint {text} -k 1 -t 1 --json | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True)
    assert done.stderr == ""


def test_interrupt_exits_130():
    """The signal arrives while standard input is read; a shell's background job would ignore it otherwise."""
    code = (
        "import os, signal, sys\nfrom lookalike import documents\nfrom lookalike.cli.main import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "documents.read_stdin = lambda: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.argv[1:] = ['fingerprint', '-']\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (130, "lookalike: interrupted")


def test_a_fault_of_ours_is_one_line_and_exits_70():
    """A panic of the core is an exception that is no Exception."""
    code = (
        "import sys\nfrom lookalike import documents\nfrom lookalike.cli.main import main\n"
        "class PanicException(BaseException): pass\n"
        "def fault(): raise PanicException('index out of bounds')\n"
        "documents.read_stdin = fault\nsys.argv[1:] = ['fingerprint', '-']\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 70
    assert done.stderr.startswith("lookalike: internal error, please report it")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell: str):
    assert b"_LOOKALIKE_COMPLETE" in run("completion", shell).stdout


def test_lab_list_names_the_experiments():
    shown = run("lab", "list").stdout.decode()
    assert all(
        name in shown
        for name in ("density", "gaps", "rank-frequency", "low-entropy", "choose-k", "rolling", "filter-curve")
    )


def test_an_unknown_experiment_exits_2():
    assert run("lab", "alchemy").returncode == 2
