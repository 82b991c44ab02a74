"""HTTP connections: uvicorn's protocol with limits on headers, idle connections and their number.

Headers must be complete within ``--header-seconds`` and ``HEADER_BYTES``, with the address; leading empty lines count.
If an answer is given before the body has arrived, the rest is read and dropped for a moment, so that the client sees
the answer and not a reset. A client that ends its side of the connection is gone.
"""

from __future__ import annotations

import json
from asyncio import Transport
from asyncio.events import TimerHandle
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from lookalike import params
from lookalike.service import log
from lookalike.service.door import SECURITY
from lookalike.service.faults import Fault

#: Seconds that a client has to read an answer that came before the end of its request.
_LINGER = 2.0
BAD_REQUEST = Fault(400, "bad-request", "this is no HTTP request")
LONG_HEADERS = Fault(431, "long-headers", f"the headers are longer than {params.HEADER_BYTES:,} bytes")
FULL = Fault(503, "full", "the server has too many connections: try again later", 1)


class Protocol(HttpToolsProtocol):
    """One connection."""

    #: Most connections of this process, and seconds for headers; the reader sets them.
    most_connections = params.SERVING["max_connections"].default
    header_seconds = params.SERVING["header_seconds"].default

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._timer: TimerHandle | None = None
        #: Bytes that were read for headers, and bytes of the address and the headers that are complete.
        self._head_bytes, self._listed_bytes = 0, 0
        #: Whether no request is being answered, and whether the headers of one have begun.
        self._in_head, self._has_begun = True, False
        self._is_ending = False

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Take a connection, or refuse it if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            self._end(FULL)
        else:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes of the client."""
        if self._is_ending:
            return
        if self._in_head:
            if self._timer is None:
                self._await_head()
            self._head_bytes += len(data)
            # One read may hold the headers and the begin of a body: what is complete is counted in `_listed`.
            if self._head_bytes - len(data) > params.HEADER_BYTES:
                self._end(LONG_HEADERS)
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """Begin to read a request."""
        self._has_begun, self._listed_bytes = True, 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Take the address, or a part of it."""
        self._listed(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        self._listed(len(name) + len(value) + len(b": \r\n"))
        super().on_header(name, value)

    def _listed(self, more: int) -> None:
        """Count bytes of headers. Errors: ``ValueError``, which ends in ``send_400_response``."""
        self._listed_bytes += more
        if self._listed_bytes > params.HEADER_BYTES:
            raise ValueError(LONG_HEADERS.message)

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._stop_timer()
        self._in_head, self._has_begun, self._head_bytes = False, False, 0
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request; or end, if this one is not complete."""
        cycle = self.cycle
        super().on_response_complete()
        self._in_head = True
        if cycle.more_body and cycle is self.cycle and not self.transport.is_closing():
            self._linger()
        elif self._has_begun and self._timer is None:
            # The begin of the next request came with this one.
            self._await_head()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, or is too long."""
        self._end(LONG_HEADERS if self._listed_bytes > params.HEADER_BYTES else BAD_REQUEST)

    def _await_head(self) -> None:
        self._timer = self.loop.call_later(self.header_seconds, self.transport.close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self, fault: Fault) -> None:
        """Answer outside of any request, and close."""
        log.event("connection-refused", status=fault.status, code=fault.code)
        body = json.dumps(fault.to_json()).encode()
        more = [] if fault.retry_after is None else [(b"retry-after", str(fault.retry_after).encode())]
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *more,
            *SECURITY,
        ]
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        self.transport.write(STATUS_LINE[fault.status] + lines + b"\r\n" + body)
        self._linger()

    def _linger(self) -> None:
        """Send no more, drop what still comes, and close soon."""
        self._is_ending = True
        self._stop_timer()
        self._unset_keepalive_if_required()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._timer = self.loop.call_later(_LINGER, self.transport.close)
