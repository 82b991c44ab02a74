"""In a list, strings are texts and files are paths; a string that names a file is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lookalike as la

CALLS: dict[str, Callable[[Any], Any]] = {
    "dedup": la.dedup,
    "dedup against": lambda texts: la.dedup(iter(["a text"]), against=texts),
    "simhash_corpus": lambda texts: la.simhash_corpus(texts, "out.parquet"),
    "sketch_batch": la.sketch_batch,
    "sketch_batch, one thread": lambda texts: la.sketch_batch(texts, threads=1),
    "simhash_batch": la.simhash_batch,
    "fingerprint_batch": la.fingerprint_batch,
    "fingerprint_batch, one thread": lambda texts: la.fingerprint_batch(texts, threads=1),
    "idf_table": la.idf_table,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "below").mkdir()
    (tmp_path / "notes.txt").write_text("what the file holds")
    (tmp_path / "below" / "more.txt").write_text("what the other file holds")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", ["notes.txt", "below/more.txt", "./notes.txt", "whole"])
def test_a_string_that_names_a_file_is_refused_in_a_list(call: str, name: str, folder: Path):
    path = str(folder / "notes.txt") if name == "whole" else name
    for kind in (list, tuple):
        with pytest.raises(la.ParameterError) as caught:
            CALLS[call](kind(["some words", path, "other words"]))
        assert f"`{path}`" in str(caught.value)
        assert f"pathlib.Path({path!r})" in str(caught.value)


@pytest.mark.parametrize("call", [name for name in CALLS if name != "simhash_corpus"])
@pytest.mark.parametrize(
    "texts",
    [
        ["notes.txt", "a text\nof two lines"],
        ["notes.txt", "x" * 4096],
        ["notes.tx", "below", "below/none.txt", "no/such/folder", "a\0b", "", "/", "and/or"],
        iter(["notes.txt"]),
    ],
    ids=["a list with lines", "a list with a long text", "nothing of that name", "an iterator"],
)
def test_texts_are_taken_as_texts(call: str, texts: Any, folder: Path):
    given = list(texts) if isinstance(texts, list) else ["notes.txt"]
    found = CALLS[call](given if isinstance(texts, list) else iter(given))
    assert isinstance(found, la.Deduplication | la.SketchTable | la.SimhashTable | la.FingerprintTable | la.IdfTable)


def test_paths_are_files_and_texts_are_texts(folder: Path):
    assert la.dedup([folder / "notes.txt", folder / "below" / "more.txt"]).rows == 2
    with pytest.raises(la.ParameterError, match="is a path among texts"):
        la.dedup(["some words", folder / "notes.txt"])


def test_only_the_first_strings_of_a_long_list_are_looked_at(folder: Path):
    words = ["some words"] * 99
    with pytest.raises(la.ParameterError, match="names a file"):
        la.simhash_batch([*words, "notes.txt"])
    assert len(la.simhash_batch([*words, "more words", "notes.txt"])) == 101
