"""Everything exported shows itself in one short line that tells what it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lookalike as la

TEXT = "to be or not to be, that is the question " * 50
TEXTS = [TEXT] * 500
#: The longest line that is worth reading.
LONGEST = 200


def report(folder: Path) -> la.Report:
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(TEXT)
    return la.compare(folder)


def simhash_report(folder: Path) -> la.SimhashReport:
    return la.simhash_corpus(TEXTS, folder / "out.parquet")


def near_report(folder: Path) -> la.NearReport:
    simhash_report(folder)
    return la.near(folder / "out.parquet")


def rows(folder: Path) -> Path:
    path = folder / "rows.jsonl"
    path.write_text('{"text": "one two three four five six"}\n' * 2)
    return path


def restored(folder: Path) -> la.Restored:
    la.dedup(rows(folder), out=folder / "clean.jsonl", ledger=folder / "gone.jsonl")
    return la.restore(folder / "gone.jsonl", folder / "clean.jsonl", folder / "again.jsonl")


def index(folder: Path) -> la.Index:
    return la.Index.create(folder / "index")


def joined(folder: Path) -> la.JoinedIndex:
    index(folder).close()
    return la.JoinedIndex([folder / "index"])


#: Interfaces that users implement; there is nothing of ours to show.
INTERFACES = {"FrontEnd"}
MADE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "Added": (lambda folder: index(folder).add({"a": TEXT}), "Added(added=1, replaced=0, unchanged=0)"),
    "Client": (lambda _: la.Client("http://127.0.0.1:8400"), "<Client of http://127.0.0.1:8400>"),
    "Column": (lambda _: la.fingerprint(TEXT).hashes, "in all]"),
    "Deduplication": (lambda _: la.dedup(TEXTS), "500 rows, 499 removed, 1 cluster>"),
    "Design": (lambda _: la.design(0.8), "<Design (18, "),
    "Estimate": (lambda _: la.sketch(TEXT).resemblance(la.sketch(TEXT)), "Estimate(value=1.0"),
    "Expected": (lambda folder: la.estimate(rows(folder)), "Expected(sources=1, "),
    "Filter": (lambda _: la.Filter(6, 14, 2), "Filter(k=6, s=14, r=2)"),
    "Fingerprints": (lambda _: la.fingerprint(TEXT), "tokens, robust, k = "),
    "FingerprintTable": (lambda _: la.fingerprint_batch(TEXTS), "<FingerprintTable of 500 documents, "),
    "HammingTable": (lambda _: la.HammingTable.build([1]), "<HammingTable of 1 row, distance 3, in memory>"),
    "IdfTable": (lambda _: la.idf_table(TEXTS), "in 500 documents>"),
    "Index": (index, "<Index `/index`, open for changes>"),
    "JoinedIndex": (joined, "<JoinedIndex of `/index`>"),
    "Language": (lambda _: la.Language("basic"), "Language(name='basic'"),
    "Limits": (lambda _: la.Limits(), "Limits(file_bytes="),
    "LookUp": (lambda _: la.LookUp(1, 2), "LookUp(found=1, looked_up=2)"),
    "Measures": (lambda _: la.measure(TEXT, TEXT), "resemblance=1.0"),
    "NearReport": (near_report, "<NearReport: 124,750 pairs within 3 bits, 500 queries, 500 fingerprints>"),
    "Queried": (lambda folder: index(folder).query(TEXT), "Queried(name='document', index='"),
    "Seen": (lambda folder: index(folder).seen(TEXT), "Seen(is_seen=False, is_identical=False, refusal=None)"),
    "QueryBatch": (lambda _: la.QueryBatch([1]), "<QueryBatch of 1 query, distance 3>"),
    "Readable": (lambda _: la.Readable("words", ()), "Readable(text='words'"),
    "Report": (report, "<Report: 2 submissions, 1 pair with a score of at least "),
    "Restored": (restored, "Restored(sources=1, rows=2"),
    "SimhashReport": (simhash_report, "<SimhashReport: 500 rows, 500 fingerprinted, 1 distinct, in `"),
    "SimhashTable": (lambda _: la.simhash_batch(TEXTS), "<SimhashTable of 500 texts, 500 with a fingerprint"),
    "Similarity": (lambda _: la.similarity(TEXT, TEXT), "<Similarity of `left` and `right`: resemblance 1, "),
    "Sketch": (lambda _: la.sketch(TEXT), "<Sketch fast of 128, word shingles"),
    "SketchDesign": (lambda _: la.design_sketch(0.05), "SketchDesign(error=0.05"),
    "SketchTable": (lambda _: la.sketch_batch(TEXTS), "<SketchTable of 500 texts, fast of 128"),
    "Stream": (lambda _: la.stream(TEXT), "<Stream of 1,500 tokens>"),
    "Tokens": (lambda _: la.Tokens(range(1000)), "<Tokens: 1,000>"),
    "TableDesign": (lambda _: la.design_tables().chosen, "<TableDesign compact: 2 tables"),
    "TableDesigns": (lambda _: la.design_tables(), "<TableDesigns for distance 3, 100,000,000 fingerprints"),
}


def test_every_exported_class_is_in_the_table_above():
    classes = {name for name in la.__all__ if isinstance(getattr(la, name), type)} - INTERFACES
    assert {name for name in classes if not issubclass(getattr(la, name), Exception)} == MADE.keys()


@pytest.mark.parametrize("name", MADE)
def test_a_short_line_tells_what_it_is(name: str, tmp_path: Path):
    make, part = MADE[name]
    made = make(tmp_path)
    assert type(made) is getattr(la, name)
    shown = repr(made).replace(str(tmp_path), "")
    assert part in shown
    assert len(shown) <= {"Column": 400, "Limits": 250}.get(name, LONGEST)
    assert "\n" not in shown


def test_a_closed_table_says_so(tmp_path: Path):
    with la.HammingTable.build([1, 2]) as table:
        table.save(tmp_path / "table")
        assert repr(table) == "<HammingTable of 2 rows, distance 3, in a folder, generation 1>"
    assert repr(table) == "<HammingTable, closed>"
