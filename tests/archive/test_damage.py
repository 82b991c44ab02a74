"""Damage of any file of an index is exit code 4 and names the file, or the answer is right. Never another answer.

Bytes are flipped, files cut, emptied, swapped and deleted, from a fixed seed. SQLite finds little of it by itself: the
digest of the state does. A journal (`-wal`) that is left after a crash is the exception: SQLite takes a damaged end of
it for a commit that was cut off, so an index is damaged here after it was closed, when there is none.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lookalike import _core
from lookalike.archive.store import Index
from lookalike.errors import DamagedError, FormatError, VersionError
from tests.support.archives import create, fast_folder, snapshot_of
from tests.support.records import signed

SEED = int(os.environ.get("LOOKALIKE_TORTURE_SEED", "20261117"))
FLIPS = int(os.environ.get("LOOKALIKE_TORTURE_FLIPS", "2000"))
Damage = Callable[[Path, random.Random], None]


def build(path: Path) -> list[tuple[bytes, bytes]]:
    """Make an index with several segments, removed rows and a tail; return what it holds."""
    with create(path) as index:
        for number in range(13):
            index._add_records([signed(f"d{number}", f"some text {number} of {number % 5}")])
        index.remove(["d2", "d5", "d12"])
        assert index.snapshot().state.removed
        assert index.snapshot().state.arrivals
        assert len(index.snapshot().state.segments) > 1
    held = snapshot_of(path)
    for journal in path.glob("*-shm"):
        journal.unlink()
    for journal in path.glob("*-wal"):
        assert not journal.stat().st_size
        journal.unlink()
    return held


def flip(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)


def cut(path: Path, draw: random.Random) -> None:
    os.truncate(path, draw.randrange(path.stat().st_size))


def empty(path: Path, _draw: random.Random) -> None:
    os.truncate(path, 0)


def blank(path: Path, draw: random.Random) -> None:
    """Overwrite a stretch by zeros, as a lost page."""
    data = bytearray(path.read_bytes())
    start = draw.randrange(len(data))
    end = min(len(data), start + draw.choice([1, 16, 4096]))
    data[start:end] = bytes(end - start)
    path.write_bytes(data)


def delete(path: Path, _draw: random.Random) -> None:
    path.unlink()


def swap(path: Path, draw: random.Random) -> None:
    others = path.parent.glob("*.lat") if path.suffix == ".lat" else path.parent.iterdir()
    other = draw.choice([one for one in sorted(others) if one != path])
    first, second = path.read_bytes(), other.read_bytes()
    path.write_bytes(second)
    other.write_bytes(first)


DAMAGES: dict[str, tuple[Damage, int]] = {
    "flip": (flip, FLIPS), "cut": (cut, FLIPS // 10), "empty": (empty, 12), "blank": (blank, FLIPS // 5),
    "delete": (delete, 8), "swap": (swap, 20),
}  # fmt: skip


def read_or_told(path: Path) -> list[tuple[bytes, bytes]] | FormatError:
    """What an index holds, or the error that it cannot be read."""
    try:
        return snapshot_of(path)
    except FormatError as error:
        return error


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_told_or_changes_no_answer(name: str):
    damage, times = DAMAGES[name]
    draw, told = random.Random(f"{SEED} {name}"), 0
    with fast_folder() as place:
        right = build(place / "index")
        files = sorted(one.name for one in (place / "index").iterdir() if one.name != "lock")
        assert all(one == "catalog.sqlite" or one.endswith(".lat") for one in files)
        for _ in range(times):
            path = Path(shutil.copytree(place / "index", place / "copy"))
            victim = path / draw.choice(files)
            damage(victim, draw)
            found = read_or_told(path)
            if isinstance(found, FormatError):
                told += 1
                assert isinstance(found, DamagedError | VersionError)
                assert any(one in str(found) for one in [*files, "format"]), str(found)
            else:
                assert found == right, victim.name
            shutil.rmtree(path)
    assert told


def test_a_check_finds_every_flipped_bit_of_a_segment():
    draw = random.Random(SEED)
    with fast_folder() as place:
        build(place / "index")
        names = sorted(one.name for one in (place / "index").glob("*.lat"))
        for _ in range(FLIPS // 5):
            path = Path(shutil.copytree(place / "index", place / "copy"))
            victim = draw.choice(names)
            flip(path / victim, draw)
            with Index(path) as index:
                findings = index.check()
            assert [one.file for one in findings if one.is_damage] == [victim]
            shutil.rmtree(path)


#: Tables without which a document cannot be read again.
NEEDED = {"documents", "texts"}


def tables_of(path: Path) -> dict[str, range]:
    """Where each table of a segment stands in its file: one after another behind the header."""
    places, at = {}, 16
    for name, _, size in _core.Segment.open(str(path)).sizes():
        places[name] = range(at, at + size)
        at += size
    return places


def ids_of(path: Path) -> set[bytes]:
    segment = _core.Segment.open(str(path))
    return {bytes(segment.row(row).id) for row in range(segment.rows)}


def test_repair_keeps_what_can_be_read_and_names_the_rest():
    draw = random.Random(SEED)
    with fast_folder() as place:
        right = build(place / "index")
        for name, (damage, times) in DAMAGES.items():
            for _ in range(max(4, times // 30)):
                path = Path(shutil.copytree(place / "index", place / "copy"))
                victim = draw.choice(sorted(path.glob("*.lat")))
                held = ids_of(victim)
                damage(victim, draw)
                done = Index.repair(path)
                found = snapshot_of(path)
                with Index(path) as index:
                    assert [one for one in index.check() if one.is_damage] == [], name
                assert [id_ for id_, _ in right if id_ in dict(found)] == [id_ for id_, _ in found]
                assert sum(one not in right for one in found) <= done.partial
                assert name != "swap" or found == right
                lost = {id_.decode() for id_, _ in right} - {id_.decode() for id_, _ in found}
                assert lost <= {id_.decode() for id_ in held}, "documents of a sound segment are lost"
                assert set(done.lost) <= lost
                assert len(done.lost) + done.unnamed == len(lost), name
                assert done.documents == len(found)
                shutil.rmtree(path)


def test_a_flipped_bit_loses_no_document_whose_row_and_text_are_sound():
    draw = random.Random(SEED)
    with fast_folder() as place:
        right = build(place / "index")
        names = sorted(one.name for one in (place / "index").glob("*.lat"))
        for victim in names:
            for table, where in tables_of(place / "index" / victim).items():
                path = Path(shutil.copytree(place / "index", place / "copy"))
                data = bytearray((path / victim).read_bytes())
                data[draw.choice(where)] ^= 1 << draw.randrange(8)
                (path / victim).write_bytes(data)
                done = Index.repair(path)
                found = snapshot_of(path)
                kept = (path / f"{victim}.damaged").read_bytes()
                assert kept == data, "the damaged file is not kept"
                if table not in NEEDED:
                    assert [id_ for id_, _ in found] == [id_ for id_, _ in right], table
                    assert (done.lost, done.unnamed) == ([], 0)
                    differing = sum(one not in right for one in found)
                    assert differing <= done.partial, f"keys of {table} are missing, and it is not told"
                shutil.rmtree(path)


def one_bit_wrong(path: Path, texts: list[tuple[str, str]], table: str) -> object:
    """Make an index of one segment with a wrong bit in a table; return what it held before."""
    with Index.create(path, kind="corpus") as index:
        index.add(texts)
        index.compact()
    right = snapshot_of(path)
    (victim,) = path.glob("*.lat")
    where = tables_of(victim)[table]
    data = bytearray(victim.read_bytes())
    data[where[len(where) // 2]] ^= 1
    victim.write_bytes(data)
    return right


@pytest.mark.parametrize("table", ["postings", "features", "samples", "sketches", "simhashes", "ids", "parameters"])
def test_keys_are_made_again_from_the_texts(table: str):
    draw = random.Random(SEED)
    words = [f"word{number}" for number in range(500)]
    texts = [(f"d{number}", " ".join(draw.choices(words, k=80))) for number in range(1200)]
    with fast_folder() as place:
        path = place / "index"
        right = one_bit_wrong(path, texts, table)
        done = Index.repair(path)
        assert snapshot_of(path) == right
        assert (done.documents, done.lost, done.unnamed, done.partial) == (1200, [], 0, 0)
        assert any("made again from the texts" in one for one in done.notes) == (table not in ("ids", "parameters"))


def test_a_bad_page_of_texts_costs_the_documents_of_the_page():
    draw = random.Random(SEED)
    texts = [(f"d{number}", draw.randbytes(300).hex()) for number in range(1200)]
    with fast_folder() as place:
        path = place / "index"
        right = one_bit_wrong(path, texts, "texts")
        done = Index.repair(path)
        found = snapshot_of(path)
        assert [one for one in right if one in found] == found
        assert 0 < len(done.lost) < 200, "one page holds about a hundred of these texts"
        assert {id_.decode() for id_, _ in right} - {id_.decode() for id_, _ in found} == set(done.lost)


def test_a_flipped_page_of_the_catalogue_costs_what_stands_on_it_and_it_is_told():
    """All documents are in the tail: each page of the file in turn has a wrong bit at its start."""
    with fast_folder() as place:
        with Index.create(place / "index", kind="corpus") as index:
            index.add([(f"d{number}", f"text {number} " + "some words that differ " * 40) for number in range(25)])
        right = dict(snapshot_of(place / "index"))
        size = (place / "index" / "catalog.sqlite").stat().st_size
        kept = []
        for page in range(2, size // 4096):
            path = Path(shutil.copytree(place / "index", place / "copy"))
            with open(path / "catalog.sqlite", "r+b") as file:
                file.seek(page * 4096)
                wrong = bytes([file.read(1)[0] ^ 0x40])
                file.seek(page * 4096)
                file.write(wrong)
            done = Index.repair(path)
            found = snapshot_of(path)
            assert set(found) <= set(right.items())
            assert done.is_open or len(found) + done.unnamed >= len(right), page
            assert done.is_whole == (len(found) == len(right)), page
            kept.append(len(found))
            shutil.rmtree(path)
        assert any(0 < one < len(right) for one in kept), "a page costs everything"


def test_a_catalogue_is_made_again_from_the_segments():
    draw = random.Random(SEED)
    with fast_folder() as place:
        right = build(place / "index")
        stored = set().union(*(ids_of(one) for one in (place / "index").glob("*.lat")))
        noticed = 0
        for damage in (flip, cut, empty, blank, delete) * 6:
            path = Path(shutil.copytree(place / "index", place / "copy"))
            damage(path / "catalog.sqlite", draw)
            # SQLite gives an empty file a header when it is opened.
            damaged = (path / "catalog.sqlite").read_bytes() if damage not in (delete, empty) else None
            is_noticed = isinstance(read_or_told(path), FormatError)
            done = Index.repair(path)
            found = snapshot_of(path)
            with Index(path) as index:
                assert [one for one in index.check() if one.is_damage] == []
            ids = [id_ for id_, _ in found]
            assert len(set(ids)) == len(ids)
            if is_noticed:
                noticed += 1
                is_new = any("may be missing or back" in one for one in done.notes)
                assert is_new or (done.unnamed and len(found) + done.unnamed == len(right)), "a loss is not told"
                gone = {id_ for id_, _ in right} - set(ids)
                assert done.is_open or done.unnamed >= len(gone), "documents are lost, and it is not told how many"
                if is_new and damaged is not None:
                    assert (path / "catalog.sqlite.damaged").read_bytes() == damaged
            else:
                assert (found, done.notes) == (right, [])
            # What stands in segments is there, as it was; removed documents may be back, and new ones gone.
            assert {id_ for id_, _ in right} & stored <= set(ids)
            assert {id_: record for id_, record in found if id_ in dict(right)}.items() <= dict(right).items()
            if damage in (empty, delete):
                assert set(ids) == stored
            shutil.rmtree(path)
        assert noticed > 10


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not on this machine")
def test_a_repair_of_the_catalogue_that_is_killed_is_repeated():
    child = [sys.executable, "-c", "import sys, lookalike; lookalike.Index.repair(sys.argv[1])"]
    with fast_folder() as place:
        source = place / "index"
        with create(source) as index:
            for number in range(3):
                index._add_records([signed(f"d{number}", f"some text {number}")])
            # A commit whose seal is wrong; all of it stands in the journal only, as long as the index is open.
            with contextlib.closing(sqlite3.connect(source / "catalog.sqlite")) as base, base:
                base.execute("UPDATE about SET value = 'wrong' WHERE key = 'seal'")
            assert (source / "catalog.sqlite-wal").stat().st_size
            crashed = Path(shutil.copytree(source, place / "crashed"))
        killed = 0
        while True:
            path = Path(shutil.copytree(crashed, place / "copy"))
            inject = f"inject=rename:signal=KILL:when={killed + 1}"
            done = subprocess.run(["strace", "-f", "-qq", "-o", os.devnull, "-e", inject, *child, str(path)])
            if done.returncode:
                Index.repair(path)
            assert [id_ for id_, _ in snapshot_of(path)] == [b"d0", b"d1", b"d2"], f"killed at rename {killed + 1}"
            shutil.rmtree(path)
            if not done.returncode:
                break
            killed += 1
        assert killed >= 3


def test_a_backup_of_a_damaged_segment_is_refused_and_leaves_nothing():
    draw = random.Random(SEED)
    with fast_folder() as place:
        build(place / "index")
        victim = sorted((place / "index").glob("*.lat"))[1]
        whole = victim.read_bytes()
        for damage in (flip, cut, blank) * 4:
            damage(victim, draw)
            if victim.read_bytes() != whole:
                with pytest.raises(DamagedError, match=victim.name), Index(place / "index") as index:
                    index.backup(place / "backup")
                assert not (place / "backup").exists()
            victim.write_bytes(whole)
        with Index(place / "index") as index:
            index.backup(place / "backup")
        assert snapshot_of(place / "backup") == snapshot_of(place / "index")


def test_the_command_that_backs_up_damage_has_exit_code_4():
    with fast_folder() as place:
        build(place / "index")
        victim = sorted((place / "index").glob("*.lat"))[0]
        flip(victim, random.Random(SEED))
        command = [sys.executable, "-m", "lookalike", "index", "backup", str(place / "index"), str(place / "backup")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 4, done.stderr
        assert victim.name in done.stderr


def test_nothing_readable_is_told():
    with fast_folder() as place:
        create(place / "index").close()
        (place / "index" / "catalog.sqlite").write_bytes(b"")
        with pytest.raises(DamagedError, match="nothing in"):
            Index.repair(place / "index")
