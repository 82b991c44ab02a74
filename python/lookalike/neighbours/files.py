"""Who is near whom among fingerprints that stand in files: ids and fingerprints in, pairs with distances out.

A file is Parquet, CSV or JSON Lines with a column of ids and one of fingerprints, as ``lookalike simhash`` writes it or
as anybody brings it. Queries are held in memory and the file is streamed past them (Manku 2007, §3.3); without queries
the file is its own, and each pair comes once. What cannot be read is listed and left out.
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
from lookalike._types import Problem, Progress, counted, unheard
from lookalike.corpora.arrays import arrow, listed
from lookalike.errors import ParameterError
from lookalike.neighbours import output
from lookalike.neighbours.table import HammingTable, QueryBatch

#: Fingerprints that are streamed at a time.
CHUNK_ROWS = 1 << 20
#: Rows that tell whether a column of 16 digits is hexadecimal: of so many some have a letter.
SAMPLE = 1000
SEARCHING = "searching fingerprints"
#: Hexadecimal digits of a fingerprint.
DIGITS = 16
#: Problems that are kept with their place; more are counted.
MAX_PROBLEMS = 100
_HEX = re.compile(r"(?:0[xX])?([0-9a-fA-F]{1,16})")
_DECIMAL = re.compile(r"-?[0-9]{1,20}")


class Chunk(NamedTuple):
    """Some rows of a file."""

    ids: list[str]
    fingerprints: array[int]


@dataclass
class Fingerprinted:
    """A file of ids and fingerprints, read in chunks."""

    path: str
    id_column: str
    column: str
    problems: list[Problem] = field(default_factory=list)
    #: Rows that could not be read, those without a fingerprint among them.
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
    return f"`{given}` is no fingerprint: use 0 to 2^64 − 1, 0x and hexadecimal digits, or 16 of them"


def parse(given: object, *, hexadecimal: bool = False) -> int | None:
    """Return a fingerprint written as a number, with its sign bit or without, as 0x…, or as 16 hexadecimal digits.

    Sixteen decimal digits may be either: a decimal number unless they begin with 0 or ``hexadecimal`` is known.

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
    """Whether this can only be 16 hexadecimal digits: nobody writes a number with zeros in front."""
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
                yield f"line {number}", number, ValueError("is no JSON object")


def _check(path: str, names: Sequence[str], *wanted: str) -> None:
    """Errors: ``ParameterError`` if a column is not there."""
    for name in wanted:
        if name not in names:
            raise ParameterError(f"`{path}` has no column `{name}`: it has {listed(names)}; name yours")


@dataclass
class NearReport:
    """What was found: ids and distances of pairs, and what could not be read."""

    distance: int
    left: list[str]
    right: list[str]
    distances: list[int]
    #: Fingerprints that were read: queries, and what was streamed past them.
    queries: int
    fingerprints: int
    left_out: int
    problems: list[Problem]

    def __repr__(self) -> str:
        return (
            f"<NearReport: {counted(len(self.distances), 'pair')} within {counted(self.distance, 'bit')}, "
            f"{counted(self.queries, 'query', 'queries')}, {counted(self.fingerprints, 'fingerprint')}>"
        )


def near(
    path: str | os.PathLike[str],
    queries: str | os.PathLike[str] | Sequence[int] | None = None,
    *,
    distance: int = params.DISTANCE.default,
    id_column: str = params.NEAR["id_column"].default,
    fingerprint_column: str = params.NEAR["fingerprint_column"].default,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> NearReport:
    """Find all fingerprints of a file within a distance of queries, or all pairs of the file, each once.

    ``path`` may be the folder of a saved ``HammingTable``. ``queries`` is another file or a sequence of fingerprints.
    ``out`` names a .csv or .parquet file for the pairs. Pairs are (query, stored), ascending by the places of both.
    Errors: ``ParameterError``, ``OSError``, ``FormatError``, ``MissingExtraError``.
    """
    if out is not None:
        output.check(out)
    names = id_column, fingerprint_column
    if os.path.isdir(path):
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
    """Stream a file past the queries, or past itself."""
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
    """What became of a file that was made a table."""

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
    """Keep the fingerprints of a file as a ``HammingTable`` in a new folder; ids must be whole numbers.

    Errors: ``ParameterError``, ``OSError``, ``LockedError``, ``MissingExtraError``.
    """
    stored = Fingerprinted(os.fspath(path), id_column, fingerprint_column)
    with HammingTable.build(distance=distance) as table:
        for chunk in stored.chunks():
            table.insert(chunk.fingerprints, array("Q", [_number(name, path) for name in chunk.ids]))
        table.compact()
        table.save(folder)
        return Kept(len(table), stored.left_out, stored.problems)


def _number(name: str, path: str | os.PathLike[str]) -> int:
    """Return an id of a table."""
    if not name.isdecimal() or not int(name) < 1 << 64:
        raise ParameterError(f"id `{name}` of `{path}` is no whole number: a table has ids from 0 to 2^64 − 1")
    return int(name)


def _near_table(
    folder: str | os.PathLike[str],
    queries: str | os.PathLike[str] | Sequence[int] | None,
    distance: int,
    id_column: str,
    column: str,
) -> NearReport:
    """Ask a saved table, which stays in its files."""
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
    """Return the queries with ids, and the file that they are from."""
    if isinstance(queries, str | os.PathLike):
        file = Fingerprinted(os.fspath(queries), id_column, column)
        return _read(file), [file]
    return Chunk([f"{query:#018x}" for query in queries], array("Q", queries)), []


def _stream(report: NearReport, asked: Chunk, chunks: Iterable[Chunk], tell: Progress, *, is_own: bool) -> None:
    """Stream chunks past the queries. Of a file with itself a pair is kept where its first place is the smaller."""
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
