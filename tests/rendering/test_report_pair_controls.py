"""Every control of the page of a pair in a browser, and the page that opens pairs without one of their own."""

from __future__ import annotations

import random
import re
from array import array
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_report import hostile

import lookalike as la
from lookalike.comparison.result import Gap, Pair, Passage, Report, Section
from lookalike.rendering.html.folder import Extent, write
from support import reports
from support.browser import Walk, assert_becomes, browser, tab, walk, widest
from support.reports import Size, region, school

# Fixtures of every test that looks at pages.
__all__ = ["browser", "tab", "walk"]
DEMO = Path(__file__).parents[2] / "python" / "lookalike" / "demo" / "material" / "class"


def mixed_pair() -> Report:
    """A pair with passages of all kinds: bits and lengths in different orders, weak ones, a repeat and a literal."""
    report = school(Size(entries=2, methods=20, pairs=1, passages=8))
    facts = (
        {"bits": 60.0, "tokens": 96},
        {"bits": 300.0, "tokens": 50},
        {"bits": 40.0, "tokens": 200},
        {"bits": 9.0, "weak": True},
        {"bits": 8.0, "weak": True},
        {"bits": 70.0, "sort": "repeat"},
        {"bits": 45.0, "sort": "literal", "tokens": 6},
        {"bits": 90.0, "tokens": 70},
    )
    passages = tuple(p._replace(**change) for p, change in zip(report.pairs[0].passages, facts, strict=True))
    return replace(report, pairs=(replace(report.pairs[0], passages=passages),))


def tangled() -> Report:
    """Pairs whose passages overlap in all ways, with gaps: begun together, inside each other, and across."""
    report, draw = school(Size(entries=4, methods=2, pairs=5)), random.Random(3)
    pairs = []
    for pair in report.pairs:
        texts = [report.entries[end].files[0].text for end in (pair.left, pair.right)]
        starts = [[draw.randrange(0, len(text) - 300, 40) for text in texts] for _ in range(25)]
        passages = tuple(
            Passage(
                *(region(text, a, a + draw.randrange(1, 250)) for text, a in zip(texts, at, strict=True)),
                *(9, 2, False, draw.choice(("run", "repeat", "literal"))),
            )
            for at in starts
        )
        gaps = tuple(Gap(side, 0, at[side] + 3, at[side] + 9) for at in starts for side in (0, 1))
        pairs.append(replace(pair, passages=passages, gaps=gaps))
    return replace(report, pairs=tuple(pairs))


def idle_pair() -> Report:
    """A pair whose score leaves out code that cannot run, with a repeat of part of the one run."""
    report = school(Size(entries=2, methods=4, pairs=1, passages=1))
    (run,) = report.pairs[0].passages
    places = [run.left, run.right]
    inner = region(report.entries[0].files[0].text, places[0].start + 20, places[0].start + 60)
    other = region(report.entries[1].files[0].text, 0, 40)
    pair = replace(
        report.pairs[0],
        passages=(run, Passage(inner, other, 9, 2, exact=True, sort="repeat")),
        score_whole=0.2,
        score_reachable=report.pairs[0].score,
    )
    entries = tuple(replace(entry, unreachable_tokens=30) for entry in report.entries)
    return replace(report, entries=entries, pairs=(pair,))


def cannot_run(report: Report) -> Callable[[int, int], bytes]:
    """Colour the last eight lines of each text as code that cannot run."""

    def marks(entry: int, file: int) -> bytes:
        text = report.entries[entry].files[file].text
        start = sum(map(len, text.splitlines(keepends=True)[:-8]))
        return array("I", [start, len(text) - 1, 9]).tobytes()

    return marks


def many_files() -> Report:
    """A pair of submissions with 30 files each, of which three share something."""
    report = school(Size(entries=2, methods=3, pairs=0))
    texts = [entry.files[0].text for entry in report.entries]
    entries = tuple(
        replace(entry, files=tuple(replace(entry.files[0], name=f"src/part{i:02}.java") for i in range(30)))
        for entry in report.entries
    )
    passages = tuple(
        Passage(region(texts[0], 200, 300 + 50 * i, file), region(texts[1], 200, 300 + 50 * i, file), 40 + i, 2, True)
        for i, file in enumerate((4, 11, 27))
    )
    return replace(report, entries=entries, pairs=(Pair(0, 1, 0.4, 0.1, 0.1, 99, 60, passages),), pair_count=1)


