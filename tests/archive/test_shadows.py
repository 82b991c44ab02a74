"""Shadows, the rows that `dedup --index --add` removed: nothing of them can be read; they live with their leader."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from test_erasure import held

import lookalike as la
from lookalike.archive.merging import Policy
from lookalike.archive.parameters import Parameters
from lookalike.archive.store import Index
from support.days import cut, low_entropy
from support.dedups import Done, command
from support.old_indexes import ASKED, COMPAT, DAYS, LATER
from tests.support.archives import TINY, fast_folder

PARAMETERS = Parameters.of("corpus", **ASKED)
#: What no file may hold of a row that dedup removed. The same words of kept rows are other ones.
SECRETS = ("near-", "same-", "again-", "other-", "secret-owner-1", "secret-owner-4", "secret-owner-6")


def text(first: int, changed: int | None = None) -> str:
    words = [f"w{number}x{first}" for number in range(40)]
    return " ".join(words if changed is None else [*words[:changed], "other", *words[changed + 1 :]])


def shadows(index: Index) -> list[tuple[bytes, bytes]]:
    """Hashes of ids and of leaders of all shadows, in order."""
    with index.snapshot() as view:
        rows = [row for _, row in view.every_row() if row.flags & 1]
        return [(bytes(row.id), bytes(row.leader[0])) for row in rows if row.leader is not None]


@pytest.mark.parametrize("policy", [TINY, Policy()], ids=["segments", "tail"])
def test_no_file_holds_anything_readable_of_a_removed_row(policy: Policy):
    """Every file as bytes, every segment decoded, every table: ids, fields and words of removed rows are not there."""
    with fast_folder() as place, Index._create(place / "index", PARAMETERS, policy) as index:
        for day in (*DAYS, LATER):
            la.dedup(day, index=index, add=True)
        assert index.stats().shadows == 4
        assert len(index) == index.stats().documents == 5
        found = held(place / "index")
        assert b"secret-owner-0" in found, "the search finds nothing, so it proves nothing"
        assert [one for one in SECRETS if one.encode() in found] == []
        index.compact()
        assert [one for one in SECRETS if one.encode() in held(place / "index")] == []
        with index.snapshot() as view:
            rows = [row for _, row in view.every_row() if row.flags & 1]
        assert {(len(row.id), row.length, row.bytes, row.submitter, row.known_as) for row in rows} == {(16, 0, 0, 0, 0)}
        assert {frozenset(json.loads(row.meta)) for row in rows} == {frozenset(["run"])}
        assert index.check() == []


def test_a_shadow_is_removed_by_its_id_and_with_its_leader():
    with fast_folder() as place, Index._create(place / "index", PARAMETERS, TINY) as index:
        for day in DAYS:
            la.dedup(day, index=index, add=True)
        assert (index.stats().documents, index.stats().shadows) == (3, 3)
        assert "near-0" not in index
        assert index.remove("near-0") == 1
        assert (index.stats().documents, index.stats().shadows) == (3, 2)
        assert index.remove("near-0") == 0
        # The leader takes its shadow along, whatever removes it.
        assert index.remove("kept-1", purge=True) == 1
        assert (index.stats().documents, index.stats().shadows) == (2, 1)
        index.add([("kept-2", "another text")])
        assert (index.stats().documents, index.stats().shadows) == (2, 0)
        assert shadows(index) == []
        assert index.check() == []


def test_shadows_are_not_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with la.Index.create("index", kind="corpus", **ASKED) as index:
        for day in DAYS:
            la.dedup(day, index=index, add=True)
        ids = ["kept-0", "kept-1", "kept-2"]
        assert len(index) == 3
        assert [one.id for one in index.documents()] == ids
        assert index.export("all.jsonl") == 3
        assert [json.loads(line)["id"] for line in Path("all.jsonl").read_text().splitlines()] == ids
        index.backup("copy")
        assert len(la.Index("copy")) == 3
        assert len(la.JoinedIndex(["index", "copy"])) == 6
        assert index.query(text(0)).documents == 3
        assert index.share("shared", "key") == 3

    def told(*arguments: str) -> Done:
        return command(capsys, *arguments, expected=None)

    listed = told("index", "list", "index").out
    assert [line.split("\t")[0] for line in listed.splitlines()[1:]] == ids
    stats = json.loads(told("index", "stats", "index", "--json").out)
    assert (stats["documents"], stats["shadows"]) == (3, 3)
    assert "against 3 documents" in told("query", "index", "all.jsonl").out
    # Metadata of removed rows is not kept, so no condition on it finds them.
    with la.Index.open("index", write=True) as index:
        assert index.remove(where={"owner": "secret-owner-1"}) == 0
        assert index.stats().shadows == 3


def test_rows_that_are_old_go_as_shadows_too(tmp_path: Path):
    """A shadow has a time, by which a rule of retention finds it; its leader stays if it is younger."""
    rows = [
        {"id": "young", "text": text(0), "when": "2025-01-01"},
        {"id": "old", "text": text(0, 7), "when": "2019-01-01"},
        {"id": "timeless", "text": text(0, 9)},
    ]
    source = tmp_path / "day.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with la.Index.create(tmp_path / "index", kind="corpus", **ASKED) as index:
        la.dedup(source, index=index, add=True, time_column="when")
        assert (index.stats().documents, index.stats().shadows) == (1, 2)
        assert index.remove(older_than="2020-01-01") == 1
        assert (index.stats().documents, index.stats().shadows) == (1, 1)
        assert index.remove(older_than="2026-01-01") == 1
        assert (index.stats().documents, index.stats().shadows) == (0, 0)


@pytest.mark.parametrize("seed", range(25))
def test_after_a_removal_the_index_is_one_that_never_had_the_rows(seed: int):
    """Equal to the index of all rows but the removed ones and those that followed them: its rows, and a later day."""
    rng = random.Random(seed)
    texts = list(dict.fromkeys(text for text in low_entropy(rng, 80) if text and text.strip()))
    rows: list[Any] = [{"id": f"r{number}", "text": one} for number, one in enumerate(texts)]
    days = cut(rng, rows, 4)
    with fast_folder() as place:
        index = Index._create(place / "index", PARAMETERS, TINY)
        followed: dict[str, str] = {}
        for day in days[:-1]:
            answer = la.dedup(day, index=index, add=True)
            names = [one.name for one in answer.archived.kept] + [row["id"] for row in day]
            followed |= {names[row]: names[answer.survivors[row]] for row in answer.gone}
        every = [row["id"] for day in days[:-1] for row in day]
        chosen = set(rng.sample(every, len(every) // 5))
        gone = chosen | {follower for follower, leader in followed.items() if leader in chosen}
        if rng.random() < 0.5:
            assert index.remove(sorted(chosen)) == len(chosen)
        else:
            replaced = sorted(one for one in chosen if one not in followed)
            index.add([(one, f"what replaced {one}") for one in replaced])
            index.remove(sorted(chosen))
        rest = [[row for row in day if row["id"] not in gone] for day in days[:-1]]
        fresh = Index._create(place / "fresh", PARAMETERS, TINY)
        for day in rest:
            la.dedup(day, index=fresh, add=True)
        assert known(index) == known(fresh)
        assert (index.stats().documents, index.stats().shadows) == (fresh.stats().documents, fresh.stats().shadows)
        left, right = (la.dedup(days[-1], index=one) for one in (index, fresh))
        assert left.select() == right.select()
        assert [one.name for one in left.archived.kept] == [one.name for one in right.archived.kept]
        assert list(left.resemblances) == list(right.resemblances)
        assert index.check() == fresh.check() == []
        index.close()
        fresh.close()


def known(index: Index) -> list[Any]:
    """All documents and shadows in order, without the names of runs."""
    with index.snapshot() as view:
        rows = [row for _, row in view.every_row()]
        return [(row.id, row.flags, row.content, row.leader) for row in rows]


# --- an index of an earlier version ----------------------------------------------------------------------------------


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy of an index whose shadows have readable ids and metadata."""
    return Path(shutil.copytree(COMPAT, tmp_path / "old"))


