"""Archives made for a test, and what every test of hostile ones asks for."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lookalike.documents import Intake

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MIB = 2**20
HONEST = b"print('honest work')\n"
#: What reading may take beside the documents it keeps.
MEMORY = 64 * MIB


def zip_bytes(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return file.getvalue()


def tar_bytes(*members: tuple[str | tarfile.TarInfo, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, data in members:
            info = tarfile.TarInfo(name) if isinstance(name, str) else name
            if info.isreg():
                info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=1),
    "zst": zstd.compress,
}
PACKERS: dict[str, Callable[..., bytes]] = {"zip": zip_bytes, "tar": tar_bytes} | {
    f"tar.{suffix}": lambda *members, compress=compress: compress(tar_bytes(*members))
    for suffix, compress in COMPRESSORS.items()
}


def beside(root: Path, name: str, data: bytes) -> Path:
    """Put something into a folder with an honest neighbour before and behind it."""
    for neighbour in ("0.py", "zz.py"):
        (root / neighbour).write_bytes(HONEST)
    (root / name).write_bytes(data)
    return root


def names(intake: Intake) -> dict[str, list[str]]:
    assert {"0.py", "zz.py"} <= {one.name for one in intake.submissions}, "an honest neighbour is missing"
    return {
        one.name: [document.name for document in one.documents]
        for one in intake.submissions
        if one.name not in ("0.py", "zz.py")
    }


def reasons(intake: Intake) -> dict[str, str]:
    return {row.name: row.reason for row in intake.skipped}


@contextmanager
def memory_within(most: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        yield
        assert tracemalloc.get_traced_memory()[1] - before < most
    finally:
        tracemalloc.stop()
