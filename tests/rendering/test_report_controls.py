"""Every control of the overview in a browser, by mouse and by keyboard, on reports of all kinds and sizes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_report import hostile

from lookalike.comparison.result import Cluster, Outlier, Pair, Report
from lookalike.rendering.html.folder import Extent, write
from support import reports
from support.browser import Walk, assert_becomes, browser, slide, tab, walk, widest
from support.reports import Size, school

# Fixtures of every test that looks at pages.
__all__ = ["browser", "tab", "walk"]


def all_lists() -> Report:
    """A class with pairs in every list, an outlier, and a submission without a time."""
    report = school(Size(entries=30, methods=3, pairs=20))
    pairs = report.pairs
    entries = (*report.entries[:29], replace(report.entries[29], time=None, unreachable_tokens=120))
    return replace(
        report,
        entries=entries,
        pairs=pairs[:14],
        pair_count=14,
        contained=tuple(replace(pair, contained=0.9) for pair in (pairs[2], *pairs[14:17])),
        contained_count=4,
        shared=tuple(Pair(i, 29 - i, 0.1, 0.1, 0.1, 90, 40, (), strongest_bits=250.0 - i) for i in (12, 13)),
        shared_count=2,
        little=pairs[17:],
        little_count=3,
        outliers=(Outlier(pairs[0].left, pairs[0].score, 6.25),),
    )


def crowd(members: int, entries: int = 60) -> Report:
    """A class in which the first so many submissions all share something."""
    report = school(Size(entries=entries, methods=1, pairs=0))
    ends = [(i, j) for i in range(members) for j in range(i + 1, members)]
    pairs = [Pair(i, j, 0.99 - 0.001 * (i + j), 0.9, 0.8, 90, 40, ()) for i, j in ends]
    pairs += [Pair(i, i + 1, 0.6, 0.5, 0.5, 90, 40, ()) for i in range(members, entries - 1, 2)]
    best = tuple(sorted(pairs, key=lambda pair: (-pair.score, pair.left, pair.right)))
    return replace(report, pairs=best, pair_count=len(best), clusters=stars(best, 0.5))


def group() -> Report:
    """Forty identical submissions, of which one row tells all pairs, and other pairs."""
    report = crowd(2)
    pairs = (replace(report.pairs[0], score=1.0, stands_for=780), *(p for p in report.pairs[1:] if p.left >= 40))
    members = Cluster(0, tuple(range(40)), (1.0,) * 40)
    count = sum(pair.stands_for for pair in pairs)
    return replace(report, pairs=pairs, pair_count=count, groups=(tuple(range(40)),), clusters=(members,))


def stars(pairs: tuple[Pair, ...], threshold: float) -> tuple[Cluster, ...]:
    """Clusters from their definition: the strongest submission takes its free neighbours, then the next one."""
    near: dict[int, dict[int, float]] = {}
    for pair in pairs:
        if pair.score >= threshold:
            near.setdefault(pair.left, {})[pair.right] = near.setdefault(pair.right, {})[pair.left] = pair.score
    free, found = set(near), []
    for leader in sorted(near, key=lambda i: (-sum(int(score * 1e9) for score in near[i].values()), i)):
        members = sorted((other for other in near[leader] if other in free), key=lambda i: (-near[leader][i], i))
        if leader in free and members:
            free -= {leader, *members}
            found.append(Cluster(leader, (leader, *members), (1.0, *(near[leader][i] for i in members))))
    return tuple(found)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One folder of each kind of report that is walked."""
    root = tmp_path_factory.mktemp("reports")
    kinds = {"lists": all_lists(), "forty": crowd(40), "hundred": crowd(100, 120), "hostile": hostile()}
    kinds["group"] = group()
    kinds["three thousand"] = school(Size(entries=3000, methods=1, pairs=3000, passages=1))
    for kind, report in kinds.items():
        write(report, root / kind.replace(" ", "-"), Extent.new(5), marks=reports.coloured(report))
    return {path.name.replace("-", " "): path for path in root.iterdir()}


@pytest.fixture
def fresh(walk: Walk) -> Iterator[Walk]:
    """A walk in a browser that has kept no marks."""
    walk.open("lists")
    walk.page.evaluate("localStorage.clear()")
    yield walk
    walk.page.evaluate("localStorage.clear()")


