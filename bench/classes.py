"""A class of Python submissions of about 5 KB, every fifth copied from another, made by seeded code.

Like the texts of `bench.corpora` it is a pure function of its size and the seed. Functions are written anew for every
submission, so that what unrelated ones share are idioms. Each copy has an original of its own: the gold pairs are all.
"""

from __future__ import annotations

import csv
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

from bench import corpora, grammar
from bench.corpora import SEED, pick
from bench.grammar import Writer

#: Bytes of code a submission has before comments.
GOAL = 3700
#: One of so many is a copy.
COPIED = 5
WORD = re.compile(r"[A-Za-z_]+")


@dataclass(frozen=True)
class Program:
    """A submission before it is written down: functions and classes in order, and the names made for them."""

    head: str
    blocks: tuple[str, ...]
    tail: str
    names: frozenset[str]

    def text(self, rng: Random) -> str:
        """Write it down, with comments of its own."""
        return commented("\n\n".join((self.head, *self.blocks, self.tail)), rng)


@dataclass(frozen=True)
class Classroom:
    """Submissions by file name, and the pairs (original, copy) among them."""

    texts: dict[str, str]
    gold: list[tuple[str, str]]


def original(rng: Random, goal: int = GOAL) -> Program:
    """Write a program of at least `goal` bytes."""
    writer = Writer(rng)
    blocks = [writer.write("idiom")]
    while sum(map(len, blocks)) < goal:
        blocks.append(writer.class_() if rng.random() < 0.15 else writer.function())
    return Program(writer.write("head"), tuple(blocks), writer.write("tail"), frozenset(writer.names))


def commented(text: str, rng: Random) -> str:
    """Put comments above some lines."""
    writer, lines = Writer(rng), []
    for line in text.split("\n"):
        if line and rng.random() < 0.06:
            space = line[: len(line) - len(line.lstrip())]
            lines.append(space + writer.write("comment"))
        lines.append(line)
    return "\n".join(lines)


def shuffled(rng: Random, items: Sequence[str]) -> tuple[str, ...]:
    return tuple(item for _, item in sorted((rng.random(), item) for item in items))


def verbatim(program: Program, rng: Random) -> Program:
    """Copy it as it is; comments are made when it is written down."""
    return program


def renamed(program: Program, rng: Random) -> Program:
    """Give every name that its author made another one."""
    table: dict[str, str] = {}
    for name in sorted(program.names):
        fresh = Writer(rng).new_name()
        while fresh in table.values():
            fresh += f"_{pick(rng, grammar.NOUNS)}"
        table[name] = fresh
    blocks = tuple(WORD.sub(lambda word: table.get(word[0], word[0]), block) for block in program.blocks)
    return replace(program, blocks=blocks, names=frozenset(table.values()))


def reordered(program: Program, rng: Random) -> Program:
    """Rename it, and put its functions and classes in another order."""
    copy = renamed(program, rng)
    return replace(copy, blocks=shuffled(rng, copy.blocks))


def half(program: Program, rng: Random) -> Program:
    """Take half of it under other names; the other half is written anew."""
    copy, own = renamed(program, rng), original(rng, GOAL // 2)
    taken, size = [], 0
    for block in copy.blocks:
        if size < GOAL // 2:
            taken.append(block)
        size += len(block)
    return replace(own, blocks=(*own.blocks, *taken))


#: How copies are made, in turn.
LEVELS: tuple[Callable[[Program, Random], Program], ...] = (verbatim, renamed, reordered, half)


def classroom(count: int, seed: int = SEED) -> Classroom:
    """Write `count` submissions; copies stand anywhere among the originals."""
    rng = Random(seed + count)
    copies = max(1, count // COPIED)
    programs = [original(rng) for _ in range(count - copies)]
    programs += [LEVELS[i % len(LEVELS)](programs[i], rng) for i in range(copies)]
    names = shuffled(rng, [f"s{i:04}.py" for i in range(count)])
    texts = {name: program.text(rng) for name, program in zip(names, programs, strict=True)}
    return Classroom(texts, [(names[i], names[count - copies + i]) for i in range(copies)])


@cache
def version() -> str:
    """Digest of the code that makes classes: another code, another folder."""
    sources = b"".join(Path(module.__file__).read_bytes() for module in (corpora, grammar) if module.__file__)
    return hashlib.sha256(sources + Path(__file__).read_bytes()).hexdigest()[:12]


def folder(count: int) -> Path:
    """The folder of a class under the system's temporary ones, made when first asked for."""
    place = Path(tempfile.gettempdir()) / f"lookalike-bench-{version()}" / f"class-{count}"
    if not place.exists():
        place.parent.mkdir(exist_ok=True)
        write(classroom(count), place)
    return place


def write(made: Classroom, place: Path) -> None:
    """Write submissions and `gold.csv`; the folder appears with all of them or not at all."""
    partial = Path(tempfile.mkdtemp(dir=place.parent))
    (partial / "submissions").mkdir()
    for name, text in made.texts.items():
        (partial / "submissions" / name).write_text(text, "utf-8")
    with (partial / "gold.csv").open("w", newline="", encoding="utf-8") as out:
        csv.writer(out, lineterminator="\n").writerows(made.gold)
    try:
        os.rename(partial, place)
    except OSError:
        # Somebody else made the same class at the same time.
        shutil.rmtree(partial)
