"""Processes that change an index until they are killed. One server imports the package and forks a child per cycle.

Both sides make the same operations from the same seed, so the test knows what each acknowledged one did.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.archives import Model, put, reopen
from tests.support.records import signed

#: Seconds after which a process counts as hung. It decides how soon a failure is told, never what passes.
PATIENCE = 600
IDS = [f"d{number}" for number in range(40)]
Operation = tuple[str, Any]


def operations(seed: int) -> Iterator[Operation]:
    """Operations without end: mostly small adds, at times large ones, removals, compactions and purges."""
    draw = random.Random(seed)
    while True:
        kind = draw.choices(["add", "many", "remove", "compact", "purge"], [60, 10, 20, 5, 5])[0]
        if kind in ("add", "many"):
            count = draw.randint(1, 3) if kind == "add" else draw.randint(5, 12)
            yield (
                "add",
                [(draw.choice(IDS), f"text {draw.randint(0, 30)} {'x ' * draw.randint(0, 9)}") for _ in range(count)],
            )
        elif kind == "compact":
            yield "compact", None
        else:
            yield kind, draw.sample(IDS, draw.randint(1, 4))


def apply(index: Any, operation: Operation) -> None:
    """Do an operation to an index."""
    kind, given = operation
    if kind == "add":
        index._add_records([signed(id_, text) for id_, text in given])
    elif kind == "compact":
        index.compact()
    else:
        index.remove(given, purge=kind == "purge")


def follow(model: Model, operation: Operation) -> Model:
    """What an operation makes of a model."""
    kind, given = operation
    made = dict(model)
    if kind == "add":
        put(made, [signed(id_, text) for id_, text in given])
    elif kind != "compact":
        for id_ in given:
            made.pop(id_.encode(), None)
    return made


def _work(path: Path, seed: int, creates: bool) -> None:
    """Open or create an index and change it without end; write a byte for each operation that is acknowledged."""
    from tests.support.archives import create

    index = create(path) if creates else reopen(path)
    os.write(1, b".")
    for operation in operations(seed):
        apply(index, operation)
        os.write(1, b".")


def _serve() -> None:
    """Fork a child for each line on stdin: `seed creates path`; print its pid, and its end once it has ended."""
    for line in sys.stdin:
        seed, creates, path = line.rstrip("\n").split(" ", 2)
        child = os.fork()
        if child == 0:
            _work(Path(path), int(seed), creates == "1")
            os._exit(0)
        os.write(2, f"{child}\n".encode())
        _, status = os.waitpid(child, 0)
        os.write(2, f"{os.waitstatus_to_exitcode(status)}\n".encode())


class Server:
    """The process that forks children. Use it in a ``with`` statement."""

    def __init__(self) -> None:
        root = Path(__file__).resolve().parents[2]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.archive_children"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=root,
            env={**os.environ, "RAYON_NUM_THREADS": "1"},
        )

    def begin(self, path: Path, seed: int, *, creates: bool = False) -> int:
        """Start a child; return its process id."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{seed} {int(creates)} {path}\n".encode())
        self._process.stdin.flush()
        return self._number()

    def acknowledged(self) -> bytes:
        """Wait for one more acknowledgement, or for the end of all output."""
        assert self._process.stdout is not None
        return os.read(self._process.stdout.fileno(), 1)

    def ended(self) -> int:
        """Wait for the end of the child; return its exit code, negative for a signal."""
        return self._number()

    def rest(self) -> int:
        """How many more acknowledgements were written. REQUIRES: the child has ended."""
        assert self._process.stdout is not None
        handle = self._process.stdout.fileno()
        os.set_blocking(handle, False)
        try:
            return len(os.read(handle, 1 << 20))
        except BlockingIOError:
            return 0
        finally:
            os.set_blocking(handle, True)

    def _number(self) -> int:
        assert self._process.stderr is not None
        line = self._process.stderr.readline()
        try:
            return int(line)
        except ValueError:
            more = self._process.stderr.read1(1 << 16)  # type: ignore[attr-defined]
            raise AssertionError((line + more).decode()) from None

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


if __name__ == "__main__":
    _serve()
