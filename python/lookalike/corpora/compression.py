"""Reads and writes compressed files in large pieces: gzip, bzip2, xz and zstd, with any number of streams per file.

Data before a damaged or missing part is returned, then ``RefusedError`` gives the reason. The memory a header may ask
for is bounded. The output is not, because it is never held.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import BinaryIO, Protocol, cast

from lookalike.corpora.batches import CHUNK_BYTES
from lookalike.documents.reasons import MIB, RefusedError, in_bytes
from lookalike.documents.streams import MAGIC, decompressor

#: Suffixes, by the name of the format.
SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}
_MAGICS = tuple(MAGIC.values())
#: Bytes of compressed input per piece; the output of a damaged piece is lost.
_PIECE = 2**16
#: The window of `zstd --long`, which is the largest its command accepts by default.
_WINDOW_BYTES = 128 * MIB


class Writable(Protocol):
    """A stream that is written forwards only."""

    def write(self, data: bytes, /) -> int:
        """Write all of it."""

    def close(self) -> None:
        """Write buffered data. The underlying file stays open."""


def by_suffix(name: str) -> tuple[str, str | None]:
    """Split a name into the part before its compression suffix and the compression."""
    bare, dot, suffix = name.rpartition(".")
    format = SUFFIXES.get(f".{suffix.lower()}") if dot else None
    return (name, None) if format is None else (bare, format)


def by_content(head: bytes) -> str | None:
    """Return the compression that the first bytes of a file indicate."""
    if not head.startswith(_MAGICS):
        return None
    return next(format for format, magic in MAGIC.items() if head.startswith(magic))


def chunks(file: BinaryIO, format: str | None, size: int = CHUNK_BYTES) -> Iterator[bytes]:
    """Yield what a file holds, about ``size`` bytes at a time. Errors: ``RefusedError``, after all readable data."""
    if format is None:
        while data := file.read(size):
            yield data
        return
    held: list[bytes] = []
    total = 0
    try:
        for data in _expanded(file, format, size):
            held.append(data)
            total += len(data)
            if total >= size:
                yield b"".join(held)
                held, total = [], 0
    except RefusedError:
        if held:
            yield b"".join(held)
        raise
    if held:
        yield b"".join(held)


def _expanded(file: BinaryIO, format: str, size: int) -> Iterator[bytes]:
    begin, damage = decompressor(format, _WINDOW_BYTES)
    stream, rest = begin(), file.read(_PIECE)
    while rest or stream.eof or not stream.needs_input:
        if stream.eof:
            rest = _between(stream.unused_data, file, MAGIC[format])
            if not rest.startswith(MAGIC[format]):
                if rest:
                    raise RefusedError("damaged: something follows that is not compressed")
                return
            stream = begin()
        piece, rest = rest, b""
        try:
            data = stream.decompress(piece, size)
        except damage as error:
            asks_much = "memory" in str(error).lower()
            window = f"asks for a window of more than {in_bytes(_WINDOW_BYTES)}"
            raise RefusedError(window if asks_much else "damaged: it cannot be expanded") from None
        if data:
            yield data
        if not stream.eof and stream.needs_input:
            rest = file.read(_PIECE)
            if not rest:
                raise RefusedError("damaged: it is cut short")


def _between(rest: bytes, file: BinaryIO, magic: bytes) -> bytes:
    """Return the data after a stream, without padding, and enough of it to recognise another stream."""
    rest = rest.lstrip(b"\0")
    while len(rest) < len(magic) and (piece := file.read(_PIECE)):
        rest = (rest + piece).lstrip(b"\0")
    return rest


class _Plain:
    def __init__(self, file: BinaryIO) -> None:
        self.write = file.write

    def close(self) -> None:
        pass


def compressed(file: BinaryIO, format: str | None) -> Writable:
    """Return a stream that compresses what is written to it; equal content gives equal bytes."""
    if format is None:
        return cast(Writable, _Plain(file))
    if format == "gzip":
        import gzip

        return cast(Writable, gzip.GzipFile("", "wb", 6, file, mtime=0))
    if format == "bzip2":
        import bz2

        return cast(Writable, bz2.BZ2File(file, "wb"))
    if format == "xz":
        import lzma

        return cast(Writable, lzma.LZMAFile(file, "wb"))
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return cast(Writable, zstd.ZstdFile(file, "wb", level=3))
