"""The report in a browser: every view walked, and nothing of a submission runs, loads or breaks the page."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_report import hostile
from test_report_anonymous import PEOPLE, signed
from test_report_lists import only_shared

from lookalike.comparison.result import Report
from lookalike.rendering.html.folder import Extent, write
from support import reports
from support.browser import Walk, browser, slide, tab, walk, widest
from support.reports import Size, school

# Fixtures of every test that looks at pages.
__all__ = ["browser", "tab", "walk"]
LONG = ("an_unusually_long_name_of_a_submission_" * 4)[:120]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One folder of each kind of report that is walked."""
    root = tmp_path_factory.mktemp("reports")
    kinds: dict[str, Report] = {
        "class": school(),
        "rows": reports.many_pairs(10_000),
        "many": school(Size(entries=4, methods=2, pairs=1, passages=200)),
        "long": school(Size(entries=2, methods=360, pairs=1, passages=2)),
        "empty": reports.nothing_found(),
        "hostile": hostile(),
        "strong": strong(),
        "shared": only_shared(),
    }
    named = school(Size(entries=6, methods=3, pairs=4))
    kinds["names"] = replace(named, entries=tuple(replace(e, name=f"{i}{LONG}") for i, e in enumerate(named.entries)))
    for kind, report in kinds.items():
        write(report, root / kind, Extent.new(40), marks=reports.coloured(report))
    write(school(), root / "small", Extent.new(40, max_size=1), marks=reports.coloured(school()))
    write(signed(), root / "anonymous", marks=reports.coloured(signed()), anonymise=True)
    return {path.name: path for path in root.iterdir()}


def strong() -> Report:
    """A report whose first pair has three passages, the last of which is the strongest."""
    report = school(Size(entries=2, methods=12, pairs=1, passages=3))
    bits = (60.0, 40.0, 300.0)
    passages = tuple(p._replace(bits=b) for p, b in zip(report.pairs[0].passages, bits, strict=True))
    return replace(report, pairs=(replace(report.pairs[0], passages=passages),))


def is_in_sight(page: Any, selector: str, scroller: str) -> bool:
    """Tell whether an element is in the part of a pane that is seen."""
    script = "([...both]) => both.map((one) => document.querySelector(one).getBoundingClientRect().toJSON())"
    one, side = page.evaluate(script, [selector, scroller])
    return bool(side["top"] - 1 <= one["top"] and one["bottom"] <= side["bottom"] + 1)


def test_rows_are_sorted_by_any_column(walk: Walk):
    page = walk.open("class")
    scores = [float(text) for text in walk.texts("#table tr[data-i] td:nth-child(4)")]
    assert scores == sorted(scores, reverse=True)
    page.click("th[data-key=left] button")
    assert walk.names() == sorted(walk.names())
    page.click("th[data-key=left] button")
    assert walk.names() == sorted(walk.names(), reverse=True)
    assert page.get_attribute("th[data-key=left]", "aria-sort") == "descending"
    assert page.get_attribute("th[data-key=rank]", "aria-sort") is None
    page.click("th[data-key=tokens] button")
    tokens = [int(text) for text in walk.texts("#table tr[data-i] td:nth-child(9)")]
    assert tokens == sorted(tokens, reverse=True)


def test_rows_are_filtered_by_name_label_and_score(walk: Walk):
    page = walk.open("class")
    page.fill("#find", "berger")
    rows = walk.texts("#table tr[data-i]")
    assert rows
    assert all("Berger" in row for row in rows)
    assert page.inner_text("#count") == f"{len(rows)} of 14 pairs"
    page.fill("#find", "evening class")
    assert 0 < len(walk.names()) < 14
    page.fill("#find", "")
    slide(page, 0.45)
    scores = [float(text) for text in walk.texts("#table tr[data-i] td:nth-child(4)")]
    assert scores
    assert min(scores) >= 0.45
    page.fill("#find", "nobody of that name")
    assert walk.names() == []
    assert page.inner_text("#count") == "0 of 14 pairs"


def test_a_pair_is_opened_and_left_again(walk: Walk):
    page = walk.open("class")
    left = walk.names()[0]
    page.click("#table tr[data-i='0'] >> text=Open")
    walk.arrive("pairs/001.html")
    assert left in page.inner_text("h1")
    page.click("text=Next pair")
    walk.arrive("pairs/002.html")
    page.keyboard.press("P")
    walk.arrive("pairs/001.html")
    page.click("nav >> text=Overview")
    walk.arrive("report.html")


def test_the_overview_works_by_keyboard_alone(walk: Walk):
    page = walk.open("class")
    page.keyboard.press("/")
    page.keyboard.type("abbott")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.i") == "1"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("End")
    page.keyboard.press("Home")
    assert page.evaluate("document.activeElement.dataset.i") == "0"
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#one h2")
    page.go_back()
    page.wait_for_selector("#graph")
    page.locator("#table tr[data-i='0']").focus()
    page.keyboard.press("Enter")
    walk.arrive("pairs/*.html")


