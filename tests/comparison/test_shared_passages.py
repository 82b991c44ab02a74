"""The list of shared passages: pairs below the cut-off with a passage that is worth a look by itself."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest

import lookalike as la
from lookalike.comparison.result import Pair, Report
from oracles.compare import Handed, Source
from support.answers import asked, cut_to, product, programs
from support.programs import carrying_class
from support.submissions import prose, run, statements, wrapped, write

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def named(report: Report, pair: Pair) -> set[str]:
    return {report.entries[end].name for end in (pair.left, pair.right)}


@pytest.mark.parametrize("language", ["python", "java", "c"])
@pytest.mark.parametrize("max_sharing", [None, 3])
def test_programs_are_listed_as_the_oracle_does(language: str, max_sharing: int | None):
    handed = programs(language, 1)
    starter = (Source(language, wrapped(statements(1, language, 6), language)),)
    listed = 0
    for templates in ((), starter):
        for least in (1, 20, 35, 60):
            for min_score in (0.2, 0.4, 1.0):
                passages = {language: least, "text": 2 * least}
                how = {"min_score": min_score, "max_sharing": max_sharing, "k": 8, "t": 12, "passages": passages}
                found = product(handed, templates, **how)  # type: ignore[arg-type]
                assert found == asked(handed, templates, **how), (least, min_score)
                listed += len(found.shared)
    assert listed > 50


def test_code_that_cannot_run_is_worth_as_much_in_a_passage():
    listed = 0
    for seed in range(20):
        chance = random.Random(seed)
        texts = carrying_class(chance, chance.randint(3, 7))
        handed = [Handed(f"s{i}", (Source("java", text),)) for i, text in enumerate(texts)]
        for least in (10, 20, 40):
            how = {"min_score": 0.9, "min_contained": 1.0, "k": 4, "t": 8, "passages": {"java": least}}
            found = product(handed, **how)  # type: ignore[arg-type]
            assert found == asked(handed, **how), f"seed {seed}, from {least} tokens on"
            listed += len(found.shared)
    assert listed > 5


def letters(seed: int, count: int) -> str:
    """Return letters in which no run of eight occurs twice."""
    return "".join(random.Random(seed).choices(ALPHABET, k=count))


@pytest.mark.parametrize(("left", "right", "is_listed"), [(400, 400, True), (401, 3, False), (3, 401, False)])
@pytest.mark.parametrize("is_crossed", [False, True])
@pytest.mark.parametrize("k", [8, 10])
def test_passages_of_prose_belong_together_up_to_400_letters_apart(
    left: int, right: int, is_listed: bool, is_crossed: bool, k: int
):
    """Each of the two passages alone is worth too little, whichever comes first on the right.

    With k = t no halo reaches beyond a passage, so the bounds are as sharp as the definition.
    """
    one, two = letters(1, 40), letters(2, 40)
    first, second = (two, one) if is_crossed else (one, two)
    # A digit at each end keeps what lies between from matching a passage's neighbours.
    a = letters(3, 900) + one + f"1{letters(4, left - 2)}2" + two + f"3{letters(5, 900)}"
    b = letters(6, 900) + first + f"4{letters(7, right - 2)}5" + second + f"6{letters(8, 900)}"
    handed = [Handed("a", (Source("text", a),)), Handed("b", (Source("text", b),))]
    how = {"min_score": 0.5, "k": k, "t": 10, "passages": {"text": 80}}
    found = product(handed, **how)  # type: ignore[arg-type]
    assert found == asked(handed, **how)
    assert len(found.shared) == is_listed


@pytest.mark.parametrize(("least", "is_listed"), [(40, True), (41, False)])
def test_a_passage_that_two_have_is_worth_its_letters(least: int, is_listed: bool):
    handed = [
        Handed("a", (Source("text", letters(1, 300) + letters(2, 40) + letters(3, 300)),)),
        Handed("b", (Source("text", letters(4, 300) + letters(2, 40) + letters(5, 300)),)),
    ]
    how = {"min_score": 0.5, "k": 8, "t": 10, "passages": {"text": least}}
    found = product(handed, **how)  # type: ignore[arg-type]
    assert found == asked(handed, **how)
    assert len(found.shared) == is_listed


def pair_of(a: str, b: str) -> list[Handed]:
    return [Handed("a", (Source("text", a),)), Handed("b", (Source("text", b),))]


@pytest.mark.parametrize("is_turned", [False, True])
def test_passages_of_prose_belong_together_if_a_third_connects_them(is_turned: bool):
    """On one side the middle one stands first; the two others are too far apart on the other side."""
    ends, middle = [letters(1, 40), letters(2, 40)], letters(3, 40)
    a = "".join(f"{piece}{i}{letters(10 + i, 20)}" for i, piece in enumerate([middle, *ends]))
    b = f"{ends[0]}7{letters(20, 300)}{middle}8{letters(21, 300)}{ends[1]}9"
    rest = [letters(30, 900), letters(31, 900)]
    handed = pair_of(*((b + rest[1], a + rest[0]) if is_turned else (a + rest[0], b + rest[1])))
    for least, is_listed in ((120, True), (121, False)):
        how = {"min_score": 0.5, "k": 8, "t": 10, "passages": {"text": least}}
        found = product(handed, **how)  # type: ignore[arg-type]
        assert found == asked(handed, **how)
        assert len(found.shared) == is_listed


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_strong_passage_is_found_before_and_after_weaker_ones(place: int):
    pieces = [letters(1 + i, 40 if i == place else 12) for i in range(3)]
    a, b = ("".join(f"{piece}{i}{letters(10 + i, 500)}" for i, piece in enumerate(pieces, n)) for n in (1, 5))
    for least, is_listed in ((40, True), (41, False)):
        how = {"min_score": 0.5, "k": 8, "t": 10, "passages": {"text": least}}
        found = product(pair_of(a, b), **how)  # type: ignore[arg-type]
        assert found == asked(pair_of(a, b), **how)
        assert len(found.shared) == is_listed


@pytest.mark.parametrize("apart", [0, 400, 401])
@pytest.mark.parametrize("is_turned", [False, True])
def test_what_everybody_has_connects_what_two_have(apart: int, is_turned: bool):
    """Everybody's part is in each tail; the two others are worth too little alone, and lie far apart."""
    one, everybody, two = letters(1, 40), letters(2, 420), letters(3, 40)
    texts = [f"{letters(10 + i, 60)}{i % 10}{everybody}{i % 7}" for i in range(12)]
    for i in (2, 9):
        gap = f"{i}{letters(30 + i, apart - 2)}{i // 2}" if apart else ""
        pieces = (two, gap, everybody, one) if is_turned else (one, everybody, gap, two)
        texts[i] = letters(50 + i, 100) + "".join(pieces) + str(i)
    handed = [Handed(f"s{i:02}", (Source("text", text),)) for i, text in enumerate(texts)]
    how = {"min_score": 0.9, "min_contained": 1.0, "k": 10, "t": 10, "passages": {"text": 80}}
    found = product(handed, **how)  # type: ignore[arg-type]
    assert found == asked(handed, **how)
    assert [pair[:2] for pair in found.shared] == [(2, 9)] * (apart <= 400)  # type: ignore[index]


