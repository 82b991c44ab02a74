"""How unusual tokens are: their surprise under a model of the tokens of the new submissions, one for each language.

A token has up to two tokens before it in its part as context. Probabilities are mixed from the shortest context on:
p0 = 1 / V, then (c(hw) + 2 p) / (c(h) + 2). What no new submission has counts 0. What is starter code, or shared by too
many, has no bits.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from oracles.compare.entries import Entry, Part


def surprise(share: float) -> int:
    """Return thousandths of a bit, at most 65,535."""
    return min(math.floor(-math.log2(share) * 1000 + 0.5), 65_535)


def runs(entry: Entry, part: Part, at: int) -> list[tuple[object, ...]]:
    """Return the token with no token before it, with one, with two, as far as its part goes."""
    return [tuple(entry.tokens[at - n : at + 1]) for n in range(3) if at - n >= part.start]


def measure(entries: Sequence[Entry]) -> None:
    """Set the surprise of all tokens and literals. REQUIRES: they have their weights."""
    counts: dict[str, Counter[tuple[object, ...]]] = defaultdict(Counter)
    contexts: dict[str, Counter[tuple[object, ...]]] = defaultdict(Counter)
    everything = [(entry, part, at) for entry in entries for part in entry.parts for at in range(part.start, part.end)]
    for entry, part, at in everything:
        for run in runs(entry, part, at) if not entry.old else ():
            counts[part.language][run] += 1
            contexts[part.language][run[:-1]] += 1
    for entry in entries:
        entry.bits = [0] * len(entry.tokens)
    distinct = {language: sum(len(run) == 1 for run in found) for language, found in counts.items()}
    for entry, part, at in everything:
        share = 1 / max(distinct.get(part.language, 0), 1)
        for run in runs(entry, part, at):
            share = (counts[part.language][run] + 2.0 * share) / (contexts[part.language][run[:-1]] + 2.0)
        entry.bits[at] = surprise(share) if entry.weights[at] else 0
    measure_literals(entries)


def measure_literals(entries: Sequence[Entry]) -> None:
    """Set the surprise of literals: each word has that of the literal among those of new persons, without context."""
    persons = {(key, entry.person) for entry in entries if not entry.old for key in entry.literals}
    holders = Counter(key for key, _ in persons)
    for entry in entries:
        for key, (_, words) in entry.literals.items():
            share = (holders[key] + 2.0 / max(len(holders), 1)) / (len(persons) + 2.0)
            entry.literal_bits[key] = words * surprise(share)
