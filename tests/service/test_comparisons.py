"""Comparisons over HTTP give what `lookalike compare` gives, to their owner only, and leave nothing behind."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

import lookalike as la
from lookalike import params
from lookalike.service import tokens
from lookalike.service.comparing.options import OPTIONS
from support.comparisons import ALL, Gate, compared, ended, has_ended, zipped
from support.packing import zip_bytes
from support.servers import Server, serving
from support.submissions import classroom, prose, run, snapshot, work, write

TABLES = ("pairs.csv", "passages.csv", "sections.csv", "clusters.csv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("comparisons")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with serving(data=folder / "data") as running:
        yield running


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A class in which each person is a folder."""
    flat = classroom(tmp_path / "flat", "java")
    return write(tmp_path / "people", {f"{path.stem}/Main.java": path.read_bytes() for path in flat.iterdir()})


def tables(server: Server, job: dict) -> dict[str, bytes]:
    return {name: server.ask("GET", f"{ALL}/{job['id']}/{name}").body for name in TABLES}


def expected(out: Path, *arguments: str | Path) -> dict[str, bytes]:
    ran = run("compare", *arguments, "-o", out)
    assert ran.code == 0, ran.err
    return {name: (out / name).read_bytes() for name in TABLES}


def jobs_folder(server_folder: Path, job: dict) -> Path:
    return server_folder / "data" / "jobs" / job["id"]


def test_a_zip_gets_the_tables_of_compare(server: Server, people: Path, tmp_path: Path):
    (tmp_path / "submissions.zip").write_bytes(zipped(people))
    job = compared(server, zipped(people), "language=java&min-score=0.1&max_sharing=9")
    assert job["state"] == "done", job
    wanted = expected(
        tmp_path / "out", tmp_path / "submissions.zip", "-l", "java", "--min-score", "0.1", "--max-sharing", "9"
    )
    assert tables(server, job) == wanted
    assert wanted["pairs.csv"].count(b"\n") > 1
    assert job["summary"]["pairs"] == wanted["pairs.csv"].count(b"\n") - 1
    assert job["summary"]["submissions"] == len(list(people.iterdir()))
    report = json.loads(server.ask("GET", f"{ALL}/{job['id']}/report.json").body)
    told = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["pairs"] == told["pairs"]


def test_single_files_get_the_tables_of_compare(server: Server, people: Path, tmp_path: Path):
    starter = write(tmp_path / "templates", {"Start.java": work(3, "java")})
    earlier = write(tmp_path / "old", {"eve ö/Main.java": work(100, "java")})
    roles = {"submissions": people, "templates": starter, "old": earlier}
    made = server.ask("POST", ALL)
    assert (made.status, made.json["state"]) == (201, "uploading")
    name = made.json["id"]
    for role, root in roles.items():
        for path in (path for path in root.rglob("*") if path.is_file()):
            label = quote(str(path.relative_to(root)))
            assert server.ask("PUT", f"{ALL}/{name}/files/{role}/{label}", path.read_bytes()).status == 200
    assert server.ask("GET", f"{ALL}/{name}").json["files"] == len(list(people.iterdir())) + 2
    assert server.ask("POST", f"{ALL}/{name}/start").status == 200
    job = ended(server, name)
    assert job["state"] == "done", job
    people.rename(tmp_path / "submissions")
    wanted = expected(tmp_path / "out", tmp_path / "submissions", "-b", starter, "--old", earlier)
    assert tables(server, job) == wanted
    assert "eve ö" in wanted["pairs.csv"].decode()


