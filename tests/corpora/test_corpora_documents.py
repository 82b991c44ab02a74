"""Folders of documents: every job reads a page, a PDF, a Word file, a notebook or a mail as its readable text."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

import lookalike as la
from lookalike import frontends
from support.corpora import tree
from support.dedups import command
from support.documents import MAKERS, mail, page, pdf

TEXTS = [
    "the quick brown fox jumps over the lazy dog and runs away",
    "a rose by any other name would smell as sweet as this one",
    "it was the best of times it was the worst of times for us",
]
Capture = pytest.CaptureFixture[str]


def folder(root: Path, kind: str, texts: list[str] = TEXTS) -> Path:
    root.mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        (root / f"{number}.{kind}").write_bytes(MAKERS[kind](text))
    return root


def prints(given: object, tmp_path: Path) -> list[str]:
    la.simhash_corpus(given, tmp_path / "prints.csv", overwrite=True)
    with open(tmp_path / "prints.csv", newline="") as file:
        return [row["fingerprint"] for row in csv.DictReader(file)]


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("method", ["minhash", "exact", "simhash"])
def test_unrelated_documents_with_the_same_mark_up_are_kept(tmp_path: Path, kind: str, method: str):
    found = la.dedup(folder(tmp_path / "d", kind), method=method)
    assert (found.states["compared"], found.gone) == (3, [])


@pytest.mark.parametrize("kind", MAKERS)
def test_a_text_is_the_same_document_in_every_format(tmp_path: Path, kind: str):
    words = [la.canonical(text) for text in TEXTS]
    given = folder(tmp_path / "d", kind)
    assert prints(given, tmp_path) == prints(TEXTS, tmp_path)
    for number, text in enumerate(TEXTS):
        path = given / f"{number}.{kind}"
        assert la.canonical(frontends.extract(path.name, path.read_bytes()).text) == words[number]
        assert la.simhash(path) == la.simhash(text)
        assert la.fingerprint(path, k=5, t=8).hashes.tolist() == la.fingerprint(text, k=5, t=8).hashes.tolist()
        assert la.resemblance(path, text) == 1
        assert la.similarity(path, text, ["fast"]).exact.resemblance == 1
    assert list(la.simhash_batch([given / f"{number}.{kind}" for number in range(3)])) == list(map(la.simhash, TEXTS))


def test_a_folder_of_all_formats_keeps_one_document_of_each_text(tmp_path: Path):
    for kind in MAKERS:
        folder(tmp_path / "d", kind)
    found = la.dedup(tmp_path / "d", out=tmp_path / "out", ledger=tmp_path / "ledger.jsonl", shingle=4)
    assert len(found.gone) == 3 * (len(MAKERS) - 1)
    before, after = tree(tmp_path / "d"), tree(tmp_path / "out")
    assert len(after) == 3
    assert all(before[name] == data for name, data in after.items()), "originals are copied"
    la.restore(tmp_path / "ledger.jsonl", tmp_path / "out", tmp_path / "back")
    assert tree(tmp_path / "back") == before
    notes = [problem for problem in found.problems if problem.is_note]
    assert [note.reason for note in notes] == ["3 documents: attachments"]


def test_a_document_that_cannot_be_read_is_listed_and_kept(tmp_path: Path):
    given = folder(tmp_path / "d", "pdf")
    (given / "a.pdf").write_bytes(pdf(TEXTS[0])[:200])
    (given / "b.html").write_bytes(b"<html><body><script>draw()</script></body></html>")
    (given / "c.dat").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\0")
    found = la.dedup(given, out=tmp_path / "out")
    reasons = {problem.place: problem.reason for problem in found.problems}
    assert "no PDF that can be read" in reasons["a.pdf"]
    assert "the page shows no text" in reasons["b.html"]
    assert "binary, not text: a PNG image" in reasons["c.dat"]
    assert tree(tmp_path / "out") == tree(given)


def test_a_format_forces_bytes_or_documents(tmp_path: Path, capfd: Capture):
    given = folder(tmp_path / "d", "html")
    (given / "rows.csv").write_text("text\na\n")
    assert len(la.dedup(given, format="text", threshold=0.5).gone) == 2, "the mark-up is much longer than the text"
    assert la.dedup(given, format="documents").rows == 4
    assert la.dedup(given, format="text").rows == 4
    assert la.dedup(given).rows == 1, "the rows of the table"


def test_compressed_and_nameless_pages_are_pages(tmp_path: Path):
    given = tmp_path / "d"
    given.mkdir()
    (given / "a.html.gz").write_bytes(gzip.compress(page(TEXTS[0])))
    (given / "nameless").write_bytes(page(TEXTS[1]))
    (given / "wide").write_bytes(page(TEXTS[2]).decode().encode("utf-16"))
    (given / "source.txt").write_bytes(page(TEXTS[0]))
    assert prints(given, tmp_path)[:2] == prints(TEXTS[:2], tmp_path)
    assert prints(given, tmp_path)[3] == prints(TEXTS, tmp_path)[2]
    assert prints(given, tmp_path)[2] == prints([page(TEXTS[0]).decode()], tmp_path)[0], "a name that says text wins"


def test_every_document_is_read_once_for_an_answer_and_never_for_its_name(tmp_path: Path, monkeypatch):
    given = folder(tmp_path / "d", "html", TEXTS * 2)
    read: list[str] = []
    extract = frontends.FrontEnds.extract

    def counted(own: frontends.FrontEnds, name: str, data: bytes) -> frontends.Extract:
        read.append(name)
        return extract(own, name, data)

    monkeypatch.setattr(frontends.FrontEnds, "extract", counted)
    la.dedup(given, clusters=tmp_path / "clusters.csv", pairs=tmp_path / "pairs.csv", out=tmp_path / "out")
    assert sorted(read) == [f"{number}.html" for number in range(6)]


def test_the_commands_show_the_readable_text(tmp_path: Path, capfd: Capture):
    path = tmp_path / "a.eml"
    path.write_bytes(mail(TEXTS[0] * 3))
    done = command(capfd, "fingerprint", path, "--unit", "word", "-k", "3", "-t", "5")
    assert "readable text of mail" in done.out
    assert "over the lazy" in done.out
    assert "X-Trace" not in done.out
    assert "note: attachments: 1 attachment not read: all.zip" in done.out
    done = command(capfd, "fingerprint", "-", "--json", "-k", "3", "-t", "5", stdin=page(TEXTS[1]))
    assert '"format": "html"' in done.out


def test_a_lab_corpus_of_pages_is_read_without_tags(tmp_path: Path):
    from lookalike.lab.shared import corpus
    from lookalike.lab.winnowing import density

    given = folder(tmp_path / "d", "html", [" ".join(TEXTS) * 20 + str(number) for number in range(4)])
    found = corpus.load(given, 1)
    assert b"margin" not in found.text
    assert found.text.count(b"quick brown fox") == 80
    assert found.total_bytes == sum(map(len, tree(given).values())) > 2 * found.text_bytes / 3
    table = next(one for one in density.measure(found, 1).tables if one.title.startswith("Figure 3"))
    rows = {name: (paper, ours) for name, paper, ours in table.rows}
    assert rows["total bytes"] == (7_182_692_852, found.total_bytes)
    assert rows["text bytes"] == (1_940_576_448, found.text_bytes)
    assert rows["hashes computed"][1] == found.characters - 49
