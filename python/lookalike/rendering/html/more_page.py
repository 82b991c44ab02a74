"""One page that opens every pair without a page of its own: texts are stored once per file, not once per pair.

Fragments of pairs and painted texts are compressed; the browser unpacks those of the pair that is asked for and marks
its passages, exactly as the pages of their own have them. Cost: linear in the pairs and in the texts of their files.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lookalike.comparison.result import Pair, Report
from lookalike.rendering.html.frame import data_block, page, title
from lookalike.rendering.html.pair_page import PairPages
from lookalike.rendering.html.panes import pane
from lookalike.rendering.html.sides import MarksOf, is_whole

#: Pairs that are compressed together: what they have in common is stored once.
CHUNK = 16
#: Speed and size of the compression: half the time of the best for five per cent more bytes.
LEVEL = 6


class Job(NamedTuple):
    """A pair for the page: its place in its list in words, and the pages to turn to."""

    number: int
    pair: Pair
    rank: str
    before: str
    after: str


class More(NamedTuple):
    """The page, and how many of the pairs are in it."""

    html: str
    pairs: int


def more_page(report: Report, pages: PairPages, marks: MarksOf, jobs: Sequence[Job], room: int | None) -> More:
    """Return the page with as many of the pairs, from the first, as fit into ``room`` bytes; ``None`` for all."""
    texts: dict[str, str] = {}
    chunks: list[str] = []
    done, size = 0, len(_shell(report, [], texts, 0).encode())
    for first in range(0, len(jobs), CHUNK):
        some = jobs[first : first + CHUNK]
        chunk, new = _chunk(pages, some), dict(_texts(report, marks, some, texts))
        size += len(chunk) + 3 + sum(len(key) + len(text) + 6 for key, text in new.items())
        if room is not None and size > room:
            # The last pair that fits has no link to a next one.
            chunks[-1:] = [_chunk(pages, _ended(jobs[first - CHUNK : first]))] if chunks else []
            break
        chunks.append(chunk)
        texts |= new
        done += len(some)
    return More(_shell(report, chunks, texts, jobs[0].number if jobs else 0), done)


def _chunk(pages: PairPages, jobs: Sequence[Job]) -> str:
    return _packed(json.dumps([pages.fragment(job.pair, job.rank, job.before, job.after) for job in jobs]))


def _ended(jobs: Sequence[Job]) -> list[Job]:
    return [*jobs[:-1], jobs[-1]._replace(after="")]


def _shell(report: Report, chunks: list[str], texts: dict[str, str], first: int) -> str:
    packed = data_block({"first": first, "chunk": CHUNK, "pairs": chunks, "texts": texts})
    return page("more", title=title(report), packed=packed)


def _texts(report: Report, marks: MarksOf, jobs: Sequence[Job], known: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the painted files of some pairs that are not yet known, by entry and file.

    Fragments have the text of long submissions themselves.
    """
    for entry in sorted({end for job in jobs for end in (job.pair.left, job.pair.right)}):
        for i, file in enumerate(report.entries[entry].files if is_whole(report.entries[entry]) else ()):
            if (key := f"{entry}.{i}") not in known:
                yield key, _packed(pane(file.text, marks(entry, i), []))


def _packed(text: str) -> str:
    return b64encode(zlib.compress(text.encode(), LEVEL)).decode()
