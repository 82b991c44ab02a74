"""Larger Java programs rewritten by a plagiarism simulator at five levels (Cheers, Lin & Smith 2020)."""

from __future__ import annotations

from quality.figure import Figure
from quality.task import Listed, Task, top_folder

COHORT = "all programs and variants"


def measure(task: Task) -> list[Figure]:
    """Average precision, and how the score falls with the level."""
    scores = task.compare(task.documents).scores
    task.mean_by_kind(scores)
    listed = task.listed_figures(task.pairs, lambda name: "", Listed(top_folder))
    return [task.average_precision(task.pairs, scores), *listed]
