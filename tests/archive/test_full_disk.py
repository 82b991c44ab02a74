"""A disk that is really full: adding fails and changes nothing, removing still works and makes room again."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import lookalike as la
from lookalike.archive.merging import Policy
from lookalike.archive.store import Index
from tests.support.archives import PARAMETERS, snapshot_of
from tests.support.records import signed

POLICY = Policy(tail_documents=40, fan_in=3, tier_bytes=1 << 30, reserve=256 << 10)


@contextlib.contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """A file system of two megabytes; the test is skipped where none can be mounted."""
    place.mkdir()
    mount = shutil.which("mount")
    if (
        mount is None
        or subprocess.run([mount, "-t", "tmpfs", "-o", "size=2m", "none", place], capture_output=True).returncode
    ):
        pytest.skip("no file system can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def batch(start: int) -> list[tuple[bytes, bytes, bytes]]:
    return [signed(f"d{number}", f"{number} " * 400) for number in range(start, start + 30)]


def fill(index: Index) -> None:
    for start in range(0, 6000, 30):
        index._add_records(batch(start))


def test_a_full_disk_can_be_emptied(tmp_path: Path):
    with small_disk(tmp_path / "disk") as disk:
        index = Index._create(disk / "index", PARAMETERS, POLICY)
        with pytest.raises(la.NoSpaceError, match=r"no space for .* needed, .* free"):
            fill(index)
        index.close()
        (disk / "filler").write_bytes(b"")
        with contextlib.suppress(OSError), open(disk / "filler", "wb", buffering=0) as file:
            while file.write(os.urandom(4096)):
                pass
        start = len(snapshot_of(disk / "index"))
        assert start % 30 == 0
        assert start > 0
        with Index._open(disk / "index", POLICY, write=True) as index:
            assert index.check() == []
            assert index.remove([f"d{number}" for number in range(0, start, 2)]) == start // 2
            assert index.remove([f"d{number}" for number in range(start)]) == start - start // 2
        assert snapshot_of(disk / "index") == []
        os.unlink(disk / "filler")
        with Index._open(disk / "index", POLICY, write=True) as index:
            assert index._add_records(batch(0)).added == 30
            index.compact()
            assert index.check() == []
            assert (disk / "index" / "reserve").stat().st_size == POLICY.reserve