def test_years_are_read_as_several_old_folders(server: Server, people: Path, tmp_path: Path):
    """Equal names of two years are two submissions, which are not compared with each other."""
    years = {"2024": write(tmp_path / "2024", {"eve/Main.java": work(100, "java")})}
    years["2025"] = write(tmp_path / "2025", {"eve/Main.java": work(100, "java"), "dan/src/A.java": work(77, "java")})
    name = server.ask("POST", ALL).json["id"]
    for role, root in {"submissions": people, **{f"years/{year}": root for year, root in years.items()}}.items():
        for path in (path for path in root.rglob("*") if path.is_file()):
            label = f"{role}/{quote(str(path.relative_to(root)))}"
            assert server.ask("PUT", f"{ALL}/{name}/files/{label}", path.read_bytes()).status == 200
    server.ask("POST", f"{ALL}/{name}/start")
    job = ended(server, name)
    assert job["state"] == "done", job
    people.rename(tmp_path / "submissions")
    wanted = expected(tmp_path / "out", tmp_path / "submissions", "--old", years["2024"], "--old", years["2025"])
    assert tables(server, job) == wanted
    assert b"2024/eve" in wanted["pairs.csv"]
    assert b"2025/eve" in wanted["pairs.csv"]


def test_a_file_of_the_same_path_is_replaced_and_that_is_told(server: Server):
    name = server.ask("POST", ALL).json["id"]
    path = f"{ALL}/{name}/files/submissions/ann/a.c"
    answers = [server.ask("PUT", path, body).json for body in (b"x", b"x", b"other")]
    assert [one["replaced"] for one in answers] == [False, True, True]
    assert {(one["role"], one["path"]) for one in answers} == {("submissions", "ann/a.c")}
    assert server.ask("GET", f"{ALL}/{name}").json["files"] == 1


def test_an_archive_can_have_starter_code(server: Server, people: Path, tmp_path: Path):
    made = server.ask("POST", f"{ALL}?start=false", zipped(people), headers={"Content-Type": "application/zip"})
    name = made.json["id"]
    assert made.json["state"] == "uploading"
    starter = (people / "victim" / "Main.java").read_bytes()
    assert server.ask("PUT", f"{ALL}/{name}/files/templates/Main.java", starter).status == 200
    more = server.ask("PUT", f"{ALL}/{name}/files/submissions/a/b.java", b"class A {}")
    assert (more.status, more.code) == (409, "wrong-state")
    server.ask("POST", f"{ALL}/{name}/start")
    assert ended(server, name)["summary"]["pairs"] == 0


def test_a_comparison_with_an_index(people: Path, tmp_path: Path):
    write(tmp_path / "earlier", {"eve/Main.java": work(100, "java"), "dan/Main.java": work(77, "java")})
    with la.Index.create(tmp_path / "archive") as index:
        index.add([tmp_path / "earlier"])
    (tmp_path / "submissions.zip").write_bytes(zipped(people))
    with serving(tmp_path / "archive", data=tmp_path / "data") as server:
        job = compared(server, zipped(people), "index=archive")
        assert job["state"] == "done", job
        got = tables(server, job)
    wanted = expected(tmp_path / "out", tmp_path / "submissions.zip", "--index", tmp_path / "archive")
    assert got == wanted
    assert "eve" in wanted["pairs.csv"].decode()


def test_an_index_with_other_parameters_is_refused_before_a_job_is_made(tmp_path: Path):
    la.Index.create(tmp_path / "archive").close()
    la.Index.create(tmp_path / "bare", no_texts=True).close()
    la.Index.create(tmp_path / "python", language="python").close()
    with serving(*(tmp_path / name for name in ("archive", "bare", "python")), data=tmp_path / "data") as server:
        for query, told in (
            ("index=archive&k=7&t=20", "k, t"),
            ("index=archive&comments=true", "comments: False, not True"),
            ("index=archive&language=java", "language"),
            ("index=archive&index=python&language=python", "archive"),
            ("index=bare", "without texts"),
            ("index=archive&index=archive", "given twice"),
        ):
            refused = server.ask("POST", f"{ALL}?{query}")
            assert (refused.status, refused.code) == (422, "bad-parameter"), query
            assert told in refused.json["error"]["message"]
            assert str(tmp_path) not in refused.json["error"]["message"]
        assert server.ask("GET", ALL).json["comparisons"] == []
        assert server.ask("POST", f"{ALL}?index=archive").status == 201
        assert server.ask("POST", f"{ALL}?index=python&language=python").status == 201


