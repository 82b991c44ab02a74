"""The command as a teacher runs it: `lookalike compare FOLDER`, its defaults, and the pairs that it lists."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

#: Every pair whatever its score: for tables that show low scores.
EVERYTHING = ("--min-score", "0", "--max-pairs", "0", "--max-passages", "1")


class CommandError(RuntimeError):
    """The command ended with an error."""


def listed(folder: str, options: Sequence[str] = ()) -> list[tuple[str, str, dict[str, Any]]]:
    """Run the command on a folder whose files are the submissions; each pair listed by score or for a passage."""
    command = [sys.executable, "-m", "lookalike", "compare", folder, "--json", "--quiet", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise CommandError(f"`lookalike compare` ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    report = json.loads(done.stdout)
    names = [entry["name"] for entry in report["entries"]]
    return [(names[pair["left"]], names[pair["right"]], pair) for pair in (*report["pairs"], *report["shared"])]
