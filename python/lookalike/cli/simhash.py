"""``lookalike simhash``: the fingerprints of a corpus, as a file."""

from __future__ import annotations

import json
from typing import Any

import click

from lookalike import params
from lookalike.cli import cluster, options
from lookalike.cli.command import Command
from lookalike.cli.shell import check_read, given
from lookalike.errors import ParameterError

#: Options that `dedup` has too.
SHARED = ("text_column", "id_column", "format", "max_errors", "threads")
#: The features that use an option.
USERS = {"language": ("paper",), "idf": ("paper",), "unit": ("words",), "shingle": ("words",)}


@click.command(
    cls=Command,
    short_help="Compute a 64-bit fingerprint for every document.",
    groups={
        "Fingerprints": [*params.SIMHASHING],
        "Input": ["text_column", "id_column", "format", "max_errors", "strict"],
        "Output": ["out", "overwrite", "as_json", "quiet"],
        "Run": ["threads", *cluster.NAMES],
    },
)
@click.argument("inputs", nargs=-1, metavar="INPUT...", type=click.Path())
@options.out("the fingerprints: a file that ends in .parquet, .csv or .csv.gz")
@options.all_options([*params.SIMHASHING.values(), *(params.DEDUPLICATION[name] for name in SHARED)])
@options.all_options(params.CLUSTER.values())
@options.overwrite
@options.strict
@options.as_json
@options.quiet
@click.pass_context
def simhash(
    context: click.Context,
    /,
    inputs: tuple[str, ...],
    out: str | None,
    overwrite: bool,
    strict: bool,
    as_json: bool,
    quiet: bool,
    **chosen: Any,
) -> None:
    """Compute a 64-bit fingerprint for every document of a corpus.

    INPUT is JSON Lines, Parquet, CSV, WARC, a mailbox, a folder of documents (text, HTML, PDF, Word, notebooks, mail),
    or - for standard input. Each row of the output has an id, a 64-bit fingerprint and a length. Fingerprints of
    similar texts differ in few bits. A document without features has no fingerprint.

    \b
    Examples:
      lookalike simhash corpus.jsonl -o prints.parquet
      lookalike simhash shards/*.parquet -o prints.csv --text-column body
      zcat pages.jsonl.gz | lookalike simhash - -o prints.parquet
      lookalike simhash corpus/ -o prints/ --engine spark --master spark://host
    """
    from lookalike.rendering.terminal import simhashes as printed
    from lookalike.rendering.terminal.progress import progress
    from lookalike.simhashes.corpus import simhash_corpus

    options.refuse_unused_by(context, "features", USERS)
    if not inputs:
        raise ParameterError("no input: give files, folders or addresses, or - for standard input")
    if cluster.is_asked(context, chosen):
        return cluster.simhash(context)
    if out is None:
        raise ParameterError("no output: give --out and a file that ends in .parquet or .csv")
    with progress(quiet=quiet) as tell:
        report = simhash_corpus(given(inputs), out, overwrite=overwrite, progress=tell, **chosen)
    if as_json:
        click.echo(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
    else:
        printed.print_facts(report, quiet=quiet)
    check_read(report.problems, strict=strict, is_nothing_read=not report.with_text)
    return None
