"""The list of passages of a pair, as HTML: where each is, why it counts, and in which section of prose it stands.

The weightiest stand first: most bits, those that many have counting less; then most tokens. A section weighs as much as
its passages together. Weak passages and further copies of parts of others are folded away with their number. Cost: a
sort of the passages, and the text they cover.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from lookalike._types import counted
from lookalike.comparison.result import File, Pair, Passage, Region, Report, Section
from lookalike.rendering.html.explanations import among
from lookalike.rendering.html.panes import COLOURS
from lookalike.rendering.safe import visible
from lookalike.rendering.wording import percent

#: No repeat lies inside a run.
NONE: Mapping[int, str] = {}
#: A passage and its number on the page.
Numbered = tuple[int, Passage]


class Sides(NamedTuple):
    """The files of both sides, and whether one of them was asked about."""

    left: tuple[File, ...]
    right: tuple[File, ...]
    is_asked: bool


class Block(NamedTuple):
    """What stands in the list by itself: a passage, or a section of prose with its passages."""

    #: Bits times rarity, of all its passages; tokens, of a section its letters; the number of its first passage.
    weight: float
    tokens: int
    place: int
    passages: list[Numbered]
    #: The section's place among those of the pair; None: one passage in no section.
    section: int | None = None

    @property
    def order(self) -> tuple[float, int, int]:
        """The key by which blocks are sorted: most weight first, then most tokens, then the place."""
        return -self.weight, -self.tokens, self.place


def _alone(one: Numbered, submitters: int) -> Block:
    number, passage = one
    return Block(round(passage.weight(submitters), 1), passage.tokens, number, [one])


def blocks(pair: Pair, submitters: int) -> list[Block]:
    """Return the passages that are listed, those of a section inside it; the weightiest first."""
    listed = _ranked(pair, submitters)[0]
    inside: dict[int | None, list[Block]] = {}
    section_of = dict(_within(pair.sections, listed))
    for one in listed:
        inside.setdefault(section_of.get(one[0]), []).append(_alone(one, submitters))
    found = inside.pop(None, [])
    for i, members in inside.items():
        weight, place = round(sum(one.weight for one in members), 1), min(one.place for one in members)
        passages = [one.passages[0] for one in members]
        found.append(Block(weight, pair.sections[i or 0].letters, place, passages, i))
    return sorted(found, key=lambda block: block.order)


def _ranked(pair: Pair, submitters: int) -> tuple[list[Numbered], list[Numbered], list[Numbered]]:
    """Return the passages that are listed, those that are weak, and copies of parts of others; the weightiest first."""
    every = sorted(enumerate(pair.passages, 1), key=lambda one: _alone(one, submitters).order)
    repeats = [one for one in every if one[1].sort == "repeat"]
    weak = [one for one in every if one[1].weak and one[1].sort != "repeat"]
    listed = [one for one in every if not one[1].weak and one[1].sort != "repeat"]
    # If every passage is weak, folding them away would leave an empty list.
    return (listed, weak, repeats) if listed else (weak, [], repeats)


def passage_list(report: Report, pair: Pair, *, is_asked: bool = False) -> str:
    """Return the list as HTML; parts that repeat are written here, which takes half the time of a template.

    ``is_asked``: one of the two was asked about, and there is no class.
    """
    submitters = report.submitters
    _, weak, repeats = _ranked(pair, submitters)
    files = Sides(report.entries[pair.left].files, report.entries[pair.right].files, is_asked)
    if not pair.passages:
        return "<p class=soft>No passages are listed for this pair.</p>"
    parts = [f"<ol class=top>\n{_items(pair, submitters, files)}\n</ol>"]
    if weak:
        said = f"{counted(len(weak), 'weak passage')} <span class=soft>short or usual {among(is_asked)}</span>"
        parts.append(_fold("weak", said, [_alone(one, submitters) for one in weak], files))
    if repeats:
        said = f"{counted(len(repeats), 'repeat')} <span class=soft>further copies of parts of these passages</span>"
        inside = _inside(pair)
        parts.append(_fold("repeats", said, [_alone(one, submitters) for one in repeats], files, inside))
    return "\n".join(parts)


def _inside(pair: Pair) -> dict[int, str]:
    """Return, for each repeat that lies inside a run, the sides and runs: "l1 r3". Runs do not overlap."""
    found: dict[int, list[str]] = {}
    for letter in "lr":
        places = [passage.left if letter == "l" else passage.right for passage in pair.passages]
        numbered = [(place, number, pair.passages[number - 1].sort) for number, place in enumerate(places, 1)]
        runs = sorted((place, number) for place, number, sort in numbered if sort == "run")
        for place, number, _ in (one for one in numbered if one[2] == "repeat"):
            before = bisect_right(runs, place[:2], key=lambda run: run[0][:2])
            if before and runs[before - 1][0].file == place.file and place.end <= runs[before - 1][0].end:
                found.setdefault(number, []).append(f"{letter}{runs[before - 1][1]}")
    return {number: " ".join(outer) for number, outer in found.items()}


def _fold(name: str, said: str, alone: list[Block], files: Sides, inside: Mapping[int, str] = NONE) -> str:
    items = "\n".join(_item(one, files, inside.get(one.place, "")) for one in alone)
    return f"<details class=fold id={name}><summary>{said}</summary>\n<ol>\n{items}\n</ol></details>"


def _items(pair: Pair, submitters: int, files: Sides) -> str:
    """Return the listed passages; those of a section of prose stand inside it."""
    return "\n".join(
        _item(block, files)
        if block.section is None
        else _section(pair.sections[block.section], block, submitters, files)
        for block in blocks(pair, submitters)
    )


def _within(sections: Sequence[Section], listed: Iterable[Numbered]) -> Iterator[tuple[int, int]]:
    """Yield the numbers of passages that stand in a section on both sides, with the section.

    Sections come in the order of the left side. One sweep meets those around each passage there: they lie apart on the
    right side, and are few.
    """
    ahead, around = 0, list[int]()
    for number, passage in sorted(listed, key=lambda one: one[1].left):
        while ahead < len(sections) and sections[ahead].left[:2] <= passage.left[:2]:
            around.append(ahead)
            ahead += 1
        around = [i for i in around if _holds(sections[i].left, passage.left.file, passage.left.start)]
        for i in around:
            left, right = sections[i].left, sections[i].right
            if passage.left.end <= left.end and _holds(right, *passage.right[:2]) and passage.right.end <= right.end:
                yield number, i


def _holds(region: Region, file: int, at: int) -> bool:
    return region.file == file and region.start <= at < region.end


def _section(section: Section, block: Block, submitters: int, files: Sides) -> str:
    """Return a section of prose with its passages."""
    left, right = files[0][section.left.file], files[1][section.right.file]
    best, number = block.passages[0][0], (block.section or 0) + 1
    bits = round(sum(passage.bits for _, passage in block.passages))
    items = "\n".join(_item(_alone(one, submitters), files) for one in block.passages)
    return (
        f"<li class=section data-weight={block.weight:.1f} data-tokens={block.tokens} data-place={block.place}>"
        f"<a class=whole href=#l{best}><b>Section {number}</b> {_where(left, right, section.left, section.right)}"
        f"<small>{counted(section.passages, 'passage')}, {counted(section.letters, 'letter')}, {bits:,} bits; "
        f"{percent(section.same)} of it is the same text</small></a>\n<ol>\n{items}\n</ol></li>"
    )


def _item(alone: Block, files: Sides, inside: str = "") -> str:
    """Return a passage of the list: number, place, and why it counts. ``inside``: the runs in which a repeat lies."""
    number, passage = alone.passages[0]
    left, right = files[0][passage.left.file], files[1][passage.right.file]
    between = f"{file_name(left)} and {file_name(right)}; " if len(files[0]) + len(files[1]) > 2 else ""
    where = _where(left, right, passage.left, passage.right)
    held = f' data-in="{inside}"' if inside else ""
    told = why(passage, left, right, is_asked=files.is_asked)
    return (
        f"<li{'' if passage.sort == 'run' else ' class=lesser'} data-weight={alone.weight:.1f} "
        f"data-tokens={passage.tokens} data-place={number}{held}><a class=c{number % COLOURS} href=#l{number}>"
        f"<span class=p>{number}</span><span>{where}</span><small>{between}{told}</small></a></li>"
    )


def why(passage: Passage, left: File, right: File, *, is_asked: bool = False) -> str:
    """Return why a passage counts: its length, how its sides agree, and how many have it as far as that is known."""
    at = place_of(left, passage.left.start)
    is_prose = left.language == "text" or (left.format == "notebook" and not at.endswith(", code"))
    bits = f", {round(passage.bits):,} bits" if passage.bits else ""
    agreement = _agreement(passage, left, right, bits, is_prose=is_prose)
    return "; ".join(filter(None, (agreement, _rarity(passage.shared_by, is_asked=is_asked))))


def file_name(file: File) -> str:
    """Return a file's name as HTML."""
    from markupsafe import escape

    return str(escape(visible(file.name)))


