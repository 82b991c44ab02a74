"""Several indexes asked as one: documents stand one index after the other, ids begin with the name of their index.

Asking costs what asking each of them costs. All must have the same parameters, because keys that were made differently
never match.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lookalike import _core
from lookalike.archive.closing import Closing
from lookalike.archive.questions import Asking
from lookalike.archive.store import Index
from lookalike.archive.view import View
from lookalike.errors import ParameterError, VersionError

if TYPE_CHECKING:
    from lookalike.comparison.earlier import Opened

Path = str | os.PathLike[str]


@dataclass
class JoinedView(View):
    """The states of several indexes, one after the other."""

    #: The number of the first document of each index, and what stands before its ids.
    prefixes: list[tuple[int, str]] = field(default_factory=list)
    documents_in_all: int = 0

    def __len__(self) -> int:
        return self.documents_in_all

    def prefix(self, number: int) -> str:
        """Return the name of the index that a document is in, and a slash."""
        return self.prefixes[bisect_right(self.prefixes, number, key=lambda one: one[0]) - 1][1]


class JoinedIndex(Closing, Asking):
    """Several indexes, open for reading and asked as one.

    >>> import os, tempfile, lookalike as la
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for year in ("2024", "2025"):
    ...         with la.Index.create(os.path.join(folder, year), kind="corpus") as index:
    ...             _ = index.add([("essay", f"one two three four five six seven of {year}")])
    ...     with la.JoinedIndex([os.path.join(folder, "2024"), os.path.join(folder, "2025")]) as both:
    ...         print(len(both), both.seen("one two three four five six seven of 2025").nearest.id)
    2 2025/essay
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        """Open indexes for reading.

        :param paths: Their folders. Documents of earlier ones come first.
        :raises ParameterError: No folder is given, or one twice.
        :raises VersionError: They have different parameters; the message names both sides.
        :raises DamagedError: A file of one is damaged; the message names it.
        :raises OSError: One cannot be read.
        """
        if not paths:
            raise ParameterError("no index is given: give the folder of one or more")
        self._indexes: list[Index] = []
        try:
            for path in paths:
                self._indexes.append(Index(path))
            self._names = _names([one.path for one in self._indexes])
            self._check()
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        """Errors: ``VersionError`` if not all parameters are equal."""
        first, *others = self._indexes
        for other in others:
            if differences := first.parameters.differences(other.parameters):
                raise VersionError(
                    f"indexes `{first.path}` and `{other.path}` were made with different parameters "
                    f"({'; '.join(differences)}): ask them one by one"
                )

    def _view(self) -> View:
        views = [one._view() for one in self._indexes]
        parts = [part for view in views for part in view.parts]
        prefixes, number = [], 0
        for name, view in zip(self._names, views, strict=True):
            prefixes.append((number, f"{name}/"))
            number += view.core.rows
        name, first = " and ".join(self._names), views[0]
        core, told = _core.Snapshot(parts, sum(view.core.shadows for view in views)), sum(map(len, views))
        return JoinedView(name, first.state, first.parameters, core, parts, first.arrival, prefixes, told)

    def _searched(self) -> list[Opened]:
        return [one for index in self._indexes for one in index._searched()]

    def __len__(self) -> int:
        return sum(map(len, self._indexes))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {', '.join(f'`{one.path}`' for one in self._indexes)}>"

    def close(self) -> None:
        """Let go of all of them."""
        for one in self._indexes:
            one.close()


def _names(paths: Sequence[str]) -> list[str]:
    """Return a name for each folder: its own, or its path where two have the same. Errors: ``ParameterError``."""
    if len(set(paths)) < len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise ParameterError(f"index `{twice}` is given twice: give it once")
    own = [os.path.basename(path) for path in paths]
    return own if len(set(own)) == len(own) else list(paths)
