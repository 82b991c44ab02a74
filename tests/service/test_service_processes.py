"""The processes of a server: they start, answer, come back when they end, and none outlives the others."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike as la
from lookalike.engines import local
from support.servers import PATIENCE, HeldQueries, Server, serving
from support.service_oracle import Load, Oracle, check

TEXT = {"Content-Type": "text/plain"}


def test_a_server_without_an_index_answers_and_stops(tmp_path: Path):
    with serving(data=tmp_path / "data") as server:
        answer = server.ask("GET", "/health")
        assert (answer.status, answer.json) == (200, {"status": "ok"})
        assert server.ask("GET", "/ready").json == {"status": "ready"}
    assert server.process.returncode == 0


def test_a_server_that_is_stopped_under_load_loses_nothing(tmp_path: Path):
    la.Index.create(tmp_path / "news", kind="corpus").close()
    oracles = [Oracle(tmp_path / f"oracle-{number}") for number in range(4)]
    server = Server(tmp_path / "news", data=tmp_path / "data", readers=2)
    load = Load(server, oracles, seed=3)
    load.await_answers(40)
    assert server.stop() == 0
    load.stop()
    check(tmp_path, oracles)
    for oracle in oracles:
        oracle.close()
    assert [one["event"] for one in server.log() if one["event"] != "request"] == ["started", "stopping", "stopped"]


def test_no_process_outlives_a_killed_supervisor(tmp_path: Path):
    la.Index.create(tmp_path / "news", kind="corpus").close()
    server = Server(tmp_path / "news", data=tmp_path / "data", readers=2)
    every = [one for some in server.children().values() for one in some]
    assert len(every) == 3
    with contextlib.ExitStack() as open_:
        handles = [os.pidfd_open(one) for one in every]
        for handle in handles:
            open_.callback(os.close, handle)
        os.kill(server.process.pid, signal.SIGKILL)
        for handle in handles:
            assert select.select([handle], [], [], PATIENCE)[0]
    server.stop()
    with serving(tmp_path / "news", data=tmp_path / "data") as again:
        assert again.ask("GET", "/ready").status == 200


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["no where"], 2, "does not exist: check the path, or make it with `lookalike index create '"),
        (["news", "--host", "0.0.0.0"], 2, "--token-file"),
        (["news", "news"], 2, "two indexes"),
        (["news", "--token-file", "bad.jsonl"], 3, "line 1"),
        (["news", "--token-file", "none.jsonl"], 2, "does not exist"),
        (["news", "--max-body", "1"], 2, "--max-body"),
    ],
)
def test_what_cannot_be_served_is_told(tmp_path: Path, arguments: list[str], code: int, told: str):
    la.Index.create(tmp_path / "news", kind="corpus").close()
    (tmp_path / "bad.jsonl").write_text("{}\n")
    command = [sys.executable, "-m", "lookalike", "serve", *arguments, "--port", "0"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_one_folder_one_port_and_one_index_have_one_server(tmp_path: Path):
    for name in ("news", "other"):
        la.Index.create(tmp_path / name, kind="corpus").close()
    with serving(tmp_path / "news", data=tmp_path / "data") as server:
        command = [sys.executable, "-m", "lookalike", "serve", str(tmp_path / "other")]
        for options, code in (
            (["--port", "0", "--data", str(tmp_path / "data")], 5),
            (["--port", str(server.port), "--data", str(tmp_path / "more")], 2),
        ):
            done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=PATIENCE)
            assert done.returncode == code, done.stderr
        with pytest.raises(la.LockedError, match="HTTP, or stop the server") as refused:
            la.Index.open(tmp_path / "news", write=True)
        assert f"a lookalike server (process {server.process.pid} on " in str(refused.value)
    with la.Index.open(tmp_path / "news", write=True), pytest.raises(la.LockedError, match=f"process {os.getpid()} on"):
        la.Index.open(tmp_path / "news", write=True)


def test_a_purged_document_leaves_no_byte(tmp_path: Path):
    secret = "the unmistakable words of a person who wants to be forgotten"
    la.Index.create(tmp_path / "news", kind="corpus").close()
    with serving(tmp_path / "news", data=tmp_path / "data") as server:
        path = "/v1/indexes/news/documents/person"
        assert server.ask("PUT", path, secret, headers=TEXT).status == 201
        assert server.ask("GET", path).json["texts"][0]["text"] == secret
        assert server.ask("DELETE", f"{path}?purge=true").status == 204
        left = [one for one in tmp_path.rglob("*") if one.is_file() and b"unmistakable" in one.read_bytes()]
        assert left == []


def test_an_answer_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    la.Index.create(tmp_path / "news", kind="corpus").close()
    held = HeldQueries(tmp_path, monkeypatch)
    with serving(tmp_path / "news", data=tmp_path / "data", readers=1, answer_seconds=1) as server:
        late = server.ask("POST", "/v1/indexes/news/query", b"a few words", headers=TEXT)
        assert (late.status, late.code) == (504, "too-long")
        held.open()


def test_work_of_a_client_that_has_gone_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    la.Index.create(tmp_path / "news", kind="corpus").close()
    held, threads, waiting = HeldQueries(tmp_path, monkeypatch), local.cores() + 1, 40
    with serving(tmp_path / "news", data=tmp_path / "data", readers=1) as server:
        connections = [server.connection() for _ in range(threads + waiting)]
        for one in connections:
            one.request("POST", "/v1/indexes/news/query", b"a few words", TEXT)
        held.await_begun(threads)
        for one in connections:
            one.close()
        server.events(threads + waiting, event="request", status=0)
        held.open()
        assert server.ask("POST", "/v1/indexes/news/query", b"a few words", headers=TEXT).status == 200
    assert held.begun == threads + 1
    assert not [one for one in server.log() if "fault" in one["event"] or one["event"] == "library"]


def test_no_question_waits_for_the_keeper(tmp_path: Path):
    with la.Index.create(tmp_path / "news", kind="corpus") as index:
        index.add([("a", "one two three four five six seven")])
    with (
        serving(tmp_path / "news", data=tmp_path / "data", answer_seconds=PATIENCE) as server,
        contextlib.closing(server.connection()) as adding,
    ):
        (keeper,) = server.children()["keeper"]
        os.kill(keeper, signal.SIGSTOP)
        try:
            adding.request("PUT", "/v1/indexes/news/documents/b", b"eight nine ten eleven twelve thirteen", TEXT)
            for what in ("query", "seen"):
                asked = server.ask("POST", f"/v1/indexes/news/{what}", b"eight nine ten eleven twelve", headers=TEXT)
                assert asked.status == 200
            assert server.ask("GET", "/v1/indexes/news/documents/a").status == 200
            assert server.ask("GET", "/v1/indexes/news/documents/b").status == 404
            assert server.ask("GET", "/ready").code == "not-ready"
        finally:
            os.kill(keeper, signal.SIGCONT)
        assert adding.getresponse().status == 201
        found = server.ask("POST", "/v1/indexes/news/seen", b"eight nine ten eleven twelve thirteen", headers=TEXT)
        assert found.json["identical"]
