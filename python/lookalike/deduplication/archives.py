"""Opens the index of a deduplication, and takes a corpus through it: settings, decision, and what is added."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lookalike import _core
from lookalike._types import Problem, Progress
from lookalike.deduplication.after import Decision, decide
from lookalike.deduplication.reading import Stretch
from lookalike.deduplication.repeating import RepeatedIds
from lookalike.deduplication.result import Deduplication
from lookalike.deduplication.settings import Settings
from lookalike.deduplication.token_rows import TokenSource
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    from lookalike.archive.store import Index

Path = str | os.PathLike[str]


def check_index(index: Path | Index | None, chosen: Mapping[str, Any], others: Mapping[str, Any]) -> None:
    """Refuse what cannot be combined with an index, before it is opened. Errors: ``ParameterError``."""
    from lookalike.deduplication.asking import check

    if index is None:
        raise ParameterError("add=True puts rows into an index: give index=… as well")
    check(chosen, others)


@dataclass
class Archive:
    """An open index, and what was decided after it."""

    index: Index
    name: str
    is_added: bool
    _decisions: list[Decision] = field(default_factory=list)

    def settings(self, chosen: dict[str, Any]) -> Settings:
        """Return the settings of a deduplication. Errors: ``ParameterError``, ``VersionError``."""
        from lookalike.deduplication.asking import settings_for

        return settings_for(self.name, self.index.parameters, chosen)

    def decided(
        self,
        core: _core.Corpus,
        asked: Settings,
        stretches: Sequence[Stretch],
        problems: list[Problem],
        notes: list[str],
        repeated: RepeatedIds | None,
    ) -> Deduplication:
        """Decide the rows of a corpus. Errors: ``ParameterError``, ``DamagedError``, ``OSError``."""
        if any(isinstance(one.source, TokenSource) for one in stretches):
            raise ParameterError("Tokens cannot be combined with index=…, which holds texts: give texts")
        with self.index.snapshot() as view:
            made = decide(core, asked, stretches, view.core, self.name)
        self._decisions.append(made)
        of = (asked, made.stretches, len(made.archived.kept), made.core, made.outcome)
        return Deduplication(*of, problems=problems, notes=notes, repeated_ids=repeated, archived=made.archived)

    def settle(self, answer: Deduplication, progress: Progress | None) -> None:
        """Add the rows of an answer, if they are to be added. Errors: as ``adding.add``."""
        from lookalike.deduplication.adding import add

        if self.is_added:
            add(answer, self._decisions[-1], self.index, progress)


@contextmanager
def opened_index(index: Path | Index | None, *, write: bool) -> Iterator[Archive | None]:
    """Open the index for a ``with``; one that is open already stays so.

    Errors: ``LockedError``, ``DamagedError``, ``VersionError``, ``OSError``; ``ParameterError`` if it is open for
    reading only and rows are to be added.
    """
    if index is None:
        yield None
        return
    from lookalike.archive.store import Index

    if isinstance(index, Index):
        if write:
            index._changes()
        yield Archive(index, index.path, write)
        return
    with Index.open(index, write=write) as opened:
        yield Archive(opened, os.fspath(index), write)
