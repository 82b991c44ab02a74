"""Nobody gets in: every operation with a missing, wrong, expired, under-scoped or foreign token; hosts and origins."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import lookalike as la
from lookalike import params
from lookalike.errors import ParameterError
from lookalike.service import tokens
from lookalike.service.settings import Settings
from support.servers import Server, serving, wait_for

#: Every operation that needs a token: method, address, scopes of which one is enough.
GUARDED = [
    ("PUT", "/v1/indexes/news/documents/a", {"add"}),
    ("GET", "/v1/indexes/news/documents/a", {"read"}),
    ("DELETE", "/v1/indexes/news/documents/a", {"remove"}),
    ("GET", "/v1/indexes/news/documents", {"read"}),
    ("POST", "/v1/indexes/news/documents", {"add"}),
    ("POST", "/v1/indexes/news/query", {"read"}),
    ("POST", "/v1/indexes/news/seen", {"read", "add"}),
    ("GET", "/v1/indexes/news", {"read"}),
    ("GET", "/v1/indexes", {"read", "add", "remove"}),
    ("POST", "/v1/compare", {"compare"}),
    ("GET", "/v1/token", set(params.SCOPES)),
    ("GET", "/metrics", {"read"}),
]


class Held:
    """The tokens of the server under test."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.of = {scope: tokens.make(str(path), name=scope, scopes=[scope]) for scope in params.SCOPES}
        self.foreign = tokens.make(str(path), name="foreign", scopes=params.SCOPES, indexes=["other"])
        self.expired = tokens.make(str(path), name="expired", scopes=params.SCOPES)
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        rows[-1]["expires"] = time.time() - 1
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Held:
    return Held(tmp_path_factory.mktemp("tokens") / "tokens.jsonl")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, held: Held) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("access")
    for name in ("news", "other"):
        with la.Index.create(folder / name, kind="corpus") as index:
            index.add([("kept", f"one two three four five six seven of {name}"), ("a", "eight nine ten eleven twelve")])
    with serving(folder / "news", folder / "other", data=folder / "data", token_file=held.path) as made:
        yield made


def test_every_operation_is_listed_here(server: Server):
    document = server.ask("GET", "/openapi.json").json
    listed = {
        (method.upper(), path)
        for path, methods in document["paths"].items()
        for method, one in methods.items()
        if one.get("security") != [] and "/comparisons" not in path and "/reports" not in path
    }
    here = {
        (method, path.replace("news", "{name}").replace("documents/a", "documents/{id}")) for method, path, _ in GUARDED
    }
    assert listed == here


@pytest.mark.parametrize(("method", "path", "scopes"), GUARDED)
def test_only_a_valid_token_with_the_scope_gets_in(
    server: Server, held: Held, method: str, path: str, scopes: set[str]
):
    bodies = set()
    for token in (None, "", "x", "ü", held.of["read"][:-1], held.of["read"] + "x", held.expired):
        answer = server.ask(method, path, token=None if token is None else token.encode().decode("latin-1"))
        assert answer.status == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        bodies.add(answer.body)
    assert len(bodies) == 1
    for scope, token in held.of.items():
        answer = server.ask(method, path, token=token)
        if scope in scopes:
            assert answer.status not in (401, 403)
        else:
            assert (answer.status, answer.code) == (403, "no-scope")


def test_an_index_of_others_does_not_exist(server: Server, held: Held):
    for method, path, _ in GUARDED:
        if "news" in path:
            other = server.ask(method, path, token=held.foreign)
            unknown = server.ask(method, path.replace("news", "nowhere"), token=held.of["read"])
            assert (other.status, other.body) == (unknown.status, unknown.body)
            assert other.code == "no-such-index"
    listed = server.ask("GET", "/v1/indexes", token=held.foreign).json["indexes"]
    assert [one["name"] for one in listed] == ["other"]


