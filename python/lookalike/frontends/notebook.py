"""Reads Jupyter notebooks: code and Markdown cells, each under a label; outputs are dropped.

Formats 4 (``cells``) and 3 (``worksheets``) are read; only what is used is validated. A code cell has the kernel's
language, or the one that a ``%%`` magic names. Lines with IPython magics and shell escapes are shown but not compared,
because they are not code of the language.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from lookalike.errors import FrontendError
from lookalike.frontends import lexed
from lookalike.frontends.decoding import decode
from lookalike.frontends.languages import CORE_LANGUAGES, LEXED_LANGUAGES
from lookalike.frontends.readable import BuiltIn, Composer, Language, Readable

#: The language of a notebook that names none.
DEFAULT_LANGUAGE = "python"

_CODE = {name: code for code in CORE_LANGUAGES + LEXED_LANGUAGES for name in (code.name, *code.aliases)}
_LEXED = frozenset(code.name for code in LEXED_LANGUAGES)
_MAGIC = r"[ \t]*[%!?][^\n]*"
_CELL_MAGIC = r"\s*%%(\w+)"


def read(data: bytes, language: str, comments: bool) -> Readable:
    """Return the cells. Errors: ``FrontendError`` if none has text."""
    composer = Composer()
    notebook, composer.notes[:] = _load(data)
    kernel = _kernel(notebook)
    for number, cell in enumerate(_cells(notebook), start=1):
        kind = cell.get("cell_type")
        source = _joined(cell.get("input" if "input" in cell else "source"))
        composer.mark(f"cell {number}" if kind != "code" else f"cell {number}, code")
        if kind == "code":
            own = cell.get("language")
            _add_code(composer, source, _resolved(own) if isinstance(own, str) else kernel, comments)
        else:
            composer.part(source, "text")
    readable = composer.readable()
    if not readable.parts:
        raise FrontendError("the notebook has no code and no text: its cells are empty")
    return readable


def _load(data: bytes) -> tuple[dict[str, Any], tuple[str, ...]]:
    text, notes = decode(data)
    try:
        notebook = json.loads(text)
    except RecursionError:
        raise FrontendError("no notebook: its JSON is nested too deeply") from None
    except ValueError:
        raise FrontendError("no notebook: its JSON is cut short or damaged; save it again") from None
    if not isinstance(notebook, dict):
        raise FrontendError("no notebook: its JSON is no object")
    return notebook, notes


def _cells(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    sheets = notebook.get("worksheets")
    owners = sheets if isinstance(sheets, list) and "cells" not in notebook else [notebook]
    lists = [owner.get("cells") for owner in owners if isinstance(owner, dict)]
    if not any(isinstance(cells, list) for cells in lists):
        raise FrontendError("no notebook: it has no list of cells")
    for cells in lists:
        yield from (cell for cell in cells or () if isinstance(cell, dict))


def _kernel(notebook: dict[str, Any]) -> str:
    """Return the language of the code cells; an unknown one is text."""
    metadata = notebook.get("metadata")
    for owner, key in (("language_info", "name"), ("kernelspec", "language"), ("kernelspec", "name")):
        section = metadata.get(owner) if isinstance(metadata, dict) else None
        name = section.get(key) if isinstance(section, dict) else None
        if isinstance(name, str) and name:
            return _resolved(name)
    return DEFAULT_LANGUAGE


def _resolved(name: str) -> str:
    name = name.lower()
    code = _CODE.get(name) or _CODE.get(name.rstrip("0123456789."))
    return code.name if code else "text"


def _joined(source: object) -> str:
    """Return a source, which is a string or a list of lines."""
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


def _add_code(composer: Composer, source: str, language: str, comments: bool) -> None:
    magic = re.match(_CELL_MAGIC, source) if language == DEFAULT_LANGUAGE else None
    if magic and magic.group(1).lower() in _CODE:
        language = _resolved(magic.group(1))
    run: list[str] = []
    for index, line in enumerate(source.splitlines(keepends=True)):
        is_magic = re.fullmatch(_MAGIC, line.rstrip("\r\n")) and (
            language == DEFAULT_LANGUAGE or (magic and index == 0)
        )
        if is_magic:
            _add_run(composer, run, language, comments)
            composer.aside(line)
        else:
            run.append(line)
    _add_run(composer, run, language, comments)


def _add_run(composer: Composer, run: list[str], language: str, comments: bool) -> None:
    if run:
        composer.part("".join(run), language, _tokens(composer, language, comments))
        run.clear()


def _tokens(composer: Composer, language: str, comments: bool) -> Callable[[str, int], bytes] | None:
    """Return the maker of a cell's tokens, for a language without a grammar in the core."""
    return partial(_lexed, composer, language, comments) if language in _LEXED else None


def _lexed(composer: Composer, language: str, comments: bool, text: str, offset: int) -> bytes:
    tokens, notes = lexed.tokenise(text, language, comments, offset)
    composer.notes += [note for note in notes if note not in composer.notes]
    return tokens


FRONT_END = BuiltIn((Language("notebook", "format", ("jupyter", "ipynb"), (".ipynb",)),), read)
