"""CPU time per call of ``MinHash`` and ``MinHashLSH``, ours or datasketch's: run it once in an environment of each.

python bench/coming_from_datasketch.py lookalike.compat.datasketch
python bench/coming_from_datasketch.py datasketch
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

WORDS = [b"%d" % i for i in range(1000)]
SETS = [[b"%d %d" % (i, j) for j in range(20)] for i in range(20_000)]


def one_by_one(made: Any) -> None:
    for word in WORDS:
        made.update(word)
    made.count()


def steps(package: Any) -> Iterator[tuple[str, Callable[[], object], int]]:
    """Yield what is measured: its name, the work, and how many calls that is."""
    sets, lsh = package.MinHash.bulk(SETS), package.MinHashLSH(threshold=0.8)
    yield "update, 1 element", lambda: one_by_one(package.MinHash()), len(WORDS)
    yield "update_batch, 1,000 elements", lambda: [package.MinHash().update_batch(WORDS) for _ in range(100)], 100
    yield "jaccard", lambda: [sets[0].jaccard(one) for one in sets], len(sets)
    yield "insert", lambda: [lsh.insert(key, one) for key, one in enumerate(sets)], len(sets)
    yield "query", lambda: [lsh.query(one) for one in sets], len(sets)
    yield "remove", lambda: [lsh.remove(key) for key in range(len(sets))], len(sets)


def main() -> None:
    for name, work, calls in steps(import_module(sys.argv[1])):
        begun = time.process_time()
        work()
        print(f"{name}: {(time.process_time() - begun) / calls * 1e6:.2f} µs")


if __name__ == "__main__":
    main()
