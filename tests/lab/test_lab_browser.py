"""The sheet of pairs to tag in a browser: tags are counted and come back as CSV, and nothing of a corpus runs."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from lookalike.lab.simhash import sheet
from support.browser import browser

# The browser of the reports.
__all__ = ["browser"]
ROWS = [
    sheet.Row("a,1", 'b"2', b"one text", b"another text"),
    sheet.Row("=c", "<img src=x onerror='window.ran=1'>", b"<script>window.ran = 2</script>", "größer".encode()),
    sheet.Row("e", "f", b"x" * 5000, b"y"),
]


def test_tags_of_the_page_come_back_as_csv(browser: Any, tmp_path: Path):
    path = tmp_path / "sheet.html"
    path.write_text(sheet.to_html(ROWS, "essays & <notes>", "tags.csv"), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    page.goto(path.as_uri())
    assert page.inner_text("#done") == "0 tagged"
    page.check("section:nth-of-type(1) input[value=true]")
    page.check("section:nth-of-type(2) input[value=unknown]")
    page.check("section:nth-of-type(2) input[value=false]")
    assert page.inner_text("#done") == "2 tagged"
    with page.expect_download() as waiting:
        page.click("#save")
    waiting.value.save_as(tmp_path / "tags.csv")
    assert waiting.value.suggested_filename == "tags.csv"
    with (tmp_path / "tags.csv").open(encoding="utf-8", newline="") as file:
        read = [(row["left"], row["right"], row["label"]) for row in csv.DictReader(file)]
    assert read == [("a,1", 'b"2', "true"), ("'=c", ROWS[1].right, "false"), ("e", "f", "")]
    assert page.evaluate("window.ran === undefined")
    assert page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()
