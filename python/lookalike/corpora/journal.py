"""The renames by which outputs get their names: done in order, undone, or finished after the process was killed.

Before the first output is moved, the run writes all of its renames to a file in each of its hidden folders. A draft
that is still in its folder was not placed. So the run was complete if no draft is left. Otherwise the next run that
writes there undoes it: each placed output goes back to its draft, and each old one back to its name. The exception is a
run whose outputs belong to a decision elsewhere, such as rows that an index has: its *holder* knows whether it was
decided, and finishes it then. Every step may be done twice, so this may be killed, too.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field

from lookalike.engines.writing import sync

NAME = "journal"
#: What a journal says of the decision that its outputs belong to.
Holder = dict[str, str]
#: Tells whether the outputs of a hidden folder may still be needed by their holder.
IsHeld = Callable[[Holder, str], bool]


@dataclass(frozen=True)
class Renames:
    """Renames that are to come, are done, or were begun."""

    #: The hidden folders.
    folders: list[str]
    #: Drafts with their targets, in the order in which they are placed; all are absolute paths.
    moves: dict[str, str]
    #: Targets that are durable before any other is placed.
    first: list[str] = field(default_factory=list)
    #: Targets that are replaced, with the paths where they are set aside, in that order.
    asides: dict[str, str] = field(default_factory=dict)
    #: Targets that are replaced in one step, and cannot be put back.
    overwritten: list[str] = field(default_factory=list)
    holder: Holder | None = None

    def write(self) -> None:
        """Write them to disk, into each of the hidden folders. Errors: ``OSError``."""
        data = json.dumps(asdict(self)).encode()
        for folder in self.folders:
            handle = os.open(os.path.join(folder, NAME), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(handle)
            sync(folder)
            sync(os.path.dirname(folder))

    @classmethod
    def read(cls, folder: str) -> Renames | None:
        """Read the renames of a hidden folder; ``None`` if none were written down, and so none was done."""
        try:
            with open(os.path.join(folder, NAME), "rb") as file:
                made = cls(**json.load(file))
        except (OSError, ValueError, TypeError):
            return None
        return made if made._is_sound() else None

    def _is_sound(self) -> bool:
        lists, pairs = (self.folders, self.first, self.overwritten), (self.moves, self.asides, self.holder or {})
        if not all(isinstance(one, list) for one in lists) or not all(isinstance(one, dict) for one in pairs):
            return False
        texts = [*(text for some in lists for text in some), *(text for some in pairs for text in some.values())]
        return all(isinstance(text, str) for text in texts)

    def do(self) -> None:
        """Place every draft that is not placed yet. Errors: ``OSError``, ``FileExistsError`` for a target of others."""
        waiting = {target: draft for draft, target in self.moves.items() if os.path.lexists(draft)}
        for target, aside in self.asides.items():
            if target in waiting and os.path.lexists(target) and not os.path.lexists(aside):
                os.replace(target, aside)
        _sync_parents(self.asides)
        for targets in (self.first, [target for target in self.moves.values() if target not in set(self.first)]):
            for target in targets:
                if target in waiting:
                    self._place(waiting[target], target)
            _sync_parents(targets)

    def _place(self, draft: str, target: str) -> None:
        if target not in self.overwritten and os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "exists already: move it away, and run again", target)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.replace(draft, target)

    def undo(self) -> None:
        """Take back what was placed, the last first, and put back what was set aside, the ledger first.

        Errors: ``OSError``.
        """
        if not any(map(os.path.lexists, (*self.moves.values(), *self.asides.values()))):
            return
        for draft, target in reversed(self.moves.items()):
            # Where the old output stands again, this one was taken back before.
            is_old = target in self.asides and not os.path.lexists(self.asides[target])
            is_placed = not os.path.lexists(draft) and os.path.lexists(target)
            if is_placed and not is_old and target not in self.overwritten:
                os.replace(target, draft)
        for target, aside in reversed(self.asides.items()):
            if os.path.lexists(aside):
                os.replace(aside, target)
        _sync_parents([*self.moves.values(), *self.asides])


def forget(folders: Iterable[str]) -> None:
    """Remove what was written down, before the first of the folders goes."""
    for folder in folders:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, NAME))


def recover(folder: str, is_held: IsHeld) -> bool:
    """Undo the renames of a dead run, unless all were done; return false if its hidden folder has to stay."""
    known = Renames.read(folder)
    if known is None:
        return True
    if known.holder is not None:
        # Undecided, nothing of it was moved; decided, its outputs stay where they are.
        return not is_held(known.holder, folder)
    try:
        if any(map(os.path.lexists, known.moves)):
            known.undo()
    except OSError:
        return False
    forget(known.folders)
    return True


def _sync_parents(targets: Iterable[str]) -> None:
    for parent in sorted({os.path.dirname(target) for target in targets}):
        if os.path.isdir(parent):
            sync(parent)
