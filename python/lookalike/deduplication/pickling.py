"""The parts of a deduplication that a pickle keeps, in place of those that belong to one process.

The core's corpus holds what it read in memory and in files of its own; a pickle keeps its counts and, for the method
simhash, the fingerprints. An object that was given travels along, if it can. Files do not: their names do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn, Protocol

from lookalike._types import Problem
from lookalike.corpora.batches import Batch
from lookalike.corpora.batching import library_of
from lookalike.corpora.objects import ObjectSource, TableSource
from lookalike.deduplication.reading import Stretch
from lookalike.errors import ParameterError


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A source that stayed behind: its name, format and size are known, its rows are not."""

    name: str
    format: str
    size: int
    problems: tuple[Problem, ...] = ()
    done: int = 0

    def batches(self) -> Iterator[Batch]:
        """Errors: always ``ParameterError``."""
        raise self.refusal()

    def refusal(self) -> ParameterError:
        """Return the error that says why there are no rows."""
        return ParameterError(
            f"the rows of `{self.name}` are not part of a pickled deduplication: "
            "write outputs and reports in the process that read it, or run dedup again"
        )


class Rows(Protocol):
    """What a pickle keeps of a corpus."""

    def __len__(self) -> int: ...

    @property
    def states(self) -> list[int]:
        """Rows by state."""

    @property
    def problems(self) -> list[tuple[int, str]]:
        """The first rows that could not be read, and why."""

    @property
    def spilled(self) -> int:
        """Bytes that went to temporary files."""

    def fingerprints(self, rows: Sequence[int]) -> list[int | None]:
        """Return the fingerprints of rows."""


@dataclass(frozen=True, slots=True)
class KeptCorpus:
    """What is known of a corpus without its texts."""

    rows: int
    states: list[int]
    problems: list[tuple[int, str]]
    spilled: int
    #: One per row, ``None`` for a row without one; ``None`` where there are none at all.
    prints: list[int | None] | None

    def __len__(self) -> int:
        return self.rows

    def fingerprints(self, rows: Sequence[int]) -> list[int | None]:
        """Return the fingerprints of rows. Errors: ``ParameterError`` where there are none."""
        if self.prints is None:
            _gone("fingerprints")
        return [self.prints[row] for row in rows]

    def scores(self, pairs: Sequence[tuple[int, int]], containment: bool) -> list[float | None]:
        """Errors: always ``ParameterError``: scores are made of the shingles of texts."""
        _gone("shingles")

    def pairs(self, *_settings: object) -> NoReturn:
        """Errors: always ``ParameterError``: pairs are found from the sketches of texts."""
        _gone("pairs")


def _gone(what: str) -> NoReturn:
    raise ParameterError(
        f"the {what} of the rows are not part of a pickled deduplication: ask in the process that ran it"
    )


def kept_corpus(core: Rows | KeptCorpus, *, with_prints: bool) -> KeptCorpus:
    """Return what a pickle keeps of a corpus."""
    if isinstance(core, KeptCorpus):
        return core
    try:
        prints = core.fingerprints(range(len(core))) if with_prints else None
    except OSError:
        # They went to files, and these are gone with the job.
        prints = None
    return KeptCorpus(len(core), core.states, core.problems, core.spilled, prints)


def kept_stretch(stretch: Stretch) -> Stretch:
    """Return what a pickle keeps of a source: an object as it is, of files and connections the name."""
    source = stretch.source
    is_connection = isinstance(source, TableSource) and library_of(source.given) in ("duckdb", "_duckdb")
    if isinstance(source, NamedSource) or (isinstance(source, ObjectSource) and not is_connection):
        return stretch
    return replace(stretch, source=NamedSource(source.name, source.format, source.size, tuple(source.problems)))
