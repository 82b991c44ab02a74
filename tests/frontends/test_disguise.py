"""Signs of a disguise: how many it takes, and what honest people write."""

from __future__ import annotations

import pytest

from lookalike.frontends.disguise import signs

#: Latin letters with one Cyrillic each.
MIXED = ["pаper", "hоuse", "sсience", "wоrd"]


@pytest.mark.parametrize(("count", "told"), [(0, False), (1, False), (2, False), (3, True), (4, True)])
def test_three_mixed_words_are_a_sign_and_two_may_be_a_slip(count: int, told: bool):
    found = list(signs("an honest text with " + " ".join(MIXED[:count])))
    assert len(found) == told
    assert all(str(count) in one for one in found)


@pytest.mark.parametrize("unseen", ["\u200b", "\u202e", "\u2060", "\ufeff"])
def test_one_unseen_character_between_letters_is_a_sign(unseen: str):
    assert len(list(signs(f"in{unseen}side"))) == 1
    assert list(signs(f"at the end {unseen}")) == []


def test_honest_scripts_are_no_sign():
    assert list(signs("привет мир и всё Δt μm αβγ soft\u00adhyphen " * 5)) == []
