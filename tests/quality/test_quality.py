"""The scoring of labelled data as a program: on small sets made here, whose figures can be told beforehand."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import zipfile
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import lookalike as la
from bench import duplicates
from quality import agreement, intervals, report, runner
from quality.disguised import Class, Found, table
from quality.figure import Figure, Outcome
from quality.metrics import Metrics
from quality.sets import resilience
from quality.task import Task, cut_offs

ROOT = Path(__file__).parents[2]
WORDS = re.findall(
    r"\w+",
    "river stone lantern winter copper meadow harbour ladder thunder velvet orchard pillow granite whistle saddle "
    "candle feather mirror barrel cactus dolphin engine furnace glacier hammock island jungle kettle lemon magnet",
)

# Metrics of the test's own, with the surface of the real ones: what is under test is what the harness hands to them.
EVAL_PAIRS = """
import csv

def key(a, b):
    return (a, b) if a <= b else (b, a)

def load_labels(path, kind=None, group=None):
    with open(path, newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    if "cluster" in rows[0]:
        pairs = [(x, y) for i, x in enumerate(rows) for y in rows[:i] if x["cluster"] == y["cluster"]]
        return {key(x["doc"], y["doc"]): 1 for x, y in pairs}, True, {}
    of = [r for r in rows if kind in (None, r["kind"]) and (group is None or r["group"].startswith(group))]
    return {key(r["a"], r["b"]): int(r["label"]) for r in of}, all(r["label"] == "1" for r in rows), {}

def scored(labels, implicit, scores, group=None):
    if implicit:
        return [(s, labels.get(k, 0)) for k, s in scores.items()] + [(None, 1) for k in labels if k not in scores]
    return [(scores.get(k, 0.0), y) for k, y in labels.items()]

def average_precision(rows, positives):
    ranked = [y for s, y in sorted(rows, key=lambda r: (-(r[0] or 0), r[1]))]
    return sum(sum(ranked[: i + 1]) / (i + 1) for i, y in enumerate(ranked) if y) / positives

def best(rows, positives, beta=1.0):
    return average_precision(rows, positives), 1.0, 1.0, 0.5
"""
EVAL_SPANS = """
import csv, sys

spans, pairs, detections = ([*csv.reader(open(path, encoding="utf-8"))] for path in sys.argv[1:4])
kind = sys.argv[5] if len(sys.argv) > 5 else None
true = [row[:6] for row in spans[1:] if kind in (None, row[6])]
def hits(row, t):
    return row[:2] == t[:2] and int(row[2]) <= int(t[2]) + 2 and int(row[3]) >= int(t[3]) - 4

inside = sum(hits(row, t) for row in detections for t in true)
print(f"pairs {len(pairs) - 1}  true passages {len(true)}  detected {len(detections)}  found {inside}")
print(f"plagdet {inside / max(1, len(detections)):.5f}  recall 1.0  precision 1.0  granularity 1.00000")
print("micro, suspicious side: precision 0.5  recall 0.5")
"""


EVAL_CLUSTERS = """
def ari(truth, found):
    pairs = [(truth[a] == truth[b], found[a] == found[b]) for a in truth for b in truth if a < b]
    return sum(x == y for x, y in pairs) / len(pairs), 0, 0, 0
"""


def prose(seed: int, words: int = 60) -> str:
    """Text of its own: no run of three words is shared by two seeds."""
    return " ".join(
        WORDS[(seed * 7 + i * (seed + 1)) % len(WORDS)] + chr(97 + seed) * (1 + i % 3) for i in range(words)
    )


def write_set(folder: Path, documents: dict[str, str], labels: dict[str, list[str]]) -> None:
    """Lay out a data set: an archive and files of labels."""
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "files.zip", "w") as archive:
        for name, text in documents.items():
            archive.writestr(name, text)
    for name, lines in labels.items():
        (folder / name).write_text("\n".join(lines) + "\n", "utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Three sets: one found, one missed, one with passages; metrics beside them."""
    metrics = tmp_path / "eval"
    metrics.mkdir()
    (metrics / "eval_pairs.py").write_text(EVAL_PAIRS, "utf-8")
    (metrics / "eval_spans.py").write_text(EVAL_SPANS, "utf-8")
    (metrics / "eval_clusters.py").write_text(EVAL_CLUSTERS, "utf-8")
    head = "a,b,label,group,kind"
    copied = {"one/a.txt": prose(1), "one/b.txt": prose(1), "one/c.txt": prose(2), "two/a.txt": prose(1)}
    write_set(
        tmp_path / "data" / "textreuse_samples",
        copied,
        {"pairs.csv": [head, "one/a.txt,one/b.txt,1,one,copy", "one/a.txt,one/c.txt,0,one,own"]},
    )
    clusters = ["doc,cluster,group", "g/a.txt,x,g", "g/b.txt,y,g", "g/c.txt,x,g"]
    write_set(
        tmp_path / "data" / "vkcup15_sample",
        {"g/a.txt": prose(1), "g/b.txt": prose(1), "g/c.txt": prose(2)},
        {"clusters.csv": clusters},
    )
    passage = prose(5, 20)
    susp, src = f"{prose(3)}. {passage}. {prose(4)}", f"{prose(6, 10)}. {passage}"
    span = (
        f"susp/s.txt,src/q.txt,{susp.index(passage)},{len(passage)},{src.index(passage)},{len(passage)},no-obfuscation"
    )
    write_set(
        tmp_path / "data" / "pan13_train",
        {"susp/s.txt": susp, "src/q.txt": src, "src/r.txt": prose(7)},
        {
            "pairs.csv": [head, "susp/s.txt,src/q.txt,1,02,no-obfuscation"],
            "spans.csv": ["a,b,a_off,a_len,b_off,b_len,kind", span],
        },
    )
    return tmp_path / "data"


def figures(data: Path, name: str) -> dict[str, Figure]:
    outcome = runner.score(name, data, data.parent / "eval")
    assert not outcome.skipped
    return {figure.measure: figure for figure in outcome.figures}


def quality(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "quality", *map(str, arguments)]
    # A corpus of the benchmark that happens to be on this machine is no part of what is tested.
    environment = os.environ | {"COLUMNS": "200", "BENCH_CACHE": os.devnull}
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)


