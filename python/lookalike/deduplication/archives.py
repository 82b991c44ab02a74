"""Opens the index of a deduplication, and takes a corpus through it: settings, decision, and what is added."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lookalike import _core
from lookalike._types import Problem, Progress, counted
from lookalike.archive.runs import added, unfinished
from lookalike.deduplication.after import Decision, decide, run_of
from lookalike.deduplication.reading import Stretch
from lookalike.deduplication.repeating import RepeatedIds
from lookalike.deduplication.result import Deduplication
from lookalike.deduplication.settings import Settings
from lookalike.deduplication.token_rows import TokenSource
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    from lookalike.archive.store import Index
    from lookalike.archive.view import View

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
    time_column: str | None = None
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
        run = run_of(core, stretches)
        with self._view(run, notes) as view:
            made = decide(core, asked, stretches, view.core, self.name, run)
        self._decisions.append(made)
        of = (asked, made.stretches, len(made.archived.kept), made.core, made.outcome)
        return Deduplication(*of, problems=problems, notes=notes, repeated_ids=repeated, archived=made.archived)

    def _view(self, run: str, notes: list[str]) -> View:
        """Return the index without what an interrupted run of other rows had added; to be added to, it is taken back.

        Errors: ``OSError``.
        """
        view = self.index.snapshot()
        if unfinished(view.state) in ("", run):
            return view
        gone = list(added(view))
        told = f"an earlier run with --add was interrupted, so its outputs do not count: {counted(len(gone), 'row')}"
        if not self.is_added:
            notes.append(f"{told} that it had added to `{self.name}` are not considered; run it again")
            return view.without(gone)
        notes.append(f"{told} that it had added to `{self.name}` are taken back; run it again if you need its outputs")
        self.index._changes().remove(gone, run="")
        return self.index.snapshot()

    def settle(self, answer: Deduplication, progress: Progress | None) -> None:
        """Add the rows of an answer, if they are to be added. Errors: as ``adding.add``."""
        from lookalike.deduplication.adding import add

        if self.is_added:
            add(answer, self._decisions[-1], self.index, progress, self.time_column)

    def finish(self) -> None:
        """Note that the outputs of the run have their names. Errors: ``OSError``."""
        if self.is_added and self.index.snapshot().state.run:
            self.index._changes().note_run("")


@contextmanager
def opened_index(
    index: Path | Index | None, *, write: bool, wait: float, time_column: str | None
) -> Iterator[Archive | None]:
    """Open the index for a ``with``; one that is open already stays so. ``wait``: seconds, if another process has it.

    Errors: ``LockedError``, ``DamagedError``, ``VersionError``, ``OSError``; ``ParameterError`` if it is open for
    reading only and rows are to be added.
    """
    if index is None:
        yield None
        return
    from lookalike.archive.store import Index

    if isinstance(index, Index):
        # Another thread that changes it waits: its rows would be neither earlier nor later than those of this run.
        with index._changes().turn if write else nullcontext():
            yield Archive(index, index.path, write, time_column)
        return
    with Index.open(index, write=write, wait=wait) as opened:
        yield Archive(opened, os.fspath(index), write, time_column)
