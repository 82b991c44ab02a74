"""The list of mutants: it names what is there, and a score counts what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from mutants.run import Score, _change, _score, _without_place, jobs
from mutants.targets import NAMED, PYTHON, RUST, Named

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("one", NAMED, ids=lambda one: one.what)
def test_a_named_change_still_applies(one: Named):
    text = (ROOT / "python" / one.path).read_text(encoding="utf-8")
    assert text.count(one.old) == 1
    assert (ROOT / one.test).exists()


def test_modules_and_their_tests_are_there():
    for module in PYTHON.values():
        assert (ROOT / "python" / module.path).exists()
        assert all((ROOT / test).exists() for test in module.tests)
    assert all((ROOT / file.path).exists() for file in RUST.values())
    assert list(jobs()) == ["named", *PYTHON, *RUST]


def test_the_page_tells_the_score_of_every_module():
    page = (ROOT / "docs" / "mutants.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in (*PYTHON, *RUST))


def test_equivalent_mutants_count_as_not_noticed():
    score = _score(10, ["a", "b"], {"a": "no difference"})
    assert score == Score(8, 1, ["b"])
    assert (score.all, score.share) == (10, 0.8)
    assert Score(0, 0, []).share == 0.0


def test_a_mutant_is_known_by_what_it_changes():
    assert _change("--- a\n+++ b\n def f():\n-    old\n+    new\n") == "new"
    assert _without_place("crates/a.rs:12:3: replace + with - in f") == "replace + with - in f"
