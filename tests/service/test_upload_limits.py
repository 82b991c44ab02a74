"""Uploads at the same time share one limit, nobody takes all places, and nothing is left of what was deleted."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sqlite3
import stat
import tracemalloc
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import lookalike as la
from lookalike import params
from lookalike.errors import ParameterError
from lookalike.service import tokens
from lookalike.service.comparing import child, uploads
from lookalike.service.comparing.jobs import FullError, Jobs, Limits, Stored, TooLargeError
from lookalike.service.comparing.reserving import Ledger, Upload
from lookalike.service.faults import FaultError
from support.comparisons import ALL, compared, zipped
from support.servers import PATIENCE, Server, serving, wait_for
from support.submissions import work, write

LIMITS = Limits(queue=8, attempts=3, files=100, bytes=100, kept=150, retain=1000, upload=500)


def stored_bytes(data: Path) -> int:
    """Return the bytes of all uploads."""
    return sum(path.stat().st_size for path in data.rglob("jobs/*/uploads/*"))


class Put:
    """A PUT that is sent in parts."""

    def __init__(self, server: Server, path: str, size: int) -> None:
        self._socket = socket.create_connection((server.host, server.port), timeout=PATIENCE)
        self.send(f"PUT {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {size}\r\n\r\n".encode())

    def __enter__(self) -> Put:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def status(self) -> int:
        """Return the status of the answer."""
        with self._socket.makefile("rb") as lines:
            return int(lines.readline().split()[1])


#: A body of two blocks as the server writes them, and a part of it after which the server waits for the second.
SIZE, FIRST = 2_000_000, 1_500_000


def test_uploads_at_the_same_time_share_the_room_of_a_comparison(tmp_path: Path):
    data, limit = tmp_path / "data", 5_500_000
    with serving(data=data, max_upload=limit, body_seconds=3_600) as server, ExitStack() as stack:
        name = server.ask("POST", ALL).json["id"]
        path = f"{ALL}/{name}/files/submissions"
        puts = [stack.enter_context(Put(server, f"{path}/{i}", SIZE)) for i in range(4)]
        for one in puts[:3]:
            one.send(b"a" * FIRST)
        wait_for(lambda: stored_bytes(data) >= 3 << 20, "three uploads under way")
        for one in puts[:3]:
            one.send(b"a" * (SIZE - FIRST))
        assert sorted(one.status() for one in puts[:3]) == [200, 200, 413]
        assert stored_bytes(data) == 2 * SIZE
        # What was refused takes no room.
        assert server.ask("PUT", f"{path}/rest", b"a" * (limit - 2 * SIZE)).status == 200
        assert server.ask("PUT", f"{path}/more", b"a").status == 413
        puts[3].send(b"a" * SIZE)
        assert puts[3].status() == 413


def test_an_upload_that_its_client_leaves_takes_no_room(tmp_path: Path):
    data = tmp_path / "data"
    with serving(data=data, max_upload=SIZE, body_seconds=3_600) as server:
        path = f"{ALL}/{server.ask('POST', ALL).json['id']}/files/submissions/a"
        with Put(server, path, SIZE) as put:
            put.send(b"a" * FIRST)
            wait_for(lambda: stored_bytes(data) > 0, "an upload under way")
            assert server.ask("PUT", path, b"b" * SIZE).status == 413
        wait_for(lambda: stored_bytes(data) == 0, "the upload is removed")
        wait_for(lambda: server.ask("PUT", path, b"b" * SIZE).status == 200, "its room is free")


@pytest.mark.parametrize("role", ["reader", "keeper"])
def test_a_process_that_is_killed_leaves_no_part_of_an_upload(tmp_path: Path, role: str):
    data = tmp_path / "data"
    with serving(data=data, max_upload=SIZE, readers=1, body_seconds=3_600) as server:
        path = f"{ALL}/{server.ask('POST', ALL).json['id']}/files/submissions/a"
        with Put(server, path, SIZE) as put:
            put.send(b"a" * FIRST)
            wait_for(lambda: stored_bytes(data) > 0, "an upload under way")
            (process,) = server.children()[role]
            os.kill(process, signal.SIGKILL)
            server.events(event="process-started", role=role)
            if role == "keeper":
                # The new keeper knows nothing of this upload, and its part was removed: it must not be recorded.
                put.send(b"a" * (SIZE - FIRST))
                assert put.status() == 503
            wait_for(lambda: stored_bytes(data) == 0, "the part is removed")
        wait_for(lambda: answered(server, "PUT", path, b"b" * SIZE) == 200, "its room is free")
        assert stored_bytes(data) == SIZE


def answered(server: Server, method: str, path: str, body: bytes) -> int:
    """Return the status of an answer; 0 if the connection broke, as it does while a reader is restarted."""
    try:
        return server.ask(method, path, body).status
    except OSError:
        return 0


class LedgerModel(RuleBasedStateMachine):
    """Reservations of two owners with two jobs each: what is reserved and recorded never exceeds a limit."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs = Jobs(Path(":memory:"), LIMITS)
        self.ledger = Ledger(self.jobs)
        self.names = {self.jobs.create(owner, "http", {}, 0).id: owner for owner in ("ann", "bob") for _ in range(2)}
        self.reserved: dict[str, tuple[Upload, int]] = {}
        self.recorded: dict[tuple[str, str], int] = {}

    def teardown(self) -> None:
        self.jobs.close()

    def used(self, wanted: Callable[[str], bool]) -> int:
        under_way = sum(size for upload, size in self.reserved.values() if wanted(upload.job))
        return under_way + sum(size for (job, _), size in self.recorded.items() if wanted(job))

    def fits(self, job: str, more: int) -> bool:
        owner = self.names[job]
        in_job, in_owner = self.used(lambda one: one == job), self.used(lambda one: self.names[one] == owner)
        return in_job + more <= LIMITS.bytes and in_owner + more <= LIMITS.kept

    @rule(number=st.integers(0, 3), peer=st.integers(1, 2), size=st.integers(0, 60))
    def begin(self, number: int, peer: int, size: int) -> None:
        job = list(self.names)[number]
        upload = Upload(secrets.token_hex(4), job, self.names[job], peer)
        self.grow(upload, 0, size)

    @rule(more=st.integers(0, 60))
    def go_on(self, more: int) -> None:
        for upload, before in list(self.reserved.values())[:1]:
            self.grow(upload, before, before + more)

    def grow(self, upload: Upload, before: int, size: int) -> None:
        if self.fits(upload.job, size - before):
            self.ledger.grow(upload, before, size)
            self.reserved[upload.stored] = upload, size
        else:
            with pytest.raises(TooLargeError):
                self.ledger.grow(upload, before, size)

    @rule(path=st.sampled_from("xyz"))
    def record(self, path: str) -> None:
        for upload, size in list(self.reserved.values())[:1]:
            self.ledger.record(upload.job, [Stored("submissions", path, upload.stored, size)], 0)
            self.recorded[upload.job, path] = self.reserved.pop(upload.stored)[1]

    @rule(peer=st.integers(1, 2))
    def leave(self, peer: int) -> None:
        expected = {stored for stored, (upload, _) in self.reserved.items() if upload.peer == peer}
        assert {upload.stored for upload in self.ledger.left(peer)} == expected
        for stored in expected:
            del self.reserved[stored]

    @rule()
    def drop(self) -> None:
        for stored in list(self.reserved)[:1]:
            self.ledger.drop([stored])
            del self.reserved[stored]

    @invariant()
    def agrees(self) -> None:
        for job in self.names:
            found = self.jobs.get(job)
            assert found is not None
            assert found.bytes == sum(size for (one, _), size in self.recorded.items() if one == job)
            assert found.files == len(self.jobs.files(job))
            assert self.used(lambda one, job=job: one == job) <= LIMITS.bytes
        assert self.ledger.jobs() == {upload.job for upload, _ in self.reserved.values()}


