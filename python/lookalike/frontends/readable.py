"""What a front end hands over: a readable text, and which stretch of it is to be read as which language.

The readable text is what people see in a report. For plain text and code it is the document's own bytes, untouched; for
anything else it is the kept extraction, a ``str``. Parts ascend and do not overlap. What lies between them (page, cell
and note marks) is shown but never compared. Nothing separates the tokens of one part from those of the next, so a
passage may run over a page break.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

#: Who makes the tokens: the core by a grammar or by words, or a front end here.
Kind = Literal["core", "lexer", "format", "text"]


class Language(NamedTuple):
    """A name that ``-l`` accepts, and by what names its files go."""

    name: str
    kind: Kind
    aliases: tuple[str, ...] = ()
    #: In lower case, with the dot.
    suffixes: tuple[str, ...] = ()
    #: Whole file names in lower case.
    names: tuple[str, ...] = ()


class Part(NamedTuple):
    """A stretch of the readable text in one language: characters of a ``str``, bytes of ``bytes``."""

    language: str
    start: int
    end: int
    #: The tokens where they are made here (see ``lexed``): u32 triples (start, end, class), little-endian.
    lexed: bytes | None = None


class Readable(NamedTuple):
    """A document as it will be read and compared."""

    text: str | bytes
    parts: tuple[Part, ...]
    #: What the reader of the result must know: what was left out, guessed or degraded.
    notes: tuple[str, ...] = ()
    #: Where what a mark announces begins, and what it is called: "page 3", "cell 2, code".
    places: tuple[tuple[int, str], ...] = ()
    #: The format it was extracted from; empty where the document is its own readable text.
    format: str = ""


class FrontEnd(NamedTuple):
    """What a module of this package declares: the languages it knows, and how their documents are read."""

    languages: tuple[Language, ...]
    #: From bytes, the language's name and whether comments count.
    read: Callable[[bytes, str, bool], Readable]


def well_formed(text: str) -> str:
    """Replace lone surrogates by U+FFFD: they are no characters, and no encoding can write them.

    >>> well_formed("a\\ud800b")
    'a\\ufffdb'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


class Composer:
    """Builds a readable text piece by piece and keeps count of where its parts lie."""

    def __init__(self, notes: Iterable[str] = ()) -> None:
        self.notes = [*notes]
        self._pieces: list[str] = []
        self._parts: list[Part] = []
        self._places: list[tuple[int, str]] = []
        self._size = 0

    def mark(self, label: str) -> None:
        """Add a line that is shown and never compared."""
        self._places.append((self._size, label))
        self._append(f"— {label} —\n")

    def aside(self, text: str) -> None:
        """Add text that is shown and never compared, and the line break it lacks."""
        self._append(_ended(well_formed(text)))

    def part(self, text: str, language: str, tokens: Callable[[str, int], bytes] | None = None) -> None:
        """Add a part, and outside it the line break it lacks; ``tokens`` makes its tokens from text and start."""
        text = well_formed(text)
        if text.strip():
            lexed = tokens(text, self._size) if tokens else None
            self._parts.append(Part(language, self._size, self._size + len(text), lexed))
        self._append(_ended(text))

    def _append(self, text: str) -> None:
        self._pieces.append(text)
        self._size += len(text)

    def readable(self) -> Readable:
        """Return what was built."""
        return Readable("".join(self._pieces), tuple(self._parts), tuple(self.notes), tuple(self._places))
