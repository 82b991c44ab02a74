"""The result of a comparison: an immutable tree from which reports and tables are written.

Offsets count characters of a file's readable text; lines count from 1; submissions, files and passages are named by
their index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any, NamedTuple

from lookalike._types import counted

#: The rarity of what everybody has, as in the score.
LEAST_RARITY = 0.02


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was read: its readable text, and the language it was read as."""

    name: str
    language: str
    #: The text people read: the decoded file, or what was extracted from a PDF, page or notebook.
    text: str
    tokens: int
    #: What was guessed, left out or not parsed: "3 syntax errors, the first on line 12; the file is …".
    notes: tuple[str, ...] = ()
    #: The format the text was extracted from: "pdf", "docx", "notebook", "html"; empty if the file is its own text.
    format: str = ""
    #: Where a page, cell or note begins in the text, and its label: "page 3", "cell 2, code".
    places: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A submission of the comparison."""

    name: str
    files: tuple[File, ...]
    #: All tokens; tokens found in starter code; tokens shared by more than ``max_sharing`` submitters.
    tokens: int
    template_tokens: int
    common_tokens: int
    #: SHA-256 of the files' names and bytes, which proves later what was compared.
    digest: str
    person: str | None = None
    label: str | None = None
    time: str | None = None
    old: bool = False
    #: Tokens that cannot run, by the names that the entry points reach.
    unreachable_tokens: int = 0
    #: "analysed", or the reason why all of it counts as code that can run.
    reachability: str = ""

    @property
    def own_tokens(self) -> int:
        """Tokens that are neither starter code nor too common."""
        return self.tokens - self.template_tokens - self.common_tokens


class Region(NamedTuple):
    """A part of one file."""

    file: int
    start: int
    end: int
    start_line: int
    end_line: int


class Passage(NamedTuple):
    """A passage that two submissions have in common, verified token by token."""

    left: Region
    right: Region
    #: Matching tokens in it, without gaps; for a literal, its words.
    tokens: int
    #: Submitters that have it, including these two.
    shared_by: int
    #: Whether the text is the same except for layout; else names or literals differ, or there are small gaps.
    exact: bool
    #: "run", "repeat" (another copy of part of a run) or "literal" (a string with the same text).
    sort: str = "run"
    #: Share of its matching tokens whose text is the same too; the others are names or literals that differ.
    same_text: float = 1.0
    #: Surprise under a model of the cohort's own tokens, in bits: long or unusual passages have many.
    bits: float = 0.0
    #: Whether it has so few bits that a page folds it away; tables have it all the same.
    weak: bool = False

    def weight(self, submitters: int) -> float:
        """Return its bits times the rarity of what ``shared_by`` of so many submitters have."""
        return self.bits * rarity(self.shared_by, submitters)


def rarity(holders: int, submitters: int) -> float:
    """Return the weight of material in a score: ln((N + 1) / f) / ln((N + 1) / 2), at most 1 and at least 0.02.

    f of N submitters have the material; 1 for one and two of them.
    """
    if submitters <= 2:
        return 1.0
    every = submitters + 1
    share = log(every / min(max(holders, 2), submitters)) / log(every / 2)
    return min(max(share, LEAST_RARITY), 1.0)


class Gap(NamedTuple):
    """Tokens inside a passage that do not match: something inserted or changed on one side."""

    #: 0 for left, 1 for right.
    side: int
    file: int
    start: int
    end: int


class Section(NamedTuple):
    """Neighbouring passages of a pair of texts, joined across small gaps."""

    left: Region
    right: Region
    passages: int
    #: Letters in its passages.
    letters: int
    #: Share of its letters that lie in passages.
    same: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two submissions and the passages they share: indices of entries; the name of ``left`` sorts first."""

    left: int
    right: int
    #: Share of the two submissions' own material that lies in common passages, weighed by rarity: 0 to 1.
    score: float
    left_coverage: float
    right_coverage: float
    #: Own tokens in runs of at least t equal tokens, on the side that has more: those that count in ``score``.
    matched_tokens: int
    #: Own tokens of the longest of these runs, cut at starter code, on the side that has more.
    longest: int
    #: In the order of the left submission.
    passages: tuple[Passage, ...]
    #: Whether a limit of work was reached, so that the score may be too low.
    limited: bool = False
    #: Pairs that this row stands for: more than 1 if a side is in a group of more than 32 identical submissions.
    stands_for: int = 1
    #: Share of the smaller side's own material that lies in common passages, weighed as in ``score``: 0 to 1.
    contained: float = 0.0
    #: The score with all material, and the score without code that cannot run; ``score`` is the better of both. None:
    #: no code of the two was analysed.
    score_whole: float = 0.0
    score_reachable: float | None = None
    #: Surprise of all counted passages in bits, on the side that has fewer.
    matched_bits: float = 0.0
    #: Of prose: passages joined across small gaps.
    sections: tuple[Section, ...] = ()
    #: What does not match inside the passages, which are joined over small gaps.
    gaps: tuple[Gap, ...] = ()
    #: Surprise of its strongest passage in bits; None: no passage of it is strong.
    strongest_bits: float | None = None


