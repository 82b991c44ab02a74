"""``lookalike query``: which documents of an index are like a document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lookalike import params
from lookalike.cli import options
from lookalike.cli.asking import document, opened
from lookalike.cli.command import Command


@click.command(
    cls=Command,
    short_help="Ask an index which documents are like a document.",
    groups={
        "Questions": ["also", "question", "threshold", "distance", "window", "where", "name", "key"],
        "Output": ["top", "out", "overwrite", "open_report", "as_json", "quiet"],
    },
)
@click.argument("index", metavar="INDEX", type=click.Path())
@click.argument("path", metavar="PATH|-", type=click.Path())
@options.option(params.ALSO)
@options.all_options([*params.ASKING.values(), params.KEY])
@options.report_folder(
    "the answers as pages, a new folder with report.html, report.json, and both texts side by side for each document "
    "that shares passages. Default: no page"
)
@options.overwrite
@options.open_report
@options.as_json
@options.quiet
@click.pass_context
def query(
    context: click.Context,
    /,
    index: str,
    path: str,
    also: tuple[str, ...],
    out: Path | None,
    overwrite: bool,
    open_report: bool,
    as_json: bool,
    quiet: bool,
    where: tuple[str, ...],
    name: str | None,
    **chosen: Any,
) -> None:
    """Ask which documents of INDEX are like the document at PATH.

    Each question has its own list, nearest first: documents with the same text (identical), that share runs of tokens
    (passages), that are similar as a whole (resemblance), that contain the document or are contained in it
    (containment), and with a similar simhash (distance). Documents with one text are listed once, with their number.
    Under each list stands what the answer is worth. Starter code of the index is never reported.

    PATH is a file of any format that `compare` reads, or - for standard input. In an index for a class it may be a
    folder or an archive file, which is one submission; in an index for a corpus a file is one text.

    \b
    Examples:
      lookalike query archive essay.docx
      lookalike query archive loans.py --question passages --where 'label=2024-*'
      lookalike query news article.txt --threshold 0.6 --top 5 --json
      cat loans.py | lookalike query archive - --name loans.py -o report --open
    """
    from lookalike.archive.where import parsed
    from lookalike.rendering.terminal import queries as printed

    if out is None:
        options.refuse_unused(context, {"overwrite", "open_report"}, "without --out")
    else:
        from lookalike.rendering.html import folder

        folder.check_out(out, overwrite)
    given, named = document(context, path, name)
    with opened(index, also) as archive:
        found = archive.query(given, name=named, where=parsed(where), evidence=out is not None, **chosen)
    if out is not None:
        from lookalike.rendering.html import query_page

        page = query_page.write(found, out, overwrite=overwrite)
        if open_report:
            click.launch(page.resolve().as_uri())
    if as_json:
        click.echo(printed.as_json(found))
    else:
        printed.print_answers(found, out, quiet=quiet)
