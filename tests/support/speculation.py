"""A job on a cluster whose session starts copies of slow tasks, as a program: ``python speculation.py URL FOLDER``.

In each step the first task is slow: it waits until a copy of it has done its whole work on the other worker. So the
job ends only if copies are made. The answer is written to FOLDER/answer. It is a program because speculation is a
setting of a session, and a process has only one.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import lookalike.spark as las
from support import engines
from support.cluster import FEW_ROWS, session
from support.faults import AGAIN, LIMITS, SENDERS, faulty
from support.generated import mixed

ROWS = mixed(600, seed=41)
#: The steps with a slow task. The other one runs in the same stage as the last, and two slow tasks fill both workers.
HELD = ("sign_batches", "pair_batches", "glance_batches", "score_batches", "pass_batches")
#: A copy is started as soon as one task of the stage is done and another one has run for twice its time.
COPIES = {
    "spark_speculation": "true",
    "spark_speculation_interval": "50ms",
    "spark_speculation_quantile": "0",
    "spark_speculation_multiplier": "2",
    "spark_speculation_minTaskRuntime": "1ms",
    "spark_speculation_efficiency_enabled": "false",
}


def main(url: str, folder: Path) -> None:
    """Run the job."""
    again = AGAIN

    def wait(mark: str) -> None:
        import os
        import time

        while not os.path.exists(mark + again):
            time.sleep(0.05)

    for module in SENDERS:
        module.shipped = faulty(wait, folder, HELD)  # type: ignore[attr-defined]
    with session(url, folder / "driver", **COPIES, **FEW_ROWS) as spark:
        values = [(row["id"], row["text"], row["number"], row["name"]) for row in ROWS]
        rows = spark.createDataFrame(values, engines.SCHEMA).repartition(4)
        with las.dedup(rows, limits=LIMITS) as found:
            (folder / "answer").write_bytes(pickle.dumps(engines.cluster(found)))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
