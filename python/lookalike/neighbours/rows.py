"""Reads files of fingerprints as columns: ids, fingerprints, and further columns, without an object per row.

A file is Parquet, CSV, TSV or JSON Lines, compressed or not, at any place that the other commands read: a path, a
pattern, an address, or - for standard input. The core cuts and parses rows; Parquet is read by Arrow. A row that has no
fingerprint is listed and left out; a row that does not have the columns is an error.
"""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike import _core
from lookalike._types import Problem
from lookalike.corpora import Scratch
from lookalike.corpora.arrays import arrow, buffers_of, listed, name_of
from lookalike.corpora.batches import RECORD_BYTES
from lookalike.corpora.compression import by_suffix, chunks
from lookalike.corpora.lines import reason_of
from lookalike.corpora.places import STDIN_NAME, Folder, Place, find
from lookalike.documents.reasons import RefusedError
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

#: Layouts by suffix, after removing a compression suffix.
LAYOUTS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
#: Rows of Parquet read at a time.
_BATCH_ROWS = 1 << 16
#: What the core says of a row whose document had no features.
WITHOUT = "has no fingerprint"
#: Problems kept with their place; further ones are only counted.
MAX_PROBLEMS = 100


class Prints(NamedTuple):
    """Consecutive rows."""

    ids: _core.Column
    fingerprints: _core.Column
    #: Texts of the further columns, empty where there is none.
    others: Sequence[_core.Column] = ()


@dataclass
class PrintFile:
    """A file of fingerprints, or several that are read as one."""

    name: str
    #: The columns of ids and of fingerprints, and further ones.
    columns: Sequence[str]
    problems: list[Problem] = field(default_factory=list)
    #: Rows that could not be read, including those without a fingerprint.
    left_out: int = 0
    #: The local files that are read.
    paths: list[str] = field(default_factory=list)
    #: Rows that were read.
    count: int = 0

    def rows(self) -> Iterator[Prints]:
        """Yield all rows in order.

        Errors: ``OSError``, ``ParameterError``, ``MissingExtraError``, ``RefusedError`` if no row can be read. A row
        whose fingerprint is null was read: its document had no features.
        """
        with Scratch() as scratch:
            places, _ = find(self.name, scratch, lambda path, reason: self._miss(path, "", reason))
            for place in places:
                if isinstance(place, Folder):
                    raise ParameterError(f"`{place.name}` is a folder: give a file of fingerprints, or a saved table")
                self.paths += [place.path] if place.path is not None else []
                for rows in self._parquet(place) if _layout(place) == "parquet" else self._cut(place):
                    self.count += len(rows.ids)
                    yield rows
        self._check_read()

    def read(self) -> Prints:
        """Read all rows into memory."""
        return joined(list(self.rows()), len(self.columns) - 2)

    def _check_read(self) -> None:
        """Errors: ``RefusedError`` if there are rows and none could be read."""
        unread = [one for one in self.problems if one.reason != WITHOUT]
        if not self.count and unread:
            first = unread[0]
            where = f"{first.source}, {first.place}" if first.place else first.source
            raise RefusedError(f"no row of `{self.name}` could be read; the first is {where}: {first.reason}")

    def _cut(self, place: Place) -> Iterator[Prints]:
        """Yield the rows of a text file."""
        reader = _core.PrintReader(_layout(place), list(self.columns), RECORD_BYTES)
        done = 0
        try:
            with place.open() as file:
                for data in chunks(file, place.compression()):
                    yield self._made(place, reader.push(data, False), "line")
                    done += len(data)
            yield self._made(place, reader.push(b"", True), "line")
        except RefusedError as error:
            # The last row may be half of one.
            yield self._made(place, reader.abandon(), "line")
            self._miss(place.name, f"after {done:,} bytes", str(error))
        except ParameterError as error:
            raise ParameterError(f"`{place.name}`, {error}") from None

    def _parquet(self, place: Place) -> Iterator[Prints]:
        """Yield the rows of a Parquet file."""
        pa = arrow(f"reading `{place.name}`")
        from lookalike.corpora.parquet import opened

        reader = _core.PrintReader("cells", list(self.columns), RECORD_BYTES)
        try:
            with opened(place) as file:
                _check(place.name, file.schema_arrow.names, self.columns)
                for batch in file.iter_batches(_BATCH_ROWS, columns=list(dict.fromkeys(self.columns))):
                    cells = [_texts(batch.column(name)) for name in self.columns]
                    yield self._made(place, reader.push_cells(cells, False), "row")
        except (RefusedError, pa.ArrowException) as error:
            self._miss(place.name, "", str(error) if isinstance(error, RefusedError) else reason_of(error))
        yield self._made(place, reader.push_cells([_NONE for _ in self.columns], True), "row")

    def _made(self, place: Place, found: Any, word: str) -> Prints:
        ids, fingerprints, others, left_out, problems = found
        self.left_out += left_out
        room = max(0, MAX_PROBLEMS - len(self.problems))
        self.problems += [Problem(place.name, f"{word} {line}", reason, 1) for line, reason in problems[:room]]
        return Prints(ids, fingerprints, others)

    def _miss(self, name: str, where: str, reason: str) -> None:
        self.left_out += 1
        self.problems.append(Problem(name, where, reason, 1))


#: A column of texts without rows, as the core takes it.
_NONE = (None, bytes(4), b"", 4, 0)


def joined(parts: Sequence[Prints], others: int = 0) -> Prints:
    """Return several parts as one."""
    if len(parts) == 1:
        return parts[0]
    values = array("Q")
    for part in parts:
        values.frombytes(memoryview(part.fingerprints).cast("B") if len(part.fingerprints) else b"")
    columns = [_core.concatenate_texts([part.others[number] for part in parts]) for number in range(others)]
    fingerprints = _core.Column(values.tobytes(), "<Q" if sys.byteorder == "little" else ">Q")
    return Prints(_core.concatenate_texts([part.ids for part in parts]), fingerprints, columns)


def _layout(place: Place) -> str:
    """Return the layout of a file: by its suffix, or by its first byte if it has none. Errors: ``ParameterError``."""
    bare = by_suffix(os.path.basename(place.name))[0]
    suffix = os.path.splitext(bare)[1].lower()
    if suffix in LAYOUTS:
        return LAYOUTS[suffix]
    if suffix and place.name != STDIN_NAME:
        raise ParameterError(f"`{place.name}` has no known format: use .parquet, .csv, .tsv or .jsonl")
    with place.open() as file:
        head = next(chunks(file, place.compression()), b"")[:4]
    return "parquet" if head == b"PAR1" else "json" if head[:1] == b"{" else "csv"


def _texts(column: pa.Array) -> tuple[Any, ...]:
    """Return a column of Parquet as the buffers of texts: numbers in decimal, null as null."""
    import pyarrow as pa

    try:
        texts = column.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        texts = pa.array([name_of(value) for value in column.to_pylist()], pa.large_string())
    validity, offsets, data, width = buffers_of(texts)
    return validity, offsets, data, width, len(texts)


def _check(path: str, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Errors: ``ParameterError`` if a column is missing."""
    for number, name in enumerate(wanted):
        if name not in names:
            remedy = _core.column_remedy(number)
            raise ParameterError(f"`{path}` has no column `{name}`: it has {listed(names)}; {remedy}")
