"""Several threads and one handle: readers beside a writer, and several that change an index."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import lookalike as la
from lookalike.archive.tail import Tail
from tests.support.archives import create, fast_folder, snapshot_of
from tests.support.records import signed


@pytest.fixture
def place() -> Iterator[Path]:
    with fast_folder() as folder:
        yield folder


def together(*tasks: Callable[[], None]) -> list[BaseException]:
    """Run tasks at the same time; return what they raised."""
    raised = list[BaseException]()

    def run(task: Callable[[], None]) -> None:
        try:
            task()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return raised


def test_a_state_that_comes_late_is_not_shown(place: Path):
    """Two threads have read one after the other, and show what they read in the other order."""
    with create(place / "index") as writer, la.Index(place / "index") as reader:
        writer._add_records([signed("seed", "x")])
        assert len(reader) == 1
        writer._add_records([signed("a", "y")])
        earlier = reader._catalogue.read(0)
        writer._add_records([signed("b", "z")])
        later = reader._catalogue.read(0)
        reader._views.show(*later)
        shown = reader._views.show(*earlier)
        assert shown is not None
        assert len(shown) == 3
        assert len(reader) == 3


def test_the_tail_follows_a_state_that_has_a_document_again():
    tail, records = Tail(b"{}"), [(number, signed(f"d{number}", "x y")[2]) for number in (1, 2, 3)]
    tail.update((1, 2, 3), records)
    tail.update((1, 3), [])
    assert tail.documents() == [records[0], records[2]]
    tail.update((1, 2, 3), [])
    assert tail.documents() == records


def test_an_older_catalogue_in_the_place_of_a_newer_one_is_followed(place: Path):
    with create(place / "index") as writer, la.Index(place / "index") as reader:
        writer._add_records([signed("a", "x")])
        state = reader.snapshot().state
        writer._add_records([signed("b", "y")])
        assert len(reader) == 2
        older = state, [(state.arrivals[0], signed("a", "x")[2])]
        reader._catalogue.generation = lambda: state.generation  # type: ignore[method-assign]
        reader._catalogue.read = lambda after=0: older  # type: ignore[method-assign]
        assert [one.id for one in reader.documents()] == ["a"]


def test_threads_that_read_one_handle_never_go_back(place: Path):
    with create(place / "index") as writer, la.Index(place / "index") as reader:
        is_over = threading.Event()

        def read() -> None:
            seen = 0
            while not is_over.is_set():
                found = len(reader)
                assert found >= seen
                seen = found

        def write() -> None:
            try:
                for number in range(150):
                    writer._add_records([signed(f"d{number}", f"text {number}")])
            finally:
                is_over.set()

        assert together(write, read, read, read) == []
        assert len(reader) == 150


def test_threads_that_change_one_handle_take_turns(place: Path):
    """Adds, replacements, removals and merges of four threads: everything acknowledged is there, once."""
    index = create(place / "index")

    def add(name: str) -> Callable[[], None]:
        def run() -> None:
            for number in range(30):
                added = index._add_records([signed(f"{name}-{number}", "text"), signed("shared", f"{name} {number}")])
                assert added.added + added.replaced == 2
                if number % 3 == 0:
                    assert index.remove(f"{name}-{number}") == 1

        return run

    def compact() -> None:
        for _ in range(5):
            index.compact()

    assert together(add("a"), add("b"), add("c"), compact) == []
    assert index.check() == []
    index.close()
    wanted = {f"{name}-{number}" for name in "abc" for number in range(30) if number % 3} | {"shared"}
    found = [id_.decode() for id_, _ in snapshot_of(place / "index")]
    assert sorted(found) == sorted(wanted)


def test_closing_waits_for_a_change_of_another_thread(place: Path):
    """One that comes after it is told that the index is closed, not that it is damaged."""
    index = create(place / "index")
    has_begun, acknowledged = threading.Event(), list[str]()

    def add() -> None:
        for number in range(10_000):
            index._add_records([signed(f"d{number}", "text")])
            acknowledged.append(f"d{number}")
            has_begun.set()

    def close() -> None:
        has_begun.wait()
        index.close()

    (raised,) = together(add, close)
    assert isinstance(raised, la.ParameterError)
    assert "is closed" in str(raised)
    assert [id_.decode() for id_, _ in snapshot_of(place / "index")] == acknowledged
