"""News stories of Reuters (files 000–010 of the collection): near-duplicates by exact resemblance.

The truth is not a label: it is all pairs with a resemblance of 0.8 or more, in sets of five words in our own tokens.
The exact prefix-filter join of `bench.truth` finds them, and `la.resemblance` measures them.
"""

from __future__ import annotations

import gzip
import json

import lookalike as la
from bench import truth
from lookalike.params import SHINGLES
from quality.deduplicating import THRESHOLD, deduplicated, judged
from quality.figure import Figure
from quality.task import Task, rows

COHORT = "all stories"
FILE = "docs.jsonl.gz"
#: Each story of so many is a reference for decontamination, planted into the one after it.
EVERY = 10


def measure(task: Task) -> list[Figure]:
    """Recall of the pairs that reach the threshold, and what was found below it."""
    with gzip.open(task.folder / FILE, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    verdict = judged(task, texts, truth.join(texts, THRESHOLD), deduplicated(texts))
    theirs = sum(float(row["jaccard"]) >= THRESHOLD for row in rows(task.folder / "pairs_exact.csv"))
    task.details.append(
        f"{verdict.pairs} pairs reach {THRESHOLD:g} in our tokens, and {theirs} in those of the set, which leaves out "
        "stories of fewer than ten shingles."
    )
    return [
        Figure(f"pairs ≥ {THRESHOLD:g} found, as a pair or in one cluster", verdict.pair_recall, at_least=0.99),
        Figure(f"edges below {THRESHOLD:g}", verdict.low_edges, at_most=0),
        Figure(f"members below {THRESHOLD:g} to their representative", verdict.low_members, at_most=0),
        Figure("planted references found", planted(task, texts), at_least=1),
    ]


def planted(task: Task, texts: list[str]) -> float:
    """Plant stories in the middle of others; the share that decontamination finds, of those with a shingle."""
    stories = [text for text in texts if len(la.stream(text, unit="word").tokens) >= SHINGLES["word"]]
    sown = list(zip(stories[::EVERY], stories[1::EVERY], strict=False))
    task.counts["planted references"] += len(sown)
    if not sown:
        return 1.0
    references = [reference for reference, _ in sown]
    rows = [_within(reference, host.split(" ")) for reference, host in sown]
    found = la.dedup(rows, against=references, method="containment").contamination
    assert found is not None
    # References with the same text are one, named by the first.
    pairs = {(references[one.reference], one.row - len(references)) for one in found.pairs()}
    return sum(pair in pairs for pair in zip(references, range(len(rows)), strict=True)) / len(rows)


def _within(reference: str, words: list[str]) -> str:
    half = len(words) // 2
    return " ".join([*words[:half], reference, *words[half:]])
