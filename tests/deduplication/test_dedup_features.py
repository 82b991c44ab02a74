"""Filters that were asked for, features of documents, and a deduplication by features alone."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

import lookalike as la
from lookalike.deduplication.settings import settings
from lookalike.errors import ParameterError
from oracles import features as oracle
from support.submissions import run


def values(text: str) -> list[int]:
    return la.stream(text, unit="word").tokens.tolist()


def variants(seed: int, count: int = 14) -> list[str]:
    """Texts of which each has some words of an earlier one replaced."""
    rng = random.Random(seed)
    texts: list[list[str]] = []
    for number in range(count):
        fresh = not texts or rng.random() < 0.3
        words = [f"{rng.random():.6f}" for _ in range(rng.randint(120, 200))] if fresh else list(rng.choice(texts))
        for _ in range(0 if fresh else rng.randint(1, 2)):
            words[rng.randrange(len(words))] = f"n{number}{rng.random():.4f}"
        texts.append(words)
    return list(dict.fromkeys(" ".join(words) for words in texts))


@pytest.mark.parametrize("sketch", ["fast", "permutations"])
@pytest.mark.parametrize("filter", [(6, 14, 2), (8, 6, 3), (5, 2, 4), (4, 8, 1)])
def test_the_filter_alone_decides_as_the_oracle_does(sketch: str, filter: tuple[int, int, int]):
    texts = variants(sum(filter))
    found = la.dedup(texts, filter=filter, no_verify=True, sketch=sketch)
    assert list(found.survivors) == oracle.deduplicated([values(text) for text in texts], *filter, 5, sketch)
    assert len(found.gone) == found.removed["filter"] > 0


@pytest.mark.parametrize("filter", [(6, 14, 2), (8, 6, 3), (5, 2, 4), (4, 8, 1)])
def test_a_filter_that_was_asked_for_proposes_the_pairs(filter: tuple[int, int, int]):
    texts = variants(sum(filter))
    of = [oracle.features(values(text), *filter[:2], 5, "fast") for text in texts]
    found = la.dedup(texts, filter=filter, threshold=0.5)
    assert str(found.settings.filter) == str(filter)
    assert found.settings.size == filter[0] * filter[1]
    links = [(found.survivors[row], row) for row in found.gone]
    assert links
    for left, right in links:
        assert sum(a == b for a, b in zip(of[left], of[right], strict=True)) >= filter[2]
        assert (la.resemblance(texts[left], texts[right]) or 0) >= 0.5


def test_the_link_says_filter_and_the_summary_not_verified(tmp_path: Path):
    texts = variants(5)
    table = tmp_path / "clusters.csv"
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, text in enumerate(texts):
        (folder / f"{number:02}.txt").write_text(text, encoding="utf-8")
    ran = run("dedup", folder, "--filter", "6,14,2", "--no-verify", "--clusters", table)
    assert ran.code == 0, ran.err
    assert "not verified: every removed row was linked to the row kept for it by at least 2 of 6 features" in ran.out
    assert "expected share of pairs accepted, by resemblance: " in ran.out
    assert f"{la.Filter(6, 14, 2).accept(0.5):.2g} at 0.5" in ran.out
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert {row["link"] for row in rows} == {"survives", "filter"}
    assert all(2 <= int(row["features"]) <= 6 for row in rows if row["link"] == "filter")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"filter": "6,14,2", "method": "simhash"}, "filter has no effect with method `simhash`"),
        ({"filter": "6,14,2", "method": "exact"}, "filter has no effect with method `exact`"),
        ({"filter": "6,14,2", "method": "containment"}, "filter has no effect with method `containment`"),
        ({"filter": "6,14,2", "size": 128}, "size `128` contradicts filter `6,14,2`, which takes 6·14 = 84 elements"),
        ({"filter": "6,14,2", "clustering": "greedy"}, "clustering `greedy` compares sketches and uses no filter"),
        ({"filter": "20,4,10"}, "filter `20,4,10` makes 184,756 groups of 10 features per document"),
        ({"filter": "six"}, "filter `six` is not k,s,r"),
        ({"no_verify": True}, "no_verify leaves the decision to the filter, and none was given"),
        ({"no_verify": True, "method": "exact"}, "no_verify has no effect with method `exact`"),
    ],
)
def test_contradictions_are_refused_by_name(given: dict[str, object], message: str):
    with pytest.raises(ParameterError, match=message):
        settings(**given)


def test_a_size_that_the_filter_takes_is_no_contradiction():
    assert settings(filter="6,14,2", size=84).size == 84
    assert settings().size == 128


@pytest.mark.parametrize("method", ["minhash", "containment", "simhash"])
def test_lengths_limit_pairs_of_every_method(method: str):
    text = " ".join(f"word{i}" for i in range(200))
    longer = text + " " + " ".join(f"more{i}" for i in range(12))
    chosen = {"threshold": 0.5, "method": method} | ({"distance": 10, "modulus": 1} if method == "simhash" else {})
    if method != "containment":
        chosen.pop("modulus", None)
    assert len(la.dedup([text, longer], **chosen).gone) == 1
    assert len(la.dedup([text, longer], length_within=12 / 212, **chosen).gone) == 1
    assert len(la.dedup([text, longer], length_within=0.05, **chosen).gone) == 0


def test_lengths_limit_what_features_alone_would_pair():
    text = " ".join(f"word{i}" for i in range(400))
    longer = text + " more words"
    chosen = {"filter": "20,2,1", "no_verify": True}
    assert la.dedup([text, longer], **chosen).removed["filter"] == 1
    assert la.dedup([text, longer], length_within=0.001, **chosen).removed["filter"] == 0


@pytest.mark.parametrize("chosen", [{}, {"clustering": "components"}, {"clustering": "greedy"}])
def test_texts_without_a_common_known_language_are_not_paired(chosen: dict[str, str]):
    english = "this is the house that was built by the man who lived in it with all of his children and the dog "
    german = "das ist das haus und der mann der in ihm mit allen seinen kindern und dem hund nicht gelebt hat "
    same = [english * 2 + "one", english * 2 + "two"]
    names = " ".join(f"name{i}" for i in range(80))
    unknown = [names + " a", names + " b"]
    mixed = [german + names, english + names]
    for texts, without, with_limit in ((same, 1, 1), (unknown, 1, 0), (mixed, 1, 0)):
        assert len(la.dedup(texts, threshold=0.4, **chosen).gone) == without
        assert len(la.dedup(texts, threshold=0.4, same_language=True, **chosen).gone) == with_limit


def test_identical_texts_are_paired_whatever_the_limits():
    assert len(la.dedup(["x y z"] * 2, method="exact", length_within=0.0, same_language=True).gone) == 1


def test_fewer_bits_merge_shingles_as_the_definition_says():
    texts = variants(9, 12)
    found = la.dedup(texts, threshold=0.3, bits=16)
    assert found.settings.shown["bits"] == 16
    of = [oracle.ids(values(text), 5, 16) for text in texts]
    assert found.gone
    for row in found.gone:
        left, right = of[found.survivors[row]], of[row]
        if la.deduplication.result.LINKS[found.links[row]] == "exact":
            assert found.resemblances[row] == pytest.approx(len(left & right) / len(left | right), abs=1e-6)
