"""Adds the rows of a deduplication to its index: kept rows as documents, removed near-duplicates as shadows.

A shadow has the content hash and the keys of a removed text, its time, and hashes of its id and of the id of the row
that was kept for it; nothing of it can be read. It keeps its place in the lists of holders, and a later row with the
same text follows the same document. Rows are added in their order, which is their rank. Identical rows and rows without
a text are not added.

**Names.** A kept row is added under its id. If another document has that id, the row is added as ``id~run:row``: it
never replaces a document. A row without an id gets the digits of its content hash.

**A repeated run** adds nothing, because the index has its rows. Their metadata stay as they were stored: replacing them
would change the rank of the rows and drop their shadows. Rows whose metadata or times have changed are told.

Cost: a pass over the sources, and that of signing the rows that are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lookalike import _core
from lookalike._types import Progress, counted, text_of, unheard
from lookalike.archive.adding import Adding
from lookalike.archive.runs import name as named
from lookalike.archive.runs import note
from lookalike.archive.signing import Reading, SignedBatch, signer
from lookalike.archive.signing_rows import signed
from lookalike.archive.writing import Signed
from lookalike.deduplication.after import HASH_BYTES, Decision, content_digits
from lookalike.deduplication.result import Deduplication
from lookalike.documents.reasons import RefusedError

if TYPE_CHECKING:
    from lookalike.archive.store import Index

ADDING = "adding to the index"


def add(
    answer: Deduplication, decision: Decision, index: Index, progress: Progress | None, time_column: str | None
) -> None:
    """Add the rows that the index lacks, and note how many in the answer, and which times could not be read.

    Errors: ``OSError``; ``RefusedError`` if a source was changed meanwhile. What was added by then stays: the same run
    again continues there.
    """
    writer = index._changes()
    adding, rows = Adding(writer), _Rows(answer, decision, index, time_column)
    if len(decision.additions):
        writer.note_run(note(writer.state, decision.archived.run))
    done = adding.run(rows.batches(progress or unheard))
    archived = decision.archived
    archived.added, archived.shadows, archived.renamed = done, rows.shadows, rows.renamed
    answer.problems.extend(done.skipped)
    answer.notes.extend(rows.changed.notes())
    if rows.taken != len(decision.additions):
        raise RefusedError("an input was changed while it was read: run again")


class _Changed:
    """Watches rows that the index has of this run, for other metadata or times than it stores."""

    def __init__(self, core: _core.Snapshot, known: Mapping[int, bytes]) -> None:
        numbers = core.find_ids(list(known.values()))
        marks = [bytes(core.row(number).mark) for number in numbers if number is not None]
        #: Marks by content hash, until the first row with it was looked at.
        self._stored = {mark[:HASH_BYTES]: mark for mark in marks}
        self._count, self._first = 0, ""

    def __bool__(self) -> bool:
        return bool(self._stored)

    def look(self, ids: Sequence[bytes], marks: Sequence[bytes]) -> None:
        """Look at the rows of a batch, in their order."""
        for id_, mark in zip(ids, map(bytes, marks), strict=True):
            stored = self._stored.pop(mark[:HASH_BYTES], mark)
            if stored != mark:
                self._count += 1
                self._first = self._first or text_of(id_)

    def notes(self) -> list[str]:
        """Return a note on the rows that have changed."""
        if not self._count:
            return []
        rows = counted(self._count, "row has", "rows have")
        return [
            f"{rows} other metadata or times than the index keeps of this run, such as `{self._first}`: it keeps "
            "those of the first time; `lookalike index add` replaces them"
        ]


class _Rows:
    """Makes records of rows."""

    def __init__(self, answer: Deduplication, decision: Decision, index: Index, time_column: str | None) -> None:
        self.shadows = self.renamed = self.taken = 0
        self._answer, self._run, self._additions = answer, decision.archived.run, decision.additions
        self._first = answer.references
        self._core = index._view().core
        self._parameters, self._time_column = index.parameters, time_column
        #: Ids in the index of documents and rows that lead a cluster, by their number in the answer.
        self._leaders = {number: kept.id for number, kept in enumerate(decision.archived.kept)}
        self._leaders |= {self._first + row: id_ for row, id_ in decision.known.items()}
        self.changed = _Changed(self._core, decision.known)

    def batches(self, tell: Progress) -> Iterator[SignedBatch]:
        """Yield the records of all rows that the index lacks, in order. What was skipped was told when it was read."""
        if not len(self._additions) and not self.changed:
            return
        asked = self._answer.settings
        how = Reading(text_column=asked.text_column, id_column=asked.id_column, format=asked.format)
        how = how._replace(time_column=self._time_column)
        by = signer(self._parameters, asked.threads)
        total = sum(one.source.size for one in self._answer.stretches) or None
        before = 0
        for stretch in self._answer.stretches[1:]:
            for batch in signed(stretch.source, by, how, self._known):
                records = list(self._records(batch, stretch.first - self._first))
                yield SignedBatch(records, [], notes=batch.notes)
                tell(ADDING, before + stretch.source.done, total)
            before += stretch.source.size

    def _known(self, ids: list[bytes], marks: list[bytes]) -> list[bool]:
        self.changed.look(ids, marks)
        return self._additions.known(marks)

    def _records(self, batch: SignedBatch, first: int) -> Iterator[Signed]:
        """Yield the rows of a batch as the index keeps them; ``first`` is the first row of their source."""
        ids = [id_ or b"" for id_, _, _ in batch.documents]
        for id_, (_, mark, record), other in zip(ids, batch.documents, self._core.find_ids(ids), strict=True):
            row = self._additions.row(mark)
            if row is None:
                continue
            self.taken += 1
            number = self._first + row
            if self._answer.links[number]:
                self.shadows += 1
                yield None, mark, _core.shadowed(record, f'{{"run":"{self._run}"}}'.encode(), self._leader(number))
                continue
            place = named(self._run, row)
            name = self._name(id_, bytes(mark), place, is_taken=other is not None)
            if number in self._answer.cluster_sizes:
                self._leaders[number] = name
            fields = f'"row":{row - first},"run":"{place}"'.encode()
            yield name, mark, _core.readdressed(record, name, fields)

    def _leader(self, number: int) -> tuple[bytes, float, int]:
        """Return the document for which a row was removed, the score, and the link."""
        answer = self._answer
        return self._leaders[answer.survivors[number]], answer.resemblances[number], answer.links[number]

    def _name(self, id_: bytes, mark: bytes, place: str, *, is_taken: bool) -> bytes:
        name = id_ or content_digits(mark).encode()
        if self._additions.is_new(name) and not is_taken:
            return name
        self.renamed += 1
        return name + f"~{place}".encode()
