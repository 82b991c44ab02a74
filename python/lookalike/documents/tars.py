"""Reads the members of a tar archive one by one, from a stream that is read forwards only.

``tarfile`` parses the headers. It reads the stream through ``_Forward``, which refuses to seek back and limits the
bytes per header, because long names, extended headers and sparse maps may claim any size.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from functools import partial
from typing import IO, cast

from lookalike.documents.files import Readable
from lookalike.documents.meters import CHUNK, Member, Meter
from lookalike.documents.reasons import A_LINK, KIB, NOT_REGULAR, RefusedError, in_bytes, too_large

#: Bytes of headers allowed per member; a path of 4 KiB and a few attributes need less.
_HEADER_BYTES = 64 * KIB
_DAMAGED = "damaged: cut short or not a tar archive from here on; what stands before is read"
_BELOW_ZERO = "damaged: a member has a size below zero"


class _Forward:
    """The file interface that ``tarfile`` needs to find members; ``take`` reads the members themselves."""

    def __init__(self, source: Readable) -> None:
        self._source = source
        self._at = 0
        self._header_bytes = 0
        #: Bytes last read for a header.
        self.last = b""

    def tell(self) -> int:
        return self._at

    def read(self, size: int) -> bytes:
        """Read for a header. Errors: ``RefusedError`` if the headers are too long."""
        self._header_bytes += size
        if size < 0 or self._header_bytes > _HEADER_BYTES:
            raise RefusedError(f"damaged: a member has headers of more than {in_bytes(_HEADER_BYTES)}")
        self.last = b"".join(self._pieces(size))
        return self.last

    def seek(self, to: int) -> None:
        """Skip forwards. Errors: ``RefusedError`` for seeking back, which a negative size would cause."""
        if to < self._at:
            raise RefusedError(_BELOW_ZERO)
        for _ in self._pieces(to - self._at):
            pass

    def take(self, size: int, most: int) -> bytes:
        """Read a member. Errors: ``RefusedError`` if it has more than ``most`` bytes, or a wrong size."""
        if size < 0:
            raise RefusedError(_BELOW_ZERO)
        if size > most:
            raise too_large(most)
        data = b"".join(self._pieces(size))
        if len(data) < size:
            raise RefusedError("damaged: it is cut short")
        return data

    def next_member(self) -> None:
        """Reset the count of header bytes."""
        self._header_bytes = 0

    def _pieces(self, size: int) -> Iterator[bytes]:
        left = size
        while left > 0 and (piece := self._source.read(min(left, CHUNK))):
            left -= len(piece)
            self._at += len(piece)
            yield piece


class Metered:
    """An uncompressed archive; bytes read are charged to the meter as well."""

    def __init__(self, file: Readable, meter: Meter) -> None:
        self._file = file
        self._meter = meter

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes, empty only at the end. Errors: ``ExhaustedError``."""
        data = self._file.read(size)
        self._meter.charge(len(data))
        return data


def members(source: Readable, meter: Meter) -> Iterator[Member]:
    """Yield the files and folders of an archive in its order. Errors: ``RefusedError``, ``ExhaustedError``."""
    stream = _Forward(source)
    try:
        with tarfile.TarFile(fileobj=cast(IO[bytes], stream), encoding="utf-8", errors="surrogateescape") as archive:
            while info := archive.next():
                stream.next_member()
                meter.tree.count(1)
                yield Member(info.name, partial(_read, stream, info), info.isdir())
                # Both would grow with the number of members.
                archive.members = []  # type: ignore[attr-defined]
                archive.pax_headers = {}
    except (tarfile.TarError, ValueError, OverflowError, RecursionError):
        raise RefusedError(_DAMAGED) from None
    # tarfile stops at the first block that is no header; only a block of zeros is a proper end.
    if not stream.last or stream.last.strip(b"\0"):
        raise RefusedError(_DAMAGED)


def _read(stream: _Forward, info: tarfile.TarInfo, most: int) -> bytes:
    if info.issym() or info.islnk():
        raise RefusedError(A_LINK)
    if not info.isreg() or info.issparse():
        raise RefusedError("a sparse file" if info.issparse() else NOT_REGULAR)
    return stream.take(info.size, most)
