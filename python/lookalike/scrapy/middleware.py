"""The downloader middleware: asks of each page whether it was seen, before the spider gets it.

A near-duplicate never reaches the spider, so it yields neither items nor requests: a crawler should ignore it and its
out-going links (Manku, Jain, Das Sarma 2007, §1). Requests to sites that repeat themselves go back to the queue with a
lower priority, and those beyond a site's budget are dropped. An error of the archive lets the page pass: it is counted,
and logged once. After k errors in a row 2^(k − 1) − 1 pages pass without being asked about, so that an archive that
does not answer cannot hold up a crawl.
"""

from __future__ import annotations

import logging
from typing import Any, Self

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, IgnoreRequest
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.asyncio import run_in_thread

from lookalike.errors import LookalikeError, ParameterError
from lookalike.frontends.main_text import main_text
from lookalike.params import CRAWLING
from lookalike.scrapy.judging import Archive, InProcess, Judge, Page, Served, Verdict, id_of
from lookalike.scrapy.sites import Site, Sites, site_of

logger = logging.getLogger(__name__)
#: Key of ``Request.meta`` that turns the component off for a request.
SKIP = "dont_lookalike"
#: Key under which a request remembers by how much its priority was lowered.
_LOWERED = "lookalike_lowered"
#: Key of the state of a spider, which Scrapy keeps with a paused crawl.
_STATE = "lookalike_sites"
#: Errors in a row after which no more pages pass unasked: 1,023.
_MOST_FAILURES = 11
#: Reason for which a spider is closed if the archive cannot be used.
_UNUSABLE = "lookalike_unusable"


class NearDuplicate(IgnoreRequest):
    """A page is a near-duplicate of one that was seen; the errback of its request gets this."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(f"near-duplicate of {verdict.nearest}")
        #: Address of the page that was seen, and the resemblance of the two.
        self.nearest, self.resemblance = verdict.nearest, verdict.resemblance


class OverBudget(IgnoreRequest):
    """The site of a request has used up its budget; the errback of the request gets this."""


class NearDuplicates:
    """Drops near-duplicate pages, and lowers the priority of sites that repeat themselves."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._judge: Judge | None = None
        self._sites = Sites({}, budget=None, penalty=0)
        self._min_length = 0
        #: Errors of the archive in a row, and pages that still pass because of them.
        self._failures = self._passing = 0
        self._is_told = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the component; the index is opened with the spider."""
        made = cls(crawler)
        crawler.signals.connect(made.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(made.spider_closed, signal=signals.spider_closed)
        return made

    def spider_opened(self, spider: Spider) -> None:
        """Open the archive. Errors: ``CloseSpider`` if the settings are wrong or it cannot be used."""
        try:
            chosen = _settings(self._crawler)
            self._judge = Judge(_archive(chosen))
        except (LookalikeError, OSError) as error:
            logger.error("lookalike cannot be used, and the crawl is closed: %s", error)
            raise CloseSpider(_UNUSABLE) from None
        # With JOBDIR the state of a spider is kept between runs.
        counts: dict[str, Site] = getattr(spider, "state", {}).setdefault(_STATE, {})
        self._sites = Sites(counts, budget=chosen["site_budget"], penalty=chosen["site_penalty"])
        self._min_length = chosen["min_length"]

    def spider_closed(self) -> None:
        """Close the archive, and say how many pages were not compared."""
        if self._judge is not None:
            self._judge.close()
        missed = sum(self._stats.get_value(f"lookalike/{what}", 0) for what in ("errors", "unasked"))
        if missed:
            logger.warning("lookalike: %d pages were not compared, for errors of the archive", missed)

    @property
    def _stats(self) -> Any:
        return self._crawler.stats

    def _count(self, what: str) -> None:
        self._stats.inc_value(f"lookalike/{what}")

    # --- before the download -----------------------------------------------------------------------------------------

    def process_request(self, request: Request) -> Request | None:
        """Put a request back with a lower priority if its site got worse, and drop it if the site's budget is used."""
        if _is_apart(request):
            return None
        site = site_of(request.url)
        if (again := self._put_back(request, site)) is not None:
            return again
        if not self._sites.admit(site):
            self._count("over_budget")
            raise OverBudget(f"budget of {site} is used up")
        return None

    def _put_back(self, request: Request, site: str) -> Request | None:
        """Return a request with the priority its site has now, or ``None`` if it has it or a lower one."""
        now = self._sites.lowered(site)
        of, before, dont_filter = request.meta.get(_LOWERED, ("", 0, False))
        if of != request.url:
            # It was not lowered yet; a spider may have copied the meta of a response.
            before, dont_filter = 0, request.dont_filter
        if now <= before:
            request.dont_filter = dont_filter
            return None
        self._count("lowered")
        meta = {**request.meta, _LOWERED: (request.url, now, dont_filter)}
        # The filter of duplicate requests has seen it already.
        return request.replace(priority=request.priority + before - now, meta=meta, dont_filter=True)

    # --- after the download ------------------------------------------------------------------------------------------

    async def process_response(self, request: Request, response: Response) -> Response:
        """Return a response that is new. Errors: ``NearDuplicate``."""
        if _is_apart(request):
            return response
        if (reason := _unread(response)) is not None or not isinstance(response, TextResponse):
            self._count(f"skipped/{reason}")
            return response
        site = site_of(response.url)
        verdict = await self._verdict(response, site)
        if verdict is None:
            return response
        self._count("asked")
        self._sites.judged(site, is_duplicate=verdict.is_duplicate)
        if verdict.is_duplicate:
            self._count("dropped")
            logger.debug("Dropped %s: near-duplicate of %s", response.url, verdict.nearest)
            raise NearDuplicate(verdict)
        self._count("revisited" if verdict.is_revisit else "new")
        return response

    async def _verdict(self, response: TextResponse, site: str) -> Verdict | None:
        """Return what the archive says, or ``None`` if the page was not compared; why is counted."""
        if self._passing:
            self._passing -= 1
            self._count("unasked")
            return None
        try:
            verdict = await run_in_thread(self._ask, response, site)
        except Exception as error:
            self._failed(error)
            return None
        self._failures = 0
        if verdict is None or verdict.refusal is not None:
            self._count("skipped/short" if verdict is None else "skipped/unreadable")
            return None
        return verdict

    def _failed(self, error: Exception) -> None:
        """Count an error of the archive; say the first one, and let pages pass after several."""
        self._count("errors")
        self._failures = min(self._failures + 1, _MOST_FAILURES)
        self._passing = 2 ** (self._failures - 1) - 1
        if not self._is_told:
            self._is_told = True
            logger.error("lookalike: %s; pages pass uncompared, and further errors are only counted", error)

    def _ask(self, response: TextResponse, site: str) -> Verdict | None:
        """Return the verdict on a page, or ``None`` if its text is too short. Runs in a thread."""
        if self._judge is None:
            raise ParameterError("the index is not open")
        text = main_text(response.text) if isinstance(response, HtmlResponse) else response.text
        if len(text) < self._min_length:
            return None
        return self._judge.verdict(Page(id_of(response.url), text, site))


