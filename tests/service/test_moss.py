"""A client that others wrote submits classes over the MOSS protocol, and gets what `lookalike compare` gives."""

from __future__ import annotations

import contextlib
import csv
import os
import re
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import mosspy
import pytest

from lookalike import params
from lookalike.service.moss.languages import ours
from support.servers import PATIENCE, Server, serving
from support.submissions import classroom, run, work, wrapped, write

SUFFIXES = {"java": ".java", "c": ".c", "python": ".py"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(data=tmp_path_factory.mktemp("moss") / "data", moss_port=0) as running:
        yield running


def moss_port(server: Server) -> int:
    return next(event["port"] for event in server.log() if event["event"] == "moss-listens")


def client(server: Server, language: str, user: str = "987654321") -> mosspy.Moss:
    made = mosspy.Moss(user, language)
    made.server, made.port = server.host, moss_port(server)
    return made


def path_of(server: Server, url: str) -> str:
    assert url.startswith(server.address)
    return url.removeprefix(server.address)


def table(server: Server, url: str, name: str) -> bytes:
    """Return a table of the report that a page of MOSS links to."""
    page = server.ask("GET", path_of(server, url)).body.decode()
    (report,) = re.findall(r'href="([^"]*)/report.html"', page)
    return server.ask("GET", f"{path_of(server, report)}/{name}").body


def made_class(root: Path, language: str) -> tuple[list[Path], list[Path]]:
    """Return the files of a class, two per person, and starter code that some of them contain."""
    suffix = SUFFIXES[language]
    base = root / "base" / f"Start{suffix}"
    base.parent.mkdir(parents=True)
    base.write_text(work(990, language), encoding="utf-8")
    people = sorted(classroom(root / "flat", language, honest=5).iterdir())
    files: dict[str, str | bytes] = {}
    for number, path in enumerate(people):
        text = path.read_text(encoding="utf-8")
        files[f"{path.stem}/Main{suffix}"] = text + (base.read_text(encoding="utf-8") if number % 2 else "")
        files[f"{path.stem}/more{number}{suffix}"] = work(200 + number, language)
    write(root / "class", files)
    return [root / "class" / name for name in sorted(files)], [base]


@pytest.mark.parametrize("language", SUFFIXES)
@pytest.mark.parametrize("by_directory", [0, 1])
def test_a_class_gets_the_pairs_of_compare(server: Server, tmp_path: Path, language: str, by_directory: int):
    files, base = made_class(tmp_path, language)
    moss = client(server, language)
    moss.setDirectoryMode(by_directory)
    moss.setCommentString("exercise 3")
    for path in base:
        moss.addBaseFile(str(path))
    for path in files:
        moss.addFile(str(path))
    url = moss.send()
    out = tmp_path / "report"
    chosen = ["-l", language, "-m", 10, "-n", 250, "-c", "exercise 3", *(["-d"] if by_directory else [])]
    ran = run("compare", *map(str, chosen), "-b", *base, *files, "-o", out)
    assert ran.code == 0, ran.err
    expected = (out / "pairs.csv").read_bytes()
    assert expected.count(b"\n") > 1
    assert table(server, url, "pairs.csv") == expected
    assert table(server, url, "passages.csv") == (out / "passages.csv").read_bytes()
    assert "exercise 3" in server.ask("GET", path_of(server, url)).body.decode()


def test_the_page_can_be_saved_and_downloaded(server: Server, tmp_path: Path):
    files, _ = made_class(tmp_path, "python")
    moss = client(server, "python")
    for path in files:
        moss.addFile(str(path))
    url = moss.send()
    moss.saveWebPage(url, str(tmp_path / "page.html"))
    assert "<title>Comparison" in (tmp_path / "page.html").read_text(encoding="utf-8")
    mosspy.download_report(url, str(tmp_path / "all"), connections=1)
    found = sorted(os.listdir(tmp_path / "all"))
    pairs = table(server, url, "pairs.csv").count(b"\n") - 1
    assert found == sorted(["index.html", *(f"match{i}.html" for i in range(pairs))])
    index = (tmp_path / "all" / "index.html").read_text(encoding="utf-8")
    assert set(re.findall(r'href="(match[^"]*)"', index)) == {f"match{i}.html" for i in range(pairs)}


def test_links_of_a_pair_lead_to_pages(server: Server, tmp_path: Path):
    files, _ = made_class(tmp_path, "c")
    moss = client(server, "c")
    for path in files:
        moss.addFile(str(path))
    first = server.ask("GET", f"{path_of(server, moss.send())}/match0.html")
    assert first.status == 200
    links = [link for link in re.findall(r'href="(http[^"]*)"', first.body.decode()) if "/" in link]
    assert links
    assert {server.ask("GET", path_of(server, link)).status for link in links} == {200}


@pytest.mark.parametrize("language", mosspy.Moss.languages)
def test_every_language_of_moss_is_ours(language: str):
    assert ours(language) is not None


class Raw:
    """A client that sends whatever a test wants."""

    def __init__(self, server: Server) -> None:
        self.socket = socket.create_connection((server.host, moss_port(server)), timeout=PATIENCE)

    def send(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            self.socket.sendall(data)

    def rest(self) -> bytes:
        """Return what comes until the server closes."""
        parts = []
        with contextlib.suppress(ConnectionError):
            while part := self.socket.recv(4096):
                parts.append(part)
        return b"".join(parts)


@pytest.fixture
def raw(server: Server) -> Iterator[Raw]:
    made = Raw(server)
    yield made
    made.socket.close()


def test_an_unknown_language_is_refused(raw: Raw):
    raw.send(b"moss 1\nlanguage klingon\n")
    assert raw.rest() == b"no\n"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b""),
        (b"\0" * 10_000, b""),
        (b"moss 1\nfile 1 c 4 a.c\nabcd", b""),
        (b"moss 1\nlanguage c\nfile 1 c -5 a.c\n", b"yes\nrefused: `size of a file` is not a number from 0\n"),
        (
            b"moss 1\nlanguage c\nfile 1 c 999999999999 a.c\n",
            b"yes\nrefused: the files have more than 268,435,456 bytes\n",
        ),
        (b"moss 1\nlanguage c\nfile 1 c 4 a.c\nabcdefgh\n", b"yes\nrefused: a line is no command of MOSS\n"),
        (b"moss 1\nend\n", b""),
    ],
)
def test_a_client_that_breaks_the_protocol_is_cut_off(server: Server, raw: Raw, data: bytes, told: bytes):
    raw.send(data)
    with contextlib.suppress(OSError):
        raw.socket.shutdown(socket.SHUT_WR)
    assert raw.rest() == told
    assert server.ask("GET", "/v1/comparisons").status == 200


