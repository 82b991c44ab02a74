"""Damage of any file of an index is exit code 4 and names the file, or the answer is right. Never another answer.

Bytes are flipped, files cut, emptied, swapped and deleted, from a fixed seed. SQLite finds little of it by itself: the
digest of the state does. A journal (`-wal`) that is left after a crash is the exception: SQLite takes a damaged end of
it for a commit that was cut off, so an index is damaged here after it was closed, when there is none.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

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


def test_repair_keeps_what_can_be_read_and_names_the_rest():
    draw = random.Random(SEED)
    with fast_folder() as place:
        right = build(place / "index")
        for name, (damage, times) in DAMAGES.items():
            for _ in range(max(4, times // 30)):
                path = Path(shutil.copytree(place / "index", place / "copy"))
                segments = sorted(one.name for one in path.glob("*.lat"))
                damage(path / draw.choice(segments), draw)
                done = Index.repair(path)
                found = snapshot_of(path)
                with Index(path) as index:
                    assert [one for one in index.check() if one.is_damage] == [], name
                assert set(found) <= set(right), name
                assert [one for one in right if one in found] == found
                assert name != "swap" or found == right
                lost = {id_.decode() for id_, _ in right} - {id_.decode() for id_, _ in found}
                assert set(done.lost) <= lost
                assert len(done.lost) + done.unnamed == len(lost), name
                assert done.documents == len(found)
                shutil.rmtree(path)


def test_a_catalogue_is_made_again_from_the_segments():
    draw = random.Random(SEED)
    with fast_folder() as place:
        right = build(place / "index")
        for damage in (flip, cut, empty, blank, delete) * 6:
            path = Path(shutil.copytree(place / "index", place / "copy"))
            damage(path / "catalog.sqlite", draw)
            done = Index.repair(path)
            found = snapshot_of(path)
            with Index(path) as index:
                assert [one for one in index.check() if one.is_damage] == []
            assert found == right or done.notes
            # What stood in segments is there; removed documents may be back, and new ones gone: the note says so.
            ids = [id_ for id_, _ in found]
            assert len(set(ids)) == len(ids)
            assert {id_ for id_, _ in right} - set(ids) <= {b"d10", b"d11"}
            assert set(ids) - {id_ for id_, _ in right} <= {b"d2", b"d5", b"d12"}
            shutil.rmtree(path)


def test_nothing_readable_is_told():
    with fast_folder() as place:
        create(place / "index").close()
        (place / "index" / "catalog.sqlite").write_bytes(b"")
        with pytest.raises(DamagedError, match="nothing in"):
            Index.repair(place / "index")
