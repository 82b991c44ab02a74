"""Short answers copied from one Wikipedia article each, at four levels of reuse (Clough & Stevenson 2011)."""

from __future__ import annotations

from quality.figure import Figure
from quality.task import Listed, Task

COHORT = "one task: its answers and its source"
LIMITS = (
    "One answer labelled cut shares no run of more than 15 letters with its source and scores 0. Two other copies "
    "share one run of 22 and one of 26 letters, no more than answers that were not copied. So no order by score "
    "reaches 0.99; of the listed pairs all are copies."
)


def measure(task: Task) -> list[Figure]:
    """Average precision; the order cut > light > heavy > non of the mean scores is told beside it."""
    scores = task.compare_by(task_of)
    means = task.mean_by_kind(scores)
    task.details.append(f"Order of mean scores: {' > '.join(sorted(means, key=means.__getitem__, reverse=True))}.")
    listed = task.listed_figures(task.pairs, task_of, Listed(task_of, at_least=0.99))
    return [task.average_precision(task.pairs, scores, 0.98), *listed]


def task_of(name: str) -> str:
    """Return the question that a document answers."""
    return name.rpartition("_")[2]
