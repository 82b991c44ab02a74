"""Results of what an index is told to do: what was added, what it holds, what a check found, what a repair lost."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from lookalike._types import Problem, counted

#: Ids of replaced documents that ``Added`` lists.
LISTED_IDS = 1000


@dataclass
class Added:
    """The result of ``Index.add``. All of it is durable.

    >>> str(Added(added=2, unchanged=1))
    '2 added, 0 replaced, 1 unchanged'
    """

    added: int = 0
    #: Documents with an id that was there, and another content or other metadata.
    replaced: int = 0
    #: Documents that were there with the same id, content and metadata.
    unchanged: int = 0
    #: Documents that could not be read, each with its reason, and remarks on those that were read otherwise.
    skipped: list[Problem] = field(default_factory=list, repr=False)
    #: Ids of the replaced documents: the first 1,000 of them.
    replaced_ids: list[str] = field(default_factory=list, repr=False)
    #: What the paths were taken for, in words; empty for rows.
    understood: str = field(default="", repr=False)

    @property
    def read(self) -> int:
        """How many documents could be read."""
        return self.added + self.replaced + self.unchanged

    def __str__(self) -> str:
        told = f"{self.added:,} added, {self.replaced:,} replaced, {self.unchanged:,} unchanged"
        refused = sum(not one.is_note for one in self.skipped)
        return f"{told}, {refused:,} skipped" if refused else told

    def to_json(self) -> dict[str, Any]:
        """Return the result as values that JSON can hold."""
        return {**vars(self), "skipped": [asdict(one) for one in self.skipped]}


@dataclass(frozen=True)
class Finding:
    """Something that ``Index.check`` found: a file, and what is wrong with it.

    >>> str(Finding("seg-0000000000000001.lat", "it is missing"))
    'seg-0000000000000001.lat: it is missing'
    """

    file: str
    reason: str
    #: Whether documents or answers are affected; else it is only a remark.
    is_damage: bool = True

    def __str__(self) -> str:
        return f"{self.file}: {self.reason}"


@dataclass(frozen=True)
class Stats:
    """Size and content of an index.

    >>> Stats(documents=2, shadows=0, templates=0, removed=1, segments=1, tail=0, bytes=4096, generation=3).removed
    1
    """

    #: Live documents, without the rows that dedup removed.
    documents: int
    #: Rows that dedup removed and whose keys are kept.
    shadows: int
    templates: int
    #: Removed documents that still take space.
    removed: int
    segments: int
    #: Documents that wait for a segment.
    tail: int
    #: Bytes of all files.
    bytes: int
    #: Number of the last commit.
    generation: int
    #: Number of documents by label; those without one are left out.
    labels: dict[str, int] = field(default_factory=dict)
    #: Bytes by content: each table of the segments (FORMAT.md), ``catalogue``, and ``other``.
    sizes: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the figures as values that JSON can hold."""
        return asdict(self)


@dataclass
class Repaired:
    """The result of ``Index.repair``: which documents were lost, and what else a user must know.

    >>> str(Repaired(documents=5, lost=["essay-3"], unnamed=1))
    '5 documents kept, 2 lost'
    >>> str(Repaired(documents=5, is_open=True))
    '5 documents kept, an unknown number lost'
    """

    #: Documents that are in the index now.
    documents: int = 0
    #: Ids of lost documents, where they could be read.
    lost: list[str] = field(default_factory=list)
    #: Lost documents whose ids cannot be read, at most.
    unnamed: int = 0
    #: Whether more may be lost, and nobody can say how many.
    is_open: bool = False
    #: Documents that are kept and may miss keys, so that a question may not find them: add them again.
    partial: int = 0
    #: What else was done or cannot be restored.
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lost = f"{len(self.lost) + self.unnamed:,}"
        if self.is_open:
            lost = "an unknown number" if lost == "0" else f"{lost} or more"
        told = f"{counted(self.documents, 'document')} kept, {lost} lost"
        return f"{told}, {self.partial:,} may miss keys" if self.partial else told

    @property
    def is_whole(self) -> bool:
        """Whether no document is lost, as far as is known."""
        return not (self.lost or self.unnamed or self.is_open)

    def to_json(self) -> dict[str, Any]:
        """Return the result as values that JSON can hold."""
        return asdict(self)


@dataclass
class Upgraded:
    """The result of ``Index.upgrade``.

    >>> str(Upgraded(documents=3)), str(Upgraded(documents=3, shadows=1, shadows_because=["simhash"]))
    ('3 documents read again', '3 documents read again; 1 row that dedup had removed forgotten: it has no text, and \
another version made its keys (simhash)')
    """

    #: Documents that were read again from their texts by this call.
    documents: int = 0
    #: Rows that dedup had removed and that are no longer in the index, because only their old keys were kept.
    shadows: int = 0
    #: The names of the versions (``Parameters.versions``) that made these keys otherwise.
    shadows_because: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        if not self.documents and not self.shadows:
            return "the index is up to date"
        read = f"{counted(self.documents, 'document')} read again"
        if not self.shadows:
            return read
        rows, which = counted(self.shadows, "row"), ", ".join(self.shadows_because)
        it, its = ("it has", "its") if self.shadows == 1 else ("they have", "their")
        return (
            f"{read}; {rows} that dedup had removed forgotten: {it} no text, and another version made {its} keys "
            f"({which})"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the result as values that JSON can hold."""
        return asdict(self)
