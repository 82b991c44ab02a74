"""`la.dedup`: who goes and for whose sake, by every method, rule and clustering, against comparing all with all."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.corpora import arrays
from lookalike.deduplication.settings import settings
from lookalike.errors import ParameterError
from support.dedups import WORDS, Row, corpus, edited, lines, resembling, table, truth

ROWS = corpus()
FOUND = truth(ROWS)
TEXTS = [row.text for row in ROWS]


def pair(left: int, right: int) -> tuple[int, int]:
    return min(left, right), max(left, right)


def check(answer: la.Deduplication, found: dict[tuple[int, int], float], *, is_complete: bool = True) -> None:
    """Whoever goes reaches the threshold against a survivor, which stays; whoever has a partner is in a cluster."""
    for row in answer.gone:
        survivor = answer.survivors[row]
        assert answer.survivors[survivor] == survivor
        assert pair(row, survivor) in found
    for one in answer.pairs():
        assert one.resemblance == pytest.approx(found[pair(one.left, one.right)], abs=1e-6)
    if is_complete:
        assert {row for row, label in enumerate(answer.labels) if label >= 0} == {row for two in found for row in two}


@pytest.mark.parametrize("clustering", ["star", "components", "greedy"])
@pytest.mark.parametrize("sketch", ["fast", "permutations"])
def test_near_duplicates_are_what_comparing_all_with_all_finds(sketch: str, clustering: str):
    answer = la.dedup(TEXTS, sketch=sketch, clustering=clustering)
    check(answer, FOUND)
    assert sum(answer.removed.values()) == len(answer.gone) > 15
    assert answer.states == {"compared": len(ROWS) - 2, "short": 0, "missing": 2, "bad": 0, "blank": 0}


def test_the_exact_method_finds_identical_texts_only():
    found = {two: value for two, value in FOUND.items() if TEXTS[two[0]] == TEXTS[two[1]]}
    answer = la.dedup(TEXTS, method="exact")
    check(answer, found)
    assert answer.removed["identical"] == len(answer.gone) == sum(answer.removed.values())
    assert answer.work["glances"] == answer.work["exact_comparisons"] == 0


@pytest.mark.parametrize("order", [1, -1])
def test_what_is_contained_goes_and_its_container_stays_in_whatever_order_they_come(order: int):
    rng = random.Random(5)
    whole = [" ".join(rng.choices(WORDS, k=400)) for _ in range(10)]
    parts = [" ".join(text.split()[100:300]) for text in whole[:6]]
    texts = [*whole, *parts][::order]
    answer = la.dedup(texts, method="containment", threshold=0.9)
    assert {texts[row] for row in answer.gone} == set(parts)
    for row in answer.gone:
        value = la.containment(texts[row], texts[answer.survivors[row]], shingle=5, unit="word")
        assert value is not None
        assert value >= 0.9
    assert la.dedup(texts, threshold=0.9).gone == [], "they do not resemble each other so much"


def test_the_threshold_is_kept_where_it_is_close():
    """Pairs of every resemblance around the threshold: none below it is taken, none well above is missed."""
    rng = random.Random(9)
    texts = []
    for words in range(1, 16):
        text = " ".join(rng.choices(WORDS, k=300))
        texts += [text, edited(text, rng, words)]
    rows = [Row(str(at), text, None, "") for at, text in enumerate(texts)]
    near = truth(rows, 0.8)
    answer = la.dedup(texts, threshold=0.8)
    check(answer, near, is_complete=False)
    missed = near.keys() - {pair(row, answer.survivors[row]) for row in answer.gone}
    assert {2 * at for at in range(15)} > {left for left, _ in near}, "there are pairs below"
    assert all(near[two] < 0.85 for two in missed)


def chain(links: int = 40) -> list[str]:
    """Texts each of which resembles the next, while the ends have nothing in common."""
    words = random.Random(3).choices([f"w{number}" for number in range(10**6)], k=204 + 8 * links)
    return [" ".join(words[8 * at : 8 * at + 204]) for at in range(links)]


def test_a_chain_never_ends_in_one_star():
    texts = chain()
    assert resembling(texts[0], texts[1]) == pytest.approx(192 / 208)
    assert resembling(texts[0], texts[-1]) == 0
    answer = la.dedup(texts, clustering="star")
    for row in answer.gone:
        assert (resembling(texts[row], texts[answer.survivors[row]]) or 0) >= 0.8
    assert max(answer.cluster_sizes.values()) <= 5, "two on either side at most"


def test_components_join_a_chain_and_greedy_clusters_keep_to_their_kind():
    texts = chain()
    joined = la.dedup(texts, clustering="components")
    assert joined.labels == [0] * len(texts)
    assert joined.gone == list(range(1, len(texts)))
    greedy = la.dedup(texts, clustering="greedy")
    assert all(resembling(texts[row], texts[greedy.survivors[row]]) for row in greedy.gone)
    assert len(greedy.cluster_sizes) > 1


@pytest.mark.parametrize("source", ["lines", "table", "dicts"])
@pytest.mark.parametrize("keep", ["first", "longest", "max:stars"])
def test_the_rule_decides_who_stays(tmp_path: Path, keep: str, source: str):
    (tmp_path / "rows.jsonl").write_bytes(lines(ROWS))
    given: dict[str, Any] = {
        "lines": tmp_path / "rows.jsonl",
        "table": table(ROWS),
        "dicts": [row.to_json() for row in ROWS],
    }
    answer = la.dedup(given[source], keep=keep, clustering="components")
    rules: dict[str, Callable[[int], Any]] = {
        "first": lambda row: -row,
        "longest": lambda row: (len((TEXTS[row] or "").encode()), -row),
        "max:stars": lambda row: (ROWS[row].stars is not None, ROWS[row].stars or 0, -row),
    }
    for number in range(len(answer.cluster_sizes)):
        members = [row for row, label in enumerate(answer.labels) if label == number]
        assert {answer.survivors[row] for row in members} == {max(members, key=rules[keep])}


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.uint64(), pa.float32(), pa.decimal128(9, 2), pa.date32(), pa.timestamp("ns", "UTC")], ids=str
)
def test_numbers_of_any_kind_decide(kind: pa.DataType):
    through = pa.int32() if kind == pa.date32() else pa.float64() if pa.types.is_decimal(kind) else pa.int64()
    values = pa.array([1, None, 3, 2], through).cast(kind)
    given = pa.table({"text": ["the same text"] * 4, "rank": values})
    assert la.dedup(given, keep="max:rank").survivors.tolist() == [2] * 4  # type: ignore[attr-defined]
    assert la.dedup(given.slice(1, 2), keep="max:rank").labels == [0, 0]


@pytest.mark.parametrize("values", [[True, False], [b"1", b"2"], [[1], [2]]], ids=str)
def test_a_column_that_holds_no_numbers_is_refused(values: list[Any]):
    given = pa.table({"text": ["a", "b"], "rank": values})
    with pytest.raises(ParameterError, match=r"number column `rank` of `arrow` holds .*: name a column of numbers"):
        la.dedup(given, keep="max:rank")


WRITTEN = ["9", None, " 10.5 ", "1e1", "high", "2024-01-01", ""]


@pytest.mark.parametrize("name", ["list", "arrow", "view", "jsonl", "csv", "parquet"])
def test_numbers_written_as_strings_decide_and_others_are_counted(name: str, tmp_path: Path):
    rows = [{"text": "the same text", "rank": value} for value in WRITTEN]
    kind = pa.string_view() if name == "view" else pa.string()
    table = pa.table({"text": ["the same text"] * len(rows), "rank": pa.array(WRITTEN, kind)})
    path = tmp_path / f"rows.{name}"
    if name == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif name == "csv":
        path.write_text("text,rank\n" + "".join(f"the same text,{row['rank'] or ''}\n" for row in rows))
    elif name == "parquet":
        pq.write_table(table, path)
    answer = la.dedup({"list": rows, "arrow": table, "view": table}.get(name, path), keep="max:rank")
    assert list(answer.survivors) == [2] * len(rows)
    assert answer.notes == ["rows whose `rank` is missing or not a number: 4 of 7; they come last"]


@pytest.mark.parametrize("values", [["low", "high"], [None, None], ["2024-01-01", "2024-02-01"]], ids=str)
def test_a_column_without_any_number_is_refused(values: list[Any], tmp_path: Path):
    rows = [{"text": "the same text", "rank": value} for value in values]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = pa.table({"text": ["the same text"] * 2, "rank": values})
    for given in (rows, table, tmp_path / "rows.jsonl"):
        with pytest.raises(ParameterError, match="number column `rank` holds no number in any row: name a column of"):
            la.dedup(given, keep="max:rank")


def test_values_of_rows_that_are_no_numbers_come_last():
    values = [True, "nine", None, 10**400, float("nan"), -(10**400), 3]
    rows = [{"text": "the same text", "rank": value} for value in values]
    assert la.dedup(rows, keep="max:rank").survivors[0] == 3
    assert la.dedup([rows[0], rows[1], rows[5]], keep="max:rank").survivors[0] == 2


def of_library(name: str) -> Any:
    library = pytest.importorskip(name)
    whole = table(ROWS)
    return {
        "polars": lambda: library.DataFrame(whole),
        "pandas": whole.to_pandas,
        "datasets": lambda: library.Dataset(whole),
        "duckdb": lambda: library.from_arrow(whole),
        "pyarrow": lambda: whole,
    }[name]()


@pytest.mark.parametrize("name", ["pyarrow", "polars", "pandas", "datasets", "duckdb"])
def test_a_table_of_any_library_comes_back_as_one(name: str):
    given = of_library(name)
    answer = la.dedup(given, keep="max:stars")
    assert answer.gone == la.dedup([row.to_json() for row in ROWS], keep="max:stars").gone
    kept = answer.select()
    assert type(kept) is type(given)
    ids = [row[0] for row in kept.fetchall()] if name == "duckdb" else list(kept["id"])
    assert [str(one) for one in ids] == [row.id for at, row in enumerate(ROWS) if at not in answer.gone]


@pytest.mark.parametrize("kind", [list, tuple, iter])
def test_iterables_of_texts_and_of_rows_are_corpora(kind: Callable[[Any], Any]):
    answer = la.dedup(kind(TEXTS))
    assert answer.gone == la.dedup(kind([row.to_json() for row in ROWS])).gone
    kept = [text for row, text in enumerate(TEXTS) if row not in answer.gone]
    assert list(answer.select()) == kept
    assert len(answer.labels) == len(TEXTS)
    assert {label for label in answer.labels if label >= 0} == set(range(len(answer.cluster_sizes)))


def test_objects_can_be_against_each_other():
    answer = la.dedup(table(ROWS[:40]), against=TEXTS[40:])
    expected = {left for left, right in FOUND if left < 40 <= right}
    assert [row - answer.references for row in answer.gone] == sorted(expected)
    assert answer.select().num_rows == 40 - len(expected)
    assert len(answer.labels) == 40
    assert all(answer.survivors[row] < answer.references for row in answer.gone)


def test_an_object_can_have_its_tables_but_no_files(tmp_path: Path):
    with pytest.raises(ParameterError, match=r"use `select\(\)`"):
        la.dedup(TEXTS, out=tmp_path / "out")
    with pytest.raises(ParameterError, match="give out=… as well"):
        la.dedup(TEXTS, ledger=tmp_path / "ledger")
    la.dedup(TEXTS, clusters=tmp_path / "clusters.csv")
    assert (tmp_path / "clusters.csv").read_text(encoding="utf-8").count("rows:") > 15, "rows without ids have numbers"


def test_files_have_nothing_to_select_from(tmp_path: Path):
    (tmp_path / "rows.jsonl").write_bytes(lines(ROWS))
    with pytest.raises(ParameterError, match="name an output with `out`"):
        la.dedup(tmp_path / "rows.jsonl").select()


def test_an_unknown_parameter_is_refused_by_name():
    with pytest.raises(TypeError, match="colour"):
        la.dedup(TEXTS, colour="red")  # type: ignore[call-arg]
    with pytest.raises(ParameterError, match="parameter `colour` is not known: use one of method"):
        settings(colour="red")
    with pytest.raises(ParameterError, match="which has no rows"):
        la.dedup(5)


def test_progress_tells_bytes_on_disk_of_all_there_are(tmp_path: Path):
    (tmp_path / "rows.jsonl").write_bytes(lines(ROWS))
    table_path = tmp_path / "rows.parquet"
    pa.parquet.write_table(table(ROWS), table_path, row_group_size=10)
    told: list[tuple[str, int, int | None]] = []
    la.dedup(
        [tmp_path / "rows.jsonl", table_path],
        out=tmp_path / "out",
        ledger=tmp_path / "ledger",
        progress=lambda *one: told.append(one),
    )
    size = sum(path.stat().st_size for path in tmp_path.glob("rows.*"))
    for phase in ("reading", "naming", "writing"):
        own = [done for name, done, _ in told if name == phase]
        assert own == sorted(own), phase
        assert own[-1] == size, phase
        assert len(set(own)) > (1 if phase == "naming" else 3), phase
        assert {total for name, _, total in told if name == phase} == {size}
    assert [total for name, _, total in told if name == "comparing"] == [None]


def test_identical_rows_cost_no_comparison():
    answer = la.dedup(["one text of more than five words, many times"] * 50_000)
    assert answer.removed["identical"] == 49_999 == sum(answer.removed.values())
    assert (answer.documents, answer.work["glances"], answer.work["exact_comparisons"]) == (1, 0, 0)


def test_near_duplicates_of_one_text_cost_a_glance_each():
    rng = random.Random(2)
    text = " ".join(rng.choices(WORDS, k=300))
    texts = [text, *(edited(text, rng) for _ in range(3000))]
    answer = la.dedup(texts)
    assert len(answer.gone) == 3000
    assert answer.work["glances"] <= 3 * 3000


@pytest.mark.parametrize("texts", [[], [None] * 5, [""] * 5, [" \n"] * 5, ["a"], ["one two"] * 2, ["\0" * 50] * 2])
@pytest.mark.parametrize("method", ["minhash", "exact", "containment"])
def test_texts_without_shingles_are_no_near_duplicates_of_anything(texts: list[str | None], method: str):
    answer = la.dedup(texts, method=method)
    assert answer.removed["exact"] == 0
    assert answer.work["glances"] == answer.work["exact_comparisons"] == 0
    assert len(answer.select()) == len(texts) - answer.removed["identical"]
    if None in texts:
        assert answer.gone == []


def test_what_stands_for_no_text_in_pandas_is_none():
    pandas = pytest.importorskip("pandas")
    given = pandas.Series(["one text", float("nan"), None, pandas.NA, "one text"], dtype=object)
    answer = la.dedup(given)
    assert (answer.states["missing"], answer.problems, answer.gone) == (3, [], [4])


def test_an_answer_says_itself_in_one_line():
    assert repr(la.dedup(["one text", "one text", "another"])) == "<Deduplication: 3 rows, 1 removed, 1 cluster>"


def test_rows_whose_text_is_no_string_are_told_and_stay():
    answer = la.dedup([{"text": 5}, {"text": "a"}, {"text": ["b"]}, {"text": "a"}])
    assert [(one.place, one.reason) for one in answer.problems] == [
        ("row 0", "its text is int, no string; it is not compared"),
        ("row 2", "its text is list, no string; it is not compared"),
    ]
    assert answer.gone == [3]


def test_ids_are_made_only_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    asked: list[int] = []
    name_of = arrays.name_of
    monkeypatch.setattr(arrays, "name_of", lambda value: asked.append(0) or name_of(value))
    answer = la.dedup(table(ROWS))
    assert asked == []
    la.dedup(table(ROWS), clusters=tmp_path / "clusters.csv")
    assert len(asked) == len(answer.gone) + len(answer.cluster_sizes)


@pytest.mark.parametrize("clustering", ["star", "components", "greedy"])
def test_nothing_goes_for_the_sake_of_what_is_not_against(clustering: str):
    """A chain that begins in the other corpus is not followed, and rows that are twice there stay."""
    first, *texts = chain()
    answer = la.dedup([*texts, texts[-1]], against=[first], clustering=clustering)
    near = [row for row, text in enumerate(texts, 1) if (resembling(first, text) or 0) >= 0.8]
    assert answer.gone == near == [1, 2]
    assert la.dedup(texts, against=[], clustering=clustering).gone == []


@pytest.mark.parametrize("chosen", [{"distance": 5}, {"features": "paper"}, {"ignore": ["dates"]}])
def test_a_parameter_of_another_method_is_refused_by_name(chosen: dict[str, Any]):
    with pytest.raises(la.ParameterError, match=f"{next(iter(chosen))} has no effect with method `minhash`"):
        la.dedup(["one", "two"], **chosen)
