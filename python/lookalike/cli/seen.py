"""``lookalike seen``: whether an index has a document like a given one."""

from __future__ import annotations

import sys

import click

from lookalike import params
from lookalike.cli import options
from lookalike.cli.asking import document, opened
from lookalike.cli.command import Command
from lookalike.cli.shell import ABOVE


@click.command(cls=Command, short_help="Tell whether an index has a document like this one.")
@click.argument("index", metavar="INDEX", type=click.Path())
@click.argument("path", metavar="PATH|-", type=click.Path())
@options.option(params.ALSO)
@options.option(params.ASKING["where"])
@options.option(params.ASKING["name"])
@options.option(params.KEY)
@options.option(params.FAIL_IF_SEEN)
@options.as_json
@options.quiet
@click.pass_context
def seen(
    context: click.Context,
    /,
    index: str,
    path: str,
    also: tuple[str, ...],
    where: tuple[str, ...],
    name: str | None,
    key: str | None,
    fail_if_seen: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Tell whether INDEX has a document like the one at PATH, and which is the nearest.

    The answer is yes if a document has the same text, or a resemblance at or above the threshold of the index. It is
    printed first; with --quiet alone. PATH is a file of any format that `compare` reads, a folder or an archive file
    for an index of a class, or - for standard input. A file of rows is one text: for a verdict on each row use
    `lookalike dedup ROWS --index INDEX`.

    \b
    Examples:
      lookalike seen news article.html
      lookalike seen archive loans.py --where label=2024-hw3
      curl -s https://example.org/ | lookalike seen crawl - --name page.html --fail-if-seen --quiet
    """
    from lookalike.archive.where import parsed
    from lookalike.rendering.terminal import queries as printed

    given, named = document(context, path, name)
    with opened(index, also) as archive:
        found = archive.seen(given, name=named, where=parsed(where), key=key)
    click.echo(printed.seen_json(found) if as_json else printed.verdict(found, quiet=quiet))
    if fail_if_seen and found:
        sys.exit(ABOVE)