def test_every_option_of_compare_is_one_here_unless_it_is_a_path_or_about_the_command():
    from lookalike.cli.main import cli

    known = {option.name for option in cli.commands["compare"].params} - {"paths"}
    elsewhere = {"template", "old", "follow_links", "strict", "out", "overwrite", "open_report", "as_json", "quiet"}
    assert known - elsewhere - {"threads", "fail_above"} == {parameter.name for parameter in OPTIONS}


@pytest.mark.parametrize(
    "query",
    [
        "unknown=1", "k=0", "k=9&t=3", "language=klingon", "min_score=2", "min_score=nan", "layout=flat&by_directory=1",
        "layout=other", "max_sharing=1", "top=-1", "language=java&language=c", "title=" + "x" * 501, "k=%00",
        "template=/etc/passwd", "old=/etc", "follow_links=1", "title=%1b", "include=%ff", "min_passage=99999999999",
    ],
)  # fmt: skip
def test_options_that_compare_refuses_are_refused(server: Server, query: str):
    before = len(server.ask("GET", f"{ALL}?limit=1000").json["comparisons"])
    refused = server.ask("POST", f"{ALL}?{query}")
    assert refused.status in (400, 422), refused.body
    assert len(server.ask("GET", f"{ALL}?limit=1000").json["comparisons"]) == before


def test_an_unknown_index_does_not_exist(server: Server):
    refused = server.ask("POST", f"{ALL}?index=../../etc")
    assert (refused.status, refused.code) == (404, "no-such-index")


@pytest.mark.parametrize(
    ("body", "kind", "status", "code"),
    [
        (b"class A {}", "application/zip", 422, "not-a-zip"),
        (b"class A {}", "text/plain", 415, "other-type"),
        (b"a=b", "application/x-www-form-urlencoded", 415, "other-type"),
        (b"\x1f\x8b" + b"x" * 30, "application/zip", 422, "not-a-zip"),
    ],
)
def test_a_body_that_is_no_zip_is_refused(server: Server, body: bytes, kind: str, status: int, code: str):
    refused = server.ask("POST", ALL, body, headers={"Content-Type": kind})
    assert (refused.status, refused.code) == (status, code)


def encrypted() -> bytes:
    """Return an archive of two members that says that they are encrypted."""
    data = bytearray(zip_bytes(("a.c", b"int a;" * 40), ("b.c", b"int a;" * 40)))
    for head, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        for found in re.finditer(re.escape(head), bytes(data)):
            data[found.start() + flags] |= 1
    return bytes(data)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"PK\3\4 and then nothing", "damaged"),
        (zip_bytes(("a.c", b"int a;"))[:-30], "damaged"),
        (encrypted(), "encrypted"),
        (zip_bytes(("big.c", b"\0" * 200_000_000)), "more than|larger"),
        (zip_bytes(), "no files"),
    ],
    # An archive has the time in it, and a name of a test must not.
    ids=["head", "cut", "encrypted", "large", "empty"],
)
def test_a_bad_archive_says_why(server: Server, folder: Path, body: bytes, reason: str):
    job = compared(server, body)
    assert job["state"] == "failed"
    assert re.search(reason, job["reason"]), job["reason"]
    assert str(folder) not in job["reason"]
    assert not (jobs_folder(folder, job) / "uploads").exists()


def test_paths_in_an_archive_are_labels(server: Server, folder: Path, people: Path):
    text = (people / "victim" / "Main.java").read_bytes()
    job = compared(server, zip_bytes(("../../../../../tmp/evil/Main.java", text), ("/etc/ann/Main.java", text)))
    assert job["state"] == "done", job
    assert not Path("/tmp/evil").exists()
    rows = list(csv.DictReader(tables(server, job)["pairs.csv"].decode().splitlines()))
    assert len(rows) == 1


