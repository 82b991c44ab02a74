"""The story of the engine on two small texts that ship with the package; no network, no files written."""

from __future__ import annotations

from importlib import resources
from typing import NamedTuple

from rich.console import Console
from rich.panel import Panel
from rich.text import Text as Line

from lookalike.fingerprinting import Fingerprints, fingerprint, stream
from lookalike.report.text import facts


class Passage(NamedTuple):
    """A run of tokens that two texts have in common, as spans of each."""

    tokens: int
    left: tuple[int, int]
    right: tuple[int, int]


def sample(name: str) -> str:
    """Return one of the embedded texts."""
    return resources.files("lookalike").joinpath("_demo", name).read_text(encoding="utf-8")


def longest_passage(left: Fingerprints, right: Fingerprints) -> Passage | None:
    """Extend every fingerprint in common to both sides, token by token, and return the longest run."""
    a, b = (stream(side.text, unit=side.selection.unit) for side in (left, right))
    places = dict(zip(right.hashes, right.positions, strict=True))
    seeds = [(i, places[hash_]) for hash_, i in zip(left.hashes, left.positions, strict=True) if hash_ in places]
    runs = [_extend(a.tokens.tolist(), b.tokens.tolist(), i, j) for i, j in seeds]
    if not runs:
        return None
    i, j, length = max(runs, key=lambda run: run[2])
    ends = i + length - 1, j + length - 1
    return Passage(length, (a.spans[i][0], a.spans[ends[0]][1]), (b.spans[j][0], b.spans[ends[1]][1]))


def _extend(a: list[int], b: list[int], i: int, j: int) -> tuple[int, int, int]:
    """Return the maximal run of equal tokens around positions i and j: its two starts and its length."""
    start = 0
    while i - start > 0 and j - start > 0 and a[i - start - 1] == b[j - start - 1]:
        start += 1
    length = start
    while (
        i - start + length < len(a) and j - start + length < len(b) and a[i - start + length] == b[j - start + length]
    ):
        length += 1
    return i - start, j - start, length


def tell() -> None:
    """Print the story."""
    console = Console(highlight=False)
    names = ("original.txt", "borrowed.txt")
    prints = [fingerprint(sample(name)) for name in names]
    passage = longest_passage(*prints)
    console.print("Two texts. One of them borrows a sentence and disguises it with case, dashes and quotes:\n")
    for name, found, span in zip(names, prints, _spans(passage), strict=True):
        console.print(Panel(_marked(found, span), title=name, title_align="left", padding=(0, 1)))
        for fact in facts(found, name)[:2]:
            console.print(Line("  " + fact, style="dim"), soft_wrap=True)
    common = set(prints[0].hashes) & set(prints[1].hashes)
    console.print(f"\n{len(common)} fingerprints in common; the others meet nothing.")
    _conclude(console, passage, prints[0])


def _spans(passage: Passage | None) -> tuple[tuple[int, int], tuple[int, int]]:
    return (passage.left, passage.right) if passage else ((0, 0), (0, 0))


def _marked(found: Fingerprints, span: tuple[int, int]) -> Line:
    """The text with fingerprinted k-grams' first letters underlined and the passage coloured."""
    line = Line(str(found.text).rstrip())
    line.stylize("bold green", *span)
    for start, _ in found.spans:
        line.stylize("underline", start, start + 1)
    return line


def _conclude(console: Console, passage: Passage | None, found: Fingerprints) -> None:
    if passage is None:
        console.print("Nothing is shared.")
        return
    unit = found.selection.unit
    console.print(
        f"Extended token by token they are one passage of {passage.tokens} {unit}s: "
        f"original.txt {passage.left[0]}–{passage.left[1]}, borrowed.txt {passage.right[0]}–{passage.right[1]}.",
        style="bold",
    )
    console.print(f"\nWhat that is worth: {found.selection.promise}.")
    console.print("(Underlined: where a fingerprint begins. Bold: the passage.)", style="dim")
    console.print("\nNext: lookalike fingerprint FILE, lookalike lab list, lookalike --help")
