"""The corpus of the lab where none is given: made up from a seed, and said to be so.

Words follow Zipf's law, and shared passages the power law of Figure 4, so that repetition has the long tail of real
collections. A mirrored page, a page of one phrase and a page of sensor-like zeros stand for what the paper met on the
Web. The programs are there for `choose-k`: every fourth is the one before it with other names for its variables. A few
pages also stand there in versions, each with more words changed than the one before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.lab.shared import versions

DESCRIPTION = (
    "synthetic, made for want of a corpus: it shows what an experiment does and proves nothing about real text"
)
PAGES, MIRRORS, PROGRAMS = 400, 40, 40
#: Pages that have versions, and the share of words that each changes.
VERSIONED, CHANGES = 6, (0.002, 0.01, 0.03, 0.1)
VOCABULARY, PASSAGES, STATEMENTS_EACH = 5000, 1500, 25
SYLLABLES = np.array([consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"])
NAMES = ("count", "total", "left", "right", "item", "value", "index", "size", "limit", "result", "first", "last")
#: {e} stands for an expression, {v} for a variable, {n} for a number.
STATEMENTS = (
    "{v} = {e}",
    "{v} += {e}",
    "if {e}:\n        {v} = {e}",
    "for {v} in {e}:\n        {v} = {e}",
    "print({e})",
)
EXPRESSIONS = (
    "{v}",
    "{n}",
    "{e} + {e}",
    "{e} * {e}",
    "{e} < {e}",
    "max({e}, {e})",
    "{v}[{e}]",
    "[{e}, {e}]",
    "not {e}",
)


def make(seed: int) -> dict[str, bytes]:
    """Make all documents by name."""
    rng = np.random.default_rng(seed)
    texts = _pages(rng) | _odd_pages(rng) | _programs(rng)
    texts |= _versions(texts, rng)
    return {name: text.encode() for name, text in texts.items()}


class _Prose:
    """Writes sentences of words that follow Zipf's law."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.words = np.array(["".join(rng.choice(SYLLABLES, size)) for size in rng.integers(1, 5, VOCABULARY)])
        self.weights = _power_law(VOCABULARY, 1)

    def write(self, least: int, most: int) -> str:
        words = self.rng.choice(self.words, self.rng.integers(least, most), p=self.weights)
        return " ".join(words).capitalize() + "."


def _pages(rng: np.random.Generator) -> dict[str, str]:
    """Write pages of their own paragraphs and shared passages in turn, and the mirrors of one of them."""
    prose = _Prose(rng)
    passages = [prose.write(15, 90) for _ in range(PASSAGES)]
    weights = _power_law(PASSAGES, 0.7)
    pages = {}
    for i in range(PAGES):
        shared = rng.choice(PASSAGES, rng.integers(1, 6), p=weights)
        pages[f"page-{i:03}.txt"] = "\n\n".join(part for j in shared for part in (prose.write(60, 200), passages[j]))
    return pages | {f"mirror-{i:02}.txt": pages["page-000.txt"] for i in range(MIRRORS)}


def _versions(texts: dict[str, str], rng: np.random.Generator) -> dict[str, str]:
    """Edit the pages after the one that has mirrors."""
    return {
        f"version-{i:03}-{number}.txt": versions.edited(texts[f"page-{i:03}.txt"], share, rng)
        for i in range(1, VERSIONED + 1)
        for number, share in enumerate(CHANGES, 1)
    }


def _odd_pages(rng: np.random.Generator) -> dict[str, str]:
    zeros = np.full(2000, ord("0"), dtype=np.uint8)
    odd = rng.random(len(zeros)) < 1 / 200
    zeros[odd] = rng.integers(ord("a"), ord("z") + 1, odd.sum())
    return {"script.txt": "document.write " * 300, "sensor.txt": zeros.tobytes().decode()}


def _programs(rng: np.random.Generator) -> dict[str, str]:
    programs: dict[str, str] = {}
    statements: list[str] = []
    for i in range(PROGRAMS):
        names = rng.permutation(NAMES)
        if i % 4 != 3:
            statements = [_fill(rng, str(rng.choice(STATEMENTS))) for _ in range(STATEMENTS_EACH)]
        body = "\n    ".join(line.format(*names) for line in statements)
        programs[f"program-{i:02}.py"] = f"def {names[0]}({names[1]}, {names[2]}):\n    {body}\n"
    return programs


def _fill(rng: np.random.Generator, pattern: str, depth: int = 2) -> str:
    """Fill in expressions and numbers, and leave places {0} to {5} for the names of the variables."""
    while "{e}" in pattern:
        choices = EXPRESSIONS if depth > 0 else EXPRESSIONS[:2]
        for _ in range(pattern.count("{e}")):
            pattern = pattern.replace("{e}", str(rng.choice(choices)), 1)
        depth -= 1
    while "{v}" in pattern or "{n}" in pattern:
        pattern = pattern.replace("{v}", f"{{{rng.integers(6)}}}", 1).replace("{n}", str(rng.integers(100)), 1)
    return pattern


def _power_law(size: int, exponent: float) -> NDArray[np.float64]:
    weights = np.arange(1, size + 1, dtype=np.float64) ** -exponent
    return np.asarray(weights / weights.sum())
