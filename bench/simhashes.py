"""Raw text to simhash fingerprints, end to end through Python, with how far apart near and other documents are.

`near bits` is the mean distance of documents and their edits of resemblance 0.9 and more, `other bits` that of
documents that follow each other in the corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import lookalike as la
from bench import deduplication, duplicates, measure, rivals, sketches
from bench.definition import Definition
from bench.outcome import Outcome, answer_of
from bench.sketches import Pairs
from bench.works import Run

#: From this resemblance on two documents are near, as in the rivals' script.
NEAR = 0.9


def simhashes(row: Definition, run: Run) -> Outcome:
    """Fingerprint generated documents, and an edit of each; these are the pairs."""
    texts = duplicates.paired(sketches.count_of(row, run))
    half = len(texts) // 2
    pairs = [(i, i + half) for i in range(half)]
    alike = [pair for pair in pairs if (la.resemblance(texts[pair[0]], texts[pair[1]], shingle=5) or 0.0) >= NEAR]
    return measured(row, run, texts, alike)


def measured(row: Definition, run: Run, texts: list[str], alike: Pairs) -> Outcome:
    """Fingerprint texts on one thread, as objects that nobody has used yet."""
    raw = [text.encode() for text in texts]
    make = partial(la.simhash_batch, threads=1, **row.select)
    times, table = measure.repeat(lambda: [text.decode() for text in raw], make, run.effort)
    answer = answer_of([table.fingerprints, table.lengths], len(table))
    others = [(i, i + 1) for i in range(0, len(texts) - 1, 2)]
    figures = {"near bits": bits(table, alike), "other bits": bits(table, others)}
    return Outcome(times, sum(map(len, raw)), answer, figures)


def bits(table: la.SimhashTable, pairs: Pairs) -> float:
    """Mean distance of pairs that have fingerprints."""
    found = [(table[i], table[j]) for i, j in pairs]
    apart = [(left ^ right).bit_count() for left, right in found if left is not None and right is not None]
    return sum(apart) / max(len(apart), 1)


def shared_simhashes(row: Definition, run: Run) -> Outcome:
    """Fingerprint the first documents of the rivals' corpus."""
    rivals.script(run, "simhash_docs.py")
    texts = sketches.shared_texts(row.options["documents"])
    outcome = measured(row, run, texts, near_pairs(len(texts)))
    # The corpus is cut from packages that move; only the one the answers were made from has a known answer.
    if sketches.digest(texts) != row.options["sha256"]:
        outcome.answer = None
    return outcome


def near_pairs(count: int) -> Pairs:
    """The pairs of the rivals' truth that are near, among the first documents."""
    import numpy as np

    found = np.load(rivals.cache() / sketches.TRUTH)
    is_near = (found["i"] < count) & (found["j"] < count) & (found["jac"] >= NEAR)
    return list(zip(found["i"][is_near].tolist(), found["j"][is_near].tolist(), strict=True))


def rival_simhashes(row: Definition, run: Run) -> Outcome:
    """Run one implementation of the rivals' script; some expose no fingerprint and so have no distance."""
    program = rivals.script(run, "simhash_docs.py")
    options = row.options
    order = ["--impl", options["impl"], "--docs", options["documents"], "--reps", options["repeats"]]
    found = rivals.figures_of(rivals.called(program, *order))
    figures = {"near bits": found["near_hamming"]} if "near_hamming" in found else {}
    return Outcome(rivals.times_of(found), int(found["mb"] * 1e6), None, figures)


def simhash_dedup(row: Definition, run: Run) -> Outcome:
    """Deduplicate a generated corpus by simhash, or the rivals' one; recall is that of what reaches the threshold."""
    options = row.options
    if "sha256" not in options:
        file = duplicates.file(sketches.count_of(row, run), options["format"])
        texts: Sequence[str] = duplicates.read(file)
        known = deduplication.truth.join(texts, deduplication.THRESHOLD)
        effort = run.effort
    else:
        rivals.script(run, "dedup.py")
        file = deduplication.shared_file(options["format"])
        texts = duplicates.read(deduplication.shared_file("jsonl"))
        known = deduplication.shared_truth(texts, sketches.digest(texts))
        effort = deduplication.effort_of(row)
    done = deduplication.repeated(file, effort, more=["--method", "simhash", "--distance", str(options["distance"])])
    outcome = deduplication.judged(row, done, file.stat().st_size, texts, known)
    if "sha256" in options and sketches.digest(texts) != options["sha256"]:
        outcome.answer = None
    return outcome
