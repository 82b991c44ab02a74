"""The benchmark of near-duplicates: corpora and truth are what they claim, and answers are held against both."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

import lookalike as la
from bench import child, clustering, deduplication, definition, duplicates, report, runner, sketches, truth
from bench.measure import ONCE, Times
from bench.outcome import Outcome, SkippedError
from bench.works import Run

ROWS = definition.load(definition.FOLDER)
TEXTS = list(duplicates.generated(120))


def resemblances() -> dict[tuple[int, int], float]:
    """All pairs, one by one."""
    found = {(i, j): la.resemblance(TEXTS[i], TEXTS[j], shingle=5) for i, j in combinations(range(len(TEXTS)), 2)}
    return {pair: score for pair, score in found.items() if score is not None}


EXACT = resemblances()


def test_corpus_is_the_same_on_every_machine() -> None:
    assert sketches.digest(TEXTS)[:16] == "e4dbd855723c759b", (
        "another corpus needs new answers in bench/definitions as well"
    )


def test_corpus_has_the_number_of_documents_asked_for_and_edits_among_them() -> None:
    assert len(TEXTS) == 120
    assert 1_000 < sum(map(len, TEXTS)) / len(TEXTS) < 4_000
    assert sum(score >= 0.8 for score in EXACT.values()) > 10
    assert sum(0.2 < score < 0.8 for score in EXACT.values()) > 10


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 1.0])
def test_join_finds_what_comparing_all_pairs_finds(threshold: float) -> None:
    assert truth.join(TEXTS, threshold) == {pair: score for pair, score in EXACT.items() if score >= threshold}


def test_join_of_texts_without_shingles_is_empty() -> None:
    assert truth.join(["too short", "too short", ""], 0.8) == {}
    assert truth.join([], 0.8) == {}


def test_verdict_counts_what_is_missed_and_what_is_below_the_threshold() -> None:
    known = truth.join(TEXTS, 0.8)
    (left, right), *_ = known
    low = next(pair for pair, score in EXACT.items() if score < 0.8)
    verdict = truth.judge(TEXTS, known, [(left, right), low], {low[0]: low[0], low[1]: low[0]}, 0.8)
    assert (verdict.low_edges, verdict.low_members) == (1, 1)
    assert verdict.precision == pytest.approx(1 / 3)
    partnered = {row for pair in known for row in pair}
    assert verdict.document_recall == pytest.approx(len(partnered & {left, right, *low}) / len(partnered))
    assert deduplication.fault_of(verdict, 0) == "1 edges and 1 members are below the threshold: none may be"


def test_pairs_in_one_cluster_count_as_found() -> None:
    texts = [TEXTS[0]] * 3
    known = truth.join(texts, 0.8)
    verdict = truth.judge(texts, known, [], {0: 0, 1: 0, 2: 0}, 0.8)
    assert (verdict.pairs, verdict.pair_recall, verdict.document_recall) == (3, 1, 1)
    nothing = truth.judge(texts, known, [], {}, 0.8)
    assert (nothing.pair_recall, nothing.document_recall, nothing.precision) == (0, 0, 1)
    assert deduplication.fault_of(nothing, 0.995) == (
        "0.0000 of the documents with a partner are found: at least 0.995 must"
    )


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_corpus_is_read_back_as_it_was_written(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"corpus.{ending}"
    duplicates.write(iter(TEXTS), file)
    assert duplicates.read(file) == TEXTS
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_larger_corpus_has_every_original_once_and_edits_for_the_rest(tmp_path: Path) -> None:
    base = tmp_path / "base.jsonl"
    duplicates.write(iter(TEXTS[:20]), base)
    made = list(duplicates.enlarged(base, 60))
    assert len(made) == 60
    assert set(TEXTS[:20]) <= set(made)


def test_edits_touch_as_many_words_as_their_rate_says() -> None:
    pairs = duplicates.paired(200)
    scores = [la.resemblance(pairs[i], pairs[i + 100], shingle=5) or 0 for i in range(100)]
    assert max(scores) == 1
    assert min(scores) < 0.4


@pytest.mark.parametrize("name", ["dedup 10,000 documents", "dedup 10,000 documents, parquet"])
def test_quick_corpus_gives_the_expected_answer_through_the_command(name: str) -> None:
    row = runner.run_row(ROWS[name], Run(quick=True), {})
    figures = {figure.name: figure.value for figure in row.figures}
    assert (row.answer, row.note) == ("right", "")
    assert (figures["precision"], figures["document recall"]) == (1, 1)


def test_either_format_gives_the_same_answer() -> None:
    lines, columns = ROWS["dedup 10,000 documents"], ROWS["dedup 10,000 documents, parquet"]
    assert lines.expect == columns.expect


def test_two_threads_are_told_by_the_busiest_and_by_the_way_through() -> None:
    found = deduplication.balance([0.5, 4.0], [0.5, 2.0, 1.5])
    assert found == {"balance": 2.0, "way": pytest.approx(4.5 / 2.5)}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="CPU time of threads is read from /proc")
def test_threads_of_a_command_are_seen_the_first_one_first() -> None:
    program = (
        "import threading, time\n"
        "def work():\n"
        "    while time.thread_time() < 0.15: sum(range(1000))\n"
        "other = threading.Thread(target=work)\n"
        "other.start()\n"
        "other.join()\n"
    )
    order = [sys.executable, "-I", "-S", child.__file__, "--sample", sys.executable, "-I", "-S", "-c", program]
    used = json.loads(subprocess.run(order, check=True, capture_output=True, text=True).stdout)
    first, other = used["threads"]
    assert used["code"] == 0
    assert first < other <= used["cpu"] + 0.02


def test_command_that_fails_is_told_in_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"`lookalike dedup` ended with 2: .*nowhere"):
        deduplication.repeated(tmp_path / "nowhere.jsonl", ONCE)


def test_error_of_sketches_is_measured_against_exact_resemblance() -> None:
    texts = duplicates.paired(400)
    pairs = [(i, i + 200) for i in range(200)]
    for kind in ("fast", "permutations"):
        table = la.sketch_batch(texts, 128, kind, shingle=5, threads=1)
        found = sketches.errors(table, texts, pairs)
        assert 0.015 < found["RMSE"] < 0.05
        assert 0.5 < found["RMSE of theory"] < 1.25


def test_error_of_equal_texts_is_nothing() -> None:
    table = la.sketch_batch([TEXTS[0], TEXTS[0]], 128, "fast", shingle=5, threads=1)
    assert sketches.errors(table, [TEXTS[0], TEXTS[0]], [(0, 1)]) == {"RMSE": 0}


def test_figure_of_a_row_is_told_as_a_multiple_of_another_rows() -> None:
    row = ROWS["sketch fast of neardup100k"]
    outcome = Outcome(Times([1.0], [1.0]), 100, None, {"RMSE": 0.03})
    theirs = Outcome(Times([2.0], [2.0]), 100, None, {"RMSE": 0.04})
    done = {name: runner.Row(ROWS[name], theirs) for name in (*row.against, *row.relative.values())}
    figures = {figure.name: figure for figure in runner.figures_of(row, outcome, done)}
    ratio = figures["RMSE of rival sketches datasketch"]
    assert (ratio.value, ratio.at_most, ratio.is_met) == (pytest.approx(0.75), 1, True)
    assert figures["rival sketches daft"].value == 2
    assert report.told(ratio) == "0.75 × RMSE of rival sketches datasketch"


@pytest.fixture
def rivals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The rivals' scripts, each of which needs a minute, and their corpus."""
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path))
    for ending in ("jsonl", "parquet"):
        duplicates.write(iter(TEXTS), tmp_path / f"{deduplication.SHARED}.{ending}")
    said = {"runs": {"cpu": [60.0], "wall": [60.0]}, "doc_recall": 0.9, "doc_prec": 0.8, "peak_rss_mb": 100}
    (tmp_path / "dedup.py").write_text(f"print({json.dumps(said)!r})\n")
    return tmp_path


