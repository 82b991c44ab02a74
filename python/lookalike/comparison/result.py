"""What a comparison found: an immutable tree from which everything a person or a program reads is printed.

Offsets count characters of a file's readable text; lines count from 1; submissions, files and passages are named by
their index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lookalike._types import counted


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was read: its readable text, and what was read it as."""

    name: str
    language: str
    #: The text people read: the decoded file, or what was extracted from a PDF, page or notebook.
    text: str
    tokens: int
    #: Degradations and guesses: "degraded: 3 syntax errors, the first on line 12".
    notes: tuple[str, ...] = ()
    #: What the text was extracted from: "pdf", "docx", "notebook", "html"; empty where the file is its own text.
    format: str = ""
    #: Where a page, cell or note begins in the text, and what it is called there: "page 3", "cell 2, code".
    places: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A submission of the comparison."""

    name: str
    files: tuple[File, ...]
    #: Tokens in all; those found in a template; those shared by more than -m submitters. The rest is its own.
    tokens: int
    template_tokens: int
    common_tokens: int
    #: SHA-256 of the files' names and bytes: what was compared can be proved later.
    digest: str
    person: str | None = None
    label: str | None = None
    time: str | None = None
    old: bool = False

    @property
    def own_tokens(self) -> int:
        """Tokens that are neither template nor too common."""
        return self.tokens - self.template_tokens - self.common_tokens


class Region(NamedTuple):
    """A stretch of one file."""

    file: int
    start: int
    end: int
    start_line: int
    end_line: int


class Passage(NamedTuple):
    """A stretch that two submissions have in common, verified token by token."""

    left: Region
    right: Region
    #: Matching tokens in it, gaps not counted; of a literal its words.
    tokens: int
    #: Submitters that have it, these two included.
    shared_by: int
    #: Whether the text is the same but for layout; else names or literals differ, or there are small gaps.
    exact: bool
    #: "run", "repeat" (another copy of something that stands in one) or "literal" (a string with the same text).
    sort: str = "run"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two submissions and what they have in common; ``left`` and ``right`` are indices of entries."""

    left: int
    right: int
    #: Share of the two submissions' own material that lies in common passages, weighed by rarity: 0 to 1.
    score: float
    left_coverage: float
    right_coverage: float
    matched_tokens: int
    longest: int
    #: In the order of the left submission.
    passages: tuple[Passage, ...]


class Cluster(NamedTuple):
    """Submissions each of which is paired with the representative at or above the cluster threshold."""

    representative: int
    members: tuple[int, ...]
    #: Score of each member with the representative; 1 for itself.
    scores: tuple[float, ...]


class Common(NamedTuple):
    """A passage too common to pair, listed once with all its holders."""

    entry: int
    region: Region
    tokens: int
    holders: tuple[int, ...]


class Remark(NamedTuple):
    """Something that was skipped, degraded or capped, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class KeptMarks:
    """The colouring of every file, as a pickle of a report carries it."""

    files: tuple[tuple[bytes, ...], ...]

    def __call__(self, entry: int, file: int) -> bytes:
        """Return the colouring of a file; nothing for one that is not there."""
        known = 0 <= entry < len(self.files) and 0 <= file < len(self.files[entry])
        return self.files[entry][file] if known else b""


class Marks:
    """The colouring of files, which the core makes when a page needs it; a pickle carries that of every file."""

    __slots__ = ("_counts", "_make")

    def __init__(self, make: Callable[[int, int], bytes], counts: Sequence[int]) -> None:
        self._make = make
        #: Files of each entry.
        self._counts = tuple(counts)

    def __call__(self, entry: int, file: int) -> bytes:
        """Return the colouring of a file."""
        return self._make(entry, file)

    def __reduce__(self) -> tuple[type[KeptMarks], tuple[tuple[tuple[bytes, ...], ...]]]:
        """Return the colouring of all files in place of what makes it, which belongs to this process."""
        counted = enumerate(self._counts)
        return KeptMarks, (tuple(tuple(self(entry, file) for file in range(count)) for entry, count in counted),)

    def __copy__(self) -> Marks:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> Marks:
        """Return the colouring itself: it never changes."""
        return self


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a comparison found, with what it was asked and what it could not do."""

    version: str
    #: As given or defaulted: language, max_sharing, min_score, title …; ``thresholds`` are k and t of each language
    #: that was met. JSON values only.
    parameters: Mapping[str, Any]
    #: In words: "any run of at least t tokens …".
    promise: str
    entries: tuple[Entry, ...]
    #: Best first; at most MAX_ROWS of them.
    pairs: tuple[Pair, ...]
    #: Pairs at or above the cut-off, also those beyond MAX_ROWS.
    pair_count: int
    #: Pairs in each of 20 equal intervals of score, those below the cut-off that were scored included.
    histogram: tuple[int, ...]
    cut_off: float
    clusters: tuple[Cluster, ...]
    cluster_threshold: float
    common: tuple[Common, ...]
    #: Entries of which nothing of their own is left ("template only"), or that are too short to compare.
    undefined: tuple[Remark, ...]
    skipped: tuple[Remark, ...]
    #: Guesses, degradations, caps that were hit.
    warnings: tuple[Remark, ...]
    #: Colouring of a file, by index of entry and file: packed native 32-bit triples of start, end and class.
    marks: Callable[[int, int], bytes] = field(default=KeptMarks(()), repr=False, compare=False)

    def __repr__(self) -> str:
        return (
            f"<Report: {counted(len(self.entries), 'submission')}, {counted(self.pair_count, 'pair')} with a score of "
            f"at least {self.cut_off:g}, {counted(len(self.clusters), 'cluster')}>"
        )
