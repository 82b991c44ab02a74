"""A small web for crawlers, made by seeded code and served on loopback: which pages have the same content is known.

Seven tenths of the pages are contents of their own: articles, short notices, products and lists of them on four sites.
Three tenths are near-duplicates of those: a mirror with other navigation, addresses with session ids, printed versions
with small edits, and a calendar without end (here it ends, so that a crawler without remedy does too). No two answers
are equal bytes: dates, counters and advertisements change with every answer, as Manku et al. 2007, §1, describe.
Pages of a site share navigation, sidebar and footer, in three kinds of markup. A site is a port.
"""

from __future__ import annotations

import calendar
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any
from urllib.parse import urlsplit

from bench import corpora
from bench.corpora import ENGLISH, SEED

#: Shares of the contents that the four sites have. The first is mirrored by a fifth.
SHARES = (0.15, 0.35, 0.30, 0.20)
MIRROR = len(SHARES)
#: The site whose addresses come with session ids, and that with the calendar.
SESSIONS, CALENDAR = 1, 3
#: Share of near-duplicates among all pages; share of session ids among those that are neither mirror nor calendar.
DUPLICATES, WITH_SESSION = 0.3, 0.6
#: Items on one list.
LISTED = 25
MONTHS = calendar.month_name[1:]


class Web:
    """Sites of `size` pages together: what stands at each address, and which content that is."""

    def __init__(self, size: int) -> None:
        self.size = size
        contents = round(size * (1 - DUPLICATES))
        #: Items of each site; a list for every 25 of them and the first page are contents, too.
        self.items = [_items(int(contents * share)) for share in SHARES]
        self.months = max(2, size // 50)
        left = size - sum(map(self._pages, range(MIRROR))) - self._pages(0) - self.months
        #: Items of the second site that also have a session id; printed versions of the third site.
        self.sessions = min(self.items[SESSIONS], int(left * WITH_SESSION))
        self.printed = min(self.items[2], left - self.sessions)
        self._answers = iter(range(1 << 62))

    def _pages(self, site: int) -> int:
        return 1 + -(-self.items[site] // LISTED) + self.items[site]

    @cached_property
    def contents(self) -> dict[tuple[int, str], str]:
        """The content of every page, by site and path; pages with one content are near-duplicates."""
        found = {}
        for site in range(len(SHARES)):
            paths = ["/", *(f"/list/{n}" for n in range(-(-self.items[site] // LISTED)))]
            paths += [f"/item/{n}" for n in range(self.items[site])]
            found |= {(site, path): f"{site}{path}" for path in paths}
        found |= {(MIRROR, path): content for (site, path), content in found.items() if site == 0}
        found |= {(SESSIONS, f"/item/{n}?sid={_sid(n)}"): f"{SESSIONS}/item/{n}" for n in range(self.sessions)}
        found |= {(2, f"/item/{n}/print"): f"2/item/{n}" for n in range(self.printed)}
        found |= {(CALENDAR, f"/calendar/{month}"): f"{CALENDAR}/calendar" for month in range(self.months)}
        return found

    def page(self, site: int, path: str, ports: list[int]) -> str | None:
        """Return the page at an address, or nothing if there is none."""
        if (site, path) not in self.contents:
            return None
        chance = Random(f"{SEED} answer {next(self._answers)}")
        source = 0 if site == MIRROR else site
        links, body = self._body(source, path, chance)
        if path == "/" and site == 0:
            links += [f"http://127.0.0.1:{port}/" for port in ports[1:]]
        return _layout(site, chance, body, links, self.items[source])

    def _body(self, site: int, path: str, chance: Random) -> tuple[list[str], str]:
        """Return the links and the main part of a page."""
        kind, _, rest = path.strip("/").partition("/")
        if kind == "":
            links = [f"/list/{n}" for n in range(-(-self.items[site] // LISTED))]
            links += ["/calendar/0"] if site == CALENDAR else []
            return links, f"<h1>Welcome</h1>{_prose(Random(f'{SEED} home {site}'), 120)}"
        if kind == "list":
            return self._list(site, int(rest))
        if kind == "calendar":
            return [f"/calendar/{(int(rest) + 1) % self.months}"], _calendar(int(rest))
        number = int(rest.partition("?")[0].partition("/")[0])
        links = [f"/item/{near}" for near in (number - 1, number + 1) if 0 <= near < self.items[site]]
        if "?sid=" in path:
            links = [f"/item/{n}?sid={_sid(n)}" for n in (number - 1, number + 1) if 0 <= n < self.sessions]
        elif site == SESSIONS and number < self.sessions:
            links.append(f"/item/{number}?sid={_sid(number)}")
        elif site == 2 and number < self.printed and not path.endswith("/print"):
            links.append(f"/item/{number}/print")
        return links, _item(site, number, chance, is_edited=path.endswith("/print"))

    def _list(self, site: int, number: int) -> tuple[list[str], str]:
        """Return a list of items: all lists of a site begin with the same words."""
        items = range(number * LISTED, min(self.items[site], (number + 1) * LISTED))
        titles = [f'<li><a href="/item/{n}">{_words(Random(f"{SEED} {site} {n}"), 6)}</a></li>' for n in items]
        return [], f"<h1>Items</h1>{_prose(Random(f'{SEED} list {site}'), 30)}<ul>{''.join(titles)}</ul>"


def _items(contents: int) -> int:
    """Items of a site with so many contents: the rest are its first page and its lists."""
    return max(2, (contents - 1) * LISTED // (LISTED + 1))


def _sid(number: int) -> str:
    return f"{Random(f'{SEED} session {number}').getrandbits(64):016x}"


def _prose(rng: Random, words: int) -> str:
    """Return paragraphs of about so many words."""
    made: list[str] = []
    while words > 0:
        sentences = [corpora.sentence(rng, corpora.vocabulary(ENGLISH)) for _ in range(4)]
        made.append(f"<p>{' '.join(sentences)}</p>")
        words -= sum(len(one.split()) for one in sentences)
    return "".join(made)


def _words(rng: Random, count: int) -> str:
    return " ".join(corpora.vocabulary(ENGLISH).draw(rng) for _ in range(count))


def _item(site: int, number: int, chance: Random, is_edited: bool) -> str:
    """Return an article, every tenth time a short notice, or a product with terms that all products have."""
    rng = Random(f"{SEED} {site} {number}")
    title = _words(rng, 6)
    text = _prose(rng, 50 if number % 10 == 9 else 100 if number % 5 == 3 else 150 + int(rng.random() * 350))
    if is_edited:
        text = _edited(text, chance)
    if number % 5 == 3:
        text += f"<h2>Terms</h2>{_prose(Random(f'{SEED} terms {site}'), 50)}"
    date = f"{1 + int(chance.random() * 28)} {MONTHS[int(chance.random() * 12)]} 2026"
    return f"<h1>{title}</h1><p>{date}, read {int(chance.random() * 1e5)} times</p>{text}"


def _edited(text: str, chance: Random) -> str:
    """Replace one word in a hundred, and add a short remark."""
    words = text.split(" ")
    for _ in range(len(words) // 100):
        words[int(chance.random() * len(words) * 0.9) + 1] = _words(chance, 1)
    return f"{' '.join(words)}<p>Printed by {_words(chance, 2)}</p>"


def _calendar(month: int) -> str:
    days = "".join(f"<td>{day}</td>" for day in range(1, 29 + month % 4))
    legend = _prose(Random(f"{SEED} calendar"), 60)
    return f"<h1>{MONTHS[month % 12]} {2026 + month // 12}</h1><table><tr>{days}</tr></table>{legend}"


def _layout(site: int, chance: Random, body: str, links: list[str], items: int) -> str:
    """Return a page: what all pages of the site have around its main part, in the markup of the site."""
    rng = Random(f"{SEED} frame {site}")
    lists = range(min(20, -(-items // LISTED)))
    menu = "".join(f'<li><a href="/list/{n}">{_words(rng, 2)}</a></li>' for n in lists)
    aside = _words(rng, 30)
    footer = _words(rng, 60)
    offer = f"<p>{_words(chance, 12)}</p>"
    more = "".join(f'<a href="{link}">{_words(rng, 1)}</a> ' for link in links)
    kind = site % 3
    if kind == 0:
        inside = f"<nav><ul>{menu}</ul></nav><main><article>{body}</article></main><nav>{more}</nav>"
        inside += f"<aside>{aside}{offer}</aside><footer>{footer}</footer>"
    elif kind == 1:
        inside = f'<div class="menu"><ul>{menu}</ul></div><div id="content">{body}</div><div class="nav">{more}</div>'
        inside += f'<div class="sidebar">{aside}{offer}</div><div class="footer">{footer}</div>'
    else:
        inside = f"<table><tr><td><ul>{menu}</ul>{aside}{offer}</td><td>{body}</td></tr></table><div>{more}</div>"
        inside += f"<p>{footer}</p>"
    return f"<!doctype html><html><head><title>Site {site}</title></head><body>{inside}</body></html>"


@contextmanager
def served(web: Web) -> Iterator[list[int]]:
    """Serve all sites on loopback; yield their ports."""
    ports: list[int] = []
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), _handler(web, site, ports)) for site in range(MIRROR + 1)]
    ports += [server.server_address[1] for server in servers]
    threads = [threading.Thread(target=server.serve_forever, args=(0.05,)) for server in servers]
    for thread in threads:
        thread.start()
    try:
        yield ports
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()


def _handler(web: Web, site: int, ports: list[int]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            page = web.page(site, self.path, ports)
            data = (page or "not found").encode()
            self.send_response(404 if page is None else 200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Nothing is told of single requests."""

    return Handler


def place(url: str, ports: list[int]) -> tuple[int, str]:
    """Return site and path of an address."""
    parts = urlsplit(url)
    return ports.index(parts.port or 0), parts.path + (f"?{parts.query}" if parts.query else "")
