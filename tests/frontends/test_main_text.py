"""The main text of a page: what a site repeats is left out, and what a page is about stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from bench import web
from lookalike.frontends.html import MAX_DEPTH, VisibleText
from lookalike.frontends.main_text import main_text
from lookalike.sketches.exact import resemblance

TEXT = "<p>The pool is closed.</p>"
#: Parts of a site that are left out.
APART = [
    "<nav>Home</nav>",
    "<aside>News</aside>",
    "<footer>Imprint</footer>",
    "<header>Town of Wells</header>",
    "<form>Search</form>",
    '<div role="navigation">Home</div>',
    '<div role="Banner">Town</div>',
    '<div class="main-menu">Home</div>',
    '<div id="siteFooter">Imprint</div>',
    '<div class="box AD wide">Buy</div>',
    "<ul class=breadcrumbs><li>Home</ul>",
]
#: Parts that stay although a word in them is suspicious.
KEPT = [
    '<div class="with-sidebar"><h1>Title</h1>Words</div>',
    "<header><h1>Words</h1></header>",
    '<body class="nav-open">Words',
    "<nav><main>Words</main></nav>",
    '<p class="lead adage">Words</p>',
    "<ul><li><a href=1>Words</a></ul>",
]


@pytest.mark.parametrize("part", APART)
def test_what_a_site_repeats_is_left_out(part: str):
    assert main_text(f"<body>{part}{TEXT}") == main_text(f"<body>{TEXT}{part}") == "The pool is closed."


@pytest.mark.parametrize("part", KEPT)
def test_what_a_page_is_about_stays(part: str):
    assert "Words" in main_text(part)


@pytest.mark.parametrize("part", APART)
def test_a_page_without_a_main_part_has_all_its_text(part: str):
    assert main_text(part) == VisibleText(LexborHTMLParser(part)).text != ""


def test_pages_that_nest_too_deep_are_not_parsed():
    assert main_text("<div>" * (MAX_DEPTH + 1) + "hello") == "hello"


def test_two_lists_of_one_site_differ_in_any_markup():
    pages = web.Web(600)
    for site in range(3):
        one, other = (main_text(pages.page(site, f"/list/{n}", []) or "") for n in (0, 1))
        assert (resemblance(one, other) or 0) < 0.5, site


ELEMENTS = ["div", "nav", "main", "p", "h1", "ul", "td", "a", "form", "b"]
PIECES = st.one_of(
    st.sampled_from([f"<{name}>" for name in ELEMENTS] + [f"</{name}>" for name in ELEMENTS]),
    st.sampled_from(["<div class=menu>", "<p id='an-ad'>", "<section role=search>", "<!--", "-->", "<", "&amp;"]),
    st.text("abc xyz", min_size=1, max_size=8),
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_word_is_invented(page: str):
    everything = VisibleText(LexborHTMLParser(page)).text
    rest = iter(everything.replace("\n", " ").split())
    assert all(word in rest for word in main_text(page).split()), "a subsequence of the visible words"