@pytest.mark.parametrize("is_turned", [False, True])
def test_a_passage_is_worth_what_it_is_on_the_side_where_it_is_worth_less(is_turned: bool):
    """On one side its first four letters end a run of the template."""
    given, shared = letters(1, 30), letters(2, 40)
    texts = [f"{letters(3, 300)}{given}{shared}1{letters(4, 300)}", f"{letters(5, 300)}2{shared}3{letters(6, 300)}"]
    handed = pair_of(*(reversed(texts) if is_turned else texts))
    for least, is_listed in ((36, True), (37, False), (40, False)):
        how = {"min_score": 0.5, "k": 8, "t": 10, "passages": {"text": least}}
        found = product(handed, (Source("text", given + shared[:4]),), **how)  # type: ignore[arg-type]
        assert found == asked(handed, (Source("text", given + shared[:4]),), **how)
        assert len(found.shared) == is_listed
        # No bound leaves a pair of the main list out, so its strongest passage is told or not by the definition alone.
        (pair,) = product(handed, (Source("text", given + shared[:4]),), **how | {"min_score": 0.0}).pairs  # type: ignore[arg-type]
        assert (pair[-2] is not None) == is_listed  # type: ignore[index]


def test_a_pair_with_a_strong_passage_needs_evidence_and_bits():
    shared = letters(1, 40)
    handed = pair_of(f"{letters(2, 300)}1{shared}2{letters(3, 300)}", f"{letters(4, 300)}3{shared}4{letters(5, 300)}")
    how = {"min_score": 0.5, "k": 8, "t": 10, "passages": {"text": 40}}
    (pair,) = asked(handed, **how).shared
    bits = int(pair[9])  # type: ignore[index]
    for least, is_listed in (
        ({"min_evidence": 40}, True),
        ({"min_evidence": 41}, False),
        ({"min_bits": bits}, True),
        ({"min_bits": bits + 1}, False),
    ):
        found = product(handed, **how, **least)  # type: ignore[arg-type]
        assert found == asked(handed, **how, **least)
        assert len(found.shared) == is_listed


