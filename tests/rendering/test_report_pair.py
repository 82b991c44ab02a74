"""The page of a pair: what it says of passages, what is shown of long texts, and what it proves."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from test_report import SMALL, put

from lookalike.comparison.result import Gap, Pair, Passage, Region, Report, Section
from lookalike.rendering.html.pair_page import PairPages
from lookalike.rendering.html.panes import PALE
from lookalike.rendering.html.passage_list import order
from lookalike.rendering.html.sides import widened
from oracles.compare.entries import UNIT
from oracles.compare.weights import weight
from support.reports import Size, school


def page_of(report: Report) -> str:
    """The page of the first pair, without colouring."""
    return PairPages(report, ["x", "y"], lambda entry, file: b"").page(report.pairs[0], "pair 1 of 1")


def test_a_page_is_an_evidence_file(tmp_path: Path):
    report = school(SMALL)
    put(report, tmp_path / "out")
    page, pair = (tmp_path / "out" / "pairs" / "001.html").read_text("utf-8"), report.pairs[0]
    for entry in (report.entries[pair.left], report.entries[pair.right]):
        assert entry.name in page
        assert entry.digest in page
    assert report.promise in page
    assert "23 tokens shown (k), 38 always found (t) for java" in page
    for number, passage in enumerate(pair.passages, 1):
        assert f"lines {passage.left.start_line}&ndash;{passage.left.end_line} &harr; " in page
        assert all(f"id={side}{number} " in page for side in "lr")
    assert "same text except for layout" in page or "same structure" in page


def test_pages_of_plain_text_are_plain_ascii(tmp_path: Path):
    """Else writing them takes four times as long."""
    put(school(SMALL), tmp_path / "out")
    assert all(path.read_bytes().isascii() for path in (tmp_path / "out" / "pairs").iterdir())


def two_files(texts: tuple[str, str], regions: tuple[Region, Region]) -> Report:
    """A report of one pair of submissions with two files each."""
    report = school(Size(entries=2, methods=1, pairs=0))
    entries = tuple(
        replace(entry, files=tuple(replace(entry.files[0], name=f"part{i}.java", text=t) for i, t in enumerate(texts)))
        for entry in report.entries
    )
    pair = Pair(0, 1, 0.9, 0.9, 0.9, 40, 40, (Passage(*regions, 40, 3, exact=False),))
    return replace(report, entries=entries, pairs=(pair,), pair_count=1)


def test_files_without_a_passage_are_folded_and_the_other_named(tmp_path: Path):
    place = Region(1, 0, 9, 1, 1)
    report = two_files(("int a;\n", "int beta;\n"), (place, place))
    page = page_of(report)
    assert len(re.findall(r"<details class=file id=[lr]f0><summary>part0\.java", page)) == 2
    assert len(re.findall(r"<details class=file id=[lr]f1 open><summary>part1\.java", page)) == 2
    assert "part1.java and part1.java; 40 tokens; same code with small gaps" in page
    assert "shared by 3 submitters" in page


def test_of_a_very_long_file_the_surroundings_of_its_passages_are_shown():
    lines = [f"line {i}\n" for i in range(1, 60_001)]
    text = "".join(lines)
    starts = [len("".join(lines[: first - 1])) for first in (30_000, 59_999)]
    place = Region(0, starts[0], starts[0] + 10, 30_000, 30_000)
    late = Region(0, starts[1], starts[1] + 10, 59_999, 59_999)
    report = two_files((text, "short\n"), (place, late))
    page = page_of(report)
    assert len(page) < 40_000
    assert "lines 1&ndash;29,984 are not shown" in page
    assert "<b>29985</b>line 29985\n" in page
    assert '<b>30000</b><a id=l1 class="p c1" href=#r1>1</a><mark' in page
    assert "lines 30,016&ndash;60,000 are not shown" in page
    assert "<b>60000</b>line 60000</pre>" in page
    assert "not shown: it has no passage" in page


def test_of_a_very_long_line_the_surroundings_of_its_passages_are_shown():
    text = "x" * 500_000 + "copied" + "y" * 500_000
    place = Region(0, 500_000, 500_006, 1, 1)
    page = page_of(two_files((text, ""), (place, place)))
    assert len(page) < 60_000
    assert page.count("part of line 1 is not shown") == 4
    assert "data-p=1>copied</mark>yyy" in page


def test_a_passage_longer_than_a_page_is_cut_and_that_is_told():
    text = "a line of code\n" * 100_000
    place = Region(0, 0, len(text), 1, 100_000)
    page = page_of(two_files((text, ""), (place, place)))
    assert page.count("&ndash;100,000 are not shown") == 2


def said_of(passages: tuple[Passage, ...], **file: Any) -> list[str]:
    """What the list of a page says of passages between two files of a kind, as text."""
    report = school(Size(entries=2, methods=1, pairs=0))
    entries = tuple(replace(entry, files=(replace(entry.files[0], **file),)) for entry in report.entries)
    pair = Pair(0, 1, 0.9, 0.9, 0.9, 40, 40, passages)
    report = replace(report, entries=entries, pairs=(pair,), pair_count=1)
    page = page_of(report)
    return [unescape(re.sub("<.*?>", " ", line)) for line in re.findall(r"<li.*?</li>", page)]


PLACE = Region(0, 30, 40, 3, 3)


@pytest.mark.parametrize(
    ("passage", "said"),
    [
        (Passage(PLACE, PLACE, 9, 2, exact=True), "9 tokens; same text except for layout; in these two only"),
        (Passage(PLACE, PLACE, 1, 3, exact=True), "1 token; same text except for layout; shared by 3 submitters"),
        (Passage(PLACE, PLACE, 9, 2, exact=False), "9 tokens; same code with small gaps"),
        (
            Passage(PLACE, PLACE, 9, 2, exact=False, same_text=0.777),
            "9 tokens; same structure; 78 % of the tokens have the same text",
        ),
        (
            Passage(PLACE, PLACE, 9, 2, True, "repeat"),
            "9 tokens; same text except for layout; also part of another passage",
        ),
        (Passage(PLACE, PLACE, 1, 2, True, "literal"), "same string literal, 1 word; in these two only"),
        (Passage(PLACE, PLACE, 4, 2, True, "literal"), "same string literal, 4 words; in these two only"),
    ],
)
def test_a_passage_says_what_it_is(passage: Passage, said: str):
    assert said in said_of((passage,))[0]


def test_prose_is_told_in_words_and_letters():
    passages = tuple(Passage(PLACE, PLACE, tokens, 2, exact) for tokens, exact in ((1, True), (50, False)))
    told = said_of(passages, language="text")
    assert "50 letters; same words with small gaps; in these two only" in told[0]
    assert "1 letter; same words; in these two only" in told[1]


def test_a_passage_names_its_pages_and_cells():
    over = Passage(Region(0, 30, 90, 3, 9), Region(0, 5, 8, 1, 1), 9, 2, exact=True)
    pages = said_of((over,), language="text", format="pdf", places=((0, "page 1"), (20, "page 2"), (80, "page 3")))
    assert "page 2 to page 3, lines 3–9  ↔  page 1, line 1" in pages[0]
    cells = said_of((over,), language="text+python", format="notebook", places=((2, "cell 1"), (80, "cell 2, code")))
    assert "cell 1 to cell 2, lines 3–9  ↔  cell 1, line 1" in cells[0]
    assert "9 letters; same words" in cells[0]
    code = said_of((over,), language="text+python", format="notebook", places=((2, "cell 1, code"),))
    assert "cell 1, lines 3–9" in code[0]
    assert "9 tokens; same code" in code[0]


def test_the_same_text_is_said_only_of_the_same_text():
    texts = ("int a = 1; // mine\nint b;\n", "int a = 1;\n\n   int b; // yours\n")
    report = school(Size(entries=2, methods=1, pairs=0))
    entries = tuple(
        replace(entry, files=(replace(entry.files[0], text=text),))
        for entry, text in zip(report.entries, texts, strict=True)
    )

    def said(left: tuple[int, int], right: tuple[int, int]) -> str:
        passage = Passage(Region(0, *left, 1, 2), Region(0, *right, 1, 3), 9, 2, exact=True)
        return page_of(replace(report, entries=entries, pairs=(Pair(0, 1, 0.9, 0.9, 0.9, 9, 9, (passage,)),)))

    assert "same code; comments or separators differ" in said((0, 25), (0, 21))
    assert "same text except for layout" in said((0, 10), (0, 10))


def at(line: int, **facts: Any) -> Passage:
    place = Region(0, 10 * line, 10 * line + 9, line, line)
    return Passage(place, place, facts.pop("tokens", 9), facts.pop("shared_by", 2), facts.pop("exact", True), **facts)


def numbers_in(html: str) -> list[int]:
    return [int(number) for number in re.findall(r"<span class=p>(\d+)</span>", html)]


def paged(*passages: Passage, **pair: Any) -> str:
    report = school(Size(entries=2, methods=1, pairs=0))
    shared = Pair(0, 1, pair.pop("score", 0.9), 1.0, 1.0, 40, 40, passages)
    return page_of(replace(report, pairs=(replace(shared, **pair),), pair_count=1))


def test_the_strongest_passage_stands_first_and_the_page_opens_on_it():
    page = paged(at(1, bits=31.4, tokens=90), at(2, bits=200.0), at(3, bits=31.4, tokens=91))
    assert numbers_in(page) == [2, 3, 1]
    assert 'data-order="2 3 1"' in page
    assert "9 tokens, 200 bits; same text" in page


def test_weak_passages_and_repeats_are_folded_away_with_their_number():
    page = paged(at(1, weak=True), at(2), at(3, weak=True), at(4, sort="repeat"), at(5, sort="literal", bits=40.0))
    listed, weak = page.split("<details class=fold id=weak>")
    weak, repeats = weak.split("<details class=fold id=repeats>")
    assert numbers_in(listed) == [5, 2]
    assert "2 weak passages" in weak
    assert numbers_in(weak) == [1, 3]
    assert "1 repeat " in repeats
    assert numbers_in(repeats) == [4]
    assert 'data-order="5 2"' in page


def test_a_list_of_weak_passages_only_is_not_empty():
    page = paged(at(1, weak=True), at(2, weak=True, bits=3.0))
    assert "<details class=fold" not in page
    assert numbers_in(page) == [2, 1]


def test_passages_of_prose_stand_in_their_section():
    whole = Region(0, 0, 50, 1, 4)
    page = paged(at(1), at(2, bits=9.0), at(9, bits=5.0), sections=(Section(whole, whole, 2, 140, 0.873),))
    assert "<b>Section 1</b> lines 1&ndash;4 &harr; 1&ndash;4" in page
    assert "2 passages, 140 letters, 9 bits; 87 % of it is the same text" in page
    inside = page.split("class=section")[1].split("</ol></li>")[0]
    assert numbers_in(inside) == [2, 1]
    assert numbers_in(page) == [2, 1, 3]


def test_a_score_far_below_full_coverage_is_explained():
    page = paged(
        at(1, tokens=60, exact=False, same_text=0.5), at(2, tokens=40, shared_by=9), score=0.59, score_whole=0.59
    )
    assert (
        "The score is 0.59 although 100 % of the left and 100 % of the right are shared: 30 % of the shared tokens "
        "have other names or values, and count 70 %; 40 % are in passages that other submitters have too, and weigh "
        "less." in page
    )
    assert 'class="explained"' not in paged(at(1), score=0.95)


def test_a_score_far_above_both_shares_is_explained():
    high = {"score": 0.9, "score_whole": 0.9, "left_coverage": 0.4, "right_coverage": 0.5}
    assert (
        "The score is 0.90 although 40 % of the left and 50 % of the right are shared: the rest is more common in this "
        "class than what they share, and weighs less." in paged(at(1), **high)
    )


def test_a_score_without_code_that_cannot_run_says_so():
    page = paged(at(1), score=0.9, score_whole=0.41, score_reachable=0.9)
    assert (
        "The score leaves out code that cannot run: 0 and 0 tokens, grey and dotted below. With this code the score is "
        "0.41." in page
    )
    assert "The score leaves out" not in paged(at(1), score=0.9, score_whole=0.9, score_reachable=0.5)


@pytest.mark.parametrize(
    ("marked", "shown"),
    [
        ("ab\n  c[de]f\ngh", "ab\n  {c[de]f}\ngh"),
        ("[ab]", "[ab]"),
        ("x[a\nb]y", "{x[a\nb]y}"),
        ("  [ab]\n", "  [ab]\n"),
    ],
)
def test_passages_are_shown_as_whole_lines_and_their_bounds_stay(marked: str, shown: str):
    text = marked.replace("[", "").replace("]", "")
    start, end = marked.index("["), marked.index("]") - 1
    found = widened(text, [(start, end, 1)], set())
    drawn = list(text)
    pale = [(a, b) for a, b, number in found if number == 1 + PALE]
    whole = [(a, b) for a, b, number in found if number == 1]
    assert whole == [(min([start, *(a for a, _ in pale)]), max([end, *(b for _, b in pale)]))]
    marks = {start: "[", end: "]"}
    outer = {whole[0][0]: "{", whole[0][1]: "}"} if pale else {}
    out = ""
    for i in range(len(drawn) + 1):
        out += (marks.get(i, "") + outer.get(i, "")) if outer.get(i) == "}" else (outer.get(i, "") + marks.get(i, ""))
        out += drawn[i] if i < len(drawn) else ""
    assert out == shown


def test_passages_on_one_line_do_not_take_each_others_place():
    found = widened("aa bb cc dd\n", [(3, 5, 1), (6, 8, 2)], set())
    assert [(a, b) for a, b, number in found if number < PALE] == [(0, 6), (6, 11)]
    assert widened("aa bb cc\n", [(3, 5, 1)], {1}) == [(3, 5, 1)]
    assert widened("x" * 1000 + "\n", [(500, 505, 1)], set()) == [(500, 505, 1)]


def test_what_does_not_match_inside_a_passage_is_pale_on_its_side():
    text = "one two three four\n"
    report, place = two_files((text, "x\n"), (Region(0, 0, 18, 1, 1),) * 2), Region(0, 0, 18, 1, 1)
    pair = replace(
        report.pairs[0], passages=(Passage(place, place, 9, 2, exact=False),), gaps=(Gap(0, 0, 4, 7), Gap(1, 0, 8, 13))
    )
    page = page_of(replace(report, pairs=(pair,)))
    left, right = page.split('id="r"')
    assert (
        '<mark class=c1 data-p=1>one </mark><mark class="c1 pale" data-p=1>two</mark><mark class=c1 data-p=1> t' in left
    )
    assert '<mark class="c1 pale" data-p=1>three</mark>' in right
    assert '<mark class="c1 pale" data-p=1>two</mark>' not in right


def test_files_are_listed_with_how_much_they_share():
    text = "0123456789"
    places = [Region(1, 0, 5, 1, 1), Region(1, 3, 8, 1, 1)]
    report = two_files((text, text), (places[0], places[0]))
    passages = tuple(Passage(place, place, 9, 2, exact=True) for place in places)
    page = page_of(replace(report, pairs=(replace(report.pairs[0], passages=passages),)))
    cells = r"</td><td class=num>([\d,]+)</td><td class=num>([\d,]+)</td><td class=num>(\d+ %)"
    rows = re.findall(rf"<tr><td>(?:<a href=#l)?(\w+)(?:>part\d.java</a>| files){cells}", page.split('id="l"')[0])
    assert rows == [("f1", "117", "18", "15 %"), ("f0", "117", "0", "0 %"), ("All", "234", "18", "8 %")]
    assert "2 files, 1 with passages" in page


def quoting(submitters: int) -> Report:
    """A pair of two: first a quotation that twenty have, then a copy with fewer bits that four have."""
    report = school(Size(entries=2, methods=20, pairs=1, passages=3))
    facts = ({"bits": 714.0, "shared_by": 20}, {"bits": 678.0, "shared_by": 4}, {"bits": 31.0, "shared_by": 2})
    passages = tuple(p._replace(**fact) for p, fact in zip(report.pairs[0].passages, facts, strict=True))
    return replace(report, pairs=(replace(report.pairs[0], passages=passages),), submitters=submitters)


@pytest.mark.parametrize(("submitters", "first"), [(25, "2 1 3"), (2, "1 2 3")])
def test_what_many_have_does_not_stand_first(submitters: int, first: str):
    page = page_of(quoting(submitters))
    assert f'data-order="{first}"' in page
    assert " ".join(re.findall(r"<span class=p>(\d)</span>", page)) == first


@pytest.mark.parametrize("submitters", [0, 1, 2, 3, 25, 1000])
def test_passages_weigh_by_the_rarity_of_the_score(submitters: int):
    passage = quoting(submitters).pairs[0].passages[0]
    for holders in (1, 2, 3, 20, submitters, submitters + 9):
        wanted = 714 * weight(holders, submitters) / UNIT
        assert passage._replace(shared_by=holders).weight(submitters) == pytest.approx(wanted, abs=714 / UNIT)


def test_a_section_weighs_as_much_as_its_passages_together():
    report = quoting(25)
    pair = report.pairs[0]
    two = pair.passages[1:]
    spans = [
        (getattr(two[0], side)._replace(end=getattr(two[1], side).end, end_line=getattr(two[1], side).end_line))
        for side in ("left", "right")
    ]
    strong = (pair.passages[0]._replace(bits=700.0, shared_by=2), *two)
    pair = replace(pair, passages=strong, sections=(Section(*spans, 2, 90, 0.9),))
    alone = order(replace(report, submitters=2), pair)
    assert alone == "2 3 1", "678 + 31 bits are more than 700"
    assert "2 passages, 90 letters, 709 bits" in page_of(replace(report, pairs=(pair,)))


def test_a_pair_that_is_listed_for_a_passage_says_the_figure_of_the_list():
    report = quoting(25)
    pair = replace(report.pairs[0], strongest_bits=678.4)
    said = "listed for a shared passage. Its strongest one has 678 bits"
    assert said not in page_of(replace(report, pairs=(pair,)))
    made = PairPages(replace(report, pairs=(), shared=(pair,)), ["x", "y"], lambda entry, file: b"")
    assert said in made.page(pair, "pair 1 of 1")


def test_beside_an_archive_nothing_is_said_of_a_class():
    """How many others of the archive have a passage is told as far as they were compared, and never that none has."""
    two, many = Passage(PLACE, PLACE, 9, 2, exact=True), Passage(PLACE, PLACE, 9, 5, exact=True)
    pair = Pair(0, 1, 0.6, 0.9, 0.9, 40, 40, (two, many))
    report = replace(school(Size(entries=2, methods=1, pairs=0)), pairs=(pair,), pair_count=1)
    made = PairPages(report, ["x", "y"], lambda entry, file: b"", is_alone=True, is_asked=True)
    page = unescape(made.page(pair, "1"))
    assert "in these two only" not in page
    assert "class wrote" not in page
    assert "this class" not in page
    assert "shared by 4 submitters of the archive" in page
    assert "Bits say how unusual a passage is among the compared documents." in page