def test_one_slider_drives_plots_table_clusters_and_timeline(walk: Walk):
    page, report = walk.open("lists"), all_lists()
    threshold = sorted(pair.score for pair in report.pairs)[6] - 0.0001
    threshold = round(threshold - 0.005, 2)
    slide(page, threshold)
    wanted = [pair for pair in report.pairs if pair.score >= threshold]
    assert 0 < len(wanted) < 14
    assert page.locator("#table tr[data-i]").count() == len(wanted)
    assert page.inner_text("#at") == f"{threshold:.2f}"
    assert f"score {threshold:.2f} or higher" in page.inner_text("#clustered")
    assert page.locator("#timeline .edge").count() == len(wanted)
    assert page.get_attribute(".slid >> nth=0", "x1") == f"{threshold * 100:.10g}%"
    assert page.inner_text("#count") == f"{len(wanted)} of 14 pairs"
    assert page.inner_text("#lower") == f"Show {14 - len(wanted)} pairs with lower scores"
    page.click("#lower")
    page.wait_for_selector("#lower", state="hidden")
    assert page.locator("#table tr[data-i]").count() == 14


def test_the_slider_works_by_keyboard_and_by_its_presets(walk: Walk):
    page = walk.open("lists")
    page.focus("#least")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#at") == "0.31"
    page.keyboard.press("End")
    assert page.inner_text("#at") == "1.00"
    page.click("text=0.50 or higher >> nth=0")
    assert page.inner_text("#at") == "0.50"
    page.click("text=All pairs >> nth=0")
    assert page.inner_text("#at") == "0.30"


def test_contained_pairs_show_one_percentage_in_every_list(walk: Walk):
    page = walk.open("lists")
    page.evaluate("document.getElementById('tab-contained').click()")
    assert walk.texts("#table th")[3] == "Contained"
    rows = [row.split("\t") for row in walk.texts("#table tr[data-i]")]
    assert [row[3] for row in rows] == ["90 %"] * 4


@pytest.mark.parametrize("threshold", [0.35, 0.42, 0.5, 0.61])
def test_clusters_at_any_score_follow_the_definition(walk: Walk, threshold: float):
    page, report = walk.open("lists"), all_lists()
    # Below the marked score the page makes them itself, at it they are those of the report.
    found = report.clusters if threshold == report.cluster_threshold else stars(report.pairs, threshold)
    slide(page, threshold)
    wanted = sorted((len(one.members), report.entries[one.representative].name) for one in found)
    told = [caption.split(" around ") for caption in walk.texts("#clusters figcaption")]
    assert sorted((int(size.split()[0]), name.split(".")[0]) for size, name in told) == wanted


def test_an_edge_of_the_graph_opens_its_pair_by_mouse_and_by_keyboard(walk: Walk):
    page = walk.open("lists")
    edge = page.locator("#clusters a.edge >> nth=0")
    names = edge.get_attribute("aria-label").removeprefix("Open ").split(":")[0].split(" and ")
    address = edge.get_attribute("href")
    edge.locator("path.hit").click()
    walk.arrive(address)
    assert all(name in page.inner_text("h1") for name in names)
    walk.open("lists")
    page.locator("#clusters a.edge >> nth=0").focus()
    page.keyboard.press("Enter")
    walk.arrive(address)


def test_a_cluster_of_forty_is_a_table_whose_cells_open_pairs(walk: Walk):
    page = walk.open("forty")
    assert page.locator("#clusters .matrix tbody tr").count() == 40
    assert page.locator("#clusters .matrix td a").count() == 40 * 39
    heights = page.evaluate("[...document.querySelectorAll('.matrix tbody th')].map((one) => one.offsetHeight)")
    assert min(heights) >= 15
    cell = page.locator(".matrix tbody tr >> nth=1").locator("td >> nth=0").locator("a")
    address = cell.get_attribute("href")
    cell.click()
    walk.arrive(address)
    assert "Ada_Abbott" in page.inner_text("h1")


def test_cells_of_a_cluster_are_walked_with_arrow_keys(walk: Walk):
    page = walk.open("forty")
    assert page.locator(".matrix td a[tabindex='0']").count() == 1
    page.locator(".matrix td a[tabindex='0']").focus()
    told = []
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowUp", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
        told.append(page.evaluate("document.activeElement.title").split(":")[0])
    # The first row is Ada, then Boris, Chiara, Dmitri; a cell on the diagonal is no pair and is passed over.
    first = [f"{name}_Abbott" for name in ("Ada", "Boris", "Chiara", "Dmitri")]
    pairs = [(0, 2), (1, 2), (3, 2), (3, 1), (2, 1), (0, 1), (0, 1)]
    assert told == [f"{first[a]} and {first[b]}" for a, b in pairs]
    assert page.locator(".matrix td a[tabindex='0']").count() == 1
    address = page.evaluate("document.activeElement.getAttribute('href')")
    page.keyboard.press("Enter")
    walk.arrive(address)


