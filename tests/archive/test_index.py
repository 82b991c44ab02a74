"""``lookalike.Index`` as a library: what an add does, how it goes on after an interruption, what a view shows."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import lookalike as la
from lookalike.archive.merging import Policy
from lookalike.archive.parameters import Parameters
from lookalike.archive.signing import signer
from tests.support.archives import fast_folder

#: Commits every few documents.
EAGER = Policy(tail_documents=8, batch_bytes=2_000)


@pytest.fixture
def place() -> Iterator[Path]:
    with fast_folder() as folder:
        yield folder


def corpus(path: Path, policy: Policy | None = None) -> la.Index:
    return la.Index._create(path, Parameters.of("corpus"), policy)


def test_an_interrupted_add_goes_on_where_it_stopped(place: Path):
    rows = [(f"r{number}", f"row number {number} of many others") for number in range(3000)]

    def cut_off() -> Iterator[tuple[str, str]]:
        # Rows are read in parts of 4,096, so the interruption comes after the first of them.
        yield from (rows * 2)[:5000]
        raise KeyboardInterrupt

    index = corpus(place / "index", EAGER)
    with pytest.raises(KeyboardInterrupt):
        index.add(cut_off())
    index.close()
    with la.Index._open(place / "index", EAGER, write=True) as index:
        there = len(index)
        assert there == 3000
        done = index.add([*rows, ("one more", "text")])
        assert (done.added, done.replaced, done.unchanged) == (1, 0, there)
        assert [one.id for one in index.documents()][:3000] == [id_ for id_, _ in rows]
        assert index.check() == []


def test_the_last_one_of_an_id_counts(place: Path):
    """An add leaves the same documents as one add per document, each where its last text came, and is idempotent.

    A document whose last text is the one in the index stays where it is: so the same add can be run again.
    """
    steps = [("a", "one"), ("b", "two"), ("a", "three"), ("a", "one"), ("b", "two"), ("c", "x"), ("a", "one")]
    for start, order in (([], "bac"), ([("a", "one")], "abc"), ([("a", "three"), ("c", "y")], "bac")):
        found = []
        for name, parts in (("whole", [steps]), ("single", [[one] for one in steps])):
            with corpus(place / f"{name}-{len(start)}", EAGER) as index:
                index.add(start)
                for part in parts:
                    index.add(part)
                if name == "whole":
                    assert "".join(one.id for one in index.documents()) == order
                    assert str(index.add(steps)).startswith("0 added, 0 replaced")
                    assert "".join(one.id for one in index.documents()) == order
                with index.snapshot() as view:
                    texts = [(one.id, view.texts(one.id)[0][1]) for one in view.documents()]
                found.append(sorted(texts))
        assert found[0] == found[1]


@pytest.mark.parametrize(
    "source",
    [
        ["some text", "another text"],
        [("a", "some text"), ("b", "another text")],
        [{"id": "a", "text": "some text"}, {"id": "b", "text": "another text"}],
        (text for text in ("some text", "another text")),
    ],
)
def test_rows_of_every_kind_are_taken(place: Path, source: object):
    with corpus(place / "index") as index:
        assert index.add(source).added == 2
        assert len(index) == 2
        assert index.add(["some text"] if "a" not in index else [("a", "some text")]).unchanged == 1


def test_a_class_takes_names_and_texts(place: Path):
    with la.Index.create(place / "index", kind="class") as index:
        assert index.add({"ann": "print(1)\n", "bob": "print(2)\n"}).added == 2
        assert index.add({"ann": "print(1)\n", "bob": "print(3)\n"}).replaced == 1
        assert [one.id for one in index.documents()] == ["ann", "bob"]


def test_a_failed_add_leaves_whole_batches_only(place: Path):
    def rows() -> Iterator[object]:
        yield from ((f"r{number}", f"row {number}") for number in range(20))
        raise OSError("the source ends here")

    with corpus(place / "index", EAGER) as index:
        with pytest.raises(OSError, match="ends here"):
            index.add(rows())
        assert index.add([("after", "text")]).added == 1
        assert index.check() == []


def test_problems_beyond_the_list_are_counted(place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lookalike.archive.adding.MOST_PROBLEMS", 3)
    (place / "rows.jsonl").write_text('{"id": 1}\n' * 9 + '{"id": "a", "text": "some text"}\n')
    with corpus(place / "index") as index:
        done = index.add(place / "rows.jsonl")
    assert done.added == 1
    assert [one.reason for one in done.skipped][3:] == ["6 more problems are not listed"]


def test_an_entry_tells_what_is_known(place: Path):
    with corpus(place / "index") as index:
        index.add([{"id": "a", "text": "some text", "year": 2025, "day": "2025-01-02"}], time_column="day")
        one = index.document("a")
        assert one is not None
        assert (one.id, one.time, one.bytes, one.is_template) == ("a", 1735776000, 9, False)
        assert one.meta["fields"]["year"] == 2025
        assert index.document("b") is None
        assert "a" in index
        assert index.stats().documents == 1


def test_questions_that_are_left_out_take_no_space(place: Path):
    text = " ".join(f"word{number}" for number in range(2000))
    sizes = {}
    for name, without in (("all", ()), ("some", ("passages", "resemblance", "containment", "distance"))):
        with la.Index.create(place / name, kind="corpus", without=without, no_texts=name == "some") as index:
            index.add([("a", text)])
            index.compact()
            sizes[name] = sum(one.stat().st_size for one in (place / name).glob("*.lat"))
            assert index.check() == []
    assert sizes["some"] < sizes["all"] / 2


def test_one_index_cannot_be_pickled(place: Path):
    import pickle

    with corpus(place / "index") as index, pytest.raises(TypeError, match=r"Index\(path\)"):
        pickle.dumps(index)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_what_signs_documents_is_made_once_and_anew_in_a_forked_process(place: Path):
    parameters = Parameters.of("corpus")
    assert signer(parameters, 2) is signer(Parameters.of("corpus"), 2)
    assert signer(parameters, 2) is not signer(parameters, 1)
    assert signer(parameters, 2) is not signer(Parameters.of("corpus", threshold=0.9), 2)
    with la.Index.create(place / "parent", kind="corpus") as index:
        index.add([("a", "the pool is closed on monday")])
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            with la.Index.create(place / "child", kind="corpus") as index:
                os._exit(0 if index.add([("a", "the pool is closed on monday")]).added == 1 else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
