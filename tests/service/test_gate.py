"""The threads of a reader: turns, shares, a bounded queue, work that is given up. Work waits for events of the test."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest

from lookalike.service.bodies import Budget
from lookalike.service.faults import FaultError
from lookalike.service.gate import Gate
from support.servers import PATIENCE


class Held:
    """Work that begins, and ends when the test says so."""

    def __init__(self) -> None:
        self.open, self.begun = threading.Event(), list[str]()

    def of(self, owner: str) -> Callable[[], str]:
        def work() -> str:
            self.begun.append(owner)
            assert self.open.wait(PATIENCE)
            return owner

        return work


@pytest.fixture
def held() -> Iterator[Held]:
    made = Held()
    yield made
    made.open.set()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.001)


def asked(gate: Gate, held: Held, owner: str) -> asyncio.Task[str]:
    return asyncio.create_task(gate.run(held.of(owner), owner))


def test_one_owner_never_holds_all_threads(held: Held):
    async def go() -> None:
        gate = Gate(3, 100, is_shared=True)
        many = [asked(gate, held, "a") for _ in range(20)]
        await until(lambda: len(held.begun) == 2)
        # The third thread is for others, however many of the first wait.
        for _ in range(20):
            assert await gate.run(lambda: "answered", "b") == "answered"
        assert held.begun == ["a", "a"]
        held.open.set()
        assert await asyncio.gather(*many) == ["a"] * 20
        assert gate.inside == gate.held("a") == 0
        gate.close()

    asyncio.run(go())


def test_one_owner_never_fills_the_queue(held: Held):
    async def go() -> None:
        gate = Gate(2, 10, is_shared=True)
        many = [asked(gate, held, "a") for _ in range(20)]
        await until(lambda: sum(one.done() for one in many) == 14)
        assert all(isinstance(one.exception(), FaultError) for one in many if one.done())
        assert gate.held("a") == 1 + 5
        others = [asked(gate, held, "b") for _ in range(6)]
        await until(lambda: gate.inside == 12)
        with pytest.raises(FaultError):
            await gate.run(lambda: "c", "c")
        held.open.set()
        assert await asyncio.gather(*others) == ["b"] * 6
        gate.close()

    asyncio.run(go())


def test_owners_take_turns():
    async def go() -> None:
        gate, begun, first = Gate(1, 100, is_shared=True), list[str](), threading.Event()
        held = asyncio.create_task(gate.run(lambda: first.wait(PATIENCE), "a"))
        await until(lambda: gate.inside == 1)
        later = [asyncio.create_task(gate.run(lambda o=owner: begun.append(o), owner)) for owner in "aaaaabbbcc"]
        await until(lambda: gate.inside == 11)
        first.set()
        await asyncio.gather(held, *later)
        assert "".join(begun) == "abcabcabaa"
        gate.close()

    asyncio.run(go())


def test_without_tokens_everyone_shares_all_threads(held: Held):
    async def go() -> None:
        gate = Gate(3, 2)
        many = [asked(gate, held, "") for _ in range(6)]
        await until(lambda: len(held.begun) == 3)
        await until(lambda: sum(one.done() for one in many) == 1)
        held.open.set()
        found = await asyncio.gather(*many, return_exceptions=True)
        assert [one for one in found if one == ""] == [""] * 5
        gate.close()

    asyncio.run(go())


def test_work_that_is_given_up_before_its_turn_is_never_done(held: Held):
    async def go() -> None:
        gate = Gate(1, 10)
        first = asked(gate, held, "a")
        await until(lambda: held.begun == ["a"])
        later = [asked(gate, held, "later") for _ in range(5)]
        await until(lambda: gate.inside == 6)
        for one in later:
            one.cancel()
        await asyncio.gather(*later, return_exceptions=True)
        assert gate.inside == 1
        held.open.set()
        await first
        assert await gate.run(lambda: "next") == "next"
        assert held.begun == ["a"]
        gate.close()

    asyncio.run(go())


def test_a_thread_is_free_only_when_its_work_has_ended(held: Held):
    async def go() -> None:
        gate = Gate(1, 0)
        first = asked(gate, held, "a")
        await until(lambda: held.begun == ["a"])
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        with pytest.raises(FaultError):
            await gate.run(lambda: "too early")
        held.open.set()
        await until(lambda: gate.inside == 0)
        assert await gate.run(lambda: "now") == "now"
        with pytest.raises(ZeroDivisionError):
            await gate.run(lambda: 1 // 0)
        gate.close()

    asyncio.run(go())


def test_one_owner_takes_half_of_the_bytes_at_most():
    budget = Budget(100, is_shared=True)
    assert budget.take("a", 50)
    assert not budget.take("a", 1)
    budget.take("a", -1)
    assert budget.take("b", 50)
    assert not budget.take("c", 1)
    for owner, count in (("a", -50), ("b", -50), ("c", -1)):
        budget.take(owner, count)
    assert budget.left == 100
    alone = Budget(100)
    assert alone.take("", 100)
    assert not alone.take("", 1)