def test_without_data_the_run_is_skipped_and_says_why():
    done = quality()
    assert (done.returncode, done.stdout) == (
        0,
        "quality: skipped, no labelled data given; use make quality DATA=DIR\n",
    )


def test_without_metrics_the_run_says_where_they_were_sought(data: Path, tmp_path: Path):
    done = quality(data, "--eval", tmp_path / "nowhere", "--page", tmp_path / "page.md")
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert "EVAL=DIR" in done.stderr
    assert "Traceback" not in done.stderr


def test_copies_within_a_cohort_are_scored_and_cohorts_are_kept_apart(data: Path):
    task = Task(data / "textreuse_samples", Metrics(data.parent / "eval"))
    scores = task.compare_by(lambda name: name.split("/")[0])
    assert {frozenset(pair): score for pair, score in scores.items()} == {frozenset(("one/a.txt", "one/b.txt")): 1.0}
    assert task.remarks == {"alone in its cohort": 1}
    assert figures(data, "textreuse_samples")["AP"].value == 1


def test_a_positive_that_is_never_scored_counts_as_missed(data: Path):
    found = figures(data, "vkcup15_sample")["AP"]
    assert found.value == pytest.approx(1 / 2), "the one scored pair is a false one and comes before the true one"
    assert found.is_met is False


def test_passages_are_told_in_characters_of_the_decoded_text(data: Path):
    found = figures(data, "pan13_train")
    assert found["plagdet no-obfuscation"].value == 1
    assert found["letters of verbatim copies covered"].value == 1
    assert found["plagdet of sections, all kinds"].value == 1
    assert found["plagdet of sections, all kinds, as listed"].value == 1


def test_a_letter_that_no_passage_covers_is_missed(data: Path):
    spans = data / "pan13_train" / "spans.csv"
    head, row = spans.read_text("utf-8").splitlines()
    fields = row.split(",")
    fields[2] = str(int(fields[2]) - 12)
    fields[3] = str(int(fields[3]) + 12)
    spans.write_text(f"{head}\n{','.join(fields)}\n", "utf-8")
    assert figures(data, "pan13_train")["letters of verbatim copies covered"].value < 1


