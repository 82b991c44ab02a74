"""The report of a query: the same pairs as ``compare --index``, a page for each, and what proves what was asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lookalike as la
from lookalike.archive import evidence
from lookalike.comparison.result import Pair
from lookalike.rendering.html import query_page
from support.submissions import prose


@pytest.fixture
def years(tmp_path: Path) -> Path:
    """An index of a class of prose: ann shares 40 words with the asked text, bob 30, eve nothing; one template."""
    (tmp_path / "given.txt").write_text(prose(9, 40), "utf-8")
    (tmp_path / "new.txt").write_text(f"{prose(9, 40)} {prose(1, 40)} {prose(2, 30)} {prose(5, 20)}", "utf-8")
    with la.Index.create(tmp_path / "years") as index:
        texts = {"ann.txt": f"{prose(9, 40)} {prose(1, 40)}", "bob.txt": f"{prose(2, 30)} {prose(6, 20)}"}
        index.add({**texts, "eve.txt": prose(7, 60), "new.txt": f"{prose(3, 10)} {prose(1, 20)}"})
        index.add([], template=[tmp_path / "given.txt"])
    return tmp_path


def stored_name(report: la.Report, pair: Pair) -> str:
    return next(report.entries[end].name for end in (pair.left, pair.right) if report.entries[end].old)


def sides(report: la.Report, pair: Pair) -> tuple[float, set[tuple[object, ...]]]:
    """Return the score and the passages, the stored side first: which side is left depends on names."""
    turn = -1 if report.entries[pair.right].old else 1
    return pair.score, {(*one[:2][::turn], *one[2:]) for one in pair.passages}


def test_the_evidence_is_what_compare_finds(years: Path):
    with la.Index(years / "years") as index:
        found = index.query(years / "new.txt", evidence=True)
        compared = la.compare([years / "new.txt"], index=index, min_score=0.0)
    assert found.evidence is not None
    assert set(found.evidence.pairs) == {"ann.txt", "bob.txt", "new.txt"}
    expected = {stored_name(compared, pair): sides(compared, pair) for pair in (*compared.pairs, *compared.little)}
    told = found.evidence.report
    assert {stored_name(told, pair): sides(told, pair) for pair in found.evidence.pairs.values()} == expected
    assert set(expected) == {"ann.txt", "bob.txt", "years/new.txt"}
    assert found.digest == next(entry.digest for entry in compared.entries if not entry.old)


def test_each_document_with_passages_has_a_page(years: Path):
    with la.Index(years / "years") as index:
        found = index.query(years / "new.txt", evidence=True)
    query_page.write(found, years / "report")
    page = (years / "report" / "report.html").read_text("utf-8")
    report = json.loads((years / "report" / "report.json").read_text("utf-8"))
    assert list(report["pages"]) == ["ann.txt", "bob.txt", "new.txt"]
    assert report["digest"] in page
    assert report["asked"]["threshold"] == 0.8
    for address in report["pages"].values():
        assert f'href="{address}"' in page
        shown = (years / "report" / address).read_text("utf-8")
        assert found.digest in shown
        assert "exports marks" not in shown, "the page of answers has no export"
    first = (years / "report" / "pairs" / "001.html").read_text("utf-8")
    assert "new.txt against the archive; document 1 of 3" in first
    assert prose(1, 40).split()[0] in first


def test_rows_of_a_corpus_and_several_indexes_have_pages(tmp_path: Path):
    for number, year in enumerate(("2024", "2025")):
        with la.Index.create(tmp_path / year, kind="corpus", k=16, t=22) as index:
            index.add([("essay", f"{prose(1, 40)} {prose(50 + number, 40)}")])
    with la.JoinedIndex([tmp_path / "2024", tmp_path / "2025"]) as both:
        found = both.query(f"{prose(4, 20)} {prose(1, 40)}", evidence=True)
    assert found.evidence is not None
    assert set(found.evidence.pairs) == {"2024/essay", "2025/essay"}
    [answer] = [one for one in found.answers if one.question == "passages"]
    for match in answer.matches:
        assert found.evidence.pairs[match.id].passages[0].tokens >= match.passages[0].tokens


def test_what_cannot_be_compared_is_told(tmp_path: Path, years: Path, monkeypatch: pytest.MonkeyPatch):
    with la.Index.create(tmp_path / "bare", no_texts=True) as index:
        index.add({"ann.txt": prose(1, 60)})
        found = index.query(prose(1, 60), evidence=True)
        assert found.evidence is None
        assert "the index keeps no texts, so none are shown side by side" in found.notes
        query_page.write(found, tmp_path / "report")
        assert not (tmp_path / "report" / "pairs").exists()
    monkeypatch.setattr(evidence, "MOST", 1)
    with la.Index(years / "years") as index:
        assert "3 documents share something with it" in index.query(years / "new.txt", evidence=True).notes[-1]


def test_a_window_changes_no_evidence(years: Path):
    with la.Index(years / "years") as index:
        usual = index.query(years / "new.txt", evidence=True)
        coarse = index.query(years / "new.txt", evidence=True, window=20)
    assert usual.evidence is not None
    assert coarse.evidence is not None
    assert {id_: pair.passages for id_, pair in usual.evidence.pairs.items()} == {
        id_: pair.passages for id_, pair in coarse.evidence.pairs.items()
    }
