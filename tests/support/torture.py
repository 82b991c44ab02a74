"""Runs the long versions of the tests of archive and service, round by round with other seeds, until the time is over.

The tests read their sizes from environment variables; a round that fails is repeated with `make torture SEED=N`.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time

#: What a round takes: runs of the state machine, kills, points per change, flips, looks of readers, cuts; kills of a
#: server and requests to it.
SIZES = {
    "RUNS": "2000", "KILLS": "1000", "POINTS": "1000000", "FLIPS": "10000", "LOOKS": "1500", "CUTS": "20000",
    "SERVER_KILLS": "100", "REQUESTS": "10000",
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--seed", type=int)
    chosen = parser.parse_args()
    end, rounds = time.monotonic() + chosen.hours * 3600, 0
    while rounds == 0 or (chosen.seed is None and time.monotonic() < end):
        rounds += 1
        seed = chosen.seed if chosen.seed is not None else random.SystemRandom().getrandbits(32)
        print(f"torture: round {rounds}, seed {seed}", flush=True)
        sizes = {f"LOOKALIKE_TORTURE_{name}": size for name, size in SIZES.items()}
        environment = {**os.environ, **sizes, "LOOKALIKE_TORTURE_SEED": str(seed)}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-n",
            "2",
            "-x",
            "tests/archive",
            "tests/service",
            "--hypothesis-seed",
            str(seed),
        ]
        if subprocess.run(command, env=environment).returncode:
            print(f"torture: round {rounds} failed; repeat it with `make torture SEED={seed}`", flush=True)
            return 1
    print(f"torture: {rounds} rounds, nothing wrong", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
