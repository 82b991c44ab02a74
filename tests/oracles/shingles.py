"""The distinct shingles of a document: what resemblance and containment are made of (Broder 1997, §2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import lookalike as la

Shingle = tuple[object, ...]


def tokens_of(document: str | la.Tokens, unit: str = "word") -> Sequence[object]:
    """Return the tokens of a document."""
    return list(document.values) if isinstance(document, la.Tokens) else list(la.stream(document, unit=unit).tokens)


def shingles(
    document: str | la.Tokens, width: int = 5, unit: str = "word", *, labelled: bool = False
) -> frozenset[Shingle]:
    """Return the runs of ``width`` tokens; with ``labelled`` a run that comes again is another one."""
    tokens = tokens_of(document, unit)
    runs = [tuple(tokens[start : start + width]) for start in range(len(tokens) - width + 1)]
    if not labelled:
        return frozenset(runs)
    seen: Counter[Shingle] = Counter()
    made = set()
    for run in runs:
        seen[run] += 1
        made.add((*run, seen[run]))
    return frozenset(made)


def containment(part: frozenset[Shingle], whole: frozenset[Shingle]) -> float:
    """Return the share of ``part`` that is in ``whole``. REQUIRES: it is not empty."""
    return len(part & whole) / len(part)
