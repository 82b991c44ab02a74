"""The click command that every command uses: options under headings, and errors in the words of the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from lookalike.cli.shell import spoken_errors
from lookalike.cli.wording import as_typed

#: Options that have another name now.
RENAMED = {"--max-page-bytes": "--max-size"}


class Command(click.Command):
    """A command whose help shows its options under headings.

    ``groups`` maps a heading to the names of its options. Options that no heading names come last.
    """

    def __init__(self, *arguments: Any, groups: Mapping[str, Sequence[str]] | None = None, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.groups = dict(groups or {})

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, one list for each heading."""
        options = (parameter for parameter in self.get_params(ctx) if isinstance(parameter, click.Option))
        shown = {option.name: option.get_help_record(ctx) for option in options}
        rows = {name: row for name, row in shown.items() if row is not None}
        named = {name for names in self.groups.values() for name in names}
        rest = [name for name in rows if name not in named]
        for heading, names in {**self.groups, "Other" if self.groups else "Options": rest}.items():
            with formatter.section(heading):
                formatter.write_dl([rows[name] for name in names if name in rows])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options. One that has another name now is refused with that name."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = RENAMED.get(error.option_name)
            if name is None or all(name not in parameter.opts for parameter in self.params):
                raise
            raise click.UsageError(f"{error.option_name} is now called {name}", ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Errors that a user can cause become one line and an exit code."""
        with spoken_errors(lambda message: as_typed(message, self)):
            return super().invoke(ctx)
