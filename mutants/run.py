"""Runs the mutants of named modules and prints, per module, how many the tests notice.

    python -m mutants.run                    everything: an hour or two
    python -m mutants.run named params       only these

Python modules are changed by mutmut, Rust files by cargo-mutants, one module at a time, with only the tests that cover
it. Everything is changed in copies below ``target/mutants``. A tool that is not there is skipped, with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from mutants.targets import NAMED, PYTHON, RUST, Named, Python, Rust

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "mutants"
#: The least share of mutants that the tests must notice.
GOAL = 0.9
#: mutmut reads a private name that pytest 9.1 and later no longer have.
SHIM = "import _pytest.nodes\n_pytest.nodes.Node._nodeid = property(lambda node: node.nodeid)\n"
SETTINGS = """[tool.mutmut]
source_paths = ["{path}"]
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = ["-p", "no:cacheprovider"]
also_copy = ["lookalike", "tests", "docs", "conftest.py"]
"""


class Score(NamedTuple):
    """What became of the mutants of a module."""

    noticed: int
    equivalent: int
    survivors: list[str]

    @property
    def all(self) -> int:
        """Mutants that were tried."""
        return self.noticed + self.equivalent + len(self.survivors)

    @property
    def share(self) -> float:
        """The share that was noticed; equivalent mutants count as not noticed."""
        return self.noticed / self.all if self.all else 0.0


class SkippedError(Exception):
    """A tool is not there; the message says which."""


def quiet(command: Iterable[str | Path], cwd: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run something at low priority, and return what it said."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **extra}
    nice = ["nice", "-n", "10"] if shutil.which("nice") else []
    return subprocess.run(
        [*nice, *map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def fresh(name: str) -> Path:
    """Return an empty folder to work in."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


# --- changes that once went unnoticed ---


def named() -> Score:
    """Apply each change to a copy of the package; the test it names must fail then, and pass without it."""
    folder = fresh("named")
    shutil.copytree(ROOT / "python" / "lookalike", folder / "lookalike")
    for test in sorted({one.test for one in NAMED}):
        if _fails(test, folder):
            raise SystemExit(f"{test} fails without any change: mend it first")
    survivors = [one.what for one in NAMED if not _is_noticed(one, folder)]
    return Score(len(NAMED) - len(survivors), 0, survivors)


def _fails(test: str, folder: Path) -> bool:
    ran = quiet(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", test], ROOT, PYTHONPATH=str(folder)
    )
    return ran.returncode != 0


def _is_noticed(one: Named, folder: Path) -> bool:
    path = folder / one.path
    text = path.read_text(encoding="utf-8")
    if text.count(one.old) != 1:
        raise SystemExit(f"`{one.old}` is not once in {one.path}: bring mutants/targets.py up to date")
    path.write_text(text.replace(one.old, one.new), encoding="utf-8")
    try:
        return _fails(one.test, folder)
    finally:
        path.write_text(text, encoding="utf-8")


# --- mutmut ---


