"""Memory that fingerprinting a large text takes beyond the text, in a process of its own.

The peak is VmHWM of /proc, which belongs to the process's own memory; `ru_maxrss` would begin at the parent's size. The
text is made by repeating a block in its final form, so that making it has no peak of its own.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench import corpora
from bench.definition import Definition
from bench.measure import Times
from bench.outcome import Answer, Outcome, SkippedError, answer_of
from bench.works import Run

STATUS = Path("/proc/self/status")


def memory(row: Definition, run: Run) -> Outcome:
    """Measure in a subprocess; `extra MB` is the peak beyond the text."""
    if not STATUS.exists():
        raise SkippedError("the peak of a process is read from /proc, which this system does not have")
    order = json.dumps({"corpus": row.corpus, "size": run.bytes_of(row), "form": row.form, "select": row.select})
    command = [sys.executable, "-m", "bench.space", order]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    times = Times([found["cpu"]], [found["wall"]])
    return Outcome(times, found["size"], Answer(**found["answer"]), {"extra MB": found["extra_mb"]})


def resident(entry: str) -> float:
    """Read an entry of /proc in MB: VmRSS is what is resident now, VmHWM the most there ever was."""
    found = re.search(rf"{entry}:\s*(\d+) kB", STATUS.read_text())
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def measure_here(corpus: str, size: int, form: str, select: dict[str, Any]) -> dict[str, Any]:
    import lookalike as la

    block = b"".join(corpora.CORPORA[corpus](corpora.MIB))
    # The tables of the core are filled when first used; they are no part of what a text needs.
    la.fingerprint(block.decode(), **select)
    repeats = max(1, size // len(block))
    text = block.decode() * repeats if form == "str" else block * repeats
    before, cpu, wall = resident("VmRSS"), time.process_time(), time.perf_counter()
    made = la.fingerprint(text, **select)
    used = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    answer = answer_of([made.hashes, made.positions], len(made))
    extra = resident("VmHWM") - before
    return used | {"size": len(block) * repeats, "answer": asdict(answer), "extra_mb": extra}


if __name__ == "__main__":
    print(json.dumps(measure_here(**json.loads(sys.argv[1]))))
