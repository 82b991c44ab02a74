"""The report of a deduplication: one page that tells what was done, holds nothing that runs, or is not there."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lookalike._types import Progress, counted
from lookalike.cli.main import cli
from lookalike.deduplication.job import opened
from lookalike.errors import ParameterError
from lookalike.rendering.html import dedup_pages, dedup_plots, differences
from support.planted import texts

ATTACKS = [
    "<script>window.ran = 1</script>",
    '"><img src=http://evil.example/x onerror=alert(1)>',
    "{{ 7 * 7 }} {% raw %}",
    "</style><style>body{display:none}",
    "\u202eright to left\u202c \x1b[31m \x00",
    "x" * 5_000,
]
#: More pairs make a page longer, not more telling.
MOST_EXAMPLES = 30


def hostile_rows() -> list[dict[str, str]]:
    rows = []
    for i, text in enumerate(texts(24, 0)):
        attack = ATTACKS[i % len(ATTACKS)]
        rows.append({"id": f"{attack} {i}", "text": f"{attack} {text}"})
        rows.append({"id": f"{attack} {i} again", "text": f"{attack} {text} {attack}"})
    return rows


def put(
    rows: Any, out: Path, *, overwrite: bool = False, progress: Progress | None = None, **chosen: Any
) -> tuple[str, dict[str, Any]]:
    with opened(rows, **chosen) as (answer, _, _):
        dedup_pages.write(answer, out, overwrite=overwrite, progress=progress)
    return (out / "report.html").read_text(encoding="utf-8"), json.loads((out / "report.json").read_text())


def seen(page: str) -> str:
    """Return the words of a page."""
    return re.sub(r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL))


class Elements(HTMLParser):
    """All elements of a page, with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture(autouse=True)
def few_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """The curve takes seconds, and is tested where it is made."""
    monkeypatch.setattr(dedup_plots, "TRIALS", 50)


def test_a_page_tells_the_facts(tmp_path: Path):
    page, facts = put(texts(100, 60), tmp_path / "out")
    assert "Deduplication of 160 rows" in page
    assert f"{sum(facts['removed'].values())} of 160 rows removed" in page
    assert f"lookalike {facts['version']}" in page
    for name, value in facts["parameters"].items():
        assert name.replace("_", " ") in page
        assert value in (None, False) or not isinstance(value, str) or value in page


def test_json_holds_audit_curve_and_examples(tmp_path: Path):
    _, facts = put(texts(100, 60), tmp_path / "out")
    assert facts["kind"] == "lookalike report"
    assert facts["of"] == "deduplication"
    assert facts["audit"]["documents"]["value"] == 1
    assert facts["audit"]["removed"]["is_whole"]
    assert facts["curve"][-1][:2] == [1.0, 1.0]
    assert facts["curve_shingles"] == [50, 100, 1000]
    assert sum(count * int(size) for size, count in facts["cluster_sizes"].items()) == facts["clusters"] + sum(
        facts["removed"].values()
    )
    assert (
        sum(count for _, count in facts["resemblances"])
        == sum(facts["removed"].values()) - facts["removed"]["identical"]
    )
    assert 0 < len(facts["examples"]) <= MOST_EXAMPLES
    assert all(one["exact"] >= 0.8 for one in facts["examples"])


def test_no_more_examples_than_an_eye_takes(tmp_path: Path):
    _, facts = put(texts(1, 1_400, replaced=(1, 2)) + texts(300, 600, seed=2), tmp_path / "out")
    whys = [one["why"] for one in facts["examples"]]
    assert len(whys) <= MOST_EXAMPLES
    assert {
        "least similar in a very large cluster",
        "closest to the threshold",
        "most similar",
    } <= set(whys)
    assert len({(one["left"], one["right"]) for one in facts["examples"]}) == len(whys)


def test_a_giant_cluster_raises_the_alarm_with_its_keys(tmp_path: Path):
    page, facts = put(texts(1, 1_400, replaced=(1, 2)), tmp_path / "out")
    assert "Look at this before you delete anything" in page
    assert f"{facts['giants'][0]['keys'][0][0]:016x}" in page


def test_a_missed_pair_is_shown(tmp_path: Path):
    page, facts = put(texts(100, 50, replaced=(4,)), tmp_path / "out", threshold=0.7, recall=0.3)
    assert facts["audit"]["missed"]
    assert "missed: both rows kept" in page


@pytest.mark.parametrize("rows", [[], ["too short"], texts(30, 0)], ids=["no rows", "no shingles", "no duplicates"])
def test_nothing_found_says_what_was_done(rows: list[str], tmp_path: Path):
    page, facts = put(rows, tmp_path / "out")
    assert f"No near-duplicates found: {counted(len(rows), 'row')} kept." in page
    assert "undefined" in page
    assert "How this report was made" in page
    assert facts["examples"] == []
    assert facts["audit"]["documents"]["value"] is None


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"method": "exact"}, "Only identical texts were removed"),
        ({"method": "containment"}, "is contained in the row kept for it"),
        ({"clustering": "components"}, "also through chains of such pairs"),
        ({"clustering": "greedy"}, "(verified)"),
        ({"sketch": "permutations"}, "exact for the permutations in use"),
        ({"labelled": True, "unit": "character"}, "(verified)"),
    ],
)
def test_every_method_has_a_report(chosen: dict[str, Any], said: str, tmp_path: Path):
    page, _ = put(texts(60, 40), tmp_path / "out", **chosen)
    assert said in seen(page)