def _where(left: File, right: File, a: Region, b: Region) -> str:
    """Return two places: lines, and pages, cells or notes if a file has them."""
    if left.places or right.places:
        return f"<span>{_named(left, a)}</span> &harr; <span>{_named(right, b)}</span>"
    return f"{_noun(a, b)} {_lines(a)} &harr; {_lines(b)}"


def _named(file: File, region: Region) -> str:
    from markupsafe import escape

    first, last = (place_of(file, at).partition(",")[0] for at in (region.start, region.end - 1))
    place = f"{first}, " if first == last else f"{first} to {last}, "
    return f"{escape(visible(place)) if first else ''}{_noun(region)} {_lines(region)}"


def place_of(file: File, at: int) -> str:
    """Return the page, cell or note of an offset."""
    before = bisect_right(file.places, at, key=lambda place: place[0])
    return file.places[before - 1][1] if before else ""


def _noun(*regions: Region) -> str:
    return "line" if all(region.start_line == region.end_line for region in regions) else "lines"


def _lines(region: Region) -> str:
    """Return the lines of a region. The dash is an entity: an ASCII page is written four times as fast."""
    return (
        f"{region.start_line}&ndash;{region.end_line}"
        if region.start_line < region.end_line
        else f"{region.start_line}"
    )


def _agreement(passage: Passage, left: File, right: File, bits: str, *, is_prose: bool) -> str:
    """Return the length of a passage, and how its two sides agree."""
    if passage.sort == "literal":
        return f"same string literal, {counted(passage.tokens, 'word')}{bits}"
    if is_prose:
        return (
            f"{counted(passage.tokens, 'letter')}{bits}; same words{'' if passage.exact else ' with small gaps'}"
            + _repeated(passage)
        )
    return f"{counted(passage.tokens, 'token')}{bits}; {_same_text(passage, left, right)}{_repeated(passage)}"


def _repeated(passage: Passage) -> str:
    return "; also part of another passage" if passage.sort == "repeat" else ""


def _same_text(passage: Passage, left: File, right: File) -> str:
    """Return how much of a passage of code has the same text on both sides."""
    if passage.exact:
        is_same = _without_layout(left, passage.left) == _without_layout(right, passage.right)
        return "same text except for layout" if is_same else "same code; comments or separators differ"
    if passage.same_text == 1:
        return "same code with small gaps"
    same = percent(passage.same_text)
    return f"same structure; {same} of the tokens have the same text, the others have other names or values"


def _without_layout(file: File, region: Region) -> str:
    return "".join(file.text[region.start : region.end].split())


def _rarity(shared_by: int, *, is_asked: bool) -> str:
    """Return how many submitters share a passage. The others of an archive may not have been compared."""
    if is_asked:
        return f"shared by {shared_by - 1:,} submitters of the archive" if shared_by > 2 else ""
    return "in these two only" if shared_by <= 2 else f"shared by {shared_by:,} submitters"


def order(report: Report, pair: Pair) -> str:
    """Return the numbers of the listed passages in the order of the list, for an attribute."""
    return " ".join(str(number) for block in blocks(pair, report.submitters) for number, _ in block.passages)
