"""Answers clients of MOSS: takes their files as a comparison and tells them the address of its report.

One conversation per connection. The token of the service is the user id of MOSS. Bytes are counted and timed as those
of requests over HTTP are. The protocol has no words for a refusal: a client that is refused (its token, a limit) is
told why where it expects the address of the report, which the public script prints and ``mosspy`` returns. A client
that is too slow or speaks something else is cut off. Its files are removed, and the log says why. A client that goes
after its query leaves a job behind, which its owner finds over HTTP. Whoever has not shown a token has places apart
(``guests.py``), so nobody keeps others out.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from typing import Any

from lookalike import params
from lookalike.errors import ParameterError
from lookalike.service import log
from lookalike.service.comparing import uploads
from lookalike.service.comparing.jobs import FullError, Job, StateError, Stored, TooLargeError
from lookalike.service.comparing.keeping import Keeping
from lookalike.service.comparing.reserving import Upload as Reservation
from lookalike.service.moss import languages, protocol
from lookalike.service.moss.guests import FullHouseError, Guests
from lookalike.service.settings import Settings
from lookalike.service.tokens import Grant, Tokens

#: The options of a comparison when a client does not set them, as in the public script.
DEFAULTS = {"maxmatches": 10, "show": 250, "directory": 0}
_BLOCK = 1 << 20
_READ = 1 << 16
#: The settings of MOSS that are options of ``compare`` with a range.
_RANGES = {"maxmatches": params.MAX_SHARING, "show": params.TOP}
NO_TOKEN = "the user id is not a valid token with the scope compare: ask the operator of this server for one"


class EndError(Exception):
    """The conversation is over. The message is the reason, for the log; empty if all is well."""


class MossServer:
    """The port for clients of MOSS."""

    def __init__(self, settings: Settings, keeping: Keeping, tokens: Tokens) -> None:
        self.settings, self.keeping, self.tokens = settings, keeping, tokens
        self._server: asyncio.Server | None = None
        self.guests = Guests(is_shared=settings.token_file is not None)
        self._conversations: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen, if there is a port. Errors: ``ParameterError`` if it cannot be used."""
        host, port = self.settings.host, self.settings.moss_port
        if port is None:
            return
        try:
            self._server = await asyncio.start_server(self._serve, host, port, limit=_READ)
        except OSError as error:
            raise ParameterError(f"--moss-port `{port}` cannot be used: {error.strerror}; choose another") from None
        log.event("moss-listens", port=self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Close the port and all connections."""
        if self._server is not None:
            self._server.close()
        for task in self._conversations:
            task.cancel()
        await asyncio.gather(*self._conversations, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._conversations.add(task)
        conversation = Conversation(self, reader, writer)
        # A comparison takes a while, and the line is silent meanwhile.
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        reason = ""
        try:
            self.guests.enter(conversation)
            await conversation.run()
        except (EndError, FullHouseError) as end:
            reason = str(end)
        except TimeoutError:
            reason = "too slow"
        except OSError as error:
            reason = error.strerror or "the connection broke"
        except Exception as error:
            log.failure("moss-fault", error)
            reason = "an internal fault"
        finally:
            self.guests.leave(conversation)
            await conversation.close()
            self._conversations.discard(task)
            log.event("moss-ended", token=conversation.owner, reason=reason or None)


class Conversation:
    """What one client has sent, and what it is told."""

    def __init__(self, server: MossServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server, self._keeping = server, server.keeping
        self._reader, self._writer = reader, writer
        self._grant: Grant | None = None
        self._settings = dict(DEFAULTS)
        self._language = ""
        #: Why nothing is compared; the client is told after it was asked for its files.
        self._refusal = ""
        #: The job while it is uploaded.
        self._job: Job | None = None
        self._files: list[Stored] = []
        #: Two files may have one name, and a path may lead anywhere: each gets a label of its own, by role.
        self._labels = {role: uploads.Labels() for role in (uploads.SUBMISSIONS, uploads.TEMPLATES)}
        #: The stored names whose bytes are reserved, and role and label of the last one.
        self._reserved: list[str] = []
        self._role, self._label = "", ""
        self._evicted = ""
        self._begun: protocol.Begin | None = None
        #: Bytes of the file that are not written yet.
        self._held = bytearray()
        self._upload: uploads.Upload | None = None

    @property
    def owner(self) -> str:
        """The name of the token, for the log."""
        return self._grant.name if self._grant else ""

    async def run(self) -> None:
        """Talk until the end. Errors: ``EndError``, ``OSError``, ``TimeoutError``."""
        settings = self._server.settings
        parser = protocol.Parser(protocol.Allowed(settings.max_upload, params.JOB_FILES))
        clock = asyncio.get_running_loop().time
        began, received = clock(), 0
        while True:
            wait: float = settings.body_seconds if self._grant else settings.header_seconds
            if self._job is not None:
                wait = min(params.MOSS_SECONDS, max(wait, received / params.BODY_RATE))
            async with asyncio.timeout_at(began + wait):
                data = await self._reader.read(_READ)
            if not data:
                raise EndError(self._evicted or "the client left")
            received += len(data)
            for event in parser.feed(data):
                await _HANDLERS[type(event)](self, event)

    def evict(self, reason: str) -> None:
        """End the conversation for the sake of others."""
        self._evicted = reason
        self._writer.transport.abort()

    async def close(self) -> None:
        """Remove what was not started, and close the connection."""
        with contextlib.suppress(Exception):
            await self._discard()
        self._writer.close()

    async def _discard(self) -> None:
        """Remove the files and the job, unless it was started."""
        if self._upload is not None:
            self._upload.discard()
            self._upload = None
        reserved, self._reserved = self._reserved, []
        await self._keeping.release(reserved)
        if self._job is not None:
            job, self._job = self._job, None
            await self._keeping.discard(job.id, "the upload ended early")

    async def _greet(self, event: protocol.Greeting) -> None:
        self._grant = self._server.tokens.find(event.user)
        if self._grant is None or not self._grant.allows(("compare",)):
            self._grant, self._refusal = None, NO_TOKEN
            return
        try:
            self._server.guests.admit(self, self._grant.id)
        except FullHouseError as error:
            self._grant, self._refusal = None, str(error)

    async def _set(self, event: protocol.Setting) -> None:
        self._settings[event.name] = event.value
        parameter = _RANGES.get(event.name)
        refusal = None if parameter is None else parameter.refusal(event.value)
        if refusal:
            self._refusal = self._refusal or f"{event.name} `{event.value}` {refusal}"
            # Before the language nothing can be told: the client does not listen yet.
            if self._language:
                await self._refuse(self._refusal)

    async def _speak(self, event: protocol.Language) -> None:
        language = languages.ours(event.name)
        if language is None:
            await self._send("no")
            raise EndError("an unknown language")
        self._language = language
        if not self._refusal:
            await self._create()
        # A refused client is told later: `no` would blame the language, and mosspy ignores it.
        await self._send("yes", is_last=False)

    async def _create(self) -> None:
        """Create the job, or note why there is none."""
        assert self._grant is not None
        try:
            self._job = await self._keeping.create(self._grant.id, "moss", {})
        except (FullError, TooLargeError) as error:
            self._refusal = str(error)

    async def _begin(self, event: protocol.Begin) -> None:
        if self._job is not None:
            await self._reserve(self._job, event)
        if self._refusal:
            await self._refuse(self._refusal)
        self._begun, self._held = event, bytearray()

    async def _reserve(self, job: Job, event: protocol.Begin) -> None:
        """Reserve room for a file and its name, or note why there is none."""
        self._role = uploads.TEMPLATES if event.is_starter else uploads.SUBMISSIONS
        size = event.size + len(event.name.encode("utf-8", "surrogateescape"))
        try:
            self._label = self._labels[self._role].take(event.name)
            self._reserved.append(uploads.new_name())
            await self._keeping.reserve(Reservation(self._reserved[-1], job.id, job.owner, None), 0, size)
        except (ParameterError, StateError, TooLargeError) as error:
            self._refusal = str(error)

    async def _refuse(self, reason: str) -> None:
        """Remove what has come, and tell the client why there is no report. Errors: ``EndError``."""
        await self._discard()
        await self._send(f"refused: {reason}")
        raise EndError(reason)

    async def _content(self, event: protocol.Content) -> None:
        self._held += event.data
        if len(self._held) >= _BLOCK:
            await asyncio.to_thread(self._write)

    def _write(self) -> None:
        """Write what has come of a file. Errors: ``OSError``."""
        assert self._job is not None
        assert self._begun is not None
        if self._upload is None:
            folder = self._keeping.folders.uploads(self._job.id)
            self._upload = uploads.Upload(folder, self._begun.size, self._reserved[-1])
        self._upload.write(self._held)
        self._held = bytearray()

    async def _finish(self, _event: protocol.Finished) -> None:
        def store() -> Stored:
            self._write()
            assert self._upload is not None
            self._upload.close()
            return Stored(self._role, self._label, self._upload.stored, self._upload.bytes)

        self._files.append(await asyncio.to_thread(store))
        self._upload = None

    async def _query(self, event: protocol.Query) -> None:
        """Start the comparison, wait for its end, and tell the address. The first bytes sent are the address."""
        if self._refusal:
            await self._refuse(self._refusal)
        assert self._job is not None
        job = self._job
        await asyncio.to_thread(uploads.make_durable, self._keeping.folders.uploads(job.id))
        try:
            await self._keeping.add(job.id, self._files)
            await self._keeping.begin(job.id, self._options(event.comment))
        except (StateError, TooLargeError) as error:
            await self._refuse(str(error))
        self._job, self._reserved = None, []
        if await self._keeping.over(job.id) is None:
            await self._refuse("the comparison was deleted")
        await self._send(f"{self._base()}/moss/{job.address}")
        raise EndError

    def _options(self, comment: str) -> dict[str, Any]:
        """Return the options of ``compare`` that the settings of MOSS are."""
        chosen: dict[str, Any] = {
            "language": self._language,
            "max_sharing": self._settings["maxmatches"],
            "top": self._settings["show"],
        }
        if self._settings["directory"]:
            chosen["by_directory"] = True
        if comment:
            chosen["title"] = comment.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return chosen

    def _base(self) -> str:
        """Return the address of the server over HTTP, as this client reaches it."""
        if self._server.settings.public_url:
            return self._server.settings.public_url
        host = self._writer.get_extra_info("sockname")[0]
        return f"http://{f'[{host}]' if ':' in host else host}:{self._server.settings.port}"

    async def _send(self, line: str, *, is_last: bool = True) -> None:
        """Send a line. After the last one, ignore what the client still sends, until it leaves or its time is over.

        A connection that is closed before the client has sent everything is reset, and the line is lost.
        """
        self._writer.write(line.encode() + b"\n")
        await self._writer.drain()
        if is_last:
            with contextlib.suppress(OSError, TimeoutError):
                self._writer.write_eof()
                async with asyncio.timeout(self._server.settings.body_seconds):
                    left = self._server.settings.max_upload
                    while left > 0 and (data := await self._reader.read(_READ)):
                        left -= len(data)

    async def _leave(self, _event: protocol.Farewell) -> None:
        raise EndError

    async def _break(self, event: protocol.Broken) -> None:
        if self._language:
            await self._refuse(event.reason)
        raise EndError(event.reason)


_HANDLERS: dict[type[protocol.Event], Callable[[Conversation, Any], Awaitable[None]]] = {
    protocol.Greeting: Conversation._greet,
    protocol.Setting: Conversation._set,
    protocol.Language: Conversation._speak,
    protocol.Begin: Conversation._begin,
    protocol.Content: Conversation._content,
    protocol.Finished: Conversation._finish,
    protocol.Query: Conversation._query,
    protocol.Farewell: Conversation._leave,
    protocol.Broken: Conversation._break,
}
