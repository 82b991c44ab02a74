"""``lookalike languages``: what ``compare -l`` knows."""

from __future__ import annotations

import click


@click.command()
def languages() -> None:
    """List the languages that `compare -l` knows, with their files' suffixes."""
    from lookalike.frontends import LANGUAGES

    for name, language in sorted(LANGUAGES.items()):
        click.echo(f"{name:14}{' '.join(sorted(language.suffixes))}")