def test_a_document_in_several_pairs_takes_part_once(tmp_path: Path, data: Path):
    same, other = prose(1), prose(2)
    names = [
        f"{version}/{pair}/{one}.txt" for version in ("raw", "template_free") for pair in ("p", "q") for one in "ab"
    ]
    labels = ["a,b,label,group,kind"]
    for version in ("raw", "template_free"):
        for pair, label in (("p", 1), ("q", 1)):
            labels.append(f"{version}/{pair}/a.txt,{version}/{pair}/b.txt,{label},g,{version}")
    write_set(
        tmp_path / "more" / "conplag",
        {name: same if name.endswith("a.txt") else f"{same} {other}" for name in names},
        {"pairs.csv": labels},
    )
    task = Task(tmp_path / "more" / "conplag", Metrics(data.parent / "eval"))
    conplag = runner.definition("conplag")
    pairs = [(f"raw/{pair}/a.txt", f"raw/{pair}/b.txt") for pair in "pq"]
    once = conplag.distinct(task, pairs)
    assert set(once.values()) == set(pairs[0])
    scores = conplag.scored(task.compare(sorted(set(once.values()))), once, pairs)
    assert len(set(scores.values())) == 1
    assert 0 < scores["raw/q/a.txt", "raw/q/b.txt"] < 1


SORTS = "class A { void f(int[] a, int[] b) { Arrays.sort(a); Arrays.sort(b); Arrays.sort(a); Arrays.fill(b, 3); } }"


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        ("sort(a); // first", "fill(\n  b );", 1.0),
        ("a = 3;", "b = 4;", 1.0),
        ("a = 3;", 'b = "s";', 1.0),
        ('f("s", "");', 'f("longer\\n", "t");', 1.0),
        ("a = 3;", "a = b;", 3 / 4),
        ("a; b; c;", "a, b, c;", 4 / 6),
        ("if (a) b;", "b;", 2 / 6),
        ("", "// nothing", 1.0),
        ("", "a", 0.0),
    ],
)
def test_sides_agree_by_tokens_with_names_and_literals_folded(left: str, right: str, wanted: float):
    one, other = (agreement.tokens(text)[1] for text in (left, right))
    assert agreement.share(one, other) == agreement.share(other, one) == pytest.approx(wanted)


def test_common_subsequence_is_the_longest_of_all():
    texts = [f"{number:b}" for number in range(1, 40)]
    for one in texts:
        for other in texts:
            shared = {"".join(part) for n in range(len(one) + 1) for part in combinations(one, n)}
            shared &= {"".join(part) for n in range(len(other) + 1) for part in combinations(other, n)}
            assert agreement.common(one, other) == max(map(len, shared))


def test_passages_agree_by_what_lies_between_their_ends(tmp_path: Path):
    (tmp_path / "ann.java").write_text(SORTS)
    (tmp_path / "bob.java").write_text(SORTS.replace("Arrays", "Lists").replace("3", "4"))
    report = la.compare(tmp_path, min_score=0)
    (pair,) = report.pairs
    assert agreement.shares(report, [pair]) == [1.0] * len(pair.passages) != []
    (region, turned) = pair.passages[0][:2]
    half = turned._replace(end=(turned.start + turned.end) // 2)
    assert 0.3 < agreement.Lexed(report).agreement(pair, region, half) < 0.7


def test_licences_are_ranked_by_resemblance_and_clustered_by_dedup(data: Path):
    documents = {
        "a.txt": prose(1),
        "b.txt": prose(1) + " river",
        "c.txt": prose(2),
        "d.txt": prose(3),
        "e.txt": prose(2),
    }
    labels = ["doc,cluster,group", "a.txt,x,g", "b.txt,x,g", "c.txt,y,g", "d.txt,y,g", "e.txt,z,g"]
    write_set(data / "license_variants", documents, {"clusters.csv": labels})
    found = figures(data, "license_variants")
    assert found["AP of resemblance, 5 words a shingle"].value == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert found["ARI of dedup at 0.8, 5 words a shingle"].value == pytest.approx(8 / 10)
    assert found["AP of resemblance, 6 characters a shingle"].above == 0.70
    assert found["ARI of dedup at 0.8, 6 characters a shingle"].above == 0.53


def write_stories(folder: Path, texts: list[str]) -> None:
    folder.mkdir(parents=True)
    with gzip.open(folder / "docs.jsonl.gz", "wt", encoding="utf-8") as out:
        out.writelines(json.dumps({"id": number, "text": text}) + "\n" for number, text in enumerate(texts))
    (folder / "pairs_exact.csv").write_text("a,b,jaccard\n0,1,0.95\n0,2,0.3\n", "utf-8")


def test_pairs_of_stories_are_found_and_none_below_the_threshold(data: Path):
    write_stories(data / "reuters21578", [prose(1), prose(1) + " river", prose(1, 8), prose(2), "short", "short"])
    outcome = runner.score("reuters21578", data, data.parent / "eval")
    assert [figure.value for figure in outcome.figures] == [1, 0, 0, 1]
    assert all(figure.is_met for figure in outcome.figures)
    assert "1 pairs reach 0.8 in our tokens, and 1 in those of the set" in " ".join(outcome.details)
    assert [report.told(figure) for figure in outcome.figures] == ["1.0000", "0", "0", "1.0000"]


def test_planted_stories_are_references_that_must_be_found(data: Path, monkeypatch: pytest.MonkeyPatch):
    module = runner.definition("reuters21578")
    monkeypatch.setattr(module, "EVERY", 2)
    task = Task(data / "reuters21578", Metrics(data.parent / "eval"))
    stories = [prose(seed) for seed in range(1, 9)]
    assert module.planted(task, [*stories, "too short"]) == 1
    assert task.counts == {"planted references": 4}
    monkeypatch.setattr(module, "_within", lambda reference, words: " ".join([reference[:80], *words]))
    assert module.planted(task, stories) == 0


def test_a_pair_that_dedup_does_not_find_lowers_the_recall(data: Path, monkeypatch: pytest.MonkeyPatch):
    write_stories(data / "reuters21578", [prose(1), prose(1) + " river", prose(2), prose(2) + " stone"])
    module = runner.definition("reuters21578")
    monkeypatch.setattr(module, "deduplicated", lambda texts: la.dedup([*texts[:3], prose(3)]))
    recall = figures(data, "reuters21578")["pairs ≥ 0.8 found, as a pair or in one cluster"]
    assert (recall.value, recall.is_met) == (0.5, False)


def test_corpus_of_the_benchmark_is_scored_where_the_benchmark_keeps_it(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path))
    missing = runner.score("neardup100k", data, data.parent / "eval")
    assert missing.skipped == "there is no `neardup100k.jsonl` in $BENCH_CACHE"
    duplicates.write(duplicates.generated(60), tmp_path / "neardup100k.jsonl")
    found = figures(data, "neardup100k")
    assert found["documents with a partner ≥ 0.8 flagged"].is_met
    assert found["edges below 0.8"].is_met
    assert found["members below 0.8 to their representative"].is_met


