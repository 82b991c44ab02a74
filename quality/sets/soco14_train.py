"""Source code re-use in Java and C (SOCO 2014, training set)."""

from __future__ import annotations

from quality.figure import Figure
from quality.task import Listed, Task, top_folder

COHORT = "one folder (language)"
WANTED = {"java": 0.90, "c": 0.70}


def measure(task: Task) -> list[Figure]:
    """Average precision for each language."""
    scores = task.compare_by(top_folder)
    figures = [task.average_precision(task.pairs, scores, wanted, group=group) for group, wanted in WANTED.items()]
    asked = [Listed(top_folder, group=group) for group in WANTED]
    return [*figures, *task.listed_figures(task.pairs, top_folder, *asked)]
