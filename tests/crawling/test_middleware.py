"""The component in real crawls: what the spider gets, what is dropped, counted and logged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike.errors import LockedError
from support.pages import Answer, crawled, served, text
from support.servers import serving


def page(number: int, *links: str, extra: str = "") -> Answer:
    """A page with one of several texts and some links."""
    listed = "".join(f'<a href="{link}">more</a>' for link in links)
    return Answer(
        f"<html><body><main><h1>Page</h1><p>{text(number)} {extra}</p></main><nav>{listed}</nav></body></html>"
    )


def paths(urls: list[str]) -> list[str]:
    return ["/" + url.split("/", 3)[3] for url in urls]


def site(pages: dict[str, Answer]) -> Any:
    return lambda path, _: pages.get(path)


def test_a_near_duplicate_and_its_links_are_dropped(tmp_path: Path):
    pages = {
        "/": page(0, "/a", "/copy"),
        "/a": page(1, "/b"),
        "/copy": page(0, "/only-here", extra="today"),
        "/b": page(2),
        "/only-here": page(3),
    }
    with served(site(pages)) as (address,):
        found = crawled(f"{address}/", LOOKALIKE_INDEX=str(tmp_path / "index"))
        assert sorted(paths(found["kept"])) == ["/", "/a", "/b"]
        assert sorted(paths(found["fetched"])) == ["/", "/a", "/b", "/copy"]
        assert found["dropped"] == [[f"{address}/copy", f"{address}/"]]
        assert found["stats"] == {"lookalike/asked": 4, "lookalike/new": 3, "lookalike/dropped": 1}
        with la.Index(tmp_path / "index") as index:
            assert sorted(paths([one.id for one in index.documents()])) == ["/", "/a", "/b"]
    assert found["log"] == ""


def test_a_second_crawl_visits_known_pages_again_and_drops_their_copies(tmp_path: Path):
    pages = {"/": page(0, "/a", "/copy"), "/a": page(1), "/copy": page(0)}
    with served(site(pages)) as (address,):
        first = crawled(f"{address}/", LOOKALIKE_INDEX=str(tmp_path / "index"))
        pages["/a"] = page(1, "/new", extra="with an addition")
        pages["/new"] = page(5)
        second = crawled(f"{address}/", LOOKALIKE_INDEX=str(tmp_path / "index"))
        with la.Index(tmp_path / "index") as index:
            entry = index.document(f"{address}/a")
            assert entry is not None
            assert index.seen(text(1) + " with an addition").nearest.resemblance.value > 0.9  # type: ignore[union-attr]
    assert len(first["kept"]) == 2
    assert sorted(paths(second["kept"])) == ["/", "/a", "/new"]
    assert second["stats"] == {
        "lookalike/asked": 4,
        "lookalike/revisited": 2,
        "lookalike/dropped": 1,
        "lookalike/new": 1,
    }


def test_responses_that_are_no_pages_pass(tmp_path: Path):
    pages = {
        "/": page(0, "/short", "/short2", "/data", "/data2", "/missing", "/text", "/text2", "/moved"),
        "/short": Answer("<p>Loading</p>"),
        "/short2": Answer("<p>Loading</p>"),
        "/data": Answer('{"a": 1}', "application/json"),
        "/data2": Answer('{"a": 1}', "application/json"),
        "/text": Answer(text(7), "text/plain"),
        "/text2": Answer(text(7), "text/plain; charset=utf-8"),
        "/moved": Answer("", status=302, location="/target"),
        "/target": page(8),
    }
    with served(site(pages)) as (address,):
        found = crawled(f"{address}/", LOOKALIKE_INDEX=str(tmp_path / "index"))
    texts = {"/text", "/text2"}
    assert {*paths(found["kept"])} - texts == {"/", "/short", "/short2", "/data", "/data2", "/target"}
    assert len({*paths(found["kept"])} & texts) == 1
    assert found["stats"] == {
        "lookalike/asked": 4,
        "lookalike/new": 3,
        "lookalike/dropped": 1,
        "lookalike/skipped/short": 2,
        "lookalike/skipped/type": 2,
        "lookalike/skipped/status": 1,
    }


def test_robots_txt_is_not_compared(tmp_path: Path):
    robots = Answer(f"User-agent: *\nDisallow: /private\n# {text(0)}", "text/plain")
    with served(site({"/robots.txt": robots, "/": page(0)})) as (address,):
        found = crawled(f"{address}/", LOOKALIKE_INDEX=str(tmp_path / "index"), ROBOTSTXT_OBEY=True)
    assert found["stats"] == {"lookalike/asked": 1, "lookalike/new": 1}


def test_without_store_pages_are_compared_with_the_index_only(tmp_path: Path):
    with la.Index.create(tmp_path / "index", kind="corpus") as index:
        index.add([("known", text(1))])
    pages = {"/": page(0, "/a", "/b"), "/a": page(1), "/b": page(0)}
    with served(site(pages)) as (address,):
        found = crawled(f"{address}/", LOOKALIKE_INDEX=str(tmp_path / "index"), LOOKALIKE_STORE=False)
    assert sorted(paths(found["kept"])) == ["/", "/b"]
    with la.Index(tmp_path / "index") as index:
        assert len(index) == 1


def calendar(path: str, _ports: list[int]) -> Answer | None:
    """A trap: every page links to ten more, and all have one text."""
    number = int(path.strip("/") or 0)
    return page(0, *(f"/{number * 10 + n}" for n in range(1, 11)), extra=f"month {number}")


def test_a_calendar_without_end_ends(tmp_path: Path):
    with served(calendar) as (address,):
        found = crawled(f"{address}/", LOOKALIKE_INDEX=str(tmp_path / "index"))
    assert paths(found["kept"]) == ["/"]
    assert len(found["fetched"]) == 11


def archive_of_many(path: str, ports: list[int]) -> Answer | None:
    """A site whose first page links to forty copies of itself, and to forty pages of another site."""
    if path != "/":
        return page(0, extra=path)
    there = f"http://127.0.0.1:{ports[1]}"
    return page(0, *(f"/copy{n}" for n in range(40)), *(f"{there}/{n}" for n in range(40)))


def numbered(path: str, _ports: list[int]) -> Answer | None:
    return page(100 + int(path.strip("/")))


ONE_AT_A_TIME = {"CONCURRENT_REQUESTS": 1, "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue"}


def test_sites_that_repeat_themselves_come_later(tmp_path: Path):
    with served(archive_of_many, numbered) as (address, other):
        found = crawled(f"{address}/", LOOKALIKE_INDEX=str(tmp_path / "index"), **ONE_AT_A_TIME)
        plain = crawled(
            f"{address}/", LOOKALIKE_INDEX=str(tmp_path / "second"), LOOKALIKE_SITE_PENALTY=0, **ONE_AT_A_TIME
        )
    for one in (found, plain):
        assert len(one["fetched"]) == 81, "nothing is lost or fetched twice"
        assert len(one["dropped"]) == 40
    last_new = [max(n for n, url in enumerate(one["fetched"]) if url.startswith(other)) for one in (found, plain)]
    assert last_new[0] < 60 < last_new[1] == 80
    assert found["stats"]["lookalike/lowered"] > 0
    assert "lookalike/lowered" not in plain["stats"]


def test_a_budget_limits_requests_to_each_site(tmp_path: Path):
    with served(archive_of_many, numbered) as (address, other):
        found = crawled(
            f"{address}/", LOOKALIKE_INDEX=str(tmp_path / "index"), LOOKALIKE_SITE_BUDGET=30, **ONE_AT_A_TIME
        )
    fetched = {one: sum(url.startswith(one) for url in found["fetched"]) for one in (address, other)}
    # With n pages, n − 1 of them near-duplicates: another is admitted while n < 30 · (1 − (n − 1) / (n + 10)).
    assert fetched == {address: 14, other: 30}
    assert len(found["over_budget"]) == found["stats"]["lookalike/over_budget"] == 81 - 44


def test_a_paused_crawl_keeps_the_counts_of_sites(tmp_path: Path):
    kept: dict[str, Any] = {"JOBDIR": str(tmp_path / "job"), "LOOKALIKE_SITE_BUDGET": 30, "CONCURRENT_REQUESTS": 1}
    with served(archive_of_many, numbered) as (address, _):
        first = crawled(f"{address}/", LOOKALIKE_INDEX=str(tmp_path / "index"), CLOSESPIDER_PAGECOUNT=9, **kept)
        second = crawled(f"{address}/", LOOKALIKE_INDEX=str(tmp_path / "index"), **kept)
    assert first["reason"] == "closespider_pagecount"
    fetched = [url for one in (first, second) for url in one["fetched"] if url.startswith(address)]
    assert len(fetched) <= 14


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "LOOKALIKE_INDEX is missing"),
        ({"LOOKALIKE_INDEX": "{}/class"}, "is for a class"),
        ({"LOOKALIKE_INDEX": "{}/new", "LOOKALIKE_SITE_BUDGET": 0}, "LOOKALIKE_SITE_BUDGET `0` is out of range"),
        ({"LOOKALIKE_INDEX": "{}/new", "LOOKALIKE_MIN_LENGTH": "many"}, "`many` is not a whole number"),
        ({"LOOKALIKE_INDEX": "{}/new", "LOOKALIKE_STORE": "perhaps"}, "`perhaps` is not a truth value"),
    ],
)
def test_wrong_settings_end_the_crawl_with_one_message(tmp_path: Path, settings: dict[str, Any], message: str):
    la.Index.create(tmp_path / "class", kind="class").close()
    given = {name: value.format(tmp_path) if isinstance(value, str) else value for name, value in settings.items()}
    with served(site({"/": page(0)})) as (address,):
        found = crawled(f"{address}/", **given)
    assert found["fetched"] == []
    assert found["reason"] == "lookalike_unusable"
    assert message in found["log"]
    assert "Traceback" not in found["log"]


def test_an_index_that_another_process_changes_ends_the_crawl(tmp_path: Path):
    with la.Index.create(tmp_path / "index", kind="corpus"), served(site({"/": page(0)})) as (address,):
        with pytest.raises(LockedError) as refusal:
            la.Index.open(tmp_path / "index", write=True)
        found = crawled(f"{address}/", LOOKALIKE_INDEX=str(tmp_path / "index"))
    # The library has an option to wait, and the component has none.
    told, _, advice = str(refusal.value).partition(", or give ")
    assert told in found["log"]
    assert advice == "wait=… in seconds"
    assert "wait=" not in found["log"]
    assert found["fetched"] == []


def token(folder: Path, scope: str) -> str:
    order = [sys.executable, "-m", "lookalike", "token", str(folder / "tokens.jsonl"), "--scope", scope]
    made = subprocess.run([*order, "--name", "crawler"], capture_output=True, text=True, check=True)
    return made.stdout.split()[-1]


def test_a_server_is_asked_and_stores_what_is_new(tmp_path: Path):
    la.Index.create(tmp_path / "crawl", kind="corpus").close()
    secret = token(tmp_path, "add")
    pages = {
        "/": page(0, "/a", "/copy", "/" + "long" * 500),
        "/a": page(1),
        "/copy": page(0, "/only-here", extra="today"),
        "/" + "long" * 500: page(2),
    }
    given = {"LOOKALIKE_INDEX": "crawl", "LOOKALIKE_TOKEN": secret}
    with (
        serving(tmp_path / "crawl", data=tmp_path / "data", token_file=tmp_path / "tokens.jsonl") as server,
        served(site(pages)) as (address,),
    ):
        first = crawled(f"{address}/", LOOKALIKE_URL=server.address, **given)
        second = crawled(f"{address}/", LOOKALIKE_URL=server.address, **given)
    assert first["dropped"] == [[f"{address}/copy", f"{address}/"]]
    assert first["stats"] == {"lookalike/asked": 4, "lookalike/new": 3, "lookalike/dropped": 1}
    assert second["stats"] == {"lookalike/asked": 4, "lookalike/revisited": 3, "lookalike/dropped": 1}
    assert first["log"] == second["log"] == ""
    with la.Index(tmp_path / "crawl") as index:
        assert len(index) == 3
        assert len(list(index.documents(where={"site": address.removeprefix("http://")}))) == 3


def test_a_server_that_dies_does_not_stop_a_crawl(tmp_path: Path):
    la.Index.create(tmp_path / "crawl", kind="corpus").close()
    pages = {"/": page(0, "/1", "/2"), "/1": page(1), "/2": page(2, "/3"), "/3": page(0)}
    with serving(tmp_path / "crawl", data=tmp_path / "data") as server:

        def answer(path: str, _ports: list[int]) -> Answer | None:
            if path == "/2":
                server.kill()
            return pages.get(path)

        with served(answer) as (address,):
            found = crawled(f"{address}/", LOOKALIKE_INDEX="crawl", LOOKALIKE_URL=server.address, **ONE_AT_A_TIME)
    assert paths(found["kept"]) == ["/", "/1", "/2", "/3"]
    assert found["stats"] == {"lookalike/asked": 2, "lookalike/new": 2, "lookalike/errors": 2}
    assert "cannot be reached" in found["log"]


def test_a_server_that_always_fails_is_asked_ever_less(tmp_path: Path):
    """A server that lists an index and refuses every question."""
    indexes = Answer('{"indexes": [{"name": "crawl", "kind": "corpus", "documents": 0}]}', "application/json")
    pages = {"/": page(0, *(f"/{n}" for n in range(40)))} | {f"/{n}": page(n) for n in range(40)}
    with served(site({"/v1/indexes": indexes}), site(pages)) as (broken, address):
        found = crawled(f"{address}/", LOOKALIKE_INDEX="crawl", LOOKALIKE_URL=broken, **ONE_AT_A_TIME)
    assert len(found["kept"]) == 41
    # Pages 1, 2, 4, 8, 16 and 32 are asked about.
    assert found["stats"] == {"lookalike/errors": 6, "lookalike/unasked": 35}
    assert "41 pages were not compared" in found["log"]


@pytest.mark.parametrize(
    ("index", "scope", "message"),
    [
        ("other", "add", "the server has no index `other`: it has crawl"),
        ("years", "add", "is for a class"),
        ("crawl", None, "send a valid token"),
        ("crawl", "", "LOOKALIKE_TOKEN has no effect without LOOKALIKE_URL"),
    ],
)
def test_a_server_that_cannot_be_used_ends_the_crawl(tmp_path: Path, index: str, scope: str | None, message: str):
    la.Index.create(tmp_path / "crawl", kind="corpus").close()
    la.Index.create(tmp_path / "years", kind="class").close()
    secret = token(tmp_path, scope or "add")
    given = {"LOOKALIKE_INDEX": index, "LOOKALIKE_TOKEN": None if scope is None else secret}
    tokens = tmp_path / "tokens.jsonl"
    with (
        serving(tmp_path / "crawl", tmp_path / "years", data=tmp_path / "data", token_file=tokens) as server,
        served(site({"/": page(0)})) as (address,),
    ):
        found = crawled(f"{address}/", LOOKALIKE_URL=None if scope == "" else server.address, **given)
    assert message in found["log"]
    assert found["fetched"] == []
    assert secret not in found["log"]


def test_errors_of_the_archive_do_not_stop_a_crawl_and_are_told(tmp_path: Path):
    pages = {"/": page(0, *(f"/{n}" for n in range(1, 9)))} | {f"/{n}": page(n) for n in range(1, 9)}
    full = {"lookalike.scrapy.NearDuplicates": 60, "support.full_disk.FullDisk": 61}
    with served(site(pages)) as (address,):
        found = crawled(
            f"{address}/", LOOKALIKE_INDEX=str(tmp_path / "index"), DOWNLOADER_MIDDLEWARES=full, CONCURRENT_REQUESTS=1
        )
    assert len(found["kept"]) == 9
    assert found["stats"] == {"lookalike/asked": 2, "lookalike/new": 2, "lookalike/errors": 3, "lookalike/unasked": 4}
    assert found["log"].count("ERROR") == 1
    assert "7 pages were not compared" in found["log"]
    assert "Traceback" not in found["log"]
    with la.Index(tmp_path / "index") as index:
        assert len(index) == 2
        assert index.check() == []
