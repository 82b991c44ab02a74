"""Decompresses gzip, bzip2, xz and zstd in pieces of bounded size.

A compressed file may hold several streams in a row; all are read. Memory never exceeds the window limit, whatever a
header asks for: xz and zstd refuse before they allocate.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Protocol

from lookalike.documents.files import Readable
from lookalike.documents.meters import CHUNK, Meter
from lookalike.documents.reasons import MIB, RefusedError, in_bytes

#: Bytes of compressed input per piece. Small, because the rest is copied for each stream that ends in the piece.
_PIECE = 2**14
#: Memory the xz decoder needs in addition to its window.
_BESIDE_WINDOW = 2 * MIB

#: The first bytes of a compressed file, by the name of the format.
MAGIC = {"gzip": b"\x1f\x8b\x08", "bzip2": b"BZh", "xz": b"\xfd7zXZ\x00", "zstd": b"\x28\xb5\x2f\xfd"}


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gzip:
    """A gzip stream with the interface of the other decompressors."""

    def __init__(self) -> None:
        import zlib

        self._stream = zlib.decompressobj(16 + zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def needs_input(self) -> bool:
        return not self._stream.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._stream.decompress(self._stream.unconsumed_tail + data, max_length)


def decompressor(format: str, window_bytes: int) -> tuple[Callable[[], _Decompressor], type[Exception]]:
    """Return the function that starts a decompressor, and the exceptions it raises for damaged data."""
    if format == "gzip":
        import zlib

        return _Gzip, zlib.error
    if format == "bzip2":
        import bz2

        return bz2.BZ2Decompressor, OSError
    if format == "xz":
        import lzma

        return lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, window_bytes + _BESIDE_WINDOW), lzma.LZMAError
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: window_bytes.bit_length() - 1}
    return lambda: zstd.ZstdDecompressor(options=options), zstd.ZstdError


class Expanded:
    """The decompressed content of a file, read forwards once; every byte is charged to the meter."""

    def __init__(self, file: Readable, format: str, meter: Meter) -> None:
        self._file = file
        self._meter = meter
        self._window_bytes = meter.tree.limits.window_bytes
        self._begin, self._damage = decompressor(format, self._window_bytes)
        self._magic = MAGIC[format]
        self._stream = self._begin()
        self._rest = b""

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes, empty only at the end. Errors: ``RefusedError``, ``ExhaustedError``."""
        while True:
            if self._stream.eof and not self._next_stream():
                return b""
            if self._stream.needs_input and not self._rest:
                self._rest = self._file.read(_PIECE)
                if not self._rest:
                    raise RefusedError("damaged: it is cut short")
            piece, self._rest = self._rest, b""
            try:
                data = self._stream.decompress(piece, min(size, CHUNK))
            except self._damage as error:
                raise RefusedError(self._reason(error)) from None
            if data:
                self._meter.charge(len(data))
                return data

    def _next_stream(self) -> bool:
        """Start the next stream. Anything else, such as padding, is ignored, as the usual tools do."""
        self._rest = self._stream.unused_data.lstrip(b"\0")
        while len(self._rest) < len(self._magic) and (piece := self._file.read(_PIECE)):
            self._rest = (self._rest + piece).lstrip(b"\0")
        if not self._rest.startswith(self._magic):
            return False
        self._stream = self._begin()
        return True

    def _reason(self, error: Exception) -> str:
        if "memory" in str(error).lower():
            return f"asks for a window of more than {in_bytes(self._window_bytes)}"
        return "damaged: it cannot be expanded"
