"""Which files are archives, and what is in them. Nothing is extracted: members are read in memory, one by one.

A file is an archive if both its name and its first bytes say so. A docx or a jar is therefore not one, although it is
a zip archive inside. The bytes alone decide the kind, because many ``.zip`` files are something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from lookalike.documents.files import Readable, read_at_most
from lookalike.documents.meters import Member, Meter
from lookalike.documents.reasons import RefusedError
from lookalike.documents.streams import MAGIC, Expanded

#: Bytes at the start of a file that decide its kind.
HEAD_BYTES = 512
#: Suffixes, lower case. Those of tar archives come first, so that ``.tar.gz`` is not taken for ``.gz``.
_TAR = (".tar.bz2", ".tar.gz", ".tar.xz", ".tar.zst", ".tbz2", ".tzst", ".tbz", ".tgz", ".txz", ".tar")
_OTHER = (".zip", ".bz2", ".zst", ".gz", ".xz")
_UNREAD = {"rar": b"Rar!\x1a\x07", "7z": b"7z\xbc\xaf\x27\x1c"}


def stem(name: str) -> str:
    """Return a name without its archive suffix, unless nothing would be left."""
    lower = name.lower()
    if not lower.endswith(_TAR + _OTHER):
        return name
    suffix = next(suffix for suffix in _TAR + _OTHER if lower.endswith(suffix))
    left = name[: len(name) - len(suffix)]
    return name if left.endswith("/") or not left else left


def has_archive_name(name: str) -> bool:
    """Return whether a name has the suffix of an archive or a compressed file."""
    return stem(name) != name


def recognise(name: str, head: bytes) -> str | None:
    """Return the kind of archive that a file is, if any. Errors: ``RefusedError`` for kinds that are not read."""
    if unread := next((kind for kind, magic in _UNREAD.items() if head.startswith(magic)), None):
        raise RefusedError(f"a {unread} archive, which is not read: unpack it, or pack it as zip")
    if not has_archive_name(name):
        return None
    if head.startswith((b"PK\3\4", b"PK\5\6")):
        return "zip"
    compression = next((kind for kind, magic in MAGIC.items() if head.startswith(magic)), None)
    return compression or ("tar" if _is_tar(name, head) else None)


def _is_tar(name: str, head: bytes) -> bool:
    """Return whether this may be a tar archive. Those older than POSIX have no mark, so the name decides."""
    return head[257:262] == b"ustar" or name.lower().endswith(_TAR)


def members(kind: str, name: str, file: BinaryIO, meter: Meter) -> Iterator[Member]:
    """Yield the files and folders of an archive, or the one file that is compressed.

    Errors: ``RefusedError``, ``ExhaustedError``.
    """
    if kind == "zip":
        from lookalike.documents import zips

        yield from zips.members(file, meter)
        return
    from lookalike.documents import tars

    source = _LookedAt(tars.Metered(file, meter) if kind == "tar" else Expanded(file, kind, meter))
    if _is_tar(name, source.head):
        yield from tars.members(source, meter)
    else:
        yield Member(None, lambda most: read_at_most(source, 0, most))


class _LookedAt:
    """A stream whose first bytes were read already and are returned again."""

    def __init__(self, source: Readable) -> None:
        self._source = source
        self.head = b""
        while len(self.head) < HEAD_BYTES and (piece := source.read(HEAD_BYTES - len(self.head))):
            self.head += piece
        self._ahead = self.head

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes, empty only at the end."""
        if self._ahead:
            piece, self._ahead = self._ahead[:size], self._ahead[size:]
            return piece
        return self._source.read(size)
