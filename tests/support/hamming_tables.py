"""Tables of fingerprints for tests: rows from a seed, answers by comparing, and what a process does that is killed.

Run as a script, ``hamming_tables.py FOLDER FIRST [SECONDS SAVES]`` writes to a table: it inserts batch after batch
from number FIRST on, removes half of the one before, saves, and prints the number of each batch that was saved. Without
SECONDS it writes a batch for each line of its standard input. With SECONDS the system ends it when it has used so much
processor time, counted from its SAVES-th save, or from its start if that is 0. A busy machine changes nothing in that.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import lookalike as la

#: A table that version 1 of the format wrote, and one of version 2 with strings as ids, kept for good.
COMPAT = Path(__file__).parents[1] / "compat" / "hamming_v1"
COMPAT_NAMED = Path(__file__).parents[1] / "compat" / "hamming_v2"
MASK = (1 << 64) - 1
BATCH = 1500


def mixed(number: int) -> int:
    """The SplitMix64 finaliser."""
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & MASK
    number = (number ^ number >> 27) * 0x94D049BB133111EB & MASK
    return number ^ number >> 31


def near_rows(seed: int, count: int) -> list[tuple[int, int]]:
    """Fingerprints within two bits of one of seven, with few ids: every one has neighbours."""
    numbers = range(seed * 10_000, seed * 10_000 + count)
    return sorted({(mixed(i % 7) ^ 1 << mixed(i) % 64 ^ 1 << mixed(~i & MASK) % 64, i % 3) for i in numbers})


def columns(rows: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [fingerprint for fingerprint, _ in rows], [key for _, key in rows]


def expected(rows: list[tuple[int, int]], query: int, distance: int) -> list[tuple[int, int, int]]:
    """Ids, fingerprints and distances of what is near, by comparing."""
    found = [(key, other, (other ^ query).bit_count()) for other, key in rows]
    return sorted(hit for hit in found if hit[2] <= distance)


def answers(table: la.HammingTable, query: int, distance: int = 3) -> list[tuple[int, int, int]]:
    return list(zip(*table.query(query, distance), strict=True))


def batch(number: int) -> list[tuple[int, int]]:
    """Rows of one batch; no two batches share one."""
    return [(mixed(number * BATCH + i), number) for i in range(BATCH)]


def after(batches: int) -> list[tuple[int, int]]:
    """Rows of a table after so many batches: all, without the first half of each but the last."""
    kept = [row for number in range(batches - 1) for row in batch(number)[BATCH // 2 :]]
    return sorted(kept + (batch(batches - 1) if batches else []))


def write_compat(folder: Path) -> None:
    """Write the table of ``COMPAT``: two runs, deletions in one, a tail."""
    with la.HammingTable.build(*columns(near_rows(1, 400))) as table:
        table.save(folder)
        table.insert(*columns(batch(0) + batch(1) + batch(2)))
        table.remove(*columns(near_rows(1, 40) + batch(1)[:100]))
        table.insert(*columns(near_rows(2, 60)))
        table.save()


def compat_rows() -> list[tuple[int, int]]:
    """Rows of the table of ``COMPAT``."""
    rows = set(near_rows(1, 400)) | set(batch(0) + batch(1) + batch(2))
    return sorted((rows - set(near_rows(1, 40) + batch(1)[:100])) | set(near_rows(2, 60)))


def named_rows(seed: int, count: int) -> list[tuple[int, str]]:
    """The same fingerprints with addresses as ids."""
    return [(value, f"https://example.org/{seed}/{key}?ü") for value, key in near_rows(seed, count)]


def write_compat_named(folder: Path) -> None:
    """Write the table of ``COMPAT_NAMED``: a run, two files of strings, deletions, a tail."""
    with la.HammingTable.build(*zip(*named_rows(1, 60), strict=True)) as table:
        table.save(folder)
        table.insert(*zip(*named_rows(2, 20), strict=True))
        table.remove(*zip(*named_rows(1, 9), strict=True))
        table.save()


def compat_named_rows() -> list[tuple[int, str]]:
    """Rows of the table of ``COMPAT_NAMED``."""
    return sorted((set(named_rows(1, 60)) - set(named_rows(1, 9))) | set(named_rows(2, 20)))


def write_batches(folder: Path, first: int, seconds: float | None, saves: int) -> None:
    """Write batch after batch until the system or the end of the standard input ends it."""
    if seconds is not None and not saves:
        signal.setitimer(signal.ITIMER_PROF, seconds)
    table = la.HammingTable.open(folder, write=True) if first else la.HammingTable.build()
    for number in range(first, first + 1000):
        if seconds is None and not sys.stdin.readline():
            return
        table.insert(*columns(batch(number)))
        if number:
            table.remove(*columns(batch(number - 1)[: BATCH // 2]))
        table.save(folder)
        print(number, flush=True)
        if seconds is not None and number == first + saves - 1:
            signal.setitimer(signal.ITIMER_PROF, seconds)


def main() -> None:
    """Read the arguments and write."""
    folder, first, seconds, saves = (*sys.argv[1:], "", "0")[:4]
    write_batches(Path(folder), int(first), float(seconds) if seconds else None, int(saves))


if __name__ == "__main__":
    main()
