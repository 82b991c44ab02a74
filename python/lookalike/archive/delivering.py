"""The outputs of a run of ``dedup`` that an index has decided: they get their names, whatever ends the process.

A run adds its rows, writes its outputs to hidden folders beside their targets, and writes all renames that are to come
into these folders (``corpora/journal.py``). Then one commit of the catalogue decides: it lists the hidden folders. From
then on the rows count as delivered, and the renames are only finished, never undone: by the run itself, or by whoever
opens the index for the next run. The commit after that forgets the outputs, and then the hidden folders go. So as long
as the catalogue lists outputs, a draft that is missing in its folder has been placed.

The catalogue may come from a stranger. So it names only folders; the renames are those that the folders hold, and only
if these are folders of this user, were written for this index, and every target lies beside the folder of its draft.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from lookalike._types import counted
from lookalike.corpora import journal
from lookalike.corpora.journal import Holder, Renames
from lookalike.corpora.staging import is_hidden_folder
from lookalike.engines.writing import WriteError
from lookalike.errors import LookalikeError

#: Targets that the catalogue names, for messages.
NAMED = 3


@dataclass(frozen=True)
class Pending:
    """Outputs of a decided run that wait for their names, as the catalogue lists them."""

    #: The hidden folders, as absolute paths.
    folders: list[str]
    #: The first targets, and the number of all.
    targets: list[str]
    count: int

    @classmethod
    def new(cls, folders: Sequence[str], targets: Sequence[str]) -> Pending:
        """Describe outputs."""
        return cls(list(folders), list(targets[:NAMED]), len(targets))

    @classmethod
    def of(cls, text: object) -> Pending:
        """Read what the catalogue says. Errors: ``ValueError``."""
        told = json.loads(text) if isinstance(text, str) else None
        if not isinstance(told, dict) or told.keys() != {"folders", "targets", "count"}:
            raise ValueError("outputs of a run are not described")
        paths = [told["folders"], told["targets"]]
        if not all(isinstance(some, list) and all(map(_is_path, some)) for some in paths):
            raise ValueError("outputs of a run have no paths")
        if type(told["count"]) is not int or not 0 <= told["count"] < 2**40 or not told["folders"]:
            raise ValueError("outputs of a run are not counted")
        return cls(**told)

    def to_json(self) -> str:
        """Return it as the catalogue stores it."""
        return json.dumps(asdict(self), sort_keys=True)

    def __str__(self) -> str:
        names = ", ".join(f"`{one}`" for one in self.targets)
        rest = self.count - len(self.targets)
        return f"{names} and {counted(rest, 'other')}" if rest else names

    def finish(self, uuid: str) -> list[str]:
        """Give all outputs their names that lack them; return the targets. REQUIRES: the writer's lock of the index.

        Errors: ``WriteError`` with the reason if that cannot be done.
        """
        # Each folder holds the renames of all; each must be there, because it holds drafts of its own.
        known, *_ = [self._renames(folder, uuid) for folder in self.folders]
        try:
            known.do()
        except OSError as error:
            name = error.filename2 or error.filename or self.targets[0]
            raise WriteError(error.errno, f"`{name}` cannot be written: {error.strerror or error}") from None
        return list(known.moves.values())

    def _renames(self, folder: str, uuid: str) -> Renames:
        """Return the renames that a hidden folder holds. Errors: ``WriteError`` if it is gone, or another's."""
        found = Renames.read(folder) if is_hidden_folder(folder) else None
        if found is None or (found.holder or {}).get("uuid") != uuid or not _is_beside(found, self.folders):
            raise WriteError(errno.ENOENT, f"`{folder}`, which holds them, is gone or cannot be read")
        return found

    def clean(self) -> None:
        """Remove the hidden folders. REQUIRES: all outputs have their names, and the catalogue says so."""
        journal.forget(self.folders)
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)


def is_held(holder: Holder, folder: str) -> bool:
    """Tell whether an index may still need the outputs in a hidden folder; one that cannot be read may."""
    from lookalike.archive.store import Index

    try:
        with Index(holder["index"]) as index:
            state = index.snapshot().state
    except (LookalikeError, OSError, KeyError):
        return True
    if state.uuid != holder.get("uuid"):
        return True
    return bool(state.outputs) and folder in Pending.of(state.outputs).folders


def _is_path(value: object) -> bool:
    return isinstance(value, str) and os.path.isabs(value) and "\0" not in value


def _is_beside(renames: Renames, folders: Sequence[str]) -> bool:
    """Tell whether every draft lies in one of the folders, and every target and old output below its parent."""
    pairs = [*renames.moves.items(), *((aside, target) for target, aside in renames.asides.items())]
    return all(
        os.path.dirname(draft) in folders
        and os.path.normpath(target) == target
        and target.startswith(os.path.join(os.path.dirname(os.path.dirname(draft)), ""))
        for draft, target in pairs
    )
