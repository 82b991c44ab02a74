"""Pairs of near fingerprints by comparing all with all: what `near`, tables and batches have to answer.

A row is an id and a fingerprint. Cost: one comparison for every two rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

#: An id, and a fingerprint of 64 bits.
Row = tuple[Any, int]
#: Two ids, and the number of bits in which their fingerprints differ.
Pair = tuple[Any, Any, int]


def distance(left: int, right: int) -> int:
    """Count the bits in which two fingerprints differ, one after the other."""
    return sum((left >> bit & 1) != (right >> bit & 1) for bit in range(64))


#: A length and a language of each id.
Traits = dict[Any, tuple[int, str]]


def limited(pairs: Iterable[Pair], traits: Traits, share: float | None, same_language: bool) -> list[Pair]:
    """The pairs whose lengths differ by at most this share of the longer one, and whose known languages are equal."""
    found = []
    for left, right, bits in pairs:
        (length, language), (other, spoken) = traits[left], traits[right]
        if share is not None and abs(length - other) > share * max(length, other):
            continue
        if same_language and (not language or language != spoken):
            continue
        found.append((left, right, bits))
    return found


def near(queries: Sequence[Row], stored: Sequence[Row], most: int) -> list[Pair]:
    """All pairs of a query and a stored row within a distance, by the places of both."""
    return [
        (name, other, bits)
        for name, value in queries
        for other, print_ in stored
        if (bits := distance(value, print_)) <= most
    ]


def join(rows: Sequence[Row], most: int) -> list[Pair]:
    """All pairs of two rows of a file within a distance, the earlier row first."""
    return [pair for place, row in enumerate(rows) for pair in near([row], rows[place + 1 :], most)]


def changed(rows: Iterable[Row], removed: Iterable[Row], inserted: Iterable[Row]) -> list[Row]:
    """The rows of a table after some were removed and others inserted: a set."""
    return sorted((set(rows) - set(removed)) | set(inserted))


def join_table(rows: Iterable[Row], most: int) -> list[Pair]:
    """All pairs of a row of a table and a higher id, by ids and distance.

    A higher id that has several fingerprints at one distance of the row is told once.
    """
    rows = sorted(set(rows))
    found = []
    for name, value in rows:
        others = {(other, distance(value, print_)) for other, print_ in rows if other > name}
        found += [(name, other, bits) for other, bits in others if bits <= most]
    return sorted(found)


def groups(rows: Iterable[Row]) -> list[list[Any]]:
    """The ids of rows with one fingerprint, where there are several."""
    by_print: dict[int, list[Any]] = defaultdict(list)
    for name, value in rows:
        by_print[value].append(name)
    return sorted(names for names in by_print.values() if len(names) > 1)
