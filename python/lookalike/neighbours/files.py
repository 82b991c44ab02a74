"""Finds near fingerprints in files: ids and fingerprints in, pairs with distances out.

A file has a column of ids and a column of fingerprints, such as ``lookalike simhash`` writes (``rows.py``). Queries are
held in memory and the file is streamed past them (Manku 2007, §3.3). Without queries the file is compared with itself,
and each pair is reported once. A saved table is searched, and changed, in its folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lookalike import _core, params
from lookalike._calls import explained
from lookalike._types import Problem, Progress, counted, unheard
from lookalike.engines.writing import writing
from lookalike.errors import ParameterError
from lookalike.neighbours import output
from lookalike.neighbours.limits import Limits
from lookalike.neighbours.rows import PrintFile, Prints
from lookalike.neighbours.table import HammingTable

SEARCHING = "searching fingerprints"
#: A file of fingerprints, or fingerprints.
Queries = str | os.PathLike[str] | Sequence[int] | None


def parse(given: object, *, hexadecimal: bool = False) -> int | None:
    """Return a fingerprint written as a signed or unsigned number, as 0x…, or as 16 hexadecimal digits.

    Sixteen decimal digits are a decimal number, unless they begin with 0 or ``hexadecimal`` is true.

    >>> [parse(text) for text in ("5", "-1", "0x1f", "00000000000000ff", "1000000000000000", "x")]
    [5, 18446744073709551615, 31, 255, 1000000000000000, None]
    """
    if isinstance(given, str):
        return _core.parse_fingerprint(given, hexadecimal)
    if not isinstance(given, int) or isinstance(given, bool) or not -(1 << 63) <= given < 1 << 64:
        return None
    return given % (1 << 64)


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
    #: Ids of queries and of stored fingerprints, and the bits in which each pair differs.
    left: _core.Column
    right: _core.Column
    distances: _core.Column
    #: Fingerprints that were read: queries, and stored ones.
    queries: int
    fingerprints: int
    #: Rows that could not be read, and the first of them with their reasons.
    left_out: int = 0
    problems: list[Problem] = field(default_factory=list)
    #: Rows that a saved table got, and that it lost.
    inserted: int = 0
    removed: int = 0

    def __repr__(self) -> str:
        return (
            f"<NearReport: {counted(len(self.distances), 'pair')} within {counted(self.distance, 'bit')}, "
            f"{counted(self.queries, 'query', 'queries')}, {counted(self.fingerprints, 'fingerprint')}>"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the report as values that JSON can hold."""
        columns = {name: getattr(self, name).tolist() for name in ("left", "right", "distances")}
        return {**vars(self), **columns, "problems": [vars(one) for one in self.problems]}

    def _tell(self, *files: PrintFile) -> None:
        self.left_out += sum(file.left_out for file in files)
        self.problems += [problem for file in files for problem in file.problems]


def _no_pairs(distance: int, rows: int) -> NearReport:
    """Return a report without a search."""
    texts, numbers = _core.concatenate_texts([]), _core.Column(b"", "<I")
    return NearReport(distance, texts, texts, numbers, 0, rows)


