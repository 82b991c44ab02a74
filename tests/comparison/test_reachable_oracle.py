"""The tokens that cannot run are those that `oracles.reachable` finds, on random and on real programs."""

from __future__ import annotations

import ast
import random
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import pytest

from lookalike import _core
from oracles import reachable
from support.programs import java_program, python_program

SAMPLES = Path(__file__).parents[2] / "crates" / "code" / "reachable"
LIBRARY = Path(sysconfig.get_path("stdlib"))


def product(language: str, texts: Sequence[str]) -> tuple[list[list[bool]], str, list[list[int]]]:
    """Ask the core: marks by file, the verdict, and where tokens begin."""
    files = [_core.ReadFile(text, [(language, 0, len(text), None, None, 8, 12)], False) for text in texts]
    marks, verdict = _core.unreachable(files)
    starts = [[start for part, _ in file.parts() for start, _ in part[4]] for file in files]
    split, at = [], 0
    for own in starts:
        split.append(marks[at : at + len(own)])
        at += len(own) + (1 if own else 0)
    return split, verdict, starts


def check(language: str, texts: Sequence[str]) -> str:
    """Compare the core with the oracle; return the verdict."""
    marks, verdict, starts = product(language, texts)
    wanted, reason = reachable.dead(language, texts, starts)
    assert verdict == reason
    for text, own, expected, places in zip(texts, marks, wanted, starts, strict=True):
        wrong = [at for at, one, other in zip(places, own, expected, strict=True) if one != other]
        assert not wrong, f"{len(wrong)} tokens differ, the first in {text[max(0, wrong[0] - 60) : wrong[0] + 40]!r}"
    return verdict


@pytest.mark.parametrize(("language", "program"), [("python", python_program), ("java", java_program)])
def test_random_programs_equal_the_oracle(language: str, program: object) -> None:
    verdicts = [check(language, program(random.Random(seed))) for seed in range(150)]  # type: ignore[operator]
    assert verdicts.count("analysed") > 60
    assert len(set(verdicts)) > 2


@pytest.mark.parametrize("name", ["contest.java", "window.java", "program.py", "framework.py"])
def test_samples_equal_the_oracle(name: str) -> None:
    language = {".java": "java", ".py": "python"}[Path(name).suffix]
    assert check(language, [(SAMPLES / name).read_text(encoding="utf-8")]) == "analysed"


def test_modules_of_the_standard_library_equal_the_oracle() -> None:
    checked = analysed = 0
    for path in sorted(LIBRARY.glob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if not 500 < len(text) < 40_000 or not text.isascii():
            continue
        if product("python", [text])[1] == "not analysed: a file does not parse":
            continue
        ast.parse(text)
        analysed += check("python", [text]) == "analysed"
        checked += 1
    assert checked > 50
    assert analysed > 10
