"""Answers of an index as tables for people, and JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text as Line

from lookalike._types import counted
from lookalike.rendering.safe import visible

if TYPE_CHECKING:
    from lookalike.archive.answers import Answer, Match, Queried, Seen, Stretch

#: Headings of the measures of each question.
COLUMNS = {
    "identical": (),
    "passages": ("fingerprints", "tokens", "lines"),
    "resemblance": ("resemblance",),
    "containment": ("of this in it", "of it in this"),
    "distance": ("bits",),
}
#: Passages of a document that a table shows.
_SHOWN = 3
#: Metadata that says where a document comes from, in this order.
_WHERE = ("label", "person", "source", "line")


def as_json(found: Queried) -> str:
    """Return all answers as one JSON document."""
    return json.dumps(found.to_json(), ensure_ascii=False, indent=1)


def seen_json(found: Seen) -> str:
    """Return a verdict as one JSON document."""
    return json.dumps(found.to_json(), ensure_ascii=False, indent=1)


def print_answers(found: Queried, out: Path | None = None, *, quiet: bool = False) -> None:
    """Print a table for each question, and what it is worth; ``quiet`` leaves out certificates and notes."""
    console = Console(highlight=False)
    for line in facts(found):
        console.print(Line(line), soft_wrap=True)
    for answer in found.answers:
        console.print()
        console.print(Line(heading(answer), style="bold"), soft_wrap=True)
        if answer.matches:
            console.print(_table(answer))
        for line in common(answer):
            console.print(Line(f"  {line}"), soft_wrap=True)
        if not quiet:
            console.print(Line(f"  {answer.certificate}", style="dim"), soft_wrap=True)
    for note in () if quiet else found.notes:
        console.print(Line(f"note: {visible(note)}"), soft_wrap=True)
    if out is not None:
        console.print(Line(f"report: {visible(str(out))}"), soft_wrap=True)


def facts(found: Queried) -> list[str]:
    """Return a line about the document and the index."""
    size = f"{counted(found.tokens, 'token')}, {counted(found.shingles, 'distinct shingle')}"
    return [f"{visible(found.name)} ({size}) against {asked_of(found)} of {visible(found.index)}"]


def asked_of(found: Queried) -> str:
    """Return the number of documents that were asked, and that of all where conditions leave some out."""
    documents = counted(found.documents, "document")
    return f"{found.documents_asked:,} of {documents}" if found.documents_asked < found.documents else documents


def heading(answer: Answer) -> str:
    """Return a question with the number of documents that answer it."""
    if not answer.documents:
        return f"{answer.question}: no document"
    found = f"{answer.question}: {counted(answer.documents, 'document')}"
    if answer.distinct < answer.documents:
        found += f" with {counted(answer.distinct, 'text')}"
    listed = len(answer.matches)
    if answer.question == "passages" and listed < answer.distinct:
        shown = f"the first {listed:,} with passages listed" if listed else "none with a passage"
        return f"{found} with fingerprints of it, {shown}"
    return f"{found}, the nearest {listed:,} listed" if listed < answer.distinct else found


def _table(answer: Answer) -> Table:
    table = Table("document", "where", "copies", *COLUMNS[answer.question], box=None, header_style="bold")
    for match in answer.matches:
        table.add_row(Line(visible(match.title)), Line(origin(match)), f"{match.copies:,}", *measures(match))
    return table


def measures(match: Match) -> list[str]:
    """Return the measures of a match as cells."""
    if match.fingerprints is not None:
        runs = sorted(match.passages, key=lambda one: -one.tokens)
        shown = [f"{_lines(one.asked)} = {_lines(one.stored)}" for one in runs[:_SHOWN]]
        more = [f"and {len(runs) - _SHOWN:,} more"] if len(runs) > _SHOWN else []
        return [f"{match.fingerprints:,}", f"{sum(one.tokens for one in runs):,}", ", ".join([*shown, *more])]
    scores = [score for score in (match.resemblance, match.inside, match.holds) if score is not None]
    return [str(score) for score in scores] if match.distance is None else [f"{match.distance}"]


def _lines(place: Stretch) -> str:
    """Return the lines of a passage."""
    first, last = place.start_line, place.end_line
    return f"{first:,}" if first == last else f"{first:,}–{last:,}"


def common(answer: Answer) -> list[str]:
    """Return a line for each part of the document that very many have."""
    return [f"lines {_lines(one.asked)} are in {counted(one.documents, 'document')}" for one in answer.common]


def origin(match: Match) -> str:
    """Return where a document comes from: label, person, source and line, as far as they are known."""
    known = {key: str(value) for key in _WHERE if (value := match.meta.get(key)) is not None}
    told = [match.id] if match.title != match.id else []
    # Ids begin with the label where they were added with one.
    said = (*told, match.title, match.id.partition("/")[0])
    told += [value for key in ("label", "person") if (value := known.get(key)) and value not in said]
    if "source" in known:
        told.append(f"{known['source']}:{known['line']}" if "line" in known else known["source"])
    return visible(", ".join(told))


def verdict(found: Seen, *, quiet: bool = False) -> str:
    """Return yes or no, and the nearest document."""
    return "\n".join([("yes" if found.is_seen else "no"), *(() if quiet else _nearest(found))])


def _nearest(found: Seen) -> Iterator[str]:
    if found.nearest is None:
        yield "nearest: no document is like it as a whole; `query` also finds one that contains it"
    else:
        how = "identical" if found.is_identical else f"resemblance {found.nearest.resemblance}"
        copies = f", {counted(found.nearest.copies, 'copy', 'copies')}" if found.nearest.copies > 1 else ""
        where = origin(found.nearest)
        yield f"nearest: {visible(found.nearest.title)}{f' ({where})' if where else ''}, {how}{copies}"
    yield f"  {found.certificate}"
    yield from (f"note: {visible(one)}" for one in found.notes)
