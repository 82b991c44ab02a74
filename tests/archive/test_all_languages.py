"""One text added as each language and asked as each: answers are complete, and languages never match each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import lookalike as la
from lookalike._types import bytes_of
from lookalike.archive.answers import Queried
from lookalike.archive.parameters import Parameters
from lookalike.archive.signing import signer
from lookalike.archive.store import Index
from lookalike.archive.view import View
from lookalike.comparison.reading import Question, read_one
from lookalike.documents import Document
from lookalike.frontends import installed
from lookalike.frontends.languages import CORE, LEXED_LANGUAGES, family
from lookalike.rendering.comparison_tables import pairs_csv
from tests.support.kinds import AskedView
from tests.support.submissions import statements, wrapped

#: Every language, prose among them.
LANGUAGES = ["text", *sorted(CORE), *sorted(one.name for one in LEXED_LANGUAGES)]
TEXT = wrapped(statements(5, "c", 30), "c")


def as_language(parameters: Parameters, language: str) -> Question:
    return Question(language, parameters.k, parameters.t, False, None, None, 0.0, None, 0.0)


def added(index: Index) -> dict[str, int]:
    """Add the text once per language; the id is the language. Return the number of tokens by language."""
    by, documents, lengths = signer(index.parameters), [], {}
    for language in LANGUAGES:
        read = read_one(Document("work", TEXT.encode()), as_language(index.parameters, language), installed())
        assert read.file is not None, read.refusal
        assert read.languages == (language,)
        name = bytes_of(language)
        documents.append(by.submission([(b"work", read.file)], b"", name, b"{}", name, None, None, 0))
        lengths[language] = read.file.tokens
    index._add_records(documents)
    return lengths


def asked_as(view: View, language: str) -> Queried:
    """Ask all questions about the text, read as this language."""
    parameters = replace(view.parameters, language=language)
    return AskedView(replace(view, state=replace(view.state, parameters=parameters.to_json()))).query(TEXT, top=0)


@pytest.mark.parametrize("compacted", [False, True])
def test_each_language_finds_its_own_family_and_no_other(tmp_path: Path, compacted: bool):
    with la.Index.create(tmp_path / "index") as index:
        lengths = added(index)
        if compacted:
            index.compact()
        with index.snapshot() as view:
            for language in LANGUAGES:
                answers = {one.question: one for one in asked_as(view, language).answers}
                expected = [one for one in LANGUAGES if family(one) == family(language)]
                passages = answers.pop("passages")
                # Documents of one content are told once, by the first of those that share tokens.
                told = [(one.id, one.copies, one.passages[0].tokens) for one in passages.matches]
                assert told == [(expected[0], len(LANGUAGES), lengths[language])], language
                assert passages.documents == len(expected), language
                assert passages.work[0] == passages.matches[0].fingerprints * len(expected), "postings of others"
                # Questions that do not look at tokens of code find all documents.
                for question, answer in answers.items():
                    assert (answer.documents, answer.distinct) == (len(LANGUAGES), 1), (language, question)
                for answer in (passages, *answers.values()):
                    # A row and a text of each document at most.
                    assert sum(answer.work[1:]) <= 2 * len(LANGUAGES), (language, answer.question, answer.work)


def test_a_comparison_pairs_families_only(tmp_path: Path):
    with la.Index.create(tmp_path / "index") as index:
        added(index)
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "mine.c").write_text(TEXT)
    report = la.compare(tmp_path / "new", index=tmp_path / "index", min_score=0.0)
    named = {report.entries[end].name for pair in report.pairs for end in (pair.left, pair.right)} - {"mine.c"}
    assert named == {one for one in LANGUAGES if family(one) == family("c")}, pairs_csv(report)
