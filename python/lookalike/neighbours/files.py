"""Finds near fingerprints in files: ids and fingerprints in, pairs with distances out.

A file is Parquet, CSV or JSON Lines with a column of ids and a column of fingerprints, such as ``lookalike simhash``
writes. Queries are held in memory and the file is streamed past them (Manku 2007, §3.3). Without queries the file is
compared with itself, and each pair is reported once. Rows that cannot be read are listed and left out.
"""

from __future__ import annotations

import csv
import json
import os
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple

from lookalike import params
from lookalike._calls import explained
from lookalike._types import Problem, Progress, counted, unheard
from lookalike.corpora.arrays import arrow, listed
from lookalike.errors import ParameterError
from lookalike.neighbours import output
from lookalike.neighbours.table import HammingTable, QueryBatch

#: Fingerprints streamed at a time.
CHUNK_ROWS = 1 << 20
#: Rows examined to decide whether a column of 16 digits is hexadecimal: among so many, some have a letter.
SAMPLE = 1000
SEARCHING = "searching fingerprints"
#: Hexadecimal digits of a fingerprint.
DIGITS = 16
#: Problems kept with their place; further ones are only counted.
MAX_PROBLEMS = 100
_HEX = re.compile(r"(?:0[xX])?([0-9a-fA-F]{1,16})")
_DECIMAL = re.compile(r"-?[0-9]{1,20}")


class Chunk(NamedTuple):
    """Consecutive rows of a file."""

    ids: list[str]
    fingerprints: array[int]


