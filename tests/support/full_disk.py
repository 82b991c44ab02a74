"""A middleware of Scrapy for tests: after some pages, no file of the process can grow any more."""

from __future__ import annotations

import resource
from typing import Any


class FullDisk:
    """Stands between the network and the component."""

    pages = 0

    def process_response(self, request: Any, response: Any) -> Any:
        FullDisk.pages += 1
        if FullDisk.pages == 3:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        return response
