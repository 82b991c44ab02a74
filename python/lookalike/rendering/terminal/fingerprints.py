"""The fingerprints of a document: a table at the terminal, or JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text as Line

from lookalike._types import counted
from lookalike.rendering.safe import visible
from lookalike.tokens import Tokens

if TYPE_CHECKING:
    from lookalike.fingerprints import Fingerprints
    from lookalike.frontends import Extract

#: Fingerprints turned into JSON at a time, to limit the number of Python objects.
PIECE = 10_000


def excerpt(found: Fingerprints, start: int, end: int, most: int = 60) -> str:
    """Return the slice of the document between two offsets, on one line."""
    whole = found.text
    if isinstance(whole, Tokens):
        whole = whole.laid_out()[0]
    slice_ = whole[start:end]
    text = slice_ if isinstance(slice_, str) else _decoded(bytes(slice_), found.reading.encoding)
    line = visible(" ".join(text.split()))
    return line if len(line) <= most else line[: most - 1] + "…"


def _decoded(data: bytes, encoding: str) -> str:
    """Decode a slice to show it. Python has no codec for a few encodings of the core."""
    try:
        return data.decode(encoding, "replace")
    except LookupError:
        return data.decode("latin-1")


def fingerprints_table(found: Fingerprints, name: str, top: int, readable: Extract) -> None:
    """Print the facts of a document and the first of its fingerprints."""
    console = Console(highlight=False)
    extracted = [f"readable text of {readable.format}; spans count its characters"] if readable.format else []
    for fact in (*facts(found, name), *extracted, *(f"note: {visible(note)}" for note in readable.notes)):
        console.print(Line(fact), soft_wrap=True)
    shown = len(found) if top == 0 else min(top, len(found))
    if not shown:
        return
    table = Table("fingerprint", "position", "span", "k-gram", box=None, header_style="bold")
    for i in range(shown):
        start, end = found.spans[i]
        text = Line(excerpt(found, start, end))
        table.add_row(f"{found.hashes[i]:016x}", str(found.positions[i]), f"{start}–{end}", text)
    console.print(table)
    if shown < len(found):
        console.print(f"… {len(found) - shown:,} more; -n 0 shows all, --json prints all as JSON")


def facts(found: Fingerprints, name: str) -> list[str]:
    """Return lines about the document, the selection and its guarantee."""
    s = found.selection
    lines = [
        f"{visible(name)}: {counted(found.tokens, s.unit)}, {counted(found.kgrams, 'k-gram')}, "
        + counted(len(found), "fingerprint")
        + (f" (density {found.density:.5f})" if found.density is not None else ""),
        f"scheme {s.scheme}, k = {s.k}, t = {s.t}, windows of {s.window}; read as {found.reading}",
        f"guarantee: {s.promise}",
    ]
    if found.is_too_short:
        lines.append(
            f"too short to compare: fewer than k = {counted(s.k, s.unit)}; only an identical document is recognised"
        )
    return lines


def fingerprints_json(found: Fingerprints, name: str, readable: Extract) -> Iterator[str]:
    """Yield one JSON document in pieces."""
    head = {
        "document": name,
        "parameters": asdict(found.selection) | {"window": found.selection.window},
        "reading": found.reading._asdict() | {"format": readable.format, "notes": list(readable.notes)},
        "tokens": found.tokens,
        "kgrams": found.kgrams,
        "density": found.density,
        "too_short": found.is_too_short,
        "promise": found.selection.promise,
    }
    yield json.dumps(head, ensure_ascii=True, indent=1)[:-2] + ',\n "fingerprints": [\n'
    for start in range(0, len(found), PIECE):
        columns = (column[start : start + PIECE] for column in (found.hashes, found.positions, found.spans))
        rows = [
            json.dumps({"hash": f"{hash_:016x}", "position": position, "start": span[0], "end": span[1]})
            for hash_, position, span in zip(*columns, strict=True)
        ]
        yield (",\n  " if start else "  ") + ",\n  ".join(rows)
    yield "\n ]\n}\n"
