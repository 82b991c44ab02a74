"""Decontamination: which rows contain a row of ``against``, or are contained in one. Exact, without a filter.

The core looks up every shingle of a row while it reads it (``crates/dedup/src/references.rs``); this module holds what
it found. A row *contains* a reference if the share of the reference's distinct shingles that it has reaches the
threshold; it is *contained* in one if the share of its own that this reference has reaches it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from lookalike import _core, params
from lookalike.deduplication.settings import Settings
from lookalike.documents.reasons import in_bytes
from lookalike.errors import ParameterError

#: Stands for any number of pairs.
_ALL = 2**63


class Contained(NamedTuple):
    """A reference and a row, and how much of each is in the other."""

    reference: int
    row: int
    #: The share of the reference's distinct shingles that the row has.
    contains: float
    #: The share of the row's distinct shingles that the reference has.
    contained: float
    #: Which of the two reach the threshold and were asked for: ``contains``, ``contained`` or ``both``.
    side: str
    is_identical: bool

    @property
    def score(self) -> float:
        """The larger of the shares that reach the threshold and were asked for."""
        return {"contains": self.contains, "contained": self.contained}.get(self.side, max(self[2:4]))


@dataclass(frozen=True)
class Matches:
    """Pairs of references and rows, as columns of the core."""

    references: Sequence[int]
    rows: Sequence[int]
    common: Sequence[int]
    reference_sizes: Sequence[int]
    row_sizes: Sequence[int]
    identical: bytes

    def __len__(self) -> int:
        return len(self.identical)


@dataclass(frozen=True)
class Contamination:
    """What was found of the references, and how.

    >>> import lookalike as la
    >>> question = "who left a green bicycle in front of the bakery"
    >>> found = la.dedup([f"Somebody asked: {question}? Nobody knew."], against=[question], method="containment")
    >>> found.contamination.of_row(1).side, found.contamination.found
    ('contains', 1)
    """

    settings: Settings
    #: References with a text, and how many of them were found in a row.
    references: int
    found: int
    #: Pairs beyond those that are listed, and pairs whose shingles were counted.
    unlisted: int
    counted: int
    _best: Matches
    _pairs: Matches

    def _at(self, matches: Matches, place: int) -> Contained:
        common, sizes = matches.common[place], (matches.reference_sizes[place], matches.row_sizes[place])
        contains, contained = (common / size if size else 1.0 for size in sizes)
        sides = zip(("contains", "contained"), (contains, contained), self.settings.sought, strict=True)
        reached = [name for name, share, is_sought in sides if is_sought and share >= self.settings.threshold]
        side = "both" if len(reached) == 2 else reached[0]
        is_identical = bool(matches.identical[place])
        return Contained(matches.references[place], matches.rows[place], contains, contained, side, is_identical)

    def of_row(self, row: int) -> Contained | None:
        """Return the reference for which a row is removed; ``None`` for a row that is kept."""
        place = bisect_left(self._best.rows, row)
        is_there = place < len(self._best) and self._best.rows[place] == row
        return self._at(self._best, place) if is_there else None

    def of_pair(self, reference: int, row: int) -> Contained | None:
        """Return a listed pair, or ``None``."""
        start, end = (bisect_left(self._pairs.references, one) for one in (reference, reference + 1))
        place = bisect_left(self._pairs.rows, row, start, end)
        is_there = place < end and self._pairs.rows[place] == row
        return self._at(self._pairs, place) if is_there else None

    def score(self, reference: int, row: int) -> float | None:
        """Return the score of a pair that was found, or ``None``."""
        found = self.of_pair(reference, row)
        if found is None and (best := self.of_row(row)) is not None and best.reference == reference:
            found = best
        return None if found is None else found.score

    def pairs(self) -> Iterator[Contained]:
        """Yield every listed pair, by reference and row."""
        return (self._at(self._pairs, place) for place in range(len(self._pairs)))

    @property
    def listed(self) -> int:
        """Number of pairs that are listed."""
        return len(self._pairs)

    @property
    def repeated(self) -> int:
        """References found that have the text of an earlier one, which stands for them in the pairs.

        0 where not all pairs are listed, because it is not known then.
        """
        return 0 if self.unlisted else self.found - len(set(self._pairs.references))

    @cached_property
    def sides(self) -> Counter[str]:
        """Removed rows by side."""
        return Counter(self._at(self._best, place).side for place in range(len(self._best)))

    def to_json(self) -> dict[str, Any]:
        """Return the counts as values that JSON can hold."""
        sides = {name: self.sides[name] for name in ("contains", "contained", "both")}
        return {"references": self.references, "found": self.found, "rows": len(self._best), **sides} | {
            "unlisted_pairs": self.unlisted
        }


@dataclass(frozen=True)
class ListedPairs:
    """The pairs of a contamination, in place of a stream of the core. Its length is the number of all pairs."""

    contamination: Contamination
    #: Rows of the corpus, references among them.
    count: int

    def __len__(self) -> int:
        return self.contamination.listed + self.contamination.unlisted

    def rows(self) -> bytes:
        """Return a byte for each row: 1 if it is in a listed pair."""
        mask = bytearray(self.count)
        for pair in self.contamination.pairs():
            mask[pair.reference] = mask[pair.row] = 1
        return bytes(mask)


def is_sought(asked: Settings, against: Any) -> bool:
    """Tell whether references are looked up in rows. Errors: ``ParameterError`` for what has no effect then."""
    if against is None or asked.method != "containment":
        if asked.contains or asked.contained:
            name = "contains" if asked.contains else "contained"
            raise ParameterError(f"{name} asks for rows of `against` with method `containment`: give both")
        return False
    for name in params.UNUSED_BY_LOOKUP:
        if getattr(asked, name) != params.DEDUPLICATION[name].default:
            raise ParameterError(
                f"{name} has no effect with `against` and method `containment`, where every shingle is counted: "
                "leave it out"
            )
    return True


def seal(core: _core.Corpus, asked: Settings) -> None:
    """Make references of all rows so far. Errors: ``ParameterError`` if they do not fit into the memory."""
    allowed = asked.memory // 2
    needed = core.seal(*asked.sought, asked.threshold, allowed, asked.max_pairs or _ALL)
    if needed is not None:
        raise ParameterError(
            f"memory `{in_bytes(asked.memory)}` is too little for the references: their shingles need "
            f"{in_bytes(needed)}, and half of the memory is theirs; use memory of {in_bytes(2 * needed)} or more, "
            "or divide them"
        )


def decided(core: _core.Corpus, asked: Settings) -> tuple[_core.Outcome, Contamination]:
    """Return what was found. REQUIRES: ``seal`` was called before the rows were read."""
    made = core.contaminated()
    assert made is not None
    outcome, ((references, found), (unlisted, counted), best, pairs) = made
    return outcome, Contamination(asked, references, found, unlisted, counted, _matches(best), _matches(pairs))


def _matches(columns: tuple[Any, ...]) -> Matches:
    return Matches(*columns)
