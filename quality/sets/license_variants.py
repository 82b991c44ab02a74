"""Licence texts and their variants on the web: families of near-duplicates, some of them close to each other."""

from __future__ import annotations

from quality.deduplicating import THRESHOLD, deduplicated, resemblances
from quality.figure import Figure
from quality.task import Listed, Task

COHORT = "all texts"
#: How texts are cut into shingles: the default of `dedup`, and what suits texts that differ in a word here and there.
DEFAULT = {"unit": "word", "shingle": 5}
CHOSEN = {"unit": "character", "shingle": 6}
LIMITS = (
    "Shingles of six characters were chosen on these very texts. They are among the best of seventeen ways to cut "
    "them: one to five words, lines, four to twenty characters, and some of these labelled. This average "
    "precision is therefore not that of unseen texts. The seventeen lie between 0.64 and 0.70, except for lines, "
    "at 0.31. The threshold was not chosen: it is the default."
)


def measure(task: Task) -> list[Figure]:
    """Average precision over all pairs of texts, and how the clusters of `dedup` agree with the licences."""
    names = task.documents
    texts = [task.archive.read(name).decode() for name in names]
    listed = task.listed_figures(task.clusters, lambda name: "", Listed(lambda name: "", at_least=0.72))
    found = [*listed, Figure("AP of compare", task.judged(task.compare(names).scores))]
    for cut, above in ((DEFAULT, None), (CHOSEN, 0.70)):
        score = task.judged(resemblances(texts, names, **cut))
        found.append(Figure(f"AP of resemblance, {told(cut)}", score, above=above))
    for cut, above in ((DEFAULT, None), (CHOSEN, 0.53)):
        answer = deduplicated(texts, **cut)
        index = task.metrics.rand_index(task.clusters, dict(zip(names, answer.survivors, strict=True)))
        found.append(Figure(f"ARI of dedup at {THRESHOLD:g}, {told(cut)}", index, above=above))
    return found


def told(cut: dict[str, object]) -> str:
    return f"{cut['shingle']} {cut['unit']}s a shingle"
