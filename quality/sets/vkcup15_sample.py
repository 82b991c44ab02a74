"""Copied contest solutions in many languages, some of them disguised (VK Cup 2015, the ten sample tests)."""

from __future__ import annotations

from quality.figure import Figure
from quality.task import Listed, Task, top_folder

COHORT = "one test"


def measure(task: Task) -> list[Figure]:
    """Average precision over the pairs of all tests."""
    return [
        task.average_precision(task.clusters, task.compare_by(top_folder), 0.96),
        *task.listed_figures(task.clusters, top_folder, Listed(top_folder)),
    ]
