"""Reads the lines that the MOSS submission script and ``mosspy`` send. Pure: bytes in, events out, nothing else.

A client sends `moss ID`, `directory 0|1`, `X 0|1`, `maxmatches N`, `show N` and `language L`; then, for each file,
`file NUMBER LANGUAGE SIZE NAME` and exactly SIZE bytes (NUMBER 0: starter code); then `query 0 COMMENT`, and `end`.
What a client says about itself is never believed: sizes and lines are counted, names are labels, and the first line
that does not fit ends the conversation with a reason. The events do not depend on how the bytes were split, except that
the content of a file may come in several parts. Cost: linear in the bytes; at most one line is held.

Source: what the public script and mosspy 1.0.9 send. The protocol has no specification.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Greeting(NamedTuple):
    """The client names its user: our token."""

    user: str


class Setting(NamedTuple):
    """A setting with a number: one of ``SETTINGS``."""

    name: str
    value: int


class Language(NamedTuple):
    """The language of all files. The client waits for an answer."""

    name: str


class Begin(NamedTuple):
    """A file begins; its content follows. ``name`` is a label; bytes that are not UTF-8 are kept as escapes."""

    is_starter: bool
    size: int
    name: str


class Content(NamedTuple):
    """Some bytes of the file that began last. Never empty."""

    data: bytes


class Finished(NamedTuple):
    """The file that began last is complete."""


class Query(NamedTuple):
    """Everything was sent: the client waits for the address of the report."""

    comment: str


class Farewell(NamedTuple):
    """The client ends the conversation. What it sends after this is ignored."""


class Broken(NamedTuple):
    """The client broke the protocol or a limit. What it sends after this is ignored."""

    reason: str


Event: TypeAlias = Greeting | Setting | Language | Begin | Content | Finished | Query | Farewell | Broken
#: The settings of the protocol.
SETTINGS = ("directory", "X", "maxmatches", "show")
#: Longest line, without its end: a command and a path.
MOST_LINE = 5_000
_NUMBER = re.compile(rb"[0-9]{1,15}")
#: mosspy writes the values of Python as they are.
_TRUTHS = {b"true": b"1", b"false": b"0"}


@dataclass(frozen=True, slots=True)
class Allowed:
    """How much a client may send."""

    #: All files together, with the lines that announce them.
    bytes: int
    files: int


class _FaultError(Exception):
    """A line does not fit. The message is the reason."""


class Parser:
    """One conversation. ``feed`` takes bytes as they come and yields what they mean."""

    def __init__(self, allowed: Allowed) -> None:
        self._allowed = allowed
        self._bytes_left, self._files_left = allowed.bytes, allowed.files
        self._line = bytearray()
        #: Bytes of the current file that have not come yet.
        self._missing = 0
        #: The stage: which commands may come next.
        self._next = _GREETING

    def feed(self, data: bytes) -> Iterator[Event]:
        """Yield the events of these bytes. After ``Farewell`` or ``Broken`` there are none."""
        at = 0
        while at < len(data) and self._next:
            if self._missing:
                part = data[at : at + self._missing]
                at, self._missing = at + len(part), self._missing - len(part)
                yield Content(part)
                if not self._missing:
                    yield Finished()
                continue
            end = data.find(b"\n", at, at + MOST_LINE + 1 - len(self._line))
            stop = len(data) if end < 0 else end
            self._line += data[at : min(stop, at + MOST_LINE + 1 - len(self._line))]
            at = stop + 1
            if len(self._line) > MOST_LINE:
                yield self._broken(f"a line has more than {MOST_LINE:,} bytes")
            elif end >= 0:
                line, self._line = bytes(self._line), bytearray()
                yield from self._understood(line)

    def _understood(self, line: bytes) -> Iterator[Event]:
        """Yield what a line means."""
        command, _, rest = line.removesuffix(b"\r").partition(b" ")
        name = command.decode("ascii", "replace")
        try:
            if name not in _COMMANDS:
                raise _FaultError("a line is no command of MOSS")
            if name not in self._next:
                raise _FaultError(f"`{name}` is not expected here")
            event = _COMMANDS[name](self, name, rest)
        except _FaultError as fault:
            yield self._broken(str(fault))
            return
        yield event
        if isinstance(event, Begin) and not event.size:
            yield Finished()

    def _broken(self, reason: str) -> Broken:
        self._next = frozenset()
        return Broken(reason)

    def _greeting(self, _: str, rest: bytes) -> Event:
        self._next = _PREPARING
        return Greeting(_text(rest.strip()))

    def _setting(self, name: str, rest: bytes) -> Event:
        word = rest.strip()
        return Setting(name, _number(name, _TRUTHS.get(word.lower(), word)))

    def _language(self, _: str, rest: bytes) -> Event:
        self._next = _SENDING
        return Language(_text(rest.strip()))

    def _file(self, name: str, rest: bytes) -> Event:
        parts = rest.split(b" ", 3)
        if len(parts) < 4 or not parts[3].strip():
            raise _FaultError("`file` has no name: it takes a number, a language, a size and a name")
        size = _number("size of a file", parts[2])
        self._files_left -= 1
        self._bytes_left -= size + len(rest)
        if self._files_left < 0:
            raise _FaultError(f"there are more than {self._allowed.files:,} files")
        if self._bytes_left < 0:
            raise _FaultError(f"the files have more than {self._allowed.bytes:,} bytes")
        self._missing = size
        return Begin(_number(name, parts[0]) == 0, size, _text(parts[3]))

    def _query(self, _: str, rest: bytes) -> Event:
        self._next = _ENDING
        return Query(_text(rest.partition(b" ")[2].strip()))

    def _end(self, _: str, _rest: bytes) -> Event:
        self._next = frozenset()
        return Farewell()


_COMMANDS = {
    "moss": Parser._greeting,
    **dict.fromkeys(SETTINGS, Parser._setting),
    "language": Parser._language,
    "file": Parser._file,
    "query": Parser._query,
    "end": Parser._end,
}
#: Commands that may come first, before the language, between the language and the query, and after it.
_GREETING = frozenset({"moss", "end"})
_PREPARING = frozenset({*SETTINGS, "language", "end"})
_SENDING = frozenset({*SETTINGS, "file", "query", "end"})
_ENDING = frozenset({"end"})


def _number(what: str, word: bytes) -> int:
    if not _NUMBER.fullmatch(word):
        raise _FaultError(f"`{what}` is not a number from 0")
    return int(word)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
