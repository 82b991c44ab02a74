"""``lookalike index``: makes and changes an archive of documents. Commands that look after it: ``index_care.py``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from lookalike import params
from lookalike._types import counted
from lookalike.cli import options
from lookalike.cli.command import Command
from lookalike.cli.shell import check_read, given
from lookalike.cli.writing import note
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    from lookalike.archive.results import Added
    from lookalike.archive.store import Index

#: Problems shown at the terminal.
SHOWN_PROBLEMS = 5
#: Ends of names of files that have rows.
OF_ROWS = (".jsonl", ".ndjson", ".parquet", ".csv", ".tsv")
#: Seconds after which progress is shown.
SLOW_SECONDS = 2.0
#: Parameters of ``dedup`` that are fixed when an index is made.
SKETCHED = (
    "unit", "shingle", "threshold", "recall", "sketch", "size", "filter", "modulus", "labelled", "bits", "features",
    "ignore",
)  # fmt: skip
#: How submissions and rows are read.
SUBMISSIONS = (
    params.LABEL, params.BY_DIRECTORY, params.LAYOUT, params.INCLUDE, params.EXCLUDE, params.FOLLOW_LINKS,
)  # fmt: skip
ROWS = (
    params.DEDUPLICATION["text_column"], params.DEDUPLICATION["id_column"], params.TIME_COLUMN,
    params.DEDUPLICATION["format"],
)  # fmt: skip

folder = click.argument("index", metavar="INDEX", type=click.Path(file_okay=False))


class Ordered(click.Group):
    """A group whose commands are listed in the order in which a reader needs them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands as they were added."""
        return list(self.commands)


@click.group("index", cls=Ordered, short_help="Keep an archive of documents, and ask it.")
def index() -> None:
    """Keep an archive of documents that grows for years. Ask it with query, seen, compare --index and dedup --index.

    INDEX is a folder. One process at a time changes it, any number read it. Exit code 0 means that the change survives
    a crash and a loss of power; any other code means that the index is as before, or has whole batches of an add.

    \b
    Examples:
      lookalike index create archive --for class
      lookalike index add archive submissions-2025/ --label 2025 --template starter/
      lookalike index list archive --where label=2025
      lookalike index remove archive --where label=2019 --purge
      lookalike index create notices --for corpus
      lookalike index add notices monday.jsonl --time-column date
      lookalike index check archive
    """


def opened(path: str, wait: float, allow_network_fs: bool) -> Index:
    """Open an index for changes."""
    from lookalike.archive.store import Index

    return Index.open(path, write=True, wait=wait, allow_network_fs=allow_network_fs)


def as_document(value: Any) -> None:
    """Print a value as one JSON document."""
    click.echo(json.dumps(value, ensure_ascii=True, indent=1))


@index.command(
    cls=Command,
    short_help="Make an index in a new folder.",
    groups={
        "Index": ["kind", "without", "no_texts", "features_only"],
        "Passages": ["language", "k", "t", "comments"],
        "Resemblance, containment and distance": list(SKETCHED),
        "Run": ["allow_network_fs", "as_json", "quiet"],
    },
)
@folder
@options.all_options(params.INDEXING.values())
@options.all_options((params.LANGUAGE, params.K, params.T, params.COMMENTS))
@options.all_options(params.DEDUPLICATION[name] for name in SKETCHED)
@options.option(params.ALLOW_NETWORK_FS)
@options.as_json
@options.quiet
def create(index: str, as_json: bool, quiet: bool, **chosen: Any) -> None:
    """Make an index. What is chosen here holds for all of its documents and cannot be changed later.

    \b
    Examples:
      lookalike index create archive --for class
      lookalike index create notices --for corpus --threshold 0.9
      lookalike index create prints --for corpus --without passages --no-texts
      lookalike index create seen --for corpus --features-only --filter 6,14,2
    """
    from lookalike.archive.store import Index

    with Index.create(index, **chosen) as made:
        parameters = made.parameters
    if as_json:
        as_document({"index": index, "parameters": json.loads(parameters.to_json())})
    note(
        f"index for a {parameters.kind} in {index}; it answers identical, {', '.join(parameters.questions)}",
        quiet=quiet,
    )


@index.command(
    cls=Command,
    short_help="Add documents, or replace them.",
    groups={
        "Submissions (index for a class)": ["template", *(one.name for one in SUBMISSIONS)],
        "Rows (index for a corpus)": [one.name for one in ROWS],
        "Output": ["strict", "as_json", "quiet"],
        "Run": ["wait", "threads", "allow_network_fs"],
    },
)
@folder
@click.argument("paths", metavar="PATH...", nargs=-1, type=click.Path())
@options.option(params.TEMPLATE)
@options.all_options(SUBMISSIONS)
@options.all_options(ROWS)
@options.option(params.DEDUPLICATION["threads"])
@options.option(params.WAIT)
@options.option(params.ALLOW_NETWORK_FS)
@options.strict
@options.as_json
@options.quiet
@click.pass_context
def add(
    context: click.Context,
    /,
    index: str,
    paths: tuple[str, ...],
    template: tuple[str, ...],
    wait: float,
    allow_network_fs: bool,
    threads: int,
    strict: bool,
    as_json: bool,
    quiet: bool,
    **chosen: Any,
) -> None:
    """Add documents. One whose id is there with other content is replaced; with the same content it is left alone.

    Batches are durable as soon as they are read: run an interrupted add again, and it continues where it stopped.

    \b
    Examples:
      lookalike index add archive submissions-2025/ --label 2025
      lookalike index add archive hw3.zip --template starter/ --layout moodle
      lookalike index add notices today.jsonl --id-column url --time-column date
      zcat rows.jsonl.gz | lookalike index add notices - --format jsonl
    """
    from lookalike.rendering.terminal.progress import progress

    if not paths and not template:
        raise ParameterError("nothing to add: give one or more paths")
    options.use_threads(threads)
    with opened(index, wait, allow_network_fs) as archive:
        _refuse_unused(context, archive.parameters.kind)
        _tell_rows(paths, archive.parameters.kind, quiet=quiet)
        with progress(quiet=quiet, counts_bytes=archive.parameters.kind == "corpus", after=SLOW_SECONDS) as tell:
            added = archive.add(
                given(paths), template=given(template), threads=threads or None, progress=tell, **chosen
            )
    _tell(added, as_json=as_json, quiet=quiet)
    check_read(added.skipped, strict=strict, is_nothing_read=not added.read)


def _refuse_unused(context: click.Context, kind: str) -> None:
    """Refuse options of the other kind of index. Errors: ``ParameterError``."""
    if kind == "corpus":
        options.refuse_unused(context, {"template", *(one.name for one in SUBMISSIONS)}, "on an index for a corpus")
    else:
        options.refuse_unused(context, {one.name for one in ROWS}, "on an index for a class")


def _tell_rows(paths: tuple[str, ...], kind: str, *, quiet: bool) -> None:
    """Tell that an index for a class takes a file of rows as one submission."""
    rows = [path for path in paths if path.lower().removesuffix(".gz").removesuffix(".zst").endswith(OF_ROWS)]
    if kind == "class" and rows:
        note(
            f"note: {rows[0]}: the index is for a class, so that each file is one submission; "
            "for rows make an index with `lookalike index create … --for corpus`",
            quiet=quiet,
        )


def _tell(added: Added, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        as_document(added.to_json())
    note(str(added), quiet=quiet)
    refused = [one for one in added.skipped if not one.is_note]
    for problem in refused[:SHOWN_PROBLEMS]:
        note(f"skipped: {problem}", quiet=quiet)
    if len(refused) > SHOWN_PROBLEMS:
        note(f"skipped: {counted(len(refused), 'document')} in all; --json lists them", quiet=quiet)
    remarks = [one for one in added.skipped if one.is_note]
    for problem in remarks[:SHOWN_PROBLEMS]:
        note(f"note: {problem}", quiet=quiet)
    if len(remarks) > SHOWN_PROBLEMS:
        note(f"note: {counted(len(remarks), 'note')} in all; --json lists them", quiet=quiet)


@index.command(cls=Command, short_help="Remove documents, or erase them.")
@folder
@click.argument("ids", metavar="ID...", nargs=-1)
@options.all_options((params.WHERE, params.OLDER_THAN, params.PURGE, params.WAIT, params.ALLOW_NETWORK_FS))
@options.as_json
@options.quiet
def remove(
    index: str,
    ids: tuple[str, ...],
    where: tuple[str, ...],
    older_than: str | None,
    purge: bool,
    wait: float,
    allow_network_fs: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Remove documents by id, by metadata or by age. Where several conditions are given, all must hold.

    Removed documents are hidden at once. Their bytes stay in the files until these are merged, unless --purge is given.

    \b
    Examples:
      lookalike index remove archive 2025/ann 2025/bob
      lookalike index remove archive --where label=2019 --purge
      lookalike index remove notices --older-than 2y
    """
    from lookalike.archive.where import parsed
    from lookalike.rendering.terminal.progress import progress

    wanted = parsed(where)
    with opened(index, wait, allow_network_fs) as archive:
        missing = [id_ for id_ in ids if archive.document(id_) is None]
        with progress(quiet=quiet, counts_bytes=False, after=SLOW_SECONDS) as tell:
            removed = archive.remove(
                ids or None, where=wanted or None, older_than=older_than, purge=purge, progress=tell
            )
    if as_json:
        as_document({"removed": removed, "missing": missing, "purged": purge})
    note(f"{counted(removed, 'document')} removed" + (" and erased" if purge else ""), quiet=quiet)
    for id_ in missing[:SHOWN_PROBLEMS]:
        note(f"not in the index: {id_}", quiet=quiet)
    if len(missing) > SHOWN_PROBLEMS:
        note(f"not in the index: {counted(len(missing), 'id')} in all; --json lists them", quiet=quiet)


