"""Tables of fingerprints that are changed, saved and opened: they answer as a set of rows does, and survive."""

from __future__ import annotations

import errno
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
from array import array
from pathlib import Path

import pytest

import lookalike as la
from lookalike import params
from lookalike.errors import LockedError, ParameterError
from support.children import PATIENCE
from support.hamming_tables import (
    COMPAT,
    COMPAT_NAMED,
    after,
    answers,
    batch,
    columns,
    compat_named_rows,
    compat_rows,
    expected,
    mixed,
    named_rows,
    near_rows,
)

ROWS = near_rows(1, 500)


def rows_of(table: la.HammingTable) -> list[tuple[int, int]]:
    return list(zip(*table.rows(), strict=True))


@pytest.mark.parametrize("hold", params.HOLDS)
@pytest.mark.parametrize("tables", ["compact", "fast", 1, 4])
def test_every_table_answers_as_comparing_does(hold: str, tables: str | int, tmp_path: Path):
    table = la.HammingTable.build(*columns(ROWS), tables=tables, hold=hold)
    table.save(tmp_path / "table")
    for query in [mixed(i) for i in range(7)] + [fingerprint for fingerprint, _ in ROWS[:20]]:
        for distance in range(4):
            assert answers(table, query, distance) == expected(ROWS, query, distance), (query, distance)


def test_a_batch_is_its_queries():
    table = la.HammingTable.build(*columns(ROWS))
    table.insert(*columns(near_rows(2, 50)))
    queries = [mixed(i) for i in range(30)]
    answer = table.query_batch(array("Q", queries))
    found = list(zip(answer.queries, answer.ids, answer.distances, strict=True))
    alone = [(i, key, distance) for i, query in enumerate(queries) for key, _, distance in answers(table, query)]
    assert found == sorted(set(alone))
    assert len(answer.candidates) == len(queries)
    assert all(count > 0 for count in answer.candidates), "the tail is compared with every query"


def test_rows_are_a_set():
    table = la.HammingTable.build([5, 5, 6], [1, 1, 1])
    assert len(table) == 2
    assert table.insert([5, 5, 7, 7], [1, 2, 1, 1]) == 2
    assert table.remove([5, 5, 9], [1, 1, 1]) == 1
    assert rows_of(table) == [(5, 2), (6, 1), (7, 1)]


def test_ids_are_numbers_where_none_are_given():
    assert la.HammingTable.build(array("Q", [9, 8])).query(8, 0).ids == [1]
    assert la.HammingTable.build([9, 8]).query(9, 0).ids == [0]
    assert len(la.HammingTable.build()) == 0


@pytest.mark.parametrize("hold", params.HOLDS)
def test_what_was_saved_is_opened(hold: str, tmp_path: Path):
    with la.HammingTable.build(*columns(ROWS)) as table:
        table.save(tmp_path / "table")
        table.insert(*columns(batch(0)))
        table.remove(*columns(ROWS[:100]))
        table.save()
        kept = sorted(set(ROWS[100:]) | set(batch(0)))
        assert table.generation == 2
    with la.HammingTable.open(tmp_path / "table", hold=hold) as opened:
        assert rows_of(opened) == kept
        assert answers(opened, mixed(3)) == expected(kept, mixed(3), 3)
        assert (opened.nbytes == 0) == (hold == "mapped") or opened.nbytes < 100_000
    assert la.HammingTable.check(tmp_path / "table") == len(kept)


def test_a_reader_keeps_the_generation_it_opened(tmp_path: Path):
    writer = la.HammingTable.build(*columns(ROWS))
    writer.save(tmp_path / "table")
    reader = la.HammingTable.open(tmp_path / "table", hold="mapped")
    for number in range(12):
        writer.insert(*columns(batch(number)))
        writer.save()
    writer.compact()
    writer.save()
    assert rows_of(reader) == ROWS
    assert answers(reader, mixed(1)) == expected(ROWS, mixed(1), 3)
    assert len(la.HammingTable.open(tmp_path / "table")) == len(writer)
    assert len(list((tmp_path / "table").glob("run-*"))) == 1, "files that nobody names are unlinked"