@pytest.mark.parametrize(
    "path", ["..%2F..%2Fevil", "a%2F..%2Fb", "%2Fetc%2Fpasswd", "a%00b", "a%5Cb", "x" * 300, "%FF"]
)
def test_a_path_that_is_not_plain_is_refused(server: Server, path: str):
    name = server.ask("POST", ALL).json["id"]
    refused = server.ask("PUT", f"{ALL}/{name}/files/submissions/{path}", b"x")
    assert refused.status == 422, refused.body
    server.ask("DELETE", f"{ALL}/{name}")


def test_files_go_to_a_role_that_exists(server: Server):
    name = server.ask("POST", ALL).json["id"]
    for role in ("archive", "etc", ".."):
        assert server.ask("PUT", f"{ALL}/{name}/files/{role}/a.c", b"x").status == 404
    server.ask("DELETE", f"{ALL}/{name}")


def test_bytes_beyond_the_limit_are_refused_and_removed(tmp_path: Path):
    with serving(data=tmp_path / "data", max_upload=5000) as server:
        large = server.ask("POST", ALL, b"PK\3\4" + b"x" * 6000, headers={"Content-Type": "application/zip"})
        assert large.status == 413
        name = server.ask("POST", ALL).json["id"]
        assert server.ask("PUT", f"{ALL}/{name}/files/submissions/a", b"x" * 3000).status == 200
        assert server.ask("PUT", f"{ALL}/{name}/files/submissions/b", b"x" * 3000).status == 413
        assert server.ask("PUT", f"{ALL}/{name}/files/submissions/a", b"y" * 2000).status == 200
        stored = [path for path in (tmp_path / "data" / "jobs").rglob("*") if path.is_file()]
        assert [path.read_bytes() for path in stored] == [b"y" * 2000]


def test_the_report_is_open_at_its_address_and_nothing_else_is(server: Server, folder: Path, people: Path):
    job = compared(server, zipped(people))
    address = job["report"].removesuffix("report.html")
    assert re.fullmatch(r"/reports/[A-Za-z0-9_-]{22,}/", address)
    assert job["id"] not in address
    (report,) = jobs_folder(folder, job).rglob("report/report.html")
    for name, data in snapshot(report.parent).items():
        answer = server.ask("GET", address + name)
        assert (answer.status, answer.body) == (200, data), name
        assert "charset=utf-8" in answer.headers["content-type"] or name.endswith(".json")
        assert answer.headers["x-robots-tag"].startswith("noindex")
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"].startswith("private")
        assert answer.headers["x-content-type-options"] == "nosniff"
        policy = answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert "default-src 'none'" in policy
        if name.endswith(".html"):
            assert "script-src 'sha256-" in policy
            assert "unsafe" not in policy
    tricks = ("", "pairs", "pairs/", "pairs/000.html", "../moss.json", "..%2Fmoss.json", "pairs/../../../jobs.sqlite",
              "%2e%2e/%2e%2e/jobs.sqlite", "report.html/", "report.html%00", "/etc/passwd")  # fmt: skip
    for trick in tricks:
        assert server.ask("GET", address + trick).status == 404, trick
    lead = server.ask("GET", address.rstrip("/"))
    assert lead.status == 307
    assert server.ask("GET", f"/reports/{lead.headers['location']}").status == 200


def test_a_link_in_another_site_opens_a_report_and_nothing_else(server: Server, people: Path):
    job = compared(server, zipped(people))
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert server.ask("GET", job["report"], headers=link).status == 200
    assert server.ask("GET", f"{ALL}/{job['id']}", headers=link).status == 403
    assert server.ask("GET", "/v1/../reports/", headers=link).status == 403
    for other in ({"Sec-Fetch-Mode": "no-cors"}, {"Sec-Fetch-Dest": "iframe"}, {"Origin": "http://evil.example"}):
        assert server.ask("GET", job["report"], headers=link | other).status == 403


