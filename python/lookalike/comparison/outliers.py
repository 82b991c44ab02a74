"""Finds the submissions of a class whose best score stands out from those of the rest.

Each new submission has a best score: the highest of its listed pairs. The median M of these scores says what is usual
in this class, and the upper quartile Q says how much they vary above it: the spread is (Q − M) / 0.6745, which is the
standard deviation if they are normally distributed, and at least ``FLOOR``. A submission stands out if its best score
is at least ``FAR`` spreads above M.

Only ranks from the median up matter. Submissions without a listed pair count as at the cut-off, or at the lowest listed
score if the list was cut: they rank last, whatever their true score is. If more than half have none, M is therefore too
high rather than too low. With fewer than ``FEWEST`` submissions, two copies of each other would set the spread
themselves, so none stands out. For the same reason none does where a quarter of a class or more has such scores: then
they are usual in it.

Best scores are maxima, so they lie skewed to the right; that is why the spread is taken from the upper half alone and
not from the median absolute deviation. Threshold 3.5: Iglewicz and Hoaglin 1993, "How to Detect and Handle Outliers".
Cost: linear in pairs, and sorting the submissions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lookalike.comparison.result import Outlier, Pair, Report

#: Submissions with a score that a class needs at least: of 10, two above the upper quartile do not move it.
FEWEST = 10
#: The least spread: scores that are nearer than this are alike, however little the rest of a class varies.
FLOOR = 0.05
#: How many spreads above the median a best score stands out.
FAR = 3.5
#: Upper quartile of the standard normal distribution.
QUARTILE = 0.6745


def with_outliers(report: Report) -> Report:
    """Return a report that names the submissions whose best score stands out."""
    return replace(report, outliers=tuple(_outliers(report)))


def _outliers(report: Report) -> list[Outlier]:
    """Return the new submissions whose best score stands out, farthest first."""
    without_score = {remark.name for remark in report.undefined}
    class_ = [i for i, entry in enumerate(report.entries) if not entry.old and entry.name not in without_score]
    if len(class_) < FEWEST:
        return []
    best = best_scores(report.pairs, report.groups)
    is_cut = report.listed < report.pair_count
    unlisted = report.pairs[-1].score if is_cut and report.pairs else report.cut_off
    ranked = sorted(best.get(i, unlisted) for i in class_)
    median, quartile = ranked[len(ranked) // 2], ranked[3 * len(ranked) // 4]
    spread = max((quartile - median) / QUARTILE, FLOOR)
    told = (Outlier(i, best[i], (best[i] - median) / spread) for i in class_ if i in best)
    return sorted((one for one in told if one.deviation >= FAR), key=lambda one: (-one.score, one.entry))


def best_scores(pairs: Iterable[Pair], groups: Iterable[Sequence[int]]) -> dict[int, float]:
    """Return the highest score of each submission that has a pair; a row of a group counts for all its members."""
    best: dict[int, float] = {}
    for pair in pairs:
        for end in (pair.left, pair.right):
            best[end] = max(pair.score, best.get(end, 0.0))
    for members in groups:
        highest = max((best[member] for member in members if member in best), default=None)
        if highest is not None:
            best.update(dict.fromkeys(members, highest))
    return best
