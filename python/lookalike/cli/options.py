"""Options that several commands share, each defined once, and the check for options without effect."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from lookalike import _types
from lookalike.cli.wording import flag
from lookalike.errors import ParameterError
from lookalike.params import Parameter

Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Function], Function]

#: Suffixes of files. A folder of a report that ends like this is a mistake.
_FILES = (".html", ".htm", ".json", ".csv", ".pdf", ".zip")


class Number(click.ParamType):  # type: ignore[type-arg]
    """A number in the digits 0 to 9, within its range. click's own types also take ``1_0`` and ``nan``."""

    def __init__(self, parameter: Parameter) -> None:
        self.name = "integer" if parameter.kind is int else "float"
        self._parameter = parameter

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number. Errors: ``ParameterError``."""
        if not isinstance(value, str):
            return value
        name = flag(param) if param is not None else self._parameter.option
        try:
            number = _types.whole(value) if self._parameter.kind is int else _types.decimal(value)
        except ValueError:
            kind = "whole number" if self._parameter.kind is int else "number"
            raise ParameterError(f"{name} `{value}` is not a {kind}: use the digits 0 to 9") from None
        if refusal := self._parameter.refusal(number):
            raise ParameterError(f"{name} `{value}` {refusal}")
        return number


def option(parameter: Parameter, **extra: Any) -> Callable[[Function], Function]:
    """Make a click option: its name, type, default and help come from the parameter's definition."""
    # Messages name the first long option: other names of it stand behind.
    short = [flag for flag in parameter.flags if not flag.startswith("--")]
    others = [flag for flag in parameter.flags if flag.startswith("--")]
    names = (*short, parameter.option, *others) if len(parameter.name) > 1 else parameter.flags
    if parameter.kind is bool:
        return click.option(
            *names, parameter.name, is_flag=True, default=parameter.default, help=parameter.help, **extra
        )
    kind: Any = click.Choice(parameter.choices) if parameter.choices else parameter.kind
    if parameter.kind in (int, float):
        kind = Number(parameter)
    if parameter.is_path:
        kind = click.Path()
    shown = parameter.default is not None and not (parameter.many and not parameter.default)
    return click.option(
        *names,
        parameter.name,
        default=parameter.default,
        show_default=shown,
        multiple=parameter.many,
        help=parameter.help,
        **{"type": kind} | extra,
    )


def all_options(parameters: Iterable[Parameter], **extra: Mapping[str, Any]) -> Callable[[Function], Function]:
    """Add the options of several parameters in this order; ``extra`` has more arguments for some of them, by name."""

    def add(command: Function) -> Function:
        for parameter in reversed(list(parameters)):
            command = option(parameter, **extra.get(parameter.name, {}))(command)
        return command

    return add


def out(what: str, **extra: Any) -> Callable[[Function], Function]:
    """Make ``-o/--out``; ``what`` says what is written there."""
    return click.option("-o", "--out", **{"type": click.Path()} | extra, help=f"Where to write {what}.")


def report_folder(what: str, **extra: Any) -> Callable[[Function], Function]:
    """Make ``-o/--out`` for a folder of several files."""
    return out(what, type=click.Path(file_okay=False, path_type=Path), callback=_folder, **extra)


def _folder(_context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and not path.is_dir() and path.suffix.lower() in _FILES:
        raise ParameterError(
            f"{flag(parameter)} `{path}` must be a folder, and `{path.suffix}` is the suffix of a file: "
            "use a name without it"
        )
    return path


overwrite = click.option("--overwrite", is_flag=True, help="Replace outputs that exist.")
strict = click.option("--strict", is_flag=True, help="Exit with code 3 if any input could not be read.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON document.")
quiet = click.option("--quiet", is_flag=True, help="Print no progress and no notes.")
open_report = click.option("--open", "open_report", is_flag=True, help="Open the report in the browser.")


def given(context: click.Context, names: Collection[str] | None = None) -> set[str]:
    """Return the options, of all or of these, that stand on the command line."""
    typed = click.core.ParameterSource.COMMANDLINE
    chosen = (one.name or "" for one in context.command.params if names is None or one.name in names)
    return {name for name in chosen if context.get_parameter_source(name) is typed}


def refuse_unused(context: click.Context, names: Collection[str], condition: str, remedy: str = "leave it out") -> None:
    """Refuse options that were typed and have no effect. Errors: ``ParameterError``, which names the first of them."""
    typed = given(context, names)
    for parameter in context.command.params:
        if parameter.name in typed:
            raise ParameterError(f"{flag(parameter)} has no effect {condition}: {remedy}")


def refuse_unused_by(context: click.Context, chooser: str, users: Mapping[str, Collection[str]]) -> None:
    """Refuse options that the chosen value of ``chooser`` ignores. ``users``: for each option the values that use it.

    Errors: ``ParameterError``.
    """
    chosen = context.params[chooser]
    for name, values in users.items():
        if chosen not in values:
            option_ = "--" + chooser.replace("_", "-")
            remedy = f"leave it out, or use {option_} {' or '.join(values)}"
            refuse_unused(context, {name}, f"with {option_} {chosen}", remedy)


def use_threads(threads: int) -> int | None:
    """Set the number of threads of the core's shared pool. REQUIRES: nothing ran in that pool before."""
    from lookalike.engines import local

    if local.checked(threads):
        os.environ["RAYON_NUM_THREADS"] = str(threads)
    return threads or None
