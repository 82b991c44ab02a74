"""``MinHashLSH`` on disk answers as the one in memory does, whatever is done to both, and keeps its keys."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.compat.datasketch import MinHash, MinHashLSH
from lookalike.compat.datasketch.disk import Disk, id_of, key_of
from lookalike.errors import LockedError, VersionError
from tests.support.archives import fast_folder

PARAMS = {"threshold": 0.5, "num_perm": 8, "params": (4, 2)}
KEYS: list[Hashable] = ["a", b"a", "7", 7, -7, "", b"", "i:7", "\udc80", "é", 10**40]


def made(words: str, num_perm: int = 8, seed: int = 1) -> MinHash:
    minhash = MinHash(num_perm=num_perm, seed=seed)
    minhash.update_batch(word.encode() for word in words)
    return minhash


def on_disk(folder: Path | str, **changed: Any) -> MinHashLSH:
    return MinHashLSH(**{**PARAMS, "storage_config": {"type": "disk", "path": str(folder)}, **changed})


def in_memory() -> MinHashLSH:
    return MinHashLSH(**PARAMS)


@pytest.fixture
def folder() -> Iterator[Path]:
    with fast_folder() as path:
        yield path / "lsh"


def stored(lsh: MinHashLSH) -> Disk:
    assert isinstance(lsh._storage, Disk)
    return lsh._storage


def generation(folder: Path) -> int:
    with la.Index(folder) as index:
        return index.stats().generation


# --- the same answers as in memory ---

#: Few words, so that bands are shared all the time; no words is the empty set.
SETS = st.text(alphabet="abcdef", max_size=6)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.sampled_from(KEYS), SETS, st.booleans()),
        st.tuples(st.just("remove"), st.sampled_from(KEYS)),
        st.tuples(st.just("query"), SETS),
        st.tuples(st.just("session"), st.lists(st.tuples(st.sampled_from(KEYS), SETS), max_size=6), st.integers(1, 4)),
        st.tuples(st.just("leave"), st.lists(st.sampled_from(KEYS), max_size=4), st.integers(1, 3)),
        st.tuples(st.just("merge"), st.lists(st.tuples(st.sampled_from(KEYS), SETS), max_size=4), st.booleans()),
        st.tuples(st.just("reopen")),
        st.tuples(st.just("compact")),
        st.tuples(st.just("flush")),
        st.tuples(st.just("pickle")),
    ),
    max_size=14,
)


def outcome(work: Any) -> Any:
    """What a call returns, or the message of its refusal."""
    try:
        return work()
    except ValueError as error:
        return str(error)


def answers(lsh: MinHashLSH) -> dict[str, Any]:
    queries = [made(words) for words in ("", "a", "ab", "abc", "def", "abcdef")]
    return {
        "in": [key in lsh for key in KEYS],
        "keys": [(key, [bytes(one.values) for one in sketches]) for key, sketches in lsh.keys.items()],
        "empty": lsh.is_empty(),
        "query": [lsh.query(query) for query in queries],
        "first": [lsh._query_b(query, 2) for query in queries],
        "scores": [lsh.query_with_scores(query, 0.3) for query in queries],
        "counts": lsh.get_counts(),
        "subset": lsh.get_subset_counts("a", 7, "a", "unknown"),
        "repr": repr(lsh),
    }


def session(lsh: MinHashLSH, rows: list[tuple[Hashable, str]], size: int) -> list[Any]:
    with lsh.insertion_session(buffer_size=size) as entering:
        return [outcome(lambda row=row: entering.insert(row[0], made(row[1]))) for row in rows]


def leave(lsh: MinHashLSH, keys: list[Hashable], size: int) -> list[Any]:
    with lsh.deletion_session(buffer_size=size) as leaving:
        return [outcome(lambda key=key: leaving.remove(key)) for key in keys]


def merged(lsh: MinHashLSH, rows: list[tuple[Hashable, str]], check: bool, other: MinHashLSH) -> Any:
    for key, words in rows:
        other.insert(key, made(words), check_duplication=False)
    return outcome(lambda: lsh.merge(other, check_overlap=check))


def apply(lsh: MinHashLSH, step: tuple[Any, ...], other: MinHashLSH) -> Any:
    match step:
        case ("insert", key, words, check):
            return outcome(lambda: lsh.insert(key, made(words), check_duplication=check))
        case ("remove", key):
            return outcome(lambda: lsh.remove(key))
        case ("query", words):
            return lsh.query(made(words))
        case ("session", rows, size):
            return session(lsh, rows, size)
        case ("leave", keys, size):
            return leave(lsh, keys, size)
        case ("merge", rows, check):
            return merged(lsh, rows, check, other)
    return None


def disturb(lsh: MinHashLSH, step: str, folder: Path) -> MinHashLSH:
    """Do what must not change any answer."""
    if step in ("compact", "flush"):
        changes = stored(lsh)._writer()._changes()
        changes.compact() if step == "compact" else changes.flush()
        return lsh
    if step == "reopen":
        lsh.close()
        return on_disk(folder)
    if step == "pickle":
        twin = pickle.loads(pickle.dumps(lsh))
        lsh.close()
        return twin
    return lsh


@settings(max_examples=120, deadline=None)
@given(STEPS, st.booleans())
def test_every_answer_is_that_of_the_index_in_memory(steps: list[tuple[Any, ...]], is_from_disk: bool):
    with fast_folder() as base:
        plain, disk = in_memory(), on_disk(base / "lsh")
        for number, step in enumerate(steps):
            other = on_disk(base / f"other {number}") if is_from_disk and step[0] == "merge" else in_memory()
            assert apply(disk, step, other) == apply(plain, step, in_memory())
            other.close()
            disk = disturb(disk, step[0], base / "lsh")
        assert answers(disk) == answers(plain)
        disk.close()
        with la.Index(base / "lsh") as index:
            assert index.check() == []
        with on_disk(base / "lsh") as again:
            assert answers(again) == answers(plain)


@given(st.sampled_from(KEYS) | st.text() | st.binary() | st.integers(), st.integers(0, 20))
def test_ids_tell_key_and_type(key: str | bytes | int, place: int):
    back, number = key_of(id_of(key, place))
    assert (type(back), back, number) == (type(key), key, place)


def test_many_keys_in_one_bucket_and_a_buffer_of_queries(folder: Path):
    plain, disk = in_memory(), on_disk(folder)
    for lsh in (plain, disk):
        with lsh.insertion_session(buffer_size=300) as entering:
            for key in range(1_000):
                entering.insert(key, made("abc"[: key % 4]))
        lsh.add_to_query_buffer(made("ab"))
        lsh.add_to_query_buffer(made("abc"))
    assert disk.query(made("abc")) == plain.query(made("abc"))
    assert disk.collect_query_buffer() == plain.collect_query_buffer() != []
    disk.close()


# --- what is durable, and when ---


def test_an_insert_is_one_commit_and_a_session_one_per_buffer(folder: Path):
    with on_disk(folder) as lsh:
        before = generation(folder)
        lsh.insert("a", made("a"))
        assert generation(folder) == before + 1
        with lsh.insertion_session(buffer_size=4) as entering:
            for key in range(10):
                entering.insert(key, made("b"))
            assert generation(folder) == before + 3
        assert generation(folder) == before + 4
        with lsh.deletion_session(buffer_size=6) as leaving:
            for key in range(10):
                leaving.remove(key)
        assert generation(folder) == before + 6
        assert list(lsh.keys) == ["a"]


def test_a_process_that_dies_keeps_what_was_committed(folder: Path):
    program = (
        "import os, sys; from lookalike.compat.datasketch import MinHash, MinHashLSH\n"
        "lsh = MinHashLSH(0.5, 8, params=(4, 2), storage_config={'type': 'disk', 'path': sys.argv[1]})\n"
        "lsh.insert('kept', MinHash(8))\n"
        "lsh.insertion_session(10).insert('waiting', MinHash(8))\n"
        "os._exit(3)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(folder)], check=False).returncode == 3
    with on_disk(folder) as lsh:
        assert list(lsh.keys) == ["kept"]


def test_an_error_inside_a_session_keeps_what_was_inserted_before(folder: Path):
    lsh = on_disk(folder)
    entering = lsh.insertion_session()
    entering.insert("a", made("a"))
    with pytest.raises(RuntimeError, match="mine"), entering:
        raise RuntimeError("mine")
    lsh.close()
    assert "a" in on_disk(folder)


# --- several handles ---


def test_one_changes_and_others_see_it(folder: Path):
    writer = on_disk(folder)
    reader = on_disk(folder)
    writer.insert("a", made("a"))
    assert reader.query(made("a")) == ["a"]
    with pytest.raises(LockedError, match="is being changed by process"):
        reader.insert("b", made("b"))
    writer.insert("c", made("a"))
    assert reader.query(made("a")) == ["a", "c"]
    writer.close()
    with pytest.raises(ValueError, match="already"):
        reader.insert("c", made("c"))
    reader.insert("b", made("b"))
    assert "b" in on_disk(folder)


def test_a_handle_that_is_dropped_gives_the_lock_back(folder: Path):
    on_disk(folder).insert("a", made("a"))
    on_disk(folder).insert("b", made("b"))
    assert list(on_disk(folder).keys) == ["a", "b"]


@pytest.mark.parametrize("twin_of", [lambda lsh: pickle.loads(pickle.dumps(lsh)), copy.deepcopy])
def test_a_twin_is_the_same_folder(folder: Path, twin_of: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder.parent)
    lsh = on_disk(folder.name)
    session = lsh.insertion_session()
    session.insert("a", made("a"))
    os.mkdir("elsewhere")
    monkeypatch.chdir("elsewhere")
    twin = twin_of(lsh)
    assert twin.query(made("a")) == ["a"]
    session.close()
    lsh.close()
    twin.insert("b", made("b"))
    assert list(on_disk(folder).keys) == ["a", "b"]


def test_a_pickle_makes_no_folder(folder: Path):
    lsh = on_disk(folder)
    pickled = pickle.dumps(lsh)
    lsh.close()
    folder.rename(folder.with_name("moved"))
    with pytest.raises(FileNotFoundError):
        pickle.loads(pickled)
    assert not folder.exists()


# --- what is refused ---


@pytest.mark.parametrize("key", [2.5, None, ("a", 1), frozenset({1}), True])
def test_keys_of_other_types_are_refused_by_name(folder: Path, key: Hashable):
    with on_disk(folder) as lsh:
        with pytest.raises(ValueError, match=rf"is of type {type(key).__name__}, .* str, bytes and int"):
            lsh.insert(key, made("a"))
        other = in_memory()
        other.insert("a", made("a"))
        other.insert(key, made("a"))
        with pytest.raises(ValueError, match=f"is of type {type(key).__name__}"):
            lsh.merge(other)
        with pytest.raises(ValueError, match="is not in the index"):
            lsh.remove(key)
        assert key not in lsh
        assert lsh.is_empty()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"threshold": 0.6}, r"threshold 0\.5 \(asked for 0\.6\)"),
        ({"num_perm": 16}, r"num_perm 8 \(asked for 16\)"),
        ({"params": (2, 2)}, r"b 4 \(asked for 2\)"),
        ({"params": (4, 1)}, r"r 2 \(asked for 1\)"),
    ],
)
def test_other_parameters_are_refused_with_both_sides(folder: Path, changed: dict[str, Any], said: str):
    on_disk(folder).close()
    with pytest.raises(VersionError, match=said):
        on_disk(folder, **changed)
    on_disk(folder).insert("a", made("a"))


def test_another_seed_is_refused_after_reopening(folder: Path):
    with on_disk(folder) as lsh:
        lsh.insert("a", made("a", seed=9))
    with on_disk(folder) as lsh:
        for ask in (lsh.query, lambda minhash: lsh.insert("b", minhash)):
            with pytest.raises(ValueError, match="has seed `1`, those of this index have `9`"):
                ask(made("a"))
        assert lsh.query(made("a", seed=9)) == ["a"]


def test_an_index_of_documents_is_no_index_of_keys_and_the_other_way_round(folder: Path, tmp_path: Path):
    la.Index.create(folder, kind="corpus").close()
    with pytest.raises(VersionError, match="is a corpus of documents"):
        on_disk(folder)
    on_disk(tmp_path / "keys").close()
    with la.Index.open(tmp_path / "keys", write=True) as index:
        with pytest.raises(ValueError, match=r"holds keys of a MinHashLSH: add to it with MinHashLSH\.insert"):
            index.add([("a", "text")])
        for ask in (index.query, index.seen):
            with pytest.raises(ValueError, match="no documents: ask it with MinHashLSH"):
                ask("text")
        assert index.upgrade().documents == 0


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"type": "disk"}, "needs a folder"),
        ({"type": "disk", "path": ""}, "needs a folder"),
        ({"type": "disk", "path": "x", "redis": {}}, "storage option `redis` is not known"),
        ({"type": "redis", "basename": b"x"}, "storage `redis` is not offered: leave it out, or use dict or disk"),
    ],
)
def test_configurations_are_checked(config: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=said):
        MinHashLSH(storage_config=config)
    assert list(tmp_path.iterdir()) == []


def test_the_folder_may_be_spelled_as_datasketch_does(folder: Path):
    lsh = MinHashLSH(**PARAMS, storage_config={"type": "disk", "basename": os.fsencode(folder)})
    lsh.insert("a", made("a"))
    lsh.close()
    assert "a" in on_disk(folder)


def test_what_only_memory_has_is_refused(folder: Path):
    with pytest.raises(ValueError, match="hashfunc has no use on disk"):
        on_disk(folder, hashfunc=lambda band: band[:3])
    lsh = on_disk(folder)
    with pytest.raises(AttributeError, match="use get_counts"):
        _ = lsh.hashtables
    lsh.close()
    with pytest.raises(ValueError, match="is closed"):
        lsh.query(made("a"))
