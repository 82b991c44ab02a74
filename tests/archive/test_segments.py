"""Segments and snapshots through the binding: what is written is read, merged and refused as FORMAT.md says."""

import random
from pathlib import Path

import pytest

from lookalike import _core
from lookalike.errors import DamagedError
from support.full_records import Record

PARAMETERS = b'{"kind": "corpus"}'


def record(number: int, *, seed: int = 7) -> Record:
    """A document with all fields, of a fixed seed."""
    dice = random.Random(seed * 1000 + number)
    return Record(
        # Of every second one, a shadow, only the hash of its id is stored.
        id=dice.randbytes(16) if number % 2 else f"document {number}".encode(),
        meta=b'{"title": "%d"}' % number,
        submitter=dice.getrandbits(64),
        known_as=number % 3,
        time=number - 4,
        flags=number % 2,
        leader=(b"other, as a hash", 0.5, 2) if number % 2 else None,
        content=dice.randbytes(16),
        postings=sorted(dice.sample(range(20), 5)),
        literals=sorted(dice.sample(range(9), 3)),
        features=sorted(dice.sample(range(30), 6)),
        sketch=[dice.getrandbits(32) for _ in range(4)],
        samples=sorted(dice.sample(range(50), 4)),
        simhash=None if number % 4 == 0 else dice.getrandbits(64),
        shingles=number,
        length=500,
        bytes=3000,
        tokens=dice.randbytes(number % 3),
        text=dice.randbytes(number % 5 * 30),
    )


def encoded(count: int) -> list[bytes]:
    return [record(number).encode() for number in range(count)]


def test_records_come_back_from_memory_and_disk(tmp_path: Path):
    records = encoded(40)
    held = _core.Segment.of_records(records, PARAMETERS)
    rows, length, seal = _core.write_segment(tmp_path / "seg.lat", iter(records), PARAMETERS, 1 << 20)
    opened = _core.Segment.open(tmp_path / "seg.lat")
    assert (opened.rows, opened.length, opened.seal) == (rows, length, seal)
    assert length == (tmp_path / "seg.lat").stat().st_size
    assert [path.name for path in tmp_path.iterdir()] == ["seg.lat"]
    for segment in (held, opened):
        segment.verify()
        assert segment.parameters == PARAMETERS
        assert segment.records(0, 40) == records
        assert segment.records(7, 9) == records[7:9]
        assert segment.records(9, 9) == []
        for memory in (0, 1 << 20):
            reader = segment.read_all(memory, tmp_path)
            assert [*reader.next(7), *reader.next(100)] == records
            assert reader.next(1) == []
            del reader
            assert [path.name for path in tmp_path.iterdir()] == ["seg.lat"]


def test_a_row_has_the_fields_of_its_record():
    segment = _core.Segment.of_records(encoded(4), PARAMETERS)
    for number in range(4):
        row, made = segment.row(number), record(number)
        for name in ("id", "meta", "submitter", "known_as", "time", "flags", "content", "shingles", "length", "bytes"):
            assert getattr(row, name) == getattr(made, name), name
        assert row.leader == made.leader
    assert _core.Segment.of_records([Record().encode()], b"").row(0).time is None
    with pytest.raises(ValueError, match="`4` is not in a segment"):
        segment.row(4)


@pytest.mark.parametrize("memory", [0, 1 << 12, 1 << 26])
def test_a_small_memory_changes_nothing(tmp_path: Path, memory: int):
    path = tmp_path / "seg.lat"
    written = _core.write_segment(path, encoded(300), PARAMETERS, memory)
    assert written == _core.write_segment(tmp_path / "other.lat", encoded(300), PARAMETERS, 1 << 30)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.lat", "seg.lat"]


def test_a_merge_leaves_removed_rows_out(tmp_path: Path):
    records = encoded(30)
    parts = [
        (_core.Segment.of_records(records[:10], PARAMETERS), b"\x03\x02"),
        (_core.Segment.of_records([], PARAMETERS), None),
        (_core.Segment.of_records(records[10:], PARAMETERS), bytes(3)),
    ]
    rows, _, _ = _core.merge_segments(parts, tmp_path / "seg.lat", PARAMETERS, 1 << 20)
    merged = _core.Segment.open(tmp_path / "seg.lat")
    kept = records[2:9] + records[10:]
    merged.verify()
    assert rows == merged.rows == 27
    assert merged.records(0, 27) == kept
    assert merged.seal == _core.write_segment(tmp_path / "other.lat", kept, PARAMETERS, 1 << 20)[2]


def test_a_snapshot_finds_live_documents_only():
    records = [record(number) for number in range(6)]
    again = Record(id=records[2].id, content=records[3].content)
    parts = [
        (_core.Segment.of_records([one.encode() for one in records], PARAMETERS), b"\x04"),
        (_core.Segment.of_records([again.encode()], PARAMETERS), None),
    ]
    snapshot = _core.Snapshot(parts)
    assert (snapshot.rows, snapshot.live) == (7, 6)
    assert snapshot.find_ids([records[0].id, records[2].id, b"none"]) == [0, 6, None]
    assert snapshot.find_contents([records[3].content, records[2].content]) == [[3, 6], []]
    assert (snapshot.place(6), snapshot.row(6).id) == ((1, 0), records[2].id)
    assert [snapshot.is_live(number) for number in (2, 3, 7)] == [False, True, False]


def test_a_bitmap_of_another_segment_is_refused():
    segment = _core.Segment.of_records(encoded(9), PARAMETERS)
    for bitmap in (b"", b"\0", b"\0\0\0", b"\0\x02"):
        with pytest.raises(DamagedError, match="bitmap"):
            _core.Snapshot([(segment, bitmap)])


def test_damage_is_an_error(tmp_path: Path):
    path = tmp_path / "seg.lat"
    _core.write_segment(path, encoded(20), PARAMETERS, 1 << 20)
    data = bytearray(path.read_bytes())
    for at in range(0, len(data), 97):
        data[at] ^= 16
        path.write_bytes(data)
        with pytest.raises(DamagedError, match="lookalike index check"):
            _core.Segment.open(path).verify()
        data[at] ^= 16
    with pytest.raises(DamagedError, match="record"):
        _core.Segment.of_records([encoded(1)[0][:-1]], PARAMETERS)
    with pytest.raises(FileNotFoundError):
        _core.Segment.open(tmp_path / "none.lat")


def test_a_writer_that_ends_early_leaves_nothing(tmp_path: Path):
    writer = _core.SegmentWriter(tmp_path / "seg.lat", PARAMETERS, 0)
    writer.push(encoded(300))
    with pytest.raises(DamagedError):
        writer.push([b"no record"])
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="begin another"):
        writer.finish()
    writer = _core.SegmentWriter(tmp_path / "seg.lat", PARAMETERS, 0)
    writer.push(encoded(300))
    assert writer.rows == 300
    writer.close()
    assert list(tmp_path.iterdir()) == []
