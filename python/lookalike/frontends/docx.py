"""Reads Word documents: the body, then notes, comments, headers and footers, each under a label.

The standard library inflates the members of the archive within limits and streams their XML, so there is no tree and no
recursion. Nothing is expanded: a document type declaration, which entity bombs need and the format forbids, is refused;
cell spans and list numbers are not written out.

Inserted text of tracked changes is read, deleted text is not. Hidden text, and white text outside tables and without
shading, is left out and counted.
"""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING

from lookalike._types import counted
from lookalike.errors import FrontendError
from lookalike.frontends.extraction import reader
from lookalike.frontends.readable import BuiltIn, Composer, Language, Readable

if TYPE_CHECKING:
    from zipfile import ZipFile

#: Most bytes of all inflated members of a document.
MAX_EXPANDED = 256 << 20
#: Most times they may be larger than the document; XML of real documents compresses 5 to 30 times.
MAX_RATIO = 200
#: Below this size the ratio is not checked, because small members compress better.
_SMALL = 1 << 20
#: Most members; real documents have a few dozen.
MAX_MEMBERS = 10_000
#: The stories that are read, in this order, by the beginning of the member's name.
STORIES = (
    ("document", "body"),
    ("footnotes", "footnotes"),
    ("endnotes", "endnotes"),
    ("comments", "comments"),
    ("header", "header"),
    ("footer", "footer"),
)

_UNREADABLE = "no Word document that can be read: cut short or damaged; open and save it again"
_BOMB = "inflates to more than it can hold: refused as an archive bomb"


def read(data: bytes, language: str, comments: bool) -> Readable:
    """Return the text of all stories of the document."""
    composer = Composer()
    hidden = 0
    for label, story in _stories(data):
        text = _Story()
        text.feed(story)
        if text.shown.strip():
            composer.mark(label)
            composer.part(text.shown, "text")
        hidden += text.hidden
    composer.notes += [f"hidden text: {counted(hidden, 'character')} left out"] if hidden else []
    readable = composer.readable()
    if not readable.parts:
        raise FrontendError("the document holds no text: only pictures? run OCR over it first")
    return readable


def _stories(data: bytes) -> list[tuple[str, bytes]]:
    """Return label and XML of each story, in the order they are read."""
    from zipfile import BadZipFile, ZipFile

    left = min(MAX_EXPANDED, max(_SMALL, len(data) * MAX_RATIO))
    found: list[tuple[str, bytes]] = []
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            for label, member in _members(archive):
                with archive.open(member) as file:
                    found.append((label, file.read(left + 1)))
                left -= len(found[-1][1])
                if left < 0:
                    raise FrontendError(_BOMB)
    except (BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        raise (error if isinstance(error, FrontendError) else FrontendError(_UNREADABLE)) from None
    return found


def _members(archive: ZipFile) -> list[tuple[str, str]]:
    """Return label and name of the members that hold stories."""
    names = sorted({name for name in archive.namelist() if name.startswith("word/") and name.count("/") == 1})
    if len(names) > MAX_MEMBERS:
        raise FrontendError(_BOMB)
    found = []
    for beginning, label in STORIES:
        for name in names:
            stem = name.removeprefix("word/").removesuffix(".xml")
            if name.endswith(".xml") and stem.rstrip("0123456789") == beginning:
                found.append((label, name))
    return found


class _Story:
    """Collects the text of one XML member while it is parsed."""

    def __init__(self) -> None:
        self.hidden = 0
        self._pieces: list[str] = []
        #: How many elements with hidden content are open.
        self._skipped = 0
        self._in_text = False
        self._in_table = 0
        self._is_white = self._is_shaded = self._is_vanished = False

    @property
    def shown(self) -> str:
        """The text."""
        return "".join(self._pieces)

    def feed(self, xml: bytes) -> None:
        """Parse a member."""
        from xml.parsers import expat

        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        try:
            parser.Parse(xml, True)
        except expat.ExpatError:
            raise FrontendError(_UNREADABLE) from None

    def _refuse(self, *_: object) -> None:
        raise FrontendError("declares a document type, which Word documents must not: refused as an entity bomb")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if self._skipped or tag in _SKIPPED:
            self._skipped += 1
        elif tag == "t":
            self._in_text = True
        elif tag in _WRITTEN:
            self._pieces.append(_WRITTEN[tag])
        elif tag == "tbl":
            self._in_table += 1
        elif tag in ("p", "r"):
            self._is_white = self._is_vanished = False
            self._is_shaded = self._is_shaded and tag == "r"
        else:
            self._property(tag, attributes)

    def _property(self, tag: str, attributes: dict[str, str]) -> None:
        value = next((value for key, value in attributes.items() if key.endswith(" val")), "").lower()
        if tag in ("vanish", "webHidden"):
            self._is_vanished = value not in ("0", "false", "off")
        elif tag == "color":
            self._is_white = value == "ffffff"
        elif tag in ("shd", "highlight"):
            self._is_shaded = True

    def _end(self, name: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        tag = name.rpartition(" ")[2]
        if tag == "t":
            self._in_text = False
        elif tag == "tbl":
            self._in_table -= 1
        elif tag == "r":
            self._is_white = self._is_vanished = False
        elif tag in ("p", "tr"):
            self._pieces.append("\n")
        elif tag == "tc":
            self._end_cell()

    def _end_cell(self) -> None:
        """Keep a row in one line: the last paragraph of a cell ends with a tab."""
        if self._pieces and self._pieces[-1] == "\n":
            self._pieces[-1] = "\t"

    def _characters(self, text: str) -> None:
        if not self._in_text:
            return
        if self._is_vanished or (self._is_white and not self._is_shaded and not self._in_table):
            self.hidden += len(text.strip())
        else:
            self._pieces.append(text)


#: Content that is not shown: deleted text, field codes, and the second copy of a text box for old programs.
_SKIPPED = frozenset(("del", "moveFrom", "delText", "instrText", "delInstrText", "Fallback"))
_WRITTEN = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}

FRONT_END = BuiltIn((Language("docx", "format", ("word",), (".docx", ".docm", ".dotx")),), reader("docx"))
