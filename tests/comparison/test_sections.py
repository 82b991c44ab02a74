"""Sections of prose: passages that stand near each other on both sides are one piece, as `oracles.sections` says."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.comparison import sections
from lookalike.comparison.result import File, Passage, Region, Section
from lookalike.rendering.comparison_tables import sections_csv
from oracles.sections import between
from oracles.sections import sections as defined
from support.submissions import prose, write

TEXT = File("a.txt", "text", "x" * 100_000, 100_000)
#: left start, right start, length on both sides
Place = tuple[int, int, int]


def passage(left: int, right: int, size: int, sort: str = "run", file: int = 0) -> Passage:
    """Make a passage of letters only."""
    sides = (Region(file, start, start + size, 1 + start // 50, 1 + (start + size) // 50) for start in (left, right))
    return Passage(*sides, size, 2, True, sort)


def told(passages: Sequence[Passage]) -> tuple[Section, ...]:
    return sections.sections_of(passages, [TEXT, TEXT], [TEXT, TEXT])


def boxes(found: Sequence[Section]) -> list[tuple[int, ...]]:
    return [(*section.left[1:3], *section.right[1:3], section.passages, section.letters) for section in found]


@st.composite
def places(draw: st.DrawFn) -> list[Place]:
    """Draw passages that are disjoint on both sides, in the same order or shuffled, near each other and far."""
    gaps = st.integers(0, 2 * sections.GAP)
    drawn = draw(st.lists(st.tuples(gaps, gaps, st.integers(16, 90)), max_size=14))
    order = draw(st.permutations(range(len(drawn)))) if draw(st.booleans()) else list(range(len(drawn)))
    left = right = 0
    rights = {}
    for i in order:
        right += drawn[i][1]
        rights[i] = right
        right += drawn[i][2]
    found = []
    for i, (gap, _, size) in enumerate(drawn):
        left += gap
        found.append((left, rights[i], size))
        left += size
    return found


def ring() -> list[Place]:
    """Return passages along two edges of a square, and one in its opposite corner: only the whole square reaches it."""
    near, far = sections.GAP * 3 // 4, sections.GAP * 8
    arc = [(0, i * near) for i in range(11)] + [(i * near, 10 * near) for i in range(1, 11)]
    return [*((left, right, 30) for left, right in arc), (far, 0, 30)]


@settings(max_examples=300)
@example(ring())
@given(places())
def test_sections_match_naive(found: list[Place]) -> None:
    plain = [(left, left + size, right, right + size, size) for left, right, size in found]
    assert boxes(told([passage(*one) for one in found])) == defined(plain, sections.GAP, sections.LETTERS)


@given(places(), st.randoms(use_true_random=False))
def test_order_of_passages_does_not_matter(found: list[Place], draw: random.Random) -> None:
    passages = [passage(*one) for one in found]
    shuffled = draw.sample(passages, len(passages))
    assert told(passages) == told(shuffled)


@given(places())
def test_sections_are_apart_and_each_passage_is_in_one_or_too_small(found: list[Place]) -> None:
    made = told([passage(*one) for one in found])
    for i, a in enumerate(made):
        for b in made[:i]:
            apart = [between(x[1:3], y[1:3]) for x, y in ((a.left, b.left), (a.right, b.right))]
            assert max(apart) > sections.GAP
    for left, right, size in found:
        around = [s for s in made if s.left.start <= left < s.left.end and s.right.start <= right < s.right.end]
        assert len(around) == 1 or (not around and size < sections.LETTERS)
    assert sum(section.passages for section in made) <= len(found)


def test_a_section_ends_at_a_gap_on_either_side() -> None:
    gap = sections.GAP
    near, far_left, far_right = (0, 0, 60), (61 + gap, 100, 60), (100, 61 + gap, 60)
    assert len(told([passage(*near), passage(60 + gap, 60 + gap, 60)])) == 1
    assert len(told([passage(*near), passage(*far_left)])) == 2
    assert len(told([passage(*near), passage(*far_right)])) == 2


def test_repeats_literals_and_other_files_join_nothing() -> None:
    first = passage(0, 0, 70)
    others = [passage(100, 100, 90, "repeat"), passage(200, 200, 90, "literal"), passage(100, 100, 80, file=1)]
    found = told([first, *others])
    assert boxes(found) == [(0, 70, 0, 70, 1, 70), (100, 180, 100, 180, 1, 80)]


def test_share_of_equal_text_is_that_of_the_longer_side() -> None:
    left = File("a.txt", "text", "a" * 100 + " - " + "b" * 20 + "c" * 80, 200)
    right = File("b.txt", "text", "a" * 100 + "c" * 80, 180)
    passages = [
        Passage(Region(0, 0, 100, 1, 1), Region(0, 0, 100, 1, 1), 100, 2, True),
        Passage(Region(0, 123, 203, 1, 1), Region(0, 100, 180, 1, 1), 80, 2, True),
    ]
    (section,) = sections.sections_of(passages, [left], [right])
    assert (section.passages, section.letters) == (2, 180)
    assert section.same == pytest.approx(0.9)


def test_code_has_no_sections() -> None:
    code = File("a.py", "python", "x" * 1000, 1000)
    assert sections.sections_of([passage(0, 0, 500)], [code], [code]) == ()
    assert sections.sections_of([passage(0, 0, 500)], [TEXT], [code]) == ()


def test_a_copy_with_changed_words_is_one_section(tmp_path: Path) -> None:
    words, others = prose(1, 300).split(), prose(9, 300).split()
    changed = [other if i % 30 > 14 else word for i, (word, other) in enumerate(zip(words, others, strict=True))]
    texts = {"ann": f"{prose(2)} {' '.join(words)} {prose(3)}", "bob": f"{prose(4)} {' '.join(changed)} {prose(5)}"}
    write(tmp_path, {f"{name}.txt": text for name, text in texts.items()})
    report = la.compare(tmp_path)
    (pair,) = report.pairs
    assert len(pair.passages) >= 8
    (section,) = pair.sections
    assert section.passages == sum(one.sort == "run" for one in pair.passages)
    assert 0.4 < section.same < 0.6
    assert "bob.txt" in sections_csv(report)
