"""A table belongs to one folder and one process: what happens around it can neither harm it nor be harmed by it."""

from __future__ import annotations

import os
import subprocess
import sys
from array import array
from pathlib import Path

import pytest

import lookalike as la
from lookalike import _core
from lookalike.errors import LockedError, ParameterError
from support.children import PATIENCE
from support.hamming_tables import near_rows


def rows_of(folder: Path) -> list[tuple[int, int]]:
    with la.HammingTable.open(folder) as table:
        return list(zip(*table.rows(), strict=True))


def saved(folder: Path, seed: int) -> la.HammingTable:
    fingerprints, ids = zip(*near_rows(seed, 40), strict=True)
    table = la.HammingTable.build(list(fingerprints), list(ids))
    table.save(folder)
    return table


def test_a_save_after_a_change_of_directory_goes_where_the_table_is(tmp_path: Path, monkeypatch):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    saved(tmp_path / "there" / "H", 2).close()
    monkeypatch.chdir(tmp_path / "here")
    table = saved(Path("H"), 1)
    monkeypatch.chdir(tmp_path / "there")
    table.insert([5], [5])
    table.save()
    assert rows_of(tmp_path / "there" / "H") == near_rows(2, 40)
    assert rows_of(tmp_path / "here" / "H") == sorted([*near_rows(1, 40), (5, 5)])


def test_a_folder_that_was_replaced_is_not_written(tmp_path: Path):
    table = saved(tmp_path / "H", 1)
    os.rename(tmp_path / "H", tmp_path / "moved")
    saved(tmp_path / "H", 2).close()
    table.insert([5], [5])
    with pytest.raises(ParameterError, match="was moved or replaced"):
        table.save()
    assert rows_of(tmp_path / "H") == near_rows(2, 40)
    assert rows_of(tmp_path / "moved") == near_rows(1, 40)


def test_every_path_to_a_folder_is_the_same_table(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.symlink("H", "link")
    table = saved(Path("H"), 1)
    for path in ("H", "./H", tmp_path / "H", "link", tmp_path / "link", "../" + tmp_path.name + "/H"):
        with pytest.raises(LockedError):
            la.HammingTable.open(path, write=True)
        table.save(path)
    assert table.generation == 7
    with pytest.raises(ParameterError, match="is stored in"):
        table.save("other")


def test_files_of_others_stay(tmp_path: Path):
    for name in ("run-me", "run-1", "run-0000000000000001.txt"):
        (tmp_path / name).write_text("mine")
    with pytest.raises(ParameterError, match=r"holds other files, such as .*: choose a new or an empty folder"):
        la.HammingTable.build([1]).save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run-0000000000000001.txt", "run-1", "run-me"]
    with saved(tmp_path / "H", 1) as table:
        (tmp_path / "H" / "run-me").write_text("mine")
        table.insert([5], [5])
        table.save()
    with la.HammingTable.open(tmp_path / "H", write=True):
        assert (tmp_path / "H" / "run-me").read_text() == "mine"


def test_a_folder_without_a_table_is_left_as_it_is(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        la.HammingTable.open(tmp_path, write=True)
    assert not list(tmp_path.iterdir())


FORKED = """
import os, sys
import lookalike as la
table = la.HammingTable.build([1, 2, 3])
table.save(sys.argv[1])
child = os.fork()
if child == 0:
    refused = 0
    for change in (lambda: table.insert([9], [9]), lambda: table.remove([1], [0]), table.compact, table.save):
        try:
            change()
        except la.ParameterError as error:
            refused += "belongs to process" in str(error)
    os._exit(0 if refused == 4 and len(table) == 3 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
table.insert([4], [4])
table.save()
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    os.close(writer)
    os.read(reader, 1)
    os._exit(0)
table.close()
la.HammingTable.open(sys.argv[1], write=True).close()
os.close(writer)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_writes_nothing_and_holds_no_lock(tmp_path: Path):
    command = [sys.executable, "-c", FORKED, str(tmp_path / "H")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert rows_of(tmp_path / "H") == [(1, 0), (2, 1), (3, 2), (4, 4)]


#: One thread saves and stops where it opens a pipe that nobody reads yet. Another asks for the number of rows, which it
#: has to wait for. Everything else must go on meanwhile: this thread opens the pipe, and the save fails.
STALLED = """
import os, sys, threading
import lookalike as la
table = la.HammingTable.build()
table.save(sys.argv[1])
table.insert(range(5000), range(5000))
pipe = os.path.join(sys.argv[1], "run-0000000000000001.new")
os.mkfifo(pipe)
failed, counted, started = [], [], threading.Event()

def save():
    try:
        table.save()
    except OSError as error:
        failed.append(error)

def count():
    started.set()
    counted.append(len(table))

def is_waiting(thread):
    with open(f"/proc/self/task/{thread.native_id}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] == "S"

saver, asker = threading.Thread(target=save), threading.Thread(target=count)
saver.start()
while not is_waiting(saver):
    pass
asker.start()
started.wait()
while asker.is_alive() and not is_waiting(asker):
    pass
assert not counted
with open(pipe, "rb"):
    saver.join()
    asker.join()
assert counted == [5000] and failed, (counted, failed)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="the state of a thread is read from /proc")
def test_a_thread_that_waits_for_a_table_stops_no_other(tmp_path: Path):
    command = [sys.executable, "-c", STALLED, str(tmp_path / "H")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("order", ["<u8", "=u8", ">u8"])
def test_numbers_of_any_byte_order_are_read(order: str):
    numpy = pytest.importorskip("numpy")
    values = [1, 2**40 + 7, 2**64 - 1]
    given = numpy.array(values, dtype=order)
    assert la.hamming(given, values) == [0, 0, 0]
    table = la.HammingTable.build(given, given)
    assert sorted(zip(*table.rows(), strict=True)) == sorted(zip(values, values, strict=True))
    assert la.QueryBatch(given, distance=0).chunk(given).distances == [0, 0, 0]
    assert la.select(given, window=2) == la.select(values, window=2)
    assert _core.token_values(given) == values


def test_a_matrix_is_no_column():
    numpy = pytest.importorskip("numpy")
    with pytest.raises(ParameterError, match="`2` dimensions"):
        la.HammingTable.build(numpy.zeros((2, 2), dtype="u8"))


class Changing:
    """A number of rows that writes to a buffer when it is read, after the buffer was handed over."""

    def __init__(self, buffer: bytearray | memoryview) -> None:
        self.buffer = buffer

    def __index__(self) -> int:
        self.buffer[:] = b"X" * len(self.buffer)
        return 1


@pytest.mark.parametrize("kind", ["bytearray", "view", "read-only view", "array"])
def test_a_buffer_that_changes_meanwhile_changes_nothing(kind: str):
    """The memory that the core reads without the GIL is its own, or nobody can write to it."""
    text = b"one two three four five six seven"
    mutable = memoryview(bytearray(text)) if kind != "array" else memoryview(array("B", text))
    given = {"bytearray": mutable.obj, "array": mutable.obj, "view": mutable}.get(kind, mutable.toreadonly())
    offsets = array("i", [0, len(text)]).tobytes()
    maker = _core.SimhashMaker("word", False, 2, "words", None, (), False, None)
    core = _core.SimhashReader(maker, "text", "id", 1000, 1)
    core.begin("source")
    _, _, prints, _, _, _ = core.push_columns(None, offsets, given, 4, Changing(mutable), True, None)
    assert bytes(mutable) == b"X" * len(text)
    assert prints == [maker.one(text.decode())[0]]
