"""Code as tokens: a file without one brace equals the sound one, imports differ by target, shares of equal text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lookalike as la

SAMPLES = Path(__file__).parents[2] / "crates" / "code" / "samples"
#: What is left out of a sample: a brace, or what stands for one.
BRACE = {"bash": r"^ *fi$", "lua": r"^ *end$", "python": r"\)", "ruby": r"^ *end$", "sql": r"\)"}


def score(tmp_path: Path, left: str, right: str, suffix: str) -> float:
    (tmp_path / f"a{suffix}").write_text(left, "utf-8")
    (tmp_path / f"b{suffix}").write_text(right, "utf-8")
    report = la.compare(tmp_path, layout="flat", min_score=0)
    pairs = report.pairs or report.little
    return pairs[0].score if pairs else 0.0


@pytest.mark.parametrize("folder", sorted(SAMPLES.iterdir()), ids=lambda folder: folder.name)
def test_a_file_without_one_brace_scores_almost_one(tmp_path: Path, folder: Path):
    (file,) = folder.glob("original.*")
    text = file.read_text("utf-8")
    places = list(re.finditer(BRACE.get(folder.name, r"^ *\}$|^\t+\}$"), text, re.MULTILINE))
    middle = min(places, key=lambda place: abs(place.start() - len(text) // 2))
    assert score(tmp_path, text, text[: middle.start()] + text[middle.end() :], file.suffix) >= 0.99


def test_includes_of_other_headers_are_not_shared(tmp_path: Path):
    includes, others = ("".join(f"#include <{name}{i}>\n" for i in range(20)) for name in ("vector", "numeric"))
    assert score(tmp_path, includes, others, ".cpp") == 0
    assert score(tmp_path, includes, includes, ".cpp") == 1


def test_a_passage_says_which_share_has_the_same_text(tmp_path: Path):
    text = "int sum(int a, int b) {\n  int total = a + b;\n  return total * 2;\n}\n"
    (tmp_path / "a.c").write_text(text)
    (tmp_path / "b.c").write_text(text.replace("total", "result"))
    (pair,) = la.compare(tmp_path, layout="flat", min_score=0).pairs
    (passage,) = pair.passages
    assert not passage.exact
    assert passage.same_text == pytest.approx(1 - 2 / passage.tokens)
