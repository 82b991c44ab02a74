"""A headless Chromium for tests that look at pages, and a walk over them that notes whatever must not happen."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("chromium is not on this machine", allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

ARGUMENTS = [
    *("--no-sandbox", "--disable-background-networking", "--disable-sync", "--disable-component-update"),
    *("--disable-gpu", "--no-first-run"),
]
# Long enough for the busiest machine: it decides how soon a failure is told, never what passes.
PATIENCE_MS = 300_000


#: Between two looks at a page.
LOOK_MS = 50


def assert_becomes(page: Any, expression: str, arg: Any = None) -> None:
    """Wait until an expression holds. The pages forbid what Playwright's own waiting does between two looks."""
    for _ in range(PATIENCE_MS // LOOK_MS):
        if page.evaluate(expression, arg):
            return
        page.wait_for_timeout(LOOK_MS)
    raise AssertionError(f"never true: {expression}")


def slide(page: Any, score: float) -> None:
    """Move the slider, and wait until all that it drives is drawn: that happens in the next frame."""
    page.fill("#least", str(score))
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


class Walk:
    """A page, with everything noted that must not happen on it."""

    def __init__(self, context: Any, folders: dict[str, Path]) -> None:
        self.context, self.folders = context, folders
        self.faults: list[str] = []
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("console", lambda message: self.faults.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("dialog", self._dialog)
        self.page.on("popup", lambda popup: self.faults.append(f"popup: {popup.url}"))
        context.on("request", self._request)

    def _dialog(self, dialog: Any) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Any) -> None:
        if not request.url.startswith("file://"):
            self.faults.append(f"request: {request.url}")

    def open(self, kind: str, name: str = "report.html") -> Any:
        self.page.goto((self.folders[kind]).as_uri() + "/" + name)
        return self.page

    def arrive(self, name: str) -> None:
        """Wait for the page of that name with its scripts: a click returns before, and keys would be lost."""
        self.page.wait_for_url(f"**/{name}", wait_until="load")

    def texts(self, selector: str) -> list[str]:
        return [text.strip() for text in self.page.locator(selector).all_inner_texts()]

    def names(self) -> list[str]:
        """Return the left names of the rows in sight."""
        return self.texts("#table tr[data-i] td:nth-child(2)")


@pytest.fixture(scope="module")
def tab(browser: Any, folders: dict[str, Path]) -> Walk:
    """Return the one page on which everything is walked: a new one for each test takes longer than the test."""
    return Walk(browser.new_context(reduced_motion="reduce"), folders)


@pytest.fixture
def walk(tab: Walk) -> Iterator[Walk]:
    tab.page.set_viewport_size({"width": 1280, "height": 900})
    tab.page.emulate_media(media="screen", color_scheme="light")
    tab.faults.clear()
    yield tab
    assert not tab.faults


def widest(page: Any) -> int:
    """Return by how many pixels the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
