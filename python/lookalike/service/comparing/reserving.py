"""Room for uploads that are under way: every byte is reserved in the keeper before it is written.

All readers and the port of MOSS ask the same ledger, so uploads at the same time share one limit per job and one per
owner. A reservation is the whole size that an upload has reached, and goes up in steps; each step names the size before
it, so one that a restart of the keeper has forgotten is noticed. It ends when the file is recorded or given up, or with
the connection of the reader that made it. Only the thread of the file of jobs uses it. Cost: constant per step, beside
one sum over the jobs of the owner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lookalike.service.comparing.jobs import Job, Jobs, Stored
from lookalike.service.faults import KEEPER_GONE, FaultError


class Upload(NamedTuple):
    """An upload that is under way."""

    #: The name of its file in the folder of uploads.
    stored: str
    job: str
    owner: str
    #: The connection of the reader that writes it; ``None``: this process does.
    peer: int | None


class Ledger:
    """What is reserved."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._uploads: dict[str, tuple[Upload, int]] = {}
        #: Reserved bytes by job and by owner.
        self._of_job: Counter[str] = Counter()
        self._of_owner: Counter[str] = Counter()

    def grow(self, upload: Upload, before: int, size: int) -> Job:
        """Let an upload that has reserved ``before`` bytes take ``size``; return its job.

        Errors: ``StateError``, ``TooLargeError``; ``FaultError`` if the upload is not known any more.
        """
        if before and upload.stored not in self._uploads:
            raise FaultError(KEEPER_GONE)
        more = size - self._size(upload.stored)
        job = self._jobs.check_growth(
            upload.job, upload.owner, self._of_job[upload.job] + more, self._of_owner[upload.owner] + more
        )
        self._set(upload, size)
        return job

    def record(self, name: str, files: Sequence[Stored], now: float) -> list[str]:
        """Record files whose bytes are reserved; return the stored names of those that they replace.

        They count once: as reserved before, as recorded after. Errors: as ``grow``.
        """
        if any(one.stored not in self._uploads or self._size(one.stored) < one.bytes for one in files):
            raise FaultError(KEEPER_GONE)
        try:
            return self._jobs.add_files(name, files, now)
        finally:
            self.drop(one.stored for one in files)

    def drop(self, stored: Iterable[str]) -> None:
        """Forget uploads that were given up."""
        for name in stored:
            if name in self._uploads:
                self._set(self._uploads[name][0], 0)
                del self._uploads[name]

    def left(self, peer: int) -> list[Upload]:
        """Forget and return the uploads of a reader that is gone."""
        found = [upload for upload, _ in self._uploads.values() if upload.peer == peer]
        self.drop(upload.stored for upload in found)
        return found

    def jobs(self) -> set[str]:
        """Return the jobs that have uploads under way."""
        return {upload.job for upload, _ in self._uploads.values()}

    def _size(self, stored: str) -> int:
        found = self._uploads.get(stored)
        return 0 if found is None else found[1]

    def _set(self, upload: Upload, size: int) -> None:
        more = size - self._size(upload.stored)
        for counter, key in ((self._of_job, upload.job), (self._of_owner, upload.owner)):
            counter[key] += more
            if not counter[key]:
                del counter[key]
        self._uploads[upload.stored] = upload, size
