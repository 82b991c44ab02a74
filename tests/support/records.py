"""Records of signed documents, made by the page FORMAT.md and not by the code that reads them."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable
from typing import Any

from lookalike import _core

NO_TIME = -(2**63)


def number(value: int) -> bytes:
    """A short number: seven bits per byte, the lowest first."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def blob(data: bytes) -> bytes:
    return number(len(data)) + data


def keys(values: Iterable[int]) -> bytes:
    found = list(values)
    return number(len(found)) + b"".join(struct.pack("<Q", one) for one in found)


def content_of(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def signed(
    id_: str,
    text: str,
    *,
    meta: dict[str, Any] | None = None,
    time: int = NO_TIME,
    flags: int = 0,
    leader: str | None = None,
) -> tuple[bytes, bytes, bytes]:
    """A document with a few keys that depend on its text: id, mark, record."""
    words = text.split()
    hashes = [_core.xxh3(word.encode()) for word in words]
    content = content_of(text)
    body = b"\x02" + blob(id_.encode("utf-8", "surrogateescape")) + blob(json.dumps(meta or {}).encode())
    body += struct.pack("<QQqI", _core.xxh3(id_.encode("utf-8", "surrogateescape")), 0, time, flags)
    body += b"\x00" if leader is None else b"\x01" + blob(leader.encode()) + struct.pack("<fB", 0.9, 1)
    body += content[::-1]
    body += keys(sorted(set(hashes))) + keys(hashes[:1]) + keys(sorted(set(hashes))[:2])
    body += number(4) + struct.pack("<4I", *(h & 0xFFFFFFFF for h in (hashes * 4 or [1] * 4)[:4]))
    body += keys(sorted(set(hashes))[:3])
    body += b"\x01" + struct.pack("<Q", hashes[0]) if hashes else b"\x00"
    body += struct.pack("<IIQ", len(set(words)), len(words), len(text.encode()))
    body += blob(b"") + blob(text.encode())
    record = body + struct.pack("<Q", _core.xxh3(body))
    return id_.encode("utf-8", "surrogateescape"), _core.record_mark(record), record