def test_a_token_that_may_only_add_learns_the_id_and_the_score(server: Server, held: Held):
    body, kind = "one two three four five six seven of news", {"Content-Type": "text/plain"}
    path = "/v1/indexes/news/seen"
    whole = server.ask("POST", path, body, held.of["read"], kind).json
    short = server.ask("POST", path, body, held.of["add"], kind).json
    assert short["seen"] is whole["seen"] is True
    assert set(short["nearest"]) == {"id", "resemblance"}
    lines = server.ask(
        "POST", path, json.dumps({"text": body}), held.of["add"], {"Content-Type": "application/x-ndjson"}
    )
    assert json.loads(lines.body) == short


def test_a_token_is_told_what_it_allows(server: Server, held: Held):
    told = server.ask("GET", "/v1/token", token=held.of["compare"]).json
    assert told == {"name": "compare", "scopes": ["compare"], "indexes": ["news", "other"], "expires": None}
    told = server.ask("GET", "/v1/token", token=held.foreign).json
    assert (told["scopes"], told["indexes"]) == (list(params.SCOPES), ["other"])


def test_a_comparison_with_an_index_needs_the_scope_read(server: Server, held: Held):
    answer = server.ask("POST", "/v1/comparisons?index=news", token=held.of["compare"])
    assert (answer.status, answer.code) == (403, "no-scope")
    assert "also needs the scope read" in answer.json["error"]["message"]
    hidden = server.ask("POST", "/v1/comparisons?index=news", token=held.foreign)
    assert (hidden.status, hidden.code) == (404, "no-such-index")


def test_a_token_in_the_address_is_none(server: Server, held: Held):
    assert server.ask("GET", f"/v1/indexes?token={held.of['read']}").status == 401


def test_no_token_is_told_anywhere(server: Server, held: Held):
    secret = held.of["read"]
    server.ask("GET", f"/v1/indexes?x={secret}", token=secret)
    server.ask("GET", f"/{secret}", token=secret)
    server.ask("PUT", "/v1/indexes/news/documents/secret-id", "secret words", held.of["add"])
    metrics = server.ask("GET", "/metrics", token=secret).body.decode()
    server.events(route="/metrics", status=200)
    told = metrics + server.log_path.read_text() + held.path.read_text()
    every = [*held.of.values(), held.foreign, held.expired]
    assert not [one for one in every if one in told]
    assert "secret-id" not in told
    assert "secret words" not in told


def test_the_log_has_one_line_per_request_without_what_was_asked(server: Server, held: Held):
    there = {"event": "request", "method": "GET", "route": "/v1/indexes/{name}/documents", "status": 200}
    # Requests of other tests may be on their way into the log: only this one has this number of bytes.
    answer = server.ask("GET", "/v1/indexes/news/documents?where=person%3DAnn%0AEve", token=held.of["read"])
    assert answer.status == 200
    (line,) = server.events(**there, token="read", bytes=len(answer.body))
    assert set(line) == {"time", "event", "method", "route", "status", "ms", "bytes", "token"}
    assert "Ann" not in server.log_path.read_text()


def test_a_token_can_be_withdrawn_while_the_server_runs(server: Server, held: Held):
    token = tokens.make(str(held.path), name="short-lived", scopes=["read"])
    wait_for(lambda: server.ask("GET", "/v1/indexes", token=token).status == 200, "the token is known")
    rest = [line for line in held.path.read_text().splitlines(keepends=True) if "short-lived" not in line]
    new = held.path.with_suffix(".new")
    new.write_text("".join(rest))
    new.replace(held.path)
    wait_for(lambda: server.ask("GET", "/v1/indexes", token=token).status == 401, "the token is withdrawn")
    assert server.ask("PUT", "/v1/indexes/news/documents/x", "words", token).status == 401
    assert server.ask("GET", "/v1/indexes", token=held.of["read"]).status == 200


