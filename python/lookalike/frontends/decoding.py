"""Decodes bytes for front ends that need characters before the core does, by a short form of the core's rules.

A byte-order mark decides. Valid UTF-8 is UTF-8. UTF-16 without a mark is recognised by the places of its NULs. Damaged
UTF-8 gets U+FFFD for unreadable bytes. The rest is windows-1252, the likeliest legacy encoding, noted as a guess.
"""

from __future__ import annotations

import codecs

#: Longer marks first, because the mark of UTF-32 begins with that of UTF-16.
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ANY_MARK = tuple(mark for mark, _ in MARKS)
#: Bytes examined to tell texts from binary files.
SAMPLE_BYTES = 1 << 16
#: More than one control character in this many bytes means binary, as in the core.
CONTROLS_ONE_IN = 10
#: C0 control characters except backspace, white space and escape.
_CONTROLS = bytes(set(range(0x20)) - {0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x1B})
#: A legacy text has no more well-formed sequences of several bytes than this for each stray byte.
_SEQUENCES_PER_STRAY = 2


def marked(data: bytes) -> str | None:
    """Return the encoding that a byte-order mark names."""
    if not data.startswith(_ANY_MARK):
        return None
    return next((encoding for mark, encoding in MARKS if data.startswith(mark)), None)


def utf16_without_mark(data: bytes) -> str | None:
    """Return the byte order of UTF-16 without a mark: of a mostly Latin text, every second byte is NUL."""
    if b"\0" not in data[:SAMPLE_BYTES]:
        return None
    sample = data[: SAMPLE_BYTES & ~1]
    half = len(sample) // 2
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if half and odd * 2 > half and even * 8 < odd:
        return "utf-16-le"
    if half and even * 2 > half and odd * 8 < even:
        return "utf-16-be"
    return None


def is_binary(data: bytes) -> bool:
    """Whether the beginning has too many control characters for a text in any known encoding."""
    if marked(data) or utf16_without_mark(data):
        return False
    sample = data[:SAMPLE_BYTES]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return controls * CONTROLS_ONE_IN > len(sample)


def decode(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the text, without a byte-order mark, and remarks on it. REQUIRES: not binary."""
    encoding = marked(data) or utf16_without_mark(data)
    if encoding is None:
        return _unmarked(data)
    text = data.decode(encoding, "replace").removeprefix("\ufeff")
    return text, _replaced(encoding, text, data.decode(encoding, "ignore"))


def sample(data: bytes) -> str:
    """Return the beginning of a document as text."""
    head = data[:SAMPLE_BYTES]
    encoding = marked(head) or utf16_without_mark(head) or "utf-8"
    return head.decode(encoding, "replace").removeprefix("\ufeff")


def _unmarked(data: bytes) -> tuple[str, tuple[str, ...]]:
    try:
        return data.decode(), ()
    except UnicodeDecodeError:
        pass
    mended, kept = data.decode("utf-8", "replace"), data.decode("utf-8", "ignore")
    strays = len(mended) - len(kept)
    sequences = sum(character >= "\x80" for character in kept)
    if sequences >= _SEQUENCES_PER_STRAY * strays:
        return mended, _replaced("utf-8", mended, kept)
    text = data.decode("windows-1252", "replace")
    return text, ("encoding: windows-1252 (guessed)",)


def _replaced(encoding: str, mended: str, kept: str) -> tuple[str, ...]:
    number = mended.count("\ufffd") - kept.count("\ufffd")
    return (f"encoding: {encoding} ({number:,} replaced)",) if number else ()
