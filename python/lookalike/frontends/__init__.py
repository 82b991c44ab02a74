"""Front ends: read a document's bytes as text and parts. The only place that knows formats.

A built-in front end is one file. It declares ``FRONT_END``: its languages (name, aliases, suffixes) and a function from
bytes to :class:`Readable`. Listing the file in ``_MODULES`` below adds it to ``-l``, ``-l auto`` and the documentation.
A new lexed language is one row in ``languages.py`` and one in ``syntax.py``.

A front end of one's own is a class with ``languages`` and ``read`` (:class:`FrontEnd`). It is passed to ``compare``, or
found by the entry point group ``lookalike.frontends``. It is chosen by file name before all others (docs/frontends.md).

The core makes tokens from the parts, except for the languages of ``lexed`` and of one's own front ends. Packages that
read formats are imported when the first such document is met.
"""

from __future__ import annotations

import contextlib
import glob
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from lookalike.errors import FrontendError, ParameterError
from lookalike.frontends import detection, docx, extraction, html, lexed, mail, notebook, pdf, plain
from lookalike.frontends.readable import BuiltIn, Extract, FrontEnd, Language, Part, Readable

_MODULES = (plain, lexed, html, pdf, docx, notebook, mail)
_BUILT_IN: tuple[FrontEnd, ...] = tuple(module.FRONT_END for module in _MODULES)
#: Documents that are read as themselves whatever language was asked for, because their bytes are no text.
_CONTAINERS = frozenset(("pdf", "docx", "notebook"))

AUTO = "auto"
#: The entry point group in which installed packages declare front ends.
GROUP = "lookalike.frontends"


class FrontEnds:
    """The front ends of one comparison: the built-in ones, and the user's own, which win over them."""

    def __init__(self, own: Sequence[FrontEnd] = ()) -> None:
        pairs = [(language, one) for one in (*_BUILT_IN, *own) for language in one.languages]
        self._readers = {language.name: one for language, one in pairs}
        #: Every language by its own name.
        self.languages: Mapping[str, Language] = MappingProxyType({language.name: language for language, _ in pairs})
        self._aliases = {alias: each.name for each in self.languages.values() for alias in (each.name, *each.aliases)}
        #: Language by file name and by suffix; of the user's own front ends, and of all.
        self._own = _known(language for one in own for language in one.languages)
        self._known = _known(self.languages.values())

    def confine(self) -> None:
        """Have HTML and mail read in worker processes, as PDF and Word files always are."""
        for format, module in (("html", html), ("mail", mail)):
            inside = BuiltIn(module.FRONT_END.languages, extraction.reader(format))
            same = [name for name, one in self._readers.items() if one is module.FRONT_END]
            self._readers |= dict.fromkeys(same, inside)

    def resolve(self, language: str) -> str:
        """Return a language's own name for any of its names; ``auto`` stays. Errors: ``ParameterError``."""
        name = language.lower()
        if name == AUTO:
            return name
        if name not in self._aliases:
            known = ", ".join(sorted(self.languages))
            raise ParameterError(f"language `{language}` is not known: use {AUTO} or one of {known}")
        return self._aliases[name]

    def detect(self, name: str, data: bytes) -> str:
        """Return the language of a document, or ``binary``."""
        return self._owned(name) or detection.detect(name, data, self._known)

    def read(self, name: str, data: bytes, language: str = AUTO, *, comments: bool = False) -> Readable:
        """Return the readable text of a document and its parts. Errors: ``FrontendError``, ``ParameterError``."""
        asked = self.resolve(language)
        if (own := self._owned(name)) is not None and asked == AUTO:
            return self._by(own, data, comments)
        if asked != AUTO and self.languages[asked].kind == "own":
            return self._by(asked, data, comments)
        by_name = asked == AUTO or name.lower().endswith(".ipynb")
        found = self.detect(name, data) if by_name else detection.container(data)
        chosen = found if found is not None and (asked == AUTO or found in _CONTAINERS) else asked
        what = None if chosen in detection.NOT_TEXT else detection.what_binary(data)
        if what is not None:
            raise FrontendError(f"binary, not text: {what}")
        return self._by(chosen, data, comments)

    def extract(self, name: str, data: bytes) -> Extract:
        """Return the readable text of a document, without tokens: the bytes themselves for text and code.

        Labels of pages, cells and messages are left out. Errors: ``FrontendError``.
        """
        found = self._owned(name) or detection.extracted(name, data, self._known)
        if found is None or self.languages[found].kind not in ("format", "own"):
            what = detection.what_binary(data)
            if what is not None:
                raise FrontendError(f"binary, not text: {what}")
            return Extract(data)
        whole, parts, notes, *_ = self._by(found, data, comments=False)
        if len(parts) == 1 and (parts[0].start, parts[0].end) == (0, len(whole)):
            return Extract(whole, notes, found)
        if isinstance(whole, str):
            return Extract("\n".join(whole[part.start : part.end] for part in parts), notes, found)
        return Extract(b"\n".join(whole[part.start : part.end] for part in parts), notes, found)

    def _by(self, language: str, data: bytes, comments: bool) -> Readable:
        readable = self._readers[language].read(data, language, comments)
        return readable._replace(format=language) if self.languages[language].kind == "format" else readable

    def _owned(self, name: str) -> str | None:
        """Return the language that one of the user's own front ends has for a file name."""
        base = name.replace("\\", "/").rpartition("/")[2].lower()
        dot = base.rfind(".")
        return self._own.get(base) or (self._own.get(base[dot:]) if dot > 0 else None)