def test_an_index_of_an_earlier_version_has_the_same_answers(old: Path):
    with la.Index(old) as index:
        assert [one.id for one in index.documents()] == ["kept-0", "kept-1", "plain-4", "kept-2"]
        assert (len(index), index.stats().documents, index.stats().shadows) == (4, 4, 3)
        assert index.check() == []
        answer = la.dedup(LATER, index=index)
        assert [one.name for one in answer.archived.kept] == ["kept-0", "kept-1", "plain-4", "kept-2"]
        assert [row["id"] for row in answer.select()] == ["new"]
        repeated = la.dedup(DAYS[1], index=index)
        assert [row["id"] for row in repeated.select()] == ["kept-2"]


def test_postings_of_an_earlier_version_find_the_same_passages(old: Path):
    def found(index: Index) -> list[Any]:
        answers = [index.query(row["text"], question=["passages"]).find("passages") for row in (*LATER, *DAYS[1])]
        return [[(match.id, match.passages) for match in answer.matches] for answer in answers]

    with la.Index.open(old, write=True) as index:
        before = found(index)
        assert {id_ for one in before for id_, _ in one} == {"kept-0", "kept-1", "plain-4", "kept-2"}
        index.compact()
        assert found(index) == before


def test_an_index_of_an_earlier_version_is_written_without_what_can_be_read(old: Path):
    assert any(b"secret-owner-1" in one.read_bytes() for one in old.iterdir())
    with la.Index.open(old, write=True) as index:
        la.dedup(LATER, index=index, add=True)
        assert (len(index), index.stats().shadows) == (5, 5)
        index.compact()
        assert [one for one in SECRETS if one.encode() in held(old)] == []
        assert index.remove(["kept-0", "plain-4"], purge=True) == 2
        assert (len(index), index.stats().shadows) == (3, 2)
        assert index.check() == []
    assert not la.dedup([{"id": "again", "text": text(0, 7)}], index=old).gone
    assert la.dedup([{"id": "again", "text": text(1, 9)}], index=old).gone
