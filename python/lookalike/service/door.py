"""Checks host and origin of each request, adds security headers, and writes the access log and the counters.

A browser on the same machine reaches a server on loopback, also for a page of another site. So without tokens only
requests for a loopback name are answered, and none that a browser sends for another site; CORS is never allowed. A
header that decides who may do what is given once: proxies differ in which of two they take.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urlsplit

from lookalike.service import log
from lookalike.service.answering import told
from lookalike.service.faults import GONE, INTERNAL, Fault, FaultError, fault_of
from lookalike.service.metrics import Metrics
from lookalike.service.settings import Settings, is_loopback

#: Sent with every answer.
SECURITY = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
BAD_HOST = Fault(421, "wrong-host", "this server does not answer for this host name: start it with --allow-host")
OTHER_SITE = Fault(403, "other-site", "requests that a page of another site sends are refused")
REPEATED = Fault(400, "repeated-header", "a header is given twice that may be given once: {}")
#: Headers that are given once.
ONCE = frozenset(
    b"host origin authorization content-type content-encoding content-length idempotency-key sec-fetch-site "
    b"sec-fetch-mode sec-fetch-dest".split()
)
#: Addresses that pages of other sites may link to.
LINKED = ("/reports/", "/moss/")
#: The route in the log of an address that does not exist.
UNKNOWN = "unknown"


class Door:
    """The outermost application."""

    def __init__(self, app: Any, settings: Settings, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics
        self._is_open = settings.token_file is None
        self._hosts = {host.lower() for host in (*settings.allow_host, settings.host)}
        self._public = urlsplit(settings.public_url or "")

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        started = time.perf_counter()
        visit = scope["visit"] = Visit(dict(scope["headers"]))
        sent = _Sent(send)
        try:
            scope["path"] = unquote(scope["raw_path"].decode("ascii", "replace"), errors="surrogateescape")
            self._check(scope)
            await self._app(scope, receive, sent)
        except Exception as error:
            fault = fault_of(error)
            if fault is INTERNAL:
                log.failure("reader-fault", error, route=visit.route)
            if not sent.status and fault is not GONE:
                await told(fault)(scope, receive, sent)
        finally:
            self._tell(scope, visit, sent, time.perf_counter() - started)

    def _check(self, scope: dict[str, Any]) -> None:
        """Refuse foreign hosts and sites. Errors: ``FaultError``."""
        headers = scope["visit"].headers
        if len(headers) < len(scope["headers"]):
            _check_once(scope["headers"])
        host = _host(headers.get(b"host", b"").decode("latin-1"))
        if self._is_open and not is_loopback(host) and host not in self._hosts:
            raise FaultError(BAD_HOST)
        if _is_followed(scope, headers):
            return
        if headers.get(b"sec-fetch-site", b"same-origin") not in (b"same-origin", b"none"):
            raise FaultError(OTHER_SITE)
        origin = headers.get(b"origin")
        if origin is not None and not self._is_own(origin.decode("latin-1"), headers.get(b"host", b""), host):
            raise FaultError(OTHER_SITE)

    def _is_own(self, origin: str, netloc: bytes, host: str) -> bool:
        """Return whether a page is one of this server. A proxy may add TLS, except before a loopback name."""
        scheme, _, rest = origin.partition("://")
        if rest != netloc.decode("latin-1"):
            return False
        if rest.lower() == self._public.netloc.lower():
            return scheme == self._public.scheme
        return scheme == "http" or (scheme == "https" and not is_loopback(host))

    def _tell(self, scope: dict[str, Any], visit: Visit, sent: _Sent, seconds: float) -> None:
        self._metrics.count(visit.route, scope["method"], sent.status, seconds)
        log.request(scope["method"], visit.route, sent.status, seconds, sent.bytes, visit.token)


class Visit:
    """What is known of a request when it ends."""

    __slots__ = ("headers", "route", "token")

    def __init__(self, headers: dict[bytes, bytes]) -> None:
        self.headers = headers
        #: The template of its address, and the name of its token.
        self.route, self.token = UNKNOWN, ""


class _Sent:
    """Passes an answer on, with the headers of security, and remembers its status and size."""

    __slots__ = ("_send", "bytes", "status")

    def __init__(self, send: Any) -> None:
        self._send, self.status, self.bytes = send, 0, 0

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            there = {name for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(one for one in SECURITY if one[0] not in there)]
        else:
            self.bytes += len(message.get("body", b""))
        await self._send(message)


def _check_once(headers: list[tuple[bytes, bytes]]) -> None:
    """Refuse headers that are given twice. Errors: ``FaultError``."""
    for name, count in Counter(name for name, _ in headers).items():
        if count > 1 and name in ONCE:
            raise FaultError(replace(REPEATED, message=REPEATED.message.format(name.decode())))


def _is_followed(scope: dict[str, Any], headers: dict[bytes, bytes]) -> bool:
    """Return whether a reader follows a link to a report, in a mail or a learning platform: its address is the key."""
    is_opened = headers.get(b"sec-fetch-mode") == b"navigate" and headers.get(b"sec-fetch-dest") == b"document"
    return is_opened and scope["method"] == "GET" and scope["path"].startswith(LINKED) and b"origin" not in headers


def _host(given: str) -> str:
    """Return a host without its port, in lower case.

    >>> _host("LocalHost:8400"), _host("[::1]:8400")
    ('localhost', '::1')
    """
    if given.startswith("["):
        return given[1:].partition("]")[0].lower()
    return given.partition(":")[0].lower()