def test_a_client_that_leaves_in_the_middle_leaves_nothing(server: Server, raw: Raw, tmp_path: Path):
    before = {job["id"] for job in server.ask("GET", "/v1/comparisons").json["comparisons"]}
    raw.send(b"moss 1\nlanguage c\nfile 1 c 100 a.c\nonly this")
    raw.socket.shutdown(socket.SHUT_WR)
    assert raw.rest() == b"yes\n"
    assert {job["id"] for job in server.ask("GET", "/v1/comparisons").json["comparisons"]} == before


def test_names_are_labels(server: Server, raw: Raw):
    text = wrapped([], "c") + work(5, "c")
    files = ["/etc/passwd", "../../../../etc/shadow", "a\\b.c", "x" * 300 + ".c", "same.c", "same.c", "same.c/inner.c"]
    raw.send(b"moss 1\nlanguage c\n")
    for number, name in enumerate(files, 1):
        raw.send(f"file {number} c {len(text)} {name}\n{text}".encode())
    raw.send(b"query 0 \n")
    answer = raw.rest().removeprefix(b"yes\n").decode()
    rows = list(csv.DictReader(table(server, answer.strip(), "pairs.csv").decode().splitlines()))
    assert sum(int(row["stands_for"]) for row in rows) == len(files) * (len(files) - 1) // 2
    named = {row[side] for row in rows for side in ("left", "right")}
    assert {"passwd", "shadow", "b.c", "same.c", "same (2).c", "inner.c"} <= named
    assert len(named) == len(files)


def test_a_comparison_that_fails_says_why(server: Server, tmp_path: Path):
    moss = client(server, "python")
    (tmp_path / "lone.py").write_text("print(1)\n")
    moss.addFile(str(tmp_path / "lone.py"))
    url = moss.send()
    with pytest.raises(HTTPError) as refused:
        urlopen(url)
    assert refused.value.code == 422
    told = refused.value.read().decode()
    assert "there is only one submission, `lone.py`: send at least two files, or with -d files of" in told
    assert "old=" not in told


