"""The one CSV writer. A cell that a spreadsheet would calculate as a formula gets a leading apostrophe.

CSV is RFC 4180 in UTF-8. Names come from strangers: submitters, crawled pages, rows of a corpus.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import Any, TextIO

from lookalike import params
from lookalike.rendering.safe import visible

#: Begins like a formula and is none.
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def guarded(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula; plain numbers stay as they are."""
    is_formula = text.startswith(params.FORMULA) and not _NUMBER.fullmatch(text)
    return "'" + text if is_formula else text


def cell(text: str) -> str:
    """Return a name as a finished CSV cell: guarded, visible, quoted where it must be."""
    shown = visible(guarded(text))
    return '"' + shown.replace('"', '""') + '"' if any(c in shown for c in ',"') else shown


def rows(header: str, lines: Iterable[str]) -> str:
    """Return a CSV file of finished lines."""
    return "\r\n".join([header, *lines, ""])


def write_rows(file: TextIO, values: Iterable[Iterable[Any]]) -> None:
    """Write rows to a file opened with ``newline=""``; every text is guarded."""
    csv.writer(file).writerows([guarded(one) if isinstance(one, str) else one for one in row] for row in values)
