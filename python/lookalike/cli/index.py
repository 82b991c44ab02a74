"""``lookalike index``: makes and changes an archive of documents. Commands that look after it: ``index_care.py``."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from lookalike import params
from lookalike._types import counted
from lookalike.cli import options
from lookalike.cli.command import Command
from lookalike.cli.shell import check_read, given
from lookalike.cli.writing import note
from lookalike.errors import ParameterError
from lookalike.rendering.safe import visible
from lookalike.rendering.wording import in_bytes

if TYPE_CHECKING:
    from lookalike.archive.results import Added
    from lookalike.archive.store import Index

#: Problems shown at the terminal.
SHOWN_PROBLEMS = 5
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

#: What an index is for and what is added to it, by its kind.
MADE_FOR = {
    "class": ("the submissions of a class", "FOLDER --label YEAR"),
    "corpus": ("the rows of a corpus", "ROWS.jsonl"),
}
#: How to keep a document that one of the same id would replace, by the kind of the index.
OTHER_IDS = {
    "class": "; to keep both, add with another --label",
    "corpus": "; to keep both, give the rows other ids",
}

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
      lookalike index add archive 2025/hw3 --label 2025-hw3 --template starter/
      lookalike index list archive --where label=2025-hw3
      lookalike index remove archive --where 'label=2019-*' --purge
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
    made_for, source = MADE_FOR[parameters.kind]
    note(f"created: {index}, an index for {made_for}", quiet=quiet)
    note(f"it answers {', '.join(('identical', *parameters.questions))}", quiet=quiet)
    note(f"next: lookalike index add {shlex.quote(index)} {source}", quiet=quiet)


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

    The first line of the output says what the paths were taken for. Replaced documents are named. In an index for a
    class, an id is the name of a submission, after the --label: use another label for each exercise and year.

    Batches are durable as soon as they are read: run an interrupted add again, and it continues where it stopped.

    \b
    Examples:
      lookalike index add archive 2025/hw3 --label 2025-hw3
      lookalike index add archive hw3.zip --template starter/ --layout moodle
      lookalike index add notices today.jsonl --id-column url --time-column date
      zcat rows.jsonl.gz | lookalike index add notices - --format jsonl
    """
    from lookalike.rendering.terminal.progress import progress

    if not paths and not template:
        raise ParameterError("nothing to add: give one or more paths")
    options.use_threads(threads)
    with opened(index, wait, allow_network_fs) as archive:
        kind = archive.parameters.kind
        _refuse_unused(context, kind)
        _tell_rows(paths, kind, quiet=quiet)
        before = _starter_code(archive, template)
        with progress(quiet=quiet, counts_bytes=kind == "corpus", after=SLOW_SECONDS) as tell:
            added = archive.add(
                given(paths), template=given(template), threads=threads or None, progress=tell, **chosen
            )
        starter = _starter_code(archive, template) - before
    _tell(added, as_json=as_json, quiet=quiet, other=OTHER_IDS[kind], starter=starter)
    check_read(added.skipped, strict=strict, is_nothing_read=not added.read)


def _refuse_unused(context: click.Context, kind: str) -> None:
    """Refuse options of the other kind of index. Errors: ``ParameterError``."""
    if kind == "corpus":
        options.refuse_unused(context, {"template", *(one.name for one in SUBMISSIONS)}, "on an index for a corpus")
    else:
        options.refuse_unused(context, {one.name for one in ROWS}, "on an index for a class")


def _tell_rows(paths: tuple[str, ...], kind: str, *, quiet: bool) -> None:
    """Tell that an index for a class takes a file of rows as one submission."""
    from lookalike.archive.remarks import has_rows

    rows = [path for path in paths if has_rows(path)]
    if kind == "class" and rows:
        note(
            f"note: {rows[0]}: the index is for a class, so that each file is one submission; "
            "for rows make an index with `lookalike index create … --for corpus`",
            quiet=quiet,
        )


def _starter_code(archive: Index, template: tuple[str, ...]) -> int:
    """Return how many documents are starter code; nothing is counted where none is added."""
    return archive.stats().templates if template else 0


