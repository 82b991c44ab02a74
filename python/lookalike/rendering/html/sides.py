"""The two sides of a pair's page, as HTML: files with their shared parts marked, and a map of the passages.

For reading, a passage is marked from the beginning of its first line to the end of its last one; what does not match
in it is pale. The exact bounds are in the tables. Cost: linear in the texts.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import NamedTuple

from lookalike._types import counted
from lookalike.comparison.result import Entry, File, Gap, Pair, Passage, Region
from lookalike.rendering.html.frame import moment, read_as
from lookalike.rendering.html.panes import COLOURS, PALE, Marks, pane, triples
from lookalike.rendering.html.passage_list import file_name
from lookalike.rendering.safe import told, visible
from lookalike.rendering.wording import amount, percent, units

#: Longest side in characters that is shown completely; of a longer one only the text around passages is shown.
WHOLE = 400_000
#: Text shown before and after a passage: lines, or characters if lines are very long.
LINES_AROUND, CHARACTERS_AROUND = 15, 5_000
#: Height of the map of passages, in units of its own.
MAP = 1000
#: Longest line that a passage is widened to; a longer one is no line for reading.
LINE = 400

MarksOf = Callable[[int, int], Marks]
#: Start, end and number of a passage in one file; parts that do not match have ``PALE`` added to the number.
Marked = tuple[int, int, int]


class View(NamedTuple):
    """How the texts of a side are written: l for left or r for right, their colouring, and who paints them.

    A text that is not ``painted`` is named, with its regions, for the script that paints it.
    """

    letter: str
    marks: MarksOf
    painted: bool = True


class Side(NamedTuple):
    """One submission on the page of a pair; ``files``, ``contents`` and ``map`` are HTML."""

    letter: str
    name: str
    facts: str
    origin: str
    digest: str
    notes: list[str]
    #: The list of files with how much each shares; empty for a single file.
    contents: str
    files: str
    map: str


def is_whole(entry: Entry) -> bool:
    """Return whether a submission is short enough to be shown completely."""
    return sum(len(file.text) for file in entry.files) <= WHOLE


def make_side(entry: Entry, index: int, name: str, pair: Pair, view: View) -> Side:
    """Return one side, which shows the left or the right region of each passage."""
    letter, passages = view.letter, pair.passages
    regions = [passage.left if letter == "l" else passage.right for passage in passages]
    kinds = [passage.sort for passage in passages]
    facts = [f"{amount(entry.own_tokens, units(entry.files))} of its own"]
    facts += [f"{entry.template_tokens:,} of the starter code"] if entry.template_tokens else []
    facts += [f"{entry.common_tokens:,} shared by too many"] if entry.common_tokens else []
    facts += [f"{counted(entry.unreachable_tokens, 'token')} cannot run"] if entry.unreachable_tokens else []
    origin = [f"handed in {moment(entry.time)}"] if entry.time else []
    origin += [visible(entry.label)] if entry.label else []
    origin += ["an earlier submission"] if entry.old else []
    own = _by_file(entry, regions)
    gaps = [gap for gap in pair.gaps if gap.side == "lr".index(letter)]
    return Side(
        letter=letter,
        name=name,
        facts=", ".join(facts),
        origin="; ".join(origin),
        digest=entry.digest,
        notes=[f"{visible(file.name)}: {told(note)}" for file in entry.files for note in file.notes],
        contents=_contents(entry, zip(regions, passages, strict=True), letter) if len(entry.files) > 1 else "",
        files="\n".join(
            _files(entry, index, [_shown(file, i, own[i], kinds, gaps) for i, file in enumerate(entry.files)], view)
        ),
        map="\n".join(_map(entry, regions, letter)),
    )


def _by_file(entry: Entry, regions: Iterable[Region]) -> list[list[Marked]]:
    """Return the passages of each file."""
    own: list[list[Marked]] = [[] for _ in entry.files]
    for number, region in enumerate(regions, 1):
        own[region.file].append((region.start, region.end, number))
    return own


def _contents(entry: Entry, passages: Iterable[tuple[Region, Passage]], letter: str) -> str:
    """Return the list of files: how many tokens of each lie in passages, the largest share first, and the sum.

    Only runs count: they do not overlap, while repeats and literals lie in other passages or between tokens.
    """
    inside, sharing = [0] * len(entry.files), set()
    for region, passage in passages:
        sharing.add(region.file)
        inside[region.file] += passage.tokens if passage.sort == "run" else 0
    sizes = [file.tokens for file in entry.files]
    order = sorted(range(len(sizes)), key=lambda i: (-inside[i] / max(1, sizes[i]), i))
    rows = "\n".join(_row(f"<a href=#{letter}f{i}>{file_name(entry.files[i])}</a>", sizes[i], inside[i]) for i in order)
    unit = units(entry.files).capitalize()
    return (
        f"<details class=contents{' open' if len(sizes) <= FEW else ''}><summary>{counted(len(sizes), 'file')}, "
        f"{len(sharing):,} with passages</summary><div class=box><table><thead><tr><th>File</th>"
        f"<th class=num>{unit}</th><th class=num colspan=2>In passages</th></tr></thead><tbody>\n{rows}\n</tbody>"
        f"<tfoot>{_row('All files', sum(sizes), sum(inside))}</tfoot></table></div></details>"
    )


def _row(name: str, tokens: int, inside: int) -> str:
    share = percent(inside / tokens if tokens else 0)
    return (
        f"<tr><td>{name}</td><td class=num>{tokens:,}</td><td class=num>{inside:,}</td><td class=num>{share}</td></tr>"
    )


#: Most files of a list that is open from the start.
FEW = 12


def widened(text: str, regions: list[Marked], exempt: set[int]) -> list[Marked]:
    """Return regions from the beginning of their first line to the end of their last one, and the pale parts of them.

    A region is not widened over another one, nor in very long lines. ``exempt`` are numbers of regions that stay.
    """
    found: list[Marked] = []
    inner = sorted(regions)
    until, ahead = 0, [start for start, _, _ in inner] + [len(text)]
    for i, (start, end, number) in enumerate(inner):
        first, last = start, end
        if number not in exempt:
            begin = text.rfind("\n", 0, start) + 1
            begin += len(text[begin:start]) - len(text[begin:start].lstrip())
            stop = text.find("\n", end)
            stop = len(text) if stop < 0 else stop
            first = max(begin, until) if until <= start and start - begin <= LINE else start
            last = min(stop, ahead[i + 1]) if ahead[i + 1] >= end and stop - end <= LINE else end
        found.append((first, last, number))
        found += [(a, b, number + PALE) for a, b in ((first, start), (end, last)) if a < b]
        until = max(until, last)
    return found


def _shown(file: File, index: int, own: list[Marked], kinds: list[str], gaps: Iterable[Gap]) -> list[Marked]:
    """Return what is marked in a file: its passages in whole lines, and the parts of them that do not match.

    ``kinds`` are those of all passages. Only runs are joined over gaps, and they do not overlap.
    """
    found = widened(file.text, own, {number for _, _, number in own if kinds[number - 1] != "run"})
    runs = sorted(region for region in own if kinds[region[2] - 1] == "run")
    for gap in gaps:
        at = bisect_right(runs, gap.start, key=lambda region: region[0]) - 1
        if gap.file == index and at >= 0 and gap.end <= runs[at][1]:
            found.append((gap.start, gap.end, runs[at][2] + PALE))
    return found


def _files(entry: Entry, index: int, marked: list[list[Marked]], view: View) -> Iterator[str]:
    """Yield the files of one side: complete if they are short enough, else the text around passages."""
    is_shown = is_whole(entry)
    for i, (file, shown) in enumerate(zip(entry.files, marked, strict=True)):
        note, body = "", ""
        if is_shown and not view.painted:
            body = f'<pre data-text={index}.{i} data-regions="{_as_shown(file.text, shown)}"></pre>'
        elif is_shown:
            body = f"<pre>{pane(file.text, view.marks(index, i), shown, view.letter)}</pre>"
        elif shown:
            note = "only the text around its passages is shown, and find in page looks only there"
            body = "\n".join(_stretches(file.text, view.marks(index, i), shown, view.letter))
        else:
            note = "not shown: it has no passage, and the submission is long"
        yield _file(file, note, body, f"{view.letter}f{i}", is_open=bool(shown) or len(entry.files) == 1)


def _as_shown(text: str, regions: list[Marked]) -> str:
    """Return regions for the script that paints them; a carriage return before a line feed is not shown."""
    hidden = [found.start() for found in re.finditer("\r\n", text)]
    return " ".join(f"{a - bisect_left(hidden, a)},{b - bisect_left(hidden, b)},{n}" for a, b, n in regions)


def _file(file: File, note: str, body: str, anchor: str, *, is_open: bool) -> str:
    """Return a file as HTML; a file without a passage is folded."""
    from markupsafe import escape

    said = f"{read_as(file)}; {note}" if note else read_as(file)
    head = f"<summary>{file_name(file)} <span class=soft>{escape(said)}</span></summary>"
    return f"<details class=file id={anchor}{' open' if is_open else ''}>{head}\n{body}\n</details>"


def _stretches(text: str, marks: Marks, regions: list[Marked], letter: str) -> Iterator[str]:
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


def _near(starts: list[int], length: int, regions: list[Marked]) -> list[tuple[int, int]]:
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
