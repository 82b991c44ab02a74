"""Lost executors, failing tasks and slow workers change nothing: each strikes once, and the bytes are the same."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import lookalike.spark as las
from support import engines, speculation
from support.cluster import PATIENCE, Cluster
from support.faults import AGAIN, LIMITS, OF_LOOKUP, OF_SIMHASH, SENDERS, STEPS, faulty, struck_steps

ROWS = speculation.ROWS


@pytest.fixture
def strike(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Callable[[str], None]], Path]:
    def put(fault: Callable[[str], None], steps: Sequence[str]) -> Path:
        for module in SENDERS:
            monkeypatch.setattr(module, "shipped", faulty(fault, tmp_path, steps))
        return tmp_path

    return put


def killed() -> Callable[[str], None]:
    """A fault that ends the executor. Workers do not have this module, so faults are nested functions."""

    def kill(_mark: str) -> None:
        import os
        import signal

        # The daemon that starts Python workers is a child of the executor.
        with open(f"/proc/{os.getppid()}/stat") as stat:
            executor = int(stat.read().rpartition(")")[2].split()[1])
        os.kill(executor, signal.SIGKILL)

    return kill


def failing() -> Callable[[str], None]:
    """A fault that ends the task."""

    def fail(mark: str) -> None:
        raise OSError(f"{mark}: this task fails once")

    return fail


#: What is asked, whether references are given, and the steps that meet a fault.
JOBS: list[tuple[dict[str, Any], bool, Sequence[str]]] = [
    ({"limits": LIMITS}, False, STEPS),
    ({"method": "simhash", "distance": 6}, False, OF_SIMHASH),
    ({"method": "containment"}, True, OF_LOOKUP),
]


@pytest.mark.parametrize("fault", [killed, failing])
@pytest.mark.parametrize(("chosen", "is_against", "steps"), JOBS, ids=["minhash", "simhash", "lookup"])
def test_a_fault_in_each_step_changes_nothing(
    spark: Any,
    strike: Callable[..., Path],
    fault: Callable[[], Callable[[str], None]],
    chosen: dict[str, Any],
    is_against: bool,
    steps: Sequence[str],
) -> None:
    """An executor is killed, or a task fails, in the first task of each step."""
    folder = strike(fault(), steps)
    references = ROWS[::9] if is_against else None
    asked = {name: value for name, value in chosen.items() if name != "limits"}
    against = None if references is None else frame(spark, references)
    with las.dedup(frame(spark, ROWS), against=against, **chosen) as found:
        assert engines.cluster(found) == engines.local(ROWS, references, **asked)
    assert struck_steps(folder) == set(steps)


def frame(spark: Any, rows: list[dict[str, Any]]) -> Any:
    values = [(row["id"], row["text"], row["number"], row["name"]) for row in rows]
    return spark.createDataFrame(values, engines.SCHEMA).repartition(4)


def test_a_slow_worker_is_overtaken_by_a_copy_in_each_step(cluster: Cluster, tmp_path: Path) -> None:
    """Another session, which starts copies of slow tasks, has a task held in each step until its copy is done."""
    program = [sys.executable, speculation.__file__, cluster.url, str(tmp_path)]
    done = subprocess.run(program, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr[-3000:].decode()
    found = pickle.loads((tmp_path / "answer").read_bytes())
    assert found == engines.local(ROWS)
    assert struck_steps(tmp_path, AGAIN) == set(speculation.HELD)
