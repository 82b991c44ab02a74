"""The promise of `compare` as properties: what is told is true to the letter, and no run as promised is missed."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike import params
from lookalike.comparison.result import File, Region, Report
from support.submissions import SUFFIXES, SYNTAX, prose, renamed, statements, wrapped, write
from support.texts import texts

K, T = params.LANGUAGE_THRESHOLDS["text"]


def compared(left: str, right: str, suffix: str = ".txt", **asked: object) -> Report:
    """Compare two texts as files; whatever they share is told, however little it is."""
    with TemporaryDirectory() as folder:
        write(Path(folder), {f"a{suffix}": left, f"b{suffix}": right})
        return la.compare(folder, min_score=0, **asked)  # type: ignore[arg-type]


def letters(text: str) -> list[tuple[int, int, int]]:
    """Return the letters of prose with their places."""
    stream = la.stream(text, unit="character", homoglyphs=True)
    return [(token, *span) for token, span in zip(stream.tokens.tolist(), stream.spans.tolist(), strict=True)]


def inside(stream: list[tuple[int, int, int]], region: Region) -> list[int]:
    return [token for token, start, end in stream if region.start <= start and end <= region.end]


def shared_letters(mine: list[int], other: list[int], t: int) -> set[int]:
    """Return the positions that lie in a run of t letters that the other has too: the slow and plain way."""
    runs = {tuple(other[i : i + t]) for i in range(len(other) - t + 1)}
    starts = [i for i in range(len(mine) - t + 1) if tuple(mine[i : i + t]) in runs]
    return {i + j for i in starts for j in range(t)}


def covered(regions: list[Region], stream: list[tuple[int, int, int]]) -> set[int]:
    return {
        i
        for i, (_, start, end) in enumerate(stream)
        if any(region.start <= start and end <= region.end for region in regions)
    }


def sides(report: Report) -> tuple[list[Region], list[Region]]:
    passages = [passage for pair in (*report.pairs, *report.little) for passage in pair.passages]
    return [passage.left for passage in passages], [passage.right for passage in passages]


def line_at(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def check_lines(file: File, region: Region) -> None:
    assert 0 <= region.start < region.end <= len(file.text)
    assert region.start_line == line_at(file.text, region.start)
    assert region.end_line == line_at(file.text, region.end - 1)


@st.composite
def borrowings(draw: st.DrawFn) -> tuple[str, str]:
    """Draw two texts with pieces in common, whole or in part, in any order and number."""
    pieces = draw(st.lists(texts(), min_size=1, max_size=4))
    parts = st.lists(st.one_of(st.sampled_from(pieces), texts()), max_size=5)
    return draw(parts.map("\r\n".join)), draw(parts.map("\n".join))


@given(borrowings())
@settings(max_examples=80)
@example(("ab" * 200, "ba" * 150 + "c" + "ab" * 40))
@example(("a" * 100, "a" * 37))
def test_every_letter_in_a_run_of_t_is_covered_on_both_sides(both: tuple[str, str]):
    left, right = map(letters, both)
    report = compared(*both)
    tokens = [token for token, _, _ in left], [token for token, _, _ in right]
    promised = shared_letters(*tokens, T), shared_letters(*tokens[::-1], T)
    for regions, stream, positions in zip(sides(report), (left, right), promised, strict=True):
        assert not positions - covered(regions, stream)


@given(borrowings())
@settings(max_examples=60)
def test_passages_are_where_they_are_said_to_be(both: tuple[str, str]):
    report = compared(*both)
    for pair in report.pairs:
        files = report.entries[pair.left].files[0], report.entries[pair.right].files[0]
        for passage in pair.passages:
            for file, region in zip(files, (passage.left, passage.right), strict=True):
                check_lines(file, region)
            told = [inside(letters(files[i].text), region) for i, region in enumerate((passage.left, passage.right))]
            # Identical submissions are recognised however short they are.
            assert passage.tokens >= K or pair.score == 1
            if passage.exact:
                assert told[0] == told[1]


@given(borrowings(), st.integers(1, 40), st.integers(0, 40))
@settings(max_examples=60)
@example(("0" * 65, "0" * 130), 1, 0)
def test_the_guarantee_holds_for_any_k_and_t(both: tuple[str, str], k: int, more: int):
    left, right = map(letters, both)
    report = compared(*both, k=k, t=k + more)
    tokens = [token for token, _, _ in left], [token for token, _, _ in right]
    assert not shared_letters(*tokens, k + more) - covered(sides(report)[0], left)
    assert all(passage.tokens >= k or pair.score == 1 for pair in report.pairs for passage in pair.passages)


@st.composite
def plagiarisms(draw: st.DrawFn, language: str) -> tuple[list[str], list[str], list[str]]:
    """Draw two programs' statements and the run of them that was copied, long enough to be promised."""
    seed = draw(st.integers(0, 10_000))
    size = draw(st.integers(4, 12))
    shared = statements(seed, language, size)
    frames = [statements(seed + offset, language, 20) for offset in (20_001, 40_002)]
    made = []
    for frame in frames:
        at = draw(st.integers(0, len(frame)))
        made.append(frame[:at] + shared + frame[at:])
    return made[0], made[1], shared


@pytest.mark.parametrize("language", SYNTAX)
@given(data=st.data())
@settings(max_examples=30)
def test_copied_statements_are_covered_on_both_sides(language: str, data: st.DataObject):
    *programs, shared = data.draw(plagiarisms(language))
    programs = [wrapped(program, language) for program in programs]
    report = compared(programs[0], renamed(programs[1]), SUFFIXES[language])
    copied = "".join(shared)
    for regions, entry, text in zip(sides(report), report.entries, (copied, renamed(copied)), strict=True):
        source = entry.files[0].text
        start = source.index(text)
        told = {at for region in regions for at in range(region.start, region.end)}
        missed = [at for at in range(start, start + len(text)) if at not in told and source[at].isalnum()]
        assert not missed, source[missed[0] : missed[-1] + 1]


@pytest.mark.parametrize("language", SYNTAX)
@given(data=st.data())
@settings(max_examples=20)
def test_passages_of_programs_are_where_they_are_said_to_be(language: str, data: st.DataObject):
    *programs, _ = data.draw(plagiarisms(language))
    report = compared(*(wrapped(program, language) for program in programs), SUFFIXES[language])
    for pair in report.pairs:
        for passage in pair.passages:
            shown = []
            for entry, region in ((pair.left, passage.left), (pair.right, passage.right)):
                file = report.entries[entry].files[0]
                check_lines(file, region)
                # Layout and what only parts one thing from the next is no token.
                shown.append(re.sub(r"[\s(),;.]", "", file.text[region.start : region.end]))
            if passage.exact:
                assert shown[0] == shown[1]


def test_a_run_of_exactly_t_is_found_and_one_of_k_less_one_is_not():
    """Between letters that differ on both sides, whatever their place."""
    word = "".join(c for c in prose(3) if c.isalpha()).lower()
    found = defaultdict(list)
    for length in (K - 1, T):
        for before in range(0, 60, 7):
            left = prose(1)[:before] + "#" + word[:length] + "é" + prose(2)
            right = prose(4)[: 60 - before] + "#" + word[:length] + "ü" + prose(5)
            found[length].append(bool(compared(left, right).pairs))
    assert found == {K - 1: [False] * 9, T: [True] * 9}
