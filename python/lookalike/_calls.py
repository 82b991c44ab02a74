"""Helps the public calls with their parameters: docstrings made from ``params``, and the arguments that were given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from lookalike.params import Parameter

Call = TypeVar("Call", bound=Callable[..., Any])


def explained(*parameters: Parameter) -> Callable[[Call], Call]:
    """Replace the line ``:parameters:`` of a docstring by one ``:param`` line per parameter, made from its help."""
    told = [f":param {one.name}: {one.help}" + _default(one) for one in parameters]

    def explain(call: Call) -> Call:
        lines: list[str] = []
        for line in (call.__doc__ or "").splitlines():
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + one for one in told] if line.strip() == ":parameters:" else [line]
        call.__doc__ = "\n".join(lines)
        return call

    return explain


def given(parameters: Iterable[str], arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments for these parameters, without those left at ``None``."""
    return {name: arguments[name] for name in parameters if arguments[name] is not None}


def _default(parameter: Parameter) -> str:
    return "" if parameter.default in (None, False, ()) else f" Default: {parameter.default}."
