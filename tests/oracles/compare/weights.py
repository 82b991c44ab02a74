"""How much each token weighs: nothing in templates and in what too many share, else by rarity in the cohort."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from oracles.compare.entries import UNIT, Entry, grams

FLOOR = 0.02


def weight(holders: int, persons: int) -> int:
    """Weight of what so many of all persons have."""
    if persons <= 2:
        return UNIT
    share = math.log((persons + 1) / min(max(holders, 2), persons)) / math.log((persons + 1) / 2)
    return math.floor(min(max(share, FLOOR), 1.0) * UNIT + 0.5)


def weigh(entries: Sequence[Entry], templates: Sequence[Entry], max_sharing: int | None) -> int:
    """Set the weights of all submissions; return the number of persons."""
    # An old submission of which nothing could be read does not count.
    persons = len({entry.person for entry in entries if entry.files or not entry.old})
    keys, words = defaultdict(set), defaultdict(set)
    for entry in entries:
        for key, _ in entry.picks:
            keys[key].add(entry.person)
        for key in entry.literals:
            words[key].add(entry.person)
    whole = [(file, part) for file in templates for part in file.parts]
    runs = {gram for file, part in whole for _, gram in grams(file, part, part.t)}
    exact = {gram for file, part in whole for _, gram in grams(file, part, part.k, exact=True)}
    given = {key for file in templates for key in file.literals}
    for entry in entries:
        entry.holders = [len(keys[key]) for key, _ in entry.picks]
        rarity = rarities(entry)
        entry.rarity = [rarity.get(at, 1) for at in range(len(entry.tokens))]
        for part in entry.parts:
            own = set(range(part.start, part.end))
            own -= {at + i for at, gram in grams(entry, part, part.t) if gram in runs for i in range(part.t)}
            own -= {
                at + i for at, gram in grams(entry, part, part.k, exact=True) if gram in exact for i in range(part.k)
            }
            entry.weights += [0] * (part.start - len(entry.weights))
            for at in range(part.start, part.end):
                common = max_sharing is not None and rarity[at] > max_sharing
                heavy = at in own and not common
                entry.weights.append(max(1, weight(rarity[at], persons) * part.worth // UNIT) if heavy else 0)
        for key, (_, count) in entry.literals.items():
            holders = entry.literal_holders[key] = len(words[key])
            shared = max_sharing is not None and holders > max_sharing
            entry.literal_weights[key] = 0 if key in given or shared else count * weight(holders, persons)
    return persons


def rarities(entry: Entry) -> dict[int, int]:
    """Persons that hold the rarest shared pick over each token; without one, as many as for the token before."""
    found = {}
    for part in entry.parts:
        inside = [(at, n) for (_, at), n in zip(entry.picks, entry.holders, strict=True) if part.start <= at < part.end]
        over = defaultdict(list)
        for at, n in inside:
            for token in range(at, at + part.k):
                over[token].append(n)
        last = inside[0][1] if inside else 1
        for token in range(part.start, part.end):
            last = min((n for n in over[token] if n > 1), default=1) if token in over else last
            found[token] = last
    return found
