"""The audit of a deduplication: exact on what it draws, undefined where it drew nothing, the same for the same seed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from lookalike.deduplication import audit as module
from lookalike.deduplication.audit import Audit, Share, audit
from lookalike.deduplication.job import opened
from lookalike.designs.stats import interval
from support.planted import texts

#: Words replaced so that of five-word shingles of 120 words 0.92 and 0.84 are left; 3 and 4 would leave 0.77 and 0.71.
CLOSE = (1, 2)


#: Lets the filter miss half of the pairs at the threshold.
CRIPPLED = 0.5


def audited(rows: Any, *, sample: int = module.SAMPLE, seed: int = 1, **chosen: Any) -> Audit:
    with opened(rows, **chosen) as (answer, _, _):
        return audit(answer, sample=sample, seed=seed)


def counts(share: Share) -> tuple[int, int]:
    return share.hits, share.trials


def brute_force(rows: Sequence[str], **chosen: Any) -> tuple[Audit, float, float]:
    """Return an audit of a part, and the truth about documents and pairs from all pairs there are."""
    with opened(list(rows), **chosen) as (answer, _, _):
        pairs = list(combinations(range(len(rows)), 2))
        scores = answer.core.scores(pairs, False)
        true = [pair for pair, score in zip(pairs, scores, strict=True) if (score or 0) >= answer.settings.threshold]
        found = {frozenset((pair.left, pair.right)) for pair in answer.pairs()}
        clustered = {row for row in range(len(rows)) if answer.survivors[row] != row} | set(answer.cluster_sizes)
        flagged = clustered | {row for pair in found for row in pair}
        known: dict[int, list[bool]] = {}
        for left, right in true:
            is_known = bool(answer.links[left] or answer.links[right] or frozenset((left, right)) in found)
            for row in (left, right):
                known.setdefault(row, []).append(is_known)
        documents = sum(row in flagged for row in known) / len(known)
        per_document = sum(sum(one) / len(one) for one in known.values()) / len(known)
        return audit(answer, sample=len(rows) // 2), documents, per_document


def test_everything_is_found_where_copies_are_close():
    found = audited(texts(300, 60, replaced=(0, 1)))
    assert counts(found.documents) == (120, 120)
    assert counts(found.pairs) == (30, 30)
    assert found.missed == ()


def test_a_sample_has_an_interval_and_all_of_them_have_none():
    rows = texts(300, 60, replaced=(0, 1))
    some, every = audited(rows, sample=180), audited(rows)
    assert some.documents.limits == interval(some.documents.hits, some.documents.trials)
    assert 0.9 < some.documents.limits[0] < 1
    assert every.documents.limits == (1, 1)
    low, high = some.partnered.limits
    assert low <= 120 / 360 <= high
    assert every.partnered.limits == (120 / 360, 120 / 360)


def test_a_crippled_filter_is_seen_through():
    found = audited(texts(300, 150, replaced=(4,)), threshold=0.7, recall=CRIPPLED)
    assert found.documents.trials == 300
    assert 90 < found.documents.hits < 210
    assert found.pairs.hits < found.pairs.trials
    assert found.missed
    assert all(one.resemblance >= 0.7 for one in found.missed)


@pytest.mark.parametrize("recall", [0.3, 0.5, 0.9, 0.995])
def test_the_intervals_hold_what_all_pairs_say(recall: float):
    found, documents, pairs = brute_force(texts(200, 100, replaced=(3, 4)), threshold=0.7, recall=recall)
    assert documents < 0.999 or recall > 0.9
    low, high = found.documents.limits
    assert low <= documents <= high
    low, high = found.pairs.limits
    assert low <= pairs <= high


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.8, 0.95])
def test_no_true_pair_escapes_the_search(threshold: float):
    rows = texts(60, 180, words=60, replaced=(0, 1, 2, 3, 4))
    with opened(rows, threshold=threshold) as (answer, _, _):
        pairs = list(combinations(range(len(rows)), 2))
        true = sum((score or 0) >= threshold for score in answer.core.scores(pairs, False))
        found = audit(answer)
    assert true
    assert sum(band.pairs for band in found.bands) == true


def test_a_passage_that_all_have_hides_no_pair():
    hot = " ".join(f"licence{number}" for number in range(40))
    rows = [f"{hot} {text}" for text in texts(150, 50, replaced=CLOSE)]
    with opened(rows) as (answer, _, _):
        pairs = list(combinations(range(len(rows)), 2))
        true = sum((score or 0) >= 0.8 for score in answer.core.scores(pairs, False))
        found = audit(answer)
    assert sum(band.pairs for band in found.bands) == true > 0


def test_every_row_that_goes_reaches_the_threshold():
    found = audited(texts(300, 300, replaced=(1, 2, 3, 6)))
    assert found.removed.trials > 100
    assert found.removed.hits == found.removed.trials


def test_rows_that_go_wrongly_are_seen():
    """Chains end at rows unlike their first one: that is what components do, and what precision is for."""
    text = [f"w{number}" for number in range(100)]
    chain = [
        " ".join(f"new{place}" if place < step * 2 else word for place, word in enumerate(text)) for step in range(20)
    ]
    found = audited(chain, clustering="components")
    assert found.removed.trials == 19
    assert found.removed.hits < 10


def test_the_same_seed_gives_the_same_audit():
    rows = texts(400, 200, replaced=(3, 4))
    first, again, other = (audited(rows, sample=100, threshold=0.7, seed=seed, recall=CRIPPLED) for seed in (1, 1, 2))
    assert first == again
    assert first.documents != other.documents or first.missed != other.missed


def test_threads_do_not_change_an_audit():
    rows = texts(200, 100, replaced=(3, 4))
    assert audited(rows, sample=100, threads=1) == audited(rows, sample=100, threads=2)


def test_nothing_drawn_is_undefined():
    found = audited(texts(50, 0))
    for share in (found.removed, found.documents, found.pairs):
        assert counts(share) == (0, 0)
        assert share.value is None
        assert share.to_json()["low"] is None


@pytest.mark.parametrize("rows", [[], [""], ["too short"], [None, None]])
def test_rows_without_shingles_are_told(rows: list[str | None]):
    found = audited(rows)
    assert counts(found.documents) == (0, 0)
    assert bool(found.notes) == bool(rows)


def test_identical_texts_need_no_audit():
    found = audited(texts(20, 20, replaced=(0,)), method="exact")
    assert counts(found.documents) == (0, 0)
    assert "none can be missed" in found.notes[0]


def test_against_a_corpus_only_pairs_with_it_count():
    rows = texts(100, 50, replaced=(1,))
    with opened(rows[100:] + rows[:10], against=rows[:40]) as (answer, _, _):
        found = audit(answer)
    # Forty copies of references and ten references again; ten copies have their partner nowhere.
    assert counts(found.documents) == (50, 50)
    assert counts(found.pairs) == (40, 40)


def test_what_is_swallowed_is_found_and_what_is_not_is_missed():
    whole = texts(80, 0, words=400)
    parts = [" ".join(text.split()[50 : 50 + length]) for text, length in zip(whole, [7, 60] * 40, strict=True)]
    found = audited(whole + parts, method="containment", threshold=0.9, modulus=32)
    assert found.documents.trials >= 80
    assert found.documents.hits < found.documents.trials
    assert audited(whole + parts, method="containment", threshold=0.9, modulus=1).missed == ()


def test_of_very_many_candidates_some_are_scored_and_that_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "CANDIDATES", 20)
    monkeypatch.setattr(module, "HOLDERS", 5)
    found = audited(texts(1, 300, replaced=(0, 1)))
    assert found.comparisons < 301 * 20 + 600
    assert any("very many" in note for note in found.notes)


def test_in_a_giant_cluster_every_document_has_its_partner():
    found = audited(texts(1, 2_000, words=60, replaced=(1,)), sample=500, threshold=0.6)
    assert counts(found.partnered) == (500, 500)
    assert counts(found.documents) == (500, 500)


def test_of_long_documents_fewer_are_drawn_and_that_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "SHINGLES", 10_000)
    found = audited(texts(200, 100, replaced=(1,)))
    assert 80 <= found.drawn <= 86
    assert counts(found.documents) == (found.partnered.hits, found.partnered.hits)
    assert found.notes == (f"recall: {found.drawn} of 300 rows were drawn",)


def test_of_very_many_rows_some_are_searched_and_that_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "ROWS", 100)
    found = audited(texts(200, 100, replaced=(1,)))
    assert found.searched == 100
    assert 0 < found.documents.trials < 200
    assert any("drawn from 300" in note for note in found.notes)


def test_rows_of_files_are_read_again(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    good = [f'{{"text": "{text}"}}' for text in texts(100, 50, replaced=CLOSE)]
    path.write_text("\n".join(["{broken", *good, "", '{"text": null}']) + "\n")
    found = audited([path])
    assert found.documents.trials == 100
    assert found.missed == ()


@pytest.mark.parametrize(
    ("hits", "trials", "limits"),
    [
        # Clopper and Pearson 1934 and any table: exact by their definition.
        (0, 10, (0, 0.3085)),
        (10, 10, (0.6915, 1)),
        (5, 10, (0.1871, 0.8129)),
        (200, 200, (0.9817, 1)),
        (0, 0, (0, 1)),
    ],
)
def test_intervals_are_those_of_the_tables(hits: int, trials: int, limits: tuple[float, float]):
    assert interval(hits, trials) == pytest.approx(limits, abs=6e-5)
