"""Numbers that are written as text, as tables without types have them: one rule for every container.

A number is a decimal one, with or without a sign, a point and an exponent, between blanks of ASCII. Names such as `inf`
and `nan` are none, nor are digits with underscores. JSON Lines are read by the core (`crates/dedup/src/record.rs`), by
the same rule.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_DECIMAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_BLANKS = " \t\n\v\f\r"
_NUMBER = re.compile(_DECIMAL.encode())


def number_in(text: str | bytes) -> float:
    """Return the number a text is; NaN if it is none.

    >>> number_in(" -1.5e3 "), number_in(b"7"), number_in("inf"), number_in("1_000")
    (-1500.0, 7.0, nan, nan)
    """
    encoded = text.encode(errors="replace") if isinstance(text, str) else text
    bare = encoded.strip(_BLANKS.encode())
    return float(bare) if _NUMBER.match(bare) else math.nan


def numbers_in(texts: pa.Array) -> pa.Array:
    """Return the numbers some texts are; null where a text is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.ascii_trim(texts, characters=_BLANKS)
    is_number = pc.match_substring_regex(trimmed, _DECIMAL)
    return pc.if_else(is_number, trimmed, pa.scalar(None, trimmed.type)).cast(pa.float64())
