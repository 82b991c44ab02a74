"""``lookalike fingerprint``: which fingerprints the engine selects from a document."""

from __future__ import annotations

from typing import Any

import click

from lookalike import params
from lookalike.cli import options
from lookalike.cli.command import Command
from lookalike.cli.writing import check_json, write_json
from lookalike.errors import FrontendError

SELECTION = (params.K, params.T, params.SCHEME, params.UNIT, params.HOMOGLYPHS, params.MODULUS, params.COUNT)
PRINTED = params.PRINTED["rows"]
#: The schemes that use an option.
USERS = {
    "modulus": ("modulo", "safe-modulo"),
    "count": ("smallest",),
    "t": tuple(scheme for scheme in params.SCHEMES if scheme != "smallest"),
}


@click.command(
    cls=Command,
    short_help="Show the fingerprints of one document.",
    groups={
        "Selection": [parameter.name for parameter in SELECTION],
        "Output": ["rows", "out", "overwrite", "as_json", "quiet"],
    },
)
@click.argument("path", type=click.Path())
@options.all_options(SELECTION)
@click.option(
    "-n", "--top", "rows", type=options.Number(PRINTED), default=PRINTED.default, show_default=True, help=PRINTED.help
)
@options.out("the fingerprints as JSON, a file that ends in .json. Default: a table on standard output")
@options.overwrite
@options.as_json
@options.quiet
@click.pass_context
def fingerprint(
    context: click.Context,
    /,
    path: str,
    rows: int,
    out: str | None,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
    **chosen: Any,
) -> None:
    """Show which fingerprints are selected from PATH (- for standard input).

    Each row of the table shows a fingerprint, its position, and the text it was made from. Of a page of HTML, a PDF, a
    Word file, a notebook or a mail that is the readable text.

    \b
    Examples:
      lookalike fingerprint essay.txt
      lookalike fingerprint essay.txt --unit word -k 5 -t 12
      cat essay.txt | lookalike fingerprint - --scheme compact --json
      lookalike fingerprint essay.txt -o prints.json
    """
    from lookalike import documents, fingerprints, frontends
    from lookalike.rendering.terminal import fingerprints as printed

    options.refuse_unused_by(context, "scheme", USERS)
    if as_json or out is not None:
        options.refuse_unused(context, {"rows"}, "in JSON, which has all fingerprints")
    check_json(out, overwrite=overwrite)
    data = documents.read_stdin() if path == "-" else documents.read(path)
    try:
        readable = frontends.extract("" if path == "-" else path, data)
        found = fingerprints.fingerprint(readable.text, **chosen)
    except FrontendError as error:
        raise FrontendError(f"`{path}`: {error}") from None
    if as_json or out is not None:
        write_json(
            printed.fingerprints_json(found, path, readable), out, as_json=as_json, overwrite=overwrite, quiet=quiet
        )
    else:
        printed.fingerprints_table(found, path, rows, readable)
