"""Group commit: many requests, few commits, and each request learns what became of its own documents."""

from __future__ import annotations

import asyncio
import random
import threading
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike.archive.signing import SignedDocument, sign_batches
from lookalike.errors import NoSpaceError
from lookalike.service.committing import OUTCOMES, Add, Call, Committer, outcomes
from lookalike.service.faults import FaultError
from lookalike.service.keys import Key, Keys
from lookalike.service.settings import Settings


def signed(index: la.Index, rows: list[tuple[str, str]]) -> list[SignedDocument]:
    return [one for batch in sign_batches(rows, index.parameters) for one in batch.documents]


@pytest.fixture
def committer(tmp_path: Path):
    la.Index.create(tmp_path / "news", kind="corpus").close()
    keys = Keys(Settings.of([], data=tmp_path))
    made = Committer("news", str(tmp_path / "news"), keys, threading.Lock())
    yield made
    made.stop()
    keys.close()


def held(committer: Committer, changes: list[Any]) -> list[Any]:
    """Let changes wait while another one runs, and return their answers; errors too."""
    begun, go = threading.Event(), threading.Event()

    def block(_index: la.Index) -> dict[str, Any]:
        begun.set()
        assert go.wait(300)
        return {}

    async def run() -> list[Any]:
        first = asyncio.ensure_future(committer.do(Call(block)))
        await asyncio.to_thread(begun.wait, 300)
        waiting = [asyncio.ensure_future(committer.do(one)) for one in changes]
        await asyncio.sleep(0)
        go.set()
        await first
        return await asyncio.gather(*waiting, return_exceptions=True)

    return asyncio.run(run())


def test_requests_that_wait_are_one_commit(committer: Committer, tmp_path: Path):
    with la.Index(tmp_path / "news") as index:
        rows = [(f"d{number}", f"text {number}") for number in range(50)]
        adds = [Add(signed(index, [row])) for row in rows]
        before = index.stats().generation
        answers = held(committer, adds)
        assert index.stats().generation == before + 1
        assert len(index) == 50
    assert answers == [{"added": 1, "replaced": 0, "unchanged": 0}] * 50


def test_each_request_has_the_counts_of_one_after_the_other(committer: Committer, tmp_path: Path):
    """The twin: the same requests, one commit each, in another index."""
    draw = random.Random(4)
    with la.Index(tmp_path / "news") as index, la.Index.create(tmp_path / "twin", kind="corpus") as twin:
        for _ in range(20):
            batches = [
                signed(
                    index, [(f"d{draw.randrange(6)}", f"text {draw.randrange(3)}") for _ in range(draw.randint(1, 3))]
                )
                for _ in range(draw.randint(1, 6))
            ]
            answers = held(committer, [Add(batch) for batch in batches])
            wanted = []
            for batch in batches:
                counts = [twin._add_records([one]) for one in batch]
                wanted.append({what: sum(getattr(one, what) for one in counts) for what in OUTCOMES})
            assert answers == wanted
            texts = [{one.id: one.content for one in some.documents()} for some in (index, twin)]
            assert texts[0] == texts[1]


def test_outcomes_of_documents_are_those_of_an_add(tmp_path: Path):
    with la.Index.create(tmp_path / "news", kind="corpus") as index:
        first = signed(index, [("a", "one"), ("b", "two")])
        index._add_records(first)
        with index.snapshot() as view:
            more = signed(index, [("a", "one"), ("b", "three"), ("c", "four"), ("c", "four")])
            assert outcomes(view, [more[:2], more[2:]]) == [["unchanged", "replaced"], ["added", "unchanged"]]


def test_of_two_requests_with_one_key_the_second_gets_the_first_answer(committer: Committer, tmp_path: Path):
    with la.Index(tmp_path / "news") as index:
        one, other = signed(index, [("a", "one")]), signed(index, [("a", "two")])
    key = Key("", "news", "k", "1")
    answers = held(
        committer,
        [Add(one, key), Add(one, key), Add(other, key._replace(digest="2")), Add(other, key._replace(key="l"))],
    )
    assert answers[0] == answers[1] == {"added": 1, "replaced": 0, "unchanged": 0}
    assert isinstance(answers[2], FaultError)
    assert answers[3] == {"added": 0, "replaced": 1, "unchanged": 0}


def test_a_change_that_fails_fails_alone(committer: Committer, tmp_path: Path):
    """After an error of the disk the index is opened again, and the next change works."""
    with la.Index(tmp_path / "news") as index:
        adds = [Add(signed(index, [(f"d{number}", f"text {number}")])) for number in range(2)]

    def full(_index: la.Index) -> dict[str, Any]:
        raise NoSpaceError("no room")

    answers = held(committer, [adds[0], Call(full), adds[1]])
    assert isinstance(answers[1], NoSpaceError)
    assert answers[0] == answers[2] == {"added": 1, "replaced": 0, "unchanged": 0}
    with la.Index(tmp_path / "news") as index:
        assert len(index) == 2
