"""Deduplication by simhash: who goes, what the scores are, and what is refused."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

import lookalike as la
from support.dedups import cells, command, corpus, lines, truth
from support.planted import texts

ROWS = corpus()
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(ROWS))
    return path


def distance(left: str | None, right: str | None) -> int:
    a, b = la.simhash(left or ""), la.simhash(right or "")
    return 64 if a is None or b is None else (a ^ b).bit_count()


def near(found: list[str], limit: int) -> set[tuple[int, int]]:
    """All pairs within the distance, by comparing every text with every other; identical texts are left out."""
    made = [la.simhash(text) for text in found]
    return {
        (i, j)
        for i, j in combinations(range(len(found)), 2)
        if found[i] != found[j] and made[i] is not None and (made[i] ^ made[j]).bit_count() <= limit
    }


@pytest.mark.parametrize("limit", [0, 3, 6, 10])
def test_all_pairs_within_the_distance_are_found(limit: int):
    given = texts(150, 60, replaced=(1, 2, 3, 4))
    found = la.dedup(given, method="simhash", distance=limit, no_verify=True, clustering="components")
    pairs = {(pair.left, pair.right) for pair in found.pairs()}
    assert pairs == near(given, limit)
    assert found.capped == []
    assert limit == 0 or pairs


def test_what_goes_is_near_and_resembles():
    given = texts(150, 60, replaced=(1, 2, 4, 8))
    found = la.dedup(given, method="simhash", distance=8, threshold=0.7)
    assert found.gone
    for row in found.gone:
        survivor = found.survivors[row]
        assert distance(given[row], given[survivor]) <= 8
        resemblance = la.resemblance(given[row], given[survivor], shingle=5)
        assert resemblance is not None
        assert resemblance >= 0.7
        assert found.resemblances[row] == pytest.approx(resemblance)


def test_without_verification_the_distance_is_the_score(rows: Path, tmp_path: Path, capfd: Capture):
    pairs, clusters = tmp_path / "pairs.csv", tmp_path / "clusters.csv"
    options = ["--method", "simhash", "--no-verify", "--pairs", pairs, "--clusters", clusters]
    printed = command(capfd, "dedup", rows, *options).out
    assert "not verified: every removed row has a fingerprint within 3 bits of the row kept for it" in printed
    text = {row.id: row.text for row in ROWS}
    header, *found = cells(pairs)
    assert header[:4] == ["left", "right", "distance", "link"]
    assert found
    assert all(int(bits) == distance(text[left], text[right]) <= 3 for left, right, bits, *_ in found)
    assert {one[3] for one in found} == {"identical", "distance"}
    header, *found = cells(clusters)
    assert header[:5] == ["id", "cluster", "representative", "distance", "link"]
    assert all(int(one[3]) == distance(text[one[0]], text[one[2]]) for one in found)


def test_a_chain_of_distances_is_told(tmp_path: Path, capfd: Capture):
    """Item by item near, end to end far: what is printed, counted and stored is the distance to the row that stays."""
    given = [" ".join(f"w{i}" for i in range(start, start + 300)) for start in range(0, 240, 12)]
    path, ledger = tmp_path / "rows.jsonl", tmp_path / "gone.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in given), "utf-8")
    options = ["--method", "simhash", "--no-verify", "--distance", 8, "--clustering", "components"]
    printed = command(capfd, "dedup", path, "-o", tmp_path / "clean.jsonl", "--ledger", ledger, *options).out
    _, *gone = (json.loads(line) for line in ledger.read_text().splitlines())
    far = [one for one in gone if distance(given[one["row"]], given[one["survivor"]["row"]]) > 8]
    assert far
    assert "clusters are linked by pairs with fingerprints within 8 bits of each other" in printed
    assert f"removed rows farther than that from the row kept for them: {len(far)}" in printed
    assert all(one["distance"] == distance(given[one["row"]], given[one["survivor"]["row"]]) for one in gone)
    assert {one["basis"] for one in gone} == {"distance"}


def test_verified_pairs_tell_resemblance_and_distance(rows: Path, tmp_path: Path, capfd: Capture):
    pairs = tmp_path / "pairs.csv"
    printed = command(capfd, "dedup", rows, "--method", "simhash", "--distance", 6, "--pairs", pairs).out
    assert "verified pairs within 6 bits: every removed row has resemblance ≥ 0.8 with the row kept for it" in printed
    header, *found = cells(pairs)
    assert header[:5] == ["left", "right", "resemblance", "distance", "link"]
    number = {row.id: at for at, row in enumerate(ROWS)}
    known = truth(ROWS)
    for left, right, resemblance, bits, *_ in found:
        assert float(resemblance) == pytest.approx(known[number[left], number[right]], abs=1e-4)
        assert int(bits) <= 6


def test_the_ledger_gives_the_input_back(rows: Path, tmp_path: Path, capfd: Capture):
    clean, again, ledger = tmp_path / "clean.jsonl", tmp_path / "again.jsonl", tmp_path / "gone.jsonl"
    options = ["--method", "simhash", "--no-verify", "--ledger", ledger]
    command(capfd, "dedup", rows, "-o", clean, *options)
    header, *gone = (json.loads(line) for line in ledger.read_text().splitlines())
    assert header["parameters"]["distance"] == 3
    assert {one["method"] for one in gone} == {"simhash"}
    text = [row.text for row in ROWS]
    for one in gone:
        assert "resemblance" not in one, "none was measured"
        assert one["distance"] == distance(text[one["row"]], text[one["survivor"]["row"]]) <= 3
        assert one["basis"] == ("identical" if text[one["row"]] == text[one["survivor"]["row"]] else "distance")
    command(capfd, "dedup", clean, "--restore", ledger, "-o", again)
    assert again.read_bytes() == rows.read_bytes()


def test_length_decides_who_may_be_paired():
    base = " ".join(f"w{i}" for i in range(50))
    given = [base, " ".join([base] * 3)]
    assert la.simhash(given[0]) == la.simhash(given[1]), "the same words three times as often"
    alone = la.dedup(given, method="simhash", no_verify=True, length_within=0.2)
    assert alone.gone == []
    assert la.dedup(given, method="simhash", no_verify=True).gone == [1]


def test_texts_without_features_are_not_near_each_other():
    found = la.dedup(["?!", "…", "", "!?"], method="simhash", no_verify=True)
    assert found.gone == []


def test_the_answer_does_not_depend_on_threads_or_memory():
    given = texts(400, 200)
    answers = [
        list(la.dedup(given, method="simhash", threads=threads, memory=memory).survivors)
        for threads, memory in ((1, "4GiB"), (2, "16MiB"))
    ]
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "simhash", "--distance", "11"], "--distance `11` must be 0 to 10"),
        (["--method", "simhash", "--distance", "-1"], "--distance `-1` must be 0 to 10"),
        (["--method", "simhash", "--clustering", "greedy"], "--clustering `greedy` needs sketches"),
        (["--method", "simhash", "--length-within", "20"], "--length-within `20.0` must be 0 to 1"),
        (["--no-verify"], "--no-verify leaves the decision to the filter, and none was given"),
        (["--method", "simhash", "--no-verify", "--report", "report"], "--report and --no-verify cannot be combined"),
    ],
)
def test_what_cannot_be_done_is_said(rows: Path, tmp_path: Path, capfd: Capture, options: list[str], message: str):
    done = command(capfd, "dedup", rows, "-o", tmp_path / "clean.jsonl", *options, expected=2)
    assert message in done.err
