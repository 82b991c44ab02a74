"""The benchmark of whole jobs: its classes are what they claim, its answers come from the real command."""

from __future__ import annotations

import ast
import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from bench import child, classes, definition, jobs, runner
from bench.outcome import SkippedError
from bench.works import Run

ROWS = definition.load(definition.FOLDER)
MADE = classes.classroom(40)


def shapes(text: str) -> Counter[str]:
    """Functions and classes of a program without their names, each with how often it occurs."""
    tree = ast.parse(text)
    blocks = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    for node in ast.walk(tree):
        for field in {"id", "arg", "attr", "name", "value"} & set(node._fields):
            if isinstance(getattr(node, field), str):
                setattr(node, field, "")
    return Counter(map(ast.dump, blocks))


def copies(level: int) -> list[tuple[str, str]]:
    """Original and copy of each pair made in one way, as texts."""
    return [(MADE.texts[left], MADE.texts[right]) for left, right in MADE.gold[level :: len(classes.LEVELS)]]


def without_comments(text: str) -> list[str]:
    return [line for line in text.split("\n") if not line.lstrip().startswith("#")]


def test_class_is_the_same_bytes_on_every_machine() -> None:
    state = hashlib.sha256()
    for name in sorted(MADE.texts):
        state.update(f"{name}\0{MADE.texts[name]}\0".encode())
    assert state.hexdigest()[:16] == "6b5579ecfe59a731", "another class needs new answers in bench/definitions as well"


def test_submissions_parse_and_have_about_5_kb() -> None:
    sizes = [len(text) for text in MADE.texts.values()]
    for name, text in MADE.texts.items():
        ast.parse(text, name)
    assert 4_500 < sum(sizes) / len(sizes) < 5_500
    assert min(sizes) > 3_000


def test_every_fifth_submission_is_a_copy_with_an_original_of_its_own() -> None:
    assert len(MADE.texts) == 40
    assert len(MADE.gold) == 8
    assert len({name for pair in MADE.gold for name in pair}) == 16
    assert all(name in MADE.texts for pair in MADE.gold for name in pair)


def test_verbatim_copies_differ_in_comments_only() -> None:
    for left, right in copies(0):
        assert left != right
        assert without_comments(left) == without_comments(right)


def test_renamed_copies_keep_every_shape_in_order() -> None:
    for left, right in copies(1):
        assert without_comments(left) != without_comments(right)
        assert list(shapes(left)) == list(shapes(right))


def test_reordered_copies_keep_every_shape_in_another_order() -> None:
    for left, right in copies(2):
        assert list(shapes(left)) != list(shapes(right))
        assert shapes(left) == shapes(right)


def test_half_copies_share_some_shapes_and_have_others() -> None:
    for left, right in copies(3):
        kept = (shapes(left) & shapes(right)).total()
        assert 0.25 < kept / shapes(right).total() < 0.75


def test_unrelated_submissions_share_idioms_at_most() -> None:
    unrelated = sorted(MADE.texts.keys() - {copy for _, copy in MADE.gold})
    found = [shapes(MADE.texts[name]) for name in unrelated]
    idioms = Counter(shape for shapes_of_one in found for shape in shapes_of_one)
    assert sum(count > 1 for count in idioms.values()) <= len(classes.grammar.RULES["idiom"])


def test_class_is_written_once_and_whole(tmp_path: Path) -> None:
    place = tmp_path / "class"
    for made in (MADE, classes.classroom(5)):
        classes.write(made, place)
    assert [path.name for path in tmp_path.iterdir()] == ["class"]
    assert {file.name: file.read_text() for file in (place / "submissions").iterdir()} == MADE.texts


def test_quick_class_gives_the_expected_answer_through_the_command() -> None:
    row = runner.run_row(ROWS["compare 300 submissions"], Run(quick=True), {})
    assert (row.answer, row.note) == ("right", "")
    assert {figure.name for figure in row.figures} == {"peak MB", "known copies", "seconds"}


