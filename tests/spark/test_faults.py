"""Lost executors, failing tasks and slow workers change nothing: each strikes once, and the bytes are the same."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lookalike.spark as las
from support import engines, speculation
from support.cluster import PATIENCE, Cluster
from support.faults import AGAIN, LIMITS, SENDERS, STEPS, faulty, struck_steps

ROWS = speculation.ROWS


@pytest.fixture
def strike(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Callable[[str], None]], Path]:
    def put(fault: Callable[[str], None]) -> Path:
        for module in SENDERS:
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
    assert struck_steps(folder) == set(STEPS)


def test_the_first_task_of_each_step_fails(spark: Any, strike: Callable[..., Path]) -> None:
    def fail(mark: str) -> None:
        raise OSError(f"{mark}: this task fails once")

    folder = strike(fail)
    assert answer(spark) == engines.local(ROWS)
    assert struck_steps(folder) == set(STEPS)


def test_a_slow_worker_is_overtaken_by_a_copy_in_each_step(cluster: Cluster, tmp_path: Path) -> None:
    """Another session, which starts copies of slow tasks, has a task held in each step until its copy is done."""
    program = [sys.executable, speculation.__file__, cluster.url, str(tmp_path)]
    done = subprocess.run(program, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr[-3000:].decode()
    found = pickle.loads((tmp_path / "answer").read_bytes())
    assert found == engines.local(ROWS)
    assert struck_steps(tmp_path, AGAIN) == set(speculation.HELD)
