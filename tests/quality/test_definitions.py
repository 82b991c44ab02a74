"""Answers of compare are set beside their whole definition: a column that only one of them has makes all differ."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import lookalike as la
from quality import definitions

CLASS = {
    f"p{i}.py": "\n".join(f"def f{j}(a, b):\n    return a * {j} + b - {i % 2}\n" for j in range(9)) for i in range(3)
}


def test_a_report_is_like_its_definition_and_a_changed_one_is_not(tmp_path: Path) -> None:
    for name, text in CLASS.items():
        (tmp_path / name).write_text(text)
    report = la.compare(tmp_path, layout="flat", min_score=0.0)
    assert len(report.pairs) == 3
    assert definitions.differences(report) == 0
    first = replace(report.pairs[0], score_whole=0.123)
    assert definitions.differences(replace(report, pairs=(first, *report.pairs[1:]))) == 2
