"""A failing disk: an error at each durable call of each change. The exit code is 7 and the index as before, or whole.

The faults come from outside (`strace -e inject`), so that calls of Rust, SQLite and Python are all hit.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.archive_fault_child import ADDED, change
from tests.support.archives import create, fast_folder, reopen, snapshot_of
from tests.support.records import signed

ROOT = Path(__file__).resolve().parents[2]
CALLS = ("fsync", "fdatasync", "pwrite64", "write", "rename", "unlink", "ftruncate")
CHANGES = ("add", "many", "remove", "compact", "purge")
ERRORS = ("ENOSPC", "EIO")
SEED = int(os.environ.get("LOOKALIKE_TORTURE_SEED", "20261117"))
#: Points per change in `make test`; `make torture` takes all.
POINTS = int(os.environ.get("LOOKALIKE_TORTURE_POINTS", "14"))
CHILD = [sys.executable, "-m", "tests.support.archive_fault_child"]

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not on this machine")


def base(path: Path) -> Path:
    """An index with several segments, removed rows and a tail."""
    with create(path) as index:
        for number in range(14):
            index._add_records([signed(f"d{number}", f"some text {number}")])
        index.remove(["d2", "d13"])
    return path


def run(arguments: list[str], path: Path, what: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "RAYON_NUM_THREADS": "1"}
    command = ["strace", "-f", "-qq", *arguments, *CHILD, what, str(path)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def counts(place: Path, source: Path, what: str) -> dict[str, int]:
    """How often each call happens in a change without a fault."""
    path, log = shutil.copytree(source, place / f"count-{what}"), place / "log"
    done = run(["-o", str(log), "-e", f"trace={','.join(CALLS)}"], Path(path), what)
    if done.returncode and "ptrace" in done.stderr:
        pytest.skip("strace may not trace processes here")
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^\d+ +(\w+)\(", log.read_text(), re.MULTILINE)
    return {call: found.count(call) for call in CALLS}


def states(place: Path, source: Path, what: str) -> list[list[tuple[bytes, bytes]]]:
    path = Path(shutil.copytree(source, place / f"after-{what}"))
    change(what, path)
    return [snapshot_of(source), snapshot_of(path)]


@pytest.mark.parametrize("what", CHANGES)
def test_a_failing_call_leaves_the_index_as_before_or_whole(what: str):
    with fast_folder() as place:
        source = base(place / "base")
        before, after = states(place, source, what)
        every = [(call, at) for call, many in counts(place, source, what).items() for at in range(1, many + 1)]
        points = [(call, at, error) for call, at in every for error in ERRORS]
        draw = random.Random(f"{SEED} {what}")
        failed = 0
        for call, at, error in draw.sample(points, min(POINTS, len(points))):
            path = Path(shutil.copytree(source, place / "index"))
            done = run(["-e", f"inject={call}:error={error}:when={at}", "-o", os.devnull], path, what)
            told = f"{what}: {call} {at} fails with {error}: exit code {done.returncode}, {done.stderr}"
            assert done.returncode in (0, 7), told
            assert "Traceback" not in done.stderr, told
            failed += done.returncode == 7
            # It is opened without any repair, sound, and takes the same change now that the disk works.
            found = snapshot_of(path)
            assert found == after or (found == before and done.returncode == 7), told
            with reopen(path) as index:
                assert index.check() == [], told
            change(what, path)
            assert sorted(snapshot_of(path)) == sorted(after), told
            shutil.rmtree(path)
        assert failed, "no fault had an effect"


def test_no_space_is_told_with_the_bytes_needed():
    with fast_folder() as place:
        path = base(place / "base")
        done = run(["-e", "inject=write:error=ENOSPC:when=1", "-o", os.devnull], path, "many")
        assert done.returncode == 7, done.stderr
        assert re.search(r"no space for `.*base`: up to .* (bytes|KiB|KB).* needed, .* free", done.stderr), done.stderr


@pytest.mark.parametrize("files", [4, 5, 6, 7, 8, 9, 10])
def test_too_few_file_handles_are_exit_code_7(files: int):
    with fast_folder() as place:
        path = base(place / "base")
        before = snapshot_of(path)
        done = subprocess.run([*CHILD, "many", str(path), str(files)], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 7 or (files > 6 and done.returncode == 0), done.stderr
        assert done.returncode == 0 or "Too many open files" in done.stderr
        assert "Traceback" not in done.stderr
        assert snapshot_of(path) == before or len(snapshot_of(path)) == len(before) + len(ADDED["many"])
