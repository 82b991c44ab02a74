"""kill -9 at any moment loses nothing that was acknowledged, and leaves nothing that was not asked for.

The oracle stands outside: the parent makes the same operations from the same seed and knows how many were acknowledged.
It kills after a random acknowledgement and some work of its own, so that the child is anywhere in its next operation.
"""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

from lookalike.archive.store import Index
from tests.support.archive_children import Server, follow, operations
from tests.support.archives import Model, fast_folder, listed, reopen, snapshot_of

CYCLES = int(os.environ.get("LOOKALIKE_TORTURE_KILLS", "120"))
SEED = int(os.environ.get("LOOKALIKE_TORTURE_SEED", "20261117"))


def killed(server: Server, path: Path, seed: int, draw: random.Random, *, creates: bool = False) -> int:
    """Run a child and kill it; return how many operations it acknowledged, −1 if not even the opening."""
    child = server.begin(path, seed, creates=creates)
    most = draw.choice([0, 0, 1, 2, 5, 12]) if creates else draw.choice([1, 1, 2, 3, 5, 8, 15])
    seen = 0
    while seen < most and server.acknowledged():
        seen += 1
    # Some work takes the place of a pause: the child gets on meanwhile.
    sum(range(draw.randint(0, draw.choice([1, 300, 30_000, 200_000]))))
    os.kill(child, signal.SIGKILL)
    assert server.ended() == -signal.SIGKILL
    return seen + server.rest() - 1


def test_nothing_acknowledged_is_lost_and_nothing_else_appears():
    draw, both, more = random.Random(SEED), 0, 0
    with fast_folder() as place, Server() as server:
        path, model = place / "index", Model()
        reopen_first(path)
        for cycle in range(CYCLES):
            seed = draw.getrandbits(32)
            done = killed(server, path, seed, draw)
            states, ahead = [model], operations(seed)
            for _ in range(max(done, 0) + 1):
                states.append(follow(states[-1], next(ahead)))
            sure, perhaps = states[max(done, 0)], states[max(done, 0) + 1]
            # No lock is left, and opening it is all the recovery there is.
            with reopen(path) as index:
                found = listed_of(index)
                assert index.check() == [], f"cycle {cycle}, seed {SEED}"
            assert found in (listed(sure), listed(perhaps)), f"cycle {cycle}, seed {SEED}, {done} acknowledged"
            assert snapshot_of(path) == found
            both, more = both + (sure == perhaps), more + (found != listed(sure))
            model = sure if found == listed(sure) else perhaps
            assert own_files(path) == sorted(files(path))
    # The kills hit operations under way, before and after their commit.
    assert CYCLES < 50 or (more > 0 and more + both < CYCLES)


def reopen_first(path: Path) -> None:
    from tests.support.archives import create

    create(path).close()


def listed_of(index: Index) -> list[tuple[bytes, bytes]]:
    with index.snapshot() as view:
        return list(zip([bytes(row.id) for _, row in view.rows()], view.records(), strict=True))


def own_files(path: Path) -> list[str]:
    """What is in the folder, without the journal that a reader leaves."""
    return sorted(name for name in os.listdir(path) if not name.endswith(("-wal", "-shm")))


def files(path: Path) -> list[str]:
    with Index(path) as index:
        return ["catalog.sqlite", "lock", *(one.name for one in index.snapshot().state.segments)]


def test_a_creation_that_is_killed_can_be_repeated():
    draw = random.Random(SEED + 1)
    with fast_folder() as place, Server() as server:
        for cycle in range(16):
            path, seed = place / f"index-{cycle}", draw.getrandbits(32)
            done = killed(server, path, seed, draw, creates=True)
            if done < 0 and not (path / "catalog.sqlite").exists():
                reopen_first(path)
                assert snapshot_of(path) == []
                continue
            states, ahead = [Model()], operations(seed)
            for _ in range(max(done, 0) + 1):
                states.append(follow(states[-1], next(ahead)))
            with reopen(path) as index:
                assert listed_of(index) in [listed(one) for one in states[max(done, 0) :]]