def test_a_line_that_is_no_token_is_logged_with_its_number(tmp_path: Path):
    path = tmp_path / "tokens.jsonl"
    token = tokens.make(str(path), name="one", scopes=["read"])
    with serving(data=tmp_path / "data", token_file=path, readers=1) as server:
        assert server.ask("GET", "/v1/indexes", token=token).status == 200
        path.write_text(f"{path.read_text()}a line that is no token\n")
        wait_for(lambda: server.ask("GET", "/v1/indexes", token=token).status == 401, "the file allows nothing")
        (line, *_) = server.events(event="tokens-unreadable")
    assert "line 2 of" in line["reason"]
    assert "a line that is" not in line["reason"]


def test_a_token_in_a_folder_that_does_not_exist_names_the_folder(tmp_path: Path):
    folder = tmp_path / "no dir"
    with pytest.raises(ParameterError, match=r"folder `.*no dir` does not exist"):
        tokens.make(str(folder / "x.jsonl"), scopes=["read"])


def test_a_server_on_every_address_tells_one_to_open(tmp_path: Path):
    path = tmp_path / "tokens.jsonl"
    tokens.make(str(path), scopes=["read"])
    with serving(data=tmp_path / "data", token_file=path, host="0.0.0.0", readers=1) as server:
        assert server.process.stdout is not None
        told = server.process.stdout.readline().decode()
        assert told.startswith(f"open http://127.0.0.1:{server.port} on this machine")
        assert server.ask("GET", "/health").status == 200


def test_the_file_of_tokens_is_private_and_holds_no_token(tmp_path: Path):
    path = tmp_path / "tokens.jsonl"
    token = tokens.make(str(path), scopes=["read", "add"], indexes=["news"], expires="90d")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(token) >= 43
    ((digest, grant),) = tokens.read(str(path))
    assert grant.scopes == {"read", "add"}
    assert grant.indexes == {"news"}
    assert grant.expires is not None
    assert abs(grant.expires - time.time() - 90 * 86_400) < 60
    assert digest.hex() in path.read_text()
    for wrong in (
        {"scopes": ["all"]},
        {"scopes": ["read"], "expires": "soon"},
        {"scopes": ["read"], "expires": "2001-01-01"},
    ):
        with pytest.raises(ParameterError):
            tokens.make(str(path), **wrong)
    named = {"name": "lms", "scopes": ["read"]}
    tokens.make(str(path), **named)
    with pytest.raises(ParameterError, match="lms"):
        tokens.make(str(path), **named)


def test_without_tokens_only_loopback_may_be_bound(tmp_path: Path):
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(ParameterError, match="token-file"):
            Settings.of([], host=host, data=tmp_path)
    assert Settings.of([], host="::1", data=tmp_path).host == "::1"


def test_a_page_of_another_site_is_refused(tmp_path: Path):
    la.Index.create(tmp_path / "news", kind="corpus").close()
    with serving(tmp_path / "news", data=tmp_path / "data", allow_host="archive.example") as server:
        own = f"http://{server.host}:{server.port}"
        for headers, status in (
            ({}, 200),
            ({"Host": f"localhost:{server.port}"}, 200),
            ({"Host": "archive.example"}, 200),
            ({"Host": "rebound.example"}, 421),
            ({"Host": "127.0.0.1.rebound.example"}, 421),
            ({"Host": ""}, 421),
            ({"Origin": own}, 200),
            ({"Origin": "http://rebound.example"}, 403),
            ({"Origin": "null"}, 403),
            ({"Sec-Fetch-Site": "same-origin"}, 200),
            ({"Sec-Fetch-Site": "none"}, 200),
            ({"Sec-Fetch-Site": "same-site"}, 403),
            ({"Sec-Fetch-Site": "cross-site"}, 403),
        ):
            answer = server.ask("GET", "/v1/indexes", headers=headers)
            assert answer.status == status, headers
            assert "access-control-allow-origin" not in answer.headers
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert server.ask("OPTIONS", "/v1/indexes", headers={"Origin": own}).status == 405
