"""Lost executors, failing tasks and slow workers change nothing: each strikes once, and the bytes are the same."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
import lookalike.spark as las
from lookalike.spark import searching
from support import engines, speculation
from support.cluster import PATIENCE, Cluster
from support.fast import FAST
from support.faults import AGAIN, LIMITS, OF_COMPONENTS, OF_LOOKUP, OF_SIMHASH, SENDERS, STEPS, faulty, struck_steps

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


def lost() -> Callable[[str], None]:
    """A fault that ends a worker and its executor, as a loss of power would."""

    def lose(_mark: str) -> None:
        import os
        import signal

        def parent(process: int) -> int:
            with open(f"/proc/{process}/stat") as stat:
                return int(stat.read().rpartition(")")[2].split()[1])

        executor = parent(os.getppid())
        # The worker first, so that it starts no other executor.
        for process in (parent(executor), executor):
            os.kill(process, signal.SIGKILL)

    return lose


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
    ({"clustering": "components"}, False, OF_COMPONENTS),
]


@pytest.mark.parametrize("fault", [killed, failing])
@pytest.mark.parametrize(("chosen", "is_against", "steps"), JOBS, ids=["minhash", "simhash", "lookup", "components"])
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


def fingerprints(spark: Any) -> Any:
    return las.simhash(frame(spark, ROWS))


def neighbours(spark: Any) -> Any:
    rows = spark.range(400).selectExpr("id", "(id * 7919 % 64) ^ (1L << (id % 60)) as fingerprint").repartition(4)
    return las.near(rows, rows.where("id % 3 = 0"), distance=2).pairs


#: Other jobs, whether fingerprints are searched by keys of their bits, and the steps that meet a fault.
OTHERS: list[tuple[Callable[[Any], Any], bool, Sequence[str]]] = [
    (lambda spark: las.sign(frame(spark, ROWS)), False, ("sign_publicly",)),
    (fingerprints, False, ("made",)),
    (neighbours, False, ("packed", "found")),
    (neighbours, True, ("key_prints", "near_batches")),
]


@pytest.mark.parametrize("fault", [killed, failing])
@pytest.mark.parametrize(("job", "by_keys", "steps"), OTHERS, ids=["sign", "simhash", "near", "near by keys"])
def test_a_fault_in_each_step_of_other_jobs_changes_nothing(
    spark: Any,
    strike: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    fault: Callable[[], Callable[[str], None]],
    job: Callable[[Any], Any],
    by_keys: bool,
    steps: Sequence[str],
) -> None:
    if by_keys:
        monkeypatch.setattr(searching, "SCANS", 0)
    expected = sorted(map(tuple, job(spark).collect()))
    assert expected
    folder = strike(fault(), steps)
    assert sorted(map(tuple, job(spark).collect())) == expected
    assert struck_steps(folder) == set(steps)


@pytest.mark.parametrize("fault", [killed, failing])
def test_a_fault_while_segments_are_made_changes_no_archive(
    spark: Any, strike: Callable[..., Path], tmp_path: Path, fault: Callable[[], Callable[[str], None]]
) -> None:
    def documents() -> list[Any]:
        segments, index = tmp_path / "segments", tmp_path / "index"
        las.build_index(frame(spark, ROWS)).write.mode("overwrite").parquet(str(segments))
        with la.Index.create(index, kind="corpus") as archive:
            archive.adopt(segments)
            found = [(one.id, one.meta, one.content) for one in archive.documents()]
        shutil.rmtree(index)
        return found

    expected = documents()
    assert len(expected) > len(ROWS) // 2
    folder = strike(fault(), ("made",))
    assert documents() == expected
    assert struck_steps(folder) == {"made"}


def test_a_worker_lost_in_each_step_changes_nothing(spark: Any, cluster: Cluster, strike: Callable[..., Path]) -> None:
    """Another worker takes its place."""
    folder = strike(lost(), STEPS)
    with cluster.replacing(), las.dedup(frame(spark, ROWS), limits=LIMITS) as found:
        assert engines.cluster(found) == engines.local(ROWS)
    assert struck_steps(folder) == set(STEPS)


def frame(spark: Any, rows: list[dict[str, Any]]) -> Any:
    values = [(row["id"], row["text"], row["number"], row["name"]) for row in rows]
    return spark.createDataFrame(values, engines.SCHEMA).repartition(4)


@pytest.mark.usefixtures("cluster")
def test_a_slow_worker_is_overtaken_by_a_copy_in_each_step(tmp_path: Path) -> None:
    """A session that starts copies of slow tasks has a task held in each step until its copy is done.

    It has a cluster of its own: a copy needs room on another worker.
    """
    own = Cluster(above=FAST)
    try:
        program = [sys.executable, speculation.__file__, own.url, str(tmp_path)]
        done = subprocess.run(program, capture_output=True, timeout=PATIENCE, check=False)
    finally:
        own.stop()
    assert done.returncode == 0, done.stderr[-3000:].decode()
    found = pickle.loads((tmp_path / "answer").read_bytes())
    assert found == engines.local(ROWS)
    assert struck_steps(tmp_path, AGAIN) == set(speculation.HELD)
