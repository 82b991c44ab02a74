"""Tells whether the rows of a message of an Arrow stream are compressed, from its metadata alone.

Compressed buffers expand to a length that they claim, whatever the size of the message. pyarrow does not tell before it
expands them. The metadata is a FlatBuffers table; its fields are those of Arrow's ``Message.fbs``.
"""

from __future__ import annotations

import struct

#: Kinds of messages with rows, by the number of their header.
_DICTIONARY, _ROWS = 2, 3
#: Places of fields: kind and header of a message, data of a dictionary, compression of rows.
_KIND, _HEADER, _DATA, _COMPRESSION = 1, 2, 1, 3


def is_compressed(metadata: bytes) -> bool:
    """Return whether a message has compressed rows. Errors: ``ValueError`` if this is no metadata."""
    try:
        message = _at("<I", metadata, 0)
        kind_at, header_at = (_field(metadata, message, number) for number in (_KIND, _HEADER))
        kind = 0 if kind_at is None else metadata[kind_at]
        if kind not in (_DICTIONARY, _ROWS) or header_at is None:
            return False
        rows: int | None = header_at + _at("<I", metadata, header_at)
        if kind == _DICTIONARY and rows is not None:
            data_at = _field(metadata, rows, _DATA)
            rows = None if data_at is None else data_at + _at("<I", metadata, data_at)
        return rows is not None and _field(metadata, rows, _COMPRESSION) is not None
    except (struct.error, IndexError):
        raise ValueError("a message of an Arrow stream is damaged") from None


def _field(data: bytes, table: int, number: int) -> int | None:
    """Return where a field of a table is; ``None`` if it is not there."""
    places = table - _at("<i", data, table)
    entry = 4 + 2 * number
    if entry + 2 > _at("<H", data, places):
        return None
    offset = _at("<H", data, places + entry)
    return table + offset if offset else None


def _at(kind: str, data: bytes, place: int) -> int:
    if place < 0:
        raise IndexError(place)
    return int(struct.unpack_from(kind, data, place)[0])