def test_a_cluster_of_a_hundred_is_a_list_with_scores(walk: Walk):
    page = walk.open("hundred")
    assert page.locator("#clusters .roll li").count() == 100
    assert "compared with all others" in page.inner_text("#clusters .roll li >> nth=0")
    page.click("#clusters figure.large >> text=Show its pairs")
    assert page.inner_text("#count") == f"{100 * 99 // 2:,} of 4,960 pairs"
    assert "within a cluster of 100 submissions" in page.inner_text("#chosen")
    page.click("#chosen button")
    assert page.inner_text("#count") == "4,960 pairs"


def test_members_of_a_group_of_identical_submissions_are_told_like_all_others(walk: Walk):
    page = walk.open("group")
    assert page.inner_text("#count") == "790 pairs"
    assert page.locator("#clusters .matrix tbody tr").count() == 40
    page.click("#tab-submissions")
    page.fill("#find", "Mei_Abbott")
    assert walk.texts("#table tr[data-i]")[0].split("\t")[:5] == ["Mei_Abbott", "1.00", "Ada_Abbott", "Open", "39"]
    page.click("#table td.name a >> nth=0")
    page.fill("#find", "")
    assert walk.texts("#table tr[data-i] td:nth-child(3)") == [
        "Boris_Abbott (stands for 780 pairs, also of Mei_Abbott)"
    ]


def test_the_lists_stand_side_by_side_with_a_sentence_each(walk: Walk):
    page = walk.open("lists")
    said = []
    for name, rows in (("contained", 4), ("shared", 2), ("little", 3), ("submissions", 30), ("pairs", 14)):
        page.click(f"#tab-{name}")
        assert page.locator("#table tr[data-i]").count() == rows
        assert page.get_attribute(f"#tab-{name}", "aria-selected") == "true"
        said.append(page.inner_text("[data-about]:not([hidden])"))
    assert len(set(said)) == 5
    page.focus("#tab-pairs")
    for wanted in ("contained", "shared", "little", "submissions", "pairs"):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.dataset.list") == wanted
    page.keyboard.press("ArrowLeft")
    assert page.locator("#table tr[data-i]").count() == 30


def test_all_submissions_are_listed_with_their_best_match(walk: Walk):
    page, report = walk.open("lists"), all_lists()
    page.click("#tab-submissions")
    rows = {row[0]: row for row in (line.split("\t") for line in walk.texts("#table tr[data-i]"))}
    best: dict[int, Pair] = {}
    for pair in report.pairs:
        for end in (pair.left, pair.right):
            best.setdefault(end, pair)
    assert len(rows) == 30
    for i, entry in enumerate(report.entries):
        row = rows[entry.name]
        pair = best.get(i)
        assert row[2] == (report.entries[pair.left + pair.right - i].name if pair else "no pairs")
        assert entry.label in row
        assert f"{entry.own_tokens:,}" in row
        assert (entry.time or "").replace("T", " ") in row
    assert "stands out" in rows[report.entries[report.outliers[0].entry].name][-1]
    assert "120 tokens cannot run" in rows[report.entries[29].name][-1]
    page.click("th[data-key=own] button")
    own = [int(text.replace(",", "")) for text in walk.texts("#table td:nth-child(8)")]
    assert own == sorted(own, reverse=True)


def test_who_was_first_is_told_in_the_table_and_on_the_timeline(walk: Walk):
    page, report = walk.open("lists"), all_lists()
    pair = next(pair for pair in report.pairs if 29 not in (pair.left, pair.right))
    times = [report.entries[end].time or "" for end in (pair.left, pair.right)]
    row = walk.texts("#table tr[data-i]")[report.pairs.index(pair)]
    assert f"{'left' if times[0] < times[1] else 'right'}, by " in row
    assert page.locator("#timeline .node").count() > 5
    assert "1 submission without a time" in page.inner_text("#timed")
    page.locator("#timeline a.edge >> nth=0").focus()
    assert "was first, by" in page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Enter")
    walk.arrive("pairs/*")


