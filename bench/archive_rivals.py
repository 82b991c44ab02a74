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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: Words of a shingle and size of a sketch: those of our own defaults.
SHINGLE, SIZE = 5, 128
#: The fewest letters of a passage: the guarantee threshold of the index.
SHORTEST = 149
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


class SqlitePassages:
    """Postings and texts in SQLite, and the question of passages as a careful program would ask it.

    Stored are the fingerprints of each text with document and place, and the texts as letters (`la.canonical`). A
    question is fingerprinted and looked up key by key. Documents are taken from the one that shares most keys; the
    text of each is read from SQLite, and each shared k-gram is compared letter by letter and extended both ways.
    The answer has document, place on both sides and length of each passage, in letters. The index does the same, and
    also says at which bytes and lines of the original texts each passage stands.
    """

    def __init__(self, file: Path, read: Callable[[str], tuple[str, Sequence[tuple[int, int]]]], top: int) -> None:
        """`read` gives the letters of a text, and its fingerprints with their places."""
        self.base, self.read, self.top = sqlite3.connect(file), read, top
        self.base.execute("PRAGMA journal_mode=OFF")
        self.base.execute(f"CREATE TABLE postings ({COLUMNS}) WITHOUT ROWID")
        self.base.execute("CREATE TABLE texts (document INTEGER PRIMARY KEY, letters TEXT)")

    def add(self, texts: Sequence[str]) -> None:
        """Store texts; each has its place as its number."""
        rows = []
        for number, text in enumerate(texts):
            letters, prints = self.read(text)
            self.base.execute("INSERT INTO texts VALUES (?, ?)", (number, letters))
            rows += [(_signed(key), number, at) for key, at in prints]
        self.base.executemany("INSERT OR IGNORE INTO postings VALUES (?, ?, ?)", sorted(rows))
        self.base.commit()

    def ask(self, text: str) -> list[tuple[int, list[tuple[int, int, int]]]]:
        """Return the documents that share most, with place in the question, place in the document, and length."""
        letters, prints = self.read(text)
        shared: dict[int, list[tuple[int, int]]] = {}
        for key, at in prints:
            for document, place in self.base.execute(
                "SELECT document, place FROM postings WHERE key = ?", (_signed(key),)
            ):
                shared.setdefault(document, []).append((at, place))
        ranked = sorted(shared, key=lambda document: (-len(shared[document]), document))
        found = ((document, self._passages(letters, document, shared[document])) for document in ranked[: self.top])
        return [(document, passages) for document, passages in found if passages]

    def _passages(self, letters: str, document: int, shared: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
        """Compare what a document shares, and extend it; a k-gram inside a passage belongs to it."""
        ((other,),) = self.base.execute("SELECT letters FROM texts WHERE document = ?", (document,))
        found: list[tuple[int, int, int]] = []
        for at, place in sorted(shared):
            if any(start <= at < start + length and place - at == begin - start for start, begin, length in found[-2:]):
                continue
            length = _common(letters[at:], other[place:])
            before = _common(letters[:at][::-1], other[:place][::-1])
            if before + length >= SHORTEST:
                found.append((at - before, place - before, before + length))
        return found

    def close(self) -> None:
        """Close the file."""
        self.base.close()


def _common(left: str, right: str) -> int:
    """Return how many letters at the beginning are equal, by comparing halves, which is fast in Python."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if left[low:middle] == right[low:middle] else (low, middle - 1)
    return low


def _signed(key: int) -> int:
    """SQLite has signed numbers."""
    return key - (1 << 64) if key >> 63 else key


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
