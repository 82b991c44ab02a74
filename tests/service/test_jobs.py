"""The file of jobs against a model, and what it keeps when the server dies."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from lookalike.errors import FormatError
from lookalike.service.comparing.jobs import (
    CANCELLED,
    DONE,
    FAILED,
    RUNNING,
    UPLOADING,
    WAITING,
    FullError,
    Jobs,
    Limits,
    StateError,
    Stored,
    TooLargeError,
)

LIMITS = Limits(queue=3, attempts=3, files=4, bytes=100, kept=10**6, retain=1000, upload=50)
FILE = Stored("submissions", "ann/a.py", "0a", 10)


@pytest.fixture
def jobs(tmp_path: Path):
    opened = Jobs(tmp_path / "jobs.sqlite", LIMITS)
    yield opened
    opened.close()


def waiting(jobs: Jobs, now: float = 0) -> str:
    name = jobs.create("ann", "http", {}, now).id
    jobs.add_files(name, [FILE])
    jobs.start(name)
    return name


def test_a_job_goes_from_upload_to_report(jobs: Jobs):
    job = jobs.create("ann", "http", {"k": 5}, 10)
    assert (job.state, job.options, job.created, job.expires) == (UPLOADING, {"k": 5}, 10, 60)
    assert jobs.add_files(job.id, [FILE]) == []
    assert jobs.files(job.id) == [FILE]
    jobs.start(job.id)
    claimed = jobs.claim(20)
    assert claimed is not None
    assert (claimed.id, claimed.state, claimed.attempts, claimed.started) == (job.id, RUNNING, 1, 20)
    jobs.finish(job.id, {"pairs": 3}, 30)
    done = jobs.get(job.id)
    assert done is not None
    assert (done.state, done.summary, done.finished, done.expires) == (DONE, {"pairs": 3}, 30, 1030)
    assert jobs.files(job.id) == []


def test_ids_and_addresses_are_apart_and_long(jobs: Jobs):
    made = [jobs.create("ann", "http", {}, 0) for _ in range(3)]
    assert len({job.id for job in made} | {job.address for job in made}) == 6
    assert all(len(job.address) * 6 >= 128 for job in made)
    assert all(job.id not in job.address for job in made)


def test_the_job_of_another_owner_does_not_exist(jobs: Jobs):
    name = waiting(jobs)
    assert jobs.get(name, "ann") is not None
    assert jobs.get(name, "bob") is None
    assert jobs.listed("bob", None, 10) == []


def test_an_address_ends_with_its_time(jobs: Jobs):
    job = jobs.create("ann", "http", {}, 0)
    assert jobs.at(job.address, 49.9) is not None
    assert jobs.at(job.address, 50) is None
    assert jobs.at(job.id, 0) is None


def test_the_queue_is_bounded(jobs: Jobs):
    for _ in range(3):
        waiting(jobs)
    with pytest.raises(FullError, match="try again later"):
        jobs.create("ann", "http", {}, 0)
    jobs.claim(1)
    jobs.create("ann", "http", {}, 0)


def test_a_file_that_is_sent_again_replaces_the_first(jobs: Jobs):
    name = jobs.create("ann", "http", {}, 0).id
    jobs.add_files(name, [FILE])
    assert jobs.add_files(name, [FILE._replace(stored="0b", bytes=7)]) == ["0a"]
    assert jobs.files(name) == [FILE._replace(stored="0b", bytes=7)]


@pytest.mark.parametrize(
    "files",
    [[FILE._replace(bytes=101)], [FILE._replace(path=str(i)) for i in range(5)]],
    ids=["bytes", "files"],
)
def test_what_exceeds_a_limit_is_not_recorded(jobs: Jobs, files: list[Stored]):
    name = jobs.create("ann", "http", {}, 0).id
    with pytest.raises(TooLargeError, match="at most"):
        jobs.add_files(name, files)
    assert jobs.files(name) == []


def test_what_one_owner_keeps_is_bounded(tmp_path: Path):
    """Uploads and reports count, those of others do not, and what is deleted makes room again."""
    with closing(Jobs(tmp_path / "jobs.sqlite", replace(LIMITS, kept=120))) as jobs:
        first, second = (jobs.create("ann", "http", {}, 0).id for _ in range(2))
        jobs.add_files(first, [FILE._replace(bytes=80)])
        assert jobs.room("ann") == 40
        with pytest.raises(TooLargeError, match="120 bytes"):
            jobs.add_files(second, [FILE._replace(bytes=41)])
        assert jobs.room("ann") == 40
        jobs.add_files(jobs.create("bob", "http", {}, 0).id, [FILE._replace(bytes=41)])
        jobs.start(first)
        jobs.claim(1)
        jobs.finish(first, {"bytes": 130}, 2)
        assert jobs.room("ann") == -10
        with pytest.raises(TooLargeError, match="delete some"):
            jobs.create("ann", "http", {}, 3)
        jobs.delete(first)
        assert jobs.room("ann") == 120
        jobs.create("ann", "http", {}, 3)


def test_states_are_counted(jobs: Jobs):
    waiting(jobs)
    jobs.create("bob", "http", {}, 0)
    assert jobs.counts() == {UPLOADING: 1, WAITING: 1, RUNNING: 0, DONE: 0, FAILED: 0, CANCELLED: 0}


def test_the_job_that_waited_longest_runs_first(jobs: Jobs):
    second, first = waiting(jobs, 5), waiting(jobs, 4)
    assert [jobs.claim(9).id for _ in range(2)] == [first, second]  # type: ignore[union-attr]
    assert jobs.claim(9) is None


def test_a_job_that_ran_when_the_server_died_runs_again_three_times(tmp_path: Path):
    path = tmp_path / "jobs.sqlite"
    first = Jobs(path, LIMITS)
    name = waiting(first)
    first.claim(1)
    first.close()
    for attempt in (1, 2):
        with closing(Jobs(path, LIMITS)) as jobs:
            again, failed = jobs.recover(2)
            assert [(job.id, job.state, job.attempts) for job in again] == [(name, WAITING, attempt)]
            assert failed == []
            jobs.claim(3)
    with closing(Jobs(path, LIMITS)) as jobs:
        again, (failed,) = jobs.recover(4)
    assert again == []
    assert (failed.id, failed.state, failed.attempts) == (name, FAILED, 3)
    assert "stopped 3 times" in (failed.reason or "")


def test_a_server_that_stops_in_order_counts_no_attempt(jobs: Jobs):
    name = waiting(jobs)
    for _ in range(5):
        jobs.claim(1)
        jobs.wait_again(name)
    claimed = jobs.claim(1)
    assert claimed is not None
    assert claimed.attempts == 1


def test_uploads_over_moss_end_with_the_server(jobs: Jobs):
    moss, http = jobs.create("ann", "moss", {}, 0).id, jobs.create("ann", "http", {}, 0).id
    jobs.recover(1)
    assert jobs.get(moss) is None
    assert jobs.get(http) is not None


def test_only_what_is_over_expires(jobs: Jobs):
    never_started = jobs.create("ann", "http", {}, 0).id
    waits, done = waiting(jobs, 1), waiting(jobs, 0)
    jobs.claim(2)
    jobs.finish(done, {}, 3)
    assert [job.id for job in jobs.expired(50)] == [never_started]
    assert {job.id for job in jobs.expired(1003)} == {never_started, done}
    assert waits in jobs.names()


def test_pages_of_a_list_join(jobs: Jobs):
    for now in (1, 2, 2):
        jobs.create("ann", "http", {}, now)
    whole = jobs.listed("ann", None, 10)
    assert [job.created for job in whole] == [2, 2, 1]
    place, paged = None, []
    while page := jobs.listed("ann", place, 1):
        paged += page
        place = page[-1].created, page[-1].id
    assert paged == whole


def test_a_file_that_is_not_ours_is_refused(tmp_path: Path):
    path = tmp_path / "jobs.sqlite"
    path.write_bytes(b"no database" * 100)
    with pytest.raises(FormatError, match="move it away"):
        Jobs(path, LIMITS)


def test_a_newer_version_is_refused(tmp_path: Path):
    path = tmp_path / "jobs.sqlite"
    Jobs(path, LIMITS).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(FormatError, match="format 9"):
        Jobs(path, LIMITS)


class Model(RuleBasedStateMachine):
    """States of jobs in a dictionary, and the file beside it."""

    names = Bundle("names")

    def __init__(self) -> None:
        super().__init__()
        self.jobs = Jobs(Path(":memory:"), replace(LIMITS, queue=10**6))
        self.states: dict[str, str] = {}
        self.attempts: dict[str, int] = {}
        self.now = 0.0

    def teardown(self) -> None:
        self.jobs.close()

    @rule(target=names)
    def create(self) -> str:
        self.now += 1
        name = self.jobs.create("ann", "http", {}, self.now).id
        self.states[name], self.attempts[name] = UPLOADING, 0
        return name

    def change(self, name: str, allowed: set[str], state: str, call) -> None:
        if self.states.get(name) in allowed:
            call()
            self.states[name] = state
        else:
            with pytest.raises(StateError):
                call()

    @rule(name=names)
    def start(self, name: str) -> None:
        self.change(name, {UPLOADING}, WAITING, lambda: self.jobs.start(name))

    @rule()
    def claim(self) -> None:
        expected = [name for name in self.states if self.states[name] == WAITING]
        claimed = self.jobs.claim(self.now)
        assert (claimed.id if claimed else None) == (expected[0] if expected else None)
        if claimed:
            self.states[claimed.id] = RUNNING
            self.attempts[claimed.id] += 1

    @rule(name=names)
    def finish(self, name: str) -> None:
        self.change(name, {RUNNING}, DONE, lambda: self.jobs.finish(name, {}, self.now))

    @rule(name=names)
    def fail(self, name: str) -> None:
        self.change(name, {UPLOADING, WAITING, RUNNING}, FAILED, lambda: self.jobs.fail(name, "why", self.now))

    @rule(name=names)
    def cancel(self, name: str) -> None:
        self.change(name, {UPLOADING, WAITING, RUNNING}, CANCELLED, lambda: self.jobs.cancel(name, self.now))

    @rule(name=consumes(names))
    def delete(self, name: str) -> None:
        self.jobs.delete(name)
        del self.states[name]

    @rule(name=names, number=st.integers(0, 3))
    def add(self, name: str, number: int) -> None:
        file = FILE._replace(path=str(number))
        self.change(name, {UPLOADING}, UPLOADING, lambda: self.jobs.add_files(name, [file]))

    @rule()
    def die(self) -> None:
        self.jobs.recover(self.now)
        for name, state in self.states.items():
            if state == RUNNING:
                self.states[name] = WAITING if self.attempts[name] < LIMITS.attempts else FAILED

    @invariant()
    def states_agree(self) -> None:
        assert {name: self.jobs.get(name).state for name in self.jobs.names()} == self.states  # type: ignore[union-attr]


Model.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
test_the_file_follows_the_model = Model.TestCase
