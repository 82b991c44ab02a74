"""Other tools on a folder of submissions: the score of each pair by file name. Pairs a tool does not give count 0.

They are not part of this repository. `RIVALS=DIR` names the folder that holds them: `jplag/run` (JPlag 6 behind a
command that writes every pair), `dolos/node_modules` (dolos-lib), `main/bin/python` (with copydetect).
"""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
#: The longest one run of one tool may take.
PATIENCE_SECONDS = 900
Pairs = dict[frozenset[str], float]
SUFFIX = {"java": "java", "cpp": "cpp", "python": "py"}


class AbsentError(RuntimeError):
    """A tool is not installed, or did not run: the reason."""


def jplag(folder: Path, language: str, rivals: Path) -> dict[str, Pairs]:
    """JPlag with and without normalisation and match merging; its average and its maximum similarity."""
    program = rivals / "jplag" / "run"
    if not program.is_file():
        raise AbsentError("there is no `jplag/run`")
    found: dict[str, Pairs] = {}
    for flags in ((), ("norm",), ("merge",), ("norm", "merge")):
        out = folder.parent / "jplag.tsv"
        _run([str(program), language, str(folder), str(out), *flags])
        rows = _rows(out, "\t")[1:]
        for column, kind in ((2, "average"), (3, "maximum")):
            told = " ".join(("JPlag", *flags, kind))
            found[told] = {frozenset(row[:2]): float(row[column]) for row in rows}
    return found


def dolos(folder: Path, language: str, rivals: Path) -> dict[str, Pairs]:
    """Dolos by its library, with its defaults."""
    modules = rivals / "dolos" / "node_modules"
    if not modules.is_dir():
        raise AbsentError("there is no `dolos/node_modules`")
    out = folder.parent / "dolos.csv"
    files = sorted(map(str, folder.iterdir()))
    _run(["node", "--stack-size=4000", str(HERE / "dolos.mjs"), str(modules), language, str(out), *files])
    return {"Dolos": {frozenset(Path(name).name for name in row[:2]): float(row[2]) for row in _rows(out, ",")}}


def copydetect(folder: Path, language: str, rivals: Path) -> dict[str, Pairs]:
    """Run copydetect with its defaults, every pair; the mean of its two shares."""
    program = rivals / "main" / "bin" / "python"
    if not program.exists():
        raise AbsentError("there is no `main/bin/python`")
    out = folder.parent / "copydetect.csv"
    _run([str(program), str(HERE / "copydetect_pairs.py"), str(folder), SUFFIX[language], str(out)])
    return {"copydetect": {frozenset(row[:2]): float(row[2]) for row in _rows(out, ",")}}


TOOLS: dict[str, Callable[[Path, str, Path], dict[str, Pairs]]] = {
    "JPlag": jplag,
    "Dolos": dolos,
    "copydetect": copydetect,
}


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AbsentError(f"it did not run: {type(error).__name__}") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise AbsentError(f"it did not run: {last[:200]}")


def _rows(file: Path, delimiter: str) -> list[list[str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return [row for row in csv.reader(lines, delimiter=delimiter) if row]