def test_a_repeated_request_makes_one_comparison(server: Server, folder: Path, people: Path):
    def send(body: bytes | None, query: str = "", key: str = "k1"):
        return server.ask(
            "POST", f"{ALL}{query}", body, headers={"Content-Type": "application/zip", "Idempotency-Key": key}
        )

    body = zipped(people)
    first, again = send(body).json, send(body).json
    assert again["id"] == first["id"]
    assert ended(server, first["id"])["state"] == "done"
    assert send(body).json["state"] == "done"
    assert send(body, key="k2").json["id"] != first["id"]
    for other in (send(body, "?k=7"), send(zipped(people / "thief")), send(None), send(body, "?start=false")):
        assert (other.status, other.code) == (422, "key-reused")
    empty = send(None, key="k3").json
    assert (empty["state"], empty["id"]) == ("uploading", send(None, key="k3").json["id"])
    known = {job["id"] for job in server.ask("GET", f"{ALL}?limit=1000").json["comparisons"]}
    assert {path.name for path in (folder / "data" / "jobs").iterdir()} == known
    assert send(body, key="").status == 400


def test_deleting_removes_every_file(server: Server, folder: Path, people: Path):
    job = compared(server, zipped(people))
    assert jobs_folder(folder, job).exists()
    assert server.ask("DELETE", f"{ALL}/{job['id']}").status == 204
    assert not jobs_folder(folder, job).exists()
    for path in (f"{ALL}/{job['id']}", f"{ALL}/{job['id']}/pairs.csv", job["report"]):
        assert server.ask("GET", path).status == 404
    assert server.ask("DELETE", f"{ALL}/{job['id']}").status == 404
    server.events(event="comparison-deleted", id=job["id"], why="requested")


def test_uploads_are_removed_when_the_report_is_there(server: Server, folder: Path, people: Path):
    job = compared(server, zipped(people))
    assert {path.name for path in jobs_folder(folder, job).iterdir()} == {"1"}
    assert {path.name for path in (jobs_folder(folder, job) / "1").iterdir()} == {"report"}


def test_the_list_has_pages(tmp_path: Path):
    with serving(data=tmp_path / "data") as server:
        made = [server.ask("POST", ALL).json["id"] for _ in range(5)]
        found, after = [], ""
        while True:
            page = server.ask("GET", f"{ALL}?limit=2{after}").json
            found += [job["id"] for job in page["comparisons"]]
            if page["next"] is None:
                break
            after = f"&after={page['next']}"
        assert found == made[::-1]
        for after in ("what", "nan-a", "inf-a", "-", ""):
            assert server.ask("GET", f"{ALL}?after={after}").status == 422
        assert server.ask("GET", f"{ALL}?limit=0").status == 422


def test_the_queue_is_bounded(tmp_path: Path):
    with serving(data=tmp_path / "data") as server:
        assert {server.ask("POST", ALL).status for _ in range(params.JOB_QUEUE)} == {201}
        refused = server.ask("POST", ALL)
        assert (refused.status, refused.code) == (429, "too-many-comparisons")
        assert int(refused.headers["retry-after"]) > 0


