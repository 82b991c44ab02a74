"""What was decided: who goes, for whose sake, how that was found, and what it took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

from lookalike import _core
from lookalike._types import Problem, counted
from lookalike.corpora.objects import ObjectSource
from lookalike.deduplication.pickling import KeptCorpus, NamedSource, kept_corpus, kept_stretch
from lookalike.deduplication.reading import Stretch
from lookalike.deduplication.settings import Settings
from lookalike.errors import ParameterError

#: How a row's link to its survivor was found, by the core's number for it.
LINKS = ("survives", "identical", "exact", "estimated")


class Pair(NamedTuple):
    """Two rows that are near-duplicates; the left one comes first in order of survival."""

    left: int
    right: int
    resemblance: float
    #: ``identical``, ``exact`` or ``estimated``.
    link: str


class Capped(NamedTuple):
    """A key so common that not all pairs it proposes were tried."""

    key: int
    documents: int
    untried: int


class Giant(NamedTuple):
    """A cluster so large that someone should look at it before anything is deleted."""

    survivor: int
    documents: int
    #: The keys that most of its documents share, and how many do.
    keys: list[tuple[int, int]]


@dataclass(frozen=True, repr=False)
class Deduplication:
    """The answer to a deduplication. Rows are numbered through all sources, those of ``against`` first."""

    settings: Settings
    stretches: Sequence[Stretch]
    #: How many rows at the beginning are those of ``against``.
    references: int
    core: _core.Corpus | KeptCorpus
    outcome: _core.Outcome
    problems: list[Problem] = field(default_factory=list)

    def __repr__(self) -> str:
        own = self.rows - self.references
        clusters = counted(len(self.cluster_sizes), "cluster")
        return f"<Deduplication: {counted(own, 'row')}, {len(self.gone):,} removed, {clusters}>"

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle keeps: the whole answer, and the source where it is an object."""
        state = {one.name: getattr(self, one.name) for one in fields(self)}
        state["core"] = kept_corpus(self.core, with_prints=self.settings.method == "simhash")
        state["stretches"] = [kept_stretch(one) for one in self.stretches]
        return state

    def __copy__(self) -> Deduplication:
        return replace(self)

    def __deepcopy__(self, _memo: dict[int, Any]) -> Deduplication:
        """Return a copy with problems of its own: nothing else of it ever changes."""
        return replace(self, problems=list(self.problems))

    @property
    def rows(self) -> int:
        """All rows, those of ``against`` too."""
        return len(self.core)

    @cached_property
    def states(self) -> dict[str, int]:
        """Rows by what became of them."""
        return dict(zip(("compared", "short", "missing", "bad", "blank"), self.core.states, strict=True))

    @cached_property
    def removed(self) -> dict[str, int]:
        """Rows that go, by how that was found."""
        return dict(zip(LINKS[1:], self.outcome.gone, strict=True))

    @cached_property
    def survivors(self) -> Sequence[int]:
        """For each row the row that stays for it: itself, if it stays."""
        return memoryview(self.outcome.rows()[0])

    @cached_property
    def resemblances(self) -> Sequence[float]:
        """For each row its resemblance (or containment) to its survivor, 1 for survivors.

        By simhash without verification it is 1 − distance/64.
        """
        return memoryview(self.outcome.rows()[1]).cast("f")

    @cached_property
    def links(self) -> bytes:
        """For each row its index in ``LINKS``."""
        return self.outcome.rows()[2]

    @cached_property
    def gone(self) -> list[int]:
        """The rows that go, ascending."""
        return [row for row, link in enumerate(self.links) if link]

    @cached_property
    def cluster_sizes(self) -> Counter[int]:
        """Rows in each cluster of at least two, by its survivor."""
        sizes = Counter(self.survivors[row] for row in self.gone)
        return Counter({survivor: count + 1 for survivor, count in sizes.items()})

    @property
    def documents(self) -> int:
        """Documents that were compared after identical texts were put together."""
        return self.outcome.work[0]

    @cached_property
    def work(self) -> dict[str, int]:
        """What it took."""
        documents, glances, exacts, unsampled = self.outcome.work
        return {
            "documents": documents,
            "glances": glances,
            "exact_comparisons": exacts,
            "unsampled": unsampled,
            "spilled_bytes": self.core.spilled,
        }

    @cached_property
    def capped(self) -> list[Capped]:
        """Keys that were too common to try everything."""
        return [Capped(*one) for one in self.outcome.capped]

    @cached_property
    def giants(self) -> list[Giant]:
        """Clusters that someone should look at."""
        return [Giant(*one) for one in self.outcome.giants]

    def pairs(self) -> Iterator[Pair]:
        """Yield every pair that was found to reach the threshold, ascending."""
        left, right, scores, links = self.outcome.pairs()
        for one in zip(memoryview(left), memoryview(right), memoryview(scores).cast("f"), links, strict=True):
            yield Pair(one[0], one[1], one[2], LINKS[one[3]])

    def distances(self, pairs: Iterable[tuple[int, int]]) -> list[int | None]:
        """Return in how many bits the fingerprints of pairs of rows differ, ``None`` where one has none.

        REQUIRES: the method is simhash.
        """
        rows = list(pairs)
        bits = self.core.fingerprints([row for pair in rows for row in pair])
        both = zip(bits[::2], bits[1::2], strict=True)
        return [None if left is None or right is None else (left ^ right).bit_count() for left, right in both]

    @property
    def paired(self) -> set[int]:
        """The rows that are in any pair."""
        left, right, _, _ = self.outcome.pairs()
        return {*memoryview(left), *memoryview(right)}

    def mask(self, stretch: Stretch) -> bytes:
        """Return a byte for each row of a source, 0 for those that go."""
        return self.outcome.mask(stretch.first, stretch.rows)

    def select(self) -> Any:
        """Return the object that was given without the rows that go, as the kind of object it is.

        Errors: ``ParameterError`` if files were given.
        """
        own = self.stretches[-1] if self.stretches else None
        if own is not None and isinstance(own.source, NamedSource):
            raise own.source.refusal()
        if own is None or not isinstance(own.source, ObjectSource):
            raise ParameterError("files were given, and have nothing to select from: name an output with `out`")
        return own.source.select(self.mask(own))

    @property
    def labels(self) -> list[int]:
        """For each row of the source the number of its cluster, −1 for those that are alone: what estimators return."""
        numbers = {survivor: number for number, survivor in enumerate(sorted(self.cluster_sizes))}
        return [numbers.get(self.survivors[row], -1) for row in range(self.references, self.rows)]

    def to_json(self) -> dict[str, Any]:
        """Return what a program wants to know; rows and pairs have files of their own."""
        return {
            "parameters": self.settings.shown,
            "sources": [
                {"name": one.source.name, "format": one.source.format, "rows": one.rows} for one in self.stretches
            ],
            "rows": self.rows,
            "references": self.references,
            "states": self.states,
            "removed": self.removed,
            "kept": self.rows - self.references - sum(self.removed.values()),
            "clusters": len(self.cluster_sizes),
            "largest_cluster": max(self.cluster_sizes.values(), default=1),
            "work": self.work,
            "capped": [one._asdict() for one in self.capped],
            "giants": [one._asdict() for one in self.giants],
            "problems": [
                {"source": one.source, "place": one.place, "reason": one.reason, "rows": one.rows}
                for one in self.problems
            ],
        }
