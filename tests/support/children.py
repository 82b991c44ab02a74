"""Child processes that tests stop at a known place, so that no test guesses how far another process has got.

A child announces through a pipe that it is about to call a function. The test reads the pipe, which blocks until the
child is there or has ended, and then sends a signal.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: Seconds after which a process counts as hung. It decides how soon a failure is told, never what passes.
PATIENCE = 600

#: Runs the command line. The call with number CALL of a function writes a byte to a pipe, and then waits if it is to.
#: A background job ignores interrupts, so they are allowed first.
_CHILD = """
import os, signal, sys
from importlib import import_module

signal.signal(signal.SIGINT, signal.default_int_handler)
module, _, path = {place!r}.partition(":")
owner, (*above, name) = import_module(module), path.split(".")
for part in above:
    owner = getattr(owner, part)
honest = getattr(owner, name)
before = {call} - 1

def announced(*arguments, **named):
    global before
    if not before:
        os.write({pipe}, b".")
        while {waits}:
            signal.pause()
    before -= 1
    return honest(*arguments, **named)

setattr(owner, name, announced)
from lookalike.cli.main import main
sys.argv[1:] = {arguments!r}
main()
"""


def started_until(
    place: str, arguments: Sequence[str | Path], call: int = 1, waits: bool = True, given: bytes = b"", **options: Any
) -> subprocess.Popen[bytes]:
    """Run the command line until it calls a function of its main thread, named as ``module:name``, for the nth time.

    With ``waits`` it stays there until a signal arrives; otherwise it goes on into the call, which should block.
    ``given`` is what it is given on its standard input, which stays open.
    """
    reader, writer = os.pipe()
    code = _CHILD.format(place=place, call=call, pipe=writer, waits=waits, arguments=[*map(str, arguments)])
    streams = {"stdin": subprocess.PIPE if given else None, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    child = subprocess.Popen([sys.executable, "-c", code], pass_fds=[writer], **streams | options)
    os.close(writer)
    if given:
        assert child.stdin is not None
        child.stdin.write(given)
        child.stdin.flush()
    with open(reader, "rb", buffering=0) as pipe:
        assert select.select([pipe], [], [], PATIENCE)[0], f"{place} was not called in {PATIENCE} seconds"
        if not pipe.read(1):
            raise AssertionError(f"the child ended before {place}: {child.communicate(timeout=PATIENCE)}")
    return child
