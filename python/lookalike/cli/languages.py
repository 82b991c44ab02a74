"""``lookalike languages``: the names that ``compare -l`` accepts."""

from __future__ import annotations

import json

import click

from lookalike.cli import options
from lookalike.cli.command import Command


@click.command(cls=Command, short_help="List the languages that `compare -l` accepts.")
@options.as_json
def languages(as_json: bool) -> None:
    """List the languages that `compare -l` accepts, with the suffixes of their files.

    \b
    Examples:
      lookalike languages
      lookalike languages --json
    """
    from lookalike.frontends import installed

    suffixes = {name: sorted(language.suffixes) for name, language in sorted(installed().languages.items())}
    if as_json:
        click.echo(json.dumps(suffixes, indent=2))
        return
    for name, own in suffixes.items():
        click.echo(f"{name:14}{' '.join(own)}".rstrip())