def _known(languages: Iterable[Language]) -> dict[str, str]:
    return {key: language.name for language in languages for key in (*language.names, *language.suffixes)}


@cache
def installed() -> FrontEnds:
    """Return the built-in front ends and those of installed packages. Errors: ``ParameterError``."""
    return FrontEnds(_entry_points())


def with_own(own: Sequence[FrontEnd]) -> FrontEnds:
    """Return the installed front ends and more. Errors: ``ParameterError``."""
    return FrontEnds((*_entry_points(), *own)) if own else installed()


def _entry_points() -> list[FrontEnd]:
    """Return the front ends that installed packages declare: instances, or classes to be called without arguments."""
    if not any(map(_declares, sys.path)):
        return []
    from importlib.metadata import entry_points

    found: list[FrontEnd] = []
    for point in entry_points(group=GROUP):
        try:
            loaded = point.load()
            found.append(loaded() if isinstance(loaded, type) else loaded)
        except Exception as error:
            raise ParameterError(
                f"front end `{point.name}` of `{point.value}` cannot be loaded: {type(error).__name__}: {error}"
            ) from error
    return found


def _declares(folder: str) -> bool:
    """Whether a package in a folder of ``sys.path`` declares front ends; ``importlib.metadata`` loads slowly."""
    for path in glob.iglob(os.path.join(glob.escape(folder or "."), "*-info", "entry_points.txt")):
        with contextlib.suppress(OSError), open(path, "rb") as file:
            if GROUP.encode() in file.read():
                return True
    return False


#: Every built-in language by its own name.
LANGUAGES: Mapping[str, Language] = FrontEnds().languages


def resolve(language: str) -> str:
    """Return a language's own name for any of its names; ``auto`` stays. Errors: ``ParameterError``."""
    return installed().resolve(language)


def detect(name: str, data: bytes) -> str:
    """Return the language of a document, or ``binary``."""
    return installed().detect(name, data)


def read(
    name: str, data: bytes, language: str = AUTO, *, comments: bool = False, among: FrontEnds | None = None
) -> Readable:
    """Return the readable text of a document and its parts.

    A language that is given wins over name and content, except that PDF, Word and notebook files are always read as
    such.

    :param name: The name of the file, which decides its language together with its content.
    :param data: Its bytes.
    :param language: The name of a language, or ``auto``.
    :param comments: Whether comments are compared.
    :param among: The front ends to choose from. Default: the installed ones.
    :raises FrontendError: The document cannot be read; the message is the reason.
    :raises ParameterError: The language is not known.

    >>> read("hello.py", b"print(1)").parts[0].language
    'python'
    """
    return (among or installed()).read(name, data, language, comments=comments)


def extract(name: str, data: bytes) -> Extract:
    """Return the readable text of a document, without tokens: the bytes themselves for text and code.

    This is how every job reads a document that compares no code: a page of HTML, a PDF or a mail is its text.

    :param name: The name of the file, which decides its format together with its content.
    :param data: Its bytes.
    :raises FrontendError: The document cannot be read; the message is the reason.

    >>> extract("page.html", b"<p>Hello, <b>world</b></p>").text, extract("page.txt", b"<p>Hello</p>").text
    ('Hello, world', b'<p>Hello</p>')
    """
    return installed().extract(name, data)


__all__ = [
    "AUTO",
    "GROUP",
    "LANGUAGES",
    "Extract",
    "FrontEnd",
    "FrontEnds",
    "Language",
    "Part",
    "Readable",
    "detect",
    "extract",
    "installed",
    "read",
    "resolve",
    "with_own",
]
