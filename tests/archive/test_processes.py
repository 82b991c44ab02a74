"""Several processes and one index: readers beside a writer, two writers, forks, moved folders, read-only folders."""

from __future__ import annotations

import os
import platform
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lookalike as la
from lookalike.archive import copies, copying, lock
from lookalike.archive.catalogue import Catalogue
from lookalike.archive.folder import Folder, network_of
from lookalike.archive.lock import WriterLock
from lookalike.archive.opening import check_local
from lookalike.archive.state import Change
from lookalike.engines.writing import WriteError
from tests.support.archive_children import Server, follow, operations
from tests.support.archives import PARAMETERS, Model, create, fast_folder, listed, reopen, snapshot_of
from tests.support.records import signed

ROOT = Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("LOOKALIKE_TORTURE_SEED", "20261117"))
LOOKS = int(os.environ.get("LOOKALIKE_TORTURE_LOOKS", "150"))


@pytest.fixture
def place() -> Iterator[Path]:
    with fast_folder() as folder:
        yield folder


def python(code: str, *arguments: object, **more: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, **more)  # type: ignore[call-overload, no-any-return]


def test_a_reader_sees_everything_acknowledged_before_and_never_a_mix(place: Path):
    """Snapshots beside a process that adds, removes, compacts and purges: each is one state, and not an old one."""
    path, draw = place / "index", random.Random(SEED)
    create(path).close()
    states, ahead, acknowledged = [Model()], operations(SEED), 0
    with Server() as server:
        child = server.begin(path, SEED)
        assert server.acknowledged()
        held = la.Index(path)
        for _ in range(LOOKS):
            for _ in range(draw.randint(1, 4)):
                assert server.acknowledged()
                acknowledged += 1
            index = held if draw.random() < 0.7 else la.Index(path)
            with index.snapshot() as view:
                found = list(zip([bytes(row.id) for _, row in view.rows()], view.records(), strict=True))
            if index is not held:
                index.close()
            while found not in [listed(one) for one in states[acknowledged:]]:
                assert len(states) < acknowledged + 400, "no state of the index, or one from the past"
                states.append(follow(states[-1], next(ahead)))
        os.kill(child, signal.SIGKILL)
        assert server.ended() == -signal.SIGKILL
        held.close()


def test_a_snapshot_outlives_the_files_it_was_made_of(place: Path):
    with create(place / "index") as index:
        for number in range(9):
            index._add_records([signed(f"d{number}", f"text {number}")])
        with la.Index(place / "index") as reader, reader.snapshot() as view:
            before = list(view.records())
            names = {one.name for one in view.state.segments}
            index.remove([f"d{number}" for number in range(9)], purge=True)
            assert not names & set(os.listdir(place / "index"))
            assert list(view.records()) == before
            assert len(reader) == 0


def test_a_second_writer_is_told_who_has_the_index(place: Path):
    with create(place / "index"):
        with pytest.raises(la.LockedError, match=f"process {os.getpid()} on {platform.node()}"):
            reopen(place / "index")
        with pytest.raises(la.LockedError):
            la.Index.open(place / "index", write=True, wait=0.2)
        # Readers do not mind.
        assert snapshot_of(place / "index") == []
    reopen(place / "index").close()


