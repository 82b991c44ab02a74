"""The lists of `compare`: padding hides no copy, and too little in common is never ranked."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import lookalike as la
from lookalike.comparison.result import Pair, Report
from support.submissions import run, statements, wrapped, write

INTERFACE = "package shop;\n\nimport java.util.List;\n\npublic interface Shop {\n    void open();\n}\n"
STUBS = "package shop;\n\npublic class Desk {\n    public void open() {\n    }\n\n    public void close() {\n    }\n}\n"


def program(seed: int, length: int = 40) -> str:
    return wrapped(statements(seed, "java", length), "java")


def padded(text: str, times: int) -> str:
    """Put a program before so many times its length of methods that nothing calls."""
    dead = [f"class Dead{i} {{\n{wrapped(statements(5000 + i, 'java', 40), 'java')}\n}}" for i in range(times)]
    return "\n".join([text, *dead])


def named(report: Report, pair: Pair) -> set[str]:
    return {report.entries[end].name for end in (pair.left, pair.right)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a class of which one program stands whole in another, under a hundred times as much dead code."""
    files = {f"{i}.java": program(i) for i in range(8)}
    return write(tmp_path_factory.mktemp("class"), files | {"padded.java": padded(program(3), 100)})


def test_a_program_under_a_hundred_times_as_much_dead_code_is_first_of_the_contained(folder: Path):
    report = la.compare(folder)
    best = report.contained[0]
    assert named(report, best) == {"3.java", "padded.java"}
    assert best.contained > 0.95
    assert best.score_whole < 0.05
    assert report.contained_count == len(report.contained) == 1


def test_the_contained_are_printed_written_and_fail(folder: Path, tmp_path: Path):
    told = run("compare", folder, "--out", tmp_path / "out", "--fail-above", "0.9")
    assert told.code == 1
    assert "contained in a submission whose own material weighs at least three times as much: 1 pair" in told.out
    without = "--exclude", "padded*", "--out", tmp_path / "without"
    assert run("compare", folder, *without, "--fail-above", "0.9").code == 0
    with (tmp_path / "out" / "pairs.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["list"] == "contained"]
    assert [{row["left"], row["right"]} for row in rows] == [{"3.java", "padded.java"}]
    assert float(rows[0]["contained"]) > 0.95


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.c", "#include <stdio.h>\n"),
        ("a.cpp", "".join(f"#include <part{i}>\n" for i in range(40))),
        ("A.java", INTERFACE),
        ("A.java", STUBS),
    ],
)
def test_two_files_that_hold_next_to_nothing_are_too_little_to_say(tmp_path: Path, name: str, text: str):
    others = {f"{i}/B.java": program(i) for i in range(4)}
    report = la.compare(write(tmp_path / "in", {f"x/{name}": text, f"y/{name}": text} | others))
    assert report.pairs == report.contained == report.clusters == ()
    assert [(pair.score, named(report, pair)) for pair in report.little] == [(1.0, {"x", "y"})]
    assert report.little_count == 1
    told = run("compare", tmp_path / "in", "--out", tmp_path / "out", "--fail-above", "0.5")
    assert told.code == 0
    assert "too little in common to say anything: 1 pair" in told.out


def test_empty_files_are_in_no_list(tmp_path: Path):
    report = la.compare(write(tmp_path, {"a.java": "", "b.java": "", "c.java": program(1), "d.java": program(2)}))
    assert report.pairs == report.contained == report.little == ()


def test_a_short_exercise_is_ranked(tmp_path: Path):
    """Ten lines are enough: only what says nothing at all is set apart."""
    text = wrapped(statements(1, "java", 6), "java")
    report = la.compare(write(tmp_path, {"a.java": text, "b.java": text, "c.java": program(2), "d.java": program(3)}))
    assert [(pair.score, named(report, pair)) for pair in report.pairs] == [(1.0, {"a.java", "b.java"})]
    assert report.little == ()


def test_a_part_that_all_have_is_not_joined_with_one_that_only_two_have(tmp_path: Path):
    """Joined over the small gap between them, all of it would be told as in these two only."""
    common, rare = statements(1, "python", 14), statements(2, "python", 14)
    files = {f"{i}.py": wrapped([*common, *statements(10 + i, "python", 20)], "python") for i in range(12)}
    for name, between in (("a", "del v0"), ("b", "pass")):
        files[f"{name}.py"] = wrapped([*common, between, *rare], "python")
    report = la.compare(write(tmp_path, files), min_score=0)
    (pair,) = [pair for pair in report.pairs if named(report, pair) == {"a.py", "b.py"}]
    assert [passage.shared_by for passage in pair.passages if passage.tokens > 30] == [14, 2]