def essays() -> Report:
    """A pair of essays with sections."""
    text = "".join(f"Sentence {i} of an essay about fines in a public library.\n" for i in range(120))
    report = school(Size(entries=2, methods=1, pairs=0))
    entries = tuple(
        replace(entry, files=(replace(entry.files[0], name="essay.txt", language="text", text=text),))
        for entry in report.entries
    )
    starts = [text.index(f"Sentence {i} ") for i in (10, 12, 50, 52, 100)]
    passages = tuple(
        Passage(region(text, a, a + 80), region(text, a, a + 80), 60 + i, 2, True) for i, a in enumerate(starts)
    )
    sections = tuple(
        Section(whole, whole, 2, 130, 0.8)
        for whole in (region(text, starts[0], starts[1] + 90), region(text, starts[2], starts[3] + 90))
    )
    pair = Pair(0, 1, 0.3, 0.3, 0.3, 300, 64, passages, sections=sections)
    return replace(report, entries=entries, pairs=(pair,), pair_count=1)


def one_line() -> Report:
    """The pair of essays with each text in one line."""
    report = essays()
    entries = tuple(
        replace(entry, files=(replace(entry.files[0], text=entry.files[0].text.replace("\n", " ")),))
        for entry in report.entries
    )
    return replace(report, entries=entries)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One folder of each kind of report that is walked; `own` has a page per pair, `more` one page for most."""
    root = tmp_path_factory.mktemp("reports")
    kinds = {"mixed": mixed_pair(), "files": many_files(), "essays": essays(), "class": school()}
    for kind, report in kinds.items():
        write(report, root / kind, Extent.new(), marks=reports.coloured(report))
    write(idle_pair(), root / "idle", Extent.new(), marks=cannot_run(idle_pair()))
    write(one_line(), root / "line", Extent.new(), marks=reports.coloured(one_line()))
    own = {"hostile": hostile(), "school": school(), "demo": la.compare(DEMO), "tangled": tangled()}
    for kind, report in own.items():
        marks = report.marks if kind == "demo" else reports.coloured(report)
        write(report, root / f"{kind}-own", Extent.new(0), marks=marks)
        write(report, root / f"{kind}-more", Extent.new(1), marks=marks)
    return {path.name: path for path in root.iterdir()}


def listed(walk: Walk) -> list[int]:
    """Return the numbers of the passages in the list that are not folded away."""
    return [int(text) for text in walk.texts(".list .top .p")]


def test_passages_are_ordered_by_weight_length_or_place(walk: Walk):
    page = walk.open("mixed", "pairs/001.html")
    assert listed(walk) == [2, 8, 1, 7, 3]
    page.select_option("#order", "tokens")
    assert listed(walk) == [3, 1, 8, 2, 7]
    page.select_option("#order", "place")
    assert listed(walk) == [1, 2, 3, 7, 8]
    page.focus("#order")
    page.keyboard.press("w")
    assert listed(walk) == [2, 8, 1, 7, 3]


def test_folded_passages_are_counted_opened_and_reached_by_keys(walk: Walk):
    page = walk.open("mixed", "pairs/001.html")
    assert "2 weak passages" in page.inner_text("#weak summary")
    assert "1 repeat" in page.inner_text("#repeats summary")
    assert not page.locator("#weak li >> nth=0").is_visible()
    page.focus("#weak summary")
    page.keyboard.press("Enter")
    assert page.locator("#weak li >> nth=0").is_visible()
    assert not page.locator("#repeats li >> nth=0").is_visible()
    page.locator("#repeats summary").evaluate("(one) => one.blur()")
    seen = []
    for _ in range(8):
        seen.append(int(page.inner_text(".list a.on .p")))
        page.keyboard.press("n")
    assert seen == [2, 8, 1, 7, 3, 4, 5, 6]
    assert page.locator("#repeats li >> nth=0").is_visible()
    assert int(page.inner_text(".list a.on .p")) == 2


def test_a_passage_is_lit_by_a_click_anywhere_and_put_out(walk: Walk):
    page = walk.open("mixed", "pairs/001.html")
    page.click(".list a[href='#l8']")
    assert page.inner_text(".list a.on .p") == "8"
    assert page.locator("mark.on").count() == page.locator("mark[data-p='8']").count() > 0
    page.locator("#r mark[data-p='8'] >> nth=0").click()
    page.locator("#l ~ .map a >> nth=0").click(force=True)
    assert page.inner_text(".list a.on .p") == "1"
    page.keyboard.press("Escape")
    assert page.locator(".on").count() == 0


def test_keys_in_a_note_are_letters(walk: Walk):
    page = walk.open("mixed", "pairs/001.html")
    page.focus("#note")
    page.keyboard.type("npNP")
    assert page.input_value("#note") == "npNP"
    assert page.inner_text(".list a.on .p") == "2"
    page.fill("#note", "")


def scrolled(page: Any) -> list[float]:
    return page.evaluate("['l', 'r'].map((id) => document.getElementById(id).scrollTop)")


def test_both_sides_scroll_together_unless_that_is_switched_off(walk: Walk):
    page = walk.open("mixed", "pairs/001.html")
    before = scrolled(page)
    page.hover("#l")
    page.mouse.wheel(0, 900)
    assert_becomes(page, "(top) => document.getElementById('r').scrollTop > top + 100", before[1])
    page.locator("#sync").focus()
    page.keyboard.press("Space")
    assert not page.is_checked("#sync")
    before = scrolled(page)
    page.hover("#r")
    page.mouse.wheel(0, -600)
    assert_becomes(page, "(top) => document.getElementById('r').scrollTop < top - 100", before[1])
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert scrolled(page)[0] == before[0]


def test_where_a_passage_is_in_the_middle_it_is_level_on_the_other_side(walk: Walk):
    page = walk.open("mixed", "pairs/001.html")
    top = page.evaluate(
        """(() => { const side = document.getElementById('l'), mark = document.getElementById('l5');
        return mark.getBoundingClientRect().top - side.getBoundingClientRect().top + side.scrollTop; })()"""
    )
    page.hover("#l")
    page.mouse.wheel(0, 1)
    page.evaluate("(top) => { const l = document.getElementById('l'); l.scrollTop = top - l.clientHeight / 3; }", top)
    assert_becomes(
        page,
        """Math.abs(document.getElementById('l5').getBoundingClientRect().top
          - document.getElementById('r5').getBoundingClientRect().top) < 3""",
    )


def test_files_are_listed_opened_and_folded(walk: Walk):
    page = walk.open("files", "pairs/001.html")
    summary = page.locator("section >> nth=0").locator(".contents summary")
    assert summary.inner_text() == "30 files, 3 with passages"
    summary.focus()
    page.keyboard.press("Enter")
    rows = [row.split("\t") for row in walk.texts("section:first-of-type .contents tbody tr")]
    assert [row[0] for row in rows[:3]] == ["src/part27.java", "src/part11.java", "src/part04.java"]
    assert all(row[2:] == ["0", "0 %"] for row in rows[3:])
    assert page.locator("#l details[open] pre").count() == 3
    page.click("section:first-of-type .contents >> text=src/part00.java")
    assert page.locator("#lf0 pre").is_visible()
    page.click("#lf0 summary")
    assert not page.locator("#lf0 pre").is_visible()
    page.click("#lf27 summary")
    assert not page.locator("#l3").is_visible()
    page.click(".list a[href='#l3']")
    assert page.locator("#l3").is_visible()


def test_sections_are_the_outer_level_of_prose(walk: Walk):
    page = walk.open("essays", "pairs/001.html")
    assert page.locator(".list .section").count() == 2
    assert listed(walk) == [2, 1, 4, 3, 5]
    page.select_option("#order", "place")
    assert listed(walk) == [1, 2, 3, 4, 5]
    page.click(".list .section >> nth=1 >> text=Section 2")
    assert page.inner_text(".list a.on .p") == "4"


def test_a_committee_gets_the_passages_side_by_side_and_not_the_texts(walk: Walk):
    page = walk.open("mixed", "pairs/001.html")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert [text.split(":")[0] for text in walk.texts("#evidence h3")] == [f"Passage {i}" for i in (2, 8, 1, 7, 3)]
    assert not page.locator("main").is_visible()
    first = page.locator("#evidence .exhibit >> nth=0")
    boxes = [first.locator(".excerpt").nth(i).bounding_box() for i in (0, 1)]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] + 1
    lines = first.locator("pre >> nth=0").locator("b").all_inner_texts()
    passage = mixed_pair().pairs[0].passages[1].left
    assert [int(lines[0]), int(lines[-1])] == [passage.start_line, passage.end_line]
    printed = page.inner_text("body")
    for entry in mixed_pair().entries:
        assert entry.digest in printed
    assert "Parameters" in printed
    assert "lookalike 0.1.0" in printed
    assert "3 weaker or repeated passages" in printed
    assert page.locator("#evidence [id]").count() == 0
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf())) <= 4
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#evidence *").count() == 0


def test_code_that_cannot_run_is_printed_with_a_key(walk: Walk):
    page = walk.open("idle", "pairs/001.html")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert walk.texts("#evidence h3")[-1] == "Code that cannot run"
    for side, entry in enumerate(idle_pair().entries):
        lines = (
            page.locator("#evidence .exhibit >> nth=-1").locator(".excerpt").nth(side).locator("b").all_inner_texts()
        )
        last = entry.files[0].text.count("\n")
        assert [int(line) for line in lines] == [*range(last - 7, last + 1)]
    assert "Grey text above dots cannot run." in page.inner_text("#evidence .key")
    grey, ink = (page.evaluate(COLOUR, which) for which in ("#evidence .idle b", "#evidence .key"))
    assert grey != ink
    # Else browsers print pale text nearly black.
    for which in ("#evidence .idle", "#evidence .key .u", "#evidence pre .u"):
        assert (
            page.evaluate("(which) => getComputedStyle(document.querySelector(which)).printColorAdjust", which)
            == "exact"
        )
    assert page.locator("#evidence mark:not(.other)[data-p='2'][data-in='1']").count() > 0
    assert walk.texts("#evidence .exhibit >> nth=0 >> a.p") == ["1", "1"]


COLOUR = "(which) => getComputedStyle(document.querySelector(which)).color"


def test_a_passage_inside_a_long_line_is_printed_from_its_beginning(walk: Walk):
    page = walk.open("line", "pairs/001.html")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    printed = page.inner_text("#evidence .exhibit >> nth=0 >> pre >> nth=0")
    assert "\u2026" in printed
    assert "Sentence 0 of" not in printed


def test_a_repeat_inside_a_passage_keeps_its_colour_until_it_is_lit(walk: Walk):
    page = walk.open("idle", "pairs/001.html")
    assert page.get_attribute("#l mark[data-p='2']", "class") == "c1 on"
    assert not page.locator("#l2").is_visible()
    page.click("#repeats summary")
    assert page.locator("#l2").is_visible()
    page.click("#repeats summary")
    page.evaluate("document.querySelector('#repeats a').click()")
    assert page.locator("#l2").is_visible()
    assert page.locator("#l mark[data-p='1'].on").count() == 0


PRES = "[...document.querySelectorAll('pre')].map((one) => one.innerHTML)"


@pytest.mark.parametrize("kind", ["school", "hostile", "demo", "tangled"])
def test_a_pair_without_a_page_of_its_own_looks_as_it_would_there(walk: Walk, kind: str):
    count = len(list((walk.folders[f"{kind}-own"] / "pairs").iterdir()))
    assert count > 4
    for i in range(2, count + 1):
        page = walk.open(f"{kind}-own", f"pairs/{i:03}.html")
        own = page.evaluate(PRES), page.inner_text("header"), page.inner_text("main"), page.inner_text("footer")
        walk.open("class")
        page = walk.open(f"{kind}-more", f"pairs/more.html#{i}")
        page.wait_for_selector("body[data-opened]")
        more = page.evaluate(PRES), page.inner_text("header"), page.inner_text("main"), page.inner_text("footer")
        assert more == own, i
        assert page.evaluate("window.ran === undefined")


def test_the_table_opens_pairs_in_the_one_page_and_turns_them(walk: Walk):
    page = walk.open("school-more")
    page.click("#table tr[data-i='4'] >> text=Open")
    walk.arrive("pairs/more.html#5")
    page.wait_for_selector("body[data-opened='5']")
    assert "pair 5 of 14" in page.inner_text("header")
    page.click("text=Next pair")
    page.wait_for_selector("body[data-opened='6']")
    page.keyboard.press("P")
    page.wait_for_selector("body[data-opened='5']")
    page.keyboard.press("n")
    assert page.locator(".list a.on").count() == 1
    for number in (4, 3, 2):
        page.keyboard.press("P")
        page.wait_for_selector(f"body[data-opened='{number}']")
    page.keyboard.press("P")
    walk.arrive("pairs/001.html")


@pytest.mark.parametrize("address", ["pairs/more.html", "pairs/more.html#99999", "pairs/more.html#1"])
def test_an_address_without_a_pair_says_so(walk: Walk, address: str):
    walk.open("class")
    page = walk.open("school-more", address)
    assert_becomes(page, "document.getElementById('wait').textContent.length > 9")
    assert "choose one on the overview" in page.inner_text("#wait").lower()


@pytest.mark.parametrize("kind", ["mixed", "files", "essays"])
def test_no_page_of_a_pair_is_wider_than_its_window(walk: Walk, kind: str):
    page = walk.open(kind, "pairs/001.html")
    for width in (360, 850, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert widest(page) == 0, f"{width} pixels"
        boxes = page.evaluate(
            "[...document.querySelectorAll('.list a, .who h2')].map((one) => one.scrollWidth - one.clientWidth)"
        )
        assert max(boxes) <= 1


def test_nothing_of_a_text_is_missing_for_find_in_page(walk: Walk):
    report = many_files()
    page = walk.open("files", "pairs/001.html")
    text = page.evaluate("document.getElementById('l').textContent")
    assert all(line in text for line in report.entries[0].files[7].text.split("\n"))