def test_what_a_token_keeps_is_bounded(people: Path, tmp_path: Path):
    path = str(tmp_path / "tokens.jsonl")
    ann, bob = (tokens.make(path, name=name, scopes=["compare"]) for name in ("ann", "bob"))
    with serving(data=tmp_path / "data", max_kept=10_000, token_file=path) as server:
        first, second = (server.ask("POST", ALL, token=ann).json["id"] for _ in range(2))
        assert server.ask("PUT", f"{ALL}/{first}/files/submissions/a", b"x" * 6000, ann).status == 200
        refused = server.ask("PUT", f"{ALL}/{second}/files/submissions/a", b"x" * 6000, ann)
        assert (refused.status, refused.code) == (413, "too-large")
        assert "10,000 bytes, the most this server keeps for you" in refused.json["error"]["message"]
        stored = [one for one in (tmp_path / "data" / "jobs").rglob("*") if one.is_file()]
        assert [one.stat().st_size for one in stored] == [6000]
        assert compared(server, zipped(people), token=bob)["state"] == "done"
        # The report counts, too.
        refused = server.ask("POST", ALL, token=bob)
        assert (refused.status, refused.code) == (413, "too-large")
        (job,) = server.ask("GET", ALL, token=bob).json["comparisons"]
        assert server.ask("DELETE", f"{ALL}/{job['id']}", token=bob).status == 204
        assert server.ask("POST", ALL, token=bob).status == 201


def test_metrics_count_comparisons_by_state(people: Path, tmp_path: Path):
    with serving(data=tmp_path / "data") as server:
        server.ask("POST", ALL)
        assert compared(server, zipped(people))["state"] == "done"
        told = server.ask("GET", "/metrics").body.decode()
        counts = dict(re.findall(r'^lookalike_comparisons\{state="(\w+)"\} (\d+)$', told, re.MULTILINE))
        other = {"waiting": "0", "running": "0", "failed": "0", "cancelled": "0"}
        assert counts == {"uploading": "1", "done": "1", **other}


def test_only_its_owner_sees_a_comparison(people: Path, tmp_path: Path):
    path = str(tmp_path / "tokens.jsonl")
    ann, bob = (tokens.make(path, name=name, scopes=["compare"]) for name in ("ann", "bob"))
    reader = tokens.make(path, name="reader", scopes=["compare", "read"], indexes=["other"])
    la.Index.create(tmp_path / "archive", kind="class").close()
    with serving(tmp_path / "archive", data=tmp_path / "data", token_file=path) as server:
        job = compared(server, zipped(people), token=ann)
        of_one = [("GET", ""), ("DELETE", ""), ("POST", "/start"), ("POST", "/cancel"), ("GET", "/pairs.csv")]
        for method, rest in [*of_one, ("PUT", "/files/submissions/a.c")]:
            foreign = server.ask(method, f"{ALL}/{job['id']}{rest}", token=bob)
            unknown = server.ask(method, f"{ALL}/{'0' * 24}{rest}", token=bob)
            assert (foreign.status, foreign.body) == (unknown.status, unknown.body) == (404, unknown.body)
            assert server.ask(method, f"{ALL}/{job['id']}{rest}").status == 401
        assert server.ask("GET", ALL, token=bob).json["comparisons"] == []
        assert server.ask("GET", f"{ALL}/{job['id']}", token=ann).json["state"] == "done"
        assert server.ask("GET", job["report"]).status == 200
        for name in ("archive", "missing"):
            # A token without the scope read learns the same of every index.
            assert server.ask("POST", f"{ALL}?index={name}", token=ann).status == 403
            assert server.ask("POST", f"{ALL}?index={name}", token=reader).status == 404
        log = server.log_path.read_text()
        assert job["report"].split("/")[2] not in log


def test_memory_is_bounded_and_the_reason_told(tmp_path: Path):
    text = (prose(1, 2000) * 1000).encode()
    with serving(data=tmp_path / "data", job_memory=512 << 20) as server:
        job = compared(server, zip_bytes(*((f"p{i}/essay.txt", text) for i in range(30))))
        assert job["state"] == "failed"
        assert "more than 536,870,912 bytes of memory" in job["reason"]


def test_the_public_address_is_the_one_that_clients_are_told(people: Path, tmp_path: Path):
    with serving(data=tmp_path / "data", public_url="https://similar.example.org/x/") as server:
        job = compared(server, zipped(people))
        path = job["report"].removeprefix("https://similar.example.org/x")
        assert path.startswith("/reports/")
        assert server.ask("GET", path).status == 200


