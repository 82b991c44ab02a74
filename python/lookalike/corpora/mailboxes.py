"""Reads mailboxes (mbox): each message is a row, its subject and text are compared, and messages are copied unchanged.

A mailbox is read message by message, whatever its size; one message is held at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from lookalike._types import Problem
from lookalike.corpora.batches import CHUNK_BYTES, RECORD_BYTES, Texts, remarks
from lookalike.corpora.encodings import Removed
from lookalike.corpora.lines import check_rows, read
from lookalike.corpora.places import InPlace, Place
from lookalike.documents.reasons import in_bytes
from lookalike.errors import FrontendError
from lookalike.frontends import mail

#: Messages handed over at a time, however small.
_MOST_MESSAGES = 1024


@dataclass
class MailboxSource(InPlace):
    """A mailbox."""

    place: Place
    compression: str | None
    problems: list[Problem] = field(default_factory=list)
    format: str = "mbox"

    def batches(self) -> Iterator[Texts]:
        """Yield the texts of the messages, with their own ids."""
        self.problems.clear()
        rows: list[tuple[str | None, bytes | str | None]] = []
        notes: Counter[str] = Counter()
        total = row = 0
        for cut in mail.cuts(read(self, self.compression, self.problems), RECORD_BYTES):
            if not cut.is_end:
                continue
            text = self._text(cut, row, notes)
            rows.append((mail.id_of(cut.data) if cut.is_whole else None, text))
            total += len(text or "")
            row += 1
            if total >= CHUNK_BYTES or len(rows) >= _MOST_MESSAGES:
                yield Texts(rows)
                rows, total = [], 0
        self.problems += remarks(self.name, notes, "message")
        if rows:
            yield Texts(rows)

    def _text(self, cut: mail.Cut, row: int, notes: Counter[str]) -> str | None:
        try:
            if not cut.is_whole:
                raise FrontendError(f"larger than {in_bytes(RECORD_BYTES)}")
            found = mail.message(mail.unwrapped(cut.data))
        except FrontendError as error:
            self.problems.append(Problem(self.name, f"row {row}", f"{error}; it is not compared", 1))
            return None
        notes.update(note.partition(":")[0] for note in found.notes)
        return found.text

    def kept(self, mask: bytes) -> Iterator[tuple[bytes, list[Removed]]]:
        """Yield kept bytes and removed messages."""
        self.problems.clear()
        row = at = 0
        for cut in mail.cuts(read(self, self.compression, self.problems), RECORD_BYTES):
            if row >= len(mask):
                check_rows(row + 1, len(mask))
            if mask[row]:
                yield cut.data, []
                at += len(cut.data)
            else:
                yield b"", [Removed(row, at, cut.data)]
            row += cut.is_end
        check_rows(row, len(mask))
