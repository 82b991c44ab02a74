"""The page of one pair: both texts with every shared passage, and the parameters of the comparison."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from lookalike._types import counted
from lookalike.comparison.result import Entry, File, Pair, Passage, Region, Report
from lookalike.rendering.html.frame import moment, page, parameters, read_as, title
from lookalike.rendering.html.panes import COLOURS, Marks, pane, triples
from lookalike.rendering.safe import told, visible

#: Longest side in characters that is shown completely; of a longer one only the text around passages is shown.
WHOLE = 400_000
#: Text shown before and after a passage: lines, or characters if lines are very long.
LINES_AROUND, CHARACTERS_AROUND = 15, 5_000
#: Height of the map of passages, in units of its own.
MAP = 1000

MarksOf = Callable[[int, int], Marks]


class Side(NamedTuple):
    """One submission on the page of a pair; ``files`` and ``map`` are HTML."""

    letter: str
    name: str
    facts: str
    origin: str
    digest: str
    notes: list[str]
    files: str
    map: str


def pair_page(report: Report, names: Sequence[str], index: int, pages: Sequence[str], marks: MarksOf) -> str:
    """Return the page of a pair. ``names`` are the entries' names to show, ``pages`` the files of all pages.

    Parts that repeat for each passage or file are written here, not by the template, which halves the time of a page.
    """
    pair = report.pairs[index]
    regions = [[passage.left for passage in pair.passages], [passage.right for passage in pair.passages]]
    ends = (pair.left, pair.right)
    sides = [
        _side(report.entries[end], end, names[end], own, letter, marks)
        for end, own, letter in zip(ends, regions, "lr", strict=True)
    ]
    return page(
        "pair",
        report=report,
        title=title(report),
        pair=pair,
        rank=index + 1,
        unit="letters" if all(_is_prose(report.entries[end]) for end in ends) else "tokens",
        sides=sides,
        passages="\n".join(_passages(report, pair)),
        map_height=MAP,
        previous=pages[index - 1] if index else "",
        next=pages[index + 1] if index + 1 < len(pages) else "",
        parameters=", ".join(f"{name} = {value}" for name, value in parameters(report)),
    )


def _is_prose(entry: Entry) -> bool:
    return all(file.language == "text" for file in entry.files)


def _passages(report: Report, pair: Pair) -> Iterator[str]:
    """Yield the list of passages: number, place, and how the two sides agree."""
    left_files, right_files = (report.entries[end].files for end in (pair.left, pair.right))
    several = len(left_files) + len(right_files) > 2
    for number, passage in enumerate(pair.passages, 1):
        left, right = left_files[passage.left.file], right_files[passage.right.file]
        at = _place_of(left, passage.left.start)
        between = f"{_name(left)} and {_name(right)}; " if several else ""
        is_prose = left.language == "text" or (left.format == "notebook" and not at.endswith(", code"))
        yield (
            f"<li{'' if passage.sort == 'run' else ' class=lesser'}><a class=c{number % COLOURS} href=#l{number}>"
            f"<span class=p>{number}</span><span>{_where(left, right, passage)}</span>"
            f"<small>{between}{_agreement(passage, is_prose)}; {_rarity(passage.shared_by)}</small></a></li>"
        )


def _name(file: File) -> str:
    """Return a file's name as HTML."""
    from markupsafe import escape

    return str(escape(visible(file.name)))


def _where(left: File, right: File, passage: Passage) -> str:
    """Return the places of a passage: lines, and pages, cells or notes if a file has them."""
    a, b = passage.left, passage.right
    if left.places or right.places:
        return f"<span>{_named(left, a)}</span> &harr; <span>{_named(right, b)}</span>"
    return f"{_noun(a, b)} {_lines(a)} &harr; {_lines(b)}"


def _named(file: File, region: Region) -> str:
    first, last = (_place_of(file, at).partition(",")[0] for at in (region.start, region.end - 1))
    place = f"{first}, " if first == last else f"{first} to {last}, "
    return f"{place if first else ''}{_noun(region)} {_lines(region)}"


def _place_of(file: File, at: int) -> str:
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


def _agreement(passage: Passage, is_prose: bool) -> str:
    """Return the length of a passage, and how its two sides agree."""
    if passage.sort == "literal":
        return f"same string literal, {counted(passage.tokens, 'word')}"
    if is_prose:
        told = f"{counted(passage.tokens, 'letter')}; same words{'' if passage.exact else ' with small gaps'}"
    else:
        told = f"{counted(passage.tokens, 'token')}; {_same_text(passage)}"
    return f"{told}; also part of another passage" if passage.sort == "repeat" else told


def _same_text(passage: Passage) -> str:
    """Return how much of a passage of code has the same text on both sides."""
    if passage.exact:
        return "same text except for layout"
    if passage.same_text == 1:
        return "same text with small gaps"
    return f"same structure; {int(100 * passage.same_text)} % of the tokens have the same text"


def _rarity(shared_by: int) -> str:
    """Return how many submitters share a passage."""
    return "in these two only" if shared_by <= 2 else f"shared by {shared_by:,} submitters"


