"""A run of `dedup --index --add` that fails at its end."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike.archive.catalogue import Catalogue


def test_a_full_disk_of_the_index_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    la.Index.create("index", kind="corpus").close()
    Path("day.jsonl").write_text('{"id": "a", "text": "a row of the day"}\n')

    def full(*_given: Any, **_named: Any) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(Catalogue, "apply", full)
    with pytest.raises(la.NoSpaceError, match=r"no space for `[^`]*index`: .* are free"):
        la.dedup(Path("day.jsonl"), index="index", add=True, out="new.jsonl")
    assert not Path("new.jsonl").exists()
