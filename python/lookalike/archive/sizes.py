"""Counts the documents of an index and the bytes of its files, by content. Cost: linear in the documents."""

from __future__ import annotations

import os
from collections import Counter

from lookalike.archive.folder import RESERVE, Folder
from lookalike.archive.results import Stats
from lookalike.archive.view import TEMPLATE, View, entry


def measured(view: View, folder: Folder) -> Stats:
    """Return how much an index holds and takes. Errors: ``DamagedError``, ``OSError``."""
    told = [entry(row, view.parameters) for _, row in view.rows()]
    labels = Counter(one.label for one in told if isinstance(one.label, str))
    files = _files(folder.path)
    return Stats(
        documents=len(told),
        shadows=view.core.shadows,
        templates=sum(one.flags & TEMPLATE > 0 for one in told),
        removed=view.state.removed_rows,
        segments=len(view.state.segments),
        tail=len(view.state.arrivals),
        bytes=sum(files.values()),
        generation=view.state.generation,
        labels=dict(sorted(labels.items())),
        sizes=_sizes(view, files, os.path.basename(folder.catalogue)),
    )


def _sizes(view: View, files: dict[str, int], catalogue: str) -> dict[str, int]:
    """Return bytes by content; they add up to those of all files."""
    found: Counter[str] = Counter()
    for segment, _ in view.parts[: len(view.state.segments)]:
        found.update({name: size for name, _, size in segment.sizes()})
    found["catalogue"] = sum(size for name, size in files.items() if name.startswith(catalogue))
    found["reserve"] = files.get(RESERVE, 0)
    # A segment that a writer has deleted meanwhile is open still, and no file.
    found["other"] = max(0, sum(files.values()) - found.total())
    return dict(found)


def _files(folder: str) -> dict[str, int]:
    """Return the bytes of each file."""
    found = {}
    with os.scandir(folder) as files:
        for file in files:
            try:
                found[file.name] = file.stat().st_size if file.is_file() else 0
            except FileNotFoundError:
                # A writer has deleted it meanwhile.
                continue
    return found
