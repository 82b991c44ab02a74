"""Decides a corpus after the documents of an index, and knows which of them are rows of the same run.

A *run* is known by the names of its sources and the texts of its rows. Documents that a run adds carry its name and
their row. So a run that is repeated, because it was interrupted or its outputs were lost, finds its own rows in the
index, and its answer is the same; a row that stands in the sources of another day is a duplicate. What an interrupted
run of other rows had added is not seen (``archive/runs.py``).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

from lookalike import _core
from lookalike._types import Problem
from lookalike.archive.runs import row_of
from lookalike.archive.view import meta_of
from lookalike.corpora.batches import Source
from lookalike.deduplication.pickling import NamedSource
from lookalike.deduplication.reading import Stretch
from lookalike.deduplication.settings import Settings
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    from lookalike.archive.results import Added

#: Bytes of a content hash, with which a mark begins.
HASH_BYTES = 16


@dataclass(frozen=True, slots=True)
class Kept:
    """A document of the index for which rows were removed."""

    #: Its id in the index.
    id: bytes
    #: Its name in outputs: the id that its row had, or source and line.
    name: str
    #: Where its row came from, as far as it is known.
    source: str
    row: int | None


@dataclass
class Archived:
    """What a deduplication knows of the index that it was decided after."""

    path: str
    #: The name of this run in the index.
    run: str
    #: The documents of the index for which rows were removed; they are numbered before the rows.
    kept: list[Kept]
    #: What was added to the index; ``None`` if nothing was to be.
    added: Added | None = None
    #: Removed rows of which only keys were added, and rows added under a longer name.
    shadows: int = 0
    renamed: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        told = {"path": self.path, "run": self.run, "leaders": len(self.kept)}
        if self.added is None:
            return told | {"added": None}
        return told | {"added": self.added.added, "shadows": self.shadows, "renamed": self.renamed}


class JoinedCorpus:
    """The rows of a corpus, numbered after the documents of an index for which some of them are removed."""

    def __init__(self, core: _core.Corpus, first: int, prints: Sequence[int | None]) -> None:
        self._core, self._first, self._prints = core, first, prints

    def __len__(self) -> int:
        return self._first + len(self._core)

    @property
    def states(self) -> list[int]:
        """Rows by state, without documents of the index."""
        return self._core.states

    @property
    def problems(self) -> list[tuple[int, str]]:
        """The first rows that could not be read, and why."""
        return [(self._first + row, reason) for row, reason in self._core.problems]

    @property
    def spilled(self) -> int:
        """Bytes that went to temporary files."""
        return self._core.spilled

    def fingerprints(self, rows: Sequence[int]) -> list[int | None]:
        """Return the fingerprints of documents and rows. REQUIRES: the method is simhash."""
        own = iter(self._core.fingerprints([row - self._first for row in rows if row >= self._first]))
        return [next(own) if row >= self._first else self._prints[row] for row in rows]

    def scores(self, pairs: Sequence[tuple[int, int]], containment: bool) -> NoReturn:
        """Errors: always ``ParameterError``: shingles of the index are not loaded."""
        raise _unknown("scores of pairs")

    def pairs(self, *_settings: object) -> NoReturn:
        """Errors: always ``ParameterError``: pairs with removed rows of earlier days are not known."""
        raise _unknown("pairs")


def _unknown(what: str) -> ParameterError:
    return ParameterError(f"{what} are not known after a deduplication with index=…: run dedup without it")


@dataclass(frozen=True)
class Decision:
    """A corpus that was decided after an index."""

    core: JoinedCorpus
    #: The index as a source of documents, and then the sources of the corpus.
    stretches: list[Stretch]
    outcome: _core.Outcome
    archived: Archived
    #: The rows that the index lacks.
    additions: _core.Additions
    #: Rows that the index has of this run, and their ids there.
    known: dict[int, bytes] = field(default_factory=dict)


def decide(
    core: _core.Corpus, asked: Settings, stretches: Sequence[Stretch], snapshot: _core.Snapshot, path: str, run: str
) -> Decision:
    """Decide the rows of a corpus, of the run with this name. Errors: ``DamagedError``, ``OSError``."""
    later = _core.decide_after(core, asked.arguments(None), snapshot)
    rows = [snapshot.row(number) for number in memoryview(later.leaders)]
    own_rows = [row_of(bytes(row.meta), run) for row in rows]
    outcome, left = later.outcome(own_rows)
    kept = [_kept(rows[place]) for place in left]
    prints = later.prints
    joined = JoinedCorpus(core, len(kept), [prints[place] for place in left] if prints else ())
    before = Stretch(_source(path), 0, len(kept))
    after = [replace(one, first=one.first + len(kept)) for one in stretches]
    own = set(range(len(rows))) - set(left)
    known = {row: bytes(rows[place].id) for place in own if (row := own_rows[place]) is not None}
    return Decision(joined, [before, *after], outcome, Archived(path, run, kept), _core.Additions(core, later), known)


def run_of(core: _core.Corpus, stretches: Sequence[Stretch]) -> str:
    """Return the name of a run: 16 digits of a hash of the file names of its sources and the texts of its rows.

    Folders do not count: a run that is repeated from another place is the same run.
    """
    sources = json.dumps([[os.path.basename(one.source.name), one.rows] for one in stretches])
    return hashlib.blake2b(sources.encode() + _core.corpus_digest(core), digest_size=8).hexdigest()


def _source(path: str) -> Source:
    problems: tuple[Problem, ...] = ()
    return NamedSource(path, "index", 0, problems)


def _kept(row: _core.StoredRow) -> Kept:
    id_, meta = bytes(row.id), meta_of(bytes(row.meta))
    source, line = str(meta.get("source", "")), meta.get("row", meta.get("line"))
    number = line if isinstance(line, int) else None
    if number is not None and "row" not in meta:
        number -= 1
    name = id_.decode("utf-8", "surrogateescape").removesuffix(f"~{meta.get('run')}")
    is_unnamed = name == content_digits(bytes(row.content))
    return Kept(id_, f"{source}:{(number or 0) + 1}" if is_unnamed else name, source, number)


def content_digits(mark: bytes) -> str:
    """Return the id of a row without one: the digits of its content hash, with which its mark begins."""
    return bytes(mark[:HASH_BYTES]).hex()
