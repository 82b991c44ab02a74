"""Lost executors and failing tasks change nothing: each step meets the fault once, and the bytes are the same.

A fault is sent with the step itself. A file says whether it has struck already, so each strikes once, in whichever task
is first, and no test depends on a moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lookalike.spark as las
from lookalike.spark import clustering, judging, proposing, shipping, signing
from support import engines
from support.generated import mixed

ROWS = mixed(600, seed=41)
LIMITS = las.Limits(edges=0, component=4)
STEPS = ("sign_batches", "pair_batches", "glance_batches", "score_batches", "cluster_components", "pass_batches")


def faulty(fault: Callable[[str], None], folder: Path) -> Callable[..., Any]:
    """A ``shipped`` whose steps meet a fault before they begin, the first time."""
    marks = str(folder)

    def shipped(step: str, *arguments: Any) -> Any:
        run, name = shipping.shipped(step, *arguments), step.rsplit(".", 1)[1]

        def struck(batches: Iterator[Any]) -> Iterator[Any]:
            import os

            # Only a task that has rows counts: an empty one may be over before anything is lost with it.
            for first in batches:
                try:
                    os.close(os.open(f"{marks}/{name}", os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    pass
                else:
                    fault(f"{marks}/{name}")

                def rest(first: Any = first) -> Iterator[Any]:
                    yield first
                    yield from batches

                yield from run(rest())
                return
            yield from run(iter(()))

        return struck

    return shipped


@pytest.fixture
def strike(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Callable[[str], None]], Path]:
    def put(fault: Callable[[str], None]) -> Path:
        for module in (signing, proposing, judging, clustering):
            monkeypatch.setattr(module, "shipped", faulty(fault, tmp_path))
        return tmp_path

    return put


def answer(spark: Any) -> dict[str, Any]:
    values = [(row["id"], row["text"], row["number"], row["name"]) for row in ROWS]
    rows = spark.createDataFrame(values, engines.SCHEMA).repartition(4)
    with las.dedup(rows, limits=LIMITS) as found:
        return engines.cluster(found)


def test_an_executor_is_killed_in_each_step(spark: Any, strike: Callable[..., Path]) -> None:
    def kill(_mark: str) -> None:
        import os
        import signal

        # The daemon that starts Python workers is a child of the executor.
        with open(f"/proc/{os.getppid()}/stat") as stat:
            executor = int(stat.read().rpartition(")")[2].split()[1])
        os.kill(executor, signal.SIGKILL)

    folder = strike(kill)
    assert answer(spark) == engines.local(ROWS)
    assert {path.name for path in folder.iterdir()} == set(STEPS)


def test_the_first_task_of_each_step_fails(spark: Any, strike: Callable[..., Path]) -> None:
    def fail(mark: str) -> None:
        raise OSError(f"{mark}: this task fails once")

    folder = strike(fail)
    assert answer(spark) == engines.local(ROWS)
    assert {path.name for path in folder.iterdir()} == set(STEPS)
