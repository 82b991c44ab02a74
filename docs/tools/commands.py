"""The reference of the command line, as Markdown: it follows from the commands and so from ``lookalike.params``."""

from __future__ import annotations

from collections.abc import Iterator

import click

from lookalike.cli.main import cli


def page() -> str:
    """Return one section for each command, with its help, examples and options."""
    return "\n".join(
        line for name, command in cli.commands.items() for line in _section(f"lookalike {name}", command, 2)
    )


def _section(path: str, command: click.Command, level: int) -> Iterator[str]:
    context = click.Context(command, info_name=path)
    yield f"{'#' * level} {path}\n"
    yield from _help(command.help or "")
    yield f"```text\n{' '.join([path, *command.collect_usage_pieces(context)])}\n```\n"
    options = [option for option in command.params if isinstance(option, click.Option)]
    if options:
        yield "| option | meaning | default |\n|---|---|---|"
        yield from (_row(option, context) for option in options)
        yield ""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from _section(f"{path} {name}", command.commands[name], level + 1)


def _help(text: str) -> Iterator[str]:
    """Give the paragraphs of a help text. One that click must not wrap holds examples."""
    for paragraph in map(str.strip, text.split("\n\n")):
        if not paragraph.startswith("\b"):
            yield f"{_plain(' '.join(paragraph.split()))}\n"
            continue
        lines = paragraph.removeprefix("\b").strip("\n").splitlines()
        shown = [line.strip() for line in lines if line.strip().startswith(("lookalike", "cat ", "zcat "))]
        yield "```sh\n" + "\n".join(shown) + "\n```\n"


def _row(option: click.Option, context: click.Context) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    kind = "" if option.is_flag else f" {_kind(option, context)}"
    default = option.default if option.show_default or isinstance(option.default, int | float) else None
    shown = "" if default is None or isinstance(default, bool) else f"`{default}`"
    return f"| {names}{kind} | {_plain(option.help or '')} | {shown} |"


def _kind(option: click.Option, context: click.Context) -> str:
    """Name what an option takes: its choices, or the kind of its value."""
    if isinstance(option.type, click.Choice):
        return ", ".join(f"*{choice}*" for choice in option.type.choices)
    return f"*{(option.metavar or option.make_metavar(context)).lower()}*"


def _plain(text: str) -> str:
    """Make a help text safe for a cell of a table."""
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "\\<")
