"""The lab on resemblance: what theory and the papers say is what the experiments find; labels are read with care."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import lookalike as la
from lookalike import lab, params
from lookalike.cli.main import cli
from lookalike.errors import FrontendError, ParameterError
from lookalike.lab.resemblance import census, estimator, shingle_size
from lookalike.lab.resemblance.evaluate import Row
from lookalike.lab.shared import corpus, labels, synthetic, versions
from lookalike.lab.shared.corpus import Corpus

SEED = 3


def corpus_of(*texts: str) -> Corpus:
    documents = tuple(text.encode() for text in texts)
    names = tuple(f"{i:04}.txt" for i in range(len(texts)))
    return Corpus("test", "texts of a test", names, documents, sum(map(len, documents)))


def prose(seed: int, words: int = 400) -> str:
    rng = np.random.default_rng(seed)
    return " ".join(f"w{number}" for number in rng.integers(1 << 30, size=words))


@pytest.fixture(scope="module")
def texts() -> Corpus:
    return corpus_of(*(prose(seed) for seed in range(40)))


# Versions


def test_editing_changes_the_share_of_words_asked_for_and_no_space():
    text = "one  two\n\nthree\tfour " * 500
    changed = versions.edited(text, 0.1, np.random.default_rng(SEED))
    words = list(zip(text.split(), changed.split(), strict=True))
    assert 0.07 < sum(a != b for a, b in words) / len(words) < 0.13
    assert [c for c in changed if c.isspace()] == [c for c in text if c.isspace()]
    assert versions.edited(text, 0, np.random.default_rng(SEED)) == text


def test_edited_texts_resemble_as_theory_says():
    text = prose(1, 20_000)
    for share, width in ((0.01, 5), (0.1, 2), (0.3, 1)):
        found = la.resemblance(text, versions.edited(text, share, np.random.default_rng(SEED)), shingle=width)
        assert found == pytest.approx(versions.expected(share, width), abs=0.02), (share, width)


def test_synthetic_versions_resemble_their_page_less_and_less():
    made = synthetic.make(SEED)
    found = [la.resemblance(made["page-001.txt"], made[f"version-001-{i}.txt"]) for i in range(1, 5)]
    assert all(value is not None for value in found)
    assert found == sorted(found, reverse=True)
    assert found[-1] < found[0]


# Estimator


def test_every_sketch_is_unbiased_within_four_standard_errors(texts: Corpus, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(estimator, "EDITED", 300)
    pairs = estimator.measured(estimator.draw_pairs(texts, SEED))
    for kind in params.SKETCHES:
        points, undefined = estimator.estimate(kind, pairs)
        errors = np.array([point.error for point in points])
        theory = np.sqrt(np.mean([point.spread**2 for point in points]) / len(points))
        assert abs(errors.mean()) < 4 * theory, kind
        assert np.mean([point.is_covered for point in points]) > 0.95 - 4 * np.sqrt(0.05 * 0.95 / len(points)), kind
        assert undefined == 0, kind


def test_edited_pairs_fill_every_bin(texts: Corpus, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(estimator, "EDITED", 300)
    pairs = estimator.measured(estimator.draw_pairs(texts, SEED))
    points, _ = estimator.estimate("fast", pairs)
    assert all(len(part) >= 5 for part in estimator.bins(points))
    assert sum(map(len, estimator.bins(points))) == len(points)


def test_near_duplicates_of_the_corpus_are_among_the_pairs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(estimator, "EDITED", 10)
    text = prose(1)
    near = versions.edited(text, 0.02, np.random.default_rng(SEED))
    found = [pair for pair in estimator.draw_pairs(corpus_of(text, prose(2), near), SEED) if pair.origin == "found"]
    assert {(pair.left, pair.right) for pair in found} == {(text.encode(), near.encode())}


def test_a_corpus_without_shingles_has_no_estimates():
    with pytest.raises(FrontendError, match="no text as long as a shingle"):
        estimator.measure(corpus_of("a b", "c d"), SEED)


# Shingle size


def test_the_examples_of_the_paper_come_out():
    for name, value, _ in shingle_size.examples():
        assert value == pytest.approx(shingle_size.PAPER[name], abs=1e-4), name


def test_a_larger_w_sees_more_of_every_change(texts: Corpus):
    outcome = shingle_size.measure(texts, SEED)
    for name, curve in outcome.series["mean"].items():
        assert curve == sorted(curve, reverse=True), name
    assert outcome.series["mean"]["words shuffled"][0] == 1
    assert outcome.series["mean"]["words shuffled"][1] < 0.05


def test_shuffled_sentences_lose_only_what_crosses_their_ends():
    text = " ".join(f"{prose(seed, 19)} end{seed}." for seed in range(50))
    curve = shingle_size.measure(corpus_of(text), SEED).series["mean"]["sentences shuffled"]
    # Of 1,000 words, w − 1 shingles at each of 49 ends are new ones.
    lost = 4 * 49
    assert curve[4] == pytest.approx((996 - lost) / (996 + lost), abs=0.02)


def test_a_corpus_of_short_texts_is_refused():
    with pytest.raises(FrontendError, match="has no text of 24 words"):
        shingle_size.measure(corpus_of("too short"), SEED)


# Census


def chain(length: int) -> list[str]:
    """Texts of which neighbours resemble each other by 0.6, and those further apart less."""
    words = prose(9, 2000).split()
    return [" ".join(words[100 * i : 100 * i + 400]) for i in range(length)]


def test_the_census_counts_identical_and_near_clusters():
    near = versions.edited(prose(1), 0.01, np.random.default_rng(SEED))
    counts = census.count(la.dedup([prose(1), near, prose(2), prose(2), prose(2), prose(3)], threshold=0.5))
    assert (counts.documents, counts.sizes, counts.identical) == (6, {2: 1, 3: 1}, {3: 1})
    assert counts.shares["documents in a cluster"] == 5 / 6
    assert counts.shares["clusters of identical documents only"] == 1 / 2
    assert counts.shares["documents in other clusters"] == 2 / 6


def test_components_chain_where_stars_do_not():
    found = census.measure(corpus_of(*chain(9)), SEED).series
    assert found["0.5 components"]["size"] == [9]
    assert max(found["0.5 star"]["size"]) <= 3
    assert found["0.8 components"]["size"] == []


def test_a_corpus_without_clusters_is_drawn_all_the_same(texts: Corpus):
    outcome = census.measure(texts, SEED)
    assert outcome.claims[0].ours == 0
    assert census.draw(outcome).axes


def test_the_census_tells_altavista_and_the_web():
    outcome = census.measure(corpus_of(prose(1), prose(1), prose(2), prose(3)), SEED, 40)
    rows = {row[0]: row for row in outcome.tables[0].rows}
    assert rows["documents"][-1] == "30 M"
    assert rows["clusters"][-1] == "3.6 M"
    assert rows[census.REPEATING][1:] == ("25.0%", "25.0%", "25.0%", "25.0%", "29%; Web 30%–45%")
    claims = {claim.name: claim for claim in outcome.claims}
    assert claims[census.REPEATING].ours == 0.25
    assert claims[census.REPEATING].paper == pytest.approx(8.7 / 30)
    assert any(
        "30% to 45% of the Web" in note and "25.0% of the documents repeat another" in note for note in outcome.notes
    )
    assert outcome.parameters["bits"] == 40


def test_bits_are_for_the_census_only(tmp_path: Path):
    with pytest.raises(la.ParameterError, match="bits has no effect on `estimator`: leave it out, or use `census`"):
        lab.run("estimator", bits=40, out=tmp_path)


def test_one_document_is_no_census():
    with pytest.raises(FrontendError, match="is one document: a census needs several"):
        census.measure(corpus_of(prose(1)), SEED)


# Evaluate


def row_of(*scored: tuple[float, bool], undefined: int = 0, missed: int = 0) -> Row:
    ranked = tuple(sorted(scored, reverse=True))
    return Row("word", 5, ranked, sum(same for _, same in scored) + missed, undefined)


def test_quality_at_a_threshold_is_counted_by_hand():
    row = row_of((0.9, True), (0.8, False), (0.7, True), (0.2, False))
    assert (row.at(0.7).precision, row.at(0.7).recall) == (2 / 3, 1)
    assert row.at(0.7).f1 == pytest.approx(0.8)
    assert (row.at(0.95).precision, row.at(0.95).recall, row.at(0.95).f1) == (1, 0, 0)
    assert row.best.threshold == 0.7


def test_average_precision_matches_its_definition():
    rng = np.random.default_rng(SEED)
    for _ in range(50):
        scores = rng.permutation(40) / 40
        same = rng.random(40) < 0.4
        same[0] = True
        order = np.argsort(-scores)
        precisions = [same[order[: i + 1]].mean() for i in range(40) if same[order[i]]]
        row = row_of(*zip(scores.tolist(), same.tolist(), strict=True))
        assert row.average_precision == pytest.approx(np.mean(precisions))


def test_equal_scores_are_one_step_whatever_their_order():
    assert row_of((0.5, True), (0.5, False)).average_precision == 0.5


def test_what_is_undefined_counts_as_missed():
    row = row_of((0.9, True), undefined=1, missed=1)
    assert row.at(0.5).recall == 0.5
    assert row.average_precision == 0.5


def write_corpus(folder: Path) -> Path:
    """Three versions of a text, and three others."""
    root = folder / "essays"
    (root / "more").mkdir(parents=True)
    text, rng = prose(1, 300), np.random.default_rng(SEED)
    for name in ("a.txt", "b.txt", "more/c.txt"):
        (root / name).write_text(versions.edited(text, 0.01, rng), encoding="utf-8")
    for i, name in enumerate(("x.txt", "y.txt", "more/z.txt")):
        (root / name).write_text(prose(10 + i, 300), encoding="utf-8")
    return root


def write_pairs(folder: Path, *rows: str, header: str = "left,right,label") -> Path:
    path = folder / "pairs.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


GOOD = ("a.txt,b.txt,1", "b.txt,more/c.txt,yes", "a.txt,x.txt,0", "x.txt,more/z.txt,False")


def test_labels_that_text_decides_are_met_in_full(tmp_path: Path):
    outcome = lab.run("evaluate", write_corpus(tmp_path), SEED, tmp_path / "out", write_pairs(tmp_path, *GOOD))
    claims = {claim.name: claim.ours for claim in outcome.claims}
    assert (claims["best F1"], claims["average precision there"]) == (1, 1)
    assert outcome.corpus["labels"] == "the pairs of pairs.csv"
    assert any(row[-1] == "← best" for row in outcome.tables[0].rows)
    assert any(note.startswith("best: ") for note in outcome.notes)


def test_rows_that_cannot_be_used_are_told_and_the_rest_counts(tmp_path: Path):
    root = write_corpus(tmp_path)
    pairs = write_pairs(tmp_path, *GOOD, "a.txt,gone.txt,1", "a.txt,y.txt,perhaps", "a.txt")
    found = labels.read(pairs, corpus.load(root, SEED))
    assert (len(found.pairs), found.positives) == (4, 2)
    assert found.left_out == (
        "line 6: no document `gone.txt` in the corpus",
        "line 7: label `perhaps` is neither 1 nor 0",
        "line 8: no document `` in the corpus",
    )
    outcome = lab.run("evaluate", root, SEED, tmp_path / "out", pairs)
    assert any(note.startswith("rows without a usable pair: line 6") for note in outcome.notes)
    assert len(json.loads(outcome.data.read_text(encoding="utf-8"))["corpus"]["labels_left_out"]) == 3


@pytest.mark.parametrize("name", ["a.txt", "essays/a.txt", "/data/essays/a.txt", "./a.txt", "'a.txt"])
def test_documents_may_be_named_by_path(tmp_path: Path, name: str):
    root = write_corpus(tmp_path)
    assert len(labels.read(write_pairs(tmp_path, *GOOD, f"{name},y.txt,0"), corpus.load(root, SEED)).pairs) == 5


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        ("left,right,same", GOOD, "has no column `label`: give the columns left, right, label"),
        ("left,right,label", GOOD[:2], "has 2 pairs labelled 1 and 0 labelled 0: an evaluation needs both"),
        ("left,right,label", ("q,r,1",), "1 rows could not be used, the first for this: line 2: no document `q`"),
    ],
)
def test_labels_that_say_nothing_are_refused(tmp_path: Path, header: str, rows: tuple[str, ...], message: str):
    with pytest.raises((ParameterError, FrontendError), match=message):
        lab.run("evaluate", write_corpus(tmp_path), SEED, tmp_path / "out", write_pairs(tmp_path, *rows, header=header))


@pytest.mark.parametrize(("name", "has_corpus"), [("evaluate", False), ("census", True)])
def test_pairs_belong_to_evaluate_and_a_corpus(tmp_path: Path, name: str, has_corpus: bool):
    with pytest.raises(ParameterError, match="use them with `evaluate` or `simhash-pr` and corpus="):
        lab.run(name, tmp_path if has_corpus else None, SEED, tmp_path / "out", tmp_path / "pairs.csv")


def test_the_command_takes_pairs_and_rows_as_corpus(tmp_path: Path):
    root = write_corpus(tmp_path)
    rows = [{"id": path.stem, "text": path.read_text(encoding="utf-8")} for path in sorted(root.rglob("*.txt"))]
    lines = [json.dumps(row) for row in rows] + ['{"id": "broken"', '{"id": "empty", "text": null}']
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    pairs = write_pairs(tmp_path, "a,b,1", "b,c,1", "a,x,0", "x,empty,0")
    out = str(tmp_path / "out")
    arguments = ["lab", "evaluate", str(pairs), "--corpus", str(tmp_path / "rows.jsonl"), "--out", out, "--json"]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["corpus"]["documents"] == 6
    assert len(found["corpus"]["left_out"]) == 2
    assert found["corpus"]["labels_left_out"] == ["line 5: no document `empty` in the corpus"]


def test_rows_with_one_id_are_told_apart(tmp_path: Path):
    lines = [json.dumps({"id": "same", "text": prose(seed)}) for seed in (1, 2)]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert corpus.load(tmp_path / "rows.jsonl", SEED).names == ("same", "same (2)")
