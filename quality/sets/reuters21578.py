"""News stories of Reuters (files 000–010 of the collection): near-duplicates by exact resemblance.

The truth is not a label: it is all pairs with a resemblance of 0.8 or more, in sets of five words in our own tokens.
The exact prefix-filter join of `bench.truth` finds them, and `la.resemblance` measures them.
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
