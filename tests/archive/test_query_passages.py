"""Passages are the tiles that `oracles.compare` finds, joined over small gaps as `compare` joins them.

All documents that share a fingerprint are counted. With a longer window the matches are those of an index that was made
with that window.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import lookalike as la
from lookalike.archive.answers import Answer, Match
from lookalike.errors import ParameterError, VersionError
from oracles.compare.entries import Entry, Handed, Source, read
from oracles.compare.tiles import Tile, aligned
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


def joined(one: Entry, other: Entry) -> list[Found]:
    """Return the tiles of two texts as the oracle finds them, those within k tokens on both sides as one passage."""
    groups: list[list[Tile]] = []
    for tile in sorted(aligned(one, other)[0]):
        if groups and _follows(one, other, groups[-1][-1], tile):
            groups[-1].append(tile)
        else:
            groups.append([tile])
    return sorted(_place(one, other, group) for group in groups)


def _follows(one: Entry, other: Entry, last: Tile, tile: Tile) -> bool:
    gaps = (tile.a - last.a - last.n, tile.b - last.b - last.n)
    return all(0 <= gap <= side.part(at).k for gap, side, at in zip(gaps, (one, other), tile[:2], strict=True))


def _place(one: Entry, other: Entry, group: list[Tile]) -> Found:
    first, last = group[0], group[-1]
    mine = one.spans[first.a][0], one.spans[last.a + last.n - 1][1]
    theirs = other.spans[first.b][0], other.spans[last.b + last.n - 1][1]
    return (*mine, *theirs, sum(tile.n for tile in group))


def text_of(language: str, draw: random.Random) -> str:
    taken = draw.sample(range(4), draw.randint(0, 2))
    if language == "text":
        return " ".join([*(prose(n, 12) for n in taken), prose(draw.randint(50, 90), draw.randint(2, 20))])
    lines = [line for n in taken for line in statements(n, language, 3)]
    return wrapped([*lines, *statements(draw.randint(50, 90), language, 3)], language)


@pytest.mark.parametrize("language", ["text", "python", "java"])
def test_passages_are_the_joined_tiles_of_the_oracle(tmp_path: Path, language: str):
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
            expected = {name: joined(mine, entries[name]) for name in firsts if sharing[name]}
            assert {match.id: runs(match) for match in answer.matches} == {
                name: found for name, found in expected.items() if found
            }
            assert all(match.fingerprints == sharing[match.id] for match in answer.matches)
            assert [match.id for match in answer.matches] == [
                match.id for match in sorted(answer.matches, key=lambda one: weight(one, list(texts)))
            ]
            assert asked(index, text, f"asked{SUFFIXES[language]}", top=2).matches == answer.matches[:2]
            listed += len(answer.matches)
    assert listed > 15


def weight(match: Match, arrival: list[str]) -> tuple[int, int, int]:
    """Return what decides the place of a match: its tokens, its longest passage, and its arrival."""
    tokens = [one.tokens for one in match.passages]
    return -sum(tokens), -max(tokens), arrival.index(match.id)


def letters(seed: int, count: int) -> str:
    """Return so many letters; no run of them is that of another seed."""
    return "".join(filter(str.isalpha, prose(seed, count)))[:count].lower()


def test_where_very_many_share_as_much_the_answer_says_that_not_all_were_compared(tmp_path: Path):
    # Every document shares one part of 60 letters and no letter around it, so none can be passed over.
    parts = [letters(n, 60) for n in range(10)]
    with la.Index.create(tmp_path / "archive", kind="corpus", k=16, t=22, without="distance") as index:
        index.add([(f"{n}", f"x{parts[n % 10]}x {prose(100 + n, 3)}") for n in range(490)])
        assert "only those that share most" not in asked(index, "z".join(parts), top=5).certificate
        index.add([(f"{n}", f"x{parts[n % 10]}x {prose(100 + n, 3)}") for n in range(490, 600)])
        answer = asked(index, "z".join(parts), top=5)
        assert (answer.documents, len(answer.matches), answer.work[-1]) == (600, 5, 500)
        assert "only those that share most fingerprints were compared" in answer.certificate
        assert "only those that share most" not in asked(index, "z".join(parts), top=0).certificate


def test_documents_that_cannot_share_as_much_are_passed_over(tmp_path: Path):
    short, long = [letters(n, 30) for n in range(10)], letters(10, 200)
    with la.Index.create(tmp_path / "archive", kind="corpus", k=16, t=22, without="distance") as index:
        index.add([(f"{n}", f"x{short[n % 10]}x {prose(100 + n, 3)}") for n in range(600)])
        index.add([(f"long {n}", f"{prose(800 + n, 3)} x{long[n:]}x") for n in range(8)])
        text = "z".join([*short, long])
        answer, every = asked(index, text, top=5), asked(index, text)
        assert [match.id for match in answer.matches] == [f"long {n}" for n in range(5)]
        assert (answer.matches, answer.documents) == (every.matches[:5], every.documents) == (answer.matches, 608)
        assert answer.work[-1] <= 8 < every.work[-1] == 608, "the texts of the others are not read"
        assert "only those that share most" not in answer.certificate


@pytest.mark.parametrize("seed", range(6))
def test_the_best_are_the_first_of_all_where_texts_repeat_themselves(tmp_path: Path, seed: int):
    draw = random.Random(seed)

    def text() -> str:
        pieces = ["ab", "abb", "aab", "abc", "a", letters(draw.randint(0, 3), 40)]
        return "".join(draw.choice(pieces) * draw.randint(1, 30) for _ in range(draw.randint(1, 6)))

    with la.Index.create(tmp_path / "archive", kind="corpus", k=6, t=11, without="distance") as index:
        index.add([(f"{n}", text()) for n in range(60)])
        for _ in range(20):
            question = text()
            every = asked(index, question)
            for top in (1, 3, 10):
                answer = asked(index, question, top=top)
                assert answer.matches == every.matches[:top]
                assert (answer.documents, answer.common) == (every.documents, every.common)


def test_starter_code_is_never_told(tmp_path: Path):
    given, own = prose(1, 60), prose(2, 60)
    (tmp_path / "given.txt").write_text(given, "utf-8")
    with la.Index.create(tmp_path / "archive") as index:
        index.add({"ann.txt": given + prose(3, 30), "bob.txt": prose(4, 20) + own})
        index.add([], template=[tmp_path / "given.txt"])
        answer = asked(index, f"{given} {own}")
        assert [match.id for match in answer.matches] == ["bob.txt"]
        assert answer.documents == 1, "what shares starter code only is not counted"
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


def changed(text: str, at: int, word: str) -> str:
    words = text.split(" ")
    return " ".join([*words[:at], word, *words[at + 1 :]])


def test_tiles_within_k_letters_are_one_passage(tmp_path: Path):
    text = prose(1, 60).replace("\n", " ")
    with la.Index.create(tmp_path / "archive") as index:
        index.add({"ann.txt": text})
        [match] = asked(index, changed(text, 30, "zzz")).matches
        [passage] = match.passages
        assert not passage.exact
        assert (passage.asked.start, passage.asked.end) == (0, len(changed(text, 30, "zzz").rstrip(" .")))
        [match] = asked(index, changed(text, 30, "z" * 40)).matches
        assert len(match.passages) == 2, "a longer gap parts them"


@pytest.mark.parametrize(("language", "window"), [("text", 7), ("text", 12), ("text", 40), ("python", 9), ("java", 30)])
def test_a_longer_window_finds_what_an_index_with_that_window_finds(tmp_path: Path, language: str, window: int):
    draw = random.Random(f"{language} {window}")
    texts = {f"{n}{SUFFIXES[language]}": text_of(language, draw) for n in range(14)}
    with la.Index.create(tmp_path / "fine") as fine:
        k = fine.parameters.thresholds_of(language)[0]
        listed = lookups = 0
        with la.Index.create(tmp_path / "coarse", k=k, t=k + window - 1) as coarse:
            for index in (fine, coarse):
                index.add(texts)
            for _ in range(8):
                text, how = (
                    text_of(language, draw),
                    {"question": ["passages"], "name": f"a{SUFFIXES[language]}", "top": 0},
                )
                one = fine.query(text, window=window, **how).answers[0]  # type: ignore[arg-type]
                other = coarse.query(text, **how).answers[0]  # type: ignore[arg-type]
                usual = fine.query(text, **how).answers[0]  # type: ignore[arg-type]
                assert {(match.id, match.copies, match.passages) for match in one.matches} == {
                    (match.id, match.copies, match.passages) for match in other.matches
                }
                assert other.documents <= one.documents <= usual.documents
                assert f"every document that shares a run of {k + window - 1} tokens" in one.certificate
                listed, lookups = listed + len(one.matches), lookups + usual.work[0] - one.work[0]
        assert listed > 5
        assert lookups > 0 or window == 7, "fewer fingerprints are looked up"


def test_a_shorter_window_than_that_of_the_index_is_refused(tmp_path: Path):
    for kind, least in (("class", 7), ("corpus", 100)):
        with la.Index.create(tmp_path / kind, kind=kind) as index:
            with pytest.raises(VersionError, match=f"use {least} or more for text"):
                index.query(prose(1, 60), window=least - 1)
            with pytest.raises(ParameterError, match="out of range"):
                index.query(prose(1, 60), window=0)
            assert index.query(prose(1, 60), window=least).find("passages") is not None


def test_a_window_of_a_corpus_is_that_of_an_index_with_it(tmp_path: Path):
    rows = [(f"{n}", f"{prose(n % 3, 30)} {prose(50 + n, 30)}") for n in range(9)]
    fine = la.Index.create(tmp_path / "fine", kind="corpus", k=16, t=22)
    coarse = la.Index.create(tmp_path / "coarse", kind="corpus", k=16, t=60)
    with fine, coarse:
        fine.add(rows)
        coarse.add(rows)
        text = f"{prose(1, 30)} {prose(52, 12)}"
        one, other = (
            index.query(text, question=["passages"], window=window, top=0).answers[0].matches
            for index, window in ((fine, 45), (coarse, None))
        )
        assert {(match.id, match.passages) for match in one} == {(match.id, match.passages) for match in other}
        assert one