def test_marks_and_notes_are_kept_filtered_and_seen_on_the_page_of_the_pair(fresh: Walk):
    page = fresh.open("lists")
    names = [text.split("\t")[1:3] for text in fresh.texts("#table tr[data-i]")]
    page.select_option("#table tr[data-i='1'] select", "confirmed")
    page.click("#table tr[data-i='1'] .note")
    page.fill("#table tr[data-i='1'] textarea", "same typos")
    page.select_option("#table tr[data-i='3'] select", "dismissed")
    assert page.inner_text("#marked").startswith("1 confirmed, 1 dismissed")
    page.reload()
    # Another process of the browser may show the page, and hears of the marks a moment later.
    assert_becomes(page, "document.querySelector(\"#table tr[data-i='1'] select\").value === 'confirmed'")
    assert page.inner_text("#table tr[data-i='1'] .noted") == "same typos"
    page.select_option("#state", "dismissed")
    assert [text.split("\t")[1:3] for text in fresh.texts("#table tr[data-i]")] == [names[3]]
    page.select_option("#state", "any")
    page.click("#table tr[data-i='1'] >> text=Open")
    fresh.arrive("pairs/002.html")
    assert page.input_value("#mark select") == "confirmed"
    assert page.input_value("#note") == "same typos"
    page.fill("#note", "discussed on Monday")
    page.select_option("#mark select", "reviewed")
    page.click("nav >> text=Overview")
    fresh.arrive("report.html")
    assert_becomes(page, "document.querySelector(\"#table tr[data-i='1'] select\").value === 'reviewed'")
    assert page.inner_text("#table tr[data-i='1'] .noted") == "discussed on Monday"


def test_marks_of_another_tab_are_shown(fresh: Walk):
    page = fresh.open("lists")
    other = fresh.context.new_page()
    other.goto(page.url)
    other.select_option("#table tr[data-i='2'] select", "confirmed")
    assert_becomes(page, "document.querySelector(\"#table tr[data-i='2'] select\").value === 'confirmed'")
    other.close()


def downloaded(page: Any, button: str) -> str:
    with page.expect_download() as found:
        page.click(button)
    return Path(found.value.path()).read_text("utf-8")


def test_marks_are_exported_and_imported(fresh: Walk, tmp_path: Path):
    page = fresh.open("lists")
    names = [text.split("\t")[1:3] for text in fresh.texts("#table tr[data-i]")][:2]
    page.select_option("#table tr[data-i='0'] select", "reviewed")
    page.click("#table tr[data-i='1'] .note")
    note = '=HYPERLINK("x"), "quoted"\nsecond line'
    page.fill("#table tr[data-i='1'] textarea", note)
    table, tree = downloaded(page, "#save-csv"), downloaded(page, "#save-json")
    rows = list(csv.DictReader(io.StringIO(table, newline="")))
    assert [(row["left"], row["right"], row["mark"]) for row in rows] == [(*names[0], "reviewed"), (*names[1], "")]
    assert rows[1]["note"] == "'" + note
    assert [mark["note"] for mark in json.loads(tree)["marks"]] == ["", note]
    for name, text in (("marks.csv", table), ("marks.json", tree)):
        page.evaluate("localStorage.clear()")
        page.reload()
        assert page.inner_text("#marked").startswith("No pair is marked yet")
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        page.set_input_files("#import", tmp_path / name)
        assert_becomes(page, "document.getElementById('imported').textContent")
        assert page.inner_text("#imported") == "2 marks imported."
        assert page.input_value("#table tr[data-i='0'] select") == "reviewed"
        assert page.text_content("#table tr[data-i='1'] .noted") == note


@pytest.mark.parametrize("text", ["", "left,right\r\na,b\r\n", "[1, 2]", '{"marks": 3}', "\x00<script>"])
def test_a_file_without_marks_is_refused(fresh: Walk, tmp_path: Path, text: str):
    page = fresh.open("lists")
    (tmp_path / "other.csv").write_text(text)
    page.set_input_files("#import", tmp_path / "other.csv")
    assert_becomes(page, "document.getElementById('imported').textContent")
    assert page.inner_text("#imported").startswith("This file has no marks")


def test_marks_of_other_reports_are_counted_and_left_out(fresh: Walk, tmp_path: Path):
    page = fresh.open("lists")
    text = 'left,right,mark,note\r\nnobody,noone,reviewed,x\r\n"a\r\nb",c,shouted,\r\n'
    (tmp_path / "marks.csv").write_text(text, newline="")
    page.set_input_files("#import", tmp_path / "marks.csv")
    assert_becomes(page, "document.getElementById('imported').textContent")
    assert page.inner_text("#imported").startswith("0 marks imported. 2 rows left out")


