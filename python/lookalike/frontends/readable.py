"""The result of a front end: a readable text, and its parts, each in one language.

The readable text is what people see in a report. For plain text and code it is the document's own bytes, unchanged; for
other formats it is the extracted text, a ``str``. Parts ascend and do not overlap. Text between them (labels of pages,
cells and notes) is shown but never compared. Nothing separates the tokens of one part from those of the next, so a
passage may cross a page break.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, Protocol

from lookalike.tokens import Tokens

#: What makes the tokens: a grammar or the words of the core, a lexer of this package, or a front end of the user's own.
Kind = Literal["core", "lexer", "format", "text", "own"]


class Language(NamedTuple):
    """A language that ``-l`` accepts, with the names of its files.

    >>> from lookalike.frontends.readable import Language
    >>> Language("basic", suffixes=(".bas",)).kind
    'own'
    """

    name: str
    kind: Kind = "own"
    aliases: tuple[str, ...] = ()
    #: Suffixes of its files, in lower case, with the dot.
    suffixes: tuple[str, ...] = ()
    #: Whole file names in lower case.
    names: tuple[str, ...] = ()


class Part(NamedTuple):
    """A part of the readable text in one language; offsets count characters of a ``str`` and bytes of ``bytes``."""

    language: str
    start: int
    end: int
    #: The tokens, if a front end makes them (see ``lexed``): u32 triples (start, end, class), little-endian.
    lexed: bytes | None = None
    #: The value of each of these tokens, if the front end decides it; then classes are not used.
    values: Sequence[int] | None = None


class Readable(NamedTuple):
    """A document as it is shown and compared.

    >>> from lookalike.frontends.readable import Part, Readable
    >>> Readable("some words", (Part("text", 0, 10),)).notes
    ()
    """

    text: str | bytes
    parts: tuple[Part, ...]
    #: Remarks for the reader of the result: what was left out, guessed or degraded.
    notes: tuple[str, ...] = ()
    #: Where a page, cell or note begins, and its label: "page 3", "cell 2, code".
    places: tuple[tuple[int, str], ...] = ()
    #: The format it was extracted from; empty if the document is its own readable text.
    format: str = ""

    @classmethod
    def of_tokens(cls, tokens: Tokens, language: str, notes: Iterable[str] = ()) -> Readable:
        """Return a document of which a front end made the tokens.

        >>> from lookalike.tokens import Tokens
        >>> made = Readable.of_tokens(Tokens(["a", "b"], spans=[(0, 1), (4, 5)], text="A   B"), "letters")
        >>> made.text, made.parts[0].language, len(made.parts[0].values)
        ('A   B', 'letters', 2)
        """
        text, spans = tokens.laid_out()
        triples = array("I", [number for start, end in spans for number in (start, end, 0)])
        if sys.byteorder == "big":
            triples.byteswap()
        return cls(text, (Part(language, 0, len(text), triples.tobytes(), tokens.values),), tuple(notes))


class Extract(NamedTuple):
    """The readable text of a document, where no tokens of code are wanted."""

    #: The bytes themselves for text and code.
    text: str | bytes
    notes: tuple[str, ...] = ()
    #: The format it was extracted from; empty if the document is its own readable text.
    format: str = ""


class FrontEnd(Protocol):
    """A reader of documents: the languages it knows, and how it reads their bytes. docs/frontends.md has an example.

    >>> import lookalike as la
    >>> class Notes:
    ...     languages = (la.Language("notes", suffixes=(".notes",)),)
    ...     def read(self, data, language, comments):
    ...         return la.Readable.of_tokens(la.Tokens(data.decode().split()), language)
    >>> from lookalike import frontends
    >>> readable = frontends.read("song.notes", b"c d e", among=frontends.with_own([Notes()]))
    >>> len(readable.parts[0].values)
    3
    """

    @property
    def languages(self) -> Sequence[Language]:
        """The languages it knows, with the names of their files."""

    def read(self, data: bytes, language: str, comments: bool) -> Readable:
        """Read a document in one of its languages; ``comments`` says whether comments are compared.

        Errors: ``FrontendError`` if the document cannot be read. The comparison then lists it and goes on.
        """


class BuiltIn(NamedTuple):
    """A front end as a module of this package declares it."""

    languages: tuple[Language, ...]
    #: Takes the bytes, the name of the language, and whether comments are compared.
    read: Callable[[bytes, str, bool], Readable]


def well_formed(text: str) -> str:
    """Replace lone surrogates, which no encoding can write, by U+FFFD.

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
    """Builds a readable text piece by piece and records where its parts are."""

    def __init__(self, notes: Iterable[str] = ()) -> None:
        self.notes = [*notes]
        self._pieces: list[str] = []
        self._parts: list[Part] = []
        self._places: list[tuple[int, str]] = []
        self._size = 0

    def mark(self, label: str) -> None:
        """Add a label: a line that is shown and never compared."""
        self._places.append((self._size, label))
        self._append(f"— {label} —\n")

    def aside(self, text: str) -> None:
        """Add text that is shown and never compared, with a line break at its end."""
        self._append(_ended(well_formed(text)))

    def part(self, text: str, language: str, tokens: Callable[[str, int], bytes] | None = None) -> None:
        """Add a part, and after it a line break if it lacks one; ``tokens`` makes its tokens from text and start."""
        text = well_formed(text)
        if text.strip():
            lexed = tokens(text, self._size) if tokens else None
            self._parts.append(Part(language, self._size, self._size + len(text), lexed))
        self._append(_ended(text))

    def _append(self, text: str) -> None:
        self._pieces.append(text)
        self._size += len(text)

    def readable(self) -> Readable:
        """Return the document."""
        return Readable("".join(self._pieces), tuple(self._parts), tuple(self.notes), tuple(self._places))
