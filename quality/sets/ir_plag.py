"""Java assignments plagiarised at six levels of disguise (IR-Plag): L1 layout to L6 control logic."""

from __future__ import annotations

from quality.figure import Figure
from quality.task import Listed, Task, top_folder

COHORT = "one assignment"
LIMITS = (
    "Most programs have 15 to 37 lines. Independent solutions of the same task score higher on average than "
    "copies with rewritten control logic (L6), and nearly as high as copies with rewritten statements (L5)."
)
LEVELS = ("L1", "L2", "L3", "L4", "L5", "L6")
#: Levels at which today's tools fall below blind guessing.
HARD = LEVELS[3:]


def measure(task: Task) -> list[Figure]:
    """Average precision of all levels, and of each against all that is original."""
    scores = task.compare_by(top_folder)
    figures = [task.average_precision(task.pairs, scores, 0.90)]
    for level in LEVELS:
        found = task.metrics.judge(task.pairs, scores, kind=level)
        above = found.base_rate if level in HARD else None
        figures.append(Figure(f"AP {level}", found.average_precision, above=above))
    task.mean_by_kind(scores)
    figures += task.listed_figures(task.pairs, top_folder, Listed(top_folder))
    return [*figures, task.unlike_the_definition(task.cohorts(top_folder))]
