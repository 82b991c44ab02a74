"""Turns what the user gave into existing paths. Patterns are expanded by the rules of ``patterns``."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable

from lookalike.documents.folders import A_REPORT, is_report, walk
from lookalike.documents.info import INFO
from lookalike.documents.intake import in_order
from lookalike.documents.patterns import FOLDERS, Pattern

_MAGIC = re.compile(r"[*?\[]")


def targets(given: Iterable[str | os.PathLike[str]], skip: Callable[..., None]) -> list[str]:
    """Return the paths to read, each once, in the order given; what is given twice is told to ``skip``.

    Folders that hold a report of this package are left out, and told. Errors: ``FileNotFoundError``.
    """
    paths = [given] if isinstance(given, str | os.PathLike) else given
    found = [target for path in paths for target in _targets(os.fspath(path), skip)]
    taken: dict[str, str] = {}
    for path in found:
        real = os.path.realpath(path)
        if real in taken:
            skip(path, f"given twice, as `{taken[real]}` too; it is read once", is_submitted=False)
        elif is_report(path):
            skip(path, A_REPORT, is_submitted=False)
        else:
            taken[real] = path
    return list(taken.values())


def _targets(path: str, skip: Callable[[str, str], None]) -> list[str]:
    if os.path.basename(path) == INFO and os.path.isfile(path):
        # Dolos takes the path of its info.csv; the files are beside it.
        return [os.path.dirname(path) or os.curdir]
    matching = [path] if os.path.lexists(path) else _matching(path, skip) if _MAGIC.search(path) else []
    if not matching:
        raise FileNotFoundError(errno.ENOENT, "no such file or folder, and nothing matches it as a pattern", path)
    return matching


def _matching(text: str, skip: Callable[[str, str], None]) -> list[str]:
    """Return the files and folders that a pattern matches, sorted; folders made by tools are not entered."""
    parts = text.replace(os.sep, "/").rstrip("/").split("/")
    first = next(number for number, part in enumerate(parts) if _MAGIC.search(part))
    base = "/".join(parts[:first]) or ("/" if first else os.curdir)
    pattern = Pattern("/" + "/".join(parts[first:]))
    deepest = None if "**" in parts else len(parts) - first
    shows_hidden = any(part.startswith(".") for part in parts[first:])
    found: list[str] = []

    def enters(folder: str) -> bool:
        name = folder.rpartition("/")[2]
        if name in FOLDERS or (name.startswith(".") and not shows_hidden):
            return False
        if pattern.matches(folder):
            found.append(folder)
            return False
        return deepest is None or folder.count("/") + 1 < deepest

    for file in walk(base, enters):
        name = file.path.rpartition("/")[2]
        if pattern.matches(file.path) and (shows_hidden or not name.startswith(".")):
            if file.reason:
                skip(file.path, file.reason)
            else:
                found.append(file.path)
    return [path if base == os.curdir else os.path.join(base, path) for path in sorted(found, key=in_order)]