def test_the_page_tells_figures_misses_and_what_was_skipped(data: Path, tmp_path: Path):
    page = tmp_path / "page.md"
    done = quality(data, "--page", page)
    assert done.returncode == 1, "something wanted was missed"
    assert "conplag            skipped: there is no `conplag/files.zip` in the data given" in done.stdout
    text = page.read_text("utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| vkcup15_sample | AP |"))
    assert "≥ 0.96 | 0.5000 | **missed** |  | one test | `make quality DATA=DIR ONLY=vkcup15_sample`" in row
    assert all(f"## {name}" in text for name in runner.SETS)
    assert str(data) not in text


def test_one_set_alone_writes_no_page(data: Path, tmp_path: Path):
    page = tmp_path / "page.md"
    done = quality(data, "--only", "textreuse_samples", "--page", page)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not page.exists()


@pytest.mark.parametrize(
    ("figure", "is_met"),
    [
        (Figure("f", 0.8, at_least=0.8), True),
        (Figure("f", 0.7999, at_least=0.8), False),
        (Figure("f", 0.8, above=0.8), False),
        (Figure("f", 1.01, below=1.01), False),
        (Figure("f", 0, at_most=0), True),
        (Figure("f", 1, at_most=0), False),
        (Figure("f", 0.1), None),
    ],
)
def test_a_figure_is_met_as_its_bound_says(figure: Figure, is_met: bool | None):
    assert figure.is_met is is_met


def test_every_set_says_what_its_cohort_is():
    files = {path.stem for path in (ROOT / "quality" / "sets").glob("*.py")} - {"__init__"}
    assert files == set(runner.SETS)
    assert all(runner.definition(name).COHORT and runner.definition(name).__doc__ for name in files)


def test_a_skipped_set_is_told_as_such():
    assert list(report.lines("x", Outcome(skipped="why"))) == [f"{'x':<18} skipped: why"]


ROWS = [(0.9, 1), (0.9, 0), (0.5, 1), (None, 1), (0.1, 0), (0.0, 0)]


def test_average_precision_takes_ties_together_and_counts_what_has_no_score():
    wanted = (1 / 3) * (1 / 2) + (1 / 3) * (2 / 3)
    assert intervals.average_precision(ROWS)[0] == pytest.approx(wanted)
    twice = np.array([[2, 2, 2, 2, 2, 2], [0, 1, 1, 1, 0, 0]])
    assert intervals.average_precision(ROWS, twice) == pytest.approx([wanted, 1 / 4])


