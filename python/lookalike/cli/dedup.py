"""``lookalike dedup``: a corpus without near-duplicates, and the way back."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import click

from lookalike import params
from lookalike.cli import cluster, options
from lookalike.cli.command import Command
from lookalike.cli.shell import check_read, given
from lookalike.cli.streams import Stdout
from lookalike.errors import ParameterError

_COMPARING = ("minhash", "containment", "simhash")
#: The methods that use an option.
USERS = {
    **dict.fromkeys(("threshold", "unit", "shingle", "labelled", "bits", "clustering"), _COMPARING),
    **dict.fromkeys(("recall", "sketch", "size", "filter"), ("minhash",)),
    "no_verify": ("minhash", "simhash"),
    **dict.fromkeys(("modulus", "contains", "contained"), ("containment",)),
    **dict.fromkeys(params.SIMHASH_ONLY, ("simhash",)),
}
#: Options that a restoration uses.
RESTORING = {"inputs", "restore", "out", "overwrite", "as_json", "quiet", "memory"}


def _file(name: str, text: str) -> Callable[[options.Function], options.Function]:
    # Kept as typed: a path object would drop the slash that ends a folder, and one of the two in an address.
    return click.option(name, type=click.Path(), help=text)


@click.command(
    cls=Command,
    short_help="Remove near-duplicates from a corpus.",
    groups={
        "Which rows are similar": [
            *("method", "threshold", "recall", "unit", "shingle", "labelled", "bits", "sketch", "size", "filter"),
            *("modulus", "no_verify", "length_within", "same_language"),
        ],
        "Only for --method simhash": params.SIMHASH_ONLY,
        "Which rows are kept": ["keep", "order", "clustering", "against", "contains", "contained"],
        "Day by day": ["index", "add", "wait", "time_column", "earlier_run"],
        "Input": ["text_column", "id_column", "format", "max_errors", "strict"],
        "Output": [
            *("out", "clusters", "pairs", "max_pairs", "ledger", "report", "restore", "overwrite", "as_json", "quiet"),
        ],
        "Run": ["dry_run", "memory", "threads", *cluster.NAMES],
    },
)
@click.argument("inputs", nargs=-1, metavar="INPUT...", type=click.Path())
@options.out("the kept rows: a file, a folder for several inputs, or - for standard output")
@options.all_options(params.DEDUPLICATION.values())
@click.option(
    "--against",
    multiple=True,
    type=click.Path(),
    help="Remove only rows that are similar to a row of this corpus. Repeatable.",
)
@_file("--index", "Remove also rows that this index has, identical or similar; its parameters are used.")
@click.option("--add", is_flag=True, help="Add the kept rows to --index, so that the next run knows them.")
@options.all_options((params.WAIT, params.TIME_COLUMN, params.EARLIER_RUN))
@_file("--clusters", "Write the rows of all clusters to this .csv, .csv.gz or .parquet file.")
@_file(
    "--pairs",
    "Write every pair at or above the threshold that the method proposes to this .csv, .csv.gz or .parquet file.",
)
@_file("--ledger", "Write the removed rows to this .jsonl, .jsonl.gz or .jsonl.zst file, for --restore.")
@_file("--restore", "Restore the original input from this ledger and the clean output INPUT.")
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    help="Write an HTML report, with an audit of a random sample, to this folder.",
)
@click.option("--dry-run", is_flag=True, help="Read a sample, and predict rows, memory and time. Writes nothing.")
@options.all_options(params.CLUSTER.values())
@options.overwrite
@options.strict
@options.as_json
@options.quiet
@click.pass_context
def dedup(
    context: click.Context,
    /,
    inputs: tuple[str, ...],
    restore: str | None,
    dry_run: bool,
    against: tuple[str, ...],
    index: str | None,
    **chosen: Any,
) -> None:
    """Remove near-duplicates from a corpus.

    INPUT is JSON Lines (also .gz, .bz2, .xz, .zst), Parquet, CSV, WARC, a mailbox, a folder of documents (text, HTML,
    PDF, Word, notebooks, mail), or - for standard input.
    Kept rows are copied byte for byte, so the output has the format of the input. Every removed row is verified against
    the row kept for it. A summary is printed; the rows go to --out.

    \b
    Examples:
      lookalike dedup corpus.jsonl -o clean.jsonl
      lookalike dedup shards/*.parquet -o clean/ --threshold 0.85
      lookalike dedup train.jsonl --against test.jsonl -o train.clean.jsonl
      lookalike dedup today.jsonl --index archive --add -o new.jsonl
      zcat corpus.jsonl.gz | lookalike dedup - -o - | gzip > clean.jsonl.gz
      lookalike dedup corpus.jsonl --dry-run
      lookalike dedup corpus.jsonl -o clean.jsonl --ledger removed.jsonl.zst
      lookalike dedup clean.jsonl --restore removed.jsonl.zst -o again.jsonl
      lookalike dedup corpus/ -o clean/ --engine spark --master spark://host:7077
    """
    if threading.current_thread() is threading.main_thread():
        # Incomplete outputs are removed before the process ends.
        signal.signal(signal.SIGTERM, _interrupted)
    if not inputs:
        raise ParameterError("no input: give files, folders or addresses, or - for standard input")
    if restore is not None:
        used = {*RESTORING, *cluster.NAMES}
        options.refuse_unused(context, {one.name or "" for one in context.command.params} - used, "with --restore")
        if cluster.is_asked(context, chosen):
            return cluster.restore(context, inputs, restore, chosen)
        return _restore(inputs, restore, chosen)
    options.refuse_unused_by(context, "method", USERS)
    if chosen["method"] == "containment" and against:
        options.refuse_unused(context, params.UNUSED_BY_LOOKUP, "with --against and --method containment")
    if chosen["no_verify"]:
        unused = {"threshold", "shingle", "labelled", "bits"} if chosen["method"] == "simhash" else {"threshold"}
        options.refuse_unused(context, unused, "with --no-verify")
    if cluster.is_asked(context, chosen):
        return cluster.dedup(context, inputs, against, chosen)
    if not chosen["add"]:
        options.refuse_unused(context, {"wait", "time_column", "earlier_run"}, "without --add")
    if dry_run and (index is not None or chosen["add"]):
        raise ParameterError("--dry-run cannot be combined with --index: leave it out")
    if dry_run:
        return _dry_run([*against, *inputs], chosen)
    if index is not None:
        # What was not typed is that of the index.
        typed = options.given(context)
        chosen |= {name: None for name in params.DEDUPLICATION if name not in typed}
    return _run(inputs, against, index, **chosen)


def _run(
    inputs: tuple[str, ...],
    against: tuple[str, ...],
    index: str | None,
    *,
    add: bool,
    wait: float,
    time_column: str | None,
    earlier_run: str | None,
    out: str | None,
    clusters: str | None,
    pairs: str | None,
    ledger: str | None,
    report: Path | None,
    overwrite: bool,
    strict: bool,
    as_json: bool,
    quiet: bool,
    **chosen: Any,
) -> None:
    """Deduplicate, and print what was found."""
    from lookalike.deduplication.job import dedup as run
    from lookalike.rendering.terminal import deduplication as printed
    from lookalike.rendering.terminal.progress import progress

    files: dict[str, str | Path | None] = {"out": out, "clusters": clusters, "pairs": pairs}
    files |= {"ledger": ledger, "report": report}
    if not as_json and not add and all(one is None for one in files.values()):
        raise ParameterError("no output: give --out, --clusters, --pairs or --report, or one of --json and --dry-run")
    # Rows on standard output leave no room for facts there.
    is_piped = out == "-"
    with progress(quiet=quiet) as tell:
        answer = run(
            given(inputs),
            against=given(against) or None,
            index=index,
            add=add,
            wait=wait,
            time_column=time_column,
            earlier_run=earlier_run,
            out=Stdout() if is_piped else out,
            clusters=clusters,
            pairs=pairs,
            ledger=ledger,
            report=report,
            overwrite=overwrite,
            progress=tell,
            **chosen,
        )
    # Files and rows of the index are complete by now. Without any of them, what is printed is the result.
    is_written = add or any(one is not None for one in files.values())
    with suppress(KeyboardInterrupt) if is_written else nullcontext():
        if not (is_piped and quiet):
            found = answer.to_json()
            facts = printed.as_json(found) if as_json else printed.facts(answer.settings, found, files, quiet=quiet)
            click.echo(facts, file=sys.stderr if is_piped else sys.stdout)
    check_read(answer.problems, strict=strict, is_nothing_read=not answer.with_text)


def _restore(inputs: tuple[str, ...], ledger: str, chosen: dict[str, Any]) -> None:
    """Write the original input again from its clean output and its ledger."""
    from lookalike.corpora import restore
    from lookalike.deduplication.settings import parse_memory
    from lookalike.rendering.terminal import deduplication as printed
    from lookalike.rendering.terminal.progress import waiting

    out = chosen["out"]
    if len(inputs) != 1 or out is None:
        raise ParameterError("to restore, give the clean output as the only INPUT, and a new file or folder as --out")
    with waiting("restoring", quiet=chosen["quiet"]):
        done = restore(ledger, inputs[0], out, overwrite=chosen["overwrite"], memory=parse_memory(chosen["memory"]))
    click.echo(printed.restored_json(done) if chosen["as_json"] else printed.restored(done, out))


def _dry_run(inputs: list[str], chosen: dict[str, Any]) -> None:
    """Print what a run would take."""
    from lookalike.deduplication.expecting import expect
    from lookalike.rendering.terminal import deduplication as printed

    started = time.perf_counter()
    expected = expect(inputs, {name: chosen[name] for name in params.DEDUPLICATION})
    if chosen["as_json"]:
        click.echo(json.dumps(expected.to_json(), indent=2))
    else:
        click.echo(printed.expected(expected, time.perf_counter() - started))


def _interrupted(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