def test_there_is_one_writer(tmp_path: Path):
    writer = la.HammingTable.build(*columns(ROWS))
    writer.save(tmp_path / "table")
    with pytest.raises(LockedError, match="process"):
        la.HammingTable.open(tmp_path / "table", write=True)
    with pytest.raises(ParameterError, match="for reading"):
        la.HammingTable.open(tmp_path / "table").insert([1], [1])
    writer.close()
    with la.HammingTable.open(tmp_path / "table", write=True) as again:
        assert again.insert([1], [1]) == 1
    assert rows_of(la.HammingTable.open(tmp_path / "table")) == ROWS, "what was not saved is not there"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: la.HammingTable.build([1], [1, 2]), "`2` ids are not as many as the `1` fingerprints"),
        (lambda: la.HammingTable.build([1], distance=11), "distance `11`"),
        (lambda: la.HammingTable.build([1], distance=-1), "distance"),
        (lambda: la.HammingTable.build([1], tables="huge"), "design `huge` is not known: use one of compact, fast"),
        (lambda: la.HammingTable.build([1], tables=0), "tables `0`"),
        (lambda: la.HammingTable.build([1], hold="tape"), "hold `tape` is not known"),
        (lambda: la.HammingTable.build([1]).query(1, 4), "distance `4` is above the distance of this table"),
        (lambda: la.HammingTable.build([1]).query(1 << 64), "fingerprint"),
        (lambda: la.HammingTable.build([-1]), "whole numbers"),
        (lambda: la.HammingTable.build([1]).save(), "is only in memory"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(call, message: str):
    with pytest.raises(ParameterError, match=re.escape(message)):
        call()


def test_a_closed_table_says_so():
    table = la.HammingTable.build([1])
    table.close()
    table.close()
    with pytest.raises(ParameterError, match="closed"):
        table.query(1)


def test_a_folder_that_is_taken_or_missing(tmp_path: Path):
    la.HammingTable.build([1]).save(tmp_path / "table")
    with pytest.raises(ParameterError, match="already holds a table"):
        la.HammingTable.build([2]).save(tmp_path / "table")
    with pytest.raises(FileNotFoundError) as missing:
        la.HammingTable.open(tmp_path / "nothing")
    assert missing.value.filename.endswith("manifest")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="file") as refused:
        la.HammingTable.build([2]).save(tmp_path / "file")
    assert refused.value.errno in (errno.EEXIST, errno.ENOTDIR)


def test_what_version_1_wrote_is_read(tmp_path: Path):
    rows = compat_rows()
    assert la.HammingTable.check(COMPAT) == len(rows)
    for hold in params.HOLDS:
        with la.HammingTable.open(COMPAT, hold=hold) as table:
            assert rows_of(table) == rows
            assert answers(table, mixed(5)) == expected(rows, mixed(5), 3)
    shutil.copytree(COMPAT, tmp_path / "copy")
    with la.HammingTable.open(tmp_path / "copy", write=True) as table:
        table.insert([1], [1])
        table.save()
    assert la.HammingTable.check(tmp_path / "copy") == len(rows) + 1


def test_what_version_2_wrote_is_read(tmp_path: Path):
    rows = compat_named_rows()
    assert la.HammingTable.check(COMPAT_NAMED) == len(rows)
    for hold in params.HOLDS:
        with la.HammingTable.open(COMPAT_NAMED, hold=hold) as table:
            assert rows_of(table) == rows
            assert answers(table, mixed(5)) == expected(rows, mixed(5), 3)
    shutil.copytree(COMPAT_NAMED, tmp_path / "copy")
    with la.HammingTable.open(tmp_path / "copy", write=True) as table:
        assert table.remove(*zip(*named_rows(2, 20), strict=True)) == len(named_rows(2, 20))
        table.save()
    assert la.HammingTable.check(tmp_path / "copy") == len(rows) - len(named_rows(2, 20))


def test_strings_stand_in_their_files_as_the_format_says():
    names = {name for _, name in compat_named_rows()}
    found = {}
    for path in COMPAT_NAMED.glob("names-*"):
        data = path.read_bytes()
        header = struct.unpack_from("<4sBB2xQQQQIIQQ", data)
        _, version, kind, number, count, length, body, _, _, size, _ = header
        assert (version, kind, path.name, length) == (2, 3, f"names-{number:016x}", len(data))
        directory = struct.unpack_from("<6Q", data, 64 + body)
        sums = b"".join(
            la._core.xxh3(data[at : min(at + 16384, 64 + body)]).to_bytes(8, "little")
            for at in range(64, 64 + body, 16384)
        )
        assert data[64 + body + 48 : -8] == sums
        seal = la._core.xxh3(data[:64] + data[64 + body : -8])
        assert seal.to_bytes(8, "little") == data[-8:]
        assert directory[5] == size
        text = data[directory[4] : directory[4] + size].decode()
        found[path.name] = (count, text)
    assert sum(count for count, _ in found.values()) >= len(names)
    assert all(any(name in text for _, text in found.values()) for name in names)
    # The number of a string is its hash.
    numbers = {la._core.xxh3(name.encode()) for name in names}
    assert len(numbers) == len(names)


TRACED = """
import sys
import lookalike as la
table = la.HammingTable.build(range(5000))
table.save(sys.argv[1])
table.insert(range(5000, 9000), range(4000))
table.remove(range(5000), range(5000))
table.compact()
table.save()
"""


