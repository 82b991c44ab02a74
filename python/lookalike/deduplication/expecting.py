"""Estimates what a deduplication will take, from the beginning of its inputs: rows, memory, files, time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lookalike import _core, params
from lookalike._calls import explained, given
from lookalike._types import counted
from lookalike.corpora import Scratch
from lookalike.corpora.batches import Lines, Source
from lookalike.deduplication.reading import open_core, open_files, push
from lookalike.deduplication.settings import settings
from lookalike.documents.reasons import in_bytes
from lookalike.errors import ParameterError

#: Bytes of the inputs that are read.
SAMPLE = 32 * 2**20
#: Most sources that are read.
SOURCES = 8
#: Bytes in memory of a row beside its shingles and sketch, and of a key in the sorted table.
ROW_BYTES, KEY_BYTES = 100, 16


@dataclass(frozen=True)
class Expected:
    """The estimate of a deduplication; all but the first three numbers are extrapolated.

    >>> import os, pathlib, tempfile, lookalike as la
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "rows.jsonl")
    ...     _ = pathlib.Path(path).write_text('{"text": "one two three"}\\n')
    ...     la.estimate(path).sources
    1
    """

    sources: int
    #: Bytes of all inputs, and bytes that were read for this estimate.
    bytes: int
    looked_at: int
    rows: int
    #: Bytes of memory and of temporary files.
    memory: int
    disk: int
    seconds: float
    #: Rows among those read that are unreadable.
    bad: int

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as values that JSON can hold."""
        return asdict(self)

    def lines(self, spent: float) -> Iterator[str]:
        """Yield the estimate as lines of text."""
        sources = f"{counted(self.sources, 'source')}, {in_bytes(self.bytes)}"
        yield f"{sources}; read a sample of {in_bytes(self.looked_at)} in {spent:.1f} s"
        yield f"about {counted(self.rows, 'row')}, {self.bad:,} unreadable in the sample"
        yield f"memory: about {in_bytes(self.memory)}; temporary files: about {in_bytes(self.disk)}"
        yield f"time: about {self.seconds:.0f} s to read and compare"
        yield "nothing was written; how many rows are removed is known only after a full run"


#: Parameters on which the cost of a deduplication depends.
COSTLY = ("method", "threshold", "size", "modulus", "shingle", "unit", "text_column", "format", "memory", "threads")


@explained(*(params.DEDUPLICATION[name] for name in COSTLY))
def estimate(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    against: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    method: str | None = None,
    threshold: float | None = None,
    size: int | None = None,
    modulus: int | None = None,
    shingle: int | None = None,
    unit: str | None = None,
    text_column: str | None = None,
    format: str | None = None,
    memory: str | int | None = None,
    threads: int | None = None,
) -> Expected:
    """Estimate what ``dedup`` of files will take: rows, memory, temporary files, time. Nothing is written.

    :param source: A path or several: files, folders, globs, addresses.
    :param against: Files to compare with, which are read too.
    :parameters:
    :returns: The estimate, made from the beginning of the inputs.
    :raises ParameterError: A parameter is out of range.
    :raises OSError: A file cannot be read.

    >>> import os, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "rows.jsonl")
    ...     _ = pathlib.Path(path).write_text('{"text": "one two three four five six"}\\n' * 10)
    ...     estimate(path).rows
    10
    """
    chosen = given(COSTLY, locals())
    return expect([*_listed(against), *_listed(source)], chosen)


def _listed(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    several = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not all(isinstance(one, str | os.PathLike) for one in several):
        raise ParameterError("estimate takes paths of files, folders or patterns; other objects are already in memory")
    return [os.fspath(one) for one in several]


def expect(inputs: list[str], chosen: dict[str, Any]) -> Expected:
    """Look at the beginning of each source. Errors: as ``dedup``."""
    asked = settings(**chosen)
    with Scratch() as scratch:
        corpus = open_files(inputs, asked, scratch)
        core = open_core(asked, scratch.folder)
        # Sources may differ, so the sample is spread over them.
        chosen_sources = corpus.sources[:: -(-len(corpus.sources) // SOURCES) or 1]
        looked, on_disk = 0, 0
        started = time.perf_counter()
        for source in chosen_sources:
            looked += _look(core, source, SAMPLE // len(chosen_sources))
            on_disk += source.done
        spent = time.perf_counter() - started
        scale = corpus.size / on_disk if on_disk else 0.0
        rows = round(len(core) * scale)
        found = asked.filter
        shingles = looked / 6 * 8 if asked.kept_sketch != "none" and not asked.is_by_features else 0
        of_sketch = 0 if found is None else found.features_bytes if asked.is_by_features else 4 * asked.size
        held = round(shingles * scale) + rows * of_sketch
        table = rows * KEY_BYTES * (found.keys if found else 1)
        store, spilled = min(held, asked.memory // 2), max(0, held - asked.memory // 2)
        memory = store + min(table, asked.memory // 4) + rows * ROW_BYTES
        disk = spilled + (table if table > asked.memory // 4 else 0)
        # Reading is measured; sorting, joining and verifying take about half of that time again.
        return Expected(
            len(corpus.sources), corpus.size, looked, rows, memory, disk, 1.5 * spent * scale, core.states[3]
        )


def _look(core: _core.Corpus, source: Source, most: int) -> int:
    """Feed the beginning of a source, without a line that is cut off; return its bytes."""
    looked = 0
    for batch in source.batches():
        if isinstance(batch, Lines) and not batch.last and looked + len(batch.data) >= most:
            batch = Lines(batch.data[: batch.data.rfind(b"\n") + 1], True)
        looked += push(core, batch)
        if looked >= most or (isinstance(batch, Lines) and batch.last):
            break
    return looked
