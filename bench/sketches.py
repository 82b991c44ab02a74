"""Raw text to sketches, end to end through Python, with the error of what they estimate.

RMSE is the root of the mean square of estimate minus exact resemblance over pairs that are known, each side in its own
tokens: those of `la.resemblance` for ours, those of the rivals' script for theirs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import partial
from itertools import islice
from math import sqrt
from typing import Any

import lookalike as la
from bench import duplicates, measure, rivals
from bench.definition import Definition
from bench.outcome import Outcome, SkippedError, answer_of
from bench.works import Run

#: The rivals' corpus of near-duplicates, and their truth on it.
CORPUS, TRUTH = "neardup100k.jsonl", "neardup100k.truth.npz"
#: Pairs of documents by number.
Pairs = Sequence[tuple[int, int]]


def sketches(row: Definition, run: Run) -> Outcome:
    """Sketch generated documents, and an edit of each; these are the pairs."""
    texts = duplicates.paired(count_of(row, run))
    half = len(texts) // 2
    return measured(row, run, texts, [(i, i + half) for i in range(half)])


def count_of(row: Definition, run: Run) -> int:
    found: int = row.options["quick_documents" if run.quick else "documents"]
    return found


def measured(row: Definition, run: Run, texts: list[str], pairs: Pairs) -> Outcome:
    """Sketch texts on one thread, as objects that nobody has used yet."""
    raw = [text.encode() for text in texts]
    make = partial(la.sketch_batch, threads=1, **row.select)
    times, table = measure.repeat(lambda: [text.decode() for text in raw], make, run.effort)
    answer = answer_of([table.rows, table.shingles], len(table))
    return Outcome(times, sum(map(len, raw)), answer, errors(table, texts, pairs))


def errors(table: la.SketchTable, texts: list[str], pairs: Pairs) -> dict[str, float]:
    """RMSE of estimates of pairs, and as a multiple of what independent coordinates are expected to have."""
    import numpy as np

    made = table.sketching
    exact = [la.resemblance(texts[i], texts[j], shingle=made.shingle, unit=made.unit) for i, j in pairs]
    known = [(pair, score) for pair, score in zip(pairs, exact, strict=True) if score is not None]
    rows, (left, right) = np.asarray(table.rows), np.array([pair for pair, _ in known]).T
    truth = np.array([score for _, score in known])
    square = np.mean(((rows[left] == rows[right]).mean(axis=1) - truth) ** 2)
    expected = np.mean(truth * (1 - truth)) / made.size
    return {"RMSE": sqrt(square), "RMSE of theory": sqrt(square / expected)} if expected else {"RMSE": sqrt(square)}


def shared_sketches(row: Definition, run: Run) -> Outcome:
    """Sketch the first documents of the rivals' corpus, and measure the error on their pairs."""
    rivals.script(run, "minhash_sketch.py")
    texts = shared_texts(row.options["documents"])
    outcome = measured(row, run, texts, shared_pairs(len(texts)))
    # The corpus is cut from packages that move; only the one the answers were made from has a known answer.
    if digest(texts) != row.options["sha256"]:
        outcome.answer = None
    return outcome


def digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def shared_texts(count: int) -> list[str]:
    """The first documents of the rivals' corpus."""
    file = rivals.cache() / CORPUS
    if not file.exists():
        raise SkippedError(f"`{CORPUS}` is not in $BENCH_CACHE; the rivals' own script makes it")
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in islice(lines, count)]


def shared_pairs(count: int) -> Pairs:
    """The pairs of the rivals' truth among the first documents: all that they measure their own error on."""
    import numpy as np

    file = rivals.cache() / TRUTH
    if not file.exists():
        raise SkippedError(f"`{TRUTH}` is not in $BENCH_CACHE; the rivals' own script makes it")
    found: Any = np.load(file)
    is_inside = (found["i"] < count) & (found["j"] < count)
    return list(zip(found["i"][is_inside].tolist(), found["j"][is_inside].tolist(), strict=True))


def rival_sketches(row: Definition, run: Run) -> Outcome:
    """Run one implementation of the rivals' script; some expose no sketch and so have no error."""
    program = rivals.script(run, "minhash_sketch.py")
    options = row.options
    order = ["--impl", options["impl"], "--mode", "e2e", "--docs", options["documents"], "--reps", options["repeats"]]
    found = rivals.figures_of(rivals.called(program, *order))
    figures = {"RMSE": found["rmse"]} if "rmse" in found else {}
    return Outcome(rivals.times_of(found), int(found["mb"] * 1e6), None, figures)