@pytest.mark.parametrize("name", ["dedup neardup100k", "dedup neardup100k, parquet"])
def test_job_is_told_as_a_multiple_of_each_rival_on_their_corpus(rivals: Path, name: str) -> None:
    run = Run(rivals=rivals)
    done = {one: runner.run_row(ROWS[one], run, {}) for one in ROWS[name].against}
    ours = runner.run_row(ROWS[name], run, done)
    figures = {figure.name: figure for figure in ours.figures}
    assert (ours.answer, ours.note) == ("unknown", "the text is not the one whose answer is known")
    assert (figures["document recall"].value, figures["precision"].value) == (1, 1)
    assert figures["rival dedup daft"].value == pytest.approx(60 / figures["seconds"].value)
    assert figures["peak MB"].at_most == 970
    assert len(list(rivals.glob("*.csv"))) == 1, "the truth is kept beside the corpus"


def test_corpus_that_is_not_there_is_a_reason_to_skip(rivals: Path) -> None:
    (rivals / "neardup100k.jsonl").unlink()
    with pytest.raises(SkippedError, match=r"`neardup100k\.jsonl` is not in \$BENCH_CACHE"):
        runner.WORKS["shared-dedup"](ROWS["dedup neardup100k"], Run(rivals=rivals))


def test_clustering_runs_only_when_asked_for_by_name() -> None:
    for run in (Run(), Run(quick=True, is_named=True)):
        row = runner.run_row(ROWS["clustering 20,000,000 documents"], run, {})
        assert row.answer == "skipped"
        assert "--only" in row.note


def test_line_of_the_clustering_example_is_read() -> None:
    line = (
        "100 documents, 18 keys, 64 MiB: generate and push 9.00 s, sort 1.50 s, candidates 2.00 s, Star 0.25 s; "
        "40 removed, 41 exact, 99 glances, peak 12 MiB\n"
    )
    assert clustering.parsed(line) == clustering.Clustered(12.75, 40, 41, 12)
    with pytest.raises(ValueError, match="is old"):
        clustering.parsed("something else")
