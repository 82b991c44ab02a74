"""How much a server takes: full queries, `seen`, and durable adds beside queries, over HTTP on this machine.

``python -m bench.serve`` makes an index of 100,000 documents of 2 KB, starts a server, compares its answers with those
of the index in this process, and then runs ``wrk`` (which must be installed) with 64 connections. Client and server
share the cores. Rates depend on what else runs; processor time per request does not, and is told beside them.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lookalike as la

DOCUMENTS, ASKED, CONNECTIONS = 100_000, 400, 64
KIND = {"Content-Type": "text/plain"}
_LUA = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "text/plain"
local texts, place = {{}}, 0
for line in io.lines("{texts}") do texts[#texts + 1] = line end
request = function()
  place = place + 1
  return wrk.format(nil, nil, nil, texts[place * 7919 % #texts + 1])
end
"""


def rows(count: int) -> Iterator[dict[str, str]]:
    """Yield texts of 2 KB; every fifth is nearly the one before."""
    draw, before = random.Random(1), ""
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(3, 10))) for _ in range(20_000)]
    for number in range(count):
        text = " ".join(draw.choices(words, k=320))[:2048]
        text = before[:1900] + text[:148] if before and number % 5 == 0 else text
        before = text
        yield {"id": f"d{number}", "text": text}


def asked(count: int) -> list[str]:
    """Return texts to ask about: copies, near copies and new ones."""
    draw, found = random.Random(2), []
    for row in rows(count):
        kind = draw.random()
        if kind < 0.5:
            words = row["text"].split()
            draw.shuffle(words)
            found.append(" ".join(words))
        else:
            found.append(row["text"] if kind < 0.7 else row["text"][:1900] + " other words at the end of it")
    return found


