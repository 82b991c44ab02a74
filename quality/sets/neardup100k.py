"""100,000 documents of 1 to 4 KB with natural and planted near-duplicates: the corpus of `make bench RIVALS=DIR`.

The truth is all pairs with a resemblance of 0.8 or more, in sets of five words in our own tokens. The exact join of
`bench.truth` finds it and keeps it beside the corpus.
"""

from __future__ import annotations

from pathlib import Path

from bench import duplicates, rivals, sketches
from bench.deduplication import shared_truth
from quality.deduplicating import THRESHOLD, deduplicated, judged
from quality.figure import Figure
from quality.task import Task

COHORT = "all documents"
FILE = sketches.CORPUS
MISSING = f"there is no `{FILE}` in $BENCH_CACHE"


def place(_data: Path) -> Path:
    """It lies where the benchmark keeps it, and not with the data."""
    return rivals.cache()


def measure(task: Task) -> list[Figure]:
    """Documents with a partner that are found, and what was found below the threshold."""
    file = task.folder / FILE
    texts = duplicates.read(file)
    known = shared_truth(texts, sketches.digest(texts))
    verdict = judged(task, texts, known, deduplicated(str(file)))
    return [
        Figure(f"documents with a partner ≥ {THRESHOLD:g} flagged", verdict.document_recall, at_least=0.995),
        Figure(f"pairs ≥ {THRESHOLD:g} found, as a pair or in one cluster", verdict.pair_recall),
        Figure(f"edges below {THRESHOLD:g}", verdict.low_edges, at_most=0),
        Figure(f"members below {THRESHOLD:g} to their representative", verdict.low_members, at_most=0),
    ]
