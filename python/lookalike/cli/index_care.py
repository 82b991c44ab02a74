"""``lookalike index``: the commands that show what an index holds, check it, copy it and repair it."""

from __future__ import annotations

import itertools
import json
import shlex
from typing import TYPE_CHECKING

import click

from lookalike import params
from lookalike._types import counted
from lookalike.cli import options
from lookalike.cli.command import Command
from lookalike.cli.index import SLOW_SECONDS, as_document, folder, tell_unknown
from lookalike.cli.shell import DAMAGED
from lookalike.cli.writing import note
from lookalike.errors import ParameterError
from lookalike.rendering.safe import visible

if TYPE_CHECKING:
    from lookalike.archive.results import Repaired

#: Lost documents shown at the terminal.
SHOWN_LOST = 20


@click.command("list", cls=Command, short_help="List documents.")
@folder
@options.option(params.WHERE)
@options.as_json
def list_documents(index: str, where: tuple[str, ...], as_json: bool) -> None:
    """List documents in the order in which they were added: id, label, bytes of text and kind, separated by tabs.

    The first line has the names of the columns. The kind is document, starter code, or removed by dedup.

    \b
    Examples:
      lookalike index list archive
      lookalike index list archive --where label=2025-hw3 --json
    """
    from lookalike.archive.store import Index
    from lookalike.archive.where import parsed
    from lookalike.rendering.terminal import archive as shown

    wanted = parsed(where)
    with Index(index) as archive:
        documents = archive.documents(wanted or None)
        first = next(documents, None)
        if wanted and first is None:
            tell_unknown(archive, wanted)
        found = itertools.chain([] if first is None else [first], documents)
        if as_json:
            as_document([one.to_json() for one in found])
            return
        for line in shown.listing(found):
            click.echo(line)


@click.command(cls=Command, short_help="Show one document.")
@folder
@click.argument("id_", metavar="ID")
@options.as_json
def show(index: str, id_: str, as_json: bool) -> None:
    """Show what is stored of a document: metadata, and its text if texts are kept.

    \b
    Examples:
      lookalike index show archive 2025/ann
      lookalike index show notices monday --json
    """
    from lookalike.archive.exporting import shown
    from lookalike.archive.store import Index

    with Index(index) as archive, archive.snapshot() as view:
        one = view.document(id_)
        if one is None:
            listing = f"`lookalike index list {shlex.quote(index)}`"
            raise ParameterError(f"`{id_}` is not in index `{index}`: {listing} shows the ids")
        told = shown(one, view.texts(id_))
    if as_json:
        as_document(told)
        return
    texts = told.pop("texts", {}) or {"": told.pop("text", "")}
    for name, value in told.items():
        click.echo(f"{visible(name)}: {visible(str(value))}")
    for name, text in texts.items():
        click.echo(f"\n{visible(name)}" if name else "")
        click.echo("\n".join(visible(line) for line in text.splitlines()))


@click.command(cls=Command, short_help="Show sizes and parameters.")
@folder
@options.as_json
def stats(index: str, as_json: bool) -> None:
    """Show how many documents an index holds, how much space it takes, and how it was made.

    \b
    Examples:
      lookalike index stats archive
    """
    from lookalike.archive.store import Index
    from lookalike.rendering.terminal import archive as shown

    with Index(index) as archive:
        figures, parameters = archive.stats(), archive.parameters
    if as_json:
        as_document({**figures.to_json(), "parameters": json.loads(parameters.to_json())})
        return
    for line in shown.stats(index, figures, parameters):
        click.echo(line)


@click.command(cls=Command, short_help="Read everything and check it.")
@folder
@options.as_json
@options.quiet
def check(index: str, as_json: bool, quiet: bool) -> None:
    """Read every byte of an index and check that its files agree. Exit code 4 if anything is damaged.

    \b
    Examples:
      lookalike index check archive
    """
    from lookalike.archive.store import Index
    from lookalike.rendering.terminal.progress import progress

    with (
        Index(index) as archive,
        progress(quiet=quiet, counts_bytes=False, after=SLOW_SECONDS) as tell,
    ):
        findings = archive.check(tell)
    if as_json:
        as_document([{"file": one.file, "reason": one.reason, "damage": one.is_damage} for one in findings])
    else:
        for one in findings:
            click.echo(visible(str(one)))
    is_damaged = any(one.is_damage for one in findings)
    if is_damaged:
        repair = f"`lookalike index repair {shlex.quote(index)}`"
        note(f"the index is damaged: restore it from a backup, or run {repair}", quiet=quiet)
        raise SystemExit(DAMAGED)
    if not as_json and not quiet:
        click.echo("no damage")


