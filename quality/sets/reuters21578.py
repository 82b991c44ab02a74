"""News stories of Reuters (files 000–010 of the collection): near-duplicates by exact resemblance, found by a join.

The truth is no label of others: all pairs whose resemblance is 0.8 or more, sets of five words in the product's own
tokens, found by the exact prefix-filter join of `bench.truth` and measured by `la.resemblance`.
"""

from __future__ import annotations

import gzip
import json

from bench import truth
from quality.deduplicating import THRESHOLD, deduplicated, judged
from quality.figure import Figure
from quality.task import Task, rows

COHORT = "all stories"
FILE = "docs.jsonl.gz"


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
    ]
