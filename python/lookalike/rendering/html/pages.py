"""Which pair gets which page: files of their own for the first ones, one page that opens all others.

Pages stop where their bytes reach the limit. What cannot be opened is told, with the option that changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from lookalike import params
from lookalike.comparison.result import Pair, Report
from lookalike.rendering.comparison_tables import every_pair
from lookalike.rendering.html.more_page import Job, more_page
from lookalike.rendering.html.overview_data import Ends
from lookalike.rendering.html.pair_page import PairPages
from lookalike.rendering.html.sides import MarksOf

#: The page of all pairs without a page of their own.
MORE = "pairs/more.html"
#: Takes a finished file: its name and its bytes.
Put = Callable[[str, bytes], None]


class Pages(NamedTuple):
    """The pages that were made: the address of each pair's page, how many are files, and what is missing."""

    addresses: dict[Ends, str]
    files: int
    left_out: list[str]


def make_pages(report: Report, names: Sequence[str], marks: MarksOf, top: int, most: int, put: Put) -> Pages:
    """Make the pages of all pairs: the first ``top`` as files, 0 for all; at most ``most`` bytes, 0 for any number."""
    made, pairs = PairPages(report, names, marks), every_pair(report)
    count = min(top or len(pairs), len(pairs))
    addresses = [f"pairs/{i:03}.html" for i in range(1, count + 1)]
    addresses += [f"{MORE}#{i}" for i in range(count + 1, len(pairs) + 1)]
    jobs = [
        Job(i, pair, rank, _at(addresses, i - 2), _at(addresses, i))
        for i, (pair, rank) in enumerate(zip(pairs, _ranks(report, pairs), strict=True), 1)
    ]
    files = size = 0
    for job in jobs[:count]:
        data = made.page(job.pair, job.rank, job.before, job.after).encode()
        files, size = job.number, size + len(data)
        if files == count or 0 < most <= size:
            break
        put(addresses[files - 1], data)
    if not files:
        return _pages(pairs, [], 0, most)
    is_full = 0 < most <= size
    more = more_page(report, made, marks, [] if is_full else jobs[count:], most - size if most else None)
    if more.pairs:
        put(MORE, more.html.encode())
    elif files < len(jobs):
        # The last page that fits has no link to a next one.
        data = made.page(job.pair, job.rank, job.before).encode()
    put(addresses[files - 1], data)
    return _pages(pairs, addresses[: files + more.pairs], files, most)


def _at(addresses: Sequence[str], i: int) -> str:
    return addresses[i] if 0 <= i < len(addresses) else ""


def _ranks(report: Report, pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield the place of each pair in the first list that has it, in words."""
    inside = {(pair.left, pair.right): i for i, pair in enumerate(report.contained, 1)}
    shared = {(pair.left, pair.right): i for i, pair in enumerate(report.shared, 1)}
    little = {(pair.left, pair.right): i for i, pair in enumerate(report.little, 1)}
    for i, pair in enumerate(pairs, 1):
        ends = pair.left, pair.right
        if i <= len(report.pairs):
            yield f"pair {i:,} of {report.pair_count:,}"
        elif ends in inside:
            yield f"pair {inside[ends]:,} of {report.contained_count:,} in the list of contained pairs"
        elif ends in shared:
            yield f"pair {shared[ends]:,} of {report.shared_count:,} in the list of shared passages"
        else:
            yield f"pair {little[ends]:,} of {report.little_count:,} in the list of pairs that share too little to say"


def _pages(pairs: Sequence[Pair], addresses: list[str], files: int, most: int) -> Pages:
    found = {(pair.left, pair.right): address for pair, address in zip(pairs, addresses, strict=False)}
    if len(addresses) == len(pairs):
        return Pages(found, files, [])
    said = (
        f"pair pages: the first {len(addresses):,} of {len(pairs):,} pairs can be opened, at most {most:,} bytes; "
        f"{params.MAX_SIZE.option} 0 writes all"
    )
    return Pages(found, files, [said])