def _tell(added: Added, *, as_json: bool, quiet: bool, other: str = "", starter: int = 0) -> None:
    """Tell what was added, replaced and skipped.

    ``other``: how to keep a document that would be replaced; ``starter``: how many of the added are starter code.
    """
    if as_json:
        as_document(added.to_json())
    if added.understood:
        is_flat = added.understood.startswith("each file in ")
        hint = " (-d: all of it is one submission)" if is_flat else ""
        note(f"read as: {visible(added.understood)}{hint}", quiet=quiet)
    of_them = f"; starter code: {starter:,} of the {added.added:,} added" if starter > 0 else ""
    note(f"{added}{of_them}", quiet=quiet)
    if added.replaced:
        ids = ", ".join(map(visible, added.replaced_ids[:SHOWN_PROBLEMS]))
        more = f" and {added.replaced - SHOWN_PROBLEMS:,} more" if added.replaced > SHOWN_PROBLEMS else ""
        note(f"replaced, because the id was there with other content: {ids}{more}{other}", quiet=quiet)
    refused = [one for one in added.skipped if not one.is_note]
    for problem in refused[:SHOWN_PROBLEMS]:
        note(f"skipped: {problem}", quiet=quiet)
    if len(refused) > SHOWN_PROBLEMS:
        note(
            f"skipped: {counted(len(refused), 'file or submission', 'files or submissions')} in all; --json lists them",
            quiet=quiet,
        )
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
      lookalike index remove archive 2025-hw3/ann 2025-hw3/bob
      lookalike index remove archive --where 'label=2019-*' --purge
      lookalike index remove notices --older-than 2y
    """
    from lookalike.archive.where import parsed
    from lookalike.rendering.terminal.progress import progress

    wanted = parsed(where)
    if not (ids or wanted or older_than or purge):
        raise ParameterError("nothing says what to remove: give ids, --where or --older-than")
    with opened(index, wait, allow_network_fs) as archive:
        missing = [id_ for id_ in ids if archive.document(id_) is None]
        if ids and len(missing) == len(ids):
            raise ParameterError(f"nothing was removed: {_named(missing)} {_is_missing(index, len(missing))}")
        before = archive.stats() if purge else None
        with progress(quiet=quiet, counts_bytes=False, after=SLOW_SECONDS) as tell:
            removed = archive.remove(
                ids or None, where=wanted or None, older_than=older_than, purge=purge, progress=tell
            )
        if wanted and not removed:
            tell_unknown(archive, wanted, quiet=quiet)
        told: dict[str, Any] = {"removed": removed, "missing": missing, "purged": purge}
        line = f"{counted(removed, 'document')} removed"
        if before is not None:
            told |= {"erased": before.removed + removed, "bytes": before.bytes - archive.stats().bytes}
            line += f"; {counted(told['erased'], 'removed document')} erased, {_given_back(told['bytes'])}"
    if as_json:
        as_document(told)
    note(line, quiet=quiet)
    if missing:
        note(f"{_named(missing)} {_is_missing(index, len(missing))}", quiet=quiet)


def _named(ids: Sequence[str]) -> str:
    """Return the first ids, and how many more there are."""
    more = f" and {len(ids) - SHOWN_PROBLEMS:,} more" if len(ids) > SHOWN_PROBLEMS else ""
    return ", ".join(f"`{id_}`" for id_ in ids[:SHOWN_PROBLEMS]) + more


def _is_missing(index: str, count: int) -> str:
    verb = "is" if count == 1 else "are"
    return f"{verb} not in index `{index}`; `lookalike index list {shlex.quote(index)}` shows the ids"


def _given_back(size: int) -> str:
    """Return how an erasure changed the size of the files: small indexes may grow, by the pages of a new file."""
    return f"{in_bytes(size)} given back" if size >= 0 else f"{in_bytes(-size)} more than before"


def tell_unknown(archive: Index, where: Mapping[str, str], *, quiet: bool = False) -> None:
    """Tell which field or value no document has, where a condition found nothing."""
    if unknown := archive._unmet(where):
        note(f"note: {unknown}", quiet=quiet)


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
    sizes = f"{in_bytes(before.bytes)} before, {in_bytes(after.bytes)} now"
    note(f"{counted(after.segments, 'segment')}; {sizes}", quiet=quiet)


@index.command(cls=Command, short_help="Take over a segment file made elsewhere.")
@folder
@click.argument("segment", type=click.Path())
@options.all_options((params.WAIT, params.ALLOW_NETWORK_FS))
@options.as_json
@options.quiet
def adopt(index: str, segment: str, wait: float, allow_network_fs: bool, as_json: bool, quiet: bool) -> None:
    """Add the documents of a segment file (seg-….lat) made with the same parameters, without reading them again.

    SEGMENT may also be Parquet, a file or a folder, with the segments that `lookalike.spark.build_index` made.

    \b
    Examples:
      lookalike index adopt archive other/seg-0000000000000001.lat
      lookalike index adopt archive segments/
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
    from lookalike.rendering.terminal.progress import SLOW_SECONDS, progress

    with (
        opened(index, wait, allow_network_fs) as archive,
        progress(quiet=quiet, counts_bytes=False, after=SLOW_SECONDS) as tell,
    ):
        done = archive.upgrade(tell)
    if as_json:
        as_document(done.to_json())
    note(str(done), quiet=quiet)
