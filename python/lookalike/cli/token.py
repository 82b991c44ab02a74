"""``lookalike token``: makes a token for the service."""

from __future__ import annotations

import click

from lookalike import params
from lookalike.cli import options
from lookalike.cli.command import Command


@click.command(cls=Command, short_help="Make a token for `lookalike serve`.")
@click.argument("file", metavar="FILE", type=click.Path(dir_okay=False))
@options.all_options(params.GRANTING.values())
def token(file: str, name: str | None, scope: str, index: tuple[str, ...], expires: str | None) -> None:
    """Make a token, print it once, and add its hash to FILE, which only you can read.

    A running server reads FILE again when it changes: delete a line to withdraw its token.

    \b
    Examples:
      lookalike token tokens.jsonl --name lms --scope read,add --expires 90d
      lookalike token tokens.jsonl --name crawler --scope add --index crawl
    """
    from lookalike.service import tokens

    click.echo(tokens.make(file, name=name, scopes=scope.split(","), indexes=index, expires=expires))
