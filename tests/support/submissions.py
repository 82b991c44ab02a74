"""Submissions made for a test: works that resemble nothing else, copies planted among them, and the command itself."""

from __future__ import annotations

import io
import random
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lookalike.cli.main import main
from lookalike.comparison.result import Pair, Report

SYLLABLES = [c + v + d for c in "bdfgklmnprstvz" for v in "aeiou" for d in ("", "n", "r", "s")]


def prose(seed: int, words: int = 150) -> str:
    """Return sentences of words that do not exist, so that two of them share nothing by chance."""
    draw = random.Random(seed)
    text = ["".join(draw.choices(SYLLABLES, k=draw.randint(1, 3))) for _ in range(words)]
    for i in range(0, words, 12):
        text[i] = "\n" + text[i].capitalize()
    return " ".join(text).replace(" \n", ".\n").strip() + ".\n"


@dataclass(frozen=True)
class Syntax:
    """How a language writes what a program of ours is made of."""

    suffix: str
    begin: str
    end: str
    assign: str
    choice: str
    loop: str
    close: str


SYNTAX = {
    "python": Syntax(".py", "def main(v0, v1):\n", "", "{0} = {1}", "if {0} > {1}:", "while {0} != {1}:", ""),
    "java": Syntax(
        ".java",
        "class Main {\n  static void run(int v0, int v1) {\n",
        "  }\n}\n",
        "int {0} = {1};",
        "if ({0} > {1}) {{",
        "while ({0} != {1}) {{",
        "}",
    ),
    "c": Syntax(
        ".c",
        "#include <stdio.h>\nint main(int v0, char **v1) {\n",
        "}\n",
        "int {0} = {1};",
        "if ({0} > {1}) {{",
        "while ({0} != {1}) {{",
        "}",
    ),
}
SUFFIXES = {"text": ".txt"} | {language: syntax.suffix for language, syntax in SYNTAX.items()}


def statements(seed: int, language: str, count: int = 25) -> list[str]:
    """Return statements, some of several lines, whose expressions have shapes of their own."""
    draw, syntax = random.Random(seed), SYNTAX[language]
    made = []
    for _ in range(count):
        kind = draw.choice(("assign", "assign", "choice", "loop"))
        head = getattr(syntax, kind).format(_name(draw), _expression(draw, 3))
        body = syntax.assign.format(_name(draw), _expression(draw, 3))
        inner = f"        {body}\n" + (f"    {syntax.close}\n" if syntax.close else "")
        made.append(f"    {head}\n" + (inner if kind != "assign" else ""))
    return made


def wrapped(made: list[str], language: str) -> str:
    """Return the program of these statements."""
    return SYNTAX[language].begin + "".join(made) + SYNTAX[language].end


def _name(draw: random.Random) -> str:
    return f"v{draw.randint(0, 30)}"


def _expression(draw: random.Random, depth: int) -> str:
    if depth == 0 or draw.random() < 0.15:
        return draw.choice((_name(draw), str(draw.randint(2, 999))))
    below = [_expression(draw, depth - 1) for _ in range(2)]
    shapes = ("{0} + {1}", "{0} * ({1})", "({0}) - {1}", "{0} / {1}", "({0}) % {1}", "f{2}({0}, {1})", "v{2}[{0}]")
    return draw.choice(shapes).format(*below, draw.randint(31, 60))


def work(seed: int, language: str, size: int = 1) -> str:
    """Return a text or program of some length."""
    return prose(seed, 150 * size) if language == "text" else wrapped(statements(seed, language, 25 * size), language)


def renamed(text: str) -> str:
    """Return a program with other names and another layout."""
    return re.sub(r"\bv(\d+)\b", r"other_\1", text).replace(" = ", "  =  ")


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    """Write files below a folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def classroom(root: Path, language: str = "text", honest: int = 4) -> Path:
    """Make a class of honest submissions, and one of which ``thief`` copied half from ``victim``."""
    suffix = SUFFIXES[language]
    files: dict[str, str | bytes] = {f"honest{i}{suffix}": work(i, language) for i in range(honest)}
    files[f"victim{suffix}"] = work(100, language)
    files[f"thief{suffix}"] = half_copied(100, 101, language)
    return write(root, files)


def half_copied(source: int, own: int, language: str) -> str:
    """Return a work the first half of which was copied, with names changed where there are names."""
    if language == "text":
        return "".join(prose(source).splitlines(keepends=True)[:7]) + prose(own, 75)
    return renamed(wrapped(statements(source, language)[:13] + statements(own, language, 12), language))


def named(report: Report, pair: Pair) -> tuple[str, str]:
    """Return the names of a pair's submissions."""
    return report.entries[pair.left].name, report.entries[pair.right].name


def pairs(report: Report) -> list[tuple[str, str]]:
    """Return the names of all pairs, best first."""
    return [named(report, pair) for pair in report.pairs]


def reasons(report: Report) -> dict[str, str]:
    """Return everything that was remarked, by name."""
    return {remark.name: remark.reason for remark in (*report.skipped, *report.undefined, *report.warnings)}


class Ran(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


def run(*arguments: str | Path) -> Ran:
    """Run the command line in this process, as ``lookalike`` would be run."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    before, sys.argv = sys.argv, ["lookalike", *map(str, arguments)]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as left:
        code = left.code
    finally:
        sys.argv = before
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.detach().getvalue().decode())
    assert isinstance(code, int)
    assert "Traceback" not in texts[1]
    assert "internal error" not in texts[0] + texts[1]
    return Ran(code, *texts)


def snapshot(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder by its path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
