"""For tests of corpora: files of every format, a deduplication that goes by equal texts, and the way back."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from lookalike.corpora import (
    Columns,
    Corpus,
    Filtering,
    Ledger,
    LineFilter,
    Lines,
    Problem,
    Scratch,
    Sink,
    Source,
    Staging,
    Verdict,
    open_sources,
    plan,
)
from lookalike.corpora.batches import unpacked
from lookalike.corpora.ledger import Facts

Row = tuple[str | None, bytes | None]


def rows(source: Source) -> list[Row]:
    """Ids and texts of all rows; those of JSON Lines as the core will have them."""
    found: list[Row] = []
    lines = b""
    for batch in source.batches():
        if isinstance(batch, Lines):
            lines += batch.data
        elif isinstance(batch, Columns):
            ids = batch.ids or [None] * batch.rows
            found += zip(ids, unpacked(batch), strict=True)
        else:
            found += [(name, text.encode() if isinstance(text, str) else text) for name, text in batch.rows]
    return found + [_object(line) for line in lines.split(b"\n")[: None if lines and lines[-1:] != b"\n" else -1]]


def _object(line: bytes) -> Row:
    try:
        value = json.loads(line)
        text = value.get("text")
        return value.get("id"), text.encode() if isinstance(text, str) else None
    except (ValueError, AttributeError):
        return None, None


def texts(source: Source) -> list[bytes | None]:
    return [text for _, text in rows(source)]


def keep_first(corpus: Corpus) -> tuple[list[bytes], dict[tuple[int, int], tuple[int, int]]]:
    """Masks that keep the first of equal texts, and who stays in the place of whom."""
    first: dict[bytes, tuple[int, int]] = {}
    masks, survivors = [], {}
    for number, source in enumerate(corpus.sources):
        mask = bytearray()
        for row, text in enumerate(texts(source)):
            survivor = (number, row) if text is None else first.setdefault(text, (number, row))
            mask.append(survivor == (number, row))
            if not mask[-1]:
                survivors[number, row] = survivor
        masks.append(bytes(mask))
    return masks, survivors


def dedup(
    inputs: Sequence[str | Path],
    out: Path | str,
    ledger: Path | None = None,
    *,
    overwrite: bool = False,
    make: Callable[[bytes], LineFilter] = LineFilter,
    is_copied: bool = True,
    **options: str,
) -> tuple[list[Facts], list[Problem]]:
    """Take out rows whose text was there before. Return what the ledger tells, and all problems."""
    with Scratch() as scratch:
        corpus = open_sources([str(one) for one in inputs], scratch, is_copied=is_copied, **options)
        masks, survivors = keep_first(corpus)
        found = [problem for source in corpus.sources for problem in source.problems]
        with ExitStack() as stack:
            staging = stack.enter_context(Staging(overwrite=overwrite, inputs=corpus.paths))
            planned = plan(corpus, out)
            book = stack.enter_context(Ledger(scratch.path())) if ledger else None
            filtering = Filtering(
                corpus,
                Sink(planned, staging),
                ledger=book,
                verdict=lambda number, row: Verdict(
                    (*survivors[number, row], None), "resemblance", 1.0, "identical", "exact"
                ),
                make=make,
            )
            facts = filtering.write(masks)
            if book and ledger:
                path = staging.file(str(ledger))
                book.write(path, str(ledger), {"parameters": {}}, facts, is_folder=planned.is_folder)
            staging.commit()
        return facts, [*corpus.problems, *found, *filtering.problems]


def record(uri: str, body: bytes, *, type: str = "response", content_type: str = "text/html") -> bytes:
    """A record of WARC."""
    http = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n" % (content_type.encode(), len(body))
    block = http + body if type == "response" else body
    kind = "application/http; msgtype=response" if type == "response" else content_type
    head = (
        f"WARC/1.0\r\nWARC-Type: {type}\r\nWARC-Target-URI: {uri}\r\nWARC-Record-ID: <urn:uuid:{uri}>\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def page(text: str) -> bytes:
    return f"<html><body><nav>menu</nav><main><article><p>{text}</p></article></main></body></html>".encode()


def members(parts: Iterable[bytes]) -> bytes:
    """Each part a gzip stream of its own."""
    return b"".join(gzip.compress(part, mtime=0) for part in parts)


def tree(folder: Path) -> dict[str, bytes]:
    """All files below a folder, with what they hold."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
