"""How much a server takes: full queries, `seen`, and durable adds beside queries, over HTTP on this machine.

``python -m bench.serve`` makes an index of 100,000 documents of 2 KB, starts a server, compares its answers with those
of the index in this process, and then runs ``wrk`` (which must be installed) with 64 connections. Client and server
share the cores. Rates depend on what else runs. Processor time per request depends on it less, through the caches, and
is told beside them. ``--minutes 30`` runs mixed load instead, with a comparison now and then, and tells the memory.
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
#: Documents of one request to `seen`, as many as a server takes by default.
BATCH = 100
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


def memory(server: subprocess.Popen[bytes]) -> dict[str, float]:
    """Return the memory of each process of a server that is its alone, in MiB: files that it maps do not count."""
    found: dict[str, float] = {}
    for folder in sorted(Path("/proc").glob("[0-9]*")):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            words = (folder / "cmdline").read_bytes().split(b"\0")
            own = re.search(r"RssAnon:\s+(\d+) kB", (folder / "status").read_text())
        except OSError:
            continue
        if int(fields[1]) == server.pid and own and len(words) > 3:
            found[f"{words[3].decode()} {folder.name}"] = int(own[1]) / 1024
    return found


def endure(server: subprocess.Popen[bytes], port: int, texts: list[str], minutes: float, rate: float) -> None:
    """Run mixed load, and tell the memory of each process at the start and every five minutes, now and at most.

    Documents gather in memory until they fill a segment, so memory goes up and down: the largest values are compared.
    """
    begin, turn, told = time.monotonic(), 0, 0
    most = memory(server)
    _tell_memory(0, most, most)
    while (now := (time.monotonic() - begin) / 60) < minutes:
        turn += 1
        mixed(port, texts, 20, turn, rate)
        comparison(port, texts)
        found = memory(server)
        most = {name: max(size, most.get(name, 0.0)) for name, size in found.items()}
        if now // 5 > told:
            told = int(now // 5)
            _tell_memory(5 * told, found, most)
            most = found


def _tell_memory(minute: int, now: dict[str, float], most: dict[str, float]) -> None:
    shown = ", ".join(f"{name.split()[0]} {size:.1f} (at most {most[name]:.1f})" for name, size in sorted(now.items()))
    print(f"memory after {minute} minutes, MiB: {shown}", flush=True)


def comparison(port: int, texts: list[str]) -> None:
    """Compare a small class, and delete it."""
    connection = http.client.HTTPConnection("127.0.0.1", port)

    def ask(method: str, path: str, body: bytes = b"") -> Any:
        connection.request(method, f"/v1/comparisons{path}", body)
        answer = connection.getresponse()
        told = answer.read()
        assert answer.status < 300, told
        return json.loads(told) if told else None

    name = ask("POST", "")["id"]
    for number, text in enumerate(texts[:10]):
        ask("PUT", f"/{name}/files/submissions/{number}.txt", text.encode())
    ask("POST", f"/{name}/start")
    while ask("GET", f"/{name}")["state"] in ("waiting", "running"):
        time.sleep(0.5)
    ask("DELETE", f"/{name}")
    connection.close()


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


def mixed(port: int, texts: list[str], seconds: int, turn: int = 0, rate: float = 100) -> dict[str, float]:
    """Durable adds, queries and `seen` at the same time, each so many per second."""
    found: dict[str, list[float]] = {}
    new = [row["text"][::-1] for row in rows(int(rate * seconds))]
    path = "/v1/indexes/load"
    kinds: dict[str, Callable[[int], tuple[str, str, str]]] = {
        "adds": lambda n: ("PUT", f"{path}/documents/{turn}/{n}", f"{turn} {new[n]}"),
        "queries": lambda n: ("POST", f"{path}/query", texts[n % len(texts)]),
        "seen": lambda n: ("POST", f"{path}/seen", texts[n % len(texts)]),
    }

    def run(name: str) -> None:
        found[name] = paced(port, rate, seconds, 16, kinds[name])

    every = [threading.Thread(target=run, args=(name,)) for name in kinds]
    for one in every:
        one.start()
    for one in every:
        one.join()
    return {f"{name} p99 ms": some[len(some) * 99 // 100] for name, some in found.items()}


def rates(server: subprocess.Popen[bytes], port: int, texts: list[str], folder: Path, seconds: int) -> None:
    """Tell how many requests of each kind are answered, and their processor time."""
    for what in ("seen", "query"):
        before = processor(server)
        row = wrk(port, f"/v1/indexes/load/{what}", folder / "ask.lua", seconds)
        cost = 1e6 * (processor(server) - before) / row["requests"]
        print(f"{what}: {row['rate']:,.0f}/s, p99 {row['p99 ms']:.0f} ms, {cost:,.0f} µs of processor time each")
    before, started = processor(server), time.perf_counter()
    batches(port, texts, seconds)
    asked_ = len(texts) * seconds
    cost, rate = 1e6 * (processor(server) - before) / asked_, asked_ / (time.perf_counter() - started)
    print(f"seen in batches of {BATCH}: {rate:,.0f} documents/s, {cost:,.0f} µs of processor time each")
    row = mixed(port, texts, seconds)
    told = ", ".join(f"{name} {value:.0f}" for name, value in row.items())
    print(f"100 adds/s beside 100 queries/s and 100 seen/s: {told}; load average {os.getloadavg()[0]:.1f}")


def batches(port: int, texts: list[str], times: int) -> None:
    """Ask about all texts in batches, one after the other, so many times."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    lines = [json.dumps({"text": text}) for text in texts]
    for start in [*range(0, len(lines), BATCH)] * times:
        body = "\n".join(lines[start : start + BATCH]).encode()
        connection.request("POST", "/v1/indexes/load/seen", body, {"Content-Type": "application/x-ndjson"})
        answer = connection.getresponse()
        assert answer.read().count(b"\n") == len(lines[start : start + BATCH])
    connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=0.0, help="only run mixed load for so long, for its memory")
    parser.add_argument("--rate", type=float, default=100.0, help="requests of each kind per second in mixed load")
    chosen = parser.parse_args()
    if shutil.which("wrk") is None and not chosen.minutes:
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
            if chosen.minutes:
                endure(server, port, texts, chosen.minutes, chosen.rate)
            else:
                rates(server, port, texts, folder, chosen.seconds)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
