"""`lookalike design` as a person or a script meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike as la
from lookalike.designs import curves
from lookalike.designs.filters import Filter
from support.children import PATIENCE


def run(*arguments: str, code: int = 0) -> str:
    command = [sys.executable, "-m", "lookalike", "design", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.strip() if code else done.stdout


def test_command_shows_table_plot_and_facts():
    shown = run("--threshold", "0.8", "--recall", "0.99", "--documents", "5000000", "--trials", "500")
    found = la.design(0.8, 0.99)
    assert f"filter {found.filter}:" in shown
    assert all(heading in shown for heading in ("formula", "fast, 50", "fast, 100", "fast, 1,000"))
    assert all(f" {rho:g} " in shown for rho in curves.ROWS)
    assert "█" in shown
    for fact in ("half at", "s = 1/ln(1/ρ₀) = 4.481", "r ≈ k·ρ₀^s", "total error", "500 simulated pairs"):
        assert fact in shown, fact
    assert "false pairs among 5,000,000 documents" in shown
    assert f"bytes per document: {found.filter.features_bytes}" in shown


def test_command_looks_at_the_papers_filter_and_states_its_erratum():
    shown = run("--filter", "6,14,2", "--trials", "500")
    assert "half at 0.909366" in shown
    assert "the formula gives 0.0107" in shown
    assert "0.009286" in shown
    assert "5.587e-08" in shown
    assert "48, 120 as 15 super-features" in shown


def test_command_prints_json_that_agrees_with_the_library():
    shown = json.loads(run("--threshold", "0.9", "--bytes", "120", "--trials", "300", "--json"))
    found = la.design(0.9, bytes=120)
    assert Filter(**shown["filter"]) == found.filter
    assert shown["recall"] == found.recall
    measured = curves.curve(found.filter, trials=300)
    assert shown["curve"]["formula"] == list(measured.formula)
    assert [size["accepted"] for size in shown["curve"]["simulated"]] == [
        list(size.accepted) for size in measured.simulated
    ]


def test_command_prints_the_filter_of_dedup():
    shown = json.loads(run("--threshold", "0.8", "--trials", "300", "--json"))
    assert shown["filter"] == {"k": 18, "s": 6, "r": 1}


def test_pairs_at_or_above_the_threshold_are_not_called_false():
    shown = json.loads(run("--threshold", "0.2", "--sketch", "permutations", "--json"))
    assert list(shown["false_pairs"]) == ["uniform", "0.1"]


def test_a_threshold_that_was_chosen_is_a_row():
    shown = json.loads(run("--filter", "6,14,2", "--threshold", "0.85", "--sketch", "permutations", "--json"))
    assert 0.85 in shown["curve"]["rho"]


def test_command_of_permutations_simulates_nothing():
    shown = run("--sketch", "permutations")
    assert "fast, 50" not in shown
    assert "the formula is exact for independent permutations" in shown


def test_command_designs_a_sketch():
    shown = run("--error", "0.05", "--confidence", "0.95", "--documents", "30000000")
    assert "sketch of 390 elements, 3,120 bytes per document" in shown
    assert "(worst)" in shown
    assert "above 90 %: at most 0.0007475" in shown
    assert json.loads(run("--error", "0.05", "--json"))["size"] == 390


def test_command_draws_a_plot_and_overwrites_only_when_told(tmp_path: Path):
    png, svg = tmp_path / "curve.png", tmp_path / "curve.svg"
    svg.write_text("mine", encoding="utf-8")
    arguments = ("--filter", "6,14,2", "--trials", "100", "--plot")
    run(*arguments, str(png))
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "exists: use another name, or --overwrite to replace it" in run(*arguments, str(svg), code=2)
    assert svg.read_text(encoding="utf-8") == "mine"
    run(*arguments, str(svg), "--overwrite")
    assert "<svg" in svg.read_text(encoding="utf-8")


def test_plot_without_the_extra_names_the_install(tmp_path: Path):
    code = (
        "import sys; sys.modules['matplotlib'] = None; from lookalike.cli.main import main\n"
        f"sys.argv[1:] = ['design', '--plot', {str(tmp_path / 'c.png')!r}]; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr.strip()
        == 'lookalike: --plot needs packages that are not installed: run pip install "lookalike[lab]"'
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--error", "0.05", "--recall", "0.9"], "--recall has no effect with --error: leave it out"),
        (
            ["--filter", "6,14,2", "--false-accept", "0.1"],
            "--false-accept has no effect with --filter",
        ),
        (["--filter", "6,14"], "filter `6,14` is not k,s,r"),
        (["--recall", "2"], "recall `2` is out of range"),
        (["--plot", "curve.gif"], "--plot `curve.gif` has no suffix of a picture"),
        (["--trials", "0"], "trials `0` are out of range: use 1 to 10000000"),
        (["--documents", "0"], "--documents `0` is out of range: use 1 or more"),
        (["--seed", "-1"], "seed `-1` is out of range: use 0 to 2⁶⁴ − 1"),
        (["--false-accept", "1e-6", "--at", "0.5", "--recall", "0.99"], "use elements ≥ 6588"),
    ],
)
def test_command_refuses_in_one_line(arguments: list[str], message: str):
    assert message in run(*arguments, code=2)


def test_command_solves_for_a_prefix():
    shown = run("--distance", "3", "--prefix", "28", "--fingerprints", "8e9")
    assert "16 tables, prefixes of 28 bits, of which 0 may differ" in shown
    assert json.loads(run("--prefix", "16", "--json"))["chosen"]["name"] == "paper"
    assert "prefix and tables contradict each other" in run("--prefix", "16", "--tables", "4", code=2)


def test_a_filter_of_very_many_elements_is_not_simulated_unless_asked():
    """A limit that hardly limits: the answer is that of the library, at once, and what was left out is said."""
    shown = run("--bytes", "4294967296")
    found = la.design(bytes=4294967296).filter
    assert found.elements > curves.MOST_ELEMENTS
    assert shown.startswith(f"filter {found}:")
    assert "it was not simulated, because the filter has more than 2,048 elements" in shown
    assert json.loads(run("--filter", f"{found.k},{found.s},{found.r}", "--json"))["curve"]["simulated"] == []


@pytest.mark.parametrize(("k", "s", "trials"), [(6, 14, 20_000), (16, 16, 20_000), (32, 16, 10_000), (128, 16, 2_500)])
def test_usual_trials_fall_with_the_elements(k: int, s: int, trials: int):
    assert curves.usual_trials(Filter(k, s, 1)) == trials
