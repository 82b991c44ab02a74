"""The folders of jobs below the data of a server: what is where, and how it is removed.

::

    jobs.sqlite          the file of jobs
    jobs/ID/uploads/     files as they came, under random names
    jobs/ID/2/tree/      the same files as the second attempt reads them; no two attempts share a folder
    jobs/ID/2/report/    its report; names behind codes stand beside it
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection
from pathlib import Path

from lookalike.service.comparing.child import REPORT, ROWS, UPLOADS
from lookalike.service.comparing.jobs import DONE, ID_BYTES, Job

_ID = re.compile(rf"[0-9a-f]{{{2 * ID_BYTES}}}")


class Folders:
    """The folders of all jobs of a server."""

    def __init__(self, data: str) -> None:
        self.jobs_file = Path(data) / "jobs.sqlite"
        self._root = Path(data) / "jobs"

    def prepare(self) -> None:
        """Make the folder of all jobs. Errors: ``OSError``."""
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)

    def job(self, name: str) -> Path:
        """Return the folder of a job. REQUIRES: ``name`` is an id from the file of jobs."""
        assert _ID.fullmatch(name), "an id from the file of jobs"
        return self._root / name

    def make(self, name: str) -> None:
        """Make the folder of a new job. Errors: ``OSError``."""
        self.job(name).mkdir(mode=0o700)
        self.uploads(name).mkdir(mode=0o700)

    def uploads(self, name: str) -> Path:
        """Return the folder of the uploads of a job."""
        return self.job(name) / UPLOADS

    def attempt(self, job: Job) -> Path:
        """Return the folder of the current attempt of a job."""
        return self.job(job.id) / str(job.attempts)

    def report(self, job: Job) -> Path:
        """Return the folder of the report of a job that is done."""
        return self.attempt(job) / REPORT

    def rows(self, job: Job) -> Path:
        """Return the rows for the page of MOSS."""
        return self.attempt(job) / ROWS

    def tidy(self, job: Job) -> None:
        """Remove what a job that is over does not need: its uploads, and all but the report of its last attempt."""
        folder = self.job(job.id)
        last = job.attempts - 1 if job.state == DONE else job.attempts
        for one in (folder / UPLOADS, *(folder / str(attempt) for attempt in range(1, last + 1))):
            shutil.rmtree(one, ignore_errors=True)

    def remove(self, name: str) -> None:
        """Remove everything of a job."""
        shutil.rmtree(self.job(name), ignore_errors=True)

    def unrecorded(self, name: str, recorded: Collection[str]) -> list[str]:
        """Return the stored names of uploads of a job that are not recorded."""
        try:
            found = os.listdir(self.uploads(name))
        except FileNotFoundError:
            return []
        return [one for one in found if one not in recorded]

    def strays(self, known: Collection[str]) -> list[str]:
        """Return the ids of folders whose job is forgotten: the server died while it removed them."""
        return [one.name for one in self._root.iterdir() if _ID.fullmatch(one.name) and one.name not in known]
