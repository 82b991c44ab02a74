"""Texts that grow when they are folded, compared with folding them; and texts of real scripts, which do not."""

from __future__ import annotations

import random
import unicodedata

import pytest

from lookalike.service import growth
from lookalike.service.faults import FaultError

LONG = growth.SHORT + 1


def code(text: str) -> str | None:
    try:
        growth.check(text)
    except FaultError as error:
        return error.fault.code
    return None


def test_accepted_texts_grow_by_a_bounded_factor():
    """Mixtures of all characters that fold to others: those that are accepted stay below the bound."""
    source = random.Random(7)
    every = [chr(one) for one in range(0xA0, 0x30000) if unicodedata.decomposition(chr(one))]
    greatest = max(len(unicodedata.normalize("NFKC", one).encode()) for one in every)
    refused = 0
    for number in range(200):
        few = source.choices(every, k=3)
        share = source.random()
        text = "".join(source.choice(few) if source.random() < share else "x" for _ in range(LONG))
        size = len(unicodedata.normalize("NFKC", text).encode())
        bound = growth.MOST_TIMES * len(text.encode()) + greatest * len(text) // growth.ONE_IN
        refused += code(text) is not None
        assert size <= bound or code(text) == "text-grows", (number, few)
    assert refused


@pytest.mark.parametrize("marks", [30, 31, 32, 100, 1_000_000])
def test_marks_are_counted_per_character(marks: int):
    count = LONG * 8 // marks + 1
    beyond = max(0, marks - growth.MOST_MARKS) * count
    text = ("a" + "\u0301\u0323" * marks)[: marks + 1] * count
    assert code(text) == ("many-marks" if beyond > growth.MOST_BEYOND else None)


def test_real_scripts_are_accepted():
    texts = {
        "thai": "น้ำทำงานคำนำ",
        "hindi": "क्षत्रिय ज्ञानी ",
        "arabic": "قال النبي ﷺ إنما الأعمال بالنيات ",
        "hebrew": "בְּרֵאשִׁית בָּרָא אֱלֹהִים ",
        "vietnamese": unicodedata.normalize("NFD", "Tiếng Việt được viết bằng chữ Quốc ngữ "),
        "korean": unicodedata.normalize("NFD", "대한민국의 국어 "),
        "fractions": "½ ⅓ ¼ cup ",
        "squares": "㎏ ㎡ ㏄ ",
        "emoji": "👩‍👩‍👧‍👦 ",
    }
    for name, text in texts.items():
        assert code(text * LONG) is None, name


def test_short_texts_are_accepted():
    assert code("\ufdfa" * growth.SHORT) is None
    assert code("\ufdfa" * LONG) == "text-grows"
