"""Opens the index of a deduplication, and takes a corpus through it: settings, decision, and what is added.

An interrupted earlier run comes first: if it was decided, its outputs get their names (``archive/delivering.py``);
otherwise the rows that it had added are taken back (``archive/runs.py``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike import _core, params
from lookalike._types import Problem, Progress, counted
from lookalike.archive.delivering import Pending
from lookalike.archive.runs import added, unfinished
from lookalike.corpora.journal import Holder
from lookalike.deduplication.after import Decision, decide, run_of
from lookalike.deduplication.reading import Stretch
from lookalike.deduplication.repeating import RepeatedIds
from lookalike.deduplication.result import Deduplication
from lookalike.deduplication.settings import Settings
from lookalike.deduplication.token_rows import TokenSource
from lookalike.engines.writing import WriteError
from lookalike.errors import ParameterError

if TYPE_CHECKING:
    from lookalike.archive.store import Index
    from lookalike.archive.view import View

Path = str | os.PathLike[str]


@dataclass
class Archive:
    """An open index, and what was decided after it. It is the ``Decision`` that the outputs of a run belong to."""

    index: Index
    name: str
    is_added: bool
    time_column: str | None = None
    #: What became of outputs that an interrupted run was to deliver, if they cannot be found: delivered or lost.
    earlier_run: str | None = None
    #: The outputs of an interrupted run that have their names now.
    finished: list[str] = field(default_factory=list)
    _finished_run: str = ""
    #: Why the outputs of the interrupted run could not get their names.
    _hindrance: WriteError | None = None
    _notes: list[str] = field(default_factory=list)
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
        if run != self._finished_run:
            self.finished.clear()
        notes.extend(self._notes)
        with self._view(run, notes) as view:
            made = decide(core, asked, stretches, view.core, self.name, run)
        self._decisions.append(made)
        of = (asked, made.stretches, len(made.archived.kept), made.core, made.outcome)
        return Deduplication(*of, problems=problems, notes=notes, repeated_ids=repeated, archived=made.archived)

    def resume(self) -> None:
        """Give the outputs of an interrupted run that was decided their names. Errors: ``OSError`` of the index."""
        state = self.index.snapshot().state
        if state.outputs:
            pending = Pending.of(state.outputs)
            try:
                self.finished = pending.finish(state.uuid)
            except WriteError as error:
                self._hindrance = error
                return
            self._finished_run = unfinished(state)
            self.index._changes().note_run("")
            pending.clean()
            self._notes.append(
                f"an earlier run with --add was interrupted while its outputs got their names: {pending} "
                f"{'is' if pending.count == 1 else 'are'} complete now"
            )
        if self.earlier_run is not None:
            self._notes.append("--earlier-run has no effect: all outputs of earlier runs have their names")

    def _view(self, run: str, notes: list[str]) -> View:
        """Return the index without what an interrupted run of other rows had added; to be added to, it is taken back.

        Errors: ``OSError``; ``WriteError`` if that run was decided and its outputs cannot be delivered.
        """
        view = self.index.snapshot()
        if unfinished(view.state) in ("", run):
            return view
        is_decided = bool(view.state.outputs)
        if is_decided and not self.is_added:
            pending = Pending.of(view.state.outputs)
            notes.append(
                f"an earlier run with --add was interrupted while its outputs got their names ({pending}): its rows "
                "are considered as kept; the next run with --add completes its outputs"
            )
            return view
        if is_decided and self.earlier_run == "delivered":
            notes.append(f"the rows of the interrupted run stay in `{self.name}`, because its outputs were delivered")
            self.index._changes().note_run("")
            return self.index.snapshot()
        if is_decided and self.earlier_run is None:
            raise self._undelivered(view)
        return self._without(view, notes)

    def _without(self, view: View, notes: list[str]) -> View:
        """Return the index without what the interrupted run had added; to be added to, it is taken back."""
        gone = list(added(view))
        told = f"an earlier run with --add was interrupted, so its outputs do not count: {counted(len(gone), 'row')}"
        if not self.is_added:
            notes.append(f"{told} that it had added to `{self.name}` are not considered; run it again")
            return view.without(gone)
        notes.append(f"{told} that it had added to `{self.name}` are taken back; run it again if you need its outputs")
        self.index._changes().remove(gone, run="")
        return self.index.snapshot()

    def _undelivered(self, view: View) -> WriteError:
        """Return why a run cannot begin before the outputs of an interrupted one are delivered, and what to do."""
        assert self._hindrance is not None
        reason, pending = self._hindrance.strerror or str(self._hindrance), Pending.of(view.state.outputs)
        rows = counted(sum(1 for _ in added(view)), "row")
        return WriteError(
            self._hindrance.errno,
            f"an earlier run with --add was interrupted, {rows} of it are in `{self.name}`, and its outputs "
            f"({pending}) cannot be completed: {reason}. Mend that, or run the earlier run again with the same inputs; "
            "or say what became of its outputs: --earlier-run delivered if you have them (its rows stay), "
            "--earlier-run lost if not (its rows are taken back)",
        )

    def settle(self, answer: Deduplication, progress: Progress | None) -> Archive | None:
        """Add the rows of an answer, if they are to be added; return the decision that its outputs belong to, if any.

        Errors: as ``adding.add``.
        """
        from lookalike.deduplication.adding import add

        if self.is_added:
            add(answer, self._decisions[-1], self.index, progress, self.time_column)
        return self if self.is_added and self.index.snapshot().state.run else None

    @property
    def holder(self) -> Holder:
        """The index, as the hidden folders of the outputs name it."""
        return {"index": self.index.path, "uuid": self.index.snapshot().state.uuid}

    def decide(self, folders: list[str], targets: list[str]) -> None:
        """Commit that the rows are delivered, by outputs that wait for their names. Errors: ``OSError``."""
        self.index._changes().decide_run(Pending.new(folders, targets).to_json())

    def finish(self) -> None:
        """Note that the outputs of the run have their names. Errors: ``OSError``."""
        if self.is_added and self.index.snapshot().state.run:
            self.index._changes().note_run("")


class IndexUse(NamedTuple):
    """The index that rows are also compared with, and whether kept rows are added to it."""

    place: Path | Index | None
    add: bool
    #: Only if rows are added: seconds to wait for another process that changes the index, the column of the times of
    #: rows, and what became of the outputs of an interrupted run.
    wait: float
    time_column: str | None
    earlier_run: str | None

    def check(self, chosen: Mapping[str, Any], others: Mapping[str, Any]) -> None:
        """Refuse what cannot be combined, before anything is opened. Errors: ``ParameterError``."""
        from lookalike.deduplication.asking import check

        if self.place is None and self.add:
            raise ParameterError("add=True puts rows into an index: give index=… as well")
        if self.place is not None:
            check(chosen, others)
        unused = {"wait": self.wait or None, "time_column": self.time_column, "earlier_run": self.earlier_run}
        for name in (name for name, value in unused.items() if value is not None and not self.add):
            raise ParameterError(f"{name}=… has no effect without add=True, which adds rows to an index: leave it out")
        choices = params.EARLIER_RUN.choices
        if self.earlier_run is not None and self.earlier_run not in choices:
            raise ParameterError(f"earlier_run `{self.earlier_run}` is unknown: use {' or '.join(choices)}")

    @contextmanager
    def opened(self) -> Iterator[Archive | None]:
        """Open the index for a ``with``; one that is open already stays so.

        If rows are to be added, an interrupted run that was decided gets its outputs first. Errors: ``LockedError``,
        ``DamagedError``, ``VersionError``, ``OSError``; ``ParameterError`` if it is open for reading only and rows are
        to be added.
        """
        from lookalike.archive.store import Index

        if self.place is None:
            yield None
        elif isinstance(self.place, Index):
            # Another thread that changes it waits: its rows would be neither earlier nor later than those of this run.
            with self.place._changes().turn if self.add else nullcontext():
                yield self._resumed(self.place, self.place.path)
        else:
            with Index.open(self.place, write=self.add, wait=self.wait) as opened:
                yield self._resumed(opened, os.fspath(self.place))

    def _resumed(self, index: Index, name: str) -> Archive:
        made = Archive(index, name, self.add, self.time_column, self.earlier_run)
        if self.add:
            made.resume()
        return made
