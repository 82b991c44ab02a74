"""Texts on a pair page: the quick way of painting them against the obvious one, and what must never get through."""

from __future__ import annotations

from array import array
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.rendering.html.panes import COLOURS, PALE, pane

#: Letters of the classes of marks, and the first class that hides the others, as the definition has them.
LETTERS, GREY = "-k-nsc-tou", 7


def naive(text: str, marks: list[tuple[int, int, int]], regions: list[tuple[int, int, int]], side: str) -> str:
    """Paint one character after the other, straight from the definition."""
    text = text.removesuffix("\n").removesuffix("\r")
    regions = [(max(a, 0), min(b, len(text)), n) for a, b, n in regions if max(a, 0) < min(b, len(text))]
    cuts = {0, *(a for a, _, _ in regions), *(b for _, b, _ in regions)}
    pale = [region for region in regions if region[2] >= PALE]
    regions = [region for region in regions if region[2] < PALE]
    out, line, run, seen = "<b>1</b>", 1, None, 0
    for i, character in enumerate(text):
        here = mark_at(marks, i)
        if run is not None and (here != run or i in cuts):
            out, run = out + "</i>", None
        if i in cuts:
            out += "</mark>" if seen else ""
            for number in sorted(n for a, _, n in regions if a == i):
                other = "r" if side == "l" else "l"
                out += f'<a id={side}{number} class="p c{number % COLOURS}" href=#{other}{number}>{number}</a>'
            seen = max(((a, n) for a, b, n in regions if a <= i < b), default=(0, 0))[1]
            parts = [(a, b) for a, b, n in pale if n == seen + PALE and a <= i]
            is_pale = bool(parts) and i < max(parts)[1]
            look = f'"c{seen % COLOURS} pale"' if is_pale else f"c{seen % COLOURS}"
            out += f"<mark class={look} data-p={seen}>" if seen else ""
        if here is not None and run is None:
            out, run = out + f"<i class={LETTERS[marks[here][2]]}>", here
        out += shown(character, text[i + 1 : i + 2])
        if character == "\n":
            line += 1
            out += f"<b>{line}</b>"
    return out + ("</i>" if run is not None else "") + ("</mark>" if seen else "")


def mark_at(marks: list[tuple[int, int, int]], i: int) -> int | None:
    """Return the mark that paints a character: grey before the rest."""
    covering = [m for m, (a, b, kind) in enumerate(marks) if a <= i < b and LETTERS[kind] != "-"]
    return min(covering, key=lambda m: (marks[m][2] < GREY, m), default=None)


def shown(character: str, following: str) -> str:
    escapes = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\ufdd1": "\ufffd", "\ud800": "\ufffd"}
    if character in escapes:
        return escapes[character]
    if character == "\r" and following == "\n":
        return ""
    if character in "\u202e\u200b\x7f" or (character < " " and character not in "\t\n"):
        return f"<i class=x>U+{ord(character):04X}</i>"
    return character


@st.composite
def disjoint(draw: st.DrawFn, kinds: list[int]) -> list[tuple[int, int, int]]:
    cuts = sorted(draw(st.sets(st.integers(0, 40), max_size=14)))
    return [(a, b, draw(st.sampled_from(kinds))) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]


TEXTS = st.text(alphabet="ab \n\r\t&<>é\u202e\u200b\ud800\ufdd1\x01\x04\x1b\x7f", max_size=36)
REGIONS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=5)


#: Starter code, and code that cannot run: the two may overlap.
GREYS = st.tuples(disjoint([7, 8]), disjoint([9])).map(lambda both: both[0] + both[1])


@given(TEXTS, disjoint([1, 2, 3, 4, 5, 6]), GREYS, REGIONS, disjoint([1, 2, 3]), st.sampled_from("lr"))
def test_a_pane_is_what_its_definition_says(text, tokens, greys, ends, pale, side):
    marks = sorted(tokens + greys)
    regions = [(min(a, b), max(a, b), n) for n, (a, b) in enumerate(ends, 1)]
    regions += [(a, b, n + PALE) for a, b, n in pale]
    assert pane(text, marks, regions, side) == naive(text, marks, regions, side)


@given(TEXTS, disjoint([1, 3, 4, 5]))
def test_packed_marks_are_the_same_marks(text, marks):
    packed = array("I", [number for mark in marks for number in mark]).tobytes()
    assert pane(text, packed, []) == pane(text, marks, [])


class Reader(HTMLParser):
    """What a browser makes of a pane: its elements, and the text outside line numbers and badges."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.text, self._aside = "", 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.elements.add(tag)
        self._aside += tag in ("a", "b")

    def handle_endtag(self, tag: str) -> None:
        self._aside -= tag in ("a", "b")

    def handle_data(self, data: str) -> None:
        self.text += "" if self._aside else data


@pytest.mark.parametrize(
    "attack",
    ["<script>alert(1)</script>", "</pre><img src=x onerror=alert(1)>", "&lt;b&gt;", "<!-- <?x ?> ]]>", "\"'`"],
)
def test_markup_of_a_submission_is_text(attack):
    read = Reader(pane(attack, [(0, 3, 1), (3, len(attack), 5)], [(1, 4, 1)]))
    assert read.text == attack
    assert read.elements <= {"a", "b", "i", "mark"}


def test_text_that_turns_around_is_shown_as_what_it_is():
    html = pane("if (admin\u202e) {\u2066 //\u2069", [], [])
    assert not {"\u202e", "\u2066", "\u2069"} & set(html)
    assert html.count("<i class=x>U+20") == 3


def test_a_pane_can_always_be_written_as_utf_8():
    assert "a\ufffdb" in pane("a\udc80b", [], []).encode().decode()


def test_persian_and_emoji_keep_their_joiners():
    text = "می‌خواهم 👩‍💻"
    assert text in pane(text, [], [])


def test_lines_count_from_the_given_one_and_the_last_line_feed_opens_none():
    assert pane("a\nb\n", [], [], first_line=9) == "<b>9</b>a\n<b>10</b>b"


def test_a_passage_inside_another_is_seen_and_both_can_be_reached():
    html = pane("0123456789", [], [(0, 10, 1), (3, 6, 2)])
    assert "id=l1" in html
    assert "id=l2" in html
    assert "<mark class=c2 data-p=2>345</mark><mark class=c1 data-p=1>6789</mark>" in html
