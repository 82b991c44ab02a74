"""Folder → the files below it, in order of their names, at any depth and without recursion.

Links are not followed unless asked for, and then neither out of the folder nor round in a circle. A path may be as long
as the system allows; what it does not allow is listed. One step of the walk is held in memory for each name that is
still to be visited, about 200 bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lookalike.documents.intake import in_order
from lookalike.documents.reasons import A_LINK, NOT_REGULAR, why


@dataclass(frozen=True, slots=True)
class Found:
    """A file below a folder, or something that is left out with the reason."""

    #: Below the folder, separated by ``/``.
    path: str
    reason: str | None = None
    #: What to open instead, if the file is a link that may be followed.
    target: str | None = None
    is_folder: bool = False
    #: Where a folder really is, and the folders from which links led here: only known when links are followed.
    real: str = ""
    origins: tuple[str, ...] = ()


def walk(root: str, enters: Callable[[str], bool] = lambda _: True, *, follow_links: bool = False) -> Iterator[Found]:
    """Yield what lies below ``root``, except folders for which ``enters`` says no."""
    top = os.path.realpath(root)
    steps = [Found("", is_folder=True, real=top)]
    while steps:
        step = steps.pop()
        if not step.is_folder:
            yield step
        elif not step.path or enters(step.path):
            try:
                with os.scandir(os.path.join(root, step.path)) as entries:
                    below = [_look(entry, step, top if follow_links else None) for entry in entries]
            except OSError as error:
                yield Found(step.path, why(error))
                continue
            below.sort(key=lambda found: in_order(found.path), reverse=True)
            steps += below


def _look(entry: os.DirEntry[str], folder: Found, top: str | None) -> Found:
    """Tell what an entry is. Links are followed within ``top``, if there is one."""
    path = f"{folder.path}/{entry.name}" if folder.path else entry.name
    try:
        if entry.is_symlink():
            return Found(path, A_LINK) if top is None else _follow(entry, path, folder, top)
        if entry.is_dir(follow_symlinks=False):
            real = os.path.join(folder.real, entry.name) if top else ""
            return Found(path, is_folder=True, real=real, origins=folder.origins)
        return Found(path, None if entry.is_file(follow_symlinks=False) else NOT_REGULAR)
    except OSError as error:
        return Found(path, why(error))


def _follow(entry: os.DirEntry[str], path: str, folder: Found, top: str) -> Found:
    real = os.path.realpath(entry.path)
    if not _is_within(real, top):
        return Found(path, "a link that leads out of the folder")
    if not os.path.exists(real):
        return Found(path, "a link that leads nowhere")
    if not os.path.isdir(real):
        return Found(path, target=real)
    origins = (*folder.origins, folder.real)
    if any(_is_within(origin, real) for origin in origins):
        return Found(path, "a link that leads back to where it came from")
    return Found(path, is_folder=True, real=real, origins=origins)


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def corpus_files(path: str | os.PathLike[str]) -> list[tuple[Path, str | None]]:
    """Return what lies below a folder, sorted by name, each with the reason to leave it out, if there is one.

    A file stands for itself.
    """
    root = Path(path)
    if not root.is_dir():
        return [(root, None)]
    return sorted((root / found.path, found.reason) for found in walk(os.fspath(root)))
