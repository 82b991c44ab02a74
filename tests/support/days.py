"""Rows of several days with little variety: many share keys, fingerprints and whole texts."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path


def low_entropy(rng: random.Random, rows: int) -> list[str | None]:
    """Texts of few words, copies with a word changed, identical ones, short and blank ones, and rows without a text."""
    made: list[str | None] = []
    words = [f"w{number}" for number in range(rng.choice([3, 8, 40]))]
    for _ in range(rows):
        earlier = [text for text in made if text]
        kind = rng.random()
        if earlier and kind < 0.25:
            made.append(rng.choice(earlier))
        elif earlier and kind < 0.6:
            copy = rng.choice(earlier).split() or ["a"]
            for _ in range(rng.randint(1, 2)):
                copy[rng.randrange(len(copy))] = rng.choice(words)
            made.append(" ".join(copy))
        elif kind < 0.66:
            made.append(rng.choice([None, "", " ", "one", "w1", "?!"]))
        else:
            made.append(" ".join(rng.choices(words, k=rng.randint(1, 30))))
    return made


def cut(rng: random.Random, rows: Sequence[str | None], days: int) -> list[list[str | None]]:
    """Cut rows into days anywhere; some may be empty."""
    ends = [0, *sorted(rng.randint(0, len(rows)) for _ in range(days - 1)), len(rows)]
    return [list(rows[start:end]) for start, end in pairwise(ends)]


def lines(rng: random.Random, rows: Sequence[str | None], first: int, *, bad: float) -> bytes:
    """Rows as lines of JSON: with ids, which some share, or without; a share of ``bad`` lines is between them."""
    made = []
    for number, text in enumerate(rows, first):
        kind = rng.random()
        row: dict[str, object] = {} if kind < 0.1 else {"id": f"r{number if kind < 0.9 else rng.randrange(5)}"}
        made.append(json.dumps(row if text is None else row | {"text": text}))
        if rng.random() < bad:
            made.append(rng.choice(["", "{bad", "[1]", '{"text": 3}', '{"id": "x", "text": "\\ud800 half"}']))
    return "".join(f"{line}\n" for line in made).encode()


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    """Work in a folder, and put it back as it was, in its place: hidden folders of outputs are known by their paths."""
    before = Path.cwd()
    shutil.copytree(folder, folder.parent / "saved")
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(folder.parent)
        shutil.rmtree(folder)
        (folder.parent / "saved").rename(folder)
        os.chdir(before)