def test_rows_to_stay_clear_of_are_told(tmp_path: Path):
    rows = texts(50, 30, replaced=(1,))
    page, facts = put(rows[50:], tmp_path / "out", against=rows[:50])
    assert "Rows of the reference corpus" in page
    assert facts["removed"]["exact"] == 30
    assert facts["audit"]["documents"]["trials"] == 30


def test_what_was_not_read_is_listed(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{broken\n{"text": "one two three four five six"}\n')
    page, facts = put([path], tmp_path / "out")
    assert "Not read: 1" in page
    assert facts["problems"][0]["place"] == "line 1"
    assert "line 1" in page


def test_no_markup_of_a_stranger_is_an_element(tmp_path: Path):
    path = tmp_path / "<img src=x onerror=alert(2)>.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in hostile_rows()))
    page, facts = put([path], tmp_path / "out")
    assert len(facts["examples"]) > 10
    allowed = {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "div",
        "a",
        "header",
        "p",
        "h1",
        "h2",
        "h3",
        "dl",
        "dt",
    }
    allowed |= {"dd", "section", "table", "thead", "tbody", "tr", "th", "td", "svg", "g", "rect", "text", "line", "bdi"}
    allowed |= {"polyline", "span", "mark", "article", "b", "details", "summary", "ul", "li"}
    found = Elements(page).found
    assert {tag for tag, _ in found} <= allowed
    assert not [names for _, names in found if any(name.startswith("on") for name in names)]
    assert page.count("<style>") == 1
    assert "{{ 7 * 7 }}" in page
    assert not re.search("[\u202a-\u202e\x00-\x08\x1b]", page)


def test_no_page_names_another_host(tmp_path: Path):
    page, _ = put(texts(40, 20), tmp_path / "out")
    links = [value for _, names in Elements(page).found for name, value in names.items() if name in ("href", "src")]
    assert links
    assert all(link and (link.startswith("#") or link == "report.json") for link in links)
    policy = next(names["content"] for _, names in Elements(page).found if "http-equiv" in names)
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script-src" not in policy


def test_long_words_and_texts_are_clipped(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in hostile_rows()))
    page, _ = put([path], tmp_path / "out")
    assert "x" * 300 not in page
    assert len(page) < 200_000


def test_the_same_corpus_gives_the_same_bytes(tmp_path: Path):
    rows = texts(100, 60)
    assert put(rows, tmp_path / "a", threads=1) == put(rows, tmp_path / "b", threads=2)


def test_an_existing_folder_is_not_touched(tmp_path: Path):
    put(texts(20, 10), tmp_path / "out")
    before = (tmp_path / "out" / "report.html").read_bytes()
    with pytest.raises(ParameterError, match="exists"):
        put(texts(30, 10), tmp_path / "out")
    assert (tmp_path / "out" / "report.html").read_bytes() == before
    page, _ = put(texts(30, 10), tmp_path / "out", overwrite=True)
    assert "of 40 rows" in page


def test_a_folder_that_is_no_report_is_never_replaced(tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(ParameterError, match="not a report of lookalike"):
        put(texts(20, 10), tmp_path / "out", overwrite=True)
    assert (tmp_path / "out" / "mine.txt").read_text() == "mine"


def test_an_interrupt_leaves_nothing(tmp_path: Path):
    def interrupted(phase: str, done: int, total: int | None) -> None:
        if phase == "auditing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        put(texts(20, 10), tmp_path / "out", progress=interrupted)
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_a_report_and_refuses_one_that_is_there(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts(30, 20)))
    asked = ["dedup", str(path), "--report", str(tmp_path / "out")]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "report.html").exists()
    again = CliRunner().invoke(cli, [*asked, "-o", str(tmp_path / "clean.jsonl")])
    assert again.exit_code != 0
    # It is refused before the work is done, not after.
    assert not (tmp_path / "clean.jsonl").exists()


def marked(side: differences.Side) -> list[str]:
    return [run.text.strip() for run in side.runs if run.is_different]


def test_words_that_differ_are_marked():
    left, right = differences.differences("one two three four", "one 2 three four five")
    assert marked(left) == ["two"]
    assert marked(right) == ["2", "five"]
    assert "".join(run.text for run in right.runs) == "one 2 three four five"


def test_the_part_is_shown_where_texts_begin_to_differ():
    same = [f"w{number}" for number in range(1_000)]
    left, right = differences.differences(" ".join(same), " ".join([*same[:600], "new", *same[601:]]))
    assert marked(left) == ["w600"]
    assert marked(right) == ["new"]
    assert left.is_begun
    assert left.is_cut
    assert left.runs[0].text.startswith(f"w{600 - differences.BEFORE} ")


@pytest.mark.parametrize(("left", "right"), [(None, None), ("", "a b"), ("a b", None), ("same", "same")])
def test_texts_of_any_kind_are_compared(left: str | None, right: str | None):
    sides = differences.differences(left, right)
    assert ["".join(run.text for run in side.runs) for side in sides] == [left or "", right or ""]


def test_lines_stay_lines_and_nothing_else_moves_the_text():
    left, _ = differences.differences("a\r\n\tb \u202e c\x07", "a")
    assert "".join(run.text for run in left.runs) == "a\nb \\u202e c\\x07"
