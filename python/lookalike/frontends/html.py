"""Reads the visible text of HTML. Text that a browser does not show is left out, and counted if hidden on purpose.

lexbor parses the page, and the tree is walked without recursion. The parser takes quadratic time on deep nesting (29 s
for 100,000 open elements). So nesting is estimated first; beyond a limit the tags are removed, and a note says so.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from lookalike._types import counted
from lookalike.errors import FrontendError
from lookalike.frontends.decoding import decode, marked
from lookalike.frontends.readable import BuiltIn, Composer, Language, Readable

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

#: Most elements open at once; real pages stay below 100, and lexbor needs 2 ms for so many.
MAX_DEPTH = 1000
#: Most attributes of one element; lexbor compares each with all before it.
MAX_ATTRIBUTES = 2000


def names(text: str) -> frozenset[str]:
    """Return the words of a text: names of elements."""
    return frozenset(text.split())


_UNSEEN = names("head script style template noscript title iframe object svg math select datalist audio video")
_PREFORMATTED = names("pre textarea listing xmp")
_BLOCKS = names(
    "address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html li listing main menu nav ol option p pre section "
    "summary table tbody tfoot thead tr ul xmp"
)
_CELLS = names("td th")
#: Elements whose end tag is missing or optional; they do not add to the depth of ordinary pages.
_UNCLOSED = names(
    "area base br col embed hr img input link meta param source track wbr p li dt dd tr td th thead tbody tfoot option "
    "optgroup colgroup caption body html head"
)
#: Inside these elements, every element nests unless it closes itself.
_TAG = r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,15}+)(?:[^<>/]++|/(?!>))*+(/?)"
_HIDING = (
    r"(?i)display:none|visibility:(?:hidden|collapse)|opacity:0{0,9}\.?0{1,9}(?![.\d])|font-size:0(?![.\d])"
    r"|text-indent:-\d{3}"
)
_WHITE = r"(?i)(?<![-\w])color:(?:white|#f{3}(?:f{3})?(?![0-9a-f])|rgb\(255,255,255\))"
#: Text between two attributes; a quoted value counts once.
_BETWEEN = r"\"[^\"]*+\"?|'[^']*+'?|[\s/]++"
#: A tag, comment or element without text, for pages that are not parsed.
_MARKUP = (
    r"(?i)<!--(?:[^-]++|-(?!->))*+(?:-->)?+|<(script|style)\b(?:[^<]++|<(?!/(?:script|style)))*+"
    r"|</?[a-zA-Z!?](?:[^<>\"']++|\"[^\"]*+\"?|'[^']*+'?)*+>?+"
)
#: The HTML standard looks for it within so many bytes.
_CHARSET_WITHIN = 1024
#: Encodings of the web only. Python has others: some are slow (punycode), some make surrogates.
_CHARSET = (
    rb"(?i)<meta\b[^<>]*?\bcharset\s*=\s*[\"']?(utf-8|us-ascii|latin-?1|windows-\d{3,4}|iso-8859-\d\d?|koi8-[ru]|gb\w{1,6}|big5"
    rb"|shift_jis|euc-(?:jp|kr)|iso-2022-(?:jp|kr))(?![\w-])"
)
_SPACE = r"[ \t\n\r\f]+"


def read(data: bytes, language: str, comments: bool) -> Readable:
    """Return the visible text as one part."""
    from selectolax.lexbor import LexborHTMLParser

    source, notes = _source(data)
    composer = Composer([*notes])
    if (obstacle := obstacle_in(source)) is not None:
        text = stripped(source)
        composer.notes.append(f"{obstacle}; tags were cut out")
    else:
        page = VisibleText(LexborHTMLParser(source))
        text = page.text
        composer.notes += [f"hidden text: {counted(page.hidden, 'character')} left out"] if page.hidden else []
    if not text.strip():
        raise FrontendError("the page shows no text: it may be drawn by a script; save it from the browser as text")
    composer.part(text, "text")
    return composer.readable()


def _source(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the page's source. A byte-order mark and valid UTF-8 win over the encoding that the page declares."""
    text, notes = decode(data)
    if not notes or marked(data) is not None:
        return text, notes
    declared = re.search(_CHARSET, data[:_CHARSET_WITHIN])
    try:
        return (data.decode(declared.group(1).decode(), "replace"), ()) if declared else (text, notes)
    except (LookupError, UnicodeError):
        return text, notes