def test_interval_holds_the_value_and_draws_problems_where_there_are_enough():
    rows = [(i / 40, int(i % 3 == 0 or i > 30)) for i in range(40)]
    value = intervals.average_precision(rows)[0]
    few = {"a": rows[:20], "b": rows[20:]}
    many = {str(i): rows[i * 4 : i * 4 + 4] for i in range(10)}
    for problems, drawn in ((few, "pairs"), (many, "problems")):
        low, high, told = intervals.interval(problems)
        assert told == drawn
        assert 0 < low < value < high < 1
        assert intervals.interval(problems) == (low, high, told)


def test_listed_pairs_are_those_of_the_command_and_others_have_no_score(data: Path):
    found = figures(data, "vkcup15_sample")["AP, as listed"]
    assert found.value == pytest.approx(1 / 2)
    assert found.interval is not None
    task = Task(data / "textreuse_samples", Metrics(data.parent / "eval"))
    scores = task.listed_by(lambda name: name.split("/")[0])
    assert {frozenset(pair): score for pair, score in scores.items()} == {frozenset(("one/a.txt", "one/b.txt")): 1.0}
    rows = task.metrics.rows(task.pairs, scores, lambda name: name, None, None)
    assert sorted(row for of_name in rows.values() for row in of_name) == [(0.0, 0), (1.0, 1)]


# A tool that says what lookalike would not: every rewritten program is nearest to the first file of the class.
JPLAG = """#!/bin/sh
cd "$2" && echo "left	right	average	maximum" > "$3"
for one in *; do for other in *; do
  case "$one$other" in
    *~*) test "$one" \\< "$other" && echo "$one	$other	0.5	0.75" >> "$3";;
  esac
done; done
exit 0
"""


def test_disguised_copies_are_ranked_beside_other_tools(tmp_path: Path):
    programs = obfuscate_programs()
    class_ = Class("python", programs)
    class_.rewrite(2)
    assert class_.rewritten.pop("braces") == {}, "Python has no braces around statements"
    assert {len(made) for made in class_.rewritten.values()} == {1, 2}, "not every attack applies to all programs"
    (tmp_path / "jplag").mkdir()
    (tmp_path / "jplag" / "run").write_text(JPLAG, "utf-8")
    (tmp_path / "jplag" / "run").chmod(0o755)
    class_.rewritten = {name: class_.rewritten[name] for name in ("layout", "renaming")}
    found, absent = table([class_], tmp_path)
    assert 0.9 < found["layout"]["lookalike"].median < 1, "the layout drops parentheses that say nothing"
    assert found["layout"]["lookalike"].share_first == 1
    assert found["renaming"]["JPlag norm average"].median == 0.5
    assert found["renaming"]["JPlag norm average"].share_first == 1, "all scores are equal: all are first together"
    assert found["renaming"]["JPlag merge maximum"].median == 0.75
    assert absent == {
        "Dolos python": "there is no `dolos/node_modules`",
        "copydetect python": "there is no `main/bin/python`",
    }
    assert "| renaming | 2 | " in resilience.laid_out("python", [class_], found)


def test_a_source_that_is_not_first_is_counted():
    class_ = Class("java", {"a": "", "b": ""}, {"layout": {"a": "", "b": ""}})
    found = Found()
    pairs = {("a~0", "a"): 0.4, ("a~0", "b"): 0.5, ("b~0", "b"): 0.5, ("a~0", "b~0"): 0.5, ("a", "b"): 0.9}
    found.add(class_, "layout", {frozenset(f"{name}.java" for name in pair): score for pair, score in pairs.items()})
    assert (found.median, found.share_first) == (pytest.approx(0.45), 0.5)


def obfuscate_programs() -> dict[str, str]:
    """Three programs of our own that share nothing much."""
    sample = (ROOT / "tests" / "support" / "obfuscate" / "programs" / "words.py").read_text("utf-8")
    others = [ROOT / "tests" / "support" / name for name in ("planted.py", "texts.py")]
    return {"a": sample, **{path.stem: path.read_text("utf-8") for path in others}}


def test_a_table_of_cut_offs_counts_what_would_be_listed():
    lines = cut_offs(ROWS, None).splitlines()
    assert "| 0.02 | 4 | 0.500 | 0.667 | 0.389 |" in lines
    assert "| 0.5 | 3 | 0.667 | 0.667 | 0.389 |" in lines
    assert "| 0.6 | 2 | 0.500 | 0.333 | 0.167 |" in lines
    assert "| 0.6 | 2 | 0.500 | 0.333 | 0.500 |" in cut_offs(ROWS, 0.0), "what is not listed comes last, together"
