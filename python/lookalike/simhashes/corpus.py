"""Writes the fingerprints of a corpus, with names and lengths, to one file that appears complete or not at all.

Every batch of every source goes to the core, which returns columns. Only the fingerprints and keys of ids, 8 bytes each
per row, are kept to the end, to count equal ones.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol

from lookalike import _core, params
from lookalike._calls import explained
from lookalike._types import Problem, Progress, counted, unheard
from lookalike.corpora import Corpus, Scratch, Staging, ids, open_object, open_sources
from lookalike.corpora.arrays import USUAL_ID, arrow
from lookalike.corpora.batches import RECORD_BYTES, Batch, Columns, Lines, Source, as_bytes, mended_note
from lookalike.corpora.suffixes import check_table, split
from lookalike.corpora.tables import text_file
from lookalike.deduplication.job import check_column
from lookalike.deduplication.reading import READING, Stretch
from lookalike.deduplication.repeating import RepeatedIds, repeated_ids
from lookalike.engines import local
from lookalike.errors import ParameterError, TooManyErrorsError
from lookalike.params import DEDUPLICATION, Simhashing
from lookalike.rendering.tables import guarded
from lookalike.simhashes.texts import LANGUAGES, MAKING, IdfTable, maker

#: Columns of a batch: ends of names, all names, fingerprints, whether each is valid, lengths, numbers of languages.
Named = tuple[_core.Column, bytes, _core.Column, bytes, _core.Column, bytes]
#: The columns of the output; the last one only if it was asked for.
HEADER = ("id", "fingerprint", "length", "language")
#: Languages by their numbers in columns.
_CODES = (None, *LANGUAGES)
#: The states of rows, in the order of the core.
STATES = ("fingerprinted", "without_features", "missing", "bad", "blank")


class _Columns(NamedTuple):
    """The columns that are read."""

    text_column: str
    id_column: str | None


@dataclass(frozen=True)
class SimhashReport:
    """The result of ``simhash_corpus``: how many rows have a fingerprint, and which could not be read.

    >>> import os, tempfile, lookalike as la
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = la.simhash_corpus(["a rose is a rose", "?!"], os.path.join(folder, "prints.csv"))
    >>> report.rows, report.states["fingerprinted"]
    (2, 1)
    """

    simhashing: Simhashing
    #: Rows by state.
    states: dict[str, int]
    #: Distinct fingerprints, and rows with the most common one.
    distinct: int
    largest: int
    out: str
    problems: list[Problem] = field(default_factory=list)
    #: Ids that several rows have; ``None`` if there are none.
    repeated_ids: RepeatedIds | None = None

    def __repr__(self) -> str:
        made = f"{self.states['fingerprinted']:,} fingerprinted, {self.distinct:,} distinct"
        return f"<SimhashReport: {counted(self.rows, 'row')}, {made}, in `{self.out}`>"

    @property
    def rows(self) -> int:
        """All rows."""
        return sum(self.states.values())

    @property
    def with_text(self) -> int:
        """Rows that have a text, whether it has features or not."""
        return self.states["fingerprinted"] + self.states["without_features"]

    def to_json(self) -> dict[str, Any]:
        """Return the report as values that JSON can hold."""
        return {
            "parameters": asdict(self.simhashing),
            "out": self.out,
            "rows": self.rows,
            "states": self.states,
            "distinct": self.distinct,
            "largest_group": self.largest,
            "repeated_ids": None if self.repeated_ids is None else self.repeated_ids.to_json(),
            "problems": [asdict(one) for one in self.problems],
        }


@explained(*MAKING, *(DEDUPLICATION[name] for name in ("text_column", "id_column", "format", "max_errors")))
def simhash_corpus(
    source: Any,
    out: str | os.PathLike[str],
    *,
    features: str | None = None,
    unit: str | None = None,
    shingle: int | None = None,
    homoglyphs: bool | None = None,
    language: str | None = None,
    idf: IdfTable | os.PathLike[str] | str | None = None,
    ignore: Iterable[str] | None = None,
    languages: bool | None = None,
    text_column: str | None = None,
    id_column: str | None = None,
    format: str | None = None,
    threads: int | None = None,
    max_errors: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> SimhashReport:
    """Write the fingerprints of a corpus as Parquet or CSV: id, fingerprint, length, language.

    :param source: A path or several, or an object with texts, as ``dedup`` takes them.
    :param out: The file to write: ``.parquet`` or ``.csv``. A row without a fingerprint has null there.
    :param features: How features are made of a text: ``words`` (default) or ``paper``.
    :parameters:
    :param threads: How many cores to use; ``None`` or 0 for all.
    :param overwrite: Replace an output that exists.
    :param progress: Called with phase, amount done, and total or ``None``.
    :returns: Counts of rows and fingerprints, and rows that could not be read.
    :raises ParameterError: A parameter is out of range.
    :raises OSError: A file cannot be read or written.
    :raises TooManyErrorsError: More rows than ``max_errors`` could not be read.
    :raises MissingExtraError: Parquet needs an extra that is not installed.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     simhash_corpus(["a rose is a rose"], os.path.join(folder, "prints.csv")).distinct
    1
    """
    made, asked = maker(features, unit, shingle, homoglyphs, language, idf, ignore, languages)
    text_column = DEDUPLICATION["text_column"].default if text_column is None else text_column
    return _written(source, out, made, asked, text_column, id_column, format, threads, max_errors, overwrite, progress)


def _written(
    source: Any,
    out: str | os.PathLike[str],
    made: _core.SimhashMaker,
    asked: Simhashing,
    text_column: str,
    id_column: str | None,
    format: str | None,
    threads: int | None,
    max_errors: int | None,
    overwrite: bool,
    progress: Progress | None,
) -> SimhashReport:
    """Read, fingerprint and write. Errors: as ``simhash_corpus``."""
    target = os.fspath(out)
    make = _writer_of(target)
    threads = _checked(threads, max_errors)
    tell = progress or unheard
    with Scratch() as scratch:
        sources, problems, inputs = _sources(source, scratch, text_column, id_column, format)
        core = _core.SimhashReader(made, text_column, id_column or USUAL_ID, RECORD_BYTES, threads)
        with Staging(overwrite=overwrite, inputs=inputs) as staging:
            kept: list[tuple[_core.Column, bytes]] = []
            seen, stretches = _core.SeenIds(), list[Stretch]()
            with make(staging.file(target), asked.languages) as writer:
                for named in _read(core, seen, stretches, sources, problems, max_errors, tell):
                    writer.write(named)
                    kept.append((named[2], named[3]))
            check_column(core.states, sources, text_column)
            distinct, largest = _core.simhash_groups(kept)
            repeated = repeated_ids(seen, stretches, _Columns(text_column, id_column))
            staging.commit()
    states = dict(zip(STATES, core.states, strict=True))
    return SimhashReport(asked, states, distinct, largest, target, [*problems, *_bad(core)], repeated)


def _checked(threads: int | None, max_errors: int | None) -> int:
    """Return the number of threads, 0 for all cores. Errors: ``ParameterError``."""
    threads = params.DEDUPLICATION["threads"].default if threads is None else threads
    local.checked(threads)
    if max_errors is not None and max_errors < 0:
        raise ParameterError(f"max_errors `{max_errors}` must be 0 or more")
    return int(threads)


def _sources(
    given: Any, scratch: Scratch, text_column: str, id_column: str | None, format: str | None
) -> tuple[Sequence[Source], list[Problem], list[str]]:
    """Open files, or an object with rows: return sources, problems, and the files that are read."""
    several = isinstance(given, list | tuple) and given and all(isinstance(one, os.PathLike) for one in given)
    if not several and not isinstance(given, str | os.PathLike):
        return [open_object(given, text_column, id_column, None)], [], []
    paths = [os.fspath(one) for one in (given if several else [given])]
    corpus: Corpus = open_sources(paths, scratch, text_column=text_column, id_column=id_column, format=format)
    return corpus.sources, list(corpus.problems), corpus.paths


def _read(
    core: _core.SimhashReader,
    seen: _core.SeenIds,
    stretches: list[Stretch],
    sources: Sequence[Source],
    problems: list[Problem],
    max_errors: int | None,
    tell: Progress,
) -> Iterator[Named]:
    """Yield the columns of every batch, in order; ``seen`` and ``stretches`` take ids, and rows of sources.

    Errors: ``TooManyErrorsError``, ``OSError``.
    """
    before, total = 0, sum(one.size for one in sources) or None
    for source in sources:
        core.begin(_printable(source.name))
        first = sum(core.states)
        for batch in source.batches():
            yield _pushed(core, seen, batch)
            tell(READING, before + source.done, total)
            _check_errors(core, [*problems, *source.problems], max_errors)
        stretches.append(Stretch(source, first, sum(core.states) - first))
        problems += source.problems
        _check_errors(core, problems, max_errors)
        before += source.size
        tell(READING, before, total)


def _pushed(core: _core.SimhashReader, seen: _core.SeenIds, batch: Batch) -> Named:
    if isinstance(batch, Lines):
        named, keys = core.push_lines(batch.data, batch.last)
        seen.push_keys(keys)
        return named
    ids.take(seen, batch)
    if isinstance(batch, Columns):
        validity = None if batch.validity is None else as_bytes(batch.validity)
        names = None if batch.ids is None else [_printable(name) for name in batch.ids]
        buffers = (validity, as_bytes(batch.offsets), as_bytes(batch.data), batch.width, batch.rows)
        return core.push_columns(*buffers, batch.is_text, names)
    return core.push_texts([text for _, text in batch.rows], [_printable(name) for name, _ in batch.rows])


def _printable(name: str | None) -> Any:
    """Return a name that UTF-8 can hold; names of files may be any bytes."""
    return name if name is None or name.isascii() else name.encode("utf-8", "backslashreplace").decode()


def _bad(core: _core.SimhashReader) -> list[Problem]:
    """List the rows that the core could not read; one line counts those beyond its limit."""
    found = [Problem(source, f"line {row}", reason, 1) for source, row, reason in core.problems]
    mended, source, row = core.mended
    if mended:
        found.append(mended_note(source, row, mended))
    rest = core.states[STATES.index("bad")] - len(core.problems)
    return [*found, Problem("", "", f"{counted(rest, 'more row')} could not be read", rest)] if rest else found


def _check_errors(core: _core.SimhashReader, found: Sequence[Problem], max_errors: int | None) -> None:
    """Errors: ``TooManyErrorsError`` if more rows than allowed could not be read."""
    if max_errors is None:
        return
    found = [problem for problem in found if not problem.is_note]
    bad = core.states[STATES.index("bad")] + sum(max(problem.rows, 1) for problem in found)
    if bad > max_errors:
        first = [*found, *_bad(core)][0]
        raise TooManyErrorsError(
            f"{counted(bad, 'row')} could not be read, more than max_errors `{max_errors}` allows; "
            f"the first is {first.source}, {first.place}: {first.reason}"
        )


class _Writer(Protocol):
    def write(self, named: Named) -> None: ...


def _writer_of(target: str) -> Callable[[str, bool], Any]:
    """Return what writes a file of this name. Errors: ``ParameterError``, ``MissingExtraError``."""
    check_table("out", target)
    if split(target)[0] == ".csv":
        return partial(_csv, target)
    arrow("a Parquet file")
    return _parquet


class _Csv:
    """Writes fingerprints as hexadecimal numbers; a spreadsheet would round decimal ones."""

    def __init__(self, file: Any, width: int) -> None:
        self._rows = csv.writer(file)
        self._width = width
        self._rows.writerow(HEADER[:width])

    def write(self, named: Named) -> None:
        ends, names, fingerprints, valid, lengths, languages = named
        for row, is_valid in enumerate(valid):
            name = names[ends[row] : ends[row + 1]].decode()
            bits = f"0x{fingerprints[row]:016x}" if is_valid else ""
            self._rows.writerow([guarded(name), bits, lengths[row], _CODES[languages[row]]][: self._width])


@contextmanager
def _csv(target: str, path: str, with_languages: bool) -> Iterator[_Writer]:
    with text_file(path, target) as file:
        yield _Csv(file, len(HEADER) if with_languages else len(HEADER) - 1)


class _Parquet:
    """Writes columns as the core returns them, without one Python object per row."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write(self, named: Named) -> None:
        import numpy as np
        import pyarrow as pa

        ends, names, fingerprints, valid, lengths, languages = named
        if not valid:
            return
        buffers = [None, pa.py_buffer(memoryview(ends)), pa.py_buffer(names)]
        columns = [
            pa.Array.from_buffers(pa.large_string(), len(valid), buffers),
            pa.array(np.asarray(fingerprints), mask=np.frombuffer(valid, np.uint8) == 0),
            pa.array(np.asarray(lengths)),
        ]
        if len(self._writer.schema) > len(columns):
            columns.append(pa.array(_CODES, pa.string()).take(pa.array(np.frombuffer(languages, np.uint8))))
        self._writer.write_batch(pa.record_batch(columns, schema=self._writer.schema))


@contextmanager
def _parquet(path: str, with_languages: bool) -> Iterator[_Writer]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = list(zip(HEADER, (pa.large_string(), pa.uint64(), pa.uint32(), pa.string()), strict=True))
    with pq.ParquetWriter(path, pa.schema(fields if with_languages else fields[:-1])) as writer:
        yield _Parquet(writer)


__all__ = ["SimhashReport", "simhash_corpus"]
