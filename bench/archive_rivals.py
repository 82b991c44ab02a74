"""What people use without an archive: datasketch over Redis for "have I seen this?", postings in SQLite for passages.

`datasketch` and `redis` are looked for in `$BENCH_PEERS/main`, where the rivals' own setup puts them, and
`redis-server` on the path. The server is started on a free port of this machine, keeps everything in memory, and is
ended. This file is also the program that the other interpreter runs: it reads texts, one JSON string a line, and prints
its figures as JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: Words of a shingle and size of a sketch: those of our own defaults.
SHINGLE, SIZE = 5, 128
COLUMNS = "key INTEGER, document INTEGER, place INTEGER, PRIMARY KEY (key, document, place)"


def seen_by_datasketch(stored: Sequence[str], asked: Sequence[str], threshold: float) -> dict[str, Any]:
    """Store texts in MinHashLSH over Redis and ask it; seconds, and the numbers found. Errors: `LookupError`."""
    python = Path(os.environ.get("BENCH_PEERS", "")) / "main" / "bin" / "python"
    if not python.exists():
        raise LookupError("no interpreter with datasketch: give its folder as $BENCH_PEERS")
    with tempfile.TemporaryDirectory() as room, _redis(Path(room)) as port:
        for name, texts in (("stored", stored), ("asked", asked)):
            (Path(room) / name).write_text("".join(json.dumps(text) + "\n" for text in texts), "utf-8")
        order = [str(python), __file__, room, str(port), str(threshold)]
        done = subprocess.run(order, capture_output=True, text=True)
    if done.returncode:
        raise LookupError(f"it did not run: {(done.stderr.strip().splitlines() or ['nothing was printed'])[-1]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@contextmanager
def _redis(room: Path) -> Iterator[int]:
    """A server of one's own; it answers before the port is given. Errors: `LookupError`."""
    program = shutil.which("redis-server")
    if program is None:
        raise LookupError("`redis-server` is not on this machine")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    order = [
        program,
        "--port",
        str(port),
        "--save",
        "",
        "--appendonly",
        "no",
        "--dir",
        str(room),
        "--bind",
        "127.0.0.1",
    ]
    with subprocess.Popen(order, stdout=subprocess.PIPE, text=True) as server:
        try:
            if server.stdout is None or not any("Ready to accept connections" in line for line in server.stdout):
                raise LookupError("`redis-server` did not start")
            yield port
        finally:
            server.terminate()


def passages_by_sqlite(
    stored: Sequence[Sequence[int]], asked: Sequence[Sequence[int]], file: Path
) -> tuple[float, float, list[int | None]]:
    """Keep fingerprints in SQLite, and ask for the document that shares most: CPU seconds of both, and answers."""
    base = sqlite3.connect(file)
    base.execute("PRAGMA journal_mode=OFF")
    base.execute(f"CREATE TABLE postings ({COLUMNS}) WITHOUT ROWID")
    cpu = time.process_time()
    rows = ((_signed(key), number, at) for number, keys in enumerate(stored) for at, key in enumerate(keys))
    base.executemany("INSERT OR IGNORE INTO postings VALUES (?, ?, ?)", sorted(rows))
    base.commit()
    built = time.process_time() - cpu
    cpu = time.process_time()
    answers = [_best(base, keys) for keys in asked]
    spent = time.process_time() - cpu
    base.close()
    return built, spent, answers


def _signed(key: int) -> int:
    """SQLite has signed numbers."""
    return key - (1 << 64) if key >> 63 else key


def _best(base: sqlite3.Connection, keys: Sequence[int]) -> int | None:
    shared: Counter[int] = Counter()
    for key in set(keys):
        for (document,) in base.execute("SELECT DISTINCT document FROM postings WHERE key = ?", (_signed(key),)):
            shared[document] += 1
    return min(shared, key=lambda document: (-shared[document], document), default=None)


def _child(room: Path, port: int, threshold: float) -> dict[str, Any]:
    """Run datasketch as its documentation shows."""
    from datasketch import MinHash, MinHashLSH

    def sketch(text: str) -> Any:
        words, made = text.lower().split(), MinHash(num_perm=SIZE)
        made.update_batch({" ".join(words[i : i + SHINGLE]).encode() for i in range(len(words) - SHINGLE + 1)})
        return made

    storage = {"type": "redis", "basename": b"bench", "redis": {"host": "127.0.0.1", "port": port}}
    index = MinHashLSH(threshold=threshold, num_perm=SIZE, storage_config=storage)
    stored, asked = (
        [json.loads(line) for line in (room / name).open(encoding="utf-8")] for name in ("stored", "asked")
    )
    cpu = time.process_time()
    with index.insertion_session() as session:
        for number, text in enumerate(stored):
            session.insert(str(number), sketch(text))
    built = time.process_time() - cpu
    sketches = [sketch(text) for text in asked]
    wall = time.perf_counter()
    found = [[int(name) for name in index.query(made)] for made in sketches]
    spent = time.perf_counter() - wall
    cpu = time.process_time()
    [sketch(text) for text in asked]
    return {"build": built, "ask": spent, "sketch": time.process_time() - cpu, "found": found}


if __name__ == "__main__":
    print(json.dumps(_child(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))))
