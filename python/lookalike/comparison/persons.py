"""Who handed in what: submissions of one person are never paired, also where one of them is of an earlier year."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from lookalike._types import bytes_of
from lookalike.documents import Submission


def persons(submissions: Sequence[Submission]) -> list[str]:
    """Return who handed each submission in. An old one is of the one new submitter who is known by its name."""
    known: defaultdict[str | None, set[str]] = defaultdict(set)
    for one in submissions:
        if not one.old and one.known_as:
            known[one.known_as].add(_submitter(one))
    # A name that several new submitters have decides nothing.
    sole = {name: next(iter(found)) for name, found in known.items() if len(found) == 1}
    return [sole.get(one.known_as, _submitter(one)) if one.old else _submitter(one) for one in submissions]


def _submitter(submission: Submission) -> str:
    """Return the person who handed a submission in, or a key that no person's name equals."""
    return submission.person or f"\0{submission.name}\0{submission.old}"


def submitter_key(submission: Submission) -> bytes:
    """Return what identifies the person of a submission in an archive, where it is of an earlier year."""
    return bytes_of(submission.person or f"\0{submission.name}\0True")
