"""The keeper: the one process that changes anything. It holds every index open for changes.

Nothing computes on its event loop: commits run in a thread per index, comparisons in child processes.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Sequence
from typing import Any

from lookalike.archive.signing import SignedDocument
from lookalike.archive.store import Index
from lookalike.service import channel, children
from lookalike.service.channel import Handler, Message
from lookalike.service.children import Birth
from lookalike.service.committing import Add, Call, Committer
from lookalike.service.comparing.keeping import Keeping
from lookalike.service.keys import Key, Keys
from lookalike.service.moss.server import MossServer
from lookalike.service.settings import Settings
from lookalike.service.tokens import Tokens

#: Sizes of the id, the content hash and the record of a document.
_SIZES = struct.Struct("<III")


def packed(documents: Sequence[SignedDocument]) -> bytes:
    """Return signed documents as bytes."""
    parts = []
    for one in documents:
        parts += [_SIZES.pack(*map(len, one)), *one]
    return b"".join(parts)


def unpacked(data: bytes) -> list[SignedDocument]:
    """Return the signed documents that ``packed`` made bytes of.

    >>> unpacked(packed([(b"a", b"hash", b"record"), (b"b", b"", b"")]))
    [(b'a', b'hash', b'record'), (b'b', b'', b'')]
    """
    found, place = list[SignedDocument](), 0
    while place < len(data):
        first, second, third = _SIZES.unpack_from(data, place)
        start = place + _SIZES.size
        middle, last = start + first, start + first + second
        found.append((data[start:middle], data[middle:last], data[last : last + third]))
        place = last + third
    return found


class Changes:
    """The changes of all indexes: the handlers of ``add`` and ``remove``."""

    def __init__(self, settings: Settings) -> None:
        """Open all indexes. Errors: as ``Committer``."""
        self._keys, turn = Keys(settings), threading.Lock()
        self._of: dict[str, Committer] = {}
        try:
            for name, path in settings.indexes.items():
                self._of[name] = Committer(name, path, self._keys, turn)
        except BaseException:
            self.stop()
            raise
        self.handlers: dict[str, Handler] = {"ping": self._ping, "add": self._add, "remove": self._remove}

    async def _ping(self, _head: dict[str, Any], _data: bytes) -> Message:
        return {}, b""

    async def _add(self, head: dict[str, Any], data: bytes) -> Message:
        key = None if head["key"] is None else Key(*head["key"])
        return await self._of[head["index"]].do(Add(unpacked(data), key, head["told"])), b""

    async def _remove(self, head: dict[str, Any], _data: bytes) -> Message:
        def work(index: Index) -> dict[str, Any]:
            return {"removed": index.remove([head["id"]], purge=head["purge"])}

        return await self._of[head["index"]].do(Call(work)), b""

    def stop(self) -> None:
        """Finish all changes, and close the indexes."""
        for one in self._of.values():
            one.stop()
        self._keys.close()


async def keep(birth: Birth) -> None:
    """Serve readers until the supervisor says so, or is gone."""
    stop = asyncio.Event()
    children.watch(asyncio.get_running_loop(), stop.set)
    changes = Changes(birth.settings)
    comparing = Keeping(birth.settings)
    await comparing.start()
    moss = MossServer(birth.settings, comparing, Tokens(birth.settings.token_file))
    await moss.start()
    server = channel.Server({**changes.handlers, **comparing.handlers}, comparing.left)
    await server.start(socket.socket(fileno=birth.handle))
    children.ready()
    await stop.wait()
    await server.stop()
    await moss.stop()
    await comparing.stop()
    changes.stop()


def main() -> None:
    """Run the keeper."""
    children.run(keep, asyncio.new_event_loop)
