"""An index that keeps features alone tells, unverified, whatever shares r of k features, and stores nothing else."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.archive.answers import Seen
from lookalike.archive.parameters import Parameters
from lookalike.archive.store import Index
from lookalike.cli.main import cli
from lookalike.errors import ParameterError, VersionError
from oracles import features
from support.archives import TINY, fast_folder

SHINGLE = 2
TEXTS = st.lists(st.sampled_from(list("abcdefgh")), min_size=1, max_size=9).map(" ".join)
FILTERS = [(4, 1, 1), (4, 1, 2), (3, 2, 2), (5, 1, 3)]


@cache
def features_of(text: str, k: int, s: int) -> list[int]:
    return features.features(list(la.stream(text, unit="word").tokens), k, s, SHINGLE, "fast")


def shared(left: str, right: str, k: int, s: int) -> int:
    return sum(map(int.__eq__, features_of(left, k, s), features_of(right, k, s)))


def told(
    documents: Sequence[tuple[str, str]], text: str, filter_: tuple[int, int, int]
) -> list[tuple[str, int, float]]:
    """Id, copies and estimate of each content that shares r features: the nearest first, then by arrival."""
    k, s, r = filter_
    contents: dict[str, list[str]] = {}
    for id_, one in documents:
        contents.setdefault(one, []).append(id_)
    found = [(ids[0], len(ids), shared(text, one, k, s)) for one, ids in contents.items()]
    passing = sorted((one for one in found if one[2] >= r), key=lambda one: -one[2])
    return [(id_, copies, (count / k) ** (1 / s)) for id_, copies, count in passing]


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, max_size=14), st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(FILTERS), st.booleans())
def test_answers_match_the_oracle(
    texts: list[str], questions: list[str], filter_: tuple[int, int, int], is_compacted: bool
):
    parameters = Parameters.of("corpus", features_only=True, filter=filter_, shingle=SHINGLE)
    documents = [(f"{number}", text) for number, text in enumerate(texts)]
    with fast_folder() as folder, Index._create(folder / "index", parameters, TINY) as index:
        index.add(documents)
        if documents:
            index.remove(documents.pop(0)[0])
        if is_compacted:
            index.compact()
        for text in questions:
            expected = told(documents, text, filter_)
            answer = index.query(text, question="resemblance").answers[0]
            found = [(one.id, one.copies, one.resemblance.value) for one in answer.matches]
            assert [one[:2] for one in found] == [one[:2] for one in expected]
            assert all(math.isclose(one[2], other[2]) for one, other in zip(found, expected, strict=True))
            assert not any(one.resemblance.is_exact for one in answer.matches)
            check_seen(index.seen(text), [id_ for id_, one in documents if one == text], expected)
        assert index.check() == []


def check_seen(seen: Seen, identical: list[str], expected: list[tuple[str, int, float]]) -> None:
    assert bool(seen) == bool(identical or expected)
    assert seen.is_identical == bool(identical)
    if identical or expected:
        assert seen.nearest.id == (identical[0] if identical else expected[0][0])
    else:
        assert seen.nearest is None


def words(rng: random.Random, count: int) -> list[str]:
    return [f"word{rng.randrange(10**6)}" for _ in range(count)]


@pytest.fixture
def corpus(tmp_path: Path):
    rng = random.Random(3)
    with la.Index.create(tmp_path / "index", kind="corpus", features_only=True) as index:
        documents = [(f"{number:08}", " ".join(words(rng, 60))) for number in range(2_000)]
        index.add(documents)
        index.compact()
        yield index, documents


def test_a_document_takes_48_bytes_of_features_and_little_else(corpus):
    index, documents = corpus
    (segment, _), *others = index.snapshot().parts
    assert not others
    sizes = {name: size / len(documents) for name, _, size in segment.sizes()}
    assert set(sizes) == {"documents", "ids", "contents", "features", "parameters"}
    assert {name: rows for name, rows, _ in segment.sizes()}["features"] == 6 * len(documents)
    # Keys of 8 bytes, sorted and packed, with their rows; then id (8), content hash (16) and metadata.
    assert sizes["features"] <= 6 * 10
    assert sum(sizes.values()) <= 120


def test_a_near_copy_is_seen_and_says_that_nothing_is_verified(corpus):
    index, documents = corpus
    text = documents[7][1]
    near = text + " end"
    seen = index.seen(near)
    assert seen
    assert seen.nearest.id == documents[7][0]
    assert not seen.nearest.resemblance.is_exact
    assert 0.9 < seen.nearest.resemblance.value <= seen.nearest.resemblance.high <= 1
    assert "nothing is verified" in seen.certificate
    assert "share 2 of 6 features" in seen.certificate
    assert f"0.9: {100 * la.Filter(6, 14, 2).accept(0.9):.1f} %" in seen.certificate
    assert index.seen(text).is_identical
    assert not index.seen("something else that nobody has written down here before")
    assert [bool(one) for one in index.seen_many([near, "nothing of the kind is there at all"])] == [True, False]


def test_filters_have_the_curve_that_the_certificate_tells(tmp_path: Path):
    """Of pairs of one resemblance, as many pass as the formula says, within five standard deviations."""
    rng, chosen = random.Random(5), la.Filter(4, 3, 2)
    pairs = [(base := words(rng, 40), [*base[:-3], *words(rng, 3)]) for _ in range(400)]
    with la.Index.create(tmp_path / "index", kind="corpus", features_only=True, filter="4,3,2", shingle=1) as index:
        index.add([(f"{number}", " ".join(left)) for number, (left, _) in enumerate(pairs)])
        passed = sum(bool(index.seen(" ".join(right))) for _, right in pairs)
    expected = chosen.accept(37 / 43)
    assert abs(passed / 400 - expected) < 5 * math.sqrt(expected * (1 - expected) / 400)


def test_what_features_cannot_answer_is_refused(tmp_path: Path):
    with pytest.raises(ParameterError, match="features_only answers resemblance alone"):
        la.Index.create(tmp_path / "none", kind="corpus", features_only=True, without=["resemblance"])
    assert not (tmp_path / "none").exists()
    with la.Index.create(tmp_path / "index", kind="corpus", features_only=True) as index:
        assert index.parameters.dedup.filter == (6, 14, 2)
        assert index.parameters.questions == ("resemblance",)
        assert not index.parameters.texts
        for question in ("passages", "containment", "distance"):
            with pytest.raises(ParameterError, match="was left out when the index was created"):
                index.query("a text", question=question)
        with pytest.raises(ParameterError, match="threshold has no effect"):
            index.query("a text", threshold=0.5)
    with pytest.raises(VersionError, match="was made without texts"):
        la.dedup(["a text"], index=tmp_path / "index")


def test_the_command_makes_it_and_asks_it(tmp_path: Path):
    index, rows = str(tmp_path / "index"), tmp_path / "rows.jsonl"
    text = " ".join(f"word{number}" for number in range(80))
    rows.write_text(json.dumps({"id": "a", "text": text}) + "\n", encoding="utf-8")
    asked = tmp_path / "asked.txt"
    asked.write_text(text + " end", encoding="utf-8")
    run = CliRunner()
    made = run.invoke(cli, ["index", "create", index, "--for", "corpus", "--features-only", "--filter", "6,14,2"])
    assert made.exit_code == 0, made.output
    assert run.invoke(cli, ["index", "add", index, str(rows), "--id-column", "id"]).exit_code == 0
    seen = run.invoke(cli, ["seen", index, str(asked), "--json"])
    found = json.loads(seen.stdout)
    assert found["seen"]
    assert found["nearest"]["id"] == "a"
    assert not found["nearest"]["resemblance"]["exact"]
    assert "nothing is verified" in found["certificate"]
