"""Runs the examples of the documentation and compares their output; ``--write`` puts the real output into the pages.

All examples of a page run in their order in one fresh folder that holds the demo's material: ``class``, ``starter``,
``texts`` and ``notices.jsonl``. So a later example may read what an earlier one wrote, and a later ``python`` block may
use the names of an earlier one.

    python -m docs.tools.examples            compare
    python -m docs.tools.examples --write    update the pages
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from docs.tools import interpreter
from docs.tools.blocks import PROMPT, ROOT, Block, blocks, pages, steps
from docs.tools.interpreter import Interpreter

MATERIAL = ROOT / "python" / "lookalike" / "demo" / "material"
#: A line of a transcript that stands for any number of lines.
ANY = "…"
#: The terminal that transcripts show.
SETTING = {"COLUMNS": "100", "PYTHONUNBUFFERED": "1", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}


def is_run(block: Block) -> bool:
    """Tell whether a block is run: programs and transcripts are."""
    return block.language in ("python", "console")


def check(page: Path) -> list[str]:
    """Run the examples of a page. Return what is wrong with them."""
    faults: list[str] = []
    with _room() as room, interpreter.started(room) as python:
        for block in filter(is_run, blocks(page.read_text(encoding="utf-8"))):
            faults += _faults(block, room, python)
    return [f"{page.relative_to(ROOT)}: {fault}" for fault in faults]


def write(page: Path) -> bool:
    """Run the examples of a page and put their output into it. Return whether that changed the page."""
    before = page.read_text(encoding="utf-8")
    after, last = [], 0
    with _room() as room, interpreter.started(room) as python:
        for block in filter(is_run, blocks(before)):
            after += [before[last : block.start], _renewed(block, room, python)]
            last = block.start + len(block.text)
    text = "".join([*after, before[last:]])
    if text != before:
        page.write_text(text, encoding="utf-8")
    return text != before


def matches(expected: str, output: str) -> bool:
    """Compare an output with what the page shows, where a line ``…`` stands for any lines."""
    parts = [part.strip("\n") for part in f"\n{expected}".split(f"\n{ANY}\n")]
    if len(parts) == 1:
        return expected == output
    place = 0
    for part in parts[1:-1]:
        place = output.find(part, place)
        if place < 0:
            return False
    return output.startswith(parts[0]) and output.rstrip("\n").endswith(parts[-1])


def _faults(block: Block, room: Path, python: Interpreter) -> Iterator[str]:
    if block.language == "python":
        failure = python.run(block.text)
        if failure:
            yield f"a program fails:\n{block.text}\n{failure}"
        return
    for step in steps(block.text):
        output = _output(step.command, room)
        if not matches(step.output, output):
            yield f"`{step.command}` prints (run `make examples` if that is right):\n{output}\nand not:\n{step.output}"


def _renewed(block: Block, room: Path, python: Interpreter) -> str:
    if block.language == "python":
        python.run(block.text)
        return block.text
    shown = []
    for step in steps(block.text):
        output = _output(step.command, room)
        shown.append(f"{PROMPT}{step.command}\n{step.output if matches(step.output, output) else output}")
    return "".join(shown)


def _output(command: str, room: Path) -> str:
    """Run a command in the room; its messages are part of the output, in their order."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=room,
        env=os.environ | SETTING | {"PATH": path},
        text=True,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=interpreter.PATIENCE,
        check=False,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


@contextmanager
def _room() -> Iterator[Path]:
    """Make a fresh folder with the material."""
    with TemporaryDirectory() as folder:
        shutil.copytree(MATERIAL, folder, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
        yield Path(folder)


def main() -> None:
    """Compare the examples of every page, or write them."""
    if "--write" in sys.argv:
        for page in filter(write, pages()):
            print(f"updated: {page.relative_to(ROOT)}")
        return
    faults = [fault for page in pages() for fault in check(page)]
    print("\n".join(faults) or "every example is right")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