@explained(*params.NEAR.values())
def near(
    path: str | os.PathLike[str],
    queries: str | os.PathLike[str] | Sequence[int] | None = None,
    *,
    distance: int | None = None,
    id_column: str | None = None,
    fingerprint_column: str | None = None,
    length_within: float | None = None,
    same_language: bool | None = None,
    out: str | os.PathLike[str] | None = None,
    save: str | os.PathLike[str] | None = None,
    insert: str | os.PathLike[str] | None = None,
    remove: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> NearReport:
    """Find all fingerprints of a file within a distance of queries, or all pairs of the file, each once.

    :param path: A .parquet, .csv, .tsv or .jsonl file, compressed or not, or the folder of a saved ``HammingTable``.
    :param queries: Another such file, or a sequence of fingerprints. Without queries the file is compared with itself.
    :parameters:
    :param out: Write the pairs to this .csv or .parquet file.
    :param save: Save the file as a ``HammingTable`` in this new folder. Its ids are numbers if all are whole numbers,
        else strings. Without queries nothing is searched.
    :param insert: Insert the rows of this file into the saved table ``path``. Without queries nothing is searched.
    :param remove: Remove the rows of this file from it, before any are inserted.
    :param overwrite: Replace ``out`` if it exists.
    :param progress: Called with phase, amount done, and total or ``None``.
    :returns: Pairs of query and stored fingerprint, ascending by the places of both.
    :raises ParameterError: A parameter is out of range, or a column is missing.
    :raises OSError: A file cannot be read or written.
    :raises FormatError: A saved table is damaged or of another version.
    :raises LockedError: Another process is writing the saved table.
    :raises RefusedError: No row of a file can be read.
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
    columns = _named(id_column=id_column, fingerprint_column=fingerprint_column)
    given, limits = os.fspath(path), Limits(length_within, bool(same_language))
    limits.check(os.path.isdir(given) or (save, insert, remove) != (None, None, None), queries)
    report: NearReport | None = None
    if save is not None:
        report = _save(given, os.fspath(save), distance, columns)
        given = os.fspath(save)
    elif insert is not None or remove is not None:
        report = _change(given, insert, remove, distance, columns)
    if report is None or queries is not None:
        report = _searched(given, queries, distance, columns, limits, progress or unheard, report)
    if out is not None:
        output.write(report, out, [os.fspath(path)], overwrite)
    return report


def _named(**columns: str | None) -> list[str]:
    """Return the names of columns, the usual ones for those that were not given."""
    return [str(params.NEAR[key].default if name is None else name) for key, name in columns.items()]


def _searched(
    given: str,
    queries: Queries,
    distance: int,
    columns: Sequence[str],
    limits: Limits,
    tell: Progress,
    before: NearReport | None,
) -> NearReport:
    """Search a file or a saved table; ``before`` tells what was done to the table."""
    if os.path.isdir(given):
        report = _near_table(given, queries, distance, columns)
    else:
        report = _near_file(PrintFile(given, [*columns, *limits.columns]), queries, distance, limits, tell)
    if before is not None:
        report.inserted, report.removed = before.inserted, before.removed
        report.left_out += before.left_out
        report.problems = [*before.problems, *report.problems]
    return report


def _near_file(stored: PrintFile, queries: Queries, distance: int, limits: Limits, tell: Progress) -> NearReport:
    """Stream a file past the queries, or past its own fingerprints."""
    if queries is None:
        asked, files = stored.read(), [stored]
        chunks: Iterable[Prints] = [asked]
    else:
        asked, files = _asked(queries, stored.columns)
        files, chunks = [*files, stored], stored.rows()
    batch = _core.HammingBatch(asked.fingerprints, distance)
    pairs, rows = _core.NearPairs(limits.length_within, *limits.traits(asked, files[0].name if files else "")), 0
    for chunk in chunks:
        traits = limits.traits(chunk, stored.name)
        pairs.add(batch, chunk.fingerprints, chunk.ids, rows, queries is None, *traits)
        rows += len(chunk.ids)
        tell(SEARCHING, rows, None)
    report = NearReport(distance, *pairs.finish(asked.ids), len(asked.ids), rows)
    report._tell(*files)
    return report


def _near_table(folder: str, queries: Queries, distance: int, columns: Sequence[str]) -> NearReport:
    """Search a saved table without loading it into memory."""
    with HammingTable.open(folder, hold="mapped") as table:
        if queries is None:
            return NearReport(distance, *table._store.join(distance), len(table), len(table))
        asked, files = _asked(queries, columns)
        found = table._store.near(asked.fingerprints, asked.ids, distance)
        report = NearReport(distance, *found, len(asked.ids), len(table))
    report._tell(*files)
    return report


def _asked(queries: Queries, columns: Sequence[str]) -> tuple[Prints, list[PrintFile]]:
    """Return the queries with ids, and the file they come from."""
    if isinstance(queries, str | os.PathLike):
        file = PrintFile(os.fspath(queries), columns)
        return file.read(), [file]
    numbers = list(queries or ())
    names = _core.Column.texts([f"{number:#018x}" for number in numbers])
    return Prints(names, _core.token_values(numbers)), []


def _save(path: str, folder: str, distance: int, columns: Sequence[str]) -> NearReport:
    """Save the fingerprints of a file as a table in a new folder."""
    file = PrintFile(path, columns)
    rows = file.read()
    ids = _core.whole_numbers(rows.ids)
    with HammingTable.build(rows.fingerprints, rows.ids if ids is None else ids, distance=distance) as table:
        with writing(folder):
            table.save(folder)
        report = _no_pairs(distance, len(table))
        report.inserted = len(table)
    report._tell(file)
    return report


def _change(
    folder: str,
    insert: str | os.PathLike[str] | None,
    remove: str | os.PathLike[str] | None,
    distance: int,
    columns: Sequence[str],
) -> NearReport:
    """Remove rows from a saved table and insert others, and save it once."""
    files = {
        name: PrintFile(os.fspath(one), columns) for name, one in (("-", remove), ("+", insert)) if one is not None
    }
    rows = {name: file.read() for name, file in files.items()}
    none = Prints(_core.concatenate_texts([]), _core.token_values([]))
    with HammingTable.open(folder, write=True) as table:
        removed, inserted = (_own_kind(table, rows.get(name, none), folder) for name in "-+")
        report = _no_pairs(distance, 0)
        report.removed, report.inserted = table.remove(*removed), table.insert(*inserted)
        with writing(folder):
            table.save()
        report.fingerprints = len(table)
    report._tell(*files.values())
    return report


def _own_kind(table: HammingTable, rows: Prints, folder: str) -> tuple[_core.Column, _core.Column]:
    """Return fingerprints and ids of the kind that a table has. Errors: ``ParameterError``."""
    if table.is_named or not len(rows.ids):
        return rows.fingerprints, rows.ids
    numbers = _core.whole_numbers(rows.ids)
    if numbers is not None:
        return rows.fingerprints, numbers
    if not len(table):
        return rows.fingerprints, rows.ids
    odd = next(one for one in rows.ids if _core.whole_numbers([one]) is None)
    raise ParameterError(
        f"id `{odd}` is not a whole number, and the ids of the table in `{folder}` are: use numbers, "
        "or save a table of strings in a new folder"
    )
