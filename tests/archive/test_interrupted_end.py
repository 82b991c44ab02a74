"""Ctrl-C at any step near the end of `dedup`: the exit code tells the truth.

Exit 0: all outputs have their names, and the index notes the end. Exit 130: none has, and nothing is left over.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import lookalike as la
from support.children import PATIENCE

#: Runs the command line, and interrupts itself before the step with a number.
CHILD = """
import os, shutil, signal, sys
import click
from lookalike.archive.catalogue import Catalogue
from lookalike.cli.main import main

left = int(sys.argv.pop(1))

def stepwise(owner, name):
    whole = getattr(owner, name)
    def call(*given, **named):
        global left
        left -= 1
        if left == -1:
            os.kill(os.getpid(), signal.SIGINT)
        return whole(*given, **named)
    setattr(owner, name, call)

signal.signal(signal.SIGINT, signal.default_int_handler)
steps = ((Catalogue, "apply"), (os, "replace"), (os, "rename"), (os, "unlink"), (shutil, "rmtree"), (click, "echo"))
for owner, name in steps:
    stepwise(owner, name)
try:
    main()
finally:
    print("steps left:", left, file=sys.stderr)
"""


def interrupted(left: int, *arguments: str) -> tuple[int, bool]:
    """Run a command; return its exit code, and whether it was interrupted at all."""
    order = [sys.executable, "-c", CHILD, str(left), *arguments]
    own = {"TMPDIR": str(Path.cwd())}
    done = subprocess.run(order, capture_output=True, text=True, timeout=PATIENCE, env=own, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, int(done.stderr.rsplit(":", 1)[1]) < 0


@pytest.mark.parametrize("index", [[], ["--index", "index", "--add"]])
def test_the_exit_code_tells_whether_the_outputs_are_there(
    index: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    codes, was_interrupted, left = [], True, 0
    while was_interrupted:
        folder = tmp_path / str(left)
        folder.mkdir()
        monkeypatch.chdir(folder)
        Path("day.jsonl").write_text('{"id": "a", "text": "a row of the day"}\n{"id": "b", "text": "another row"}\n')
        la.Index.create("index", kind="corpus").close()
        files = ["-o", "new.jsonl", "--clusters", "new.csv"]
        code, was_interrupted = interrupted(left, "dedup", "day.jsonl", *files, *index)
        there = [Path(name).exists() for name in ("new.jsonl", "new.csv")]
        assert there == [code == 0] * 2, (left, code)
        with la.Index("index") as archive, archive.snapshot() as view:
            assert not view.state.outputs
            assert code or not view.state.run
        codes.append(code)
        left += 1
    assert set(codes) == {0, 130}
    assert codes == sorted(codes, reverse=True), "once it is too late, it stays too late"
