"""The catalogue and its parts: what a stranger's file may not do, when segments are merged, what a writer sweeps."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import json
import math
import os
import random
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import lookalike as la
from lookalike.archive import checking, faults
from lookalike.archive.folder import Folder
from lookalike.archive.merging import Policy
from lookalike.archive.parameters import Parameters
from lookalike.archive.retention import DAY, Age, cut
from lookalike.archive.state import Change, SegmentRow, State, count, is_marked, marked
from lookalike.archive.tail import Tail
from tests.support.archives import PARAMETERS, TINY, create, fast_folder, reopen, snapshot_of
from tests.support.records import signed


@pytest.fixture
def place() -> Iterator[Path]:
    with fast_folder() as folder:
        yield folder


def build(path: Path) -> None:
    with create(path) as index:
        index._add_records([signed(f"d{number}", f"text {number}") for number in range(7)])
        index._add_records([signed(f"e{number}", f"text {number}") for number in range(3)])
        index.remove(["d3"])


# --- a stranger's file -----------------------------------------------------------------------------------------------

#: Statements that a stranger might run on a catalogue.
HOSTILE = {
    "path": "UPDATE segments SET name = '../../etc/passwd'",
    "number": "UPDATE segments SET number = -1",
    "rows": "UPDATE segments SET rows = 9223372036854775807",
    "length": "UPDATE segments SET length = 'long'",
    "level": "UPDATE segments SET level = 1000000",
    "arrivals": "UPDATE segments SET first = 100",
    "bitmap too long": "UPDATE removed SET bitmap = zeroblob(100000)",
    "bitmap too short": "UPDATE removed SET bitmap = x''",
    "bitmap of text": "UPDATE removed SET bitmap = 'x'",
    "other document removed": "UPDATE removed SET bitmap = x'01'",
    "nothing removed": "DELETE FROM removed",
    "no segments": "DELETE FROM segments",
    "garbage in use": "INSERT INTO garbage SELECT name FROM segments",
    "garbage elsewhere": "INSERT INTO garbage VALUES ('../lock')",
    "garbage": "INSERT INTO garbage VALUES ('catalog.sqlite')",
    "generation": "UPDATE about SET value = -5 WHERE key = 'generation'",
    "counter": "UPDATE about SET value = 1 WHERE key = 'next_segment'",
    "parameters": "UPDATE about SET value = '{}' WHERE key = 'parameters'",
    "unknown": "INSERT INTO about VALUES ('x', 1)",
    "record": "UPDATE tail SET record = x'00'",
    "record of text": "UPDATE tail SET record = 'abc'",
    "arrival": "UPDATE tail SET arrival = -arrival",
    "no tail": "DELETE FROM tail WHERE arrival = (SELECT max(arrival) FROM tail)",
    "trigger": "CREATE TRIGGER t AFTER INSERT ON tail BEGIN DELETE FROM segments; END",
    "view": "CREATE VIEW v AS SELECT 1",
    "table": "CREATE TABLE more (x)",
    "index": "CREATE INDEX i ON tail (record)",
    "replaced table": "DROP TABLE garbage",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("write", [False, True])
def test_a_hostile_catalogue_is_refused_and_touches_nothing(place: Path, name: str, write: bool):
    build(place / "index")
    with sqlite3.connect(place / "index" / "catalog.sqlite") as base:
        base.execute(HOSTILE[name])
    base.close()
    before = {one.name: one.stat().st_size for one in (place / "index").glob("*.lat")} | {"lock": 0}
    with pytest.raises(la.DamagedError, match=r"catalog\.sqlite"):
        la.Index.open(place / "index", write=write).snapshot()
    assert before.keys() <= {one.name for one in (place / "index").iterdir()}


def test_a_newer_format_is_told_and_not_touched(place: Path):
    build(place / "index")
    with sqlite3.connect(place / "index" / "catalog.sqlite") as base:
        base.execute("PRAGMA user_version = 7")
    base.close()
    for write in (False, True):
        with pytest.raises(la.VersionError, match="made by format 7, this program reads ≤ 1"):
            la.Index.open(place / "index", write=write)


def test_another_sqlite_file_is_no_catalogue(place: Path):
    build(place / "index")
    os.unlink(place / "index" / "catalog.sqlite")
    with sqlite3.connect(place / "index" / "catalog.sqlite") as base:
        base.execute("CREATE TABLE x (y)")
    base.close()
    with pytest.raises(la.DamagedError, match="not the catalogue of an index"):
        la.Index(place / "index")


def test_keys_of_another_version_are_told(place: Path):
    old = json.loads(PARAMETERS.to_json()) | {"versions": {"index": 1, "text": 1, "code": 4}}
    made = Parameters.from_json(json.dumps(old))
    with la.Index._create(place / "index", made) as index:
        with pytest.raises(la.VersionError, match=r"text 1 \(this version makes 2; .*\).*index upgrade"):
            index.add(["some text"])
        assert index.upgrade().documents == 0
        assert index.add(["some text"]).added == 1


def test_what_the_catalogue_does_not_list_is_left_alone(place: Path):
    build(place / "index")
    own = ["notes.txt", "seg-ff.lat", "new-1", "seg-00000000000000ff.lat", "catalog.sqlite.bak"]
    for name in own:
        (place / "index" / name).write_text("mine")
    with reopen(place / "index") as index:
        index.compact()
        findings = index.check()
    assert all((place / "index" / name).read_text() == "mine" for name in own)
    assert {one.file for one in findings} == set(own)
    assert not any(one.is_damage for one in findings)


def test_an_index_is_made_only_where_nothing_else_is(place: Path):
    (place / "index").mkdir()
    (place / "index" / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="not empty"):
        create(place / "index")
    (place / "index" / "notes.txt").unlink()
    create(place / "index").close()
    with pytest.raises(FileExistsError, match="is an index already"):
        create(place / "index")


def test_a_closed_or_reading_index_takes_no_change(place: Path):
    build(place / "index")
    index = la.Index(place / "index")
    for change in (lambda: index.remove("d1"), index.compact, lambda: index.add(["x"])):
        with pytest.raises(la.ParameterError, match="for reading only"):
            change()
    index.close()
    for call in (lambda: len(index), lambda: index.remove("d1"), index.check):
        with pytest.raises(la.ParameterError, match="is closed"):
            call()


# --- merging ---------------------------------------------------------------------------------------------------------


def rows(levels: list[int]) -> list[SegmentRow]:
    return [SegmentRow(at, 0, 1, 1, at, at, level) for at, level in enumerate(levels, 1)]


def plan(levels: list[int], fan_in: int = 3) -> list[int]:
    return [one.number - 1 for one in Policy(fan_in=fan_in).plan(rows(levels), {})]


def test_neighbours_of_one_tier_are_merged():
    assert plan([2, 1, 1, 0, 0]) == []
    assert plan([2, 1, 1, 0, 0, 0]) == [3, 4, 5]
    assert plan([1, 1, 1]) == [0, 1, 2]
    # Small ones between large ones go along.
    assert plan([2, 0, 2, 0, 2]) == [0, 1, 2, 3, 4]
    assert plan([3, 0, 0, 3]) == []


def test_a_segment_of_removed_rows_is_rewritten():
    one = SegmentRow(1, 0, 1, 10, 1, 10, 0)
    assert Policy().plan([one], {1: marked(None, 10, range(5))}) == []
    assert Policy().plan([one], {1: marked(None, 10, range(6))}) == [one]


def test_a_run_is_cut_where_its_rows_would_not_fit():
    policy = Policy(fan_in=2, most_rows=20)
    large = [SegmentRow(at, 0, 1, 8, at, at, 0) for at in range(1, 8)]
    assert [one.number for one in policy.plan(large, {})] == [1, 2]
    # Of the third segment only four rows are live, so it fits too.
    assert [one.number for one in policy.plan(large, {3: marked(None, 8, range(4))})] == [1, 2, 3]
    full = [SegmentRow(at, 0, 1, 20, at, at, 0) for at in range(1, 8)]
    assert policy.plan(full, {}) == []
    draw = random.Random(7)
    for _ in range(200):
        some = [SegmentRow(at, 0, 1, draw.randint(1, 20), at, at, 0) for at in range(1, draw.randint(2, 30))]
        runs = policy.fitting(some, {})
        assert [one for run in runs for one in run] == some
        assert all(sum(one.rows for one in run) <= 20 for run in runs)
        pairs = itertools.pairwise(runs)
        assert all(sum(one.rows for one in run) + after[0].rows > 20 for run, after in pairs), "a run ends too early"


def test_compacting_leaves_segments_that_fit(place: Path):
    policy = replace(TINY, most_rows=10)
    with create(place / "index", policy) as index:
        for start in range(0, 40, 5):
            index._add_records([signed(f"d{number}", f"x {number}") for number in range(start, start + 5)])
        index.remove(["d3", "d17"])
        index.compact()
        state = index.snapshot().state
        assert [one.rows for one in state.segments] == [9, 9, 10, 10]
        assert not state.removed
        assert len(index) == 38
        assert index.check() == []


def test_merging_ends_and_rewrites_little():
    """Simulated: documents are rewritten a logarithmic number of times, and few segments are left."""
    policy, draw = Policy(fan_in=4, tier_bytes=100), random.Random(5)
    for _ in range(20):
        sizes, written, arrived = list[int](), 0, 0
        for _ in range(600):
            size = draw.choice([10, 90, 100, 300])
            sizes.append(size)
            arrived += size
            while True:
                segments = [SegmentRow(at, 0, size, 1, at, at, policy.tier(size)) for at, size in enumerate(sizes, 1)]
                run = policy.plan(segments, {})
                if not run:
                    break
                start, end = run[0].number - 1, run[-1].number
                sizes[start:end] = [sum(sizes[start:end])]
                written += sizes[start]
            assert len(sizes) <= 3 * 9
        assert written <= 8 * arrived
        assert sum(sizes) == arrived


def test_bitmaps_match_sets():
    draw = random.Random(3)
    for _ in range(200):
        size = draw.randint(1, 70)
        first, second = (set(draw.sample(range(size), draw.randint(0, size))) for _ in range(2))
        bitmap = marked(marked(None, size, first), size, second)
        assert {row for row in range(size) if is_marked(bitmap, row)} == first | second
        assert count(bitmap) == len(first | second)


def test_a_change_leads_to_a_state_that_passes_its_own_check():
    state = State("0", "{}")
    state = Change(tail=[(1, b"a"), (2, b"b")], arrivals=2).after(state)
    state.check()
    assert (state.arrivals, state.next_arrival, state.rows) == ((1, 2), 3, 2)
    segment = SegmentRow(1, 5, 10, 2, 1, 2, 0)
    broken = Change(made=[segment], untailed=frozenset([1])).after(state)
    with pytest.raises(ValueError, match="arrivals"):
        broken.check()


def test_the_tail_matches_a_list():
    """Documents come and go in any order; the pieces hold the same ones, and are logarithmically few."""
    draw, tail, live, arrival = random.Random(1), Tail(b"{}"), dict[int, bytes](), 0
    for _ in range(300):
        new = []
        for _ in range(draw.choice([1, 1, 1, 3, 9])):
            arrival += 1
            new.append((arrival, signed(f"d{arrival}", "x y")[2]))
        live |= dict(new)
        for gone in draw.sample(sorted(live), min(len(live), draw.choice([0, 0, 1, 4]))):
            del live[gone]
        tail.update(tuple(live), new)
        assert tail.documents() == sorted(live.items())
        assert len(tail.parts()) <= max(1, len(live)).bit_length() + 1
        assert len(tail) == len(live)


# --- retention -------------------------------------------------------------------------------------------------------


def at(seconds: int) -> Callable[[], float]:
    return lambda: seconds


def test_an_age_is_refused_by_a_clock_that_is_behind():
    now = 1_700_000_000
    assert cut("10d", at(now), [now + DAY]) == now - 10 * DAY
    with pytest.raises(la.ParameterError, match="nothing is removed; set the clock"):
        cut("10d", at(now), [5, now + DAY + 1])
    # A date needs no clock, and a clock that is ahead cannot be told from a right one.
    assert cut("2024-01-01", at(0), [now]) == 1_704_067_200
    assert cut("1y", at(2**33), [now]) == 2**33 - 365 * DAY


def test_times_beyond_a_calendar_are_told():
    with pytest.raises(la.ParameterError, match="of second"):
        cut("1d", at(0), [2**62])


def test_documents_without_a_time_stay(place: Path):
    with create(place / "index") as index:
        times = {"old": 1_000, "new": 2_000_000_000, "before 1970": -5}
        index._add_records([signed(name, name, time=time) for name, time in times.items()])
        index._add_records([signed("none", "none")])
        assert index.remove(older_than="2001-01-01") == 2
        assert [one.id for one in index.documents()] == ["new", "none"]
        with pytest.raises(la.ParameterError, match="clock"):
            index.remove(older_than="1d")


# --- what SQLite says ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_CORRUPT, la.DamagedError), (sqlite3.SQLITE_NOTADB, la.DamagedError),
        (sqlite3.SQLITE_FORMAT, la.DamagedError), (None, la.DamagedError), (sqlite3.SQLITE_BUSY, la.LockedError),
        (sqlite3.SQLITE_PROTOCOL, la.LockedError), (sqlite3.SQLITE_PERM, OSError), (sqlite3.SQLITE_READONLY, OSError),
        (sqlite3.SQLITE_IOERR_FSYNC, OSError), (sqlite3.SQLITE_FULL, OSError), (sqlite3.SQLITE_ERROR, OSError),
        (sqlite3.SQLITE_CONSTRAINT_UNIQUE, OSError), (sqlite3.SQLITE_NOMEM, MemoryError),
    ],
)  # fmt: skip
def test_only_damage_is_called_damage(code: int | None, kind: type[Exception]):
    error = sqlite3.OperationalError("as SQLite says")
    if code is not None:
        error.sqlite_errorcode = code
    with pytest.raises(kind) as told, faults.spoken("/index/catalog.sqlite"):
        raise error
    assert isinstance(told.value, la.DamagedError) == (kind is la.DamagedError)


def test_a_check_beside_a_writer_finds_no_damage(place: Path, monkeypatch: pytest.MonkeyPatch):
    """The writer replaces all segments while the check opens them, and again while it reads them."""
    with create(place / "index") as writer, la.Index(place / "index") as reader:
        writer._add_records([signed(f"d{number}", "x") for number in range(9)])
        writer._add_records([signed(f"e{number}", "x") for number in range(9)])
        real = checking._open

        def late(folder: Folder, row: SegmentRow) -> object:
            monkeypatch.setattr(checking, "_open", real)
            writer.compact()
            return real(folder, row)

        def compact(_phase: str, _done: int, _total: int | None) -> None:
            writer._add_records([signed("late", str(writer.stats().generation))])
            writer.compact()

        monkeypatch.setattr(checking, "_open", late)
        assert reader.check(compact) == []
        next((place / "index").glob("*.lat")).unlink()
        assert [one.reason for one in reader.check()] == ["it is missing"]


def test_a_file_that_goes_meanwhile_is_not_counted(place: Path, monkeypatch: pytest.MonkeyPatch):
    build(place / "index")
    with la.Index(place / "index") as index:
        before = index.stats().bytes
        (place / "index" / "more").write_bytes(b"12345")
        real = os.scandir

        @contextlib.contextmanager
        def late(folder: str) -> Iterator[list[os.DirEntry[str]]]:
            with real(folder) as files:
                found = list(files)
            (place / "index" / "more").unlink()
            yield found

        monkeypatch.setattr(os, "scandir", late)
        assert index.stats().bytes == before


@pytest.mark.parametrize("given", [math.nan, math.inf, -math.inf, datetime.timedelta(days=-1), "-3d", True, "nan"])
def test_what_is_no_time_is_refused_by_name(given: Age):
    with pytest.raises(la.ParameterError, match=r"older_than .* is no time: give an age") as refused:
        cut(given, at(1_700_000_000), [])
    assert str(given) in str(refused.value)


def test_ids_need_not_be_unicode(place: Path):
    with create(place / "index") as index:
        index._add_records([signed("caf\udce9/\n", "text"), signed("", "empty name")])
        assert [one.id for one in index.documents()] == ["caf\udce9/\n", ""]
        assert "caf\udce9/\n" in index
        assert index.remove("caf\udce9/\n") == 1
    assert [id_ for id_, _ in snapshot_of(place / "index")] == [b""]