@pytest.mark.parametrize(("holders", "is_listed"), [(2, True), (7, True), (8, False), (24, False)])
def test_what_too_many_have_lists_nobody_however_long_it_is(holders: int, is_listed: bool):
    """Of 24 submitters, 7 make a token worth just over one half, and 8 just under it."""
    common = letters(1, 900)
    texts = [letters(10 + i, 900) + (common if i < holders else "") + letters(50 + i, 900) for i in range(24)]
    handed = [Handed(f"s{i:02}", (Source("text", text),)) for i, text in enumerate(texts)]
    how = {"min_score": 0.9, "k": 8, "t": 10, "passages": {"text": 40}}
    found = product(handed, **how)  # type: ignore[arg-type]
    assert found == asked(handed, **how)
    assert len(found.shared) == (holders * (holders - 1) // 2 if is_listed else 0)


def test_what_many_have_counts_neither_for_the_list_nor_for_its_order():
    common, planted = letters(1, 900), letters(3, 200)
    texts = [letters(10 + i, 900) + common + letters(50 + i, 900) for i in range(24)]
    for i in (20, 21):
        texts[i] += planted + letters(90 + i, 300)
    handed = [Handed(f"s{i:02}", (Source("text", text),)) for i, text in enumerate(texts)]
    how = {"min_score": 0.9, "k": 8, "t": 10, "passages": {"text": 40}}
    found = product(handed, **how)  # type: ignore[arg-type]
    assert found == asked(handed, **how)
    ((left, right, *_, passages, _, _, _, _, _, strongest, _),) = found.shared  # type: ignore[misc]
    assert (left, right) == (20, 21)
    bits = {passage[2]: passage[7] for passage in passages}
    assert strongest == bits[200] < bits[900]


def test_groups_old_submissions_and_persons_are_paired_as_everywhere():
    shared = prose(1, 20)
    same = Source("text", f"{prose(2, 80)} {shared}")
    handed = [Handed(f"s{i:02}", (same,), "s", i in (3, 4)) for i in range(40)]
    handed += [Handed(f"v{i:02}", (Source("text", prose(40 + i, 80)),)) for i in range(12)]
    handed += [Handed(f"t{i}", (Source("text", f"{shared} {prose(10 + i, 80)}"),), None, i == 1) for i in range(3)]
    handed += [Handed("u", (Source("text", f"{shared} {prose(20, 80)}"),), "t0")]
    how = {"min_score": 0.6, "k": 8, "t": 12, "passages": {"text": 1}}
    every = asked(handed, **how)
    assert product(handed, **how) == every  # type: ignore[arg-type]
    assert max(pair[7] for pair in every.shared) == 40  # type: ignore[index]
    assert every.shared_count > 100
    for most in (1, 3):
        assert product(handed, max_pairs=most, **how) == cut_to(every, most)  # type: ignore[arg-type]


def test_a_pair_stands_here_or_in_another_list_or_is_counted_below():
    handed = programs("python", 3)
    for min_score in (0.0, 0.1, 0.3, 0.6, 1.0):
        found = product(handed, k=8, t=12, min_score=min_score, passages={"python": 20, "text": 20})
        ends = [{pair[:2] for pair in pairs} for pairs in (found.pairs, found.contained, found.little)]  # type: ignore[index]
        apart = {pair[:2] for pair in found.shared}  # type: ignore[index]
        assert not apart & set().union(*ends)
        every = product(handed, k=8, t=12, min_score=min_score, passages={})
        assert found.below == every.below - len(apart)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write folders of many files each; two of them have one file in common."""
    files = {f"{who}/{i}.py": wrapped(statements(100 * n + i, "python", 30), "python") for n, who in enumerate("abcd")
             for i in range(9)}  # fmt: skip
    one = wrapped(statements(999, "python", 30), "python")
    return write(tmp_path_factory.mktemp("class"), files | {"a/x.py": one, "c/y.py": one})


def test_one_identical_file_in_two_folders_of_many_is_listed_printed_and_written(folder: Path, tmp_path: Path):
    told = run("compare", folder, "--out", tmp_path / "out", "--fail-above", "0.25")
    assert told.code == 0
    assert "below 0.25, with a passage that is worth a look: 1 pair" in told.out
    data = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert (data["pair_count"], data["shared_count"], data["below"]) == (0, 1, 5)
    (pair,) = data["shared"]
    assert [data["entries"][pair[side]]["name"] for side in ("left", "right")] == ["a", "c"]
    assert pair["strongest_bits"] > 100
    assert (tmp_path / "out" / pair["page"]).exists()
    with (tmp_path / "out" / "pairs.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["left"], row["right"], row["list"]) for row in rows] == [("a", "c", "shared")]
    assert float(rows[0]["strongest_bits"]) == pair["strongest_bits"]
    passages = (tmp_path / "out" / "passages.csv").read_text("utf-8").splitlines()[1:]
    assert any(line.startswith("a,c,x.py,") and ",y.py," in line for line in passages)


def test_no_list_of_shared_passages_with_0(folder: Path):
    report = la.compare(folder, min_passage=0)
    assert (report.shared, report.shared_count, report.below) == ((), 0, 6)
    with pytest.raises(la.ParameterError, match="min_passage `-1`"):
        la.compare(folder, min_passage=-1)


def test_names_are_hidden_here_too(folder: Path, tmp_path: Path):
    run("compare", folder, "--out", tmp_path / "out", "--anonymise")
    rows = (tmp_path / "out" / "pairs.csv").read_text("utf-8").splitlines()[1:]
    assert [line.split(",")[0][0] for line in rows] == ["S"]


def test_a_paragraph_of_a_class_is_no_shared_passage(tmp_path: Path):
    """What all have is worth next to nothing; what two of them have is listed."""
    everybody, two = prose(7, 60), prose(8, 15)
    files = {f"{i:02}.txt": f"{prose(100 + i, 400)} {everybody}" for i in range(40)}
    for name in ("03.txt", "30.txt"):
        files[name] += f" {two}"
    report = la.compare(write(tmp_path, files))
    assert report.pairs == ()
    assert [named(report, pair) for pair in report.shared] == [{"03.txt", "30.txt"}]
    assert report.aligned <= 5
