"""HTTP connections: uvicorn's protocol with limits on headers, idle connections, unread answers and their number.

Headers must be complete within ``--header-seconds`` and ``HEADER_BYTES``, with the address; leading empty lines count.
If an answer is given before the body has arrived, the rest is read and dropped for a moment, so that the client sees
the answer and not a reset. A client that ends its side of the connection is gone.

A client must take an answer at ``BODY_RATE`` bytes per second, looked at every ``--send-seconds``. Requests that come
while one is answered wait as bytes, and are answered in their order. So a connection holds one answer and one read.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import struct
import termios
from asyncio import Transport
from asyncio.events import TimerHandle
from collections import deque
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from lookalike import params
from lookalike.service import log
from lookalike.service.door import SECURITY
from lookalike.service.faults import Fault

#: Seconds that a client has to read an answer that came before the end of its request.
_LINGER = 2.0
#: Bytes that are parsed at a time: at most so many bytes of further requests are parsed before the first is answered.
_SLICE = 2 << 10
#: Bytes of further requests from which on no more are read. Until then the end of the connection is noticed.
_HELD = 16 << 10
BAD_REQUEST = Fault(400, "bad-request", "this is no HTTP request")
LONG_HEADERS = Fault(431, "long-headers", f"the headers are longer than {params.HEADER_BYTES:,} bytes")
FULL = Fault(503, "full", "the server has too many connections: try again later", 1)


class Protocol(HttpToolsProtocol):
    """One connection."""

    #: Most connections of this process, and seconds for headers and for answers; the reader sets them.
    most_connections = params.SERVING["max_connections"].default
    header_seconds = params.SERVING["header_seconds"].default
    send_seconds = params.SERVING["send_seconds"].default

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._timer: TimerHandle | None = None
        #: Bytes that were read for headers, bytes of the address and the headers that are complete, and bytes since
        #: the last piece of a request was complete.
        self._head_bytes, self._listed_bytes, self._silent_bytes = 0, 0, 0
        #: Whether no request is being answered, and whether the headers of one have begun.
        self._in_head, self._has_begun = True, False
        self._is_ending = False
        #: Requests without an answer, in their order, and the bytes after the last of them.
        self._unanswered: deque[RequestResponseCycle] = deque()
        self._held = bytearray()
        #: What is told after the last answer.
        self._fault: Fault | None = None
        #: Bytes that the client had not taken when they were looked at, and the timer of the next look.
        self._unsent = 0
        self._look: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Take a connection, or refuse it if there are too many."""
        super().connection_made(transport)
        # Whatever the client does not take at once is told by `pause_writing`, also the end of an answer.
        transport.set_write_buffer_limits(0)
        if len(self.connections) > self.most_connections:
            self._end(FULL)
        else:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection, and tell all its requests."""
        self._stop_timer()
        self._held.clear()
        for cycle in self._unanswered:
            _abandon(cycle)
        super().connection_lost(exc)
        self._stop_look()

    # --- reading ---

    def data_received(self, data: bytes) -> None:
        """Take bytes of the client."""
        if self._is_ending:
            return
        self._held += data
        self._feed()

    def _feed(self) -> None:
        """Parse what was read, up to the end of a request that has no answer yet."""
        while self._held and not self._is_ending and not self._is_answering():
            piece = bytes(self._held[:_SLICE])
            del self._held[:_SLICE]
            self._parse(piece)
        if len(self._held) > _HELD and not self.transport.is_closing():
            self.flow.pause_reading()

    def _is_answering(self) -> bool:
        """Whether a complete request has no answer yet."""
        return bool(self._unanswered) and not self._unanswered[-1].more_body

    def _parse(self, data: bytes) -> None:
        if self._in_head:
            if self._timer is None:
                self._await_head()
            self._head_bytes += len(data)
            # One read may hold the headers and the begin of a body: what is complete is counted in `_listed`.
            if self._head_bytes - len(data) > params.HEADER_BYTES:
                self._end(LONG_HEADERS)
                return
        self._silent_bytes += len(data)
        if self._silent_bytes > params.HEADER_BYTES + len(data):
            self._listed_bytes = self._silent_bytes
            self.send_400_response(LONG_HEADERS.message)
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
        """Take a header. Those after a body, which a proxy may not have checked, are passed over."""
        self._listed(len(name) + len(value) + len(b": \r\n"))
        if self._has_begun:
            super().on_header(name, value)

    def _listed(self, more: int) -> None:
        """Count bytes of headers. Errors: ``ValueError``, which ends in ``send_400_response``."""
        self._silent_bytes = 0
        self._listed_bytes += more
        if self._listed_bytes > params.HEADER_BYTES:
            raise ValueError(LONG_HEADERS.message)

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._stop_timer()
        self._in_head, self._has_begun, self._head_bytes = False, False, 0
        super().on_headers_complete()
        self._unanswered.append(self.cycle)

    def on_body(self, body: bytes) -> None:
        """Take bytes of a body."""
        self._silent_bytes = 0
        super().on_body(body)

    # --- answering ---

    def on_response_complete(self) -> None:
        """Wait for the next request; or end, if this one is not complete."""
        cycle = self._unanswered.popleft()
        super().on_response_complete()
        if self.transport.is_closing():
            return
        if cycle.more_body:
            self._linger()
            return
        self._in_head = not self._unanswered
        if self._in_head and self._fault is not None:
            self._end(self._fault)
        elif self._in_head and self._has_begun and self._timer is None:
            # The begin of the next request came with this one.
            self._await_head()
        self._feed()

    def pause_writing(self) -> None:
        """Look from now on how much of an answer the client takes."""
        super().pause_writing()
        self._look_later()

    def resume_writing(self) -> None:
        """Go on: the client has taken all."""
        super().resume_writing()
        self._stop_look()

    def _look_later(self) -> None:
        self._unsent = _untaken(self.transport)
        self._look = self.loop.call_later(self.send_seconds, self._look_at_answer)

    def _look_at_answer(self) -> None:
        """Cut off a client that takes too little of its answer."""
        taken = self._unsent - _untaken(self.transport)
        if taken < params.BODY_RATE * self.send_seconds:
            log.event("connection-cut", code="answer-not-taken")
            self.transport.abort()
        else:
            self._look_later()

    def _stop_look(self) -> None:
        if self._look is not None:
            self._look.cancel()
            self._look = None

    # --- ending ---

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, or is too long; requests before it are answered first."""
        fault = LONG_HEADERS if self._listed_bytes > params.HEADER_BYTES else BAD_REQUEST
        self._is_ending = True
        if self._unanswered and self._unanswered[-1].more_body:
            broken = self._unanswered.pop()
            _abandon(broken)
            if self._unanswered:
                self.pipeline.popleft()
            if broken.response_started:
                self.transport.close()
                return
        if self._unanswered:
            self._fault = fault
        else:
            self._end(fault)

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
        self._held.clear()
        self._stop_timer()
        self._unset_keepalive_if_required()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._timer = self.loop.call_later(_LINGER, self.transport.close)


def _untaken(transport: Transport) -> int:
    """Return how many bytes the other side has not taken: in this process, and in the system where it tells.

    The system may hold megabytes for a slow client. Without them it would seem to take nothing for minutes.
    """
    kept = 0
    with contextlib.suppress(OSError):
        handle = transport.get_extra_info("socket").fileno()
        (kept,) = struct.unpack("i", fcntl.ioctl(handle, termios.TIOCOUTQ, bytes(4)))
    return transport.get_write_buffer_size() + kept


def _abandon(cycle: RequestResponseCycle) -> None:
    """Tell a request that its client is gone."""
    cycle.disconnected = True
    cycle.message_event.set()
