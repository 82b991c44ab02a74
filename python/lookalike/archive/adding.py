"""Adds documents batch by batch, each batch durable before the next is read, so that an interrupted add continues.

Documents that the index has with the same content and metadata are left out before they are signed. Memory: one batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lookalike._types import Problem, counted, text_of
from lookalike.archive.results import Added
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
        # The newest mark of each id that waits: it decides before the one in the index does.
        self._newest: dict[bytes, bytes] = {}
        self._counts = Counts()
        self._skipped: list[Problem] = []
        self._unlisted = 0
        self._understood = ""
        # Rows that a later one of the same add replaced, and the first of their ids.
        self._repeated, self._repeated_ids = 0, dict[bytes, None]()
        # How many live documents this add has added: they are the newest ones of the index.
        self._arrived = 0

    def known(self, ids: list[bytes], marks: list[bytes]) -> list[bool]:
        """Tell for each document whether the index has it already, with this mark."""
        core = self._writer.view.core
        found = core.find_ids(ids)
        answers = []
        for id_, mark, number in zip(ids, map(bytes, marks), found, strict=True):
            stored = None if number is None else bytes(core.row(number).mark)
            is_known = self._newest.get(id_, stored) == mark and id_ not in self._newest
            if not is_known:
                self._newest[id_] = mark
            answers.append(is_known)
        return answers

    def run(self, batches: Iterable[SignedBatch]) -> Added:
        """Add all batches. Errors: ``OSError``; the batches before it are in the index then."""
        for batch in batches:
            self._waiting += batch.documents
            self._bytes += sum(len(record) for _, _, record in batch.documents)
            self._counts.unchanged += batch.unchanged
            self._list([*batch.problems, *batch.notes])
            self._understood = self._understood or batch.understood
            if self._bytes >= self._writer.policy.batch_bytes:
                self._commit()
        self._commit()
        counts = self._counts
        if self._repeated:
            self._skipped.append(self._told())
        if self._unlisted:
            self._skipped.append(Problem("", "", f"{self._unlisted:,} more problems are not listed", self._unlisted))
        ids = list(map(text_of, counts.replaced_ids))
        return Added(counts.added, counts.replaced, counts.unchanged, self._skipped, ids, self._understood)

    def _list(self, problems: list[Problem]) -> None:
        room = max(0, MOST_PROBLEMS - len(self._skipped))
        self._skipped += problems[:room]
        self._unlisted += len(problems[room:])

    def _told(self) -> Problem:
        """Return the note on rows that a later one replaced."""
        ids = ", ".join(text_of(id_) for id_ in self._repeated_ids)
        rows = counted(self._repeated, "row has", "rows have")
        reason = (
            f"{rows} an id that a later row has with another text or other fields, and the later one is kept; "
            f"first ids: {ids}"
        )
        return Problem("", "", reason, self._repeated, True)

    def _last(self) -> list[Signed]:
        """Return the last document of each id that waits, at the place where it changed last; count the others."""
        kept, places = list[Signed | None](), dict[bytes, int]()
        for id_, mark, record in self._waiting:
            before = None if id_ is None or id_ not in places else kept[places[id_]]
            if before is not None and before[1] == mark:
                self._counts.unchanged += 1
                continue
            if id_ is not None:
                if before is not None:
                    kept[places[id_]] = None
                    self._repeat(id_)
                places[id_] = len(kept)
            kept.append((id_, mark, record))
        return [one for one in kept if one is not None]

    def _repeat(self, id_: bytes) -> None:
        self._repeated += 1
        if len(self._repeated_ids) < NAMED_IDS:
            self._repeated_ids[id_] = None

    def _commit(self) -> None:
        if self._waiting:
            done = self._writer.add(self._last(), self._arrived)
            # A row of this add that another one of it replaced: the counts are those of one batch.
            for repeated in done.repeated:
                self._repeat(repeated)
            done.replaced -= len(done.repeated)
            again = set(done.repeated)
            done.replaced_ids = [id_ for id_ in done.replaced_ids if id_ not in again]
            self._arrived += done.added + done.replaced + done.shadows
            self._counts += done
        for id_, mark, _ in self._waiting:
            if id_ is not None and self._newest.get(id_) == mark:
                del self._newest[id_]
        self._waiting, self._bytes = [], 0
