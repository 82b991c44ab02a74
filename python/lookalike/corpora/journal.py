"""Undoes a run that was killed while it replaced several outputs: what it had set aside comes back.

Before the first output is set aside, the run writes down all renames that are to come, into each of its hidden folders.
A draft that is still in its folder was not placed. So the run was complete if no draft is left; otherwise each placed
output goes back to its draft, and each old one back to its name. Every step may be done twice, so this may be killed
too.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping

NAME = "journal"


def write(folders: Iterable[str], moves: Mapping[str, str], asides: Mapping[str, str]) -> None:
    """Write to disk the drafts with their targets, and the targets with the paths where they are set aside."""
    folders = list(folders)
    data = json.dumps({"folders": folders, "moves": dict(moves), "asides": dict(asides)}).encode()
    for folder in folders:
        handle = os.open(os.path.join(folder, NAME), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        sync(folder)


def forget(folders: Iterable[str]) -> None:
    """Remove what was written down, before the first of the folders goes."""
    for folder in folders:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, NAME))


def recover(folder: str) -> bool:
    """Put back what the dead run of a hidden folder had set aside; return false if that failed, so the folder stays."""
    try:
        with open(os.path.join(folder, NAME), "rb") as file:
            known = json.load(file)
        folders, moves, asides = known["folders"], known["moves"], known["asides"]
    except (OSError, ValueError, KeyError, TypeError):
        # Without a whole journal nothing was set aside.
        return True
    try:
        if any(map(os.path.lexists, moves)):
            _undo(moves, asides)
    except OSError:
        return False
    forget(folders)
    return True


def _undo(moves: Mapping[str, str], asides: Mapping[str, str]) -> None:
    """Take back what was placed, the last first, and put back what was set aside, the ledger first."""
    for draft, target in reversed(list(moves.items())):
        # Where the old output stands again, this one was taken back before.
        is_old = target in asides and not os.path.lexists(asides[target])
        if not os.path.lexists(draft) and os.path.lexists(target) and not is_old:
            os.replace(target, draft)
    for target, aside in reversed(list(asides.items())):
        if os.path.lexists(aside):
            os.replace(aside, target)
    for parent in sorted({os.path.dirname(target) for target in (*moves.values(), *asides)}):
        if os.path.isdir(parent):
            sync(parent)


def sync(path: str) -> None:
    """Make what was written to a file or folder durable."""
    if os.name == "nt" and os.path.isdir(path):
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
