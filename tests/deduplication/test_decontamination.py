"""Decontamination: what `dedup --against … --method containment` finds is what comparing all with all finds."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.corpora.restoring import restore
from lookalike.errors import ParameterError
from oracles.decontamination import Answer, decontaminate
from support.dedups import WORDS, command

Capture = pytest.CaptureFixture[str]
BOILERPLATE = " ".join(WORDS[:30])


def words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choices(WORDS, k=count))


def planted(seed: int = 1) -> tuple[list[str], list[str]]:
    """Rows and references. Of the references some are pasted into rows, whole or in part, and rows into references."""
    rng = random.Random(seed)
    references = [words(rng, rng.choice((1, 3, 4, 5, 6, 8, 20, 60))) for _ in range(30)]
    references += [f"{BOILERPLATE} {words(rng, 8)}" for _ in range(15)] + [references[3]]
    rows = [words(rng, 40) for _ in range(30)]
    rows += [f"{words(rng, 20)} {one} {words(rng, 20)}" for one in references[:40:2]]
    rows += [" ".join(one.split()[: len(one.split()) * 3 // 4]) for one in references[1:40:3]]
    rows += [*references[::5], BOILERPLATE, f"{BOILERPLATE} {words(rng, 5)}", "", " ", "one two"]
    rng.shuffle(rows)
    return rows, references


def check(rows: Sequence[Any], references: Sequence[Any], found: la.Deduplication, expected: Answer) -> None:
    """Compare an answer with the oracle's, pair by pair."""
    start, contaminated = len(references), found.contamination
    assert contaminated is not None
    assert [one._replace(row=one.row - start) for one in contaminated.pairs()] == expected.pairs
    assert [row - start for row in found.gone] == sorted(expected.best)
    for row, best in expected.best.items():
        assert contaminated.of_row(start + row) == best._replace(row=start + row)
        assert found.survivors[start + row] == best.reference
    assert contaminated.found == len(expected.references)
    assert [pair[:2] for pair in found.pairs()] == [(one.reference, start + one.row) for one in expected.pairs]


SIDES = [{}, {"contains": True}, {"contained": True}, {"contains": True, "contained": True}]


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("sides", SIDES, ids=str)
def test_answers_are_those_of_comparing_all_with_all(threshold: float, sides: dict[str, bool]):
    rows, references = planted()
    found = la.dedup(rows, against=references, method="containment", threshold=threshold, **sides)
    asked = sides if len(sides) == 1 else {}
    expected = decontaminate(
        rows, references, threshold=threshold, **{"contains": not asked, "contained": not asked} | asked
    )
    assert len(expected.best) > 5
    check(rows, references, found, expected)


TEXTS = st.lists(st.lists(st.sampled_from("abcd"), max_size=9).map(" ".join), max_size=9)


@given(TEXTS, TEXTS, st.integers(1, 10), st.sampled_from(SIDES[:3]), st.booleans(), st.integers(1, 3))
@settings(max_examples=150, deadline=None)
def test_texts_of_few_words_are_those_of_comparing_all_with_all(
    rows: list[str], references: list[str], tenths: int, sides: dict[str, bool], labelled: bool, shingle: int
):
    chosen = {"threshold": tenths / 10, "labelled": labelled, "shingle": shingle}
    # Iterators, because a list could name files.
    found = la.dedup(iter(rows), against=iter(references), method="containment", **chosen, **sides)
    asked = {"contains": not sides, "contained": not sides} | sides
    check(rows, references, found, decontaminate(rows, references, **chosen, **asked))


def test_every_planted_item_of_a_shingle_or_more_is_found():
    """The items have five words at least and stand in rows of their own length and of a hundred times that."""
    rng = random.Random(5)
    items = [words(rng, count) for count in (5, 6, 7, 9, 20, 100, 300) for _ in range(20)]
    rows = [f"{words(rng, length)} {item} {words(rng, length)}" for item in items for length in (3, 1000)]
    found = la.dedup(rows, against=items, method="containment", contains=True)
    assert found.contamination is not None
    assert found.contamination.found == len(items)
    assert len(found.gone) == len(rows)
    assert found.select() == []


def test_items_shorter_than_a_shingle_count_only_as_a_whole():
    found = la.dedup(["one two three", "one two three four five six", "One two three"], against=["one two three"] * 2)
    assert found.select() == ["one two three four five six", "One two three"]
    found = la.dedup(
        ["one two three", "one two three four five six", "One two three"],
        against=["one two three"] * 2,
        method="containment",
    )
    assert found.select() == ["one two three four five six", "One two three"]
    assert found.contamination is not None
    assert (found.contamination.references, found.contamination.found) == (2, 2)
    assert found.removed["identical"] == 1


@pytest.mark.parametrize("chosen", [{"threads": 1}, {"threads": 2}, {"memory": "16MiB"}, {"memory": "8GiB"}], ids=str)
def test_threads_and_memory_change_nothing(chosen: dict[str, Any]):
    rows, references = planted(2)
    found = la.dedup(rows * 30, against=references, method="containment", **chosen)
    check(rows * 30, references, found, decontaminate(rows * 30, references))