class Outlier(NamedTuple):
    """A submission whose best score stands out in this class."""

    entry: int
    score: float
    #: Distance of the score from the median of all best scores, in robust standard deviations.
    deviation: float


class Cluster(NamedTuple):
    """Submissions that each reach the cluster threshold with the representative."""

    representative: int
    members: tuple[int, ...]
    #: Score of each member with the representative, which has 1.
    scores: tuple[float, ...]


class Common(NamedTuple):
    """A passage that very many submitters share, listed once with all of them."""

    entry: int
    region: Region
    tokens: int
    holders: tuple[int, ...]


class Remark(NamedTuple):
    """Something that was skipped, degraded or limited, and the reason."""

    name: str
    reason: str
    #: Whether the name is that of something handed in; else it is a pattern, starter code, or a word of ours.
    is_submitted: bool = True


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
    """The result of a comparison, with its parameters and what could not be read.

    >>> import lookalike as la
    >>> report = la.compare({"ann": la.Tokens(range(40)), "bob": la.Tokens(range(40))})
    >>> report.pair_count, report.pairs[0].score
    (1, 1.0)
    """

    version: str
    #: The parameters, given or default; ``thresholds`` are k and t of each language that was read. JSON values only.
    parameters: Mapping[str, Any]
    #: The guarantee in words: "any run of at least t tokens …".
    promise: str
    entries: tuple[Entry, ...]
    #: Best first; at most ``max_pairs`` of them.
    pairs: tuple[Pair, ...]
    #: Pairs at or above the cut-off, including those that are not listed.
    pair_count: int
    #: Pairs in each of 20 equal intervals of score, from the cut-off on.
    histogram: tuple[int, ...]
    cut_off: float
    clusters: tuple[Cluster, ...]
    cluster_threshold: float
    common: tuple[Common, ...]
    #: Entries that have only starter code, or that are too short to compare.
    undefined: tuple[Remark, ...]
    skipped: tuple[Remark, ...]
    #: Guesses, degradations and limits that were reached.
    warnings: tuple[Remark, ...]
    #: Pairs that may be compared and are in no list: below the cut-off, or with nothing in common. They have no score.
    below: int = 0
    #: Pairs of different contents that had to be aligned; bounds show that all others are below the cut-off and
    #: in no other list.
    aligned: int = 0
    #: Groups of more than 32 identical submissions, in the order of names; one row stands for all pairs of a group.
    groups: tuple[tuple[int, ...], ...] = ()
    #: Colouring of a file, by index of entry and file: packed native 32-bit triples of start, end and class. Classes:
    #: 1 keyword, 3 number, 4 string, 5 comment, 7 starter code, 8 too common, 9 code that cannot run.
    marks: Callable[[int, int], bytes] = field(default=KeptMarks(()), repr=False, compare=False)
    #: What the given paths were taken for, in words.
    understood: str = ""
    #: Pairs of which the smaller side stands almost whole in a much larger one, by ``contained``, best first. A pair
    #: may also stand in ``pairs``.
    contained: tuple[Pair, ...] = ()
    #: Pairs at or above the cut-off that share too little to say anything, best first. They stand in no other list.
    little: tuple[Pair, ...] = ()
    #: How many pairs the two lists have before they are cut.
    contained_count: int = 0
    little_count: int = 0
    #: Pairs of no other list that share a strong passage, by ``strongest_bits``, best first.
    shared: tuple[Pair, ...] = ()
    #: How many pairs that list has before it is cut.
    shared_count: int = 0
    #: How many persons handed in, earlier ones too; 0 if it is not known.
    submitters: int = 0
    #: Submissions whose best score stands out, farthest first.
    outliers: tuple[Outlier, ...] = ()
    #: Documents of indexes that share nothing with a new submission: compared, but not among ``entries``.
    elsewhere: int = 0
    #: Those of them that have no token; ``undefined`` names them.
    elsewhere_empty: int = 0

    @property
    def compared(self) -> int:
        """Submissions that were compared: all but those that ``undefined`` names."""
        without = {remark.name for remark in self.undefined}
        return sum(entry.name not in without for entry in self.entries) + self.elsewhere - self.elsewhere_empty

    @property
    def listed(self) -> int:
        """Pairs that ``pairs`` lists: a row that stands for a group counts for all its pairs."""
        return sum(pair.stands_for for pair in self.pairs)

    def __repr__(self) -> str:
        return (
            f"<Report: {counted(len(self.entries), 'submission')}, {counted(self.pair_count, 'pair')} with a score of "
            f"at least {self.cut_off:g}, {counted(len(self.clusters), 'cluster')}>"
        )
