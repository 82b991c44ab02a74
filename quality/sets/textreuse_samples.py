"""Editions of a book and borrowed statutes, from OCR."""

from __future__ import annotations

from quality.figure import Figure
from quality.task import Task, top_folder

COHORT = "one folder"


def measure(task: Task) -> list[Figure]:
    """Average precision of the two true pairs."""
    scores = task.compare_by(top_folder)
    task.mean_by_kind(scores)
    return [task.average_precision(task.pairs, scores)]
