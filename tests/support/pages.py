"""Serves given pages on loopback, one port per site, and crawls them with Scrapy in another process."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from bench import corpora, crawl


def text(number: int, words: int = 100) -> str:
    """Return one of many different texts of about so many words."""
    rng, made = Random(number), ""
    while made.count(" ") < words:
        made += f"{corpora.sentence(rng, corpora.vocabulary(corpora.ENGLISH))} "
    return made.strip()


class Answer(NamedTuple):
    """What a server answers."""

    body: str
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    #: Where a redirect leads.
    location: str = ""


#: Path to answer; called with the path and the ports of all sites.
Site = Callable[[str, list[int]], Answer | None]


@contextmanager
def served(*sites: Site) -> Iterator[list[str]]:
    """Serve sites; yield the address of each, without a slash at the end."""
    ports: list[int] = []
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), _handler(site, ports)) for site in sites]
    ports += [server.server_address[1] for server in servers]
    threads = [threading.Thread(target=server.serve_forever, args=(0.05,)) for server in servers]
    for thread in threads:
        thread.start()
    try:
        yield [f"http://127.0.0.1:{port}" for port in ports]
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()


def _handler(site: Site, ports: list[int]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            answer = site(self.path, ports) or Answer("not found", status=404)
            data = answer.body.encode()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.kind)
            self.send_header("Content-Length", str(len(data)))
            if answer.location:
                self.send_header("Location", answer.location)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def crawled(address: str, **settings: Any) -> dict[str, Any]:
    """Crawl from an address with the component; paths instead of addresses are in what it returns."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])
    try:
        return crawl.crawl(address, crawl.COMPONENT | settings)
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