def test_names_become_codes_where_the_policy_says_so(people: Path, tmp_path: Path):
    with serving(data=tmp_path / "data", anonymise=True) as server:
        job = compared(server, zipped(people))
        every = snapshot(next((tmp_path / "data" / "jobs" / job["id"]).rglob("report")))
        assert job["summary"]["pairs"] == 1
        assert not [name for name, data in every.items() if b"victim" in data or b"thief" in data]


def test_a_running_comparison_is_killed_when_it_is_not_wanted(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    gate = Gate(tmp_path, monkeypatch)
    with serving(data=tmp_path / "data") as server:
        for method, rest, left in (("DELETE", "", 404), ("POST", "/cancel", 200)):
            name = server.ask("POST", ALL, zipped(people), headers={"Content-Type": "application/zip"}).json["id"]
            waits = server.ask("POST", ALL, zipped(people), headers={"Content-Type": "application/zip"}).json["id"]
            child = gate.reached()
            assert server.ask("GET", f"{ALL}/{name}").json["state"] == "running"
            assert server.ask("GET", f"{ALL}/{waits}").json["state"] == "waiting"
            assert server.ask("DELETE", f"{ALL}/{waits}").status == 204
            assert server.ask(method, f"{ALL}/{name}{rest}").status in (200, 204)
            assert has_ended(child)
            gone = server.ask("GET", f"{ALL}/{name}")
            assert gone.status == left
            files = [path for path in (tmp_path / "data" / "jobs").rglob("*") if path.is_file()]
            assert files == []
        assert gone.json["state"] == "cancelled"


def test_a_comparison_continues_after_the_keeper_ended(people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    gate = Gate(tmp_path, monkeypatch)
    with serving(data=tmp_path / "data") as server:
        name = server.ask("POST", ALL, zipped(people), headers={"Content-Type": "application/zip"}).json["id"]
        child = gate.reached()
        gate.open()
        (keeper,) = server.children()["keeper"]
        os.kill(keeper, signal.SIGKILL)
        assert has_ended(child)
        job = ended(server, name)
        assert (job["state"], job["attempts"]) == ("done", 2)


@pytest.mark.parametrize("death", ["kill", "stop"])
def test_a_comparison_continues_after_the_server_ended(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, death: str
):
    gate = Gate(tmp_path, monkeypatch)
    server = Server(data=tmp_path / "data")
    name = server.ask("POST", ALL, zipped(people), headers={"Content-Type": "application/zip"}).json["id"]
    child = gate.reached()
    server.kill() if death == "kill" else server.stop()
    assert has_ended(child)
    gate.open()
    with serving(data=tmp_path / "data") as again:
        job = ended(again, name)
        assert (job["state"], job["attempts"]) == ("done", 2 if death == "kill" else 1)
        assert job["summary"]["pairs"] == 1
        assert again.ask("GET", job["report"]).status == 200


def test_what_is_over_is_deleted_with_its_files(people: Path, tmp_path: Path):
    with serving(data=tmp_path / "data") as server:
        old, new = compared(server, zipped(people)), compared(server, zipped(people))
    with closing(sqlite3.connect(tmp_path / "data" / "jobs.sqlite")) as jobs:
        jobs.execute("UPDATE jobs SET expires = 5 WHERE id = ?", (old["id"],))
        jobs.commit()
    (tmp_path / "data" / "jobs" / ("0" * 24)).mkdir()
    (tmp_path / "data" / "jobs" / "not ours").mkdir()
    with serving(data=tmp_path / "data") as server:
        assert server.ask("GET", old["report"]).status == 404
        assert server.ask("GET", new["report"]).status == 200
        server.events(event="comparison-deleted", id=old["id"], why="expired")
    left = {path.name for path in (tmp_path / "data" / "jobs").iterdir()}
    assert left == {new["id"], "not ours"}