def obstacle_in(source: str) -> str | None:
    """Return why the parser would take quadratic time, or ``None``; the depth is an upper estimate."""
    depth = 0
    opened: Counter[str] = Counter()
    for tag in re.finditer(_TAG, source):
        closes, name, closes_itself = tag.groups()
        name = name.lower()
        is_foreign = opened["svg"] or opened["math"]
        if closes:
            # An end tag without a start tag closes nothing.
            step = -1 if opened[name] else 0
        else:
            step = 0 if (closes_itself and is_foreign) or (name in _UNCLOSED and not is_foreign) else 1
        opened[name] += step
        depth += step
        if depth > MAX_DEPTH:
            return f"nesting, more than {MAX_DEPTH:,} elements are open at once"
        if tag.end() - tag.start() > MAX_ATTRIBUTES and len(re.findall(_BETWEEN, tag.group())) > MAX_ATTRIBUTES:
            return f"more than {MAX_ATTRIBUTES:,} attributes on one element"
    return None


def stripped(source: str) -> str:
    """Return the text of a page whose tags are cut out, for pages that are not parsed."""
    from html import unescape

    lines = (line.strip() for line in unescape(re.sub(_MARKUP, "\n", source)).split("\n"))
    return "\n".join(line for line in lines if line)


class VisibleText:
    """Collects the visible text of a page, line by line, while its tree is walked."""

    def __init__(self, page: LexborHTMLParser) -> None:
        #: Characters of hidden text.
        self.hidden = 0
        self._pieces: list[str] = []
        self._verbatim = 0
        self._walk(page.root)

    @property
    def text(self) -> str:
        """The text, without empty lines at its ends."""
        return "".join(self._pieces).strip("\n")

    def _walk(self, node: LexborNode | None) -> None:
        opened: list[LexborNode] = []
        while node is not None:
            below = node.child if self._enter(node) else None
            if below is not None:
                opened.append(node)
                node = below
                continue
            self._leave(node)
            while node.next is None and opened:
                node = opened.pop()
                self._leave(node)
            node = node.next

    def _enter(self, node: LexborNode) -> bool:
        """Add a node; return whether its children are shown."""
        tag = node.tag or ""
        if tag == "-text":
            self._add(node.text_content or "")
        if not node.is_element_node or tag in _UNSEEN:
            return False
        if _is_hidden(node):
            self.hidden += len(re.sub(_SPACE, " ", node.text(deep=True) or "").strip())
            return False
        self._verbatim += tag in _PREFORMATTED
        if tag in _BLOCKS:
            self._break()
        return True

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _PREFORMATTED and self._verbatim:
            self._verbatim -= 1
        if tag in _BLOCKS:
            self._break()
        elif tag in _CELLS:
            self._pieces.append("\t")

    def _add(self, text: str) -> None:
        if not self._verbatim:
            text = re.sub(_SPACE, " ", text)
            if not self._pieces or self._pieces[-1][-1].isspace():
                text = text.lstrip(" ")
        if text:
            self._pieces.append(text)

    def _break(self) -> None:
        """End the line, if one was begun."""
        if self._pieces and not self._verbatim:
            self._pieces[-1] = self._pieces[-1].rstrip(" \t") or "\n"
        if self._pieces and not self._pieces[-1].endswith("\n"):
            self._pieces.append("\n")


def _is_hidden(node: LexborNode) -> bool:
    """Whether an element is hidden; white text without a background of its own counts as hidden."""
    attributes = node.attributes
    if "hidden" in attributes:
        return True
    style = "".join((attributes.get("style") or "").split())
    return bool(style) and bool(
        re.search(_HIDING, style) or (re.search(_WHITE, style) and "background" not in style.lower())
    )


FRONT_END = BuiltIn((Language("html", "format", ("htm", "xhtml"), (".html", ".htm", ".xhtml")),), read)
