"""Reads the members of a zip archive one by one, in memory.

The standard ``zipfile`` is not used: it creates an object for every entry before the caller can count them, rejects the
whole archive for one odd entry, loses the bytes of names, and accepts any LZMA window. Here entries are counted before
they are read, and a bad entry affects only itself. Stored and deflated members are read; platforms and file managers
write no others. Layout: PKWARE's APPNOTE 6.3, sections 4.3 and 4.5.3.
"""

from __future__ import annotations

import stat
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

from lookalike.documents.meters import CHUNK, Member, Meter
from lookalike.documents.reasons import A_LINK, NOT_REGULAR, RefusedError, in_bytes, too_large

_END = struct.Struct("<4s4H2LH")
_END_64_LOCATOR = struct.Struct("<4sLQL")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
#: Bytes allowed per directory entry on average; real ones have about 150.
_DIRECTORY_BYTES_AN_ENTRY = 1024
_ENCRYPTED = 0x0001 | 0x0040 | 0x2000
_UTF_8 = 0x0800
_STORED, _DEFLATED = 0, 8
_MADE_ON_UNIX = 3
#: Marks a size or offset that is stored in the extra field instead.
_ELSEWHERE = 0xFFFFFFFF
_DAMAGED = "damaged: its directory cannot be read"


@dataclass(frozen=True, slots=True)
class _Entry:
    name: bytes
    system: int
    flags: int
    method: int
    checksum: int
    packed_bytes: int
    size_bytes: int
    attributes: int
    #: Offset of the local header in the file.
    offset: int

    @property
    def end(self) -> int:
        """Offset of the first byte after this entry's data."""
        return self.offset + _LOCAL.size + len(self.name) + self.packed_bytes

    @property
    def label(self) -> str:
        """The name: UTF-8 if it can be, marked or not, and else what the format says. Some write ``\\`` for ``/``."""
        try:
            name = self.name.decode("utf-8")
        except UnicodeDecodeError:
            name = self.name.decode("utf-8", "surrogateescape") if self.flags & _UTF_8 else self.name.decode("cp437")
        return name.replace("\\", "/")

    @property
    def obstacle(self) -> str | None:
        """The reason this entry cannot be read, or ``None``."""
        kind = stat.S_IFMT(self.attributes >> 16) if self.system == _MADE_ON_UNIX else 0
        if kind not in (0, stat.S_IFREG):
            return A_LINK if kind == stat.S_IFLNK else NOT_REGULAR
        if self.flags & _ENCRYPTED:
            return "encrypted"
        if self.method not in (_STORED, _DEFLATED):
            return f"packed by method {self.method}, and only stored and deflated members are read"
        return None


def members(file: BinaryIO, meter: Meter) -> Iterator[Member]:
    """Yield the files and folders of an archive in order of its directory.

    Errors: ``RefusedError``, ``ExhaustedError``.
    """
    directory, start, shift = _directory(file, meter)
    meter.tree.count(_count(directory, meter.tree.entries_left))
    entries = list(_entries(directory, shift))
    by_place = sorted(entries, key=lambda entry: entry.offset)
    bounds = [entry.offset for entry in by_place[1:]] + [start]
    if any(entry.end > bound for entry, bound in zip(by_place, bounds, strict=False)):
        raise RefusedError("damaged: its entries overlap")
    for entry in entries:
        yield Member(entry.label, partial(_read, file, entry, meter), entry.label.endswith("/"))


def _directory(file: BinaryIO, meter: Meter) -> tuple[bytes, int, int]:
    """Return the directory, its offset, and the number of bytes in front of the archive."""
    tail_at = max(0, meter.size - _END.size - 0xFFFF)
    file.seek(tail_at)
    tail = file.read(meter.size - tail_at)
    at = tail.rfind(b"PK\5\6", 0, max(0, len(tail) - _END.size + 4))
    if at < 0:
        raise RefusedError("damaged: it is cut short, or no zip archive")
    *_, count, size, offset, _ = _END.unpack_from(tail, at)
    end = tail_at + at
    large = _large_end(file, end)
    if large:
        count, size, offset, end = large
    start = end - size
    if start < 0 or offset > start:
        raise RefusedError(_DAMAGED)
    most = meter.tree.limits.archive_entries * _DIRECTORY_BYTES_AN_ENTRY
    meter.tree.split().count(count)
    if size > most:
        raise RefusedError(f"its directory is larger than {in_bytes(most)}")
    file.seek(start)
    return file.read(size), start, start - offset


