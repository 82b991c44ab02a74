"""Records of signed documents with every field, made by the page FORMAT.md."""

import struct
from dataclasses import dataclass, field

from lookalike import _core

NO_TIME = -(1 << 63)


@dataclass
class Record:
    """A signed document; every field has the name and meaning of FORMAT.md."""

    id: bytes = b""
    meta: bytes = b"{}"
    submitter: int = 0
    known_as: int = 0
    time: int = NO_TIME
    flags: int = 0
    leader: tuple[bytes, float, int] | None = None
    content: bytes = bytes(16)
    postings: list[int] = field(default_factory=list)
    literals: list[int] = field(default_factory=list)
    features: list[int] = field(default_factory=list)
    sketch: list[int] = field(default_factory=list)
    samples: list[int] = field(default_factory=list)
    simhash: int | None = None
    shingles: int = 0
    length: int = 0
    bytes: int = 0
    tokens: bytes = b""
    text: bytes = b""

    def encode(self) -> bytes:
        """Returns the bytes of the record."""
        parts = [b"\x02", _bytes(self.id), _bytes(self.meta)]
        parts.append(struct.pack("<QQqI", self.submitter, self.known_as, self.time, self.flags))
        parts.append(_leader(self.leader))
        parts.append(self.content[::-1])
        parts += [_numbers(keys, "Q") for keys in (self.postings, self.literals, self.features)]
        parts += [_numbers(self.sketch, "I"), _numbers(self.samples, "Q")]
        parts.append(b"\x00" if self.simhash is None else b"\x01" + struct.pack("<Q", self.simhash))
        parts.append(struct.pack("<IIQ", self.shingles, self.length, self.bytes))
        parts += [_bytes(self.tokens), _bytes(self.text)]
        body = b"".join(parts)
        return body + struct.pack("<Q", _core.xxh3(body))


def _short(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _bytes(data: bytes) -> bytes:
    return _short(len(data)) + data


def _numbers(numbers: list[int], kind: str) -> bytes:
    return _short(len(numbers)) + struct.pack(f"<{len(numbers)}{kind}", *numbers)


def _leader(leader: tuple[bytes, float, int] | None) -> bytes:
    if leader is None:
        return b"\x00"
    name, score, link = leader
    return b"\x01" + _bytes(name) + struct.pack("<fB", score, link)