def test_a_writer_waits_for_the_lock(place: Path):
    code = (
        "import sys, lookalike as la\n"
        "print('ready', flush=True)\n"
        "with la.Index.open(sys.argv[1], write=True, wait=600) as index: print('open', flush=True)\n"
    )
    index = create(place / "index")
    child = subprocess.Popen([sys.executable, "-c", code, str(place / "index")], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    index.close()
    assert child.stdout.readline() == "open\n"
    assert child.wait() == 0
    child.stdout.close()


def test_a_writer_whose_lock_was_deleted_is_refused(place: Path):
    """Whoever opens the index next may change it; what the first one commits then would be a mix of both."""
    first = create(place / "index")
    first._add_records([signed("a", "x")])
    (place / "index" / "lock").unlink()
    with reopen(place / "index") as second:
        second._add_records([signed("b", "y")])
        with pytest.raises(la.LockedError, match="was deleted or replaced"):
            first._add_records([signed("c", "z")])
        second._add_records([signed("d", "z")])
    first.close()
    assert [id_ for id_, _ in snapshot_of(place / "index")] == [b"a", b"b", b"d"]


def test_a_commit_on_an_older_state_is_refused(place: Path):
    with create(place / "index") as index:
        index._add_records([signed("a", "x")])
        other = Catalogue(index._folder, write=True)
        state, _ = other.read()
        index._add_records([signed("b", "y")])
        with pytest.raises(la.LockedError, match="another process has changed"):
            other.apply(state, Change(garbage=frozenset(["seg-00000000000000ff.lat"]), segments=255))
        other.close()
        index._add_records([signed("c", "z")])
    assert [id_ for id_, _ in snapshot_of(place / "index")] == [b"a", b"b", b"c"]


@pytest.mark.parametrize("moment", ["before it is locked", "while another one has it"])
def test_the_lock_is_taken_of_the_file_that_stands_in_the_folder(
    place: Path, monkeypatch: pytest.MonkeyPatch, moment: str
):
    """The file is deleted and made again between opening and locking it."""
    create(place / "index").close()
    folder, lock_file = Folder.open(place / "index"), place / "index" / "lock"
    holder = WriterLock(folder) if moment == "while another one has it" else None
    real = lock._is_taken

    def late(handle: int) -> bool:
        monkeypatch.setattr(lock, "_is_taken", real)
        lock_file.unlink()
        lock_file.touch()
        return real(handle)

    monkeypatch.setattr(lock, "_is_taken", late)
    taken = WriterLock(folder)
    taken.check_kept()
    with pytest.raises(la.LockedError, match=f"process {os.getpid()}"):
        WriterLock(folder)
    taken.release()
    if holder is not None:
        holder.release()


FORKED = """
import os, sys
import lookalike as la
from tests.support.archives import create
from tests.support.records import signed

index = create(sys.argv[1])
index._add_records([signed("parent", "a")])
child = os.fork()
if child == 0:
    # Reading works in the child, changing does not, and closing takes nothing from the parent.
    assert [one.id for one in index.documents()] == ["parent"]
    try:
        index._add_records([signed("child", "b")])
    except la.ParameterError as error:
        assert "forked" in str(error), error
        index.close()
        os._exit(0)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
try:
    la.Index.open(sys.argv[1], write=True)
except la.LockedError:
    index._add_records([signed("later", "c")])
    os._exit(0)
os._exit(2)
"""


def test_a_forked_process_cannot_change_the_index(place: Path):
    done = python(FORKED, place / "index")
    assert done.returncode == 0, done.stderr
    assert [id_ for id_, _ in snapshot_of(place / "index")] == [b"parent", b"later"]


FORKED_READER = """
import os, sys
import lookalike as la
from tests.support.archives import create
from tests.support.records import signed
from tests.archive.test_processes import ADD, python

path = sys.argv[1]
with create(path) as index:
    index._add_records([signed("seed", "a")])
keep, (told, tell), (heard, answer) = la.Index(path), os.pipe(), os.pipe()
assert len(keep) == 1
child = os.fork()
if child == 0:
    fresh = la.Index(path)
    for turn in range(4):
        seen = [one.id for one in keep.documents()]
        assert seen == ["seed", *map(str, range(turn))], (turn, seen)
        assert [one.id for one in fresh.documents()] == seen
        assert keep.check() == []
        os.write(answer, b"x")
        os.read(told, 1)
    keep.close()
    os.write(answer, b"y")
    os._exit(0)
os.close(answer)
assert os.read(heard, 1) == b"x"
keep.close()
for turn in range(4):
    # The last one to close the catalogue deletes its journal, unless another process is known to use it.
    done = python(ADD, path, turn)
    assert done.returncode == 0, done.stderr
    os.write(tell, b"x")
    assert os.read(heard, 1), turn
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
ADD = """
import sys
from tests.support.archives import reopen
from tests.support.records import signed

with reopen(sys.argv[1]) as index:
    index._add_records([signed(sys.argv[2], "text")])
"""


def test_a_forked_reader_sees_what_is_committed_later(place: Path):
    done = python(FORKED_READER, place / "index")
    assert done.returncode == 0, done.stderr


FORKS = """
import os, sys, threading
from tests.support.archives import create
from tests.support.records import signed

index, is_over = create(sys.argv[1]), threading.Event()


def add():
    for number in range(60):
        index._add_records([signed(f"d{number}", "text")])
    is_over.set()


adding = threading.Thread(target=add)
adding.start()
while not is_over.is_set():
    child = os.fork()
    if child == 0:
        index._catalogue.read()
        os._exit(0 if index.check() == [] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
adding.join()
assert len(index) == 60 and index.check() == []
"""


def test_a_process_forks_while_a_thread_of_it_adds(place: Path):
    done = python(FORKS, place / "index")
    assert done.returncode == 0, done.stderr


ORPHAN = """
import os, sys
from tests.support.archives import create

index = create(sys.argv[1])
told, tell = os.pipe()
if os.fork() == 0:
    os.write(tell, b"x")
    sys.stdin.read()
    os._exit(0)
os.read(told, 1)
os.kill(os.getpid(), 9)
"""


def test_the_lock_ends_with_the_writer_though_a_child_lives(place: Path):
    child = subprocess.Popen([sys.executable, "-c", ORPHAN, str(place / "index")], cwd=ROOT, stdin=subprocess.PIPE)
    assert child.wait() == -signal.SIGKILL
    reopen(place / "index").close()
    child.communicate()


def test_a_lock_is_given_back_though_its_file_is_open_elsewhere(place: Path):
    """As in a child that was forked by a library that runs no handlers."""
    create(place / "index").close()
    folder = Folder.open(place / "index")
    held = WriterLock(folder)
    assert held._handle is not None
    copy = os.dup(held._handle)
    held.release()
    WriterLock(folder).release()
    os.close(copy)


def test_another_working_folder_changes_nothing(place: Path, monkeypatch: pytest.MonkeyPatch):
    (place / "elsewhere").mkdir()
    monkeypatch.chdir(place)
    index = create(Path("index"))
    monkeypatch.chdir(place / "elsewhere")
    create(Path("index")).close()
    with index:
        for number in range(9):
            index._add_records([signed(f"d{number}", f"text {number}")])
    assert len(snapshot_of(place / "index")) == 9
    assert snapshot_of(place / "elsewhere" / "index") == []


def test_a_moved_folder_is_not_written_to(place: Path):
    index = create(place / "index")
    index._add_records([signed("a", "x")])
    (place / "index").rename(place / "moved")
    with pytest.raises(WriteError, match="moved or replaced"):
        index._add_records([signed("b", "y")])
    create(place / "index").close()
    with pytest.raises(la.ParameterError, match="an earlier change"):
        index._add_records([signed("c", "z")])
    index.close()
    assert snapshot_of(place / "index") == []
    assert [id_ for id_, _ in snapshot_of(place / "moved")] == [b"a"]


READ_LATER = """
import os, sys, lookalike as la
import lookalike.archive.store
os.setuid(65534)
index = la.Index(sys.argv[1])
for _ in sys.stdin:
    print(*(one.id for one in index.documents()), flush=True)
os._exit(0)
"""


def test_a_reader_without_rights_sees_later_commits_and_leaves_no_copy(place: Path):
    if os.getuid():
        pytest.skip("only root can become a user without rights here")
    create(place / "index").close()
    (place / "index").chmod(0o755)
    (place / "temporary").mkdir()
    (place / "temporary").chmod(0o777)
    place.chmod(0o755)
    child = subprocess.Popen(
        [sys.executable, "-c", READ_LATER, str(place / "index")],
        cwd=ROOT, env={**os.environ, "TMPDIR": str(place / "temporary")},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    ids = list[str]()
    for number in range(7):
        with reopen(place / "index") as index:
            index._add_records([signed(f"d{number}", "text")])
            ids.append(f"d{number}")
            if number % 2:
                print(file=child.stdin, flush=True)
                assert child.stdout.readline().split() == ids
        print(file=child.stdin, flush=True)
        assert child.stdout.readline().split() == ids
    child.communicate()
    assert child.returncode == 0
    assert os.listdir(place / "temporary") == []


def test_a_copy_has_no_journal_of_an_earlier_attempt(place: Path, monkeypatch: pytest.MonkeyPatch):
    """The writer commits and closes, which deletes the journal, while the first copy is made."""
    index = create(place / "index")
    index._add_records([signed("a", "x")])
    (place / "copy").mkdir()
    real = shutil.copyfile

    def late(source: str, target: str) -> None:
        real(source, target)
        if source.endswith("-wal"):
            index._add_records([signed("b", "y")])
            index.close()

    monkeypatch.setattr(copies.shutil, "copyfile", late)
    copies.fill(index._folder, str(place / "copy"))
    assert os.listdir(place / "copy") == ["catalog.sqlite"]
    assert (place / "copy" / "catalog.sqlite").read_bytes() == (place / "index" / "catalog.sqlite").read_bytes()


READ_ONLY = """
import os, sys, lookalike as la
import lookalike.archive.store
os.setuid(65534)
with la.Index(sys.argv[1]) as index:
    print(*(one.id for one in index.documents()))
try:
    la.Index.open(sys.argv[1], write=True)
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize("journal", ["none", "empty", "full"])
def test_a_read_only_folder_can_be_read(place: Path, journal: str):
    """Without a journal, with the empty one that a reader leaves, and with the one of a process that was killed."""
    if os.getuid():
        pytest.skip("only root can become a user without rights here")
    index = create(place / "index")
    index._add_records([signed("a", "x"), signed("b", "y")])
    if journal == "full":
        shutil.copytree(place / "index", place / "copy")
        (place / "copy" / "catalog.sqlite-shm").unlink()
    index.close()
    if journal != "full":
        shutil.copytree(place / "index", place / "copy")
    if journal == "empty":
        (place / "copy" / "catalog.sqlite-wal").touch()
    place.chmod(0o755)
    (place / "copy").chmod(0o555)
    done = python(READ_ONLY, place / "copy", env={**os.environ, "TMPDIR": "/tmp"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["a b", "WriteError"]


def test_a_network_file_system_is_refused_for_changes(monkeypatch: pytest.MonkeyPatch):
    lines = ["1 0 8:1 / / rw - ext4 /dev/sda1 rw", "2 1 0:5 / /net rw - fuse.sshfs host: rw"]
    assert network_of("/net/index", lines) == "sshfs"
    monkeypatch.setattr("lookalike.archive.opening.network_type", lambda path: network_of(path, lines))
    with pytest.raises(la.ParameterError, match="network file system"):
        check_local("/net/index", allow_network_fs=False)
    check_local("/net/index", allow_network_fs=True)
    check_local("/home/index", allow_network_fs=False)


def test_a_repair_on_a_network_file_system_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch):
    create(place / "index").close()
    monkeypatch.setattr("lookalike.archive.opening.network_type", lambda path: "nfs")
    with pytest.raises(la.ParameterError, match="network file system"):
        la.Index.repair(place / "index")
    la.Index.repair(place / "index", allow_network_fs=True)


def test_a_backup_of_a_live_index_is_one_of_its_states(place: Path):
    path = place / "index"
    create(path).close()
    states, ahead, acknowledged = [Model()], operations(SEED + 7), 0
    with Server() as server:
        child = server.begin(path, SEED + 7)
        assert server.acknowledged()
        for turn in range(12):
            for _ in range(3):
                assert server.acknowledged()
                acknowledged += 1
            with la.Index(path) as index:
                index.backup(place / f"backup-{turn}")
            found = snapshot_of(place / f"backup-{turn}")
            while found not in [listed(one) for one in states[acknowledged:]]:
                assert len(states) < acknowledged + 400
                states.append(follow(states[-1], next(ahead)))
            with la.Index(place / f"backup-{turn}") as copy:
                assert copy.check() == []
        os.kill(child, signal.SIGKILL)
        server.ended()


def test_of_two_that_create_one_index_the_second_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch):
    """The first one makes it after the second one has found the folder empty."""
    real = copying.prepare

    def late(path: Path) -> Folder:
        found = real(path)
        monkeypatch.setattr(copying, "prepare", real)
        with create(path) as first:
            first._add_records([signed("precious", "x")])
        return found

    monkeypatch.setattr(copying, "prepare", late)
    with pytest.raises(FileExistsError, match="is an index already"):
        create(place / "index")
    assert [id_ for id_, _ in snapshot_of(place / "index")] == [b"precious"]


def test_a_catalogue_is_never_put_in_the_place_of_another(place: Path):
    with create(place / "index") as index:
        index._add_records([signed("precious", "x")])
        with pytest.raises(FileExistsError, match="is an index already"):
            Catalogue.create(index._folder, PARAMETERS.to_json())
    assert [id_ for id_, _ in snapshot_of(place / "index")] == [b"precious"]


@pytest.mark.parametrize("moment", ["begun", "done"])
def test_of_two_backups_into_one_folder_the_second_takes_nothing_away(
    place: Path, monkeypatch: pytest.MonkeyPatch, moment: str
):
    """The second one has found the folder empty before the first one began, or before it was done."""
    with create(place / "index") as index:
        index._add_records([signed(f"d{number}", "x") for number in range(9)])
        real = copying.prepare
        held: list[WriterLock] = []

        def late(path: Path) -> Folder:
            found = real(path)
            monkeypatch.setattr(copying, "prepare", real)
            if moment == "done":
                index.backup(path)
            else:
                held.append(WriterLock(found))
                (place / "backup" / "seg-0000000000000001.lat").write_text("of the first one")
            return found

        monkeypatch.setattr(copying, "prepare", late)
        with pytest.raises((FileExistsError, la.LockedError)):
            index.backup(place / "backup")
        for one in held:
            one.release()
        before = snapshot_of(place / "index")
    if moment == "done":
        assert snapshot_of(place / "backup") == before
    else:
        assert (place / "backup" / "seg-0000000000000001.lat").read_text() == "of the first one"