def _large_end(file: BinaryIO, end: int) -> tuple[int, int, int, int] | None:
    """Return count, size, offset and end of the directory of an archive that has a Zip64 record."""
    at = end - _END_64_LOCATOR.size - _END_64.size
    if at < 0:
        return None
    file.seek(at)
    record = file.read(_END_64.size)
    if not (record.startswith(b"PK\6\6") and file.read(_END_64_LOCATOR.size).startswith(b"PK\6\7")):
        return None
    *_, count, size, offset = _END_64.unpack(record)
    return count, size, offset, at


def _count(directory: bytes, most: int) -> int:
    """Count the entries, ignoring the number in the header; stop once there are more than ``most``."""
    at = count = 0
    while count <= most and at + _ENTRY.size <= len(directory):
        count += 1
        at += _ENTRY.size + sum(struct.unpack_from("<3H", directory, at + 28))
    return count


def _entries(directory: bytes, shift: int) -> Iterator[_Entry]:
    at = 0
    while at < len(directory):
        if at + _ENTRY.size > len(directory):
            raise RefusedError(_DAMAGED)
        signature, made, _, flags, method, _, _, checksum, *sizes, _, _, attributes, offset = _ENTRY.unpack_from(
            directory, at
        )
        packed, size, name_bytes, extra_bytes, comment_bytes = sizes
        if signature != b"PK\1\2":
            raise RefusedError(_DAMAGED)
        name_at = at + _ENTRY.size
        extra_at = name_at + name_bytes
        at = extra_at + extra_bytes + comment_bytes
        size, packed, offset = _large_fields(directory[extra_at : extra_at + extra_bytes], [size, packed, offset])
        name = directory[name_at:extra_at]
        yield _Entry(name, made >> 8, flags, method, checksum, packed, size, attributes, offset + shift)


def _large_fields(extra: bytes, values: list[int]) -> list[int]:
    """Replace the values that are stored in the Zip64 extra field."""
    at = 0
    while _ELSEWHERE in values and at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            words = extra[at + 4 : at + 4 + length]
            found = struct.iter_unpack("<Q", words[: len(words) // 8 * 8])
            return [next(found, (value,))[0] if value == _ELSEWHERE else value for value in values]
        at += 4 + length
    return values


def _read(file: BinaryIO, entry: _Entry, meter: Meter, most: int) -> bytes:
    """Read a member and check its length and CRC."""
    if entry.obstacle:
        raise RefusedError(entry.obstacle)
    if entry.size_bytes > most:
        raise too_large(most)
    file.seek(entry.offset)
    header = file.read(_LOCAL.size)
    if len(header) < _LOCAL.size or not header.startswith(b"PK\3\4"):
        raise RefusedError("damaged: it is not where the directory says")
    file.seek(sum(_LOCAL.unpack(header)[-2:]), 1)
    parts: list[bytes] = []
    total = 0
    for part in _stored(file, entry) if entry.method == _STORED else _inflated(file, entry):
        meter.charge(len(part))
        total += len(part)
        if total > most:
            raise too_large(most)
        parts.append(part)
    data = b"".join(parts)
    if len(data) != entry.size_bytes or zlib.crc32(data) != entry.checksum:
        raise RefusedError("damaged: size or checksum do not agree with its content")
    return data


def _stored(file: BinaryIO, entry: _Entry) -> Iterator[bytes]:
    left = entry.packed_bytes
    while left > 0 and (part := file.read(min(left, CHUNK))):
        left -= len(part)
        yield part


def _inflated(file: BinaryIO, entry: _Entry) -> Iterator[bytes]:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    for packed in _stored(file, entry):
        while packed and not inflater.eof:
            try:
                yield inflater.decompress(packed, CHUNK)
            except zlib.error:
                raise RefusedError("damaged: it cannot be inflated") from None
            packed = inflater.unconsumed_tail
