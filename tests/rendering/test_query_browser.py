"""The report of a query in a browser: nothing runs, nothing leaves, everything fits, and a document opens its texts."""

from __future__ import annotations

from pathlib import Path

import pytest

import lookalike as la
from lookalike.rendering.html import query_page
from support.browser import Walk, browser, tab, walk, widest
from support.submissions import prose

__all__ = ["browser", "tab", "walk"]
HOSTILE = "<script>window.ran = 1</script> & <b>"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("reports")
    with la.Index.create(root / "index") as index:
        index.add({f"{HOSTILE}.txt": f"{HOSTILE} {prose(1, 60)}", "a-name-that-is-very-long-" * 8: prose(1, 60)})
        query_page.write(index.query(f"{prose(1, 50)} {HOSTILE}", name=f"{HOSTILE}.txt", evidence=True), root / "found")
        query_page.write(index.query("something else", evidence=True), root / "nothing")
    return {kind: root / kind for kind in ("found", "nothing")}


@pytest.mark.parametrize("kind", ["found", "nothing"])
def test_no_page_is_wider_than_its_window(walk: Walk, kind: str):
    page = walk.open(kind)
    for width in (390, 850, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert widest(page) == 0, f"{kind} at {width} pixels"


def test_a_document_opens_both_texts_and_leads_back(walk: Walk):
    page = walk.open("found")
    assert page.locator("#passages tbody tr").count() == 2
    page.locator("#passages a").first.click()
    walk.arrive("pairs/001.html")
    assert page.locator(".side").count() == 2
    assert page.evaluate("window.ran === undefined")
    page.locator("nav.top a").first.click()
    walk.arrive("report.html")
