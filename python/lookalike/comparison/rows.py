"""The submissions of a comparison, those of indexes among them, in the order of their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lookalike.comparison.earlier import Found, Stored
from lookalike.comparison.persons import persons
from lookalike.comparison.reading import Read
from lookalike.comparison.stored import digest
from lookalike.documents import Submission
from lookalike.documents.intake import in_order


class Row(NamedTuple):
    """A submission that was read."""

    submission: Submission
    reads: list[Read]
    #: A number that is the same for submissions of one person.
    person: int
    #: Its digest, where it is of an index.
    digest_stored: str | None

    @property
    def kept(self) -> list[Read]:
        """The files that could be read."""
        return [read for read in self.reads if read.file is not None]

    @property
    def is_stored(self) -> bool:
        """Whether it is of an index."""
        return self.digest_stored is not None

    @property
    def digest(self) -> str:
        """SHA-256 of its files."""
        return digest(self.submission) if self.digest_stored is None else self.digest_stored


def rows_of(submissions: Sequence[Submission], reads: Sequence[list[Read]], found: Found | None) -> list[Row]:
    """Return all submissions in the order of their names."""
    people = found.core.handed if found else _numbered(persons(submissions))
    handed = [Row(one, read, person, None) for one, read, person in zip(submissions, reads, people, strict=True)]
    rows = [*handed, *map(_row, found.stored if found else ())]
    return sorted(rows, key=lambda row: in_order(row.submission.name)) if found else rows


def _row(one: Stored) -> Row:
    return Row(one.submission, one.reads, one.person, one.digest)


def _numbered(names: Sequence[str]) -> list[int]:
    numbers: dict[str, int] = {}
    return [numbers.setdefault(name, len(numbers)) for name in names]


def submitters(rows: Sequence[Row], found: Found | None) -> int:
    """Return how many persons there are. An old submission of which nothing could be read does not count."""
    if found:
        return found.core.submitters
    return len({row.person for row in rows if row.kept or not row.submission.old})


def returning(rows: Sequence[Row], found: Found | None) -> list[str]:
    """Return the names of the old submissions whose person is among the new ones, in their order."""
    new = {row.person for row in rows if not row.submission.old}
    names = [row.submission.name for row in rows if row.submission.old and not row.is_stored and row.person in new]
    return sorted([*names, *found.returning], key=in_order) if found else names


def pairs_elsewhere(rows: Sequence[Row], found: Found) -> int:
    """Return the number of pairs of new submissions and documents of indexes that share nothing with any new one."""
    new = [row.person for row in rows if not row.submission.old]
    here: dict[int, int] = {}
    for row in rows:
        if row.is_stored:
            here[row.person] = here.get(row.person, 0) + 1
    own = found.core.documents_of(new)
    loaded = sum(here.values())
    others = sum(found.core.documents - count for count in own)
    return others - sum(loaded - here.get(person, 0) for person in new)
