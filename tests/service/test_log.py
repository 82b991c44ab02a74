"""The log of the service never makes anyone wait."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lookalike as la
from lookalike.service import log
from support.servers import PATIENCE, Server


@pytest.fixture(params=["pipe", "socket", "polled"])
def ends(request: pytest.FixtureRequest) -> Iterator[tuple[int, int, bool]]:
    """The two ends of a log, and whether it cannot be opened again."""
    if request.param == "socket":
        reading, writing = (one.detach() for one in socket.socketpair())
    else:
        reading, writing = os.pipe()
    yield reading, writing, request.param == "polled"
    os.close(reading)
    os.close(writing)


def test_a_log_that_nobody_reads_drops_whole_lines_and_tells(
    ends: tuple[int, int, bool], monkeypatch: pytest.MonkeyPatch
):
    reading, writing, is_polled = ends
    if is_polled:
        monkeypatch.setattr(os, "O_NONBLOCK", 1 << 30 | os.O_DIRECTORY)
    sink, dropped = log.Sink(writing), []
    sink.on_drop = lambda: dropped.append(1)
    written = 0
    while len(dropped) < 10:
        sink.write(json.dumps({"event": "x", "number": written, "more": "y" * 200}) + "\n")
        written += 1
    found = b""
    while found.count(b"\n") < written - 10:
        found += os.read(reading, 1 << 20)
    assert [json.loads(line)["number"] for line in found.splitlines()] == list(range(written - 10))
    sink.write('{"event": "last"}\n')
    gap, last = map(json.loads, os.read(reading, 1 << 20).splitlines())
    assert (gap["event"], gap["lines"], last["event"]) == ("log-dropped", 10, "last")
    sink.close()


def test_a_server_answers_while_nobody_reads_its_log(tmp_path: Path):
    la.Index.create(tmp_path / "news", kind="corpus").close()
    reading, writing = os.pipe()
    server = Server(tmp_path / "news", data=tmp_path / "data", readers=1, log=writing)
    os.close(writing)
    try:
        # A line has more than 100 bytes, and a pipe holds 64 KiB.
        for _ in range(1_000):
            assert server.ask("GET", "/health").status == 200
        metrics = server.ask("GET", "/metrics").body.decode()
        (count,) = re.findall(r"^lookalike_log_lines_dropped_total (\d+)$", metrics, re.MULTILINE)
        assert int(count) > 100
    finally:
        assert server.stop() == 0
        os.close(reading)


def test_a_locked_index_is_told_without_options_that_serve_lacks(tmp_path: Path):
    with la.Index.create(tmp_path / "news", kind="corpus"):
        code = "from lookalike.cli.main import main; main()"
        words = ["serve", str(tmp_path / "news"), "--port", "0", "--data", str(tmp_path / "data")]
        done = subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    assert done.returncode == 5
    assert f"is being changed by process {os.getpid()}" in done.stderr
    assert "wait=" not in done.stderr
