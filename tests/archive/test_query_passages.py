"""Passages are the tiles that `oracles.compare` finds, and all documents that share a fingerprint are counted."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import lookalike as la
from lookalike.archive.answers import Answer, Match
from oracles.compare.entries import Entry, Handed, Source, read
from oracles.compare.tiles import aligned
from support.submissions import SUFFIXES, prose, statements, wrapped

#: Start and end in the asked text, start and end in the stored one, tokens.
Found = tuple[int, int, int, int, int]


def asked(index: la.Index, text: str, name: str = "a.txt", top: int = 0) -> Answer:
    found = index.query(text, question=["passages"], name=name, top=top).find("passages")
    assert found is not None
    return found


def runs(match: Match) -> list[Found]:
    told = (one for one in match.passages if not one.is_literal)
    return sorted((*one.asked[1:3], *one.stored[1:3], one.tokens) for one in told)


def entry(language: str, text: str) -> Entry:
    return read(Handed("", (Source(language, text),)), 1)


def tiles(one: Entry, other: Entry) -> list[Found]:
    """Return the tiles of two texts as the oracle finds them."""
    found = [(tile.a, tile.a + tile.n - 1, tile.b, tile.b + tile.n - 1, tile.n) for tile in aligned(one, other)[0]]
    return sorted(
        (one.spans[a][0], one.spans[b][1], other.spans[c][0], other.spans[d][1], n) for a, b, c, d, n in found
    )


def text_of(language: str, draw: random.Random) -> str:
    taken = draw.sample(range(4), draw.randint(0, 2))
    if language == "text":
        return " ".join([*(prose(n, 12) for n in taken), prose(draw.randint(50, 90), draw.randint(2, 20))])
    lines = [line for n in taken for line in statements(n, language, 3)]
    return wrapped([*lines, *statements(draw.randint(50, 90), language, 3)], language)


@pytest.mark.parametrize("language", ["text", "python", "java"])
def test_passages_are_the_tiles_of_the_oracle(tmp_path: Path, language: str):
    draw = random.Random(language)
    texts = {f"{n}{SUFFIXES[language]}": text_of(language, draw) for n in range(14)}
    listed = 0
    with la.Index.create(tmp_path / "archive") as index:
        index.add(texts)
        entries = {name: entry(language, text) for name, text in texts.items()}
        for _ in range(12):
            text = text_of(language, draw)
            mine = entry(language, text)
            keys = {key for key, _ in mine.picks}
            sharing = {name: len(keys & {key for key, _ in one.picks}) for name, one in entries.items()}
            answer = asked(index, text, f"asked{SUFFIXES[language]}")
            assert answer.documents == sum(count > 0 for count in sharing.values())
            # Documents with one text are told once.
            firsts = {text: name for name, text in reversed(texts.items())}.values()
            expected = {name: tiles(mine, entries[name]) for name in firsts if sharing[name]}
            assert {match.id: runs(match) for match in answer.matches} == {
                name: found for name, found in expected.items() if found
            }
            assert [match.fingerprints for match in answer.matches] == sorted(
                (sharing[match.id] for match in answer.matches), reverse=True
            )
            listed += len(answer.matches)
    assert listed > 15


def test_starter_code_is_never_told(tmp_path: Path):
    given, own = prose(1, 60), prose(2, 60)
    (tmp_path / "given.txt").write_text(given, "utf-8")
    with la.Index.create(tmp_path / "archive") as index:
        index.add({"ann.txt": given + prose(3, 30), "bob.txt": prose(4, 20) + own})
        index.add([], template=[tmp_path / "given.txt"])
        answer = asked(index, f"{given} {own}")
        assert [match.id for match in answer.matches] == ["bob.txt"]
        assert answer.documents == 2
        index.remove("template/given.txt")
        assert {match.id for match in asked(index, f"{given} {own}").matches} == {"ann.txt", "bob.txt"}


def test_what_very_many_have_is_told_once(tmp_path: Path):
    hot, rare = prose(1, 40), prose(2, 40)
    with la.Index.create(tmp_path / "archive", kind="corpus", k=16, t=22) as index:
        index.add([(f"{n:03}", f"{hot} {prose(100 + n, 20)}") for n in range(70)])
        index.add([("rare", f"{hot} {rare}"), ("copy", f"{hot} {rare}"), ("other", prose(9, 50))])
        answer = asked(index, f"{prose(7, 10)} {hot} {rare}")
        assert (answer.documents, [(match.id, match.copies) for match in answer.matches]) == (72, [("rare", 2)])
        [(place, documents)] = answer.common
        assert documents == 72
        assert (place.start_line, place.end_line) == (2, 5)
        assert "70 documents share only what very many have" in answer.certificate
        assert asked(index, "nothing of this kind").documents == 0


def test_a_string_literal_is_a_passage(tmp_path: Path):
    said = "twelve men went out to sea"
    with la.Index.create(tmp_path / "archive") as index:
        index.add({"ann.py": f'import os\nprint("{said}")\n', "bob.py": "print(1)\n"})
        answer = asked(index, f'def f(a, b):\n    return [a, b, "{said}"]\n', "asked.py")
    [match] = answer.matches
    [passage] = match.passages
    assert (match.id, passage.is_literal, passage.tokens, passage.stored.start_line) == ("ann.py", True, 6, 2)


def test_without_texts_documents_are_counted_and_no_passage_is_shown(tmp_path: Path):
    with la.Index.create(tmp_path / "archive", no_texts=True) as index:
        index.add({"ann.txt": prose(1, 60), "bob.txt": prose(2, 60)})
        answer = asked(index, prose(1, 60))
    assert [(match.id, match.passages) for match in answer.matches] == [("ann.txt", ())]
    assert "not kept" in answer.certificate