def test_a_passage_is_shown_on_the_other_side(walk: Walk):
    page = walk.open("strong", "pairs/001.html")
    assert not is_in_sight(page, "#r1", "#r")
    page.locator("#l1").scroll_into_view_if_needed()
    page.locator("mark[data-p='1'] >> nth=0").click()
    assert is_in_sight(page, "#r1", "#r")
    tops = page.evaluate("['l1', 'r1'].map((id) => document.getElementById(id).getBoundingClientRect().top)")
    assert abs(tops[0] - tops[1]) < 30
    assert page.locator(".list a.on .p").inner_text() == "1"


def test_enter_on_a_number_shows_the_other_side(walk: Walk):
    page = walk.open("class", "pairs/001.html")
    page.focus("#r3")
    page.keyboard.press("Enter")
    assert is_in_sight(page, "#l3", "#l")


def test_a_page_opens_on_the_strongest_passage(walk: Walk):
    page = walk.open("strong", "pairs/001.html")
    assert is_in_sight(page, "#l3", "#l")
    assert is_in_sight(page, "#r3", "#r")
    assert page.evaluate("document.activeElement === document.body && scrollY === 0")
    assert page.locator(".list a.on .p").inner_text() == "3"
    walk.open("empty")
    page = walk.open("strong", "pairs/001.html#r2")
    assert is_in_sight(page, "#l2", "#l")
    assert is_in_sight(page, "#r2", "#r")


def test_numbers_of_the_plot_are_as_large_on_a_small_screen(walk: Walk):
    page = walk.open("class")
    labels = "[...document.querySelectorAll('.plot text:not(.long)')]"
    heights = []
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        heights.append(page.evaluate(f"Math.max(...{labels}.map((one) => one.getBoundingClientRect().height))"))
    assert heights[0] == heights[1]


def test_n_and_p_go_from_passage_to_passage_in_the_order_of_the_list(walk: Walk):
    page = walk.open("strong", "pairs/001.html")
    seen = []
    for key in "nnnpp":
        page.keyboard.press(key)
        seen.append(page.locator(".list a.on .p").inner_text())
        assert is_in_sight(page, f"#l{seen[-1]}", "#l")
        assert is_in_sight(page, f"#r{seen[-1]}", "#r")
    assert seen == ["1", "2", "3", "2", "1"]
    page.keyboard.press("Escape")
    assert page.locator(".on").count() == 0


def test_the_map_leads_to_its_passage(walk: Walk):
    page = walk.open("many", "pairs/001.html")
    page.locator("#r ~ .map a >> nth=150").click()
    assert is_in_sight(page, "#r151", "#r")
    assert is_in_sight(page, "#l151", "#l")


def test_two_hundred_passages_can_be_walked(walk: Walk):
    page = walk.open("many", "pairs/001.html")
    assert page.locator(".list a").count() == 200
    page.keyboard.press("p")
    last = page.locator(".list .top > li >> nth=199").locator(".p").inner_text()
    assert page.locator(".list a.on .p").inner_text() == last
    assert is_in_sight(page, f"#l{last}", "#l")
    assert is_in_sight(page, ".list a.on", ".list")


def test_five_thousand_lines_can_be_walked(walk: Walk):
    page = walk.open("long", "pairs/001.html")
    assert page.locator("#l pre b").count() > 5_000
    page.keyboard.press("n")
    lit = page.locator(".list a.on .p").inner_text()
    assert is_in_sight(page, f"#l{lit}", "#l")
    assert is_in_sight(page, f"#r{lit}", "#r")


def test_one_submission_is_looked_at(walk: Walk):
    page = walk.open("class")
    page.click("#table tr[data-i='0'] td:nth-child(2) a")
    name = page.inner_text("#one h2 >> nth=0")
    assert all(name in row for row in walk.texts("#table tr[data-i]"))
    assert "Main.java" in page.inner_text("#one")
    assert "SHA-256" in page.inner_text("#one")
    assert not page.locator("#graph").is_visible()
    page.go_back()
    page.wait_for_selector("#graph")
    assert len(walk.names()) == 14
    assert page.locator("#graph").is_visible()


def test_a_node_of_the_graph_leads_to_its_submission(walk: Walk):
    page = walk.open("class")
    node = page.locator(".graph .node >> nth=0")
    name = node.locator("title").text_content()
    node.locator("circle").click()
    assert page.inner_text("#one h2 >> nth=0") == name