def test_known_copies_that_do_not_come_first_make_the_answer_wrong() -> None:
    gold = frozenset({frozenset(("a", "b")), frozenset(("c", "d"))})
    pairs = [{"left": "b", "right": "a"}, {"left": "a", "right": "d"}, {"left": "c", "right": "d"}]
    assert jobs.share_first(pairs, gold) == 0.5
    assert jobs.missed(0.5, floor=0.95) == "0.500 of the known copies come first: at least 0.95 must"
    assert jobs.missed(0.95, floor=0.95) == ""


def test_answer_depends_on_three_digits_of_a_score_and_on_every_name() -> None:
    pair = {"left": "a.py", "right": "b.py", "score": "0.12345", "matched_tokens": "40"}
    same, other = pair | {"score": "0.1234500001"}, [pair | {"score": "0.125"}, pair | {"right": "c.py"}]
    assert jobs.answer_of([pair]) == jobs.answer_of([same])
    assert all(jobs.answer_of([pair]) != jobs.answer_of([changed]) for changed in other)


def test_peak_is_that_of_the_command_and_not_of_the_benchmark() -> None:
    held = bytearray(b"x") * (256 << 20)
    order = [sys.executable, "-I", "-S", child.__file__, sys.executable, "-c", "print('not JSON')"]
    done = subprocess.run(order, check=True, capture_output=True, text=True)
    used = json.loads(done.stdout)
    assert used["code"] == 0
    assert used["peak"] < len(held) / 2


def test_failed_command_ends_the_run_with_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"`lookalike compare` ended with 2: lookalike: .*does not exist"):
        jobs.command(tmp_path / "nowhere", tmp_path / "out")


@pytest.fixture
def rivals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the rivals' scripts: one makes the class, one needs a minute for it."""
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
    classes.write(MADE, tmp_path / "made")
    gold = json.dumps([[*pair, "level"] for pair in MADE.gold])
    (tmp_path / "corpora.py").write_text(
        "import shutil, sys\n"
        "assert sys.argv[1:] == ['class', '--n', '300']\n"
        "shutil.copytree('made/submissions', 'cache/class300')\n"
        f"open('cache/class300.gold.json', 'w').write({gold!r})\n"
    )
    said = {"runs": {"cpu": [60.0], "wall": [60.0]}, "p_at_g": 0.5, "peak_rss_mb": 100}
    (tmp_path / "class_compare.py").write_text(f"print('warming up')\nprint({json.dumps(said)!r})\n")
    return tmp_path


def test_job_is_told_as_a_multiple_of_each_rival_on_their_class(rivals: Path) -> None:
    run = Run(rivals=rivals)
    theirs = runner.run_row(ROWS["rival class dolos-lib"], run, {})
    skipped = runner.Row(ROWS["rival class compare50"], note="not installed")
    done = {theirs.name: theirs, "rival class copydetect": skipped, skipped.name: skipped}
    ours = runner.run_row(ROWS["compare class300 of the rivals"], run, done)
    figures = {figure.name: figure for figure in ours.figures}
    assert (ours.answer, ours.note) == ("unknown", "the text is not the one whose answer is known")
    assert figures["known copies"].value == 1
    assert figures[theirs.name].value == pytest.approx(60 / figures["seconds"].value)
    assert (figures[theirs.name].at_least, figures["peak MB"].at_most) == (10, 331)
    assert "rival class copydetect" not in figures


def test_rivals_that_make_no_class_are_skipped_with_a_reason(rivals: Path) -> None:
    (rivals / "corpora.py").write_text("raise SystemExit(1)\n")
    with pytest.raises(SkippedError, match=r"`corpora\.py` of the rivals did not make their class of 300"):
        runner.WORKS["rival-class"](ROWS["rival class dolos-lib"], Run(rivals=rivals))
