"""What a deduplication will take, from the beginning of its inputs: rows, memory, files, time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from lookalike import _core
from lookalike._types import counted
from lookalike.corpora import Scratch
from lookalike.corpora.batches import Lines, Source
from lookalike.deduplication.reading import open_core, open_files, push
from lookalike.deduplication.settings import settings
from lookalike.documents.reasons import in_bytes

#: So many bytes of the inputs are looked at.
SAMPLE = 32 * 2**20
#: In so many sources at most.
SOURCES = 8
#: Bytes a row has in memory beside its shingles and sketch, and a key in the table that is sorted.
ROW_BYTES, KEY_BYTES = 100, 16


@dataclass(frozen=True)
class Expected:
    """What to expect; all but the first three are extrapolated."""

    sources: int
    bytes: int
    looked_at: int
    rows: int
    memory: int
    disk: int
    seconds: float
    bad: int

    def to_json(self) -> dict[str, Any]:
        """Return it for a program."""
        return asdict(self)

    def lines(self, spent: float) -> Iterator[str]:
        """Say it for people."""
        sources = f"{counted(self.sources, 'source')}, {in_bytes(self.bytes)}"
        yield f"{sources}; read a sample of {in_bytes(self.looked_at)} in {spent:.1f} s"
        yield f"about {counted(self.rows, 'row')}, {self.bad:,} unreadable in the sample"
        yield f"memory: about {in_bytes(self.memory)}; temporary files: about {in_bytes(self.disk)}"
        yield f"time: about {self.seconds:.0f} s to read and compare"
        yield "nothing was written; how many rows are removed is known only after a full run"


def expect(inputs: list[str], chosen: dict[str, Any]) -> Expected:
    """Look at the beginning of each source. Errors: as ``dedup``."""
    asked = settings(**chosen)
    with Scratch() as scratch:
        corpus = open_files(inputs, asked, scratch)
        core = open_core(asked, scratch.folder)
        # Evenly over all sources, which need not be alike.
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
        shingles = looked / 6 * 8 if asked.kept_sketch != "none" else 0
        held = round(shingles * scale) + rows * 4 * (asked.size if found else 0)
        table = rows * KEY_BYTES * (found.k if found else 1)
        store, spilled = min(held, asked.memory // 2), max(0, held - asked.memory // 2)
        memory = store + min(table, asked.memory // 4) + rows * ROW_BYTES
        disk = spilled + (table if table > asked.memory // 4 else 0)
        # Reading is measured; sorting, joining and verifying take about half as long again.
        return Expected(
            len(corpus.sources), corpus.size, looked, rows, memory, disk, 1.5 * spent * scale, core.states[3]
        )


def _look(core: _core.Corpus, source: Source, most: int) -> int:
    """Feed the beginning of a source, and return how many bytes that was. A line that is cut off is no row of it."""
    looked = 0
    for batch in source.batches():
        if isinstance(batch, Lines) and not batch.last and looked + len(batch.data) >= most:
            batch = Lines(batch.data[: batch.data.rfind(b"\n") + 1], True)
        looked += push(core, batch)
        if looked >= most or (isinstance(batch, Lines) and batch.last):
            break
    return looked
