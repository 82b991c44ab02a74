"""The digest of a submission: over names and bytes, so framed that no two submissions share one by accident."""

from __future__ import annotations

import hashlib
from pathlib import Path

import lookalike as la
from support.submissions import write


def framed(*pieces: bytes) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(len(piece).to_bytes(8, "little") + piece)
    return digest.hexdigest()


def test_the_digest_is_of_names_and_bytes_behind_their_lengths(tmp_path: Path):
    root = write(tmp_path, {"ann/a.txt": "one text", "ann/b.txt": "another", "bob/a.txt": "a third"})
    report = la.compare(root)
    found = {entry.name: entry.digest for entry in report.entries}
    assert found == {
        "ann": framed(b"a.txt", b"one text", b"b.txt", b"another"),
        "bob": framed(b"a.txt", b"a third"),
    }


def test_bytes_that_move_between_files_change_the_digest(tmp_path: Path):
    """Both folders hold the same names and bytes, one after the other."""
    root = write(tmp_path, {"ann/a": "one b", "ann/c": "two", "bob/a": "one ", "bob/b": "ctwo"})
    first, second = la.compare(root, language="text").entries
    assert first.digest != second.digest
