"""A crawl of the web of `bench.web` by Scrapy, with and without the component: what is fetched, kept and dropped.

The answer is which contents a crawl with the component kept. Of the pages that it fetched, those whose content it had
fetched before should be dropped, and no others. Times are CPU seconds of the crawl with the component; the sites are
served by another process' threads on the same cores.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import web
from bench.definition import Definition
from bench.measure import Times
from bench.outcome import Answer, Outcome, SkippedError
from bench.works import Run

ROOT = Path(__file__).parents[1]
#: Settings of Scrapy that turn the component on.
COMPONENT = {"DOWNLOADER_MIDDLEWARES": {"lookalike.scrapy.NearDuplicates": 60}}


@dataclass(frozen=True)
class Crawled:
    """What a crawl met, as contents; of dropped pages also the content of the page named for them."""

    fetched: list[str]
    kept: list[str]
    dropped: list[tuple[str, str]]
    cpu: float
    stats: dict[str, int]

    @property
    def repeated(self) -> int:
        """Pages whose content was fetched before: what should be dropped."""
        return len(self.fetched) - len(set(self.fetched))

    @property
    def right(self) -> int:
        """Dropped pages that have the content of the page named for them."""
        return sum(content == named for content, named in self.dropped)


def crawl(address: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Run Scrapy in a process of its own, for its reactor runs once. Return what it met."""
    order = [sys.executable, "-W", "ignore", "-m", "bench.crawler", address, json.dumps(settings)]
    done = subprocess.run(order, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout:
        raise RuntimeError(f"the crawl failed: {done.stderr[-2000:]}")
    return {**json.loads(done.stdout), "log": done.stderr}


def crawled(pages: web.Web, settings: dict[str, Any]) -> Crawled:
    """Crawl a web, and tell what was met as contents."""
    with web.served(pages) as ports:
        met = crawl(f"http://127.0.0.1:{ports[0]}/", settings)

        def of(url: str) -> str:
            return pages.contents[web.place(url, ports)]

        dropped = [(of(url), of(named)) for url, named in met["dropped"]]
        return Crawled([*map(of, met["fetched"])], [*map(of, met["kept"])], dropped, met["cpu"], met["stats"])


def work(row: Definition, run: Run) -> Outcome:
    """Crawl without and with the component."""
    if not run.quick and not run.is_named:
        raise SkippedError("two crawls take some minutes; name the row with --only")
    size = row.options["quick_pages" if run.quick else "pages"]
    plain = crawled(web.Web(size), {})
    with tempfile.TemporaryDirectory(prefix="lookalike-crawl-") as folder:
        found = crawled(web.Web(size), COMPONENT | {"LOOKALIKE_INDEX": f"{folder}/index"})
    contents = set(web.Web(size).contents.values())
    lost = contents - set(found.kept)
    figures = {
        "fetched without": float(len(plain.fetched)),
        "fetched": float(len(found.fetched)),
        "distinct contents": float(len(set(found.kept))),
        "near-duplicates dropped %": 100 * found.right / found.repeated,
        "drops that are right %": 100 * found.right / len(found.dropped),
        "new contents lost %": 100 * len(lost) / len(contents),
        "cpu s without": plain.cpu,
    }
    kept = "\n".join(sorted(set(found.kept)))
    answer = Answer(len(set(found.kept)), hashlib.sha256(kept.encode()).hexdigest()[:16])
    fault = f"contents were lost: {', '.join(sorted(lost)[:5])}" if len(lost) > len(contents) / 1000 else ""
    return Outcome(Times([found.cpu], [found.cpu]), size, answer, figures, fault, is_job=True)
