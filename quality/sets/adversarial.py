"""Awkward inputs without labels: low entropy, long lines, one text in 194 languages, one text in two encodings."""

from __future__ import annotations

from quality.figure import Figure
from quality.task import Compared, Task, top_folder

COHORT = "all files"
LIMITS = (
    "Johab and Shift_JISX0213 are not recognised. The first is refused. The second is read as Shift_JIS with some "
    "characters replaced. Both are reported. The two languages with score 1 are the same text under two names, "
    "with its title moved."
)
LANGUAGES, ENCODINGS, UTF8 = "udhr", "cjk_encodings", "-utf8.txt"


def measure(task: Task) -> list[Figure]:
    """Whether nothing fails, and whether what is unrelated is told apart and what is equal is not."""
    compared = task.compare(task.documents)
    scores = {frozenset(pair): score for pair, score in compared.scores.items()}
    twins = [{name, name.replace(UTF8, ".txt")} for name in task.documents if name.endswith(UTF8)]
    found = [scores.get(frozenset(pair), 0.0) for pair in twins]
    languages = [score for pair, score in scores.items() if {top_folder(name) for name in pair} == {LANGUAGES}]
    strangers = [score for pair, score in scores.items() if len({top_folder(name) for name in pair}) == 2]
    task.details.append(f"Readings of the two encodings: {', '.join(encodings(compared))}.")
    return [
        Figure("files compared", len(compared.documents)),
        Figure("equal texts in two encodings with score 1", sum(score == 1 for score in found)),
        Figure("equal texts in two encodings", len(twins)),
        Figure("highest score of two languages", max(languages, default=0.0)),
        Figure("pairs of languages with score ≥ 0.5", sum(score >= 0.5 for score in languages)),
        Figure("highest score across folders", max(strangers, default=0.0)),
    ]


def encodings(compared: Compared) -> list[str]:
    """Tell how the files in legacy encodings were read."""
    told = []
    for name, entry in zip(compared.documents, compared.report.entries, strict=True):
        if name.startswith(ENCODINGS) and not name.endswith(UTF8):
            told.append(f"{name.split('/')[-1]} {'; '.join(entry.files[0].notes) if entry.files else 'not read'}")
    return told