@dataclass
class Fingerprinted:
    """A file of ids and fingerprints, read in chunks."""

    path: str
    id_column: str
    column: str
    problems: list[Problem] = field(default_factory=list)
    #: Rows that could not be read, including those without a fingerprint.
    left_out: int = 0

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rows in order. Errors: ``OSError``, ``ParameterError``, ``MissingExtraError``."""
        name = self.path.lower()
        if name.endswith((".parquet", ".pq")):
            yield from self._gathered(_parquet(self.path, self.id_column, self.column))
        elif name.endswith((".csv", ".tsv")):
            yield from self._gathered(_delimited(self.path, self.id_column, self.column))
        elif name.endswith((".jsonl", ".ndjson", ".json")):
            yield from self._gathered(_lines(self.path, self.id_column, self.column))
        else:
            raise ParameterError(f"`{self.path}` has no known format: use .parquet, .csv, .tsv or .jsonl")

    def _gathered(self, rows: Iterable[tuple[str, object, object]]) -> Iterator[Chunk]:
        ids: list[str] = []
        values = array("Q")
        rows = iter(rows)
        first = list(islice(rows, SAMPLE))
        hexadecimal = any(isinstance(given, str) and _is_hexadecimal(given.strip()) for _, _, given in first)
        for place, name, given in chain(first, rows):
            found = parse(given, hexadecimal=hexadecimal)
            if found is None or name is None:
                self._leave_out(place, "has no id" if name is None else _reason(given))
                continue
            ids.append(str(name))
            values.append(found)
            if len(values) == CHUNK_ROWS:
                yield Chunk(ids, values)
                ids, values = [], array("Q")
        if values:
            yield Chunk(ids, values)

    def _leave_out(self, place: str, reason: str) -> None:
        self.left_out += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(self.path, place, reason, 1))


def _reason(given: object) -> str:
    if given is None or given == "":
        return "has no fingerprint"
    if isinstance(given, ValueError):
        return str(given)
    return f"`{given}` is not a fingerprint: use 0 to 2^64 − 1, or 0x and hexadecimal digits, or 16 of them"


def parse(given: object, *, hexadecimal: bool = False) -> int | None:
    """Return a fingerprint written as a signed or unsigned number, as 0x…, or as 16 hexadecimal digits.

    Sixteen decimal digits are a decimal number, unless they begin with 0 or ``hexadecimal`` is true.

    >>> [parse(text) for text in ("5", "-1", "0x1f", "00000000000000ff", "1000000000000000", "x")]
    [5, 18446744073709551615, 31, 255, 1000000000000000, None]
    """
    if isinstance(given, str):
        text = given.strip()
        found = _HEX.fullmatch(text)
        if found and (found[1] != text or _is_hexadecimal(text) or (hexadecimal and len(text) == DIGITS)):
            return int(found[1], 16)
        given = int(text) if _DECIMAL.fullmatch(text) else None
    if not isinstance(given, int) or isinstance(given, bool) or not -(1 << 63) <= given < 1 << 64:
        return None
    return given % (1 << 64)


def _is_hexadecimal(text: str) -> bool:
    """Whether this must be 16 hexadecimal digits: decimal numbers have no leading zeros."""
    return len(text) == DIGITS and bool(_HEX.fullmatch(text)) and (text[0] == "0" or not text.isdecimal())


def _parquet(path: str, id_column: str, column: str) -> Iterator[tuple[str, object, object]]:
    arrow("Parquet")
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        _check(path, file.schema_arrow.names, id_column, column)
        row = 0
        for batch in file.iter_batches(batch_size=1 << 16, columns=[id_column, column]):
            for name, value in zip(batch.column(id_column).to_pylist(), batch.column(column).to_pylist(), strict=True):
                row += 1
                yield f"row {row}", name, value


def _delimited(path: str, id_column: str, column: str) -> Iterator[tuple[str, object, object]]:
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t" if path.lower().endswith(".tsv") else ",")
        _check(path, reader.fieldnames or [], id_column, column)
        for row in reader:
            yield f"line {reader.line_num}", row[id_column], row[column]


def _lines(path: str, id_column: str, column: str) -> Iterator[tuple[str, object, object]]:
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if isinstance(row, dict):
                yield f"line {number}", row.get(id_column), row.get(column)
            else:
                yield f"line {number}", number, ValueError("is not a JSON object")


def _check(path: str, names: Sequence[str], *wanted: str) -> None:
    """Errors: ``ParameterError`` if a column is missing."""
    for name in wanted:
        if name not in names:
            raise ParameterError(f"`{path}` has no column `{name}`: it has {listed(names)}; name yours")


@dataclass
class NearReport:
    """The result of ``near``: ids and distances of pairs, and rows that could not be read.

    >>> import os, pathlib, tempfile, lookalike as la
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "prints.csv")
    ...     _ = pathlib.Path(path).write_text("id,fingerprint\\na,0x0f\\nb,0x0e\\nc,0xffff\\n")
    ...     report = la.near(path, distance=2)
    >>> report.left, report.right, report.distances
    (['a'], ['b'], [1])
    """

    distance: int
    left: list[str]
    right: list[str]
    distances: list[int]
    #: Fingerprints that were read: queries, and stored ones.
    queries: int
    fingerprints: int
    #: Rows that could not be read, and the first of them with their reasons.
    left_out: int
    problems: list[Problem]

    def __repr__(self) -> str:
        return (
            f"<NearReport: {counted(len(self.distances), 'pair')} within {counted(self.distance, 'bit')}, "
            f"{counted(self.queries, 'query', 'queries')}, {counted(self.fingerprints, 'fingerprint')}>"
        )


@explained(*params.NEAR.values())
def near(
    path: str | os.PathLike[str],
    queries: str | os.PathLike[str] | Sequence[int] | None = None,
    *,
    distance: int | None = None,
    id_column: str | None = None,
    fingerprint_column: str | None = None,
    out: str | os.PathLike[str] | None = None,
    save: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> NearReport:
    """Find all fingerprints of a file within a distance of queries, or all pairs of the file, each once.

    :param path: A .parquet, .csv, .tsv or .jsonl file, or the folder of a saved ``HammingTable``.
    :param queries: Another such file, or a sequence of fingerprints. Without queries the file is compared with itself.
    :parameters:
    :param out: Write the pairs to this .csv or .parquet file.
    :param save: Save the file as a ``HammingTable`` in this new folder; its ids must be whole numbers. Without queries
        nothing is searched.
    :param overwrite: Replace ``out`` if it exists.
    :param progress: Called with phase, amount done, and total or ``None``.
    :returns: Pairs of query and stored fingerprint, ascending by the places of both.
    :raises ParameterError: A parameter is out of range, or a column is missing.
    :raises OSError: A file cannot be read or written.
    :raises FormatError: A saved table is damaged or of another version.
    :raises MissingExtraError: Parquet needs an extra that is not installed.

    >>> import os, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "prints.csv")
    ...     _ = pathlib.Path(path).write_text("id,fingerprint\\n7,0x0f\\n8,0xffff\\n")
    ...     near(path, [0x0e]).right
    ['7']
    """
    if out is not None:
        output.check(out)
    distance = params.DISTANCE.default if distance is None else distance
    id_column = params.NEAR["id_column"].default if id_column is None else id_column
    fingerprint_column = params.NEAR["fingerprint_column"].default if fingerprint_column is None else fingerprint_column
    names = str(id_column), str(fingerprint_column)
    if save is not None:
        report = _saved(path, save, queries, distance, *names)
    elif os.path.isdir(path):
        report = _near_table(path, queries, distance, *names)
    else:
        report = _near_file(Fingerprinted(os.fspath(path), *names), queries, distance, progress or unheard)
    if out is not None:
        output.write(report, out, [os.fspath(path)], overwrite)
    return report


def _near_file(
    stored: Fingerprinted,
    queries: str | os.PathLike[str] | Sequence[int] | None,
    distance: int,
    tell: Progress,
) -> NearReport:
    """Stream a file past the queries, or past its own fingerprints."""
    if queries is None:
        asked, files = _read(stored), [stored]
        chunks: Iterable[Chunk] = [asked]
    else:
        asked, files = _asked(queries, stored.id_column, stored.column)
        files, chunks = [*files, stored], stored.chunks()
    report = NearReport(distance, [], [], [], len(asked.ids), 0, 0, [])
    _stream(report, asked, chunks, tell, is_own=queries is None)
    report.left_out = sum(file.left_out for file in files)
    report.problems = [problem for file in files for problem in file.problems]
    return report


@dataclass
class Kept:
    """The result of saving a file as a table."""

    rows: int
    left_out: int
    problems: list[Problem]


def save(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    distance: int = params.DISTANCE.default,
    id_column: str = params.NEAR["id_column"].default,
    fingerprint_column: str = params.NEAR["fingerprint_column"].default,
) -> Kept:
    """Save the fingerprints of a file as a ``HammingTable`` in a new folder; ids must be whole numbers.

    Errors: ``ParameterError``, ``OSError``, ``LockedError``, ``MissingExtraError``.
    """
    stored = Fingerprinted(os.fspath(path), id_column, fingerprint_column)
    with HammingTable.build(distance=distance) as table:
        for chunk in stored.chunks():
            table.insert(chunk.fingerprints, array("Q", [_number(name, path) for name in chunk.ids]))
        table.compact()
        table.save(folder)
        return Kept(len(table), stored.left_out, stored.problems)


def _saved(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    queries: str | os.PathLike[str] | Sequence[int] | None,
    distance: int,
    id_column: str,
    column: str,
) -> NearReport:
    """Save a file as a table, and search it if there are queries."""
    kept = save(path, folder, distance=distance, id_column=id_column, fingerprint_column=column)
    if queries is None:
        return NearReport(distance, [], [], [], 0, kept.rows, kept.left_out, kept.problems)
    report = _near_table(folder, queries, distance, id_column, column)
    report.left_out += kept.left_out
    report.problems = [*kept.problems, *report.problems]
    return report


def _number(name: str, path: str | os.PathLike[str]) -> int:
    """Return an id as the number a table needs. Errors: ``ParameterError``."""
    if not name.isdecimal() or not int(name) < 1 << 64:
        raise ParameterError(f"id `{name}` of `{path}` is not a whole number: a table has ids from 0 to 2^64 − 1")
    return int(name)


def _near_table(
    folder: str | os.PathLike[str],
    queries: str | os.PathLike[str] | Sequence[int] | None,
    distance: int,
    id_column: str,
    column: str,
) -> NearReport:
    """Search a saved table without loading it into memory."""
    files: list[Fingerprinted] = []
    with HammingTable.open(folder, hold="mapped") as table:
        if queries is None:
            values, ids = table.rows()
            asked = Chunk([str(one) for one in ids], array("Q", values))
        else:
            asked, files = _asked(queries, id_column, column)
        found = table.query_batch(asked.fingerprints, distance)
        report = NearReport(distance, [], [], [], len(asked.ids), len(table), 0, [])
    for query, name, bits in zip(found.queries, found.ids, found.distances, strict=True):
        if queries is not None or int(asked.ids[query]) < name:
            report.left.append(asked.ids[query])
            report.right.append(str(name))
            report.distances.append(bits)
    report.left_out = sum(file.left_out for file in files)
    report.problems = [problem for file in files for problem in file.problems]
    return report


def _read(file: Fingerprinted) -> Chunk:
    """Read all of a file."""
    ids, values = [], array("Q")
    for chunk in file.chunks():
        ids += chunk.ids
        values += chunk.fingerprints
    return Chunk(ids, values)


def _asked(
    queries: str | os.PathLike[str] | Sequence[int], id_column: str, column: str
) -> tuple[Chunk, list[Fingerprinted]]:
    """Return the queries with ids, and the file they come from."""
    if isinstance(queries, str | os.PathLike):
        file = Fingerprinted(os.fspath(queries), id_column, column)
        return _read(file), [file]
    return Chunk([f"{query:#018x}" for query in queries], array("Q", queries)), []


def _stream(report: NearReport, asked: Chunk, chunks: Iterable[Chunk], tell: Progress, *, is_own: bool) -> None:
    """Stream chunks past the queries. A file compared with itself keeps a pair once, the earlier row first."""
    batch = QueryBatch(asked.fingerprints, distance=report.distance)
    found: list[tuple[int, int, int, str]] = []
    for chunk in chunks:
        pairs = batch.chunk(chunk.fingerprints, report.fingerprints)
        for query, position, distance in zip(pairs.queries, pairs.positions, pairs.distances, strict=True):
            if not is_own or query < position:
                found.append((query, position, distance, chunk.ids[position - report.fingerprints]))
        report.fingerprints += len(chunk.ids)
        tell(SEARCHING, report.fingerprints, None)
    found.sort()
    report.left = [asked.ids[query] for query, _, _, _ in found]
    report.right = [name for _, _, _, name in found]
    report.distances = [distance for _, _, distance, _ in found]
