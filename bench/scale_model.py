"""From unit costs to time and shuffle of a large run, with the skew of measured keys simulated.

A run of n documents on W workers takes n · CPU / (W · cores), and its shuffle n · bytes / (W · network). If the slowest
task of the part that brings keys together takes longer than that part, this part takes that long. Keys are dealt out to
tasks at random, as Spark does by their hash. A key that many documents hold is boilerplate: its share of all documents
stays. Rare keys grow in number and not in size.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

#: Documents of a web, and workers.
DOCUMENTS = (100_000_000, 8_000_000_000, 64_000_000_000)
WORKERS = (10, 100, 1000)
#: Cores of a worker, and bytes a second that it sends and takes at the same time.
CORES, NETWORK = 4, 100e6
#: Bytes of shuffled data that one task takes, which decides how many tasks there are.
TASK_BYTES = 128e6
#: A key of so many documents is boilerplate.
BOILERPLATE = 20
#: The part of `dedup` that brings keys together: only its tasks depend on how many documents hold a key.
KEYED = "propose and glance"
#: Most keys that are dealt out one by one.
DEALT = 200_000
#: Manku 2007, §4.3: a million queries against 8 billion fingerprints, with 200 mappers, in less than 100 seconds.
GOOGLE_QUERIES, GOOGLE_PRINTS, GOOGLE_MAPPERS, GOOGLE_SECONDS = 1_000_000, 8_000_000_000, 200, 100


def unit(found: dict[str, Any], step: str) -> dict[str, float]:
    """Return what a step costs by document: CPU seconds, bytes shuffled and spilled, from the two runs."""
    small, large = (one["count"] for one in found["documents"])
    low, high = found["steps"][f"{step} {small}"], found["steps"][f"{step} {large}"]
    return {name: _more(low, high, name, large - small) for name in ("cpu", "shuffled", "spilled")}


def parts(found: dict[str, Any], step: str) -> dict[str, dict[str, float]]:
    """Return what the parts of a step cost by document, as ``unit`` does."""
    small, large = (one["count"] for one in found["documents"])
    low, high = (
        {part: told | {"cpu": of["cpu_of_parts"].get(part, 0)} for part, told in of["parts"].items()}
        for of in (found["steps"][f"{step} {count}"] for count in (small, large))
    )
    return {
        part: {name: _more(low.get(part, {}), told, name, large - small) for name in ("cpu", "shuffled", "spilled")}
        for part, told in high.items()
    }


def _more(low: dict[str, float], high: dict[str, float], name: str, documents: int) -> float:
    # What takes no more in the larger run costs nothing; less is chance.
    return max(0.0, (high.get(name, 0) - low.get(name, 0)) / documents)


def slowest(keys: Sequence[Sequence[int]], grown: float, tasks: int) -> float:
    """Return by how much the fullest task of many exceeds the mean, for a corpus that has grown so much.

    >>> slowest([[1, 1000]], 10, 4) < 1.1
    True
    >>> round(slowest([[1, 600], [400, 1]], 10, 100))
    41
    """
    heavy = sorted((holders for holders, count in keys for _ in range(count) if holders >= BOILERPLATE), reverse=True)
    light = sum(holders * count for holders, count in keys if holders < BOILERPLATE)
    total = (sum(heavy) + light) * grown
    loads = [light * grown / tasks] * tasks
    chance = random.Random(1)
    for holders in heavy[:DEALT]:
        loads[chance.randrange(tasks)] += holders * grown
    rest = sum(heavy[DEALT:]) * grown / tasks
    return (max(loads) + rest) / (total / tasks)


def page(found: dict[str, Any]) -> str:
    """Return all tables."""
    parts = [f"Measured on {found['day']}: {found['machine']}, load average {found['load']:.1f}."]
    if "documents" in found:
        parts += [_units(found), _runs(found)]
    if "near" in found:
        parts.append(_near(found))
    return "\n\n".join(parts)


def _units(found: dict[str, Any]) -> str:
    small, large = found["documents"]
    mean = large["bytes"] / large["count"]
    lines = [
        f"Unit costs by document, of {small['count']:,} and {large['count']:,} documents of {mean:,.0f} bytes each:",
        "",
        "| step | CPU, µs | shuffled, bytes | spilled, bytes |",
        "|---|---:|---:|---:|",
    ]
    costs = {f"`{step}`": unit(found, step) for step in ("simhash", "sign", "build_index", "dedup")}
    costs |= {f"`dedup`: {part}": cost for part, cost in parts(found, "dedup").items()}
    for name, cost in costs.items():
        lines.append(f"| {name} | {cost['cpu'] * 1e6:,.0f} | {cost['shuffled']:,.0f} | {cost['spilled']:,.0f} |")
    return "\n".join(lines)


def _runs(found: dict[str, Any]) -> str:
    cost, keys, keyed = unit(found, "dedup"), found["keys"], parts(found, "dedup")[KEYED]["cpu"]
    if cost["cpu"] <= 0:
        return "The larger run of `dedup` took no more CPU than the smaller one: measure with larger sizes."
    crowded = max(holders for holders, _ in keys["holders"])
    lines = [
        f"`dedup` on workers of {CORES} cores and {NETWORK / 1e6:,.0f} MB/s, with the keys of {keys['corpus']}: of its "
        f"{keys['documents']:,} documents {crowded:,} hold the most common key.",
        "",
        "| documents | workers | hours | of it network | slowest task, of the mean | shuffled | scratch by worker |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for documents in DOCUMENTS:
        shuffled = cost["shuffled"] * documents
        tasks = max(200, min(100_000, int(shuffled / TASK_BYTES)))
        skew = slowest(keys["holders"], documents / keys["documents"], tasks)
        for workers in WORKERS:
            cores, network = workers * CORES, shuffled / (workers * NETWORK)
            compute = (cost["cpu"] - keyed) * documents / cores
            together = keyed * documents * max(1 / cores, skew / tasks)
            hours = (compute + together + network) / 3600
            lines.append(
                f"| {documents / 1e9:,.1f} billion | {workers:,} | {hours:,.2f} | {network / 3600:,.2f} | {skew:,.1f} "
                f"| {shuffled / 1e12:,.2f} TB | {shuffled / workers / 1e9:,.1f} GB |"
            )
    return "\n".join(lines)


def _near(found: dict[str, Any]) -> str:
    small, large = found["near"]
    low, high = (found["steps"][f"near {one['fingerprints']}"] for one in (small, large))
    scanned = (high["cpu"] - low["cpu"]) / (large["fingerprints"] - small["fingerprints"])
    pairs = large["fingerprints"] * large["queries"] / high["cpu"]
    google = GOOGLE_QUERIES * GOOGLE_PRINTS / GOOGLE_MAPPERS / GOOGLE_SECONDS
    lines = [
        f"`near`, {large['queries']:,} queries against {large['fingerprints']:,} fingerprints within 3 bits: "
        f"{high['cpu']:,.0f} s of CPU, {high['seconds']:,.0f} s on two cores; {large['pairs']:,} pairs, all "
        f"{large['planted']:,} planted ones among them. One more fingerprint takes {scanned * 1e9:,.0f} ns.",
        "",
        "| | pairs compared a second and core |",
        "|---|---:|",
        f"| Google's mapper, 2007 | {google:.1e} |",
        f"| a core of this cluster | {pairs:.1e} |",
        "",
        "| fingerprints | queries | workers | seconds |",
        "|---:|---:|---:|---:|",
    ]
    for workers in WORKERS:
        seconds = scanned * GOOGLE_PRINTS / (workers * CORES)
        lines.append(f"| 8 billion | {large['queries']:,} | {workers:,} | {seconds:,.0f} |")
    return "\n".join(lines)
