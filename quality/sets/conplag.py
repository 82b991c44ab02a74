"""Contest cheating in Java (ConPlag), as submitted, and with the contestants' own boilerplate removed by hand."""

from __future__ import annotations

from collections import defaultdict

from quality import agreement
from quality.figure import Figure
from quality.listing import EVERYTHING
from quality.task import Compared, Listed, Pairs, Task, rows

COHORT = "all submissions of a version, each once"
LIMITS = (
    "Contestants carry libraries of their own in raw submissions. In the true pairs with the lowest scores, one "
    "side is up to fourteen times as long as the other. Without the library it is at most three and a half times "
    "as long. The library is that side's own material, so it lowers the score by its length. Measured against the "
    "smaller side alone, raw would pass. That would cost soco14_train a sixth of its average precision in Java, "
    "so the score stays the share of both sides."
)
#: The published figures of JPlag; those of MOSS are 0.72 and 0.75.
WANTED = {"raw": 0.77, "template_free": 0.80}
#: Wanted of the pairs that the command lists, a class per problem.
LISTED = {"raw": 0.87, "template_free": None}
#: A passage whose sides agree by less is not the same code, and the largest share of such passages in non-copies.
ALIKE, UNLIKE = 0.8, {"raw": 0.05, "template_free": 0.035}


def measure(task: Task) -> list[Figure]:
    """F1.5 at the best threshold, as the paper picks it, and passages of non-copies that are not the same code."""
    labelled = rows(task.pairs)
    figures = []
    for version, wanted in WANTED.items():
        pairs = [(row["a"], row["b"]) for row in labelled if row["kind"] == version]
        once = distinct(task, pairs)
        compared = task.compare(sorted(set(once.values())))
        scores = scored(compared, once, pairs)
        found = task.metrics.judge(task.pairs, scores, kind=version, beta=1.5)
        figures.append(Figure(f"F1.5 {version}", found.best_f, at_least=wanted))
        figures.append(Figure(f"AP {version}", found.average_precision))
        own = {(row["a"], row["b"]) for row in labelled if row["kind"] == version and row["label"] == "0"}
        figures.append(
            Figure(f"non-copies agree < {ALIKE:g} {version}", unlike(compared, once, own), at_most=UNLIKE[version])
        )
        at = f"precision {found.precision:.3f} and recall {found.recall:.3f} at score ≥ {found.threshold or 0:.3f}"
        task.details.append(f"{version}: {at}.")
        figures.append(by_problem(task, labelled, version))
    groups = defaultdict(set)
    for row in labelled:
        if row["kind"] == "template_free":
            groups[row["group"]] |= {row["a"], row["b"]}
    return [*figures, task.unlike_the_definition(sorted(names) for names in groups.values())]


def by_problem(task: Task, labelled: list[dict[str, str]], version: str) -> Figure:
    """Average precision of what the command lists, a class per problem with each submission once."""
    of_version = [row for row in labelled if row["kind"] == version]
    pairs = [(row["a"], row["b"]) for row in of_version]
    problem = {row[side]: row["group"] for row in of_version for side in "ab"}
    once = distinct(task, pairs)

    def run(*options: str) -> Pairs:
        found = task.listed_by(problem.__getitem__, sorted(set(once.values())), options)
        both = {frozenset(pair): score for pair, score in found.items()}
        return {(a, b): both.get(frozenset((once[a], once[b])), 0.0) for a, b in pairs}

    wanted = Listed(problem.__getitem__, kind=version, at_least=LISTED[version])
    return task.as_listed(task.pairs, wanted, run(), run(*EVERYTHING))


def distinct(task: Task, pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return what stands for each submission: one that occurs in several pairs takes part in the cohort once."""
    first: dict[tuple[str, bytes], str] = {}
    return {
        name: first.setdefault((name.split("/")[-1], task.archive.read(name)), name) for pair in pairs for name in pair
    }


def scored(compared: Compared, once: dict[str, str], pairs: list[tuple[str, str]]) -> Pairs:
    """Return the scores of pairs."""
    found = compared.scores
    return {(a, b): found.get((once[a], once[b]), found.get((once[b], once[a]), 0.0)) for a, b in pairs}


def unlike(compared: Compared, once: dict[str, str], pairs: set[tuple[str, str]]) -> float:
    """Return the share of passages of these pairs whose sides agree by less than `ALIKE`."""
    wanted = {frozenset((once[a], once[b])) for a, b in pairs}
    own = [pair for pair in compared.report.pairs if frozenset(compared.names(pair)) in wanted]
    shares = agreement.shares(compared.report, own)
    return sum(share < ALIKE for share in shares) / len(shares) if shares else 0.0