def test_the_address_expires_and_cannot_be_guessed(server: Server):
    for path in ("/moss/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "/moss/x/match0.html", "/moss/%C3%A9", "/moss/%00"):
        assert server.ask("GET", path).status == 404


def test_pages_have_a_charset_and_a_policy(server: Server, tmp_path: Path):
    files, _ = made_class(tmp_path, "java")
    moss = client(server, "java")
    for path in files:
        moss.addFile(str(path), "we<b>ird" + path.name)
    path = path_of(server, moss.send())
    for page in (path, f"{path}/match0.html"):
        answer = server.ask("GET", page)
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert b"we<b>" not in answer.body


def test_the_user_id_is_a_token(tmp_path: Path):
    tokens = tmp_path / "tokens.jsonl"
    good, weak = (
        run("token", tokens, "--name", scope, "--scope", scope).out.split()[-1] for scope in ("compare", "read,add")
    )
    with serving(data=tmp_path / "data", moss_port=0, token_file=tokens) as server:
        files, _ = made_class(tmp_path, "c")
        for user in ("1", weak, ""):
            assert refused(server, user, files).startswith("refused: the user id is not a valid token with the scope")
        assert server.ask("GET", "/v1/comparisons", token=good).json["comparisons"] == []
        assert not list((tmp_path / "data" / "jobs").iterdir())
        moss = client(server, "c", good)
        for path in files:
            moss.addFile(str(path))
        url = moss.send()
        assert server.ask("GET", path_of(server, url)).status == 200
        (job,) = server.ask("GET", "/v1/comparisons", token=good).json["comparisons"]
        assert (job["state"], job["origin"]) == ("done", "moss")
        assert job["options"] == {"language": "c", "max_sharing": 10, "top": 250}
        log = server.log_path.read_text()
        assert good not in log
        assert url.rpartition("/")[2] not in log


def refused(server: Server, user: str, files: list[Path]) -> str:
    """Submit as ``mosspy`` does and as the public script does; both must show the same, which is returned."""
    moss = client(server, "c", user)
    for path in files:
        moss.addFile(str(path))
    told = str(moss.send())
    raw = Raw(server)
    # The script prints what comes after the answer to its language, when it has sent everything.
    raw.send(f"moss {user}\nlanguage c\n".encode())
    with closing(raw.socket), raw.socket.makefile("rb") as lines:
        assert lines.readline() == b"yes\n"
        for number, path in enumerate(files, 1):
            data = path.read_bytes()
            raw.send(f"file {number} c {len(data)} {path.name}\n".encode() + data)
        raw.send(b"query 0 \n")
        assert lines.read().decode() == f"{told}\n"
    return told


def test_a_client_beyond_a_limit_is_told(tmp_path: Path):
    files, _ = made_class(tmp_path, "c")
    whole = sum(path.stat().st_size for path in files)
    for limit, words in (("max_upload", "the files have more than"), ("max_kept", "the most this server keeps")):
        data = tmp_path / limit
        with serving(data=data, moss_port=0, **{limit: whole - 1}) as server:
            assert words in refused(server, "1", files)
            assert not list((data / "jobs").iterdir())
            server.events(2, event="moss-ended")


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    limits = {"header_seconds": 1, "body_seconds": 1}
    with serving(data=tmp_path_factory.mktemp("impatient") / "data", moss_port=0, **limits) as running:
        yield running


@pytest.mark.parametrize(
    "data", [b"", b"mo", b"moss 1\n", b"moss 1\nlanguage c\n", b"moss 1\nlanguage c\nfile 1 c 1000000 a.c\nint"]
)
def test_a_client_that_stalls_is_cut_off(impatient: Server, data: bytes):
    wanted = b"yes\n" if b"language" in data else b""
    for _ in range(100):
        with closing(Raw(impatient).socket) as connection:
            connection.sendall(data)
            told = b"".join(iter(lambda: connection.recv(100), b""))
        # On a busy machine a second may be over before the language has come.
        if told or not wanted:
            break
    assert told == wanted
    folder = impatient.log_path.parent / "data"
    assert not list((folder / "jobs").iterdir())
    with closing(sqlite3.connect(folder / "jobs.sqlite")) as jobs:
        assert jobs.execute("SELECT count(*) FROM jobs").fetchone() == (0,)


def test_a_client_that_closes_its_side_gets_its_answer(server: Server, raw: Raw):
    text = work(5, "c").encode()
    raw.send(b"moss 1\nlanguage c\n")
    for name in (b"a.c", b"b.c"):
        raw.send(b"file 1 c %d %s\n%s" % (len(text), name, text))
    raw.send(b"query 0 \nend\n")
    raw.socket.shutdown(socket.SHUT_WR)
    answer = raw.rest().decode().removeprefix("yes\n")
    assert server.ask("GET", path_of(server, answer.strip())).status == 200


def test_clients_are_told_the_public_address(tmp_path: Path):
    with serving(data=tmp_path / "data", moss_port=0, public_url="https://similar.example.org") as server:
        files, _ = made_class(tmp_path, "c")
        moss = client(server, "c")
        for path in files:
            moss.addFile(str(path))
        url = moss.send()
        assert url.startswith("https://similar.example.org/moss/")
        page = server.ask("GET", url.removeprefix("https://similar.example.org")).body.decode()
        assert set(re.findall(r'href="(\w+://[^/"]*)', page)) == {"https://similar.example.org"}


def test_connections_are_bounded(tmp_path: Path):
    with serving(data=tmp_path / "data", moss_port=0, header_seconds=60) as server, ExitStack() as stack:
        for _ in range(params.MOSS_CONNECTIONS):
            stack.enter_context(closing(Raw(server).socket)).sendall(b"moss 1\n")
        one_more = stack.enter_context(closing(Raw(server).socket))
        assert one_more.recv(10) == b""
        assert server.ask("GET", "/health").status == 200
