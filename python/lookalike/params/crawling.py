"""Settings of the Scrapy component (`lookalike.scrapy`): each is `LOOKALIKE_` and its name in capitals."""

from __future__ import annotations

from lookalike._types import Parameter

#: The settings, by name.
CRAWLING = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "index",
            "Folder of the index; it is created if it does not exist. With LOOKALIKE_URL: the name of the index on "
            "the server.",
        ),
        Parameter("url", "Address of a `lookalike serve`, such as http://127.0.0.1:8400. Default: no server."),
        Parameter("token", "Token of the server, with the scope add."),
        Parameter(
            "store",
            "Store pages that are new. Without it pages are compared only with what the index has already.",
            default=True,
            kind=bool,
        ),
        Parameter("site_budget", "Most requests to one site. Default: no limit.", kind=int, least=1),
        Parameter(
            "site_penalty",
            "Priority that requests lose if all pages of their site were near-duplicates; 0 leaves priorities alone.",
            default=10,
            kind=int,
            least=0,
        ),
        Parameter(
            "min_length",
            "Characters of main text that a page needs to be compared; shorter pages pass.",
            default=60,
            kind=int,
            least=1,
        ),
    )
}
#: Least resemblance of near-duplicates in an index that a crawl creates: dates, counters and advertisements change much
#: of a short page. Different pages of one site stay below 0.4 (docs/howto/scrapy.md).
CRAWL_THRESHOLD = 0.7
#: Pages without a near-duplicate that every site is credited with, so that a few near-duplicates decide nothing.
SITE_PRIOR = 10
