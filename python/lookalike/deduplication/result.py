"""The result of a deduplication: removed rows, the row kept for each, how that was found, and the work it took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

from lookalike import _core
from lookalike._types import Problem, counted
from lookalike.corpora.objects import ObjectSource
from lookalike.deduplication.after import Archived, JoinedCorpus
from lookalike.deduplication.contamination import Contamination, ListedPairs
from lookalike.deduplication.pickling import KeptCorpus, NamedSource, kept_corpus, kept_stretch
from lookalike.deduplication.reading import Stretch
from lookalike.deduplication.repeating import RepeatedIds
from lookalike.deduplication.settings import Settings
from lookalike.deduplication.token_rows import TokenSource
from lookalike.errors import ParameterError

#: What was measured between a row and the row kept for it, by the core's number: nothing; the texts are identical; the
#: exact resemblance; the distance of fingerprints; the exact containment; equal features of a filter
#: that decided alone.
LINKS = ("survives", "identical", "exact", "distance", "contained", "filter")
#: What became of a row when it was read, by the core's number.
STATES = ("compared", "short", "missing", "bad", "blank")
#: Pairs read from the core at a time.
_PART = 1 << 16


class Pair(NamedTuple):
    """Two rows that are near-duplicates; the left one is preferred when one must be kept."""

    left: int
    right: int
    #: What ``link`` says was measured: a resemblance, a containment, 1 − distance/64, or a share of features.
    resemblance: float
    #: One of ``LINKS``, such as ``identical`` or ``exact``.
    link: str


class Capped(NamedTuple):
    """A key shared by so many documents that it does not propose all of its pairs."""

    key: int
    documents: int
    untried: int


class Giant(NamedTuple):
    """An unusually large cluster; check it before deleting its rows."""

    survivor: int
    documents: int
    #: The keys that most of its documents share, and how many share each.
    keys: list[tuple[int, int]]


@dataclass(frozen=True, repr=False, eq=False)
class Deduplication:
    """The result of a deduplication. Rows are numbered through all sources, those of ``against`` first.

    >>> import lookalike as la
    >>> found = la.dedup(["one two three four five six", "one two three four five six", "Boat to let."])
    >>> found
    <Deduplication: 3 rows, 1 removed, 1 cluster>
    >>> found.gone, list(found.survivors), found.removed["identical"]
    ([1], [0, 0, 2], 1)
    """

    settings: Settings
    stretches: Sequence[Stretch]
    #: How many rows belong to ``against``, or are documents of the index; they come first.
    references: int
    core: _core.Corpus | KeptCorpus | JoinedCorpus
    outcome: _core.Outcome
    #: Whether only rows similar to a row of ``against`` are removed.
    is_against: bool = False
    problems: list[Problem] = field(default_factory=list)
    #: One sentence for each limit that an output has met.
    notes: list[str] = field(default_factory=list)
    #: What was found of the rows of ``against``, for the method containment; ``None`` otherwise.
    contamination: Contamination | None = None
    #: Rows of ``against`` by state, in the order of ``states``.
    their_states: Sequence[int] = (0,) * len(STATES)
    #: Ids that several of all rows have; ``None`` if there are none.
    repeated_ids: RepeatedIds | None = None
    #: The index that rows were also compared with. Its documents that were kept for a row are numbered before the rows.
    archived: Archived | None = None

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
        """Return a copy with problems and notes of its own: nothing else of it ever changes."""
        return replace(self, problems=list(self.problems), notes=list(self.notes))

    @property
    def rows(self) -> int:
        """All rows, including those of ``against``."""
        return len(self.core)

    @cached_property
    def states(self) -> dict[str, int]:
        """Rows by state: compared, short, missing, bad, blank."""
        return dict(zip(STATES, self.core.states, strict=True))

    @property
    def reference_states(self) -> dict[str, int]:
        """Rows of ``against`` by state."""
        return dict(zip(STATES, self.their_states, strict=True))

    @property
    def own_states(self) -> dict[str, int]:
        """Rows by state, without those of ``against``."""
        return {name: self.states[name] - count for name, count in self.reference_states.items()}

    @property
    def with_text(self) -> int:
        """Rows, without those of ``against``, that have a text, whether it is long enough to be compared or not."""
        return self.own_states["compared"] + self.own_states["short"]

    @cached_property
    def removed(self) -> dict[str, int]:
        """Removed rows, by what was measured: identical, exact, distance, contained, filter."""
        return dict(zip(LINKS[1:], self.outcome.gone, strict=True))

    @cached_property
    def survivors(self) -> Sequence[int]:
        """For each row, the row kept for it; a kept row has itself."""
        return memoryview(self.outcome.rows()[0])

    @cached_property
    def resemblances(self) -> Sequence[float]:
        """For each row, its resemblance (or containment) to the row kept for it; 1 for kept rows.

        Without verification it is 1 − distance/64 for simhash, and the share of equal features for minhash.
        """
        return memoryview(self.outcome.rows()[1]).cast("f")

    @cached_property
    def links(self) -> bytes:
        """For each row, its index in ``LINKS``."""
        return self.outcome.rows()[2]

    @cached_property
    def gone(self) -> list[int]:
        """The removed rows, ascending."""
        return [row for row, link in enumerate(self.links) if link]

    @cached_property
    def cluster_sizes(self) -> Counter[int]:
        """Rows in each cluster of at least two, by its kept row."""
        sizes = Counter(self.survivors[row] for row in self.gone)
        return Counter({survivor: count + 1 for survivor, count in sizes.items()})

    @property
    def removed_below(self) -> int:
        """Removed rows whose score with the row kept for them is below the threshold: only `components` has such."""
        if self.settings.clustering != "components":
            return 0
        return sum(self.resemblances[row] < self.settings.least_score for row in self.gone)

    @property
    def removed_for_index(self) -> int:
        """Removed rows for which a document of the index is kept."""
        return sum(self.survivors[row] < self.references for row in self.gone) if self.archived is not None else 0

    def _index_json(self) -> dict[str, Any]:
        told = {} if self.archived is None else self.archived.to_json()
        return told | {"removed": self.removed_for_index}

    @property
    def documents(self) -> int:
        """Documents that were compared, counting identical texts once."""
        return self.outcome.work[0]

    @cached_property
    def work(self) -> dict[str, int]:
        """Counts of the work done."""
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
        """Keys that so many documents share that they do not propose all of their pairs."""
        return [Capped(*one) for one in self.outcome.capped]

    @cached_property
    def giants(self) -> list[Giant]:
        """Unusually large clusters, which should be checked."""
        return [Giant(*one) for one in self.outcome.giants]

    def pairs(self) -> Iterator[Pair]:
        """Yield every pair at or above the threshold that the method proposes, in order of rows.

        Of identical texts, each is paired with the first, and only that one with others. Cost: a pass over all proposed
        pairs, which a deduplication alone does not need. Errors: ``ParameterError`` after a pickle.
        """
        return each_pair(self.pair_stream())

    def pair_stream(self) -> _core.PairStream | ListedPairs:
        """Return all pairs as columns. Errors: ``OSError``, ``ParameterError`` after a pickle."""
        if self.contamination is not None:
            return ListedPairs(self.contamination, self.rows)
        return self.core.pairs(self.settings.arguments(self.references if self.is_against else None))

    def distances(self, pairs: Iterable[tuple[int, int]]) -> list[int | None]:
        """Return the bits in which the fingerprints of row pairs differ; ``None`` if a row has no fingerprint.

        REQUIRES: the method is simhash.
        """
        rows = list(pairs)
        bits = self.core.fingerprints([row for pair in rows for row in pair])
        both = zip(bits[::2], bits[1::2], strict=True)
        return [None if left is None or right is None else (left ^ right).bit_count() for left, right in both]

    def scores(self, pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        """Return the exact scores of row pairs, the kept row first; ``None`` where there is none."""
        if self.contamination is not None:
            return [self.contamination.score(*pair) for pair in pairs]
        return self.core.scores(pairs, self.settings.method == "containment")

    def mask(self, stretch: Stretch) -> bytes:
        """Return one byte per row of a source: 0 if it is removed."""
        return self.outcome.mask(stretch.first, stretch.rows)

    def select(self) -> Any:
        """Return the given object without the removed rows, as the same type.

        Errors: ``ParameterError`` if files were given.
        """
        own = self.stretches[-1] if self.stretches else None
        if own is not None and isinstance(own.source, NamedSource):
            raise own.source.refusal()
        if own is None or not isinstance(own.source, ObjectSource | TokenSource):
            raise ParameterError("select() works on objects, and files were given: name an output with `out`")
        return own.source.select(self.mask(own))

    @property
    def labels(self) -> list[int]:
        """For each row of the source, the number of its cluster; −1 for rows without one, as in scikit-learn."""
        numbers = {survivor: number for number, survivor in enumerate(sorted(self.cluster_sizes))}
        return [numbers.get(self.survivors[row], -1) for row in range(self.references, self.rows)]

    def to_json(self) -> dict[str, Any]:
        """Return the result as values that JSON can hold, without rows and pairs."""
        return {
            "parameters": self.settings.shown,
            "sources": [
                {"name": one.source.name, "format": one.source.format, "rows": one.rows} for one in self.stretches
            ],
            "rows": self.rows,
            "references": self.references,
            "states": self.states,
            **({"reference_states": self.reference_states} if self.is_against else {}),
            "removed": self.removed,
            "removed_below": self.removed_below,
            **({} if self.contamination is None else {"contamination": self.contamination.to_json()}),
            **({} if self.archived is None else {"index": self._index_json()}),
            "kept": self.rows - self.references - sum(self.removed.values()),
            "clusters": len(self.cluster_sizes),
            "largest_cluster": max(self.cluster_sizes.values(), default=1),
            "work": self.work,
            "capped": [one._asdict() for one in self.capped],
            "giants": [one._asdict() for one in self.giants],
            "repeated_ids": None if self.repeated_ids is None else self.repeated_ids.to_json(),
            "notes": self.notes,
            "problems": [asdict(one) for one in self.problems],
        }


def each_pair(stream: _core.PairStream | ListedPairs) -> Iterator[Pair]:
    """Yield the pairs of a stream that are not read yet."""
    if isinstance(stream, ListedPairs):
        for found in stream.contamination.pairs():
            yield Pair(found.reference, found.row, found.score, "identical" if found.is_identical else "contained")
        return
    while True:
        left, right, scores, links = stream.part(_PART)
        if not links:
            return
        for one in zip(memoryview(left), memoryview(right), memoryview(scores).cast("f"), links, strict=True):
            yield Pair(one[0], one[1], one[2], LINKS[one[3]])
