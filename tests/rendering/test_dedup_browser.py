"""The report of a deduplication in a browser: nothing runs, nothing leaves, everything fits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_dedup_report import hostile_rows

from lookalike.deduplication.job import opened
from lookalike.rendering.html import dedup_pages, dedup_plots
from support.browser import Walk, browser, tab, walk, widest
from support.planted import texts

# Fixtures of the other report, over the folders of this one.
__all__ = ["browser", "tab", "walk"]
KINDS = ["found", "giant", "hostile", "nothing", "exact"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("reports")
    hostile = root / "<script>window.ran = 2<&>.jsonl"
    hostile.write_text("{\n" + "".join(json.dumps(row) + "\n" for row in hostile_rows()))
    corpora: dict[str, tuple[Any, dict[str, Any]]] = {
        "found": (texts(800, 200), {}),
        "giant": (texts(1, 1_400, replaced=(1, 2)) + texts(50, 200, seed=2), {}),
        "hostile": ([hostile], {}),
        "nothing": (texts(50, 0), {}),
        "exact": (texts(50, 50), {"method": "exact"}),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dedup_plots, "TRIALS", 100)
        for kind, (rows, chosen) in corpora.items():
            with opened(rows, **chosen) as (answer, _, _):
                dedup_pages.write(answer, root / kind)
    return {kind: root / kind for kind in corpora}


@pytest.mark.parametrize("kind", KINDS)
def test_no_page_is_wider_than_its_window(walk: Walk, kind: str):
    page = walk.open(kind)
    for width in (390, 850, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert widest(page) == 0, f"{kind} at {width} pixels"


def test_nothing_of_a_corpus_runs(walk: Walk):
    page = walk.open("hostile")
    for summary in page.locator("summary").all():
        summary.click()
    assert page.evaluate("window.ran === undefined")
    assert page.locator("script, img, iframe, object, embed").count() == 0
    assert page.locator("mark").count() > 10


def test_the_curve_is_drawn_with_the_threshold_marked(walk: Walk):
    page = walk.open("found")
    assert page.locator("#curve polyline").count() == 4
    box = page.locator("#curve polyline.formula").bounding_box()
    cut = page.locator("#curve line.cut").bounding_box()
    assert cut["x"] == pytest.approx(box["x"] + 0.8 * box["width"], abs=3)


def test_a_narrow_window_stacks_the_sides(walk: Walk):
    walk.page.set_viewport_size({"width": 390, "height": 800})
    page = walk.open("found")
    first, second = (page.locator(".sides >> nth=0").locator("> div").nth(i).bounding_box() for i in (0, 1))
    assert second["y"] >= first["y"] + first["height"]


def test_flags_lead_to_what_they_announce(walk: Walk):
    page = walk.open("giant")
    page.click(".flags >> text=Giant clusters")
    assert page.locator("#giants table").is_visible()
    page = walk.open("hostile")
    page.click(".flags >> text=Not read")
    assert page.locator("#problems td >> nth=0").is_visible()


def test_nothing_found_is_said(walk: Walk):
    page = walk.open("nothing")
    assert page.locator("h2 >> text=No near-duplicates found").is_visible()
    assert page.locator("article").count() == 0


@pytest.mark.parametrize("kind", ["found", "nothing"])
def test_dark_windows_get_a_dark_page_and_paper_a_white_one(walk: Walk, kind: str):
    page = walk.open(kind)
    grounds = []
    for media, scheme in (("screen", "light"), ("screen", "dark"), ("print", "dark")):
        page.emulate_media(media=media, color_scheme=scheme)
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds == ["rgb(250, 250, 248)", "rgb(21, 24, 27)", "rgb(255, 255, 255)"]
    assert page.pdf().startswith(b"%PDF")
