"""Each answer over HTTP equals the command line's on the same index: one list of cases, asked in both ways."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from click.testing import CliRunner

import lookalike as la
from lookalike.cli.main import cli
from support.servers import Server, serving
from support.submissions import prose, renamed, statements, wrapped

SEED = 13


class Case(NamedTuple):
    index: str
    body: bytes
    name: str
    content_type: str
    options: tuple[tuple[str, str], ...] = ()


def corpus(draw: random.Random) -> list[dict[str, Any]]:
    """Rows with copies, near copies, containments and metadata."""
    rows: list[dict[str, Any]] = []
    for number in range(60):
        text = prose(number, draw.randint(20, 400))
        if rows and draw.random() < 0.4:
            other = draw.choice(rows)["text"]
            text = draw.choice([other, other + " " + prose(number, 10), other[: len(other) // 2]])
        rows.append({"id": f"row-{number}", "text": text, "year": draw.choice([2024, 2025]), "é": "ü"})
    return rows


def submissions(draw: random.Random) -> dict[str, str]:
    """Python programs and essays that share parts."""
    made: dict[str, str] = {}
    for number in range(12):
        text = wrapped(statements(number, "python", 12), "python")
        if made and draw.random() < 0.5:
            text = renamed(draw.choice([one for name, one in made.items() if name.endswith(".py")]))
        made[f"student-{number}.py"] = text
        made[f"essay-{number}.txt"] = prose(number, 80)
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("contract")


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return corpus(random.Random(SEED))


@pytest.fixture(scope="module")
def programs() -> dict[str, str]:
    return submissions(random.Random(SEED))


@pytest.fixture(scope="module")
def server(folder: Path, rows: list[dict[str, Any]], programs: dict[str, str]) -> Iterator[Server]:
    with la.Index.create(folder / "news", kind="corpus") as index:
        index.add(rows[:40])
        index.remove("row-3")
        index.add(rows[40:])
    with la.Index.create(folder / "work") as index:
        index.add(programs)
    with la.Index.create(folder / "small", kind="corpus", without=["distance", "passages"], no_texts=True) as index:
        index.add(rows)
    names = ("news", "work", "small")
    with serving(*(folder / name for name in names), data=folder / "data", max_documents=1_000) as made:
        yield made


def cases(rows: list[dict[str, Any]], programs: dict[str, str]) -> Iterator[Case]:
    draw = random.Random(SEED + 1)
    options = [
        (),
        (("top", "1"),),
        (("top", "0"), ("threshold", "0.3")),
        (("question", "resemblance"), ("question", "identical")),
        (("question", "containment"), ("threshold", "0.5")),
        (("where", "year=2025"),),
        (("where", "é=ü"), ("where", "year=2024")),
    ]
    deeper = [
        (("question", "distance"), ("distance", "10")),
        (("question", "passages"),),
        (("question", "passages"), ("window", "120")),
    ]
    for chosen in options:
        text = draw.choice(rows)["text"] + " " + prose(99, 5)
        yield Case("news", text.encode(), "a.txt", "text/plain", chosen)
        yield Case("small", text.encode(), "a.txt", "text/plain; charset=UTF-8", chosen)
        program = renamed(draw.choice(sorted(programs.values())))
        yield Case("work", program.encode(), "a.py", "text/x-python", chosen)
    for chosen in deeper:
        yield Case("news", draw.choice(rows)["text"].encode(), "a.txt", "application/octet-stream", chosen)
        yield Case("work", programs["essay-1.txt"].encode(), "b.txt", "text/plain", chosen)
    page = f"<html><body><p>{rows[0]['text']}</p></body></html>"
    yield Case("news", page.encode(), "page.html", "text/html")
    yield Case("work", page.encode(), "page.html", "application/xhtml+xml")
    yield Case("news", b"", "empty.txt", "text/plain")
    yield Case("news", "café naïve ".encode("latin-1") * 40, "old.txt", "text/plain")
    yield Case("news", ("é" * 20_000).encode(), "long.txt", "text/plain")


def typed(command: str, case: Case) -> tuple[int, Any]:
    """Return exit code and answer of the command line."""
    arguments = [command, case.index, "-", "--json", "--name", case.name]
    for name, value in case.options:
        arguments += [f"--{name}", value]
    found = CliRunner().invoke(cli, arguments, input=case.body, standalone_mode=False)
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found.exit_code, json.loads(found.stdout) if found.exit_code == 0 else None


def asked(server: Server, command: str, case: Case) -> tuple[int, Any]:
    query = urlencode([("name", case.name), *case.options])
    answer = server.ask(
        "POST", f"/v1/indexes/{case.index}/{command}?{query}", case.body, headers={"Content-Type": case.content_type}
    )
    return answer.status, answer.json


def test_query_over_http_is_query_of_the_command_line(
    server: Server, folder: Path, rows: list[dict[str, Any]], programs: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(folder)
    compared = 0
    for case in cases(rows, programs):
        code, wanted = typed("query", case)
        status, found = asked(server, "query", case)
        assert (status == 200) == (code == 0), (case, code, found)
        if code == 0:
            assert found == wanted, case
            compared += 1
    assert compared > 15


def test_seen_over_http_is_seen_of_the_command_line(
    server: Server, folder: Path, rows: list[dict[str, Any]], programs: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(folder)
    verdicts = set()
    for case in cases(rows, programs):
        where = tuple(one for one in case.options if one[0] == "where")
        code, wanted = typed("seen", case._replace(options=where))
        status, found = asked(server, "seen", case._replace(options=where))
        assert (status == 200) == (code == 0), (case, found)
        if code == 0:
            assert found == wanted, case
            verdicts.add(found["seen"])
    assert verdicts == {True, False}


def test_a_text_in_json_is_the_text_of_the_library(server: Server, folder: Path, rows: list[dict[str, Any]]):
    with la.Index(folder / "news") as index:
        for row in rows[:5]:
            wanted = index.query(row["text"], top=3).to_json()
            body = json.dumps({"text": row["text"]})
            answer = server.ask(
                "POST", "/v1/indexes/news/query?top=3", body, headers={"Content-Type": "application/json"}
            )
            assert answer.json == {**wanted, "index": "news"}


def test_many_verdicts_are_those_of_one_by_one(server: Server, rows: list[dict[str, Any]]):
    texts = [row["text"] for row in rows] + ["something new", "", "?!"]
    body = "\n".join(json.dumps({"id": str(number), "text": text}) for number, text in enumerate(texts))
    answer = server.ask("POST", "/v1/indexes/news/seen", body, headers={"Content-Type": "application/x-ndjson"})
    found = [json.loads(line) for line in answer.body.splitlines()]
    assert [one.pop("id") for one in found] == [str(number) for number in range(len(texts))]
    for text, one in zip(texts, found, strict=True):
        alone = server.ask(
            "POST", "/v1/indexes/news/seen", json.dumps({"text": text}), headers={"Content-Type": "application/json"}
        )
        assert alone.json == one
    assert found[-1]["notes"]
    where = "/v1/indexes/news/seen?where=yaer%3D2025"
    (line,) = server.ask(
        "POST", where, '{"text": "a text"}', headers={"Content-Type": "application/x-ndjson"}
    ).body.splitlines()
    alone = server.ask("POST", where, '{"text": "a text"}', headers={"Content-Type": "application/json"})
    assert json.loads(line) == alone.json
    assert "yaer" in alone.json["notes"][-1]


def test_documents_over_http_are_documents_of_an_add(server: Server, folder: Path, tmp_path: Path):
    """A row that was put is the same document as a row that was added: same hash, same keys, same metadata."""
    text, fields = "The pool is closed on Monday because of the storm of last week.", {"year": 2025, "is_new": True}
    body = json.dumps({"text": text, "metadata": fields, "time": "2024-05-06"})
    answer = server.ask("PUT", "/v1/indexes/news/documents/x", body, headers={"Content-Type": "application/json"})
    assert (answer.status, answer.json) == (201, {"id": "x", "outcome": "added"})
    with la.Index.create(tmp_path / "other", kind="corpus") as other:
        other.add([{"id": "x", "text": text, **fields, "when": "2024-05-06"}], time_column="when")
        wanted = other.document("x")
    with la.Index(folder / "news") as index:
        found = index.document("x")
    assert found is not None
    assert wanted is not None
    assert (found.content, found.length, found.unit, found.bytes, found.time) == (
        wanted.content,
        wanted.length,
        "word",
        wanted.bytes,
        wanted.time,
    )
    assert found.meta["fields"] == fields
    assert server.ask("GET", "/v1/indexes/news/documents/x").json == {
        **found.to_json(),
        "texts": [{"name": "", "text": text}],
    }
    assert server.ask("DELETE", "/v1/indexes/news/documents/x").status == 204
    assert server.ask("GET", "/v1/indexes/news/documents/x").code == "no-such-document"


def test_pages_list_every_document_once_and_in_order(server: Server, folder: Path):
    with la.Index(folder / "news") as index:
        wanted = [one.to_json() for one in index.documents()]
        chosen = [one.to_json() for one in index.documents({"year": "2025"})]
    for where, expected in (("", wanted), ("&where=year%3D2025", chosen)):
        found, after = [], ""
        while after is not None:
            start = f"&after={after}" if after else ""
            page = server.ask("GET", f"/v1/indexes/news/documents?limit=7{where}{start}").json
            assert len(page["documents"]) <= 7
            found += page["documents"]
            after = page["next"]
        assert found == expected


def test_two_texts_compared_over_http_are_similarity(server: Server, tmp_path: Path):
    left, right = "one two three four five six seven eight nine", "one two three four five six seven eight ten"
    (tmp_path / "left").write_text(left)
    (tmp_path / "right").write_text(right)
    options = ["--shingle", "3", "--sketch", "fast"]
    paths = [str(tmp_path / "left"), str(tmp_path / "right")]
    wanted = json.loads(CliRunner().invoke(cli, ["similarity", *paths, "--json", *options]).stdout)
    answer = server.ask(
        "POST",
        "/v1/compare?shingle=3&sketch=fast",
        json.dumps({"left": left, "right": right}),
        headers={"Content-Type": "application/json"},
    )
    found = answer.json
    assert found == {**wanted, "left": "left", "right": "right"}


def test_indexes_are_listed_with_their_sizes(server: Server, folder: Path):
    with la.Index(folder / "work") as index:
        stats, count = index.stats().to_json(), len(index)
    listed = {one["name"]: one for one in server.ask("GET", "/v1/indexes").json["indexes"]}
    assert list(listed) == ["news", "work", "small"]
    assert listed["work"] == {"name": "work", "kind": "class", "documents": count}
    assert server.ask("GET", "/v1/indexes/work").json["stats"] == stats
