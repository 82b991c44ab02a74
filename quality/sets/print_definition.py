"""Simhash, `near` and features on real texts against their definitions (`tests/oracles`).

News of Reuters and editions from OCR. The oracles compute every fingerprint bit by bit, every distance between two
fingerprints, and every feature from shingles by long division: seconds for some hundred texts.
"""

from __future__ import annotations

import importlib
import sys
from itertools import islice
from pathlib import Path
from types import ModuleType

import lookalike as la
from quality.figure import Figure
from quality.sets import dedup_definition
from quality.task import Task

COHORT = "each corpus"
FILE = dedup_definition.FILE
NAMES = ("reuters21578", "textreuse_samples")
#: Texts of each corpus that are fingerprinted, and of which features are made, and the words that are read of each.
PRINTED, FEATURED, WORDS = 300, 20, 300
#: Bits in which near fingerprints may differ, and the filter whose features are made.
DISTANCE, FILTER = 10, (6, 14, 2)

place = dedup_definition.place


def measure(task: Task) -> list[Figure]:
    """Differences from the definitions."""
    figures = []
    for name, whole in dedup_definition.corpora(task.folder):
        if name not in NAMES:
            continue
        texts = [" ".join(text.split()[:WORDS]) for text in islice(whole, PRINTED)]
        task.counts["documents"] += len(texts)
        prints, others = simhashes(texts)
        pairs, missed = near(prints)
        task.counts["pairs"] += pairs
        figures += [
            Figure(f"{name}: simhashes that differ from the definition", others, at_most=0),
            Figure(f"{name}: pairs within {DISTANCE} bits that differ from the definition", missed, at_most=0),
            Figure(f"{name}: documents whose features differ from the definition", features(texts), at_most=0),
        ]
    return figures


def simhashes(texts: list[str]) -> tuple[list[int], int]:
    """Return the fingerprints of texts that have one, and how many are not what the definition says."""
    oracle = _oracle("simhashes")
    found = [la.simhash(text) for text in texts]
    expected = [oracle.of_text(text) for text in texts]
    return [one for one in found if one is not None], sum(a != b for a, b in zip(found, expected, strict=True))


def near(prints: list[int]) -> tuple[int, int]:
    """Return how many pairs of fingerprints are near each other, and how many differ from the definition."""
    expected = _oracle("near").near(list(enumerate(prints)), list(enumerate(prints)), DISTANCE)
    found = la.QueryBatch(prints, distance=DISTANCE).chunk(prints)
    rows = set(zip(found.queries, found.positions, found.distances, strict=True))
    return len(rows), len(rows ^ set(expected))


def features(texts: list[str]) -> int:
    """Return how many documents have other features than the definition says."""
    oracle = _oracle("features")
    different = 0
    for text in texts[:FEATURED]:
        words = la.stream(text, unit="word").tokens.tolist()
        expected = oracle.features(words, *FILTER[:2], 5, "fast")
        different += la.features(text, FILTER, shingle=5, sketch="fast").tolist() != expected
    return different


def _oracle(name: str) -> ModuleType:
    """Return a slow program."""
    tests = str(Path(__file__).parents[2] / "tests")
    if tests not in sys.path:
        sys.path.insert(0, tests)
    return importlib.import_module(f"oracles.{name}")
