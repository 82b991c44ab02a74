"""Library messages in the words of the command line: ``min_score`` of a Python call is ``--min-score`` here.

The library names a parameter in three ways, and this module rewrites all three: directly in front of a quoted value
(``size `2` is too small``), as a keyword (``overwrite=True``, ``out=…``), and by a name of several words
(``max_errors``) anywhere. Text between backquotes belongs to the user and is never changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

_KEYWORD = re.compile(r"(?<![\w-])([a-z]\w*)=(True|…|[\w.\"']+)")
_LONG_NAME = re.compile(r"(?<![\w-])[a-z]+(?:[_-][a-z]+)+(?![\w-])")
_BEFORE_VALUE = re.compile(r"(?<![\w-])([a-z][a-z_-]*) $")


def flag(parameter: click.Parameter) -> str:
    """Return the first long name of an option: ``--min-score``, or ``-k`` where there is no other."""
    return next((name for name in parameter.opts if name.startswith("--")), parameter.opts[0])


def as_typed(message: str, command: click.Command) -> str:
    """Return a message with the parameters of the library named as options of a command."""
    flags = _flags(command.params)
    pieces = message.split("`")
    for at in range(0, len(pieces), 2):
        pieces[at] = _prose(pieces[at], flags, is_before_value=at + 1 < len(pieces))
    return "`".join(pieces)


def _flags(parameters: Iterable[click.Parameter]) -> dict[str, str]:
    """Return the options by the names that the library has for them."""
    names = (flag(one) for one in parameters if isinstance(one, click.Option))
    return {name.lstrip("-").replace("-", "_"): name for name in names}


def _prose(text: str, flags: dict[str, str], *, is_before_value: bool) -> str:
    def keyword(found: re.Match[str]) -> str:
        name, value = flags.get(found[1]), found[2]
        if name is None:
            return found[0]
        return name if value in ("True", "…") else f"{name} {value}"

    def long_name(found: re.Match[str]) -> str:
        return flags.get(found[0].replace("-", "_"), found[0])

    def name_of_value(found: re.Match[str]) -> str:
        return flags.get(found[1].replace("-", "_"), found[1]) + " "

    text = _LONG_NAME.sub(long_name, _KEYWORD.sub(keyword, text))
    return _BEFORE_VALUE.sub(name_of_value, text) if is_before_value else text
