"""The command line in a child process whose most memory is measured."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.children import PATIENCE

#: For tests that need the peak.
needs_peak = pytest.mark.skipif(
    not os.path.exists("/proc/self/status"), reason="the system does not tell a process's peak"
)
#: The peak is that of the process's own memory; what getrusage tells begins at the size of the process that started it.
_MEASURED = """
import re, sys
from lookalike.cli.main import main
sys.argv[1:] = {arguments!r}
try:
    main()
finally:
    print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1], file=sys.stderr)
"""


def measured(*arguments: str | Path) -> tuple[subprocess.CompletedProcess[bytes], int]:
    """Run a command, and return what became of it and the most memory it had, in bytes."""
    code = _MEASURED.format(arguments=[str(one) for one in arguments])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=PATIENCE, check=False)
    assert b"Traceback" not in done.stderr
    return done, int(done.stderr.split()[-1]) * 1024