def test_the_order_of_rows_changes_only_their_numbers():
    rows, references = planted(3)
    turned = la.dedup(rows[::-1], against=references, method="containment")
    check(rows[::-1], references, turned, decontaminate(rows[::-1], references))
    assert turned.select() == la.dedup(rows, against=references, method="containment").select()[::-1]


def write_lines(path: Path, texts: Sequence[str]) -> None:
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")


def read_csv(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text("utf-8").splitlines()))


def write_parquet(path: Path, texts: Sequence[str]) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"text": texts}), path)


def write_csv(path: Path, texts: Sequence[str]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["text"], *([text] for text in texts)])


WRITERS: dict[str, Callable[[Path, Sequence[str]], None]] = {
    "x.jsonl": write_lines,
    "x.parquet": write_parquet,
    "x.csv": write_csv,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_container_gives_the_same_answer_and_the_way_back(tmp_path: Path, name: str):
    rows, references = planted(4)
    rows = [text for text in rows if text.strip()]
    for folder, texts in (("rows", rows), ("references", references)):
        (tmp_path / folder).mkdir()
        WRITERS[name](tmp_path / folder / name, texts)
    source, out, gone = tmp_path / "rows" / name, tmp_path / f"out.{name[2:]}", tmp_path / "gone.jsonl"
    found = la.dedup(source, against=tmp_path / "references" / name, method="containment", out=out, ledger=gone)
    check(rows, references, found, decontaminate(rows, references))
    again = tmp_path / f"again.{name[2:]}"
    assert restore(gone, out, again).rows == len(rows)
    if name != "x.parquet":
        assert again.read_bytes() == source.read_bytes()


@pytest.mark.parametrize("make", [list, tuple, lambda texts: pa.table({"text": texts})], ids=["list", "tuple", "arrow"])
def test_objects_give_the_same_answer(make: Callable[[Sequence[str]], Any]):
    rows, references = planted(4)
    found = la.dedup(make(rows), against=make(references), method="containment")
    check(rows, references, found, decontaminate(rows, references))


def test_tokens_give_the_same_answer():
    rng = random.Random(9)
    references = [la.Tokens([rng.randrange(30) for _ in range(rng.choice((3, 6, 12)))]) for _ in range(20)]
    rows = [la.Tokens([*(rng.randrange(30) for _ in range(9)), *one.values, 1, 2]) for one in references]
    rows += [la.Tokens(one.values[:8]) for one in references] + references[:3]
    found = la.dedup(rows, against=references, method="containment", shingle=3, threshold=0.5)
    expected = decontaminate(rows, references, threshold=0.5, shingle=3)
    assert len(expected.best) > 20
    check(rows, references, found, expected)


def test_characters_and_lines_are_compared_alike():
    rng = random.Random(6)
    references = [words(rng, 20).replace(" ", "\n") for _ in range(9)]
    rows = [words(rng, 10).replace(" ", "\n") + "\n" + one for one in references] + [one[:50] for one in references]
    for unit, shingle in (("character", 24), ("line", 2)):
        found = la.dedup(rows, against=references, method="containment", unit=unit, shingle=shingle)
        check(rows, references, found, decontaminate(rows, references, unit=unit, shingle=shingle))


def test_the_summary_the_tables_and_the_ledger_tell_the_side(tmp_path: Path, capfd: Capture):
    item, other = "who left a green bicycle in front of the bakery", "the ferry to the islands leaves at seven"
    write_lines(tmp_path / "test.jsonl", [item, other, "nobody has ever asked this question anywhere"])
    part = "a green bicycle in front of the bakery"
    write_lines(tmp_path / "train.jsonl", [f"Some say: {item}? And more.", part, other, "a page about onions and more"])
    arguments = ["--against", tmp_path / "test.jsonl", "--method", "containment", "--pairs", tmp_path / "pairs.csv"]
    arguments += ["--clusters", tmp_path / "clusters.csv", "--ledger", tmp_path / "gone.jsonl"]
    shown = command(capfd, "dedup", tmp_path / "train.jsonl", "-o", tmp_path / "out.jsonl", *arguments).out
    assert "found: 2 of 3 references, in 3 rows" in shown
    assert "of these rows, 1 contains a reference, 1 is contained in one, 1 does both" in shown
    assert "every removed row contains at least 0.8 of a reference, or has at least 0.8 of itself in one" in shown
    pairs, clusters = (read_csv(tmp_path / name) for name in ("pairs.csv", "clusters.csv"))
    assert [(one["contains"], one["contained"], one["side"], one["link"]) for one in pairs] == [
        ("1.0000", "0.6000", "contains", "contained"),
        ("0.6667", "1.0000", "contained", "contained"),
        ("1.0000", "1.0000", "both", "identical"),
    ]
    assert [one["side"] for one in clusters] == ["", "", "contains", "contained", "both"]
    entries = [json.loads(line) for line in (tmp_path / "gone.jsonl").read_text().splitlines()[1:]]
    assert [(one["contains"], one["contained"], one["side"]) for one in entries] == [
        (1.0, 0.6, "contains"),
        (0.666667, 1.0, "contained"),
        (1.0, 1.0, "both"),
    ]


def test_pairs_list_the_first_of_identical_references_and_a_note_says_so(tmp_path: Path, capfd: Capture):
    item, other = "who left a green bicycle in front of the bakery", "the ferry to the islands leaves at seven"
    write_lines(tmp_path / "test.jsonl", [item, item, other, item])
    write_lines(tmp_path / "train.jsonl", [f"Some say: {item}? And more.", f"Look: {other}."])
    arguments = ["dedup", tmp_path / "train.jsonl", "--against", tmp_path / "test.jsonl", "--method", "containment"]
    shown = command(capfd, *arguments, "--pairs", tmp_path / "pairs.csv").out
    assert "found: 4 of 4 references, in 2 rows" in shown
    said = "references found that have the text of an earlier one: 2; --pairs lists only the first of each text"
    assert f"note: {said}\n" in shown
    assert [one["left_row"] for one in read_csv(tmp_path / "pairs.csv")] == ["0", "2"]
    write_lines(tmp_path / "test.jsonl", [item, other])
    assert "note: " not in command(capfd, *arguments, "--pairs", tmp_path / "pairs.csv", "--overwrite").out


def test_one_side_alone_is_told_with_its_noun(tmp_path: Path, capfd: Capture):
    item = "who left a green bicycle in front of the bakery"
    write_lines(tmp_path / "test.jsonl", [f"Some say: {item}? And more."])
    write_lines(tmp_path / "train.jsonl", [item])
    arguments = ["--against", tmp_path / "test.jsonl", "--method", "containment", "--contained", "--bits", "40"]
    shown = command(capfd, "dedup", tmp_path / "train.jsonl", "-o", tmp_path / "out.jsonl", *arguments).out
    said = "every removed row has at least 0.8 of itself in a reference; no kept row does"
    assert f"counted exactly over 40-bit shingle ids: {said}\n" in shown


def test_references_that_do_not_fit_are_told_with_what_they_need(tmp_path: Path, capfd: Capture):
    rng = random.Random(8)
    write_lines(tmp_path / "test.jsonl", [words(rng, 4000) for _ in range(60)])
    write_lines(tmp_path / "train.jsonl", [words(rng, 40)])
    arguments = ["dedup", tmp_path / "train.jsonl", "--against", tmp_path / "test.jsonl", "--method", "containment"]
    done = command(capfd, *arguments, "-o", tmp_path / "out.jsonl", "--memory", "16MiB", expected=2)
    assert "--memory `16 MiB` is too little for the references: their shingles need 10.98 MiB" in done.err
    assert not (tmp_path / "out.jsonl").exists()
    command(capfd, *arguments, "-o", tmp_path / "out.jsonl", "--memory", "32MiB")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--contains"], "--contains has no effect with --method minhash"),
        (["--method", "containment", "--contains"], "contains asks for rows of"),
        (["--method", "containment", "--contained"], "contained asks for rows of"),
        (["--method", "containment", "--against", "ROWS", "--modulus", "8"], "--modulus has no effect with --against"),
        (["--method", "containment", "--against", "ROWS", "--keep", "longest"], "--keep has no effect with --against"),
    ],
)
def test_options_that_ask_for_nothing_are_refused(tmp_path: Path, capfd: Capture, more: list[str], said: str):
    write_lines(tmp_path / "rows.jsonl", ["one two three four five"])
    rows = str(tmp_path / "rows.jsonl")
    more = [rows if one == "ROWS" else one for one in more]
    assert said in command(capfd, "dedup", rows, "-o", tmp_path / "out.jsonl", *more, expected=2).err


def test_the_library_refuses_what_has_no_effect():
    for chosen in (
        {"modulus": 2},
        {"clustering": "components"},
        {"keep": "longest"},
        {"length_within": 0.5},
        {"same_language": True},
    ):
        with pytest.raises(ParameterError, match="has no effect with `against` and method `containment`"):
            la.dedup(["a"], against=["b"], method="containment", **chosen)
    with pytest.raises(ParameterError, match="contains asks for rows of `against`"):
        la.dedup(["a"], against=["b"], contains=True)


def test_a_report_and_a_pickle_can_be_made(tmp_path: Path):
    import pickle

    rows, references = planted(7)
    found = la.dedup(rows, against=references, method="containment", report=tmp_path / "report")
    assert "references were found in these rows" in (tmp_path / "report" / "report.html").read_text("utf-8")
    again = pickle.loads(pickle.dumps(found))
    assert list(again.contamination.pairs()) == list(found.contamination.pairs())
    assert again.to_json() == found.to_json()
