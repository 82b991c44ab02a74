"""What does not match inside a passage is told as a gap, in characters, on the side that has it; no run counts it."""

from __future__ import annotations

import json
from pathlib import Path

import lookalike as la
from lookalike.rendering.comparison_tables import report_json

SHARED = """def total(prices, rate):
    result = 0
    for price in prices:
        result = result + price * rate
    if result > 100:
        result = result - 5
{}    return result * 2 + rate - len(prices)


def mean(values):
    count = len(values)
    return sum(values) / count if count else 0
"""


def test_a_statement_inserted_into_a_copy_is_a_gap_on_its_side(tmp_path: Path):
    (tmp_path / "ann.py").write_text(SHARED.format(""))
    (tmp_path / "bob.py").write_text(SHARED.format("    extra = 17\n"))
    (pair,) = la.compare(tmp_path, min_score=0).pairs
    texts = [la.compare(tmp_path, min_score=0).entries[end].files[0].text for end in (pair.left, pair.right)]
    inside = {(gap.side, texts[gap.side][gap.start : gap.end]) for gap in pair.gaps}
    assert len(pair.passages) == 1
    assert inside == {(1, "extra = 17")}


def test_identical_texts_have_no_gaps(tmp_path: Path):
    for name in ("ann.py", "bob.py"):
        (tmp_path / name).write_text(SHARED.format(""))
    (pair,) = la.compare(tmp_path, min_score=0).pairs
    assert pair.gaps == ()


def test_gaps_are_in_the_json_beside_the_passages(tmp_path: Path):
    (tmp_path / "ann.py").write_text(SHARED.format(""))
    (tmp_path / "bob.py").write_text(SHARED.format("    extra = 17\n"))
    report = la.compare(tmp_path, min_score=0)
    told = json.loads(report_json(report))
    (pair,) = told["pairs"]
    assert told["gap_fields"] == ["side", "file", "start", "end"]
    assert pair["gaps"] == [list(gap) for gap in report.pairs[0].gaps] != []
    assert pair["passages"] is not None


def test_the_longest_run_is_never_more_than_what_is_matched(tmp_path: Path):
    """A passage joins runs that count with shorter ones that do not; its tokens may be more than those that count."""
    head, tail = SHARED.format("").split("    return result")
    short = "    a = b[1] + 2 * c[3]\n"
    (tmp_path / "ann.py").write_text(f"{head}{short}    u = 3\n    return result{tail}")
    (tmp_path / "bob.py").write_text(f"{head}    v = -w\n{short}    return result{tail}")
    (pair,) = la.compare(tmp_path, min_score=0).pairs
    assert 0 < pair.longest <= pair.matched_tokens < sum(passage.tokens for passage in pair.passages)