def system_calls(folder: Path) -> list[str]:
    """What a process that saves a table asks of the system, in order, as ``call name``."""
    log = folder.parent / "trace"
    calls = "trace=fsync,rename,renameat,renameat2,unlink,unlinkat"
    command = ["strace", "-f", "-y", "-e", calls, "-o", str(log), sys.executable, "-c", TRACED, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"strace cannot trace here: {done.stderr[-200:]}")
    found = []
    for line in log.read_text().splitlines():
        # The last path of a line: what is synced or unlinked, or the new name.
        paths = re.findall(rf"{re.escape(str(folder))}/?([^\">]*)", line)
        call = re.search(r"\b(fsync|rename|unlink)\w*\(", line)
        if call and paths:
            found.append(f"{call[1]} {paths[-1] or '.'}")
    return found


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not on this machine")
def test_names_are_durable_before_they_are_relied_on(tmp_path: Path):
    calls = system_calls(tmp_path / "table")
    first, second = (f"run-{number:016x}" for number in (1, 2))
    saved = ["fsync manifest.new", "rename manifest", "fsync ."]
    assert calls == [
        *(f"fsync {first}.new", f"rename {first}", "fsync ."),
        *saved,
        *(f"fsync {second}.new", f"rename {second}", "fsync ."),
        *saved,
        f"unlink {first}",
    ]


SCRIPT = Path(__file__).parents[1] / "support" / "hamming_tables.py"


def test_a_reader_never_sees_half_a_commit(tmp_path: Path):
    command = [sys.executable, str(SCRIPT), str(tmp_path / "table"), "0"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdin
        assert writer.stdout
        # The writer is at most two batches ahead, so the reader sees several generations however slow it is.
        print("\n", file=writer.stdin, flush=True)
        seen = set()
        for number in range(12):
            print(file=writer.stdin, flush=True)
            acknowledged = int(writer.stdout.readline()) + 1
            assert acknowledged == number + 1
            with la.HammingTable.open(tmp_path / "table", hold="mapped") as table:
                # Runs are merged and unlinked meanwhile.
                assert table.generation >= acknowledged
                assert rows_of(table) == after(table.generation), table.generation
                seen.add(table.generation)
        writer.stdin.close()
        assert writer.stdout.read().split() == ["12", "13"]
    assert len(seen) > 3


def killed(folder: Path, first: int, seconds: float, saves: int) -> int:
    """Let the system kill a writer after so much processor time; return how many batches it said were saved."""
    command = [sys.executable, str(SCRIPT), str(folder), str(first), str(seconds), str(saves)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == -signal.SIGPROF
    whole = [line for line in done.stdout.splitlines(keepends=True) if line.endswith("\n")]
    return max((int(line) + 1 for line in whole), default=first)


def test_nothing_that_was_saved_is_lost_when_the_writer_is_killed(tmp_path: Path):
    seed = 7
    chance = random.Random(seed)
    folder, saved = tmp_path / "table", 0
    for cycle in range(20):
        # Two kills at the time when the table is made, the others while it is written.
        saved = killed(folder, saved, 0.001 + chance.random() * 0.015, int(cycle >= 2))
        if not (folder / "manifest").exists():
            assert saved == 0, "nothing was said to be saved"
            shutil.rmtree(folder, ignore_errors=True)
            continue
        with la.HammingTable.open(folder, write=True) as table:
            rows = rows_of(table)
        # What was said to be saved, or that and the whole batch that was cut off.
        assert rows in (after(saved), after(saved + 1)), f"cycle {cycle}, seed {seed}: {len(rows)} rows after {saved}"
        saved += rows != after(saved)
        assert la.HammingTable.check(folder) == len(rows)
    assert saved > 10


def spoken(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "lookalike", *map(str, arguments)], capture_output=True, text=True)


def test_a_file_is_kept_as_a_table_and_asked(tmp_path: Path):
    rows = [f"{number},{fingerprint:#x}" for number, (fingerprint, _) in enumerate(ROWS)]
    (tmp_path / "prints.csv").write_text("\n".join(["id,fingerprint", *rows, "900,none"]))
    done = spoken("near", tmp_path / "prints.csv", "--save", tmp_path / "table")
    assert done.returncode == 0, done.stderr
    assert f"{len(ROWS):,} fingerprints in" in done.stderr
    assert "`none` is not a fingerprint" in done.stderr
    query = mixed(4)
    asked = spoken("near", tmp_path / "table", "--fingerprint", hex(query), "--distance", "2")
    found = sorted(int(line.split(",")[1]) for line in asked.stdout.splitlines()[1:])
    assert found == [number for number, (other, _) in enumerate(ROWS) if (other ^ query).bit_count() <= 2]
    again = spoken("near", tmp_path / "prints.csv", "--save", tmp_path / "table")
    assert again.returncode == 2
    assert "already holds a table" in again.stderr
