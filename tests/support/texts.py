"""Generators of texts: random, real, Unicode and of low entropy."""

from __future__ import annotations

import inspect

from hypothesis import strategies as st

import lookalike

#: Real prose that every installation has.
REAL = " ".join(inspect.getdoc(value) or "" for value in vars(lookalike).values()) + inspect.getsource(inspect)[:20_000]

FRAGMENTS = [
    "e\u0301",
    "ﬁne",
    "Straße",
    "日本語の文章",
    "カタカナ",
    "ภาษาไทย",
    "العَرَبِيَّة",
    "раураl",
    "a\u202eb\u200bc",
    "👩‍👩‍👧",
    "\ufeff",
]


def thue_morse(n: int) -> str:
    """Return the first n letters of the sequence without cubes."""
    return "".join("ab"[i.bit_count() & 1] for i in range(n))


@st.composite
def periodic(draw: st.DrawFn) -> str:
    """Draw a text that repeats itself."""
    return draw(st.text("abc", min_size=1, max_size=40)) * draw(st.integers(1, 60))


@st.composite
def real(draw: st.DrawFn) -> str:
    """Draw a piece of real prose and code."""
    start = draw(st.integers(0, len(REAL) - 1))
    return REAL[start : start + draw(st.integers(0, 600))]


def texts() -> st.SearchStrategy[str]:
    """Draw any of them."""
    return st.one_of(
        st.text(max_size=300),
        st.text("ab", max_size=400),
        st.integers(0, 400).map(thue_morse),
        periodic(),
        real(),
        st.lists(st.sampled_from(FRAGMENTS), max_size=20).map("".join),
    )
