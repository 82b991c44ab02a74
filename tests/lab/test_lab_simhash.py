"""The lab on simhash: partners are all found, figures are counted as the paper counts them, tags come back."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import lookalike as la
from lookalike import lab, params
from lookalike.cli.main import cli
from lookalike.errors import FrontendError, ParameterError
from lookalike.lab.shared import labels, versions
from lookalike.lab.shared.corpus import Corpus
from lookalike.lab.simhash import (
    bit_distribution,
    leading_bit,
    never_duplicated,
    partners,
    sheet,
    signatures,
    simhash_features,
    simhash_pr,
    simhashed,
    survivors,
    table_designs,
    weighing,
)
from lookalike.lab.simhash.simhash_pr import Tally
from lookalike.lab.simhash.simhashed import BITS, popcount

SEED = 5


def corpus_of(*texts: str, names: tuple[str, ...] = ()) -> Corpus:
    documents = tuple(text.encode() for text in texts)
    given = names or tuple(f"{i:04}.txt" for i in range(len(texts)))
    return Corpus("test", "texts of a test", given, documents, sum(map(len, documents)))


def prose(seed: int, words: int = 120) -> str:
    return " ".join(f"w{number}" for number in np.random.default_rng(seed).integers(1 << 30, size=words))


def edited(text: str, share: float, seed: int = SEED) -> str:
    return versions.edited(text, share, np.random.default_rng(seed))


def family(seed: int, *shares: float) -> list[str]:
    text = prose(seed)
    return [text, *(edited(text, share, seed + number) for number, share in enumerate(shares))]


@pytest.fixture(scope="module")
def mixed() -> Corpus:
    """Families of versions among texts of their own; one text stands there twice."""
    families = [text for seed in range(12) for text in family(100 + seed, 0.005, 0.01, 0.02, 0.05)]
    return corpus_of(*families, *(prose(seed) for seed in range(60)), prose(0))


def clustered(seed: int, size: int) -> np.ndarray:
    """Fingerprints of which many are within a few bits of each other, and some are the same."""
    rng = np.random.default_rng(seed)
    hubs = rng.integers(1 << 63, size=max(size // 5, 1), dtype=np.uint64)
    flips = [sum(1 << int(bit) for bit in rng.integers(64, size=rng.integers(0, 9))) for _ in range(size)]
    return rng.choice(hubs, size) ^ np.array([flip % 2**64 for flip in flips], dtype=np.uint64)


# Partners


@pytest.mark.parametrize("seed", range(4))
def test_partners_by_distance_match_naive(seed: int):
    fingerprints = clustered(seed, 80)
    drawn = np.arange(0, 80, 3)
    found = partners.by_distance(fingerprints, drawn, 6)
    values = fingerprints.tolist()
    naive = {
        (i, j, (values[i] ^ values[j]).bit_count())
        for i in drawn.tolist()
        for j in range(80)
        if i != j and (values[i] ^ values[j]).bit_count() <= 6
    }
    assert len(naive) > 20
    assert set(zip(found.drawn.tolist(), found.other.tolist(), found.scores.tolist(), strict=True)) == naive
    counts = partners.count_distances(fingerprints, drawn)
    assert counts.sum() == len(drawn) * 79
    assert counts[:7].tolist() == [sum(distance == d for _, _, distance in naive) for d in range(7)]


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("vocabulary", [2, 5, 1000])
def test_partners_by_resemblance_match_naive(threshold: float, vocabulary: int):
    rng = np.random.default_rng(vocabulary)
    texts = [" ".join(f"v{word}" for word in rng.integers(vocabulary, size=rng.integers(0, 60))) for _ in range(30)]
    texts += [edited(text, 0.02, number) for number, text in enumerate(texts)]
    shingles = [simhashed.shingles_of(text.encode()) for text in texts]
    drawn = np.arange(0, len(texts), 2)
    found = partners.by_resemblance(shingles, drawn, threshold)
    naive = {}
    for i, j in itertools.product(drawn.tolist(), range(len(texts))):
        score = la.resemblance(texts[i], texts[j], shingle=simhashed.SHINGLE)
        if i != j and score is not None and score >= threshold:
            naive[i, j] = score
    assert naive
    assert dict(
        zip(zip(found.drawn.tolist(), found.other.tolist(), strict=True), found.scores.tolist(), strict=True)
    ) == (pytest.approx(naive))


def test_partners_in_batches_match_those_at_once(monkeypatch: pytest.MonkeyPatch, mixed: Corpus):
    shingles = simhashed.read(mixed).shingles
    drawn = np.arange(len(shingles))
    whole = partners.by_resemblance(shingles, drawn, 0.5)
    monkeypatch.setattr(partners, "BATCH", 50)
    assert (
        partners.by_resemblance(shingles, drawn, 0.5).keys(len(shingles)).tolist() == whole.keys(len(shingles)).tolist()
    )


def test_texts_without_shingles_have_no_partners():
    shingles = [simhashed.shingles_of(b"too short"), simhashed.shingles_of(b"too short"), np.empty(0, np.uint64)]
    assert len(partners.by_resemblance(shingles, np.arange(3), 0.5)) == 0


@pytest.mark.parametrize("least", [1, 2, 3])
def test_partners_by_agreement_match_naive(least: int):
    rng = np.random.default_rng(least)
    columns = rng.integers(4, size=(50, 4), dtype=np.uint64)
    has = rng.random(50) < 0.8
    drawn = np.arange(0, 50, 2)
    found = partners.by_agreement(columns, has, drawn, least)
    naive = {
        (i, j)
        for i, j in itertools.product(drawn.tolist(), range(50))
        if i != j and has[i] and has[j] and (columns[i] == columns[j]).sum() >= least
    }
    assert set(zip(found.drawn.tolist(), found.other.tolist(), strict=True)) == naive


def test_each_pair_stands_once_when_asked():
    found = partners.by_distance(clustered(1, 40), np.arange(40), 8)
    once = found.once()
    assert len(found) == 2 * len(once)
    assert (once.drawn < once.other).all()


def test_the_share_of_pairs_with_a_drawn_end_is_exact():
    for texts, drawn in ((2, 1), (6, 2), (9, 9)):
        pairs = list(itertools.combinations(range(texts), 2))
        share = sum(bool({*pair} & {*range(drawn)}) for pair in pairs) / len(pairs)
        assert simhashed.share_of_pairs(texts, drawn) == pytest.approx(share)


# Texts and weights


def test_identical_texts_are_one_and_empty_ones_have_no_fingerprint():
    found = simhashed.read(corpus_of("one two", "?!", "one two", "three", ""))
    assert found.texts == (b"one two", b"three")
    assert found.copies.tolist() == [2, 1]
    assert found.lengths.tolist() == [2, 1]
    assert found.without == ("0001.txt", "0004.txt")
    assert found.fingerprints.tolist() == [la.simhash("one two"), la.simhash("three")]
    assert "in the paper such pages have the fingerprint 0" in found.notes()[1]


def test_of_a_large_corpus_texts_are_drawn(monkeypatch: pytest.MonkeyPatch, mixed: Corpus):
    found = simhashed.read(mixed)
    assert found.draw(SEED).tolist() == list(range(len(found)))
    monkeypatch.setattr(simhashed, "DRAWN", 20)
    drawn = found.draw(SEED).tolist()
    assert len(set(drawn)) == 20
    assert drawn == sorted(drawn)


@pytest.mark.parametrize("name", ["simhash-pr", "simhash-features", "never-duplicated", "signatures"])
def test_estimates_from_a_draw_are_measured_and_drawn(name: str, monkeypatch: pytest.MonkeyPatch, mixed: Corpus):
    monkeypatch.setattr(simhashed, "DRAWN", 60)
    module = lab._import(lab.module_of(name))
    outcome = module.measure(mixed, SEED)
    assert outcome.parameters["drawn"] == 60
    assert module.draw(outcome).axes


TEXTS = ("A rose is a rose, is a Rose!", "日本語 テキスト Größe straße ﬁne", "สวัสดี ชาวโลก مرحبا العالم", "x" * 300)


def test_words_weighed_by_frequency_are_simhash_itself():
    vectors = weighing.read([text.encode() for text in TEXTS])
    fingerprints, has = weighing.fingerprints(vectors, weighing.frequency)
    assert has.all()
    assert fingerprints.tolist() == [la.simhash(text) for text in TEXTS]


def test_rarity_is_frequency_times_idf():
    vectors = weighing.read([b"all one one", b"all two", b"all two", b"all"])
    words = dict(zip(vectors.words, vectors.idf.tolist(), strict=True))
    assert words == pytest.approx({"all": 0, "one": math.log(4), "two": math.log(2)})
    fingerprints, has = weighing.fingerprints(vectors, weighing.rarity)
    assert has.tolist() == [True, True, True, False]
    assert fingerprints[0] == la.simhash(features={"one": 2 * math.log(4)})
    assert vectors.commonest(1) == [("all", 4 / 8)]


# Leading bit


def test_leading_bits_match_naive():
    values = np.concatenate([clustered(3, 200), np.array([0, 1, 2**63, 2**64 - 1, 2**64 - 2**9], dtype=np.uint64)])
    order, bits = leading_bit.leading_bits(values)
    ascending = sorted(set(values.tolist()))
    assert values[order].tolist() == ascending
    assert bits.tolist() == [(a ^ b).bit_length() - 1 for a, b in itertools.pairwise(ascending)]


@pytest.mark.parametrize("size", [2, 3, 10, 1000, 100_000])
def test_as_many_forks_are_expected_as_there_are_neighbours(size: int):
    expected = leading_bit.expected(size)
    assert expected.sum() == pytest.approx(size - 1, rel=1e-6)
    assert (expected >= 0).all()
    assert expected[BITS - 1] == pytest.approx(1 - 2.0 ** (1 - size))


def test_uniform_fingerprints_are_as_expected():
    size = 20_000
    _, bits = leading_bit.leading_bits(np.random.default_rng(SEED).integers(1 << 64, size=size, dtype=np.uint64))
    counts, expected = leading_bit.histogram(bits), leading_bit.expected(size)
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected) + 1).all()


def test_near_duplicates_are_the_tail_and_go_with_them(mixed: Corpus):
    # Words of their own: nothing but versions is near anything.
    outcome = leading_bit.measure(mixed, SEED)
    shares = {claim.name: claim.ours for claim in outcome.claims}
    assert shares["share of pairs in the tail, all texts"] > 0.1
    assert shares["share of pairs in the tail, without near-duplicates"] < 0.03
    near = outcome.series["near"]
    low = [share for bit, share in zip(near["bit"], near["near"], strict=True) if bit < outcome.parameters["tail"] - 8]
    assert np.mean(low) > 0.9


def test_survivors_are_one_text_of_each_family(mixed: Corpus):
    assert len(survivors.without_near_duplicates(simhashed.read(mixed))) == 12 + 60


def test_one_fingerprint_has_no_neighbour():
    with pytest.raises(FrontendError, match="has one text with words"):
        leading_bit.measure(corpus_of("alone"), SEED)


# Bit distribution


@pytest.mark.parametrize("documents", [1, 50, 1000])
def test_the_limit_is_that_of_the_binomial_law(documents: int):
    p = 1 / bit_distribution.BUCKETS
    law = [math.comb(documents, i) * p**i * (1 - p) ** (documents - i) for i in range(documents + 1)]
    most = bit_distribution.limit(documents)
    assert sum(law[most + 1 :]) * bit_distribution.BUCKETS < bit_distribution.CHANCE
    assert sum(law[most:]) * bit_distribution.BUCKETS >= bit_distribution.CHANCE


def test_a_spike_is_explained_by_the_page_that_many_have():
    texts = [prose(seed) for seed in range(200)] + ["404 File not Found"] * 30 + ["404 file not found!"] * 10
    outcome = bit_distribution.measure(corpus_of(*texts), SEED)
    first = outcome.tables[0].rows[0]
    assert first[2:6] == ("yes", f"{la.simhash('404 File not Found'):016x}", 40, 40)
    assert first[6:] == ("0200.txt", "404 File not Found")
    assert sum(outcome.series["documents"]["count"]) == 240
    assert sum(outcome.series["distinct texts"]["count"]) == 202


def test_mean_distance_matches_naive():
    values = clustered(2, 60)
    pairs = itertools.combinations(values.tolist(), 2)
    assert bit_distribution.mean_distance(values) == pytest.approx(np.mean([(a ^ b).bit_count() for a, b in pairs]))
    assert bit_distribution.mean_distance(values[:1]) == 0


def test_common_words_crowd_fingerprints_and_rarity_spreads_them():
    rng = np.random.default_rng(SEED)
    texts = [
        " ".join([*["the", "of", "and"] * 15, *prose(seed, 40).split()]) for seed in rng.integers(1 << 30, size=150)
    ]
    shares = {claim.name: claim.ours for claim in bit_distribution.measure(corpus_of(*texts), SEED).claims}
    assert shares["mean distance of two, documents"] < 15
    assert shares["mean distance of two, words weighed by rarity"] == pytest.approx(32, abs=1.5)


# Precision and recall


TALLIES = [
    Tally(0, 10, 10, 0, 0),
    Tally(1, 10, 8, 2, 5),
    Tally(2, 30, 5, 5, 0),
    Tally(3, 60, 0, 0, 4),
    Tally(4, 100, 1, 9, 0),
]


def test_each_distance_counts_alike_in_the_papers_way():
    points = simhash_pr.curve(TALLIES, False)
    assert [point.precision for point in points[:4]] == pytest.approx([0.8, 0.65, 0.65, 1.4 / 3])
    assert [point.recall for point in points[:4]] == pytest.approx([0.8 / 1.4, 1.3 / 1.4, 1.3 / 1.4, 1])


def test_weighed_by_pairs_it_is_what_a_corpus_shows():
    points = simhash_pr.curve(TALLIES, True)
    assert [point.precision for point in points[:4]] == pytest.approx([18 / 20, 33 / 50, 33 / 50, 43 / 150])
    assert [point.recall for point in points[:4]] == pytest.approx([18 / 43, 33 / 43, 33 / 43, 1])


def test_nothing_known_is_nothing_said():
    points = simhash_pr.curve([Tally(2, 5, 0, 0, 5)], False)
    assert {(point.precision, point.recall) for point in points} == {(None, None)}
    assert simhash_pr.nearest(points) is None
    assert simhash_pr.nearest(simhash_pr.curve(TALLIES, False)) == 1


def test_samples_are_equal_and_at_exactly_the_distance(monkeypatch: pytest.MonkeyPatch, mixed: Corpus):
    monkeypatch.setattr(simhash_pr, "EACH", 3)
    found = simhashed.read(mixed)
    near = partners.by_distance(found.fingerprints, np.arange(len(found)), 10).once()
    chosen = simhash_pr.sampled(near, SEED)
    assert len(set(chosen)) == len(chosen)
    for distance in simhash_pr.DISTANCES:
        pairs = [(left, right) for at, left, right in chosen if at == distance]
        assert len(pairs) == min(3, int((near.scores == distance).sum()))
        assert all(popcount(found.fingerprints[a] ^ found.fingerprints[b]) == distance for a, b in pairs)


def test_with_all_pairs_judged_the_weighed_figures_are_those_of_the_corpus(
    monkeypatch: pytest.MonkeyPatch, mixed: Corpus
):
    monkeypatch.setattr(simhash_pr, "EACH", 10**6)
    series = simhash_pr.measure(mixed, SEED).series
    texts = list(dict.fromkeys(mixed.documents))
    fingerprints = [la.simhash(text) or 0 for text in texts]
    pairs = [
        ((fingerprints[i] ^ fingerprints[j]).bit_count(), (la.resemblance(texts[i], texts[j], shingle=5) or 0) >= 0.8)
        for i, j in itertools.combinations(range(len(texts)), 2)
    ]
    for k, precision, recall in zip(*series["as many as there are"].values(), strict=True):
        within = [is_true for distance, is_true in pairs if distance <= k]
        assert precision == pytest.approx(sum(within) / len(within))
        assert recall == pytest.approx(sum(within) / sum(is_true for distance, is_true in pairs if distance <= 10))
        assert series["all true pairs"]["recall"][k] == pytest.approx(
            sum(within) / sum(is_true for _, is_true in pairs)
        )


def test_a_corpus_without_near_fingerprints_is_told():
    with pytest.raises(FrontendError, match="has no two texts within 10 bits"):
        simhash_pr.measure(corpus_of(prose(1), prose(2)), SEED)


# The sheet


def write_rows(folder: Path, corpus: Corpus) -> Path:
    rows = zip(corpus.names, corpus.documents, strict=True)
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps({"id": name, "text": text.decode()}) + "\n" for name, text in rows), "utf-8")
    return path


def tag(path: Path, texts: dict[str, bytes]) -> dict[str, int]:
    """Tag a sheet as exact resemblance would, the first row as unknown, and leave the last row alone."""
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    for number, row in enumerate(rows[:-1]):
        score = la.resemblance(texts[row["left"]], texts[row["right"]], shingle=simhashed.SHINGLE) or 0
        row["label"] = str(score >= simhash_pr.THRESHOLD).lower() if number else "unknown"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return {label: sum(row["label"] == label for row in rows) for label in ("true", "false", "unknown", "")}


def test_a_tagged_sheet_comes_back_and_is_never_written_over(tmp_path: Path, mixed: Corpus):
    rows, out = write_rows(tmp_path, mixed), tmp_path / "out"
    lab.run("simhash-pr", rows, SEED, out)
    tagged = tag(out / lab.SHEET, dict(zip(mixed.names, mixed.documents, strict=True)))
    before = (out / lab.SHEET).read_bytes()
    with pytest.raises(ParameterError, match="has tags, and is not replaced: give it as the pairs, move it"):
        lab.run("simhash-pr", rows, SEED, out)
    arguments = ["lab", "simhash-pr", str(out / lab.SHEET), "--corpus", str(rows), "--out", str(out), "--overwrite"]
    done = CliRunner().invoke(cli, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    distances = found["series"]["distances"]
    assert (sum(distances["true"]), sum(distances["false"])) == (tagged["true"], tagged["false"])
    assert f"pairs tagged unknown: {tagged['unknown']}; pairs further apart than 10 bits: 0" in found["notes"]
    assert len(found["corpus"]["labels_left_out"]) == tagged[""] == 1
    assert found["corpus"]["truth"] == f"the pairs of {lab.SHEET}"
    assert (out / lab.SHEET).read_bytes() == before


def test_an_untagged_sheet_is_written_anew(tmp_path: Path, mixed: Corpus):
    rows, out = write_rows(tmp_path, mixed), tmp_path / "out"
    lab.run("simhash-pr", rows, SEED, out)
    first = (out / lab.SHEET).read_text(encoding="utf-8")
    lab.run("simhash-pr", rows, SEED + 1, out)
    assert (out / lab.SHEET).read_text(encoding="utf-8") != first


def test_the_sheet_holds_some_pairs_of_each_distance_in_an_order_that_tells_nothing(
    monkeypatch: pytest.MonkeyPatch, mixed: Corpus
):
    monkeypatch.setattr(simhash_pr, "TO_TAG", 4)
    made = simhash_pr.measure(mixed, SEED).sheets[lab.SHEET]
    texts = dict(zip(mixed.names, mixed.documents, strict=True))
    rows = list(csv.DictReader(io.StringIO(made)))
    apart = [
        ((la.simhash(texts[row["left"]]) or 0) ^ (la.simhash(texts[row["right"]]) or 0)).bit_count() for row in rows
    ]
    assert max(apart.count(distance) for distance in range(11)) == 4
    assert apart != sorted(apart)
    assert not any(row["label"] for row in rows)
    assert "distance" not in rows[0]


def test_no_cell_of_the_sheet_is_a_formula_and_no_text_is_html():
    row = sheet.Row("=cmd()", 'b"<script>', b"+1 <b>bold</b>", "@mention\n\0 ’".encode())
    (read,) = csv.DictReader(io.StringIO(sheet.to_csv([row])))
    assert (read["left"], read["left_text"], read["right_text"][0]) == ("'=cmd()", "'+1 <b>bold</b>", "'")
    page = sheet.to_html([row], "<corpus>", "tags.csv")
    assert "<b>bold" not in page
    assert page.count("<script>") == 1
    assert 'data-right="b&quot;&lt;script&gt;"' in page
    assert all(f'value="{tag}"' in page for tag in labels.TAGS)
    assert "http" not in page


def test_unknown_is_a_label_and_no_label_is_none(tmp_path: Path):
    given = corpus_of("a b c d e f", "a b c d e g")
    (tmp_path / "pairs.csv").write_text(
        "left,right,label\n0000.txt,0001.txt,1\n0000.txt,0001.txt,0\n0000.txt,0001.txt,Unknown\n0000.txt,0001.txt,\n",
        "utf-8",
    )
    found = labels.read(tmp_path / "pairs.csv", given)
    assert (len(found.pairs), found.unknown, found.left_out) == (2, 1, ("line 5: has no label yet",))


# Features


def test_quality_by_distance_is_counted_by_hand():
    every, true = np.zeros(BITS + 1, np.int64), np.zeros(BITS + 1, np.int64)
    every[:5], true[:5] = (2, 0, 6, 0, 12), (2, 0, 2, 0, 0)
    way = simhash_features.Way("hand", every, true, 5, 0)
    assert (way.precision(0), way.precision(3), way.recall(3)) == (1, 0.5, 0.8)
    assert way.f1(3) == pytest.approx(2 * 0.5 * 0.8 / 1.3)
    assert way.best == 2
    assert [simhash_features.quantile(every, share) for share in (0.05, 0.5, 0.9)] == [0, 4, 4]
    assert simhash_features.quantile(np.zeros(65, np.int64), 0.5) is None


def test_words_do_not_see_their_order_and_shingles_do():
    text = prose(1, 300)
    turned = " ".join(reversed(text.split()))
    outcome = simhash_features.measure(corpus_of(text, turned, "a b c d e f", "a b c d e f!"), SEED)
    near = {name: columns["pairs"][0] for name, columns in outcome.series.items()}
    # Both ends of a pair are counted; one pair differs in a sign only.
    assert near["words"] == 4
    assert near["2 words"] == 2


def test_a_text_too_short_for_features_is_counted_as_missed():
    short, almost = "ab ab ab ab ab", "ab, ab, ab, ab, ab"
    texts = [short, almost, *(prose(seed) for seed in range(5))]
    outcome = simhash_features.measure(corpus_of(*texts), SEED)
    assert outcome.series["words"]["recall"][0] == 1
    assert simhash_features.Way("none", np.zeros(65, int), np.zeros(65, int), 2, 7).recall(64) == 0


def test_features_need_a_true_pair():
    with pytest.raises(FrontendError, match=r"has no two texts that resemble each other by 0\.8"):
        simhash_features.measure(corpus_of(prose(1), prose(2)), SEED)


# Never duplicated


def test_auc_matches_its_definition():
    rng = np.random.default_rng(SEED)
    scores, positive = rng.integers(6, size=60).astype(float), rng.random(60) < 0.4
    pairs = itertools.product(scores[positive], scores[~positive])
    assert never_duplicated.auc(scores, positive) == pytest.approx(np.mean([(a > b) + (a == b) / 2 for a, b in pairs]))
    assert never_duplicated.auc(scores, np.zeros(60, bool)) == 0.5


def test_hosts_and_scripts_are_read():
    names = ("https://a.org/x?y", "http://b.org:80/", "file.txt", "http://[bad", "urn:x")
    assert [never_duplicated.host(name) for name in names] == ["a.org", "b.org", None, None, None]
    texts = ("12 words", "слово word слово", "日本語の本", "", "12.5")
    assert [never_duplicated.script(text.encode()) for text in texts] == ["latin", "cyrillic", "cjk", "none", "none"]


def test_a_host_without_duplicates_need_not_be_searched():
    mirrored = [edited(prose(seed // 2, 400), 0.01 * (seed % 2), seed) for seed in range(80)]
    alone = [prose(1000 + seed) for seed in range(80)]
    names = tuple(f"http://{'mirror' if i < 80 else 'own'}.org/{i}" for i in range(160))
    outcome = never_duplicated.measure(corpus_of(*mirrored, *alone, names=names), SEED)
    claims = {claim.name: claim.ours for claim in outcome.claims}
    assert claims["documents never duplicated, at 0.5"] == 0.5
    assert claims["hosts never duplicated"] == 0.5
    row = next(row for row in outcome.tables[1].rows if row[0] == "host")
    assert row[1] == 1
    assert 0.3 < row[2] < 0.7
    assert row[3] == 0
    assert outcome.tables[2].rows == (("mirror.org", 80, 80, 0), ("own.org", 80, 0, 1))


def test_copies_count_as_duplicates_and_documents_are_counted(mixed: Corpus):
    outcome = never_duplicated.measure(mixed, SEED)
    claims = {claim.name: claim.ours for claim in outcome.claims}
    # Twelve families of five, sixty texts of which one stands there twice.
    assert claims["documents never duplicated, at 0.5"] == pytest.approx(59 / 121)
    assert any("no host is known" in note for note in outcome.notes)


# Signatures


def test_i_match_has_nothing_where_no_term_is_in_the_middle():
    texts = [f"common {'usual' if i % 2 else 'other'} rare{i}" for i in range(50)]
    columns, has = signatures.i_match(weighing.read([text.encode() for text in texts]), 0, SEED)
    # ln 2, of a word in every other text, is below a fifth of ln 50, of a word in one.
    assert not has.any()
    assert len(partners.by_agreement(columns, has, np.arange(50), 1)) == 0


def test_i_match_agrees_where_only_common_and_rare_terms_differ():
    middle = [f"m{i // 5}" for i in range(50)]
    texts = [f"common {word} rare{i}" for i, word in enumerate(middle)]
    columns, has = signatures.i_match(weighing.read([text.encode() for text in texts]), 3, SEED)
    assert has.all()
    first = columns[:, 0].tolist()
    assert all((first[i] == first[j]) == (middle[i] == middle[j]) for i, j in itertools.combinations(range(50), 2))


def test_what_is_empty_agrees_with_nothing():
    vectors = weighing.read([b"one", b"one two", b"all words are everywhere"])
    columns, has = signatures.checksums(vectors)
    assert has.all()
    filled = (columns[0] == columns[1]).sum()
    assert filled <= 1
    assert len(set(signatures._lonely(1000, 1)[:, 0].tolist())) == 1000


def test_one_changed_word_changes_at_most_two_checksums():
    text = prose(1, 200)
    changed = text.replace(text.split()[50], "another")
    columns, _ = signatures.checksums(weighing.read([text.encode(), changed.encode()]))
    assert signatures.BUCKETS - 2 <= (columns[0] == columns[1]).sum() < signatures.BUCKETS


def test_minhash_features_of_texts_with_the_same_shingles_agree():
    columns, has = signatures.features([prose(1).encode(), prose(1).upper().encode(), b"too short"], signatures.BRODER)
    assert has.tolist() == [True, True, False]
    assert columns.shape == (3, 6)
    assert (columns[0] == columns[1]).all()


def test_signatures_are_judged_by_exact_resemblance(mixed: Corpus):
    outcome = signatures.measure(mixed, SEED)
    columns = outcome.series["schemes"]
    found = simhashed.read(mixed)
    true = len(partners.by_resemblance(found.shingles, np.arange(len(found)), params.THRESHOLD.default))
    assert set(columns["positives"]) == {true}
    quality = dict(zip(columns["name"], zip(columns["precision"], columns["recall"], strict=True), strict=True))
    # Words that stand nowhere else: nothing but versions can agree.
    assert quality["minhash features of dedup"][1] > 0.95
    assert all(found <= 2 * 12 * 10 for found in columns["found"])


def test_signatures_need_a_true_pair():
    with pytest.raises(FrontendError, match=r"has no two texts that resemble each other by 0\.5"):
        signatures.measure(corpus_of(prose(1), prose(2)), SEED)


# Table designs


def patterns() -> np.ndarray:
    """All patterns of at most three differing bits."""
    made = [sum(1 << bit for bit in bits) for count in range(4) for bits in itertools.combinations(range(64), count)]
    return np.array(made, dtype=np.uint64)


@pytest.mark.parametrize("design", table_designs.DESIGNS[:6], ids=lambda design: design.name)
def test_every_design_looks_at_every_row_within_three_bits(design: table_designs.Design):
    every = patterns()
    assert len(every) == 43_745
    assert np.any([table.finds(every) for table in design.tables], axis=0).all()


def test_paper_manku2007_example_3_1():
    prefixes = {design.name: Counter(table.prefix for table in design.tables) for design in table_designs.COUNTED}
    assert prefixes == {
        "20 tables": {31: 4, 32: 12, 33: 4},
        "16 tables": {28: 16},
        "10 tables": {25: 4, 26: 6},
        "4 tables": {16: 4},
        "2 tables, radius 1": {32: 2},
    }
    for claim in table_designs._claims({"corpus": {one.name: np.zeros(1) for one in table_designs.COUNTED}}, 10)[:4]:
        # The paper's 2^34 are 2.147 times eight billion.
        assert claim.paper == pytest.approx(claim.ours * 2**34 / 8e9), claim.name


@pytest.mark.parametrize("design", table_designs.COUNTED, ids=lambda design: design.name)
def test_rows_of_a_query_match_naive(design: table_designs.Design):
    stored = clustered(4, 120)
    found = table_designs._rows(design, stored, np.arange(0, 120, 7))
    naive = [
        sum(int(table.finds(np.array([value ^ query]))[0]) for table in design.tables for value in stored)
        - len(design.tables)
        for query in stored[::7]
    ]
    assert found.tolist() == naive


def test_uniform_fingerprints_cost_what_theory_says():
    stored = np.random.default_rng(SEED).integers(1 << 64, size=200_000, dtype=np.uint64)
    design = next(one for one in table_designs.COUNTED if one.name == "4 tables")
    rows = table_designs._rows(design, stored, np.arange(1000))
    assert rows.mean() == pytest.approx(design.expected(200_000), rel=0.05)


def test_tables_of_any_number_find_what_a_scan_finds():
    stored = np.unique(clustered(6, 400))
    timings = table_designs.timed("test", stored, stored[:50])
    naive = len(partners.by_distance(stored, np.arange(50), table_designs.DISTANCE)) / 50
    assert [one.tables for one in timings] == list(table_designs.TIMED)
    assert {round(one.found, 9) for one in timings} == {round(naive, 9)}
    assert naive > 0.1


def test_clusters_make_queries_look_at_more(mixed: Corpus, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(table_designs, "UNIFORM", 2000)
    outcome = table_designs.measure(mixed, SEED)
    claims = {claim.name: claim.ours for claim in outcome.claims}
    assert claims["rows a query here over uniform, 10 tables"] > 100
    naive = outcome.tables[2].rows[5]
    assert (naive[1], naive[2]) == (1, 43_745)


@pytest.mark.parametrize("name", ["simhash-pr", "simhash-features", "never-duplicated", "signatures"])
def test_the_synthetic_corpus_is_said_to_prove_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made = corpus_of(*family(1, 0.01, 0.02), *family(2, 0.01))
    monkeypatch.setattr(simhashed.synthetic, "DESCRIPTION", made.description)
    outcome = lab._import(lab.module_of(name)).measure(made, SEED)
    assert any(note.startswith("put in by construction") for note in outcome.notes)