@index.command(cls=Command, short_help="Merge all files into one.")
@folder
@options.all_options((params.WAIT, params.ALLOW_NETWORK_FS))
@options.as_json
@options.quiet
def compact(index: str, wait: float, allow_network_fs: bool, as_json: bool, quiet: bool) -> None:
    """Merge all files of an index into one, without removed documents. It needs as much free space as the index takes.

    Adding merges files by itself; this makes the index as small and fast as it can be.

    \b
    Examples:
      lookalike index compact archive
    """
    from lookalike.rendering.terminal.progress import waiting

    with opened(index, wait, allow_network_fs) as archive, waiting("merging", quiet=quiet, after=SLOW_SECONDS):
        before = archive.stats()
        archive.compact()
        after = archive.stats()
    if as_json:
        as_document({"before": before.to_json(), "after": after.to_json()})
    note(f"{counted(after.segments, 'segment')}, {before.bytes:,} bytes before, {after.bytes:,} now", quiet=quiet)


@index.command(cls=Command, short_help="Take over a segment file made elsewhere.")
@folder
@click.argument("segment", type=click.Path(dir_okay=False))
@options.all_options((params.WAIT, params.ALLOW_NETWORK_FS))
@options.as_json
@options.quiet
def adopt(index: str, segment: str, wait: float, allow_network_fs: bool, as_json: bool, quiet: bool) -> None:
    """Add the documents of a segment file (seg-….lat) made with the same parameters, without reading them again.

    \b
    Examples:
      lookalike index adopt archive other/seg-0000000000000001.lat
    """
    with opened(index, wait, allow_network_fs) as archive:
        added = archive.adopt(segment)
    _tell(added, as_json=as_json, quiet=quiet)


@index.command(cls=Command, short_help="Bring an index up to date with this version.")
@folder
@options.all_options((params.WAIT, params.ALLOW_NETWORK_FS))
@options.as_json
@options.quiet
def upgrade(index: str, wait: float, allow_network_fs: bool, as_json: bool, quiet: bool) -> None:
    """Read the stored texts again if another version of lookalike made other keys of them.

    \b
    Examples:
      lookalike index upgrade archive
    """
    with opened(index, wait, allow_network_fs) as archive:
        documents = archive.upgrade()
    if as_json:
        as_document({"documents": documents})
    note(f"{counted(documents, 'document')} read again" if documents else "the index is up to date", quiet=quiet)
