"""Adds documents batch by batch, each batch durable before the next is read, so that an interrupted add continues.

Documents that the index has with the same content are left out before they are signed. Memory: one batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lookalike._types import Problem, counted
from lookalike.archive.results import Added
from lookalike.archive.view import text_of
from lookalike.archive.writing import Counts, Signed, Writer

if TYPE_CHECKING:
    from lookalike.archive.signing import SignedBatch

#: Problems that are listed; the last one tells how many more there are.
MOST_PROBLEMS = 100_000
#: Ids that a note names.
NAMED_IDS = 5


class Adding:
    """An add that is under way."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._waiting: list[Signed] = []
        self._bytes = 0
        # The newest content of each id that waits: it decides before the content in the index does.
        self._newest: dict[bytes, bytes] = {}
        self._counts = Counts()
        self._skipped: list[Problem] = []
        self._unlisted = 0
        # Rows that a later one of the same batch replaced before they were added, and the first of their ids.
        self._repeated, self._repeated_ids = 0, dict[bytes, None]()

    def known(self, ids: list[bytes], contents: list[bytes]) -> list[bool]:
        """Tell for each document whether the index has it already, with this content."""
        core = self._writer.view.core
        found = core.find_ids(ids)
        answers = []
        for id_, content, number in zip(ids, contents, found, strict=True):
            content = bytes(content)
            stored = None if number is None else bytes(core.row(number).content)
            is_known = self._newest.get(id_, stored) == content and id_ not in self._newest
            if not is_known:
                self._newest[id_] = content
            answers.append(is_known)
        return answers

    def run(self, batches: Iterable[SignedBatch]) -> Added:
        """Add all batches. Errors: ``OSError``; the batches before it are in the index then."""
        for batch in batches:
            self._waiting += batch.documents
            self._bytes += sum(len(record) for _, _, record in batch.documents)
            self._counts.unchanged += batch.unchanged
            self._list(batch.problems)
            if self._bytes >= self._writer.policy.batch_bytes:
                self._commit()
        self._commit()
        counts = self._counts
        if self._repeated:
            self._skipped.append(self._told())
        if self._unlisted:
            self._skipped.append(Problem("", "", f"{self._unlisted:,} more problems are not listed", self._unlisted))
        return Added(counts.added, counts.replaced, counts.unchanged, self._skipped)

    def _list(self, problems: list[Problem]) -> None:
        room = max(0, MOST_PROBLEMS - len(self._skipped))
        self._skipped += problems[:room]
        self._unlisted += len(problems[room:])

    def _told(self) -> Problem:
        """Return the note on rows that a later one replaced."""
        ids = ", ".join(text_of(id_) for id_ in self._repeated_ids)
        rows = counted(self._repeated, "row has", "rows have")
        reason = f"{rows} an id that a later row has with another text, and the later one is kept; first ids: {ids}"
        return Problem("", "", reason, self._repeated, True)

    def _last(self) -> list[Signed]:
        """Return the last document of each id that waits, at the place where its content came; count the others."""
        last: dict[bytes, int] = {}
        for place, (id_, content, _) in enumerate(self._waiting):
            if id_ not in last or self._waiting[last[id_]][1] != content:
                last[id_] = place
        kept = []
        for place, (id_, content, record) in enumerate(self._waiting):
            if last[id_] == place:
                kept.append((id_, content, record))
            elif self._waiting[last[id_]][1] == content:
                self._counts.unchanged += 1
            else:
                self._repeated += 1
                if len(self._repeated_ids) < NAMED_IDS:
                    self._repeated_ids[id_] = None
        return kept

    def _commit(self) -> None:
        if self._waiting:
            self._counts += self._writer.add(self._last())
        for id_, content, _ in self._waiting:
            if self._newest.get(id_) == content:
                del self._newest[id_]
        self._waiting, self._bytes = [], 0
