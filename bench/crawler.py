"""Crawls with Scrapy, and prints what it met as JSON: a child of `bench.crawl` and of tests.

Arguments: an address to begin with, and settings of Scrapy as JSON. Every link is followed.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

from lookalike.scrapy import NearDuplicate, OverBudget

#: Quiet, and nothing but the crawl.
USUAL = {"LOG_LEVEL": "WARNING", "TELNETCONSOLE_ENABLED": False, "ROBOTSTXT_OBEY": False}


class Walker(scrapy.Spider):
    """Follows every link, and notes in which order pages were fetched, kept and dropped."""

    name = "walker"

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self.met: dict[str, list[Any]] = {"fetched": [], "kept": [], "dropped": [], "over_budget": []}

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Walker:
        """Make the spider, and have it told of each download."""
        made = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(made.note, signal=signals.response_downloaded)
        return made

    def note(self, response: Response) -> None:
        """Note a download."""
        self.met["fetched"].append(response.url)

    async def start(self) -> Any:
        """Begin with the address that was given."""
        yield scrapy.Request(self.address, errback=self.refused)

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        """Follow the links of a page."""
        self.met["kept"].append(response.url)
        if isinstance(response, scrapy.http.HtmlResponse):
            for link in response.css("a::attr(href)").getall():
                yield response.follow(link, errback=self.refused)

    def refused(self, failure: Any) -> None:
        """Note why a page did not come."""
        if failure.check(NearDuplicate):
            self.met["dropped"].append((failure.request.url, failure.value.nearest))
        elif failure.check(OverBudget):
            self.met["over_budget"].append(failure.request.url)


def main(address: str, settings: str) -> None:
    process = CrawlerProcess(USUAL | json.loads(settings))
    crawler = process.create_crawler(Walker)
    process.crawl(crawler, address=address)
    begin = time.process_time()
    process.start()
    stats = {name: value for name, value in crawler.stats.get_stats().items() if name.startswith("lookalike/")}
    met = crawler.spider.met if crawler.spider else {}
    told = {"stats": stats, "cpu": time.process_time() - begin, "reason": crawler.stats.get_value("finish_reason")}
    print(json.dumps(met | told))


if __name__ == "__main__":
    main(*sys.argv[1:])
