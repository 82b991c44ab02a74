"""A Scrapy component that drops near-duplicate pages with their out-links, and stores what was new.

``DOWNLOADER_MIDDLEWARES = {"lookalike.scrapy.NearDuplicates": 60}`` and ``LOOKALIKE_INDEX = "crawl"`` turn it on
(docs/howto/scrapy.md). It needs the extra ``scrapy``.
"""

from lookalike.errors import MissingExtraError

try:
    import scrapy
except ImportError:
    raise MissingExtraError("lookalike.scrapy", "scrapy") from None
del scrapy

from lookalike.scrapy.middleware import NearDuplicate, NearDuplicates, OverBudget  # noqa: E402

__all__ = ["NearDuplicate", "NearDuplicates", "OverBudget"]
