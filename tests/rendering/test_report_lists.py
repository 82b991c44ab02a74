"""Lists of pairs in the report: each pair once, counts of pairs, links between pages, words for what is counted."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import zlib
from base64 import b64decode
from dataclasses import replace
from pathlib import Path

import pytest
from test_report import SMALL, put

from lookalike.comparison.result import Pair, Passage, Region, Remark, Report, Section
from lookalike.rendering import comparison_tables
from lookalike.rendering.html.passage_list import _within
from lookalike.rendering.html.sides import WHOLE
from lookalike.rendering.terminal import comparison
from lookalike.rendering.wording import amount, decimal, kept, percent, units
from support.reports import Size, school


def in_two_lists() -> Report:
    report = school(SMALL)
    inside = tuple(replace(pair, contained=0.9) for pair in report.pairs[1:4])
    return replace(
        report,
        pairs=report.pairs[:2],
        pair_count=2,
        contained=inside,
        contained_count=3,
        little=report.pairs[4:],
        little_count=1,
    )


def test_a_pair_in_two_lists_is_one_row_that_names_both():
    report = in_two_lists()
    rows = list(csv.DictReader(io.StringIO(comparison_tables.pairs_csv(report), newline="")))
    assert [(row["list"], row["lists"]) for row in rows] == [
        ("main", "main"),
        ("main", "main+contained"),
        ("contained", "contained"),
        ("contained", "contained"),
        ("little", "little"),
    ]
    assert len({(row["left"], row["right"]) for row in rows}) == 5
    assert list(rows[0])[-2:] == ["lists", "strongest_bits"]


def test_tabs_count_pairs_and_not_rows(tmp_path: Path):
    report = in_two_lists()
    group = (replace(report.contained[0], stands_for=40), *report.contained[1:])
    put(replace(report, contained=group, contained_count=42), tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert 'Contained <span class="soft">42</span>' in page


def test_submissions_without_material_are_not_counted_as_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    report = school(SMALL)
    empty = replace(report, undefined=(Remark(report.entries[0].name, "nothing in it"), Remark("bare", "no file")))
    put(empty, tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "<h1>Comparison of 7 submissions</h1>" in page
    assert "<dt>submissions compared</dt><dd>7</dd>" in page
    comparison.print_table(empty)
    assert "compared: 7 submissions, 2 not comparable; 8 files" in capsys.readouterr().out


def test_the_terminal_says_shares_as_the_page_does(capsys: pytest.CaptureFixture[str]):
    report = in_two_lists()
    pair = replace(report.contained[0], contained=0.9999, left_coverage=0.9999, right_coverage=0.001)
    comparison.print_table(replace(report, contained=(pair,), contained_count=1))
    told = capsys.readouterr().out.splitlines()
    row = next(line for line in told if line.lstrip().startswith("99 %"))
    assert row.count("99 %") == 2
    assert " 1 %" in row


@pytest.mark.parametrize("share", [0, 1e-9, 0.001, 0.005, 0.5, 0.995, 0.9999999, 1])
def test_data_of_a_page_say_the_same_figure(share: float):
    assert percent(kept(share)) == percent(share)
    assert decimal(kept(share)) == decimal(share)


def test_prose_is_counted_in_letters():
    file = school(SMALL).entries[0].files[0]
    prose, notebook = replace(file, language="text"), replace(file, language="text+python")
    assert [units(files) for files in ([file], [prose], [file, prose], [notebook], [])] == [
        "tokens",
        "letters",
        "tokens and letters",
        "tokens and letters",
        "tokens",
    ]
    assert amount(1, "letters") == "1 letter"


def packed(page: Path) -> dict:
    return json.loads(re.search(r'id="packed">(.*?)</script>', page.read_text("utf-8"))[1])


def links(folder: Path) -> set[str]:
    """Return where the pages of pairs lead: the pages before and after them."""
    found = set()
    for page in (folder / "pairs").iterdir():
        texts = [page.read_text("utf-8")]
        if page.name == "more.html":
            texts = [text for one in packed(page)["pairs"] for text in json.loads(zlib.decompress(b64decode(one)))]
        found |= {link for text in texts for link in re.findall(r'rel="(?:next|prev)" href="\.\./([^"]+)"', text)}
    return found


@pytest.mark.parametrize("part", [0.001, 0.05, 0.3, 0.6, 0.8, 0.95, 1])
def test_no_link_leads_to_a_pair_that_was_left_out(tmp_path: Path, part: float):
    report = school(Size(entries=40, methods=4, pairs=60, passages=2))
    whole = put(report, tmp_path / "whole", top=2)
    size = sum(path.stat().st_size for path in (whole.folder / "pairs").iterdir())
    out = put(report, tmp_path / "out", top=2, max_size=max(1, round(part * size))).folder
    data = json.loads((out / "report.json").read_bytes())
    assert links(out) <= {pair["page"] for pair in data["pairs"]}


def test_the_page_of_the_rest_has_no_text_that_it_does_not_show(tmp_path: Path):
    report = school(SMALL)
    long = replace(report.entries[0].files[0], text=report.entries[0].files[0].text + "\n" * WHOLE)
    entries = (replace(report.entries[0], files=(long,)), *report.entries[1:])
    put(replace(report, entries=entries), tmp_path / "out", top=1)
    keys = set(packed(tmp_path / "out" / "pairs" / "more.html")["texts"])
    ends = {f"{end}.0" for pair in report.pairs[1:] for end in (pair.left, pair.right)}
    assert "0.0" in ends
    assert keys == ends - {"0.0"}


def holds(outer: Region, inner: Region) -> bool:
    return outer.file == inner.file and outer.start <= inner.start and inner.end <= outer.end


@pytest.mark.parametrize("seed", range(20))
def test_passages_in_sections_match_the_obvious_search(seed: int):
    """Sections may overlap on one side; no two of them overlap on both."""
    draw = random.Random(seed)

    def place(file: int, start: int, length: int) -> Region:
        return Region(file, start, start + length, 1, 1)

    sections, passages = [], []
    for i in range(12):
        sections.append(
            Section(place(draw.randrange(2), draw.randrange(60), 30), place(0, 100 * i, 30), 1, 60, 0.5),
        )
    for number in range(1, 60):
        left, right = place(draw.randrange(2), draw.randrange(100), 5), place(0, draw.randrange(1200), 5)
        passages.append((number, Passage(left, right, 5, 2, exact=True)))
    for number, section in enumerate(sections, 60):
        left, right = section.left, section.right
        inner = place(left.file, left.start + 3, 9), place(right.file, right.start + 3, 9)
        passages.append((number, Passage(*inner, 5, 2, exact=True)))
    sections.sort()
    expected = {
        (number, i)
        for number, passage in passages
        for i, section in enumerate(sections)
        if holds(section.left, passage.left) and holds(section.right, passage.right)
    }
    assert len(expected) >= 12
    assert set(_within(sections, passages)) == expected


def test_a_pair_of_a_list_alone_is_opened_by_its_rank_there(tmp_path: Path):
    put(in_two_lists(), tmp_path / "out")
    pages = [(tmp_path / "out" / "pairs" / f"{i:03}.html").read_text("utf-8") for i in (2, 3, 5)]
    assert ["pair 2 of 2</p>" in pages[0], "pair 2 of 3 in the list of contained pairs" in pages[1]] == [True, True]
    assert "pair 1 of 1 in the list of pairs that share too little to say" in pages[2]


def test_nothing_in_the_main_list_points_to_the_contained_pairs(tmp_path: Path):
    report: Report = in_two_lists()
    none: tuple[Pair, ...] = ()
    put(replace(report, pairs=none, pair_count=0, clusters=()), tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "3 pairs are in the list <i>Contained</i>" in page


def only_shared() -> Report:
    """A class of eight without a pair at the cut-off, of which three share a passage; no file was skipped."""
    report = school(SMALL)
    shared = tuple(Pair(0, i, 0.1, 0.1, 0.1, 90, 40, (), strongest_bits=250.0 - i) for i in (1, 2))
    none = {"pairs": (), "pair_count": 0, "clusters": (), "skipped": (), "undefined": ()}
    return replace(report, **none, shared=shared, shared_count=2, histogram=(0,) * 20)


def test_without_a_pair_at_the_cut_off_the_other_lists_are_told(tmp_path: Path):
    put(only_shared(), tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "2 pairs are in the list <i>Shared passages</i>" in page
    assert "<dt>pairs listed for a shared passage</dt><dd>2</dd>" in page
    assert "5 submissions have no pair in any list, and 3 only in lists apart from the main one." in page
    assert "Only pairs from the cut-off on are plotted, though lower ones can be in the lists" in page


@pytest.mark.parametrize("is_skipped", [True, False])
def test_only_skipped_files_are_said_not_to_be_compared(tmp_path: Path, is_skipped: bool):
    report = only_shared()
    put(replace(report, skipped=(Remark("a", "not text"),) if is_skipped else ()), tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert ("Files that were skipped were not compared." in page) is is_skipped
    assert ("No file was skipped." in page) is not is_skipped