LedgerModel.TestCase.settings = settings(max_examples=100, stateful_step_count=30)
test_the_ledger_follows_the_model = LedgerModel.TestCase


def test_an_upload_that_the_ledger_does_not_know_is_not_recorded():
    with closing(Jobs(Path(":memory:"), LIMITS)) as file:
        ledger, name = Ledger(file), file.create("ann", "http", {}, 0).id
        upload = Upload("0a", name, "ann", 1)
        with pytest.raises(FaultError, match="interrupted"):
            ledger.grow(upload, 10, 20)
        with pytest.raises(FaultError, match="interrupted"):
            ledger.record(name, [Stored("submissions", "a", "0a", 0)], 0)
        assert file.files(name) == []


def test_one_owner_leaves_places_for_others():
    with closing(Jobs(Path(":memory:"), replace(LIMITS, is_shared=True))) as file:
        got = {}
        for owner in ("ann", "bob", "cid", "dan"):
            got[owner] = 0
            with suppress(FullError):
                while True:
                    file.create(owner, "http", {}, 0)
                    got[owner] += 1
        assert got == {"ann": 4, "bob": 2, "cid": 1, "dan": 1}


def test_one_token_does_not_stop_the_comparisons_of_others(tmp_path: Path):
    path = str(tmp_path / "tokens.jsonl")
    ann, bob = (tokens.make(path, name=name, scopes=["compare"]) for name in ("ann", "bob"))
    people = write(tmp_path / "people", {f"{i}/a.c": work(i % 3, "c") for i in range(4)})
    with serving(data=tmp_path / "data", token_file=path) as server:
        statuses = [server.ask("POST", ALL, token=ann).status for _ in range(params.JOB_QUEUE)]
        assert statuses == [201] * (params.JOB_QUEUE // 2) + [429] * (params.JOB_QUEUE // 2)
        refused = server.ask("POST", ALL, token=ann)
        assert "50 comparisons of your token are waiting" in refused.json["error"]["message"]
        assert compared(server, zipped(people), token=bob)["state"] == "done"


def test_an_upload_without_progress_ends_after_an_hour_and_one_with_progress_after_a_day():
    with closing(Jobs(Path(":memory:"), replace(LIMITS, upload=500, idle=60))) as file:
        left, goes_on = (file.create("ann", "http", {}, 0).id for _ in range(2))
        for now in range(50, 500, 50):
            file.add_files(goes_on, [Stored("submissions", "a", "0a", 1)], now)
            assert [job.id for job in file.expired(now)] == ([] if now < 60 else [left])
        assert {job.id for job in file.expired(500)} == {left, goes_on}


def found_in(folder: Path, words: list[bytes]) -> dict[str, set[bytes]]:
    """Return which of these words stand in which files, and in the names of which."""
    found = {}
    for path in folder.rglob("*"):
        data = os.fsencode(path) + (path.read_bytes() if path.is_file() else b"")
        if here := {word for word in words if word in data}:
            found[str(path.relative_to(folder))] = here
    return found


@pytest.mark.parametrize("is_done", [False, True])
def test_nothing_is_left_of_a_comparison_that_was_deleted(tmp_path: Path, is_done: bool):
    data = tmp_path / "data"
    with serving(data=data) as server:
        for number in range(5):
            name = server.ask("POST", f"{ALL}?title=Tiramisu{number}").json["id"]
            for person in ("zarathustra", "quetzalcoatl"):
                path = f"{ALL}/{name}/files/submissions/{person}{number}/main.c"
                assert server.ask("PUT", path, work(3, "c").encode()).status == 200
            words = [name.encode(), *(f"{word}{number}".encode() for word in ("Tiramisu", "zarathustra"))]
            if is_done:
                server.ask("POST", f"{ALL}/{name}/start")
                wait_for(lambda name=name: server.ask("GET", f"{ALL}/{name}").json["state"] == "done", "the end")
                words.append(server.ask("GET", f"{ALL}/{name}").json["report"].split("/")[2].encode())
            assert set().union(*found_in(data, words).values()) == set(words), "the search finds what is there"
            assert server.ask("DELETE", f"{ALL}/{name}").status == 204
            assert found_in(data, words) == {}


def test_names_of_files_are_gone_with_a_cancelled_comparison(tmp_path: Path):
    data = tmp_path / "data"
    with serving(data=data) as server:
        name = server.ask("POST", ALL).json["id"]
        server.ask("PUT", f"{ALL}/{name}/files/submissions/zarathustra/a.c", b"int i;")
        assert server.ask("POST", f"{ALL}/{name}/cancel").status == 200
        assert found_in(data, [b"zarathustra"]) == {}


def test_a_new_token_of_an_old_name_has_nothing_of_it(tmp_path: Path):
    path = tmp_path / "tokens.jsonl"
    old = tokens.make(str(path), name="course", scopes=["compare"])
    with serving(data=tmp_path / "data", token_file=path, readers=1) as server:
        name = server.ask("POST", ALL, token=old).json["id"]
        kept = path.read_text()
        path.unlink()
        new = tokens.make(str(path), name="course", scopes=["compare"])
        wait_for(lambda: server.ask("GET", ALL, token=new).status == 200, "the new token")
        assert server.ask("GET", ALL, token=new).json["comparisons"] == []
        assert server.ask("GET", f"{ALL}/{name}", token=new).status == 404
        assert server.ask("GET", ALL, token=old).status == 401
        path.write_text(kept)
        wait_for(lambda: server.ask("GET", ALL, token=old).status == 200, "the old token")
        assert [job["id"] for job in server.ask("GET", ALL, token=old).json["comparisons"]] == [name]


#: The tables of version 1.
VERSION_1 = """
CREATE TABLE jobs (
    id TEXT PRIMARY KEY, address TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, origin TEXT NOT NULL, state TEXT NOT NULL,
    options TEXT NOT NULL, created REAL NOT NULL, started REAL, finished REAL, expires REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, reason TEXT, summary TEXT, key TEXT, digest TEXT
) STRICT;
CREATE UNIQUE INDEX jobs_by_key ON jobs (owner, key) WHERE key IS NOT NULL;
CREATE INDEX jobs_by_owner ON jobs (owner, created, id);
CREATE INDEX jobs_by_state ON jobs (state, created, id);
CREATE TABLE files (
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE, role TEXT NOT NULL, path BLOB NOT NULL,
    stored TEXT NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY (job, role, path)
) STRICT, WITHOUT ROWID;
PRAGMA user_version = 1;
"""


def version_1(path: Path, *owners: str) -> None:
    with closing(sqlite3.connect(path)) as old:
        old.executescript(VERSION_1)
        for owner in owners:
            row = (f"{owner.encode().hex():0>24}", owner or "-", owner, "http", "uploading", "{}", 1.0, 4e9)
            old.execute(
                "INSERT INTO jobs (id, address, owner, origin, state, options, created, expires) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )
            old.execute("INSERT INTO files VALUES (?, 'submissions', x'61', '0a', 7)", row[:1])
        old.commit()


def test_jobs_of_the_earlier_format_keep_their_owner(tmp_path: Path):
    path = tmp_path / "jobs.sqlite"
    version_1(path, "ann", "bob", "")
    for _ in range(2):
        with closing(Jobs(path, LIMITS, {"ann": "a1"})) as file:
            (job,) = file.listed("a1", None, 9)
            assert (job.bytes, job.files) == (7, 1)
            assert file.room("a1") == LIMITS.kept - 7
            assert len(file.listed("", None, 9)) == 1
            assert file.listed("bob", None, 9) == file.listed("ann", None, 9) == []


def test_a_server_takes_the_earlier_format_and_tells_what_has_no_owner(tmp_path: Path):
    path = str(tmp_path / "tokens.jsonl")
    ann = tokens.make(path, name="ann", scopes=["compare"])
    (tmp_path / "data").mkdir()
    version_1(tmp_path / "data" / "jobs.sqlite", "ann", "gone")
    with serving(data=tmp_path / "data", token_file=path) as server:
        told = server.ask("GET", ALL, token=ann)
        assert told.status == 200, told.body
        assert len(told.json["comparisons"]) == 1
        (event,) = server.events(event="comparisons-without-owner")
        assert event["comparisons"] == 1


def test_names_that_several_tokens_have_own_nothing(tmp_path: Path):
    path = tmp_path / "tokens.jsonl"
    for name in ("ann", "bob"):
        tokens.make(str(path), name=name, scopes=["read"])
    assert set(tokens.owners(str(path))) == {"ann", "bob"}
    path.write_text(path.read_text().replace('"bob"', '"ann"'))
    assert tokens.owners(str(path)) == {}


LABELS = st.lists(
    st.lists(st.sampled_from(["a", "a (2)", "a (3)", "b", "a.c", "a (2).c"]), min_size=1, max_size=3).map("/".join),
    max_size=14,
)


@given(LABELS)
def test_files_of_one_folder_stay_together_and_no_two_folders_become_one(labels: list[str]):
    places = uploads.Places()
    taken = [places.take(label) for label in labels]
    folders = {(label.rpartition("/")[0], place.rpartition("/")[0]) for label, place in zip(labels, taken, strict=True)}
    assert len(folders) == len({label for label, _ in folders}) == len({place for _, place in folders})


@given(LABELS)
def test_labels_are_unique(labels: list[str]):
    taken = uploads.Labels()
    found = [taken.take(label) for label in labels]
    assert len(set(found)) == len(labels)
    assert found[:1] == labels[:1]
    assert set(labels) <= set(found)


class Counting(set):
    """A set that counts how often it is asked."""

    asked = 0

    def __contains__(self, one: object) -> bool:
        Counting.asked += 1
        return super().__contains__(one)


def test_places_of_equal_names_take_linear_time(monkeypatch: pytest.MonkeyPatch):
    """Files `a`, then files below a folder `a`: each place is looked at a few times, not once per earlier file."""
    monkeypatch.setattr(uploads, "set", Counting, raising=False)
    count = 300
    places = uploads.Places()
    monkeypatch.setattr(Counting, "asked", 0)
    for _ in range(count):
        places.take("a")
    for number in range(count):
        places.take(f"a/{number}")
    assert count < Counting.asked < 6 * count


def taken_bytes(work: Callable[[], object]) -> int:
    """Return how many bytes of memory the result of a call keeps."""
    tracemalloc.start()
    try:
        kept = work()
        return tracemalloc.get_traced_memory()[0] if kept else 0
    finally:
        tracemalloc.stop()


def test_names_take_memory_in_proportion_to_their_bytes():
    names = [f"{number:03}/{'x/' * 60}a" for number in range(500)]
    size = sum(map(len, names))

    def labelled() -> object:
        labels = uploads.Labels()
        return labels, [labels.take(name) for name in names]

    def placed() -> object:
        places = uploads.Places()
        return places, [places.take(name) for name in names]

    assert taken_bytes(labelled) < 5 * size
    # One folder of a tree is some hundred bytes, and each of these has a name of two.
    assert taken_bytes(placed) < 1_500 * 61 * len(names)
    shallow = [name.replace("x/" * 60, "x/" * 30) for name in names]
    deep, names[:] = taken_bytes(placed), shallow
    assert deep < 3 * taken_bytes(placed)


def test_a_tree_has_a_limit_of_folders(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(uploads, "MOST_FOLDERS", 10)
    places = uploads.Places()
    for number in range(20):
        places.take(f"same/{number}")
    for number in range(9):
        places.take(f"{number}/a")
    with pytest.raises(TooLargeError, match="more than 10 folders"):
        places.take("one/more")


@pytest.mark.parametrize("make", [uploads.checked, uploads.Labels().take], ids=["http", "moss"])
def test_a_path_is_neither_too_long_nor_too_deep(make: Callable[[str], str]):
    deepest = "/".join(["x"] * uploads.LABEL_PARTS)
    longest = "/".join(["y" * 127] * 8)
    assert (make(deepest), make(longest)) == (deepest, longest)
    for path, reason in ((f"{deepest}/x", "too deep"), (f"{longest}yy", "too long")):
        with pytest.raises(ParameterError, match=reason):
            make(path)


def test_what_a_server_writes_is_for_its_user_only(tmp_path: Path):
    people = write(tmp_path / "people", {f"{i}/a.c": work(i % 3, "c") for i in range(4)})
    earlier = os.umask(0o022)
    try:
        with serving(data=tmp_path / "data") as server:
            assert compared(server, zipped(people))["state"] == "done"
            every = [tmp_path / "data" / "jobs", *(tmp_path / "data" / "jobs").rglob("*")]
            assert {stat.S_IMODE(path.lstat().st_mode) for path in every} == {0o700, 0o600}
            assert stat.S_IMODE((tmp_path / "data" / "jobs.sqlite").stat().st_mode) == 0o600
    finally:
        os.umask(earlier)


def test_an_index_is_for_its_owner_only(tmp_path: Path):
    earlier = os.umask(0o022)
    try:
        with la.Index.create(tmp_path / "archive", kind="class") as index:
            index.add({"a": "some words of a text"})
            index.backup(tmp_path / "copy")
    finally:
        os.umask(earlier)
    for name in ("archive", "copy"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700


def test_the_trace_of_a_fault_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fails(*_: object) -> None:
        raise ValueError("x" * 1_000_000 + "the end")

    monkeypatch.setattr(child, "compared", fails)
    task = child.Task(str(tmp_path), str(tmp_path / "1"), [], {}, {}, False, 1 << 30, 0, None)
    assert "a fault of lookalike (ValueError)" in child._outcome(task, lambda *_: None)["reason"]
    told = (tmp_path / child.FAULT).read_text()
    assert len(told) == child.FAULT_LETTERS
    assert told.endswith("the end\n")
