"""The index in tests/compat/index_v1, and how it was made: ``python -m tests.support.old_indexes FOLDER``.

It was written before the first release, when a row that dedup removed kept its metadata and readable ids. One segment
and a tail, each with documents, such rows, and one document that was added without a deduplication.
"""

from __future__ import annotations

import sys
from pathlib import Path

import lookalike as la

COMPAT = Path(__file__).resolve().parent.parent / "compat" / "index_v1"
#: How the index is made, and dedup without one.
ASKED = {"shingle": 2, "filter": (6, 2, 1), "threshold": 0.6}
_WORDS = [f"w{number}" for number in range(40)]


def _text(first: int, changed: int | None = None) -> str:
    words = [f"{word}x{first}" for word in _WORDS]
    if changed is not None:
        words[changed] = "other"
    return " ".join(words)


#: Rows of two days: kept ones, near copies within a day and of the other day, and identical ones.
DAYS = [
    [
        {"id": "kept-0", "text": _text(0), "owner": "secret-owner-0"},
        {"id": "near-0", "text": _text(0, 7), "owner": "secret-owner-1"},
        {"id": "kept-1", "text": _text(1), "owner": "secret-owner-2"},
        {"id": "same-1", "text": _text(1), "owner": "secret-owner-3"},
    ],
    [
        {"id": "near-1", "text": _text(1, 9), "owner": "secret-owner-4"},
        {"id": "kept-2", "text": _text(2), "owner": "secret-owner-5"},
        {"id": "near-2", "text": _text(2, 3), "owner": "secret-owner-6"},
    ],
]
#: A later day: near copies and identical ones of everything above, and a new row.
LATER = [
    {"id": "again-0", "text": _text(0, 7)},
    {"id": "again-1", "text": _text(1, 9)},
    {"id": "again-2", "text": _text(2, 3)},
    {"id": "other-0", "text": _text(0, 30)},
    {"id": "new", "text": _text(3)},
    {"id": "plain", "text": _text(4, 1)},
]


def write(folder: Path) -> None:
    """Make the index."""
    with la.Index.create(folder, kind="corpus", **ASKED) as index:
        la.dedup(DAYS[0], index=index, add=True)
        index.add([("plain-4", _text(4))])
        index.compact()
        la.dedup(DAYS[1], index=index, add=True)
    for name in ("lock", "reserve", "catalog.sqlite-wal", "catalog.sqlite-shm"):
        (folder / name).unlink(missing_ok=True)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
