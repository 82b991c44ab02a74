"""Writes the documents of an index as JSON Lines: id, metadata and readable texts, in the order of arrival."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from typing import IO, Any

from lookalike._types import Progress, text_of
from lookalike.archive.view import Entry, View, entry
from lookalike.corpora import Staging
from lookalike.engines.writing import writing

EXPORTING = "exporting documents"
#: Documents between two reports of progress.
_STEP = 1000


def export(view: View, path: str, *, overwrite: bool, progress: Progress) -> int:
    """Write all documents to a file, which appears whole or not at all; return how many. Errors: ``OSError``."""
    done = 0
    with writing(path), Staging(overwrite=overwrite) as staging:
        with _open(staging.file(path), path) as file:
            for shown in lines(view):
                file.write(json.dumps(shown, ensure_ascii=True).encode() + b"\n")
                done += 1
                if done % _STEP == 0:
                    progress(EXPORTING, done, len(view))
        staging.commit()
    return done


def _open(place: str, path: str) -> IO[bytes]:
    if path.lower().endswith(".gz"):
        # No time in the header: the same documents give the same bytes.
        return gzip.GzipFile(place, "wb", mtime=0)  # type: ignore[return-value]
    return open(place, "wb")


def lines(view: View) -> Iterator[dict[str, Any]]:
    """Yield the documents as values that JSON can hold, without rows that dedup removed."""
    for number, row in view.rows():
        yield shown(entry(row, view.parameters), view.core.texts(number))


def shown(one: Entry, texts: Sequence[tuple[bytes, str]]) -> dict[str, Any]:
    """Return a document with its text; of several files: their names and texts."""
    if len(texts) == 1:
        return {**one.to_json(), "text": texts[0][1]}
    named = {text_of(name): text for name, text in texts}
    return {**one.to_json(), "texts": named} if named else one.to_json()