def _is_apart(request: Request) -> bool:
    """Whether the spider never gets the response (robots.txt, files of pipelines), or did not want this."""
    return request.callback is NO_CALLBACK or bool(request.meta.get(SKIP))


def _unread(response: Response) -> str | None:
    """Return why a response is not compared, or ``None``: only pages and plain texts that were found are."""
    if not 200 <= response.status < 300:
        return "status"
    kind = (response.headers.get("Content-Type") or b"").partition(b";")[0].strip().lower()
    is_text = isinstance(response, TextResponse) and kind == b"text/plain"
    return None if isinstance(response, HtmlResponse) or is_text else "type"


def _settings(crawler: Crawler) -> dict[str, Any]:
    """Return the settings of the component by name. Errors: ``ParameterError``."""
    chosen: dict[str, Any] = {}
    for name, parameter in CRAWLING.items():
        setting = f"LOOKALIKE_{name.upper()}"
        given = crawler.settings.get(setting)
        value = parameter.default if given is None else given
        try:
            if value is not None and parameter.kind is not str:
                value = crawler.settings.getbool(setting, value) if parameter.kind is bool else int(value)
        except (TypeError, ValueError):
            raise ParameterError(f"{setting} `{given}` is not a {_KINDS[parameter.kind]}") from None
        if value is not None and (refusal := parameter.refusal(value) if parameter.kind is int else None):
            raise ParameterError(f"{setting} `{given}` {refusal}")
        chosen[name] = value
    return chosen


_KINDS: dict[type, str] = {int: "whole number", bool: "truth value: use True or False"}


def _archive(chosen: dict[str, Any]) -> Archive:
    """Open the archive that the settings name. Errors: ``LookalikeError``, ``OSError``."""
    if not chosen["index"]:
        raise ParameterError("LOOKALIKE_INDEX is missing: give a folder, or with LOOKALIKE_URL the name of an index")
    if chosen["url"]:
        return Served(str(chosen["url"]), chosen["token"], str(chosen["index"]), store=chosen["store"])
    if chosen["token"]:
        raise ParameterError("LOOKALIKE_TOKEN has no effect without LOOKALIKE_URL: give the address of the server")
    return InProcess(str(chosen["index"]), store=chosen["store"])
