"""What `lookalike.dedup` answers on texts, with its default settings but for how texts are cut."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import lookalike as la
from bench import truth
from bench.deduplication import THRESHOLD
from bench.truth import Pairs, Verdict
from lookalike.deduplication.job import opened
from lookalike.deduplication.result import Deduplication
from quality.task import Pairs as Scores
from quality.task import Task

__all__ = ["THRESHOLD", "deduplicated", "judged", "resemblances"]


def deduplicated(source: Any, **cut: Any) -> Deduplication:
    """Deduplicate texts or a file."""
    return la.dedup(source, **cut)


def judged(task: Task, texts: Sequence[str], known: Pairs, answer: Deduplication) -> Verdict:
    """Hold an answer against all pairs, and tell how much was looked at."""
    leaders = {row: leader for row, leader in enumerate(answer.survivors) if leader in answer.cluster_sizes}
    edges = [(pair.left, pair.right) for pair in answer.pairs()]
    verdict = truth.judge(texts, known, edges, leaders, THRESHOLD)
    task.counts.update({"documents": len(texts), "pairs that reach the threshold": verdict.pairs})
    task.counts.update({"edges": verdict.edges, "members of clusters": verdict.members})
    return verdict


def resemblances(texts: Sequence[str], names: Sequence[str], **cut: Any) -> Scores:
    """Return the exact resemblance of every pair that has something in common."""
    with opened(list(texts), **cut) as (answer, _, _):
        pairs = list(combinations(range(len(texts)), 2))
        scores = answer.core.scores(pairs, False)
    return {(names[i], names[j]): score for (i, j), score in zip(pairs, scores, strict=True) if score}
