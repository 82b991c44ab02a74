"""Front ends: a document's bytes → readable text and its parts. The only place that knows formats.

A new front end is one file. It declares ``FRONT_END``: the languages it knows (name, aliases, suffixes) and a function
from bytes to :class:`Readable`; its name in ``_MODULES`` below puts it into ``-l``, ``-l auto`` and the documents. A
new lexed language is one row in ``languages.py`` and one in ``syntax.py``.

Tokens are made by the core from the parts, save for the languages of ``lexed``. Packages that read formats are imported
when the first such document is met.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from lookalike.errors import FrontendError, ParameterError
from lookalike.frontends import detection, docx, html, lexed, notebook, pdf, plain
from lookalike.frontends.readable import FrontEnd, Language, Part, Readable

_MODULES = (plain, lexed, html, pdf, docx, notebook)
_FRONT_ENDS: dict[str, FrontEnd] = {
    language.name: module.FRONT_END for module in _MODULES for language in module.FRONT_END.languages
}

#: Every language by its own name.
LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {language.name: language for module in _MODULES for language in module.FRONT_END.languages}
)
_ALIASES = {alias: language.name for language in LANGUAGES.values() for alias in (language.name, *language.aliases)}
#: Language by file name and by suffix.
_KNOWN = {key: language.name for language in LANGUAGES.values() for key in (*language.names, *language.suffixes)}
#: What is read as itself whatever language was asked for: the bytes are no text of any language.
_CONTAINERS = frozenset(("pdf", "docx", "notebook"))

AUTO = "auto"


def resolve(language: str) -> str:
    """Return a language's own name for any name it goes by; ``auto`` stays."""
    name = language.lower()
    if name == AUTO:
        return name
    if name not in _ALIASES:
        known = ", ".join(sorted(LANGUAGES))
        raise ParameterError(f"language `{language}` is not known: use {AUTO} or one of {known}")
    return _ALIASES[name]


def detect(name: str, data: bytes) -> str:
    """Return the language of a document, or ``binary``."""
    return detection.detect(name, data, _KNOWN)


def read(name: str, data: bytes, language: str = AUTO, *, comments: bool = False) -> Readable:
    """Return the readable text of a document and its parts.

    A language that is given wins over name and content, except that PDF, Word and notebook files are always read as
    such.

    Errors: ``FrontendError`` with the reason when nothing can be read.
    """
    asked = resolve(language)
    found = detect(name, data) if asked == AUTO or name.lower().endswith(".ipynb") else detection.container(data)
    chosen = found if found is not None and (asked == AUTO or found in _CONTAINERS) else asked
    what = None if chosen in detection.NOT_TEXT else detection.what_binary(data)
    if what is not None:
        raise FrontendError(f"binary, not text: {what}")
    readable = _FRONT_ENDS[chosen].read(data, chosen, comments)
    return readable._replace(format=chosen) if LANGUAGES[chosen].kind == "format" else readable


__all__ = ["AUTO", "LANGUAGES", "FrontEnd", "Language", "Part", "Readable", "detect", "read", "resolve"]
