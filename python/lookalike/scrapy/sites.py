"""What a crawl knows of each site: how many pages were near-duplicates, what priority it has, what is left to fetch.

A near-duplicate may be one of several components that set the priority of an address (Manku, Jain, Das Sarma 2007, §1,
footnote 1). Here the share of near-duplicates of its site is that component. A site is a host with its port.
"""

from __future__ import annotations

from typing import TypedDict
from urllib.parse import urlsplit

from lookalike import params


class Site(TypedDict):
    """Counts of one site; a plain dictionary, so that Scrapy can keep it with a paused crawl."""

    #: Requests that were let through.
    requests: int
    #: Pages that were compared, and those of them that were near-duplicates.
    pages: int
    duplicates: int


def site_of(url: str) -> str:
    """Return host and port of an address, or nothing if it has none.

    >>> site_of("https://Example.org:8080/a?b=c"), site_of("data:,x")
    ('example.org:8080', '')
    """
    try:
        parts = urlsplit(url)
        return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or ""
    except ValueError:
        return ""


class Sites:
    """Counts of all sites, and what follows from them.

    >>> sites = Sites({}, budget=100, penalty=10)
    >>> for _ in range(10):
    ...     sites.judged("a", is_duplicate=True)
    >>> sites.share("a"), sites.lowered("a"), sites.allowance("a")
    (0.5, 5, 50)
    """

    def __init__(self, counts: dict[str, Site], *, budget: int | None, penalty: int) -> None:
        self._counts = counts
        self._budget = budget
        self._penalty = penalty

    def _of(self, site: str) -> Site:
        return self._counts.setdefault(site, Site(requests=0, pages=0, duplicates=0))

    def judged(self, site: str, *, is_duplicate: bool) -> None:
        """Count a page that was compared."""
        counts = self._of(site)
        counts["pages"] += 1
        counts["duplicates"] += is_duplicate

    def share(self, site: str) -> float:
        """Return the share s = d / (n + prior) of near-duplicates d among the n pages of a site."""
        counts = self._of(site)
        return counts["duplicates"] / (counts["pages"] + params.SITE_PRIOR)

    def lowered(self, site: str) -> int:
        """Return by how much requests to a site lose priority: floor(penalty · s)."""
        return int(self._penalty * self.share(site))

    def allowance(self, site: str) -> int | None:
        """Return how many requests a site gets: floor(budget · (1 − s)), at least one; ``None`` for no limit."""
        return None if self._budget is None else max(1, int(self._budget * (1 - self.share(site))))

    def admit(self, site: str) -> bool:
        """Count a request, if the site has one left."""
        counts, allowed = self._of(site), self.allowance(site)
        if allowed is not None and counts["requests"] >= allowed:
            return False
        counts["requests"] += 1
        return True
