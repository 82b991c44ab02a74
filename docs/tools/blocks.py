"""Code blocks of Markdown pages, and the programs that their shell lines call.

A ``sh`` block shows commands that a test parses. A ``console`` block is a transcript: lines that begin with ``$`` are
run, and the lines below each must be its output. The ``python`` blocks of a page are
programs that run one after the other.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PROMPT = "$ "
#: Every block that opens a line; pages of this repository use no longer fences and no indented ones.
_BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Signs between two programs of one line.
_BETWEEN = {"|", "||", "&&", ";", "&"}
#: A stream that goes to a file.
_REDIRECTION = re.compile(r"\s[12]?>\s*[^\s|;&]+")


class Block(NamedTuple):
    """A fenced block: its language, its text and where the text begins in the page."""

    language: str
    text: str
    start: int


class Step(NamedTuple):
    """A command of a transcript and the output that the page shows for it."""

    command: str
    output: str


def pages() -> list[Path]:
    """Return every page of the documentation: README.md, the other pages of the root, and docs/."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of a page in their order."""
    for found in _BLOCK.finditer(page):
        yield Block(found[1], found[2], found.start(2))


def steps(transcript: str) -> list[Step]:
    """Cut a transcript into its commands. A command that ends in a backslash goes on in the next line."""
    found: list[list[str]] = []
    for line in transcript.splitlines():
        if line.startswith(PROMPT):
            found.append([line.removeprefix(PROMPT), ""])
        elif found and found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1][0] += "\n" + line
        elif found:
            found[-1][1] += line + "\n"
    return [Step(command, output) for command, output in found]


def calls(block: Block) -> Iterator[list[str]]:
    """Yield the arguments of every ``lookalike`` that a block of shell commands calls."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.language == "console":
        lines = [step.command.replace("\\\n", " ") for step in steps(block.text)]
    for line in lines:
        yield from _programs(line)


def _programs(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(_REDIRECTION.sub("", line), posix=True, punctuation_chars="|&;")
    lexer.whitespace_split = True
    program: list[str] = []
    for word in [*lexer, ";"]:
        if word not in _BETWEEN:
            program.append(word)
            continue
        if program and program[0] == "lookalike":
            yield program[1:]
        program = []
