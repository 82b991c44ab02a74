"""What the commands that ask an index share: the document, and the open index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lookalike.cli import options

if TYPE_CHECKING:
    from lookalike.archive.joining import JoinedIndex
    from lookalike.archive.store import Index


def document(context: click.Context, path: str, name: str | None) -> tuple[bytes | Path, str | None]:
    """Return the document at a path, or standard input, and its name. Errors: ``ParameterError``, ``OSError``."""
    if path != "-":
        options.refuse_unused(context, {"name"}, "unless PATH is -")
        return Path(path), None
    from lookalike import documents

    return documents.read_stdin(), name or "standard input"


def opened(path: str, also: tuple[str, ...] = ()) -> Index | JoinedIndex:
    """Open an index for reading, or several as one. Errors: ``DamagedError``, ``VersionError``, ``OSError``."""
    from lookalike.archive.joining import JoinedIndex
    from lookalike.archive.store import Index

    return JoinedIndex([path, *also]) if also else Index(path)
