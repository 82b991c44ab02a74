"""What `dedup --index --add` is defined to answer, computed the slow way: rows are decided one by one, day after day.

The state is what an archive keeps: every distinct text so far, in order of arrival, with its keys (or fingerprint) and
with the text that leads it. A row that was removed stays in the lists of holders: it takes a place there, though it
never leads. This is another statement of the star of `oracles.dedup` with `--keep first`: there all pairs are listed
first, here a row knows only rows before it. So a day cannot change an earlier one, and days may be cut anywhere.

Cost: for every row and key, the first and the last holders of the key.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from oracles.blank import is_blank
from oracles.dedup import FIRST, LAST, Asked, Corpus


@dataclass(frozen=True)
class Verdict:
    """What became of a row: the row kept for it, through all days; the exact score against it; what was measured."""

    survivor: int
    score: float
    link: str


@dataclass
class Archive:
    """Texts of all days so far. Asked for star clustering; `is_near` is false for the method `exact`."""

    asked: Asked
    is_near: bool = True
    texts: list[str | None] = field(default_factory=list)
    #: By text, what became of the first row that has it.
    known: dict[str, Verdict] = field(default_factory=dict)
    #: By key or fingerprint, the documents that hold it, in order of arrival: leaders and removed ones.
    holders: dict[Hashable, list[int]] = field(default_factory=lambda: defaultdict(list))
    leaders: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        # The list grows, and what is known of a row is computed when it is asked for.
        self.corpus = Corpus(self.texts, self.asked)

    def day(self, texts: Sequence[str | None]) -> list[Verdict]:
        """Decide the rows of a day, and keep them."""
        return [self._row(text) for text in texts]

    def _row(self, text: str | None) -> Verdict:
        row = len(self.texts)
        self.texts.append(text)
        if text is None or is_blank(text):
            return Verdict(row, 1.0, "survives")
        if (first := self.known.get(text)) is not None:
            # The first row with this text leads, or it was removed: then both follow the same row for the same reason.
            return Verdict(first.survivor, first.score, "identical" if first.link == "survives" else first.link)
        self.known[text] = verdict = self._new(row)
        return verdict

    def _new(self, row: int) -> Verdict:
        if not self.is_near or not self.corpus.is_compared(row):
            return Verdict(row, 1.0, "survives")
        own = [other for other in sorted(self._proposed(row)) if other in self.leaders and self._is_edge(other, row)]
        for key in self._keys(row):
            self.holders[key].append(row)
        if not own:
            self.leaders.add(row)
            return Verdict(row, 1.0, "survives")
        best = max(own, key=lambda other: self.corpus.estimate(other, row))
        return Verdict(best, float(self.corpus.score(best, row)), "exact" if self.asked.is_verified else "distance")

    def _is_edge(self, left: int, right: int) -> bool:
        return self.corpus.is_edge(left, right)

    def _keys(self, row: int) -> Iterable[Hashable]:
        return [self.corpus.print(row)] if self.asked.distance is not None else self.corpus.keys(row)

    def _proposed(self, row: int) -> set[int]:
        """Return the earlier documents that are compared with a row."""
        if self.asked.distance is None:
            lists = [self.holders[key] for key in set(self._keys(row)) if key in self.holders]
        else:
            print_ = self.corpus.print(row)
            near = (key for key in self.holders if int(key ^ print_).bit_count() <= self.asked.distance)  # type: ignore[operator]
            lists = [self.holders[key] for key in near]
        return {other for held in lists for other in (*held[:FIRST], *held[-LAST:])}
