"""Makes the pictures of ``docs/pictures``: pages of the demo's report as PNG, and figures of the lab as SVG.

    python -m docs.tools.pictures

The report is that of the demo. The corpus of the figures is Python's own standard library without its tests: real
text that everyone has. Anyone can make all pictures again; it takes about two minutes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, sync_playwright

from docs.tools.blocks import ROOT

FOLDER = ROOT / "docs" / "pictures"
#: Pages of the report, by the picture that shows them: the page, and how many pixels of its height.
SHOTS = {"pair.png": ("pairs/003.html", 760), "report.png": ("report.html", 1240)}
WIDTH = 1280
#: The experiments that docs/papers.md shows.
FIGURES = (
    *("density", "low-entropy", "rank-frequency"),
    *("shingle-size", "estimator", "filter-curve"),
    *("simhash-pr", "leading-bit"),
)
#: Text stays text: an SVG is then half as large.
STYLE = "svg.fonttype: none\n"
ARGUMENTS = ["--no-sandbox", "--disable-background-networking", "--disable-gpu", "--no-first-run"]


def main() -> None:
    """Make all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as room:
        photograph(Path(room))
        draw(Path(room))


def photograph(room: Path) -> None:
    """Take pictures of the demo's report in a headless browser."""
    subprocess.run([program(), "demo", "--out", str(room / "demo")], check=True, stdout=subprocess.DEVNULL)
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("pictures: chromium is not on this machine: install it, then run `make pictures` again")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for name, (page, height) in SHOTS.items():
            shoot(browser, (room / "demo" / page).as_uri(), FOLDER / name, height)
        browser.close()


def shoot(browser: Browser, address: str, picture: Path, height: int) -> None:
    """Take one picture of the upper part of a page, in light colours, and not while it scrolls."""
    size = {"width": WIDTH, "height": height}
    page = browser.new_page(viewport=size, color_scheme="light", reduced_motion="reduce")
    page.goto(address)
    page.screenshot(path=picture, animations="disabled")
    page.close()


def library(room: Path) -> Path:
    """Copy the modules of the standard library into a folder; installed packages, tests and caches are left out."""
    source = Path(sysconfig.get_path("stdlib"))
    folder = room / f"python-{sys.version_info.major}.{sys.version_info.minor}-library"
    unwanted = {"site-packages", "test", "tests", "__pycache__"}
    for path in source.rglob("*.py"):
        if not unwanted & set(path.relative_to(source).parts):
            place = folder / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    return folder


def draw(room: Path) -> None:
    """Run the experiments and keep their figures."""
    corpus, style = library(room), room / "matplotlibrc"
    style.write_text(STYLE, encoding="utf-8")
    for name in FIGURES:
        order = [program(), "lab", name, "--corpus", str(corpus), "--out", str(room)]
        subprocess.run(order, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"MATPLOTLIBRC": str(style)})
        shutil.copyfile(room / f"{name}.svg", FOLDER / f"{name}.svg")


def program() -> str:
    """Return the path of ``lookalike`` in this environment."""
    return str(Path(sys.executable).with_name("lookalike"))


if __name__ == "__main__":
    main()
