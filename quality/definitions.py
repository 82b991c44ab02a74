"""Answers of `compare` beside its definition: `tests/oracles/compare` aligns every pair, slowly."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

from lookalike.comparison.result import Pair, Report

TESTS = Path(__file__).resolve().parent.parent / "tests"


def oracle() -> ModuleType:
    """Return the slow program."""
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    return importlib.import_module("oracles.compare")


def differences(report: Report) -> int:
    """Return how many pairs the report and the definition do not have alike, with score, coverage and passages."""
    define = oracle()
    handed = [
        define.Handed(
            entry.name,
            tuple(define.Source(file.language, file.text) for file in entry.files),
            entry.person,
            entry.old,
        )
        for entry in report.entries
    ]
    wanted = {tuple(map(str, pair)) for pair in define.compare(handed, min_score=report.cut_off).pairs}
    return len(wanted ^ {_row(pair) for pair in report.pairs if not pair.limited})


def _row(pair: Pair) -> tuple[str, ...]:
    passages = [(tuple(one.left), tuple(one.right), *one[2:]) for one in pair.passages]
    shares = pair.score, (pair.left_coverage, pair.right_coverage)
    amounts = pair.matched_tokens, pair.longest, passages, pair.stands_for, pair.contained, pair.matched_bits
    rest = pair.score_whole, pair.score_reachable, pair.strongest_bits, [tuple(gap) for gap in pair.gaps]
    return tuple(map(str, (pair.left, pair.right, *shares, *amounts, *rest)))
