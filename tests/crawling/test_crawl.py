"""A crawl of a generated web: near-duplicates are dropped, and no content is lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from bench import crawl, web


def test_the_web_has_the_shares_it_promises():
    for size in (300, 5000):
        contents = web.Web(size).contents
        assert len(contents) == size
        repeated = size - len(set(contents.values()))
        assert abs(repeated / size - web.DUPLICATES) < 0.01


def test_no_two_answers_are_equal_and_contents_are_those_of_the_table():
    pages = web.Web(300)
    made = [pages.page(site, path, [1, 2, 3, 4, 5]) for site, path in pages.contents] * 1
    assert None not in made
    assert max(Counter(made).values()) == 1
    assert pages.page(0, "/item/0", []) != pages.page(0, "/item/0", [])
    assert pages.page(0, "/nowhere", []) is None


def test_near_duplicates_are_dropped_and_nothing_new_is_lost(tmp_path: Path):
    pages = web.Web(300)
    found = crawl.crawled(pages, crawl.COMPONENT | {"LOOKALIKE_INDEX": str(tmp_path / "index")})
    assert set(found.kept) == set(pages.contents.values()), "every content was kept"
    assert found.right == len(found.dropped), "no new page was dropped"
    assert found.right >= 0.95 * found.repeated
    assert len(found.fetched) < len(pages.contents), "links of near-duplicates were not followed"
