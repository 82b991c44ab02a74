"""The CSV writer of the package. A cell that a spreadsheet would run as a formula gets a leading apostrophe.

CSV is RFC 4180 in UTF-8. Names come from untrusted sources: submitters, crawled pages, rows of a corpus.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import Any, TextIO

from lookalike import params
from lookalike.rendering.safe import visible

#: Numbers begin like a formula but are harmless.
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
#: What a text that must be guarded begins with. Looking here first saves a call for nearly every cell.
_SUSPECT = frozenset(("'", *params.FORMULA))


def guarded(text: str) -> str:
    """Return a text that no spreadsheet runs as a formula; plain numbers do not change.

    A text that begins with apostrophes before a formula gets one more, so that a reader knows which one to take away.
    """
    bare = text.lstrip("'")
    is_formula = bare.startswith(params.FORMULA) and not _NUMBER.fullmatch(bare)
    return "'" + text if is_formula else text


def cell(text: str) -> str:
    """Return a name as a finished CSV cell: guarded, visible, and quoted if necessary."""
    shown = visible(guarded(text))
    return '"' + shown.replace('"', '""') + '"' if any(c in shown for c in ',"') else shown


def rows(header: str, lines: Iterable[str]) -> str:
    """Return a CSV file of finished lines."""
    return "\r\n".join([header, *lines, ""])


def write_rows(file: TextIO, values: Iterable[Iterable[Any]]) -> None:
    """Write rows to a file opened with ``newline=""``; every text is guarded."""
    csv.writer(file).writerows(
        [guarded(one) if isinstance(one, str) and one[:1] in _SUSPECT else one for one in row] for row in values
    )
