"""Rows that stand for groups of identical submissions, figures that follow the slider, and marks as a table."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from lookalike import params
from lookalike.comparison.result import Cluster, Pair, Report
from lookalike.rendering.html.folder import Extent, write
from lookalike.rendering.tables import guarded
from support.browser import Walk, assert_becomes, browser, slide, tab, walk
from support.reports import Size, school

# Fixtures of every test that looks at pages.
__all__ = ["browser", "tab", "walk"]


def grouped(members: int) -> Report:
    """So many identical submissions, a near copy of them, and another pair."""
    report = school(Size(entries=members + 4, methods=1, pairs=0))
    group = tuple(range(members))
    pairs = (
        Pair(0, 1, 1.0, 1.0, 1.0, 90, 40, (), stands_for=members * (members - 1) // 2),
        Pair(0, members, 0.8, 0.8, 0.8, 90, 40, (), stands_for=members),
        Pair(members + 1, members + 2, 0.6, 0.5, 0.5, 90, 40, ()),
    )
    clusters = (Cluster(0, (*group, members), (1.0,) * (members + 1)),)
    count = sum(pair.stands_for for pair in pairs)
    return replace(report, pairs=pairs, pair_count=count, groups=(group,), clusters=clusters)


def persons() -> Report:
    """A group of 40 in which ten people handed in twice, and five are earlier submissions."""
    report = grouped(40)
    entries = [
        replace(entry, person=f"person {i % 30}" if i < 40 else None, old=30 <= i < 35 or i == 40)
        for i, entry in enumerate(report.entries)
    ]
    return replace(report, entries=tuple(entries))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("reports")
    kinds = {"forty": grouped(40), "200": grouped(200), "800": grouped(800), "persons": persons()}
    for kind, report in kinds.items():
        write(report, root / kind, Extent.new(1))
    return {path.name: path for path in root.iterdir()}


def test_any_member_of_a_group_is_found_by_its_name(walk: Walk):
    page, report = walk.open("forty"), grouped(40)
    hidden = report.entries[17].name
    page.fill("#find", hidden)
    assert walk.texts("#table tr[data-i] td:nth-child(3)") == [
        f"{report.entries[1].name} (stands for 780 pairs, also of {hidden})",
        f"{report.entries[40].name} (stands for 40 pairs, also of {hidden})",
    ]
    page.fill("#find", report.entries[41].name)
    assert page.locator("#table tr[data-i]").count() == 1


def test_pairs_of_members_follow_the_definition(walk: Walk):
    """Neither two submissions of a person nor two earlier ones are a pair, whatever row stands for the group."""
    page, report = walk.open("persons"), persons()
    entries, near = report.entries, [0] * 44
    for a, b in [*combinations(range(40), 2), *((i, 40) for i in range(40)), (41, 42)]:
        if not (entries[a].old and entries[b].old) and not (
            entries[a].person and entries[a].person == entries[b].person
        ):
            near[a] += 1
            near[b] += 1
    page.click("#tab-submissions")
    rows = [row.split("\t") for row in walk.texts("#table tr[data-i]")]
    assert {row[0]: row[4] for row in rows} == {
        entry.name + (" (earlier)" if entry.old else ""): str(count) for entry, count in zip(entries, near, strict=True)
    }


def stored(browser: Any, folder: Path) -> int:
    """Count how often the page puts something into a map until it can be used."""
    page = browser.new_page()
    page.add_init_script(
        "window.puts = 0; const set = Map.prototype.set;"
        "Map.prototype.set = function (...all) { window.puts += 1; return set.apply(this, all); };"
    )
    page.goto((folder / "report.html").as_uri())
    count = page.evaluate("window.puts")
    page.close()
    return int(count)


def test_a_group_four_times_as_large_takes_four_times_the_work(browser: Any, folders: dict[str, Path]):
    small, large = stored(browser, folders["200"]), stored(browser, folders["800"])
    assert small > 200
    assert large < 6 * small


def test_the_figures_at_the_head_follow_the_slider(walk: Walk):
    page = walk.open("forty")
    tiles = "['tile-pairs', 'tile-clusters'].map((id) => document.getElementById(id).innerText.replace(/\\s+/g, ' '))"
    assert page.evaluate(tiles) == ["pairs with score 0.30 or higher 821", "clusters with score 0.30 or higher 2"]
    slide(page, 0.7)
    assert page.evaluate(tiles) == ["pairs with score 0.70 or higher 820", "cluster with score 0.70 or higher 1"]
    assert page.inner_text("#clustered").startswith("1 cluster of submissions with score 0.70")


NOTES = [
    *(f"{sign}1+1" for sign in params.FORMULA),
    *("-1", "+2.5", "-1e3", "'=1", "''@x", "'plain", "plain", "'", "a=b", "－5", '"=1"'),
]


def take_marks(page: Any, file: Path, text: str, note: str) -> None:
    """Import a file of marks, and wait until its note is kept."""
    file.write_text(text, encoding="utf-8", newline="")
    page.set_input_files("#import", file)
    is_kept = "(note) => Object.values(localStorage).some((kept) => JSON.parse(kept)[0]?.note === note)"
    assert_becomes(page, is_kept, note)


def test_marks_are_guarded_as_all_tables_are(walk: Walk, tmp_path: Path):
    page = walk.open("forty")
    page.evaluate("localStorage.clear()")
    page.reload()
    page.select_option("#table tr[data-i='0'] select", "reviewed")
    marks = page.evaluate("JSON.parse(Object.values(localStorage)[0])")
    for number, note in enumerate(NOTES):
        # A text field cannot hold a zero byte or a carriage return; an imported mark can.
        marks[0]["note"] = note
        take_marks(page, tmp_path / f"{number}.json", json.dumps({"marks": marks}), note)
        with page.expect_download() as found:
            page.click("#save-csv")
        table = Path(found.value.path()).read_bytes().decode()
        (row,) = csv.DictReader(io.StringIO(table, newline=""))
        assert row["note"] == guarded(note), repr(note)
        marks[0]["note"] = "another"
        take_marks(page, tmp_path / f"{number}-other.json", json.dumps({"marks": marks}), "another")
        take_marks(page, tmp_path / f"{number}.csv", table, note)
    page.evaluate("localStorage.clear()")
