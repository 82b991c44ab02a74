"""Priority and budget of sites follow from their share of near-duplicates."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import pytest

from lookalike import params
from lookalike.scrapy.sites import Sites, site_of


def judged(pages: int, duplicates: int, **chosen: int | None) -> Sites:
    sites = Sites({}, **{"budget": None, "penalty": 10} | chosen)  # type: ignore[arg-type]
    for number in range(pages):
        sites.judged("a", is_duplicate=number < duplicates)
    return sites


@pytest.mark.parametrize(("pages", "duplicates"), [(0, 0), (1, 0), (1, 1), (90, 30), (1000, 1000), (1000, 0)])
def test_shares_are_those_of_the_documents(pages: int, duplicates: int):
    sites = judged(pages, duplicates, budget=1000)
    share = Fraction(duplicates, pages + params.SITE_PRIOR)
    assert sites.share("a") == float(share)
    assert sites.lowered("a") == floor(10 * share)
    assert sites.allowance("a") == floor(1000 * (1 - share))
    assert sites.share("b") == 0, "another site"


def test_a_site_without_near_duplicates_has_its_whole_budget():
    sites = Sites({}, budget=100, penalty=10)
    admitted = 0
    while sites.admit("a"):
        sites.judged("a", is_duplicate=False)
        admitted += 1
    assert admitted == 100


def test_a_trap_uses_up_its_budget_early():
    sites = Sites({}, budget=1000, penalty=10)
    admitted = 0
    while sites.admit("a"):
        sites.judged("a", is_duplicate=True)
        admitted += 1
    # n requests pass while n < 1000 · 10 / (n + 10).
    assert admitted == next(n for n in range(1000) if n >= floor(1000 * (1 - Fraction(n, n + params.SITE_PRIOR))))
    assert admitted == 95


def test_every_site_gets_one_request():
    sites = judged(1000, 1000, budget=1)
    assert sites.admit("a")
    assert not sites.admit("a")


def test_without_a_budget_everything_is_admitted():
    sites = judged(1000, 1000)
    assert all(sites.admit("a") for _ in range(100))


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("http://Example.org/a", "example.org"),
        ("https://example.org:444/", "example.org:444"),
        ("http://u:p@example.org/", "example.org"),
        ("http://[::1]:80/", "::1:80"),
        ("http://[bad/", ""),
        ("http://a:99999/", ""),
        ("file:///etc/hosts", ""),
    ],
)
def test_a_site_is_host_and_port(url: str, site: str):
    assert site_of(url) == site