def start(folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    log = open(folder / "log", "wb")  # noqa: SIM115
    command = [sys.executable, "-m", "lookalike", "serve", str(folder / "load"), "--port", "0"]
    server = subprocess.Popen([*command, "--data", str(folder / "data")], stdout=subprocess.PIPE, stderr=log)
    assert server.stdout is not None
    return server, int(server.stdout.readline().decode().rpartition(":")[2])


def processor(server: subprocess.Popen[bytes]) -> float:
    """Return the processor time of all processes of a server, in seconds."""
    found = 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == server.pid or folder.name == str(server.pid):
            found += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return found


def memory(server: subprocess.Popen[bytes]) -> int:
    """Return the memory of all processes of a server that is theirs alone, in MiB: files that they map do not count."""
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == server.pid:
                own = re.search(r"RssAnon:\s+(\d+) kB", (folder / "status").read_text())
                found += int(own[1]) if own else 0
        except OSError:
            continue
    return found // 1024


def endure(server: subprocess.Popen[bytes], port: int, texts: list[str], minutes: float) -> None:
    """Run mixed load, and tell how much the memory grows after the first minute."""
    end, turn = time.monotonic() + 60 * minutes, 1
    mixed(port, texts, 60, turn)
    first = memory(server)
    while time.monotonic() < end:
        turn += 1
        mixed(port, texts, 60, turn)
    last = memory(server)
    growth = 100 * (last - first) / first
    print(f"memory: {first} MiB after a minute, {last} MiB after {minutes:g} minutes, {growth:+.0f} %")


def check(port: int, index: la.Index, texts: list[str]) -> None:
    """Compare every answer with that of the index in this process."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for text in texts:
        for what, wanted in (("query", index.query(text.encode())), ("seen", index.seen(text.encode()))):
            connection.request("POST", f"/v1/indexes/load/{what}", text.encode(), KIND)
            found = json.loads(connection.getresponse().read())
            expected = wanted.to_json()
            assert found == ({**expected, "index": "load"} if what == "query" else expected)
    connection.close()


def wrk(port: int, path: str, lua: Path, seconds: int) -> dict[str, Any]:
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "-s", str(lua)]
    told = subprocess.run([*command, f"http://127.0.0.1:{port}{path}"], capture_output=True, text=True, check=True)
    out = told.stdout
    assert "Non-2xx" not in out, out
    assert "Socket errors" not in out, out
    rate, requests = re.search(r"Requests/sec:\s+([\d.]+)", out), re.search(r"(\d+) requests in", out)
    slow = re.search(r"99%\s+([\d.]+)(us|ms|s)", out)
    assert rate is not None
    assert requests is not None
    assert slow is not None
    unit = {"us": 0.001, "ms": 1.0, "s": 1000.0}[slow[2]]
    return {"rate": float(rate[1]), "requests": int(requests[1]), "p99 ms": float(slow[1]) * unit}


def paced(
    port: int, rate: float, seconds: float, threads: int, make: Callable[[int], tuple[str, str, str]]
) -> list[float]:
    """Send requests at a rate from several threads; return how long each took from when it was due, in ms."""
    took: list[float] = []
    begin = time.perf_counter() + 0.2

    def work(first: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        for number in range(first, int(rate * seconds), threads):
            due = begin + number / rate
            time.sleep(max(0.0, due - time.perf_counter()))
            method, path, body = make(number)
            connection.request(method, path, body.encode(), KIND)
            answer = connection.getresponse()
            answer.read()
            assert answer.status in (200, 201), answer.status
            took.append(1000 * (time.perf_counter() - due))
        connection.close()

    every = [threading.Thread(target=work, args=(first,)) for first in range(threads)]
    for one in every:
        one.start()
    for one in every:
        one.join()
    assert len(took) == int(rate * seconds)
    return sorted(took)


def mixed(port: int, texts: list[str], seconds: int, turn: int = 0) -> dict[str, float]:
    """100 durable adds and 100 queries per second at the same time."""
    found: dict[str, list[float]] = {}
    new = [row["text"][::-1] for row in rows(100 * seconds)]

    def run(name: str, make: Callable[[int], tuple[str, str, str]]) -> None:
        found[name] = paced(port, 100, seconds, 16, make)

    both = [
        threading.Thread(
            target=run, args=("adds", lambda n: ("PUT", f"/v1/indexes/load/documents/{turn}/{n}", new[n]))
        ),
        threading.Thread(
            target=run, args=("queries", lambda n: ("POST", "/v1/indexes/load/query", texts[n % len(texts)]))
        ),
    ]
    for one in both:
        one.start()
    for one in both:
        one.join()
    return {f"{name} p99 ms": some[len(some) * 99 // 100] for name, some in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=0.0, help="also run mixed load for so long, for its memory")
    chosen = parser.parse_args()
    if shutil.which("wrk") is None:
        sys.exit("bench: wrk is not installed: install it first")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with la.Index.create(folder / "load", kind="corpus") as index:
            index.add(rows(chosen.documents))
        texts = asked(min(ASKED, chosen.documents))
        (folder / "texts").write_text("\n".join(texts))
        (folder / "ask.lua").write_text(_LUA.format(texts=folder / "texts"))
        server, port = start(folder)
        try:
            with la.Index(folder / "load") as index:
                check(port, index, texts)
            for what in ("seen", "query"):
                before = processor(server)
                row = wrk(port, f"/v1/indexes/load/{what}", folder / "ask.lua", chosen.seconds)
                cost = 1e6 * (processor(server) - before) / row["requests"]
                print(
                    f"{what}: {row['rate']:,.0f}/s, p99 {row['p99 ms']:.0f} ms, {cost:,.0f} µs of processor time each"
                )
            row = mixed(port, texts, chosen.seconds)
            told = ", ".join(f"{name} {value:.0f}" for name, value in row.items())
            print(f"100 adds/s beside 100 queries/s: {told}; load average {os.getloadavg()[0]:.1f}")
            if chosen.minutes:
                endure(server, port, texts, chosen.minutes)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
