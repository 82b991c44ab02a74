"""For tests of the package: build the wheel and the sdist, and install each into an empty virtual environment.

The builds use the repository's Cargo target folder and this environment's interpreter, so Cargo compiles nothing twice.
An sdist is unpacked with the dates of the repository's files, so Cargo sees a change where the repository has changed
since a build, and nowhere else; ``test_the_sdist_holds_the_sources_of_the_repository`` compares their contents. With
the dates of the archive, which are older than any build, Cargo would use what it once built from an older sdist.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: The interpreter as `make` names it: another name for it would compile the binding again.
PYTHON = Path(sys.prefix) / "bin" / "python"
UV = PYTHON.with_name("uv")
#: What uv and pip say when there is no network.
OFFLINE = re.compile(r"Failed to fetch|error sending request|dns error|NewConnectionError|Name or service|timed out")


def ran(*command: str | Path, **options: object) -> str:
    """Run a command that must succeed; return its standard output."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return str(done.stdout)


def build_environment() -> dict[str, str]:
    """Return the environment of a build: the same tools and target folder as `make`, and no crate from the network."""
    path = f"{PYTHON.parent}{os.pathsep}{os.environ['PATH']}"
    shared = {"CARGO_TARGET_DIR": str(ROOT / "target"), "CARGO_NET_OFFLINE": "true", "VIRTUAL_ENV": sys.prefix}
    return {**shared, **os.environ, "PATH": path}


def build_wheel(source: Path, out: Path) -> Path:
    """Build the wheel of a source tree with the backend that its pyproject.toml names."""
    flags = ["--no-build-isolation", "--no-deps", "--no-index", "--quiet", "--wheel-dir", out]
    ran(PYTHON, "-m", "pip", "wheel", *flags, source, env=build_environment())
    (wheel,) = out.glob("*.whl")
    return wheel


def build_sdist(out: Path) -> Path:
    """Build the sdist of the repository."""
    ran(PYTHON.with_name("maturin"), "sdist", "--out", out, cwd=ROOT, env=build_environment())
    (sdist,) = out.glob("*.tar.gz")
    return sdist


def unpacked(sdist: Path, folder: Path) -> Path:
    """Unpack an sdist, with the dates of the repository's files; return the folder that holds its pyproject.toml."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    for path in root.rglob("*"):
        own = ROOT / path.relative_to(root)
        if path.is_file() and own.is_file():
            os.utime(path, ns=(own.stat().st_atime_ns, own.stat().st_mtime_ns))
    return root


@dataclass(frozen=True)
class Installation:
    """A virtual environment with nothing but the package and its declared dependencies."""

    folder: Path

    @property
    def python(self) -> Path:
        """The interpreter of the environment."""
        return self.folder / "bin" / "python"

    @cached_property
    def packages(self) -> Path:
        """The folder with the installed packages."""
        return Path(ran(self.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a user who knows nothing of the repository."""
        home = self.folder / "home"
        return {"PATH": f"{self.python.parent}:/usr/bin:/bin", "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}

    def files(self) -> set[str]:
        """Return the paths of all installed files."""
        return {str(path.relative_to(self.packages)) for path in self.packages.rglob("*") if path.is_file()}

    def run(self, *command: str | Path, cwd: Path) -> str:
        """Run a program of the environment that must succeed; return its standard output."""
        return ran(*command, cwd=cwd, env=self.environment)


def installing(wheel: Path, python: Path) -> list[str]:
    """Return the command that installs a wheel for an interpreter: uv, which is fast, or else pip."""
    if UV.exists():
        command = [UV, "pip", "install", "--python", python]
    else:
        command = [PYTHON, "-m", "pip", "--python", python, "install"]
    return [*map(str, command), "--quiet", "-c", str(ROOT / "constraints.txt"), str(wheel)]


def install(wheel: Path, folder: Path) -> Installation:
    """Install a wheel with its declared dependencies, without extras. Skips the test if there is no network."""
    ran(PYTHON, "-m", "venv", "--without-pip", folder)
    made = Installation(folder)
    (folder / "home").mkdir()
    done = subprocess.run(installing(wheel, made.python), capture_output=True, text=True, check=False)
    if done.returncode and OFFLINE.search(done.stderr):
        pytest.skip("the package index cannot be reached, so the declared dependencies cannot be installed")
    assert done.returncode == 0, done.stderr
    return made
