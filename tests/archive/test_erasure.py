"""Deletion is real: after a purge no file of an index holds id, metadata, text or keys of a removed document.

Files are searched as bytes. Segments store texts and keys compressed, so they are also decoded whole: every record of
every row, and every text.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

import lookalike as la
from lookalike import _core
from lookalike.archive.merging import Policy
from lookalike.archive.parameters import Parameters
from lookalike.archive.store import Index
from tests.support.archives import TINY, create, fast_folder, reopen
from tests.support.records import signed

#: Bytes that must be equal before something counts as found: shorter ones occur by chance.
WINDOW = 8


def windows(record: bytes, others: list[bytes]) -> set[bytes]:
    """The stretches of a record that no other record has."""
    known = b"\0".join(others)
    every = {record[at : at + WINDOW] for at in range(len(record) - WINDOW + 1)}
    return {one for one in every if one not in known and len(set(one)) > 2}


def held(path: Path) -> bytes:
    """All bytes of all files, and everything that segments say when they are decoded."""
    found = [one.read_bytes() for one in sorted(path.iterdir()) if one.is_file()]
    for one in sorted(path.glob("*.lat")):
        segment = _core.Segment.open(str(one))
        segment.verify()
        found += segment.records(0, segment.rows)
        snapshot = _core.Snapshot([(segment, None)])
        found += [text.encode() for number in range(segment.rows) for _, text in snapshot.texts(number)]
    return b"\0".join(bytes(one) for one in found)


def texts(count: int) -> list[tuple[str, str]]:
    draw = random.Random(count)
    words = [f"{draw.choice('bdfglmnprstv')}{draw.choice('aeiou')}{number:x}" for number in range(999)]
    return [(f"person-{number}-name", " ".join(draw.choices(words, k=60))) for number in range(count)]


@pytest.mark.parametrize("policy", [TINY, Policy()], ids=["segments", "tail"])
@pytest.mark.parametrize("opened_by_a_reader", [False, True])
def test_a_purge_leaves_no_byte(policy: Policy, opened_by_a_reader: bool):
    with fast_folder() as place:
        path = place / "index"
        with Index._create(path, Parameters.of("corpus"), policy) as index:
            for document in texts(17):
                index.add([document])
            view = index.snapshot()
            records = {bytes(row.id): record for (_, row), record in zip(view.rows(), view.records(), strict=True)}
            gone = [b"person-3-name", b"person-9-name", b"person-16-name"]
            others = [record for id_, record in records.items() if id_ not in gone]
            sought = {one for id_ in gone for one in windows(records[id_], others)}
            before = held(path)
            assert sum(one in before for one in sought) > len(sought) / 2, (
                "the search finds nothing, so it proves nothing"
            )
            reader = la.Index(path) if opened_by_a_reader else None
            if reader is not None:
                assert len(reader) == 17
            del view
            assert index.remove([id_.decode() for id_ in gone], purge=True) == 3
            after = held(path)
            assert [one for one in sought if one in after] == []
            for id_ in gone:
                assert id_ not in after
            if reader is not None:
                reader.close()
        assert [one for one in sought if one in held(path)] == []


def test_a_replaced_document_is_erased_by_a_purge_too():
    with fast_folder() as place:
        path = place / "index"
        with la.Index.create(path, kind="corpus") as index:
            index.add([("a", "the first secret wording of it"), ("b", "something else that stays")])
            index.add([("a", "the second wording of it")])
            index.compact()
            index.add([("b", "now the other one is changed")])
            index.remove(purge=True)
            found = held(path)
        assert b"secret" not in found
        assert b"that stays" not in found
        assert b"second wording" in found


def test_removed_documents_are_hidden_at_once():
    with fast_folder() as place, create(place / "index") as index:
        index._add_records(
            [signed(f"d{number}", f"x {number}", meta={"label": str(number % 2)}) for number in range(9)]
        )
        assert index.remove(where={"label": "1"}) == 4
        assert [one.id for one in index.documents()] == ["d0", "d2", "d4", "d6", "d8"]
        assert "d1" not in index
        assert index.remove(["d0", "d1"], where={"label": "0"}) == 1
        assert os.path.exists(place / "index" / "catalog.sqlite")


def test_a_segment_whose_rows_are_all_removed_is_dropped():
    with fast_folder() as place, create(place / "index") as index:
        index._add_records([signed(f"d{number}", f"x {number}") for number in range(9)])
        index.remove([f"d{number}" for number in range(9)])
        assert index.snapshot().state.segments == ()
        assert list((place / "index").glob("*.lat")) == []


def test_a_purge_that_leaves_a_file_is_no_success():
    with fast_folder() as place:
        path = place / "index"
        with create(path) as index:
            index._add_records([signed(f"d{number}", f"x {number}") for number in range(9)])
            (old,) = path.glob("*.lat")
            # A folder in its place cannot be unlinked, as a file that another program holds on Windows.
            kept = old.read_bytes()
            old.unlink()
            old.mkdir()
            with pytest.raises(OSError, match=old.name):
                index.remove(["d1"], purge=True)
            assert "d1" not in index
        old.rmdir()
        assert kept
        with reopen(path) as index:
            index.remove(purge=True)
            assert index.check() == []


@pytest.mark.parametrize("name", ["new-0000000000000001", "seg-0000000000000001.lat.damaged", "catalog.sqlite.damaged"])
def test_what_may_hold_documents_is_listed_and_makes_a_purge_fail(name: str):
    with fast_folder() as place:
        path = place / "index"
        with create(path) as index:
            index._add_records([signed(f"d{number}", f"x {number}") for number in range(9)])
            index.remove(["d2"], purge=True)
            assert index.check() == []
            left = path / name
            if name.startswith("new-"):
                left.mkdir()
            else:
                left.write_bytes(b"secret")
            assert [(one.file, one.is_damage) for one in index.check()] == [(name, False)]
            with pytest.raises(OSError, match=name):
                index.remove(["d1"], purge=True)
            assert left.exists()


def test_a_begun_catalogue_is_listed_and_removed_by_the_next_writer():
    with fast_folder() as place:
        path = place / "index"
        with create(path) as index:
            index._add_records([signed(f"d{number}", f"x {number}") for number in range(9)])
        new = path / "catalog.sqlite.new"
        new.write_bytes(b"d1 was here")
        with Index(path) as index:
            assert [(one.file, one.is_damage) for one in index.check()] == [(new.name, False)]
        with reopen(path) as index:
            assert not new.exists()
            assert index.check() == []