def python(target: Python) -> Score:
    """Let mutmut change a module in a copy of the package."""
    tool = Path(sys.executable).parent / "mutmut"
    if not tool.exists():
        raise SkippedError("mutmut is not installed: run make mutants, or pip install mutmut")
    folder = fresh(Path(target.path).stem)
    for name in ("python/lookalike", "tests", "docs"):
        shutil.copytree(ROOT / name, folder / Path(name).name)
    (folder / "conftest.py").write_text(SHIM, encoding="utf-8")
    settings = SETTINGS.format(path=target.path, tests=json.dumps(list(target.tests)))
    (folder / "pyproject.toml").write_text(settings, encoding="utf-8")
    ran = quiet([tool, "run", "--max-children", "1"], folder)
    found = re.findall(r"^ *(\S+): (.+)$", quiet([tool, "results", "--all", "true"], folder).stdout, re.MULTILINE)
    if not found:
        raise SystemExit(f"mutmut did nothing with {target.path}:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    left = [name for name, status in found if status in ("survived", "no tests", "not checked", "suspicious")]
    shown = {name: _change(quiet([tool, "show", name], folder).stdout) for name in left}
    return _score(len(found), shown.values(), target.equivalent)


def _change(diff: str) -> str:
    """Return the lines that a mutant has in place of others."""
    return " ".join(
        line[1:].strip() for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++")
    )


def _score(count: int, survivors: Iterable[str], equivalent: dict[str, str]) -> Score:
    left = list(survivors)
    real = [one for one in left if one not in equivalent]
    return Score(count - len(left), len(left) - len(real), real)


# --- cargo-mutants ---


def rust(target: Rust) -> Score:
    """Let cargo-mutants change a file in a copy of the workspace, which is kept so that only changes are built."""
    tool = shutil.which("cargo-mutants") or shutil.which("cargo-mutants", path=str(ROOT / "target" / "tools" / "bin"))
    if tool is None:
        raise SkippedError(
            "cargo-mutants is not installed: run cargo install --locked cargo-mutants --root target/tools"
        )
    results = fresh(Path(target.path).name) / "mutants.out"
    command: list[str | Path] = [
        tool,
        "mutants",
        "-d",
        _workspace(Path(target.path).parent),
        "--in-place",
        "-o",
        results.parent,
    ]
    command += ["--cargo-arg=--lib", "--cap-lints", "true", "--colors", "never"]
    command += ["-p", "lookalike-core", "--file", target.path, "--profile", "mutants"]
    ran = quiet([*command, "--", "--", *target.tests], ROOT)
    if not (results / "caught.txt").exists():
        raise SystemExit(f"cargo-mutants did nothing with {target.path}:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    found = {name: (results / f"{name}.txt").read_text().splitlines() for name in ("caught", "timeout", "missed")}
    count = sum(map(len, found.values()))
    return _score(count, map(_without_place, found["missed"]), target.equivalent)


def _workspace(kept: Path) -> Path:
    """Bring a copy of the workspace up to date, in which only the tests below one folder are built."""
    copy = WORK / "rust"
    for path in [ROOT / "Cargo.toml", ROOT / "Cargo.lock", *_sources("crates"), *_sources("fuzz")]:
        below = path.relative_to(ROOT)
        data = path.read_bytes()
        if path.suffix == ".rs" and below.is_relative_to("crates/core/src") and not below.is_relative_to(kept):
            data = re.sub(rb"#\[cfg\(test\)\](\s*mod tests\b)", rb"#[cfg(any())]\1", data)
        if not (copy / below).exists() or (copy / below).read_bytes() != data:
            (copy / below).parent.mkdir(parents=True, exist_ok=True)
            (copy / below).write_bytes(data)
    return copy


def _sources(folder: str) -> list[Path]:
    return [path for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix in (".rs", ".toml")]


def _without_place(name: str) -> str:
    """Return the name of a mutant without line and column, which move."""
    return re.sub(r"^\S+\.rs:\d+:\d+: ", "", name)


def jobs() -> dict[str, Callable[[], Score]]:
    """Return everything that can be run, by name."""
    found: dict[str, Callable[[], Score]] = {"named": named}
    found |= {name: partial(python, one) for name, one in PYTHON.items()}
    return found | {name: partial(rust, one) for name, one in RUST.items()}


def main() -> int:
    """Run what is asked for; return 1 if a module misses the goal."""
    every = jobs()
    parser = argparse.ArgumentParser(prog="mutants", description="Share of mutants that the tests notice, per module.")
    parser.add_argument("modules", nargs="*", help=f"of {', '.join(every)}; default: all")
    chosen = parser.parse_args().modules or list(every)
    if unknown := [name for name in chosen if name not in every]:
        parser.error(f"`{unknown[0]}` is not known: use {', '.join(every)}")
    is_missed = False
    for name in chosen:
        try:
            score = every[name]()
        except SkippedError as reason:
            print(f"{name}: skipped: {reason}", flush=True)
            continue
        wanted = 1.0 if name == "named" else GOAL
        is_missed |= score.share < wanted
        told = f"{score.noticed} of {score.all} noticed, {100 * score.share:.1f} %, {score.equivalent} equivalent"
        print(f"{name}: {told}", *(f"    survived: {one}" for one in score.survivors), sep="\n", flush=True)
    return int(is_missed)


if __name__ == "__main__":
    sys.exit(main())
