"""Turns what the user named into sources, one per file, ordered as given and by name within a folder or pattern."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass

from lookalike._types import Problem, counted
from lookalike.corpora.arrays import Wanted
from lookalike.corpora.batches import FORMATS
from lookalike.corpora.compression import by_content, by_suffix, chunks
from lookalike.corpora.delimited import CsvSource
from lookalike.corpora.lines import LineSource, reason_of
from lookalike.corpora.mailboxes import MailboxSource
from lookalike.corpora.parquet import MEMORY, ParquetSource
from lookalike.corpora.places import HEAD_BYTES, STDIN_NAME, Folder, Place, find
from lookalike.corpora.scratch import Scratch
from lookalike.corpora.texts import TextSource
from lookalike.corpora.warc import WarcSource
from lookalike.documents.reasons import RefusedError
from lookalike.errors import ParameterError
from lookalike.frontends.mail import is_mailbox

#: Formats by suffix, after removing a compression suffix.
SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".warc": "warc",
    ".mbox": "mbox",
}
_MAGIC = {b"PAR1": "parquet", b"WARC/": "warc", b"{": "jsonl"}

#: Skipped files of a folder that are listed by name.
_NAMED = 3

FileSource = LineSource | ParquetSource | CsvSource | TextSource | WarcSource | MailboxSource


@dataclass(frozen=True, slots=True)
class Corpus:
    """All inputs: the sources, and what was skipped before reading."""

    sources: Sequence[FileSource]
    problems: Sequence[Problem]
    #: Whether the inputs may be several files, however many there are.
    many: bool

    @property
    def paths(self) -> list[str]:
        """The local files and folders that are read and must not be written."""
        return [path for source in self.sources for path in source.paths]

    @property
    def size(self) -> int:
        """Size of the files in bytes; outputs need at most about as much."""
        return sum(source.size for source in self.sources)


def open_sources(
    inputs: Sequence[str],
    scratch: Scratch,
    *,
    text_column: str = "text",
    id_column: str | None = None,
    number_column: str | None = None,
    format: str | None = None,
    memory: int = MEMORY,
    is_copied: bool = False,
) -> Corpus:
    """Recognise the inputs. Only their first bytes are read; standard input is copied to the scratch folder.

    Without ``id_column`` the column ``id`` is used if it exists. ``number_column`` decides which row is kept. A row
    group of Parquet may expand to ``memory`` bytes, or to what it declares if that is more. ``is_copied`` says that
    rows will be copied to an output. Errors: ``FileNotFoundError``, ``ParameterError`` for a column that is not there,
    ``MissingExtraError``.
    """
    if format is not None and format not in FORMATS:
        raise ParameterError(f"format `{format}` is not known: use one of {', '.join(FORMATS)}")
    opening = _Opening(Wanted(text_column, id_column, number_column), format, scratch, memory, is_copied)
    many = len(inputs) != 1
    for given in inputs:
        found, is_many = find(given, scratch, opening.skip)
        many = many or is_many
        for place in found:
            if isinstance(place, Folder):
                opening.folder(place)
            else:
                opening.file(place, is_named=not is_many)
    return Corpus(opening.finished(), opening.problems, many)


class _Opening:
    """Collects sources."""

    def __init__(self, wanted: Wanted, format: str | None, scratch: Scratch, memory: int, is_copied: bool) -> None:
        self._memory = memory
        self._is_copied = is_copied
        self._wanted = wanted
        self._format = format
        self._scratch = scratch
        self._sources: list[FileSource] = []
        #: Text files that were named individually; together they are one source.
        self._loose: list[Place] = []
        self.problems: list[Problem] = []
        #: Why tables were not taken.
        self._without_columns: list[ParameterError] = []
        #: Paths already taken, so that each is taken once.
        self._taken: set[str] = set()

    def skip(self, name: str, reason: str) -> None:
        self.problems.append(Problem(name, "", reason))

    def folder(self, folder: Folder) -> None:
        """Take the files of a folder that have a known format; if there are none, take all files as texts."""
        for name, reason in folder.left_out:
            self.skip(f"{folder.name}/{name}", reason)
        places = [Place(f"{folder.name}/{below}", f"{folder.path}/{below}", None, below) for below in folder.files]
        of_files = self._format in ("text", "documents")
        corpus = [] if of_files else [one for one in places if self._format or _is_corpus(one)]
        if not corpus:
            self._add_texts(folder, places)
            return
        before = len(self._sources)
        for place in corpus:
            self.file(place, is_named=False)
        taken = {one.name for one in corpus}
        others = [one for one in places if one.name not in taken]
        if others and len(self._sources) == before:
            # A stray table without the text column does not hide the texts beside it.
            self._add_texts(folder, others)
        elif others:
            names = [f"`{one.name}`" for one in others[:_NAMED]] + ["…"] * (len(others) > _NAMED)
            reason = "not read and not in any output, because other files here have rows and this suffix names no rows"
            self.skip(folder.name, f"{counted(len(others), 'file')} {reason}: {', '.join(names)}")

    def _add_texts(self, folder: Folder, places: Sequence[Place]) -> None:
        self._wanted.of_texts(folder.name)
        self._sources.append(TextSource(folder.name, places, folder.path, is_raw=self._format == "text"))

    def file(self, place: Place, *, is_named: bool) -> None:
        """Take a file of any format, unless it was taken before."""
        real = os.path.realpath(place.path) if place.path is not None else place.name
        if real in self._taken:
            self.problems.append(Problem(place.name, "", "was given twice; it is read once", is_note=True))
            return
        self._taken.add(real)
        try:
            format = self._format or by_name(place.name) or _by_content(place)
            compression = place.compression() if format in ("jsonl", "csv", "mbox") else None
        except (RefusedError, OSError) as error:
            if is_named and isinstance(error, OSError):
                raise
            self.skip(place.name, reason_of(error))
            return
        if format == "jsonl":
            self._sources.append(LineSource(place, compression))
        elif format == "csv":
            self._add(CsvSource(place, compression, self._wanted), is_named)
        elif format == "parquet":
            self._add(ParquetSource(place, self._wanted, memory=self._memory, is_copied=self._is_copied), is_named)
        elif format == "mbox":
            self._wanted.of_texts(place.name)
            self._sources.append(MailboxSource(place, compression))
        elif format == "warc":
            self._wanted.of_texts(place.name)
            self._sources.append(WarcSource(place, self._scratch))
        else:
            self._wanted.of_texts(place.name)
            self._loose.append(place)

    def _add(self, source: CsvSource | ParquetSource, is_named: bool) -> None:
        """Take a table, unless it lacks a column and is one of several files that nobody named one by one."""
        try:
            source.check()
        except ParameterError as error:
            if is_named:
                raise
            self._without_columns.append(error)
            self.skip(source.name, f"{error}; it is not in any output")
            return
        self._sources.append(source)

    def finished(self) -> list[FileSource]:
        """Return all sources; individually named texts come last. Errors: ``ParameterError`` if no table has a text."""
        if self._loose:
            self._sources.append(TextSource("texts", self._loose, is_raw=self._format == "text"))
        if self._without_columns and not self._sources:
            raise self._without_columns[0]
        return self._sources


def by_name(name: str) -> str | None:
    """Return the format that a name indicates."""
    return SUFFIXES.get(os.path.splitext(by_suffix(name.lower())[0])[1])


def _is_corpus(place: Place) -> bool:
    """Return whether a file holds rows. A ``.json`` file does only if its first line is an object."""
    format = by_name(place.name)
    if format is None or not by_suffix(place.name.lower())[0].endswith(".json"):
        return format is not None
    try:
        first = _beginning(place).lstrip().partition(b"\n")[0].rstrip()
    except (RefusedError, OSError):
        return False
    return first.startswith(b"{") and (first.endswith(b"}") or len(first) > HEAD_BYTES // 2) and len(first) > 1


def _by_content(place: Place) -> str:
    head = _beginning(place)
    known = (format for magic, format in _MAGIC.items() if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(magic))
    if found := next(known, None):
        return found
    if is_mailbox(head):
        return "mbox"
    if place.name != STDIN_NAME:
        return "documents"
    if not head:
        return "jsonl"
    # Without a name, CSV and prose look alike.
    raise ParameterError(f"the format of standard input is not clear: give format=… as one of {', '.join(FORMATS)}")


def _beginning(place: Place) -> bytes:
    """Return the first decompressed bytes of a file."""
    head = place.head()
    compression = by_content(head)
    if compression is None:
        return head
    try:
        return next(chunks(io.BytesIO(head), compression, HEAD_BYTES), b"")
    except RefusedError:
        return b""
