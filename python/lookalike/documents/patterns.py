"""Decides which files are read: glob patterns, and what is excluded by default.

A pattern without ``/`` is matched against the name of a file or folder at any depth, one with ``/`` against the whole
path below the root; ``**`` matches any number of folders, and a final ``/`` matches folders only. Matching costs at
most pattern × path: within a name by ``fnmatch.translate``, which never backtracks over a passed ``*``, and between
names by the walk below, which backtracks only to the last ``**``.
"""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from lookalike.documents.intake import Skipped

#: Folders made by tools. Not listed: build, dist, out, bin and vendor, which people also use for their own files.
_FOLDERS = """
.git .hg .svn .bzr CVS .idea .vscode .vs .settings .gradle .mvn .venv venv site-packages node_modules bower_components
__pycache__ .ipynb_checkpoints .mypy_cache .pytest_cache .ruff_cache .tox .nox .eggs CMakeFiles .next .nuxt .dart_tool
__MACOSX
"""
#: Compiled code, images, sound, video and fonts, which are not compared. Matched in lower case.
_SUFFIXES = """
class pyc pyo pyd o obj a lib so dylib dll exe jar war ear pdb wasm
png jpg jpeg gif bmp ico webp tif tiff heic psd mp3 wav ogg flac m4a aac mid mp4 avi mov mkv webm wmv m4v
ttf otf woff woff2 eot
"""
FOLDERS = frozenset(_FOLDERS.split())
SUFFIXES = frozenset(_SUFFIXES.split())
FILES = frozenset([".DS_Store", "Thumbs.db", "desktop.ini"])
#: Prefix of macOS resource forks on foreign file systems.
APPLE_DOUBLE = "._"
#: Matches no name.
_NOTHING = re.compile(r"(?!)")


class Pattern:
    """A compiled glob pattern."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.only_folders = text.endswith("/")
        parts = text.strip("/").split("/")
        #: Whether the whole path must match.
        self.is_anchored = "/" in text.rstrip("/")
        self._parts = [None if part == "**" else re.compile(fnmatch.translate(part)) for part in parts]

    def matches(self, path: str, *, is_folder: bool = False) -> bool:
        """Return whether this pattern matches the path."""
        if self.only_folders and not is_folder:
            return False
        names = path.split("/")
        return _matches(self._parts, names if self.is_anchored else names[-1:])

    def covers(self, path: str) -> bool:
        """Return whether this pattern matches one of the folders above a path."""
        folders = path.split("/")[:-1]
        if self.is_anchored:
            return bool(folders) and _matches([*self._parts, None], folders)
        return any(_matches(self._parts, [folder]) for folder in folders)


def _matches(parts: Sequence[re.Pattern[str] | None], names: Sequence[str]) -> bool:
    """Match path parts one by one; ``None`` matches any number of parts, and only the last ``None`` is retried."""
    part = name = 0
    last_gap, after_gap = -1, 0
    while name < len(names):
        wanted = parts[part] if part < len(parts) else _NOTHING
        if wanted is None:
            last_gap, after_gap, part = part, name, part + 1
        elif wanted.match(names[name]):
            part, name = part + 1, name + 1
        elif last_gap >= 0:
            after_gap += 1
            part, name = last_gap + 1, after_gap
        else:
            return False
    return all(rest is None for rest in parts[part:])


class Choice:
    """Decides what is read, and counts what each pattern excluded, so that the list has one line per pattern."""

    def __init__(self, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> None:
        self._include = [Pattern(text) for text in include]
        self._exclude = [Pattern(text) for text in exclude]
        self._left_out: Counter[tuple[str, str]] = Counter()
        self._unmatched = 0

    def enters(self, path: str, noun: str = "folder") -> bool:
        """Return whether a folder, or an archive, is entered."""
        return not self._leaves_out(self.barred(path), noun)

    def barred(self, path: str) -> str | None:
        """Return why a folder is not entered: its name, or the pattern that excludes it."""
        name = path.rpartition("/")[2]
        return name if name in FOLDERS else self._excluded(path, is_folder=True)

    def hides(self, path: str) -> bool:
        """Return whether a member of an archive is in an excluded folder."""
        named = next((folder for folder in path.split("/")[:-1] if folder in FOLDERS), None)
        by = named or next((pattern.text for pattern in self._exclude if pattern.covers(path)), None)
        return self._leaves_out(by and by.rstrip("/") + "/", "file")

    def keeps(self, path: str) -> bool:
        """Return whether a file is read. A file that ``include`` matches is read whatever its suffix."""
        by = self._excluded(path, is_folder=False)
        if not by and self._include:
            if any(pattern.matches(path) for pattern in self._include):
                return True
            self._unmatched += 1
            return False
        return not self._leaves_out(by or _default(path.rpartition("/")[2]), "file")

    def _leaves_out(self, by: str | None, noun: str) -> bool:
        if by:
            self._left_out[by.rstrip("/") + "/" if noun == "folder" else by, noun] += 1
        return by is not None

    def _excluded(self, path: str, *, is_folder: bool) -> str | None:
        return next((p.text for p in self._exclude if p.matches(path, is_folder=is_folder)), None)

    def summary(self) -> list[Skipped]:
        """Return one entry per pattern that excluded something."""
        rows = [Skipped(by, f"excluded: {_count(n, noun)} not read", False) for (by, noun), n in self._left_out.items()]
        if self._unmatched:
            wanted = ", ".join(f"`{pattern.text}`" for pattern in self._include)
            rows.append(Skipped("*", f"not included by {wanted}: {_count(self._unmatched, 'file')} not read", False))
        return rows


def _default(name: str) -> str | None:
    if name in FILES:
        return name
    if name.startswith(APPLE_DOUBLE):
        return APPLE_DOUBLE + "*"
    stem, _, suffix = name.rpartition(".")
    return f"*.{suffix.lower()}" if stem and suffix.lower() in SUFFIXES else None


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
