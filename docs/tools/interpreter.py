"""A Python interpreter in a process of its own, in which the programs of one page run one after the other."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

#: Seconds after which an example hangs.
PATIENCE = 120
#: Reads one program per line, as JSON, and answers with its failure or an empty string. What programs print is dropped.
DRIVER = """
import contextlib, io, json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    failure = ""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(json.loads(line), "<example>", "exec"), names)
    except BaseException:
        failure = traceback.format_exc()
    print(json.dumps(failure), flush=True)
"""


class Interpreter:
    """The process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, program: str) -> str:
        """Run a program with the names of those before it. Return its failure, or an empty string."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        watch = Timer(PATIENCE, self._process.kill)
        watch.start()
        try:
            self._process.stdin.write(json.dumps(program) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        finally:
            watch.cancel()
        return str(json.loads(answer)) if answer else "the interpreter ended, or the program took too long"


@contextmanager
def started(folder: Path) -> Iterator[Interpreter]:
    """Start an interpreter in a folder, and end it afterwards."""
    order = [sys.executable, "-c", DRIVER]
    with subprocess.Popen(order, cwd=folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Interpreter(process)
