"""Makes outputs appear complete and together, or not at all.

Each output is written into a hidden folder beside its target and synced to disk; then all are renamed, and what is
needed to undo the others comes first. Where several outputs replace older ones, the older ones go first, in the
opposite order. So at each instant an output that is there has its ledger beside it, and old and new never stand
together. What was replaced is written down first (``journal``): the next run that writes there puts it back if a
killed run was not complete, and removes the hidden folders of killed processes (see ``scratch``).

Outputs may belong to a decision elsewhere, such as rows that an index has. Then the renames are written down, the
decision is made durable, and from then on the outputs are never taken back: whoever makes the next decision finishes
the renames (``commit_with``).
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Collection, Iterable
from functools import partial
from types import TracebackType
from typing import Protocol

from lookalike.corpora import journal
from lookalike.corpora.journal import Holder, IsHeld, Renames
from lookalike.corpora.scratch import hold, is_own_folder, release, sweep
from lookalike.engines.interrupts import deferred_interrupts
from lookalike.engines.writing import NO_SPACE, refusal, sync, writing
from lookalike.errors import LookalikeError

_PREFIX, _SUFFIX = ".lookalike-", ".part"


class Decision(Protocol):
    """A decision elsewhere that outputs belong to: with it they are delivered, and without it they never were."""

    @property
    def holder(self) -> Holder:
        """Who decides, for a later run that finds the hidden folders."""

    def decide(self, folders: list[str], targets: list[str]) -> None:
        """Make the decision durable, with the hidden folders that hold the outputs and with the names of these."""

    def finish(self) -> None:
        """Note that the outputs have their names."""


def _every_held(_holder: Holder, _folder: str) -> bool:
    """Leave outputs alone that belong to a decision elsewhere."""
    return True


class Staging:
    """Holds outputs until they are committed. Use it in a ``with``: uncommitted files are removed."""

    def __init__(
        self,
        *,
        overwrite: bool = False,
        inputs: Iterable[str] = (),
        expected_bytes: int = 0,
        replaceable: Collection[str] = (),
        is_held: IsHeld = _every_held,
    ) -> None:
        """``replaceable``: absolute paths that may be replaced, also what is below them. ``is_held``: as ``recover``.

        ``expected_bytes``: upper bound of the bytes to write, for the message when the disk is full.
        """
        self._overwrite, self._replaceable, self._is_held = overwrite, replaceable, is_held
        self._inputs = [os.path.realpath(path) for path in inputs]
        self._expected_bytes = expected_bytes
        #: Hidden folders and their lock handles, by parent folder.
        self._stages: dict[str, tuple[str, int]] = {}
        #: Staged paths and their targets, and those of the targets that come before all others.
        self._moves: dict[str, str] = {}
        self._targets: set[str] = set()
        #: Targets as they were given, by absolute path.
        self._given: dict[str, str] = {}
        self._first: set[str] = set()
        #: Renames that may still be undone, and whether a decision elsewhere needs them.
        self._renames: Renames | None = None
        self._is_decided = False
        self._made = 0
        #: Whether all outputs have their names, for good.
        self.is_committed = False
        #: Folders in which killed runs were looked for.
        self._swept: set[str] = set()

    def __enter__(self) -> Staging:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        refusal = self._refusal(error) if isinstance(error, OSError) else None
        self.abort()
        if refusal is not None:
            raise refusal from None

    def file(self, target: str, *, is_first: bool = False) -> str:
        """Return the staged path for a target; one that ``is_first`` is there before any other output.

        Errors: ``FileExistsError`` (also for an input), ``OSError``.
        """
        target = self.check(target)
        if is_first:
            self._first.add(target)
        return self._stage(target)

    def check(self, target: str) -> str:
        """Return the absolute path of a target that may be written. Errors: ``FileExistsError`` (also for an input)."""
        target = self._absolute(target)
        self._sweep(target)
        if os.path.islink(target) and os.path.exists(target) and not os.path.isfile(target):
            raise FileExistsError(errno.EEXIST, "leads to something that is not a file: use another name", target)
        self._check(target)
        return target

    def folder(self, target: str) -> str:
        """Return the staged folder for a new folder. Errors: ``FileExistsError``."""
        target = self._absolute(target)
        self._sweep(target)
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "exists already", target)
        self._check(target)
        stage = self._stage(target)
        os.mkdir(stage)
        return stage

    def commit(self) -> None:
        """Rename everything to its target. Errors: ``OSError``; all is then as before."""
        # One file replaces another in one step.
        renames = self._planned(keeps=len(self._moves) > 1)
        with deferred_interrupts():
            self._do(renames)
            self.is_committed = True
        self.settle()

    def commit_with(self, decision: Decision) -> None:
        """Make a decision and rename everything to its target.

        Errors: ``OSError``. If the decision was not begun, all is as before. Afterwards the drafts stay, because only
        the next one who decides can tell whether it was made.
        """
        renames = self._planned(keeps=len(self._moves) > 1, holder=decision.holder)
        renames.write()
        with deferred_interrupts():
            self._is_decided = True
            decision.decide(renames.folders, list(renames.moves.values()))
            renames.do()
            decision.finish()
            self._is_decided = False
            self.is_committed = True
        self.settle()

    def place(self) -> None:
        """Rename everything to its target; ``abort`` can still put back what was there.

        Errors: ``OSError``; all is then as before.
        """
        self._do(self._planned(keeps=True))

    def _do(self, renames: Renames) -> None:
        if renames.asides:
            renames.write()
        self._renames = renames
        try:
            renames.do()
        except BaseException:
            self._take_back()
            raise

    def _planned(self, *, keeps: bool, holder: Holder | None = None) -> Renames:
        """Make all drafts durable, and plan their renames. Errors: ``OSError``."""
        for stage in self._moves:
            _sync_all(stage)
        for target in self._moves.values():
            self._check_free(target)
        moves = dict(sorted(self._moves.items(), key=lambda move: move[1] not in self._first))
        replaced = [target for target in reversed(moves.values()) if os.path.lexists(target)]
        asides = {target: self._path(target) for target in replaced} if keeps else {}
        first = [target for target in moves.values() if target in self._first]
        folders = [stage for stage, _ in self._stages.values()]
        return Renames(folders, moves, first, asides, [] if keeps else replaced, holder)

    def settle(self) -> None:
        """Let go of what was replaced: the outputs stay."""
        self._renames = None
        self.abort()

    def abort(self) -> None:
        """Remove uncommitted files, and put back what they replaced; drafts that a decision may need stay."""
        self._take_back()
        if not self._is_decided:
            journal.forget(stage for stage, _ in self._stages.values())
        while self._stages:
            # An interrupt may come at any point, and this is called again then: no lock is closed twice.
            _, (stage, lock) = self._stages.popitem()
            release(lock)
            if not self._is_decided:
                shutil.rmtree(stage, ignore_errors=True)
        self._moves.clear()
        self._targets.clear()
        self._first.clear()

    def _take_back(self) -> None:
        """Undo the renames that were done, if they may still be undone."""
        if self._renames is not None:
            self._renames.undo()
            self._renames = None

    def _sweep(self, target: str) -> None:
        """Put back what killed runs had set aside in the folder of a target, and remove what they left."""
        parent = _existing(os.path.dirname(target))
        if parent not in self._swept:
            self._swept.add(parent)
            sweep(parent, _PREFIX, _SUFFIX, partial(journal.recover, is_held=self._is_held))

    def _stage(self, target: str) -> str:
        parent = _existing(os.path.dirname(target))
        if parent not in self._stages:
            with writing(self._given.get(target, target)):
                folder = tempfile.mkdtemp(_SUFFIX, _PREFIX, parent)
                self._stages[parent] = folder, hold(folder)
        stage = self._path(target)
        self._moves[stage] = target
        self._targets.add(target)
        return stage

    def _absolute(self, target: str) -> str:
        path = os.path.abspath(target)
        self._given.setdefault(path, target)
        return path

    def _path(self, target: str) -> str:
        """Return a new path in the hidden folder that is nearest to a target."""
        parent = os.path.dirname(target)
        while parent not in self._stages:
            parent = os.path.dirname(parent)
        self._made += 1
        return os.path.join(self._stages[parent][0], str(self._made))

    def _check(self, target: str) -> None:
        if os.path.realpath(target) in self._inputs:
            raise FileExistsError(errno.EEXIST, "is an input, and inputs are never written: name another", target)
        if target in self._targets:
            raise FileExistsError(errno.EEXIST, "is the target of two outputs: name another", target)
        self._check_free(target)
        parent = os.path.dirname(target)
        while not os.path.lexists(parent):
            parent = os.path.dirname(parent)
        if not os.path.isdir(parent):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), parent)
        if not os.access(parent, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), parent)

    def _check_free(self, target: str) -> None:
        # A device must never be replaced by a file.
        is_file = os.path.isfile(target) or os.path.islink(target)
        if os.path.lexists(target) and not (self._may_replace(target) and is_file):
            way = "use another name" if not is_file else "use another name, or overwrite=True to replace it"
            raise FileExistsError(errno.EEXIST, f"exists already: {way}", target)

    def _may_replace(self, target: str) -> bool:
        return self._overwrite or any(f"{target}/".startswith(f"{one}/") for one in self._replaceable)

    def _refusal(self, error: OSError) -> OSError | None:
        """Return an error that names the output as it was given, for one that concerns an output."""
        # An error that has its words already may concern another place, as the index that rows are added to.
        if isinstance(error, LookalikeError):
            return None
        name = error.filename if isinstance(error.filename, str) else ""
        stages = [stage for stage, _ in self._stages.values()]
        is_staged = any(name.startswith(stage + os.sep) for stage in stages)
        if error.errno not in NO_SPACE and not is_staged:
            return None
        target = next((to for stage, to in self._moves.items() if f"{name}/".startswith(f"{stage}/")), None)
        target = target or next(iter(self._moves.values()), os.curdir)
        needed = max(self._expected_bytes, sum(map(_size, stages)) + 1)
        self.abort()
        return refusal(error, self._given.get(target, target), needed)


def is_hidden_folder(path: str) -> bool:
    """Return whether a path is a folder in which this user's outputs are held until they are committed."""
    name = os.path.basename(path)
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX) and is_own_folder(path)


def _existing(folder: str) -> str:
    """Return the nearest folder above that is there."""
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def _size(folder: str) -> int:
    return sum(os.lstat(os.path.join(path, name)).st_size for path, _, names in os.walk(folder) for name in names)


def _sync_all(path: str) -> None:
    if not os.path.isdir(path):
        sync(path)
        return
    for folder, _, names in os.walk(path):
        for name in names:
            sync(os.path.join(folder, name))
        sync(folder)