def _side(entry: Entry, index: int, name: str, regions: list[Region], letter: str, marks: MarksOf) -> Side:
    unit = "letter" if _is_prose(entry) else "token"
    facts = [f"{counted(entry.own_tokens, 'own ' + unit)}"]
    facts += [f"{entry.template_tokens:,} of the starter code"] if entry.template_tokens else []
    facts += [f"{entry.common_tokens:,} shared by many"] if entry.common_tokens else []
    origin = [f"handed in {moment(entry.time)}"] if entry.time else []
    origin += [visible(entry.label)] if entry.label else []
    origin += ["an earlier submission"] if entry.old else []
    return Side(
        letter=letter,
        name=name,
        facts=", ".join(facts),
        origin="; ".join(origin),
        digest=entry.digest,
        notes=[f"{visible(file.name)}: {told(note)}" for file in entry.files for note in file.notes],
        files="\n".join(_files(entry, index, regions, letter, marks)),
        map="\n".join(_map(entry, regions, letter)),
    )


def _files(entry: Entry, index: int, regions: list[Region], letter: str, marks: MarksOf) -> Iterator[str]:
    """Yield the files of one side as HTML: complete if they are short enough, else the text around passages."""
    is_whole = sum(len(file.text) for file in entry.files) <= WHOLE
    for i, file in enumerate(entry.files):
        own = [(region.start, region.end, number) for number, region in enumerate(regions, 1) if region.file == i]
        note, body = "", ""
        if is_whole:
            body = f"<pre>{pane(file.text, marks(index, i), own, letter)}</pre>"
        elif own:
            note = "only the text around its passages is shown"
            body = "\n".join(_stretches(file.text, marks(index, i), own, letter))
        else:
            note = "not shown: it has no passage, and the submission is long"
        yield _file(file, note, body, is_open=bool(own) or len(entry.files) == 1)


def _file(file: File, note: str, body: str, *, is_open: bool) -> str:
    """Return a file as HTML; a file without a passage is folded."""
    from markupsafe import escape

    said = f"{read_as(file)}; {note}" if note else read_as(file)
    outer, inner = ("div", "h3") if is_open else ("details", "summary")
    head = f"<{inner}>{_name(file)} <span class=soft>{escape(said)}</span></{inner}>"
    return f"<{outer} class=file>{head}\n{body}\n</{outer}>"


def _stretches(text: str, marks: Marks, regions: list[tuple[int, int, int]], letter: str) -> Iterator[str]:
    """Yield the parts of a long file around its passages, until the page is full."""
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    coloured = list(triples(marks))
    room, shown_until = WHOLE, 0
    for begin, end in _near(starts, len(text), regions):
        end = min(end, begin + room)
        room -= end - begin
        inside = [(max(a - begin, 0), b - begin, kind) for a, b, kind in coloured if b > begin and a < end]
        own = [(a - begin, b - begin, number) for a, b, number in regions if begin <= a < end]
        yield _gap(starts, shown_until, begin)
        if begin < end:
            yield f"<pre>{pane(text[begin:end], inside, own, letter, bisect_right(starts, begin))}</pre>"
        shown_until = end
    yield _gap(starts, shown_until, len(text))


def _near(starts: list[int], length: int, regions: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Return the stretches of text around regions, joined where they meet."""
    near: list[tuple[int, int]] = []
    ends = [*starts[1:], length]
    for start, end, _ in sorted(regions):
        first = starts[max(0, bisect_right(starts, start) - 1 - LINES_AROUND)]
        last = ends[min(len(ends) - 1, bisect_left(ends, end) + LINES_AROUND)]
        begin, stop = max(first, start - CHARACTERS_AROUND), min(last, end + CHARACTERS_AROUND)
        if near and begin <= near[-1][1]:
            near[-1] = near[-1][0], max(stop, near[-1][1])
        else:
            near.append((begin, stop))
    return near


def _gap(starts: list[int], begin: int, end: int) -> str:
    """Return a line about the text that is not shown between two places."""
    if begin >= end:
        return ""
    first, last = bisect_right(starts, begin), bisect_right(starts, end - 1)
    told = f"lines {first:,}&ndash;{last:,} are not shown" if first < last else f"part of line {first:,} is not shown"
    return f"<p class=gap>{told}</p>"


def _map(entry: Entry, regions: Iterable[Region], letter: str) -> Iterator[str]:
    """Yield the marks of the passages on the map of a side, as HTML."""
    tops = [0, *accumulate(file.text.count("\n") + 1 for file in entry.files)]
    scale = MAP / max(1, tops[-1])
    for number, region in enumerate(regions, 1):
        top = round((tops[region.file] + region.start_line - 1) * scale)
        height = max(6, round((region.end_line - region.start_line + 1) * scale))
        yield (
            f"<a class=c{number % COLOURS} href=#{letter}{number} tabindex=-1>"
            f'<rect x=2 y={top} width=10 height="{height}"/></a>'
        )
