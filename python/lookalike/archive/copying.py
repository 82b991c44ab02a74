"""Copies of an index: a backup of a live one, and an export of its documents as JSON Lines."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from lookalike import _core
from lookalike._types import Progress, unheard
from lookalike.archive import catalogue, folder
from lookalike.archive.catalogue import Catalogue
from lookalike.archive.folder import CATALOGUE, LOCK, NEW_CATALOGUE, Folder
from lookalike.archive.lock import WriterLock
from lookalike.archive.state import SegmentRow, State
from lookalike.engines.writing import sync, writing
from lookalike.errors import DamagedError, FormatError, ParameterError

COPYING = "copying segments"


def copy_file(source: str, target: str, made: Callable[[], None] = lambda: None) -> None:
    """Copy a file, durably; ``made`` is called as soon as it is made. Errors: ``FileExistsError``, ``OSError``."""
    with open(source, "rb") as reader, open(target, "xb") as writer:
        made()
        shutil.copyfileobj(reader, writer, 1 << 20)
        writer.flush()
        os.fsync(writer.fileno())


def prepare(path: str | os.PathLike[str]) -> Folder:
    """Make a folder for an index, which only its owner can enter, or take an empty one as it is.

    Errors: ``FileExistsError`` if it holds anything else.
    """
    name = os.fspath(path)
    with writing(name):
        try:
            os.mkdir(name, 0o700)
        except FileExistsError:
            check_empty(name)
        else:
            sync(os.path.dirname(os.path.abspath(name)))
    return Folder.open(name)


def check_empty(name: str) -> None:
    """Errors: ``FileExistsError`` for a file, an index, or a folder with files, except those of a broken creation."""
    if not os.path.isdir(name):
        raise FileExistsError(17, "exists and is a file: choose another path", name)
    found = set(os.listdir(name))
    if CATALOGUE in found:
        raise FileExistsError(17, "is an index already: choose another path", name)
    if found - {LOCK, NEW_CATALOGUE, f"{NEW_CATALOGUE}-wal", f"{NEW_CATALOGUE}-shm", f"{NEW_CATALOGUE}-journal"}:
        raise FileExistsError(17, "exists and is not empty: choose another path", name)


def backup(source: Catalogue, target: str | os.PathLike[str], progress: Progress = unheard) -> None:
    """Copy a live index to a new folder. The catalogue comes last, so that a broken copy is not an index.

    Errors: ``FileExistsError``, ``DamagedError``, ``OSError``. What was written is removed then.
    """
    if os.path.realpath(os.fspath(target)) == source.folder.path:
        raise ParameterError(f"`{os.fspath(target)}` is the index itself: give another folder")
    there = prepare(target)
    lock, written = WriterLock(there), list[str]()
    try:
        with writing(there.path):
            # Another process may have filled it between the first look and the lock.
            check_empty(there.path)
            written.append(LOCK)
            state, tail = _copied(source, there, written, progress)
            _finish(there, replace(state, garbage=frozenset()), tail, written)
    except BaseException:
        for name in written:
            with contextlib.suppress(OSError):
                os.unlink(there.file(name))
        with contextlib.suppress(OSError):
            os.rmdir(there.path)
        raise
    finally:
        lock.release()


def _finish(there: Folder, state: State, tail: list[tuple[int, bytes]], written: list[str]) -> None:
    written.append(NEW_CATALOGUE)
    catalogue.rewrite(there.file(NEW_CATALOGUE), state, tail)
    catalogue.publish(there)
    Catalogue(there, write=False).close()


def _copied(
    source: Catalogue, there: Folder, written: list[str], progress: Progress
) -> tuple[State, list[tuple[int, bytes]]]:
    """Copy the segments of one state; begin again if the writer replaces them meanwhile."""
    while True:
        state, tail = source.read()
        rows = {one.name: one for one in state.segments}
        try:
            with _held(source.folder, state) as files:
                for done, (name, handle) in enumerate(files.items()):
                    progress(COPYING, done, len(files))
                    if name not in written:
                        copy_file(f"/dev/fd/{handle}", there.file(name), partial(written.append, name))
                        _check_copy(source.folder.file(name), there.file(name), rows[name])
        except FileNotFoundError:
            if source.generation() == state.generation:
                raise
            continue
        keep = {one.name for one in state.segments}
        for name in [name for name in written if name not in keep]:
            os.unlink(there.file(name))
            written.remove(name)
        return state, tail


def _check_copy(source: str, copy: str, row: SegmentRow) -> None:
    """Read a whole copy: that a backup is damaged would else be found when it is needed. Errors: ``DamagedError``."""
    try:
        segment = _core.Segment.open(copy)
        segment.verify()
        is_same = (segment.rows, segment.length, segment.seal) == (row.rows, row.length, row.seal)
        reason = None if is_same else "it is not the file that the catalogue lists"
    except FormatError as error:
        reason = str(error).replace(copy, source)
    if reason is not None:
        raise DamagedError(
            f"`{source}` is damaged, so no backup was made: {reason}; keep the earlier backups, and repair the index "
            "with `lookalike index repair`"
        )


@contextlib.contextmanager
def _held(source: Folder, state: State) -> Iterator[dict[str, int]]:
    """Open all segments of a state, so that they can be copied after they are unlinked."""
    with contextlib.ExitStack() as stack:
        held = {}
        for one in state.segments:
            handle = os.open(source.file(one.name), os.O_RDONLY)
            stack.callback(os.close, handle)
            held[one.name] = handle
        yield held


def line(value: object) -> bytes:
    """Return a value as one line of JSON; text that is no UTF-8 is escaped."""
    return json.dumps(value, ensure_ascii=True).encode() + b"\n"


__all__ = ["backup", "check_empty", "copy_file", "folder", "line", "prepare"]