@click.command(cls=Command, short_help="Copy an index while it is in use.")
@folder
@click.argument("target", metavar="FOLDER", type=click.Path())
@options.quiet
def backup(index: str, target: str, quiet: bool) -> None:
    """Copy an index to a new folder, also while another process changes it.

    \b
    Examples:
      lookalike index backup archive /media/disk/archive-2026-01-31
    """
    from lookalike.archive.store import Index
    from lookalike.rendering.terminal.progress import progress

    with (
        Index(index) as archive,
        progress(quiet=quiet, counts_bytes=False, after=SLOW_SECONDS) as tell,
    ):
        archive.backup(target, tell)
        documents = len(archive)
    note(f"{counted(documents, 'document')} in {target}", quiet=quiet)


@click.command(cls=Command, short_help="Write all documents as JSON Lines, or share them.")
@folder
@click.argument("target", metavar="FILE|FOLDER", type=click.Path())
@options.option(params.SHARE)
@options.overwrite
@options.quiet
def export(index: str, target: str, share: str | None, overwrite: bool, quiet: bool) -> None:
    """Write ids, metadata and texts of all documents as JSON Lines, in the order in which they were added.

    With --share, write a new index for another institution instead: keyed hashes, without texts, names, metadata and
    simhashes. Give the key file to those who may ask; they use it with `query --key` and `seen --key`. Their answers
    are estimates, marked as unverified.

    \b
    Examples:
      lookalike index export notices notices.jsonl
      lookalike index export notices notices.jsonl.gz --overwrite
      lookalike index export archive for-the-partner --share partner.key
    """
    from lookalike.archive.store import Index
    from lookalike.rendering.terminal.progress import progress

    if share is None and target.lower().endswith((".csv", ".tsv", ".parquet")):
        raise ParameterError(f"`{target}`: documents are written as JSON Lines: give a name that ends in .jsonl or .gz")
    if share is not None and overwrite:
        raise ParameterError("--share and --overwrite cannot be combined: give a new folder")
    with (
        Index(index) as archive,
        progress(quiet=quiet, counts_bytes=False, after=SLOW_SECONDS) as tell,
    ):
        if share is not None:
            documents = archive.share(target, share, progress=tell)
        else:
            documents = archive.export(target, overwrite=overwrite, progress=tell)
    note(f"{counted(documents, 'document')} in {target}", quiet=quiet)
    if share is not None:
        note(f"key: {share}; give it only to those who may ask", quiet=quiet)


@click.command(cls=Command, short_help="Make a damaged index whole again.")
@folder
@options.all_options((params.WAIT, params.ALLOW_NETWORK_FS))
@options.as_json
@options.quiet
def repair(index: str, wait: float, allow_network_fs: bool, as_json: bool, quiet: bool) -> None:
    """Keep every document of a damaged index that can be read, drop the rest, and list what is lost.

    Exit code 4 if documents are lost. Copy the folder first if you can: what is dropped cannot be brought back.

    \b
    Examples:
      lookalike index repair archive
    """
    from lookalike.archive.store import Index
    from lookalike.rendering.terminal.progress import progress

    with progress(quiet=quiet, counts_bytes=False, after=SLOW_SECONDS) as tell:
        result = Index.repair(index, wait=wait, allow_network_fs=allow_network_fs, progress=tell)
    if as_json:
        as_document(result.to_json())
    else:
        _tell_repaired(result)
    if not result.is_whole:
        raise SystemExit(DAMAGED)


def _tell_repaired(result: Repaired) -> None:
    for text in result.notes:
        click.echo(visible(text))
    for id_ in result.lost[:SHOWN_LOST]:
        click.echo(f"lost: {visible(id_)}")
    if len(result.lost) > SHOWN_LOST:
        click.echo(f"lost: {counted(len(result.lost), 'document')} with a known id in all; --json lists them")
    if result.unnamed:
        click.echo(f"lost: at most {counted(result.unnamed, 'document')} whose ids cannot be read")
    click.echo(str(result))


def add_to(group: click.Group) -> None:
    """Add the commands of this file to the group."""
    for command in (list_documents, show, stats, check, backup, export, repair):
        group.add_command(command)
