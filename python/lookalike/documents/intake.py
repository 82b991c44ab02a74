"""The result of reading: submissions with their documents, templates, and everything skipped, with reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from lookalike.documents.reasons import GIB, MIB


@dataclass(frozen=True, slots=True)
class Document:
    """One file. Bytes of a name that are not UTF-8 are kept as ``os.fsdecode`` keeps them."""

    #: The path below its submission, separated by ``/``; a label only: no file is opened or written under it.
    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Submission:
    """What one person handed in at one time: one or more documents, sorted by name."""

    #: Unique in an intake.
    name: str
    #: Submissions of one person are never compared with each other; ``None`` where nothing names a person.
    person: str | None
    label: str | None
    #: When it was handed in, as ``info.csv`` says it.
    time: str | None
    #: Compared with new submissions only.
    old: bool
    documents: tuple[Document, ...]
    #: The name by which the same person is known in another year: a person's, or that of a folder or archive; never
    #: that of a lone file, because many people hand in a ``Main.java``.
    known_as: str | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was not read, or a group of files under the pattern that excluded them."""

    #: Relative to the root that was given, never an absolute path.
    name: str
    reason: str
    #: Whether the name is that of a file that was handed in; else it is a pattern or ``info.csv``.
    is_submitted: bool = True


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on reading. What exceeds one is skipped and listed. All count bytes actually read, not sizes claimed.

    >>> from lookalike.documents import Limits
    >>> Limits(file_bytes=1_000_000).archive_depth
    2
    """

    file_bytes: int = 32 * MIB
    #: All documents together.
    total_bytes: int = 2 * GIB
    #: Files and folders in all.
    files: int = 200_000
    path_bytes: int = 4096
    #: Expanded bytes of an archive and the archives inside it, together. They are held in memory until the limit is
    #: reached, so a bomb takes this much and stays below 1 GiB in all.
    archive_bytes: int = 768 * MIB
    #: How many times its own size an archive may expand to, once beyond ``RATIO_FREE_BYTES``.
    archive_ratio: int = 200
    #: Members of an archive and of the archives inside it, together.
    archive_entries: int = 20_000
    #: Levels of archives inside archives.
    archive_depth: int = 2
    #: An archive inside an archive is held in memory while it is read.
    nested_bytes: int = 256 * MIB
    #: Largest window that xz and zstd streams may use.
    window_bytes: int = 64 * MIB


#: Small archives of blank pages may have any ratio.
RATIO_FREE_BYTES = MIB


@dataclass(frozen=True, slots=True)
class Intake:
    """Everything that was read, sorted by name, and everything that was skipped."""

    submissions: tuple[Submission, ...]
    templates: tuple[Document, ...]
    skipped: tuple[Skipped, ...]
    #: What the given paths were taken for, in words.
    understood: str = field(default="", compare=False)
    #: Folders and archives that would be submissions, but hold no file that is read.
    bare: tuple[str, ...] = ()
    #: Templates that hold nothing.
    hollow: tuple[str, ...] = ()
    #: The submissions before they got unique names, each with what may stand in front of its name.
    given: tuple[tuple[str, Submission], ...] = field(default=(), compare=False, repr=False)
    #: The place of each submission in ``given``.
    order: tuple[int, ...] = field(default=(), compare=False, repr=False)


def in_order(name: str) -> bytes:
    """Return the sort key of a name: its bytes."""
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return name.encode("utf-8", "surrogatepass")


_SUFFIX = re.compile(r"(?<=[^/])\.[A-Za-z0-9]{1,10}\Z")


def distinct(names: Iterable[str]) -> list[str]:
    """Make names unique: a repeated name gets a number in front of its suffix."""
    taken: set[str] = set()
    last: dict[str, int] = {}
    result = []
    for name in names:
        chosen = name
        while chosen in taken:
            last[name] = last.get(name, 1) + 1
            found = _SUFFIX.search(name)
            suffix_at = found.start() if found else len(name)
            chosen = f"{name[:suffix_at]} ({last[name]}){name[suffix_at:]}"
        taken.add(chosen)
        result.append(chosen)
    return result