def test_a_row_and_its_controls_are_reached_by_keyboard(fresh: Walk):
    page = fresh.open("lists")
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.i") == "1"
    reached = []
    for _ in range(5):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.localName"))
    assert reached == ["a", "a", "a", "select", "button"]
    page.keyboard.press("Enter")
    page.keyboard.type("seen")
    assert page.inner_text("#table tr[data-i='1'] .noted") == "seen"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("c")
    assert page.input_value("#table tr[data-i='1'] select") == "confirmed"


FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex='0']"
REACHABLE = f"""
[...document.querySelectorAll("{FOCUSABLE}")].filter((one) => one.checkVisibility() && !one.disabled
  && one.tabIndex >= 0 && !one.closest("[inert]"))
"""
NAMED = """(one) => (one.getAttribute("aria-label") || one.textContent || one.labels?.[0]?.textContent
  || document.getElementById(one.getAttribute("aria-labelledby") || "")?.textContent || "").trim()"""
SEEN = """(() => {
  const one = document.activeElement, style = getComputedStyle(one);
  const isNode = one.matches(".node, .edge, .map a");
  return isNode || style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
})()"""


@pytest.mark.parametrize("name", ["report.html", "pairs/001.html", "pairs/more.html#7"])
def test_every_control_has_a_name_is_reached_by_tab_and_shows_its_focus(walk: Walk, name: str):
    walk.open("hostile")
    page = walk.open("lists", name)
    if "more" in name:
        page.wait_for_selector("body[data-opened]")
    page.evaluate(f"{REACHABLE}.forEach((one, i) => one.dataset.walked = i)")
    count = page.evaluate(f"{REACHABLE}.length")
    assert count > 20
    assert page.evaluate(f"{REACHABLE}.filter((one) => !({NAMED})(one)).map((one) => one.outerHTML.slice(0, 99))") == []
    page.evaluate("document.activeElement.blur()")
    reached, unseen = set(), []
    for _ in range(count + 5):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.dataset.walked"))
        if page.evaluate("document.activeElement !== document.body") and not page.evaluate(SEEN):
            unseen.append(page.evaluate("document.activeElement.outerHTML.slice(0, 99)"))
    missed = page.evaluate(
        "(reached) => [...document.querySelectorAll('[data-walked]')].filter((one) => !reached.includes("
        "one.dataset.walked)).map((one) => one.outerHTML.slice(0, 99))",
        [one for one in reached if one],
    )
    assert (missed, unseen) == ([], [])


@pytest.mark.parametrize("kind", ["lists", "forty", "hundred", "three thousand", "hostile"])
def test_a_narrow_window_cuts_nothing(walk: Walk, kind: str):
    page = walk.open(kind)
    for width in (360, 390, 700, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert widest(page) == 0, f"{width} pixels"
        for tab_ in ("submissions", "pairs"):
            page.click(f"#tab-{tab_}")
            cut = page.evaluate(
                """[...document.querySelectorAll("#table th, #table td")].filter((cell) => !cell.checkVisibility()
                  || cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.outerHTML.slice(0, 120))"""
            )
            assert cut == [], f"{width} pixels"
        page.evaluate("document.getElementById('frame').scrollLeft = 1e6")
        rank = page.evaluate(
            """['#frame', '#table td.rank'].map((one) => document.querySelector(one).getBoundingClientRect().left)"""
        )
        assert rank[1] >= rank[0], "the rank scrolls out of sight"
        page.evaluate("document.getElementById('frame').scrollLeft = 0")


def test_three_thousand_submissions_make_a_page_of_few_elements(walk: Walk):
    page = walk.open("three thousand")
    assert page.evaluate("performance.getEntriesByName('interactive').length") == 1
    assert page.evaluate("document.querySelectorAll('*').length") < 15_000
    assert walk.folders["three thousand"].joinpath("report.html").stat().st_size < 2_500_000
    shown = page.locator("#clusters figure").count()
    assert shown <= 40
    if page.locator("#more").is_visible():
        page.click("#more")
        assert page.locator("#clusters figure").count() > shown
    page.click("#tab-submissions")
    assert page.inner_text("#from") == "rows 1 to 100 of 3,000"
