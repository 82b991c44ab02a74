"""Rolling: the hash of each k-gram from the one before it, against hashing every k-gram from scratch (§5.1).

Both give the same keys, which is checked first. Times are CPU time of this thread, the best of several, so that other
work on the machine counts little; they are the one thing in the lab that is not the same twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from lookalike import _core
from lookalike.lab.shared import plots
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.shared.outcome import Claim, Outcome, Table
from lookalike.lab.shared.setting import K, W, fingerprints

#: §5.1, "more than a factor of four" at k = 50.
PAPER = {"factor": 4.0}
SWEEP = (2, 5, 10, 20, 35, K, 75, 100)
#: Bytes hashed, and how often: the best counts.
BYTES, REPEATS = 2 << 20, 4
NOTES = (
    "the keys of both ways are equal at every k; times vary from run to run",
    "rolling is done as the engine does it, several stretches of text side by side where the machine has vectors of "
    "integers; from scratch is plain code, so the factor holds both gains; keys have 32 bits, the paper's hashes 64",
)


def measure(corpus: Corpus, seed: int) -> Outcome:
    """Time both ways over the text of the corpus, repeated where it is too short to be timed."""
    text = (corpus.text * (1 + BYTES // len(corpus.text)))[:BYTES]
    rows = [(k, *_nanoseconds(text, k)) for k in SWEEP]
    _, rolled, scratch = rows[SWEEP.index(K)]
    whole = best(lambda: fingerprints(text, "winnow")) / len(text) * 1e9
    # Fingerprinting with the time of its hashing exchanged: the engine itself only rolls.
    factor = (whole - rolled + scratch) / whole
    return Outcome(
        name="rolling",
        title="Rolling hash against hashing from scratch",
        sections="§5.1",
        parameters={"k": K, "w": W, "bytes": BYTES, "repeats": REPEATS, "seed": seed},
        corpus=corpus.facts(),
        claims=(
            Claim(f"fingerprinting from scratch, k = {K}", PAPER.get("factor"), factor, "×", "paper: more than four"),
            Claim(f"hashing alone from scratch, k = {K}", None, scratch / rolled, "×"),
        ),
        tables=(Table("CPU time a byte", ("k", "rolling, ns", "from scratch, ns"), tuple(rows)),),
        notes=(*corpus.notes(), *NOTES),
        series={"time": dict(zip(("k", "rolling", "from scratch"), np.transpose(rows), strict=True))},
    )


def best(work: Callable[[], Any]) -> float:
    """Return the least CPU time of this thread, in seconds, of several runs."""
    times = []
    for _ in range(REPEATS):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times)


def _nanoseconds(text: bytes, k: int) -> tuple[float, float]:
    """Return the time a byte, rolling and from scratch."""
    assert _core.kgram_keys(text, k, False) == _core.kgram_keys(text, k, True), f"the two ways differ at k = {k}"
    rolled = best(lambda: _core.rolling_pass(text, k, False))
    scratch = best(lambda: _core.rolling_pass(text, k, True))
    return rolled / len(text) * 1e9, scratch / len(text) * 1e9


def draw(outcome: Outcome) -> Figure:
    """Draw the time a byte, and the factor between the two, against k."""
    figure, (left, right) = plots.panels(outcome)
    series = outcome.series["time"]
    left.plot(series["k"], series["rolling"], "o-", color=plots.BLUE, label="rolling")
    left.plot(series["k"], series["from scratch"], "s-", color=plots.INK, label="from scratch")
    left.set(xlabel="k (bytes)", ylabel="CPU time a byte (ns)", yscale="log")
    right.plot(series["k"], series["from scratch"] / series["rolling"], "o-", color=plots.BLUE, label="hashing alone")
    right.plot(K, outcome.claims[0].ours, "D", color=plots.GREEN, label="fingerprinting as a whole")
    if "factor" in PAPER:
        right.plot(K, PAPER["factor"], "x", ms=9, color=plots.RED, label="paper: more than 4, fingerprinting, k = 50")
    right.axhline(1, color=plots.GREY, lw=1)
    right.set(xlabel="k (bytes)", ylabel="from scratch ÷ rolling", ylim=(0, None))
    for panel in (left, right):
        plots.legend_below(panel, columns=2)
    return figure
