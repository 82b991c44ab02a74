"""Folders for what a task spills: where Spark keeps its own files, which it removes with a lost executor."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory


def scratch() -> TemporaryDirectory[str]:
    """Return a folder of this task; without Spark, one among the temporary files of this machine."""
    first = os.environ.get("SPARK_LOCAL_DIRS", "").partition(",")[0]
    return TemporaryDirectory(prefix="lookalike-", dir=first if os.path.isdir(first) else None)