def test_ten_thousand_rows_are_turned_a_hundred_at_a_time(walk: Walk):
    page = walk.open("rows")
    assert page.locator("#table tr[data-i]").count() == 100
    assert page.inner_text("#from") == "rows 1 to 100 of 10,000"
    assert page.locator("#before").is_disabled()
    page.click("#after")
    assert page.inner_text("#table tr[data-i='100'] td") == "101"
    page.focus("#table tr[data-i='100']")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.dataset.i") == "9999"
    assert is_in_sight(page, "#table tr[data-i='9999']", "#frame")
    assert page.locator("#table tr[data-i]").count() == 100
    assert page.locator("#after").is_disabled()
    page.keyboard.press("Home")
    assert page.evaluate("document.activeElement.dataset.i") == "0"
    page.click("th[data-key=right] button")
    page.fill("#find", "lindqvist")
    assert "of 10,000 pairs" in page.inner_text("#count")


def test_no_name_is_on_an_anonymous_page(walk: Walk):
    page = walk.open("anonymous")
    assert all(name.startswith("S-") for name in walk.names())
    page.click("#table tr[data-i='0'] >> text=Open")
    walk.arrive("pairs/001.html")
    assert not [name for name in PEOPLE if name.lower() in page.inner_text("body").lower()]
    assert "••••" in page.inner_text("#l")


@pytest.mark.parametrize("name", ["report.html", "report.html#s=2", "pairs/001.html", "pairs/004.html"])
def test_nothing_of_a_submission_runs(walk: Walk, name: str):
    page = walk.open("hostile", name)
    for summary in page.locator("summary").all():
        if summary.is_visible():
            summary.click()
    assert page.evaluate("window.ran === undefined && window.top.ran === undefined")
    assert page.locator("img, iframe, object, embed").count() == 0
    assert "49" not in page.title()


@pytest.mark.parametrize("kind", ["class", "empty", "names", "hostile"])
def test_no_page_is_wider_than_its_window(walk: Walk, kind: str):
    for name in ["report.html", "report.html#s=1", *([] if kind == "empty" else ["pairs/001.html"])]:
        walk.open(kind, name)
        for width in (390, 850, 1280):
            walk.page.set_viewport_size({"width": width, "height": 800})
            assert widest(walk.page) == 0, f"{name} at {width} pixels"


def test_a_narrow_window_stacks_the_sides(walk: Walk):
    walk.page.set_viewport_size({"width": 390, "height": 800})
    page = walk.open("class", "pairs/001.html")
    boxes = [page.locator(f"#{side}").bounding_box() for side in "lr"]
    assert boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"]
    assert page.locator("#l1").count() == 1


def test_the_first_list_that_has_pairs_is_open(walk: Walk):
    page = walk.open("shared")
    assert page.get_attribute("#tab-shared", "aria-selected") == "true"
    assert page.locator("#table tr[data-i]").count() == 2
    assert walk.open("class").get_attribute("#tab-pairs", "aria-selected") == "true"


def test_a_row_without_a_page_says_why(walk: Walk):
    page = walk.open("small")
    rows = walk.texts("#table td.open")
    assert rows[0] == "Open"
    assert set(rows[1:]) == {"left out"}
    assert "--max-size 0" in page.locator("#table td.open span").first.get_attribute("title")


def test_nothing_found_is_said(walk: Walk):
    page = walk.open("empty")
    assert page.locator("text=No pair reaches the cut-off of 0.30").is_visible()
    assert page.locator("#graph").count() == 0
    page.click("#tab-submissions")
    assert page.locator("#table tbody tr").count() == 12
    assert walk.texts("#table td:nth-child(3)") == ["no pairs"] * 12


@pytest.mark.parametrize("name", ["report.html", "pairs/001.html"])
def test_dark_windows_get_a_dark_page(walk: Walk, name: str):
    page = walk.open("class", name)
    grounds = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds == ["rgb(250, 250, 248)", "rgb(21, 24, 27)"]


@pytest.mark.parametrize("name", ["report.html", "pairs/001.html"])
def test_a_page_can_be_printed(walk: Walk, name: str):
    page = walk.open("class", name)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")


def test_of_ten_thousand_rows_five_hundred_are_printed(walk: Walk):
    page = walk.open("rows")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#table tr[data-i]").count() == 500
    page.emulate_media(media="print")
    assert page.locator("text=at most 500").is_visible()
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf())) < 40
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#table tr[data-i]").count() == 100


def test_everything_can_be_read_without_scripts(browser: Any, folders: dict[str, Path]):
    walk = Walk(browser.new_context(java_script_enabled=False), folders)
    page = walk.open("class")
    assert page.locator("#table tbody tr").count() == 14
    page.click("#table tbody tr >> nth=0 >> text=Open")
    walk.arrive("pairs/001.html")
    assert page.locator("mark").count() >= 6
    assert page.locator(".list li").count() == 3
    page.click("#l2")
    walk.arrive("pairs/001.html#r2")
    assert not walk.faults
