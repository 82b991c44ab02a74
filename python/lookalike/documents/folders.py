"""Lists the files below a folder in order of their names, at any depth and without recursion.

Links are followed only on request, never out of the folder and never in a circle. A path may be as long as the system
allows; longer ones are listed as skipped. Memory: about 200 bytes for each name still to be visited.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lookalike.documents.intake import in_order
from lookalike.documents.reasons import A_LINK, NOT_REGULAR, why

#: The file that every report has, and how it begins.
_REPORT = "report.json"
_REPORT_STARTS = re.compile(rb'\s*\{\s*"kind":\s*"lookalike')
A_REPORT = "a report that lookalike wrote"


def is_report(folder: str) -> bool:
    """Return whether a folder holds a report of this package."""
    with contextlib.suppress(OSError, ValueError), open(os.path.join(folder, _REPORT), "rb") as file:
        return bool(_REPORT_STARTS.match(file.read(200)))
    return False


@dataclass(frozen=True, slots=True)
class Found:
    """A file below a folder, or an entry that is skipped, with the reason."""

    #: Below the folder, separated by ``/``.
    path: str
    reason: str | None = None
    #: The target to open if the file is a link that may be followed.
    target: str | None = None
    is_folder: bool = False
    #: The folder's real path and the folders whose links led here; set only when links are followed.
    real: str = ""
    origins: tuple[str, ...] = ()


def walk(root: str, enters: Callable[[str], bool] = lambda _: True, *, follow_links: bool = False) -> Iterator[Found]:
    """Yield all entries below ``root`` except those in folders that ``enters`` rejects."""
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
    """Classify an entry. Links are followed within ``top`` if it is given."""
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
    """Return the files below a folder, sorted by name, each with the reason to skip it or ``None``.

    For a file, return just that file.
    """
    root = Path(path)
    if not root.is_dir():
        return [(root, None)]
    return sorted((root / found.path, found.reason) for found in walk(os.fspath(root)))
