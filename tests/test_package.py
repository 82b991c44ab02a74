"""Tests of the package as users get it: the wheel and the sdist, each installed into an empty environment."""

from __future__ import annotations

import ast
import json
import re
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.packages import PYTHON, ROOT, Installation, build_sdist, build_wheel, install, ran, unpacked
from support.submissions import prose, write

PACKAGE = ROOT / "python" / "lookalike"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
#: Files that must be in the package beside its modules.
DATA = [
    "py.typed",
    "_core.pyi",
    "rendering/html/templates/overview.html",
    "rendering/html/templates/overview.css",
    "rendering/html/templates/overview.js",
    "rendering/html/templates/pair.html",
    "demo/material/notices.jsonl",
]
#: What no archive may hold.
UNWANTED = re.compile(r"(^|/)(tests?|bench|quality|fuzz|target|out|\.venv|__pycache__)/|\.py[cod]$|\.orig$|~$")
#: Names under which declared packages are imported, where they differ from the declared one.
MODULES = {"backports-zstd": "backports", "backports.zstd": "backports"}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_sdist(tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="session", params=["wheel", "sdist"])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made: Path = request.getfixturevalue(request.param)
    folder = tmp_path_factory.mktemp("installed")
    if request.param == "sdist":
        made = build_wheel(unpacked(made, folder / "source"), folder / "wheels")
    return install(made, folder / "environment")


def sources() -> set[str]:
    """Return the package's files in the repository, without what interpreters and builds leave there."""
    found = (path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(PACKAGE).as_posix() for path in found if path.suffix != ".so"}


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in names if UNWANTED.search(name)] == []
    assert {name.split("/")[0] for name in names} == {"lookalike", f"lookalike-{version()}.dist-info"}
    held = {
        name.removeprefix("lookalike/") for name in names if name.startswith("lookalike/") and not name.endswith("/")
    }
    assert held == sources() | {"_core.abi3.so"}
    assert held.issuperset(DATA)
    assert len([name for name in held if name.startswith("demo/material/class/")]) >= 16
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_the_sdist_holds_the_sources_of_the_repository(sdist: Path):
    """The same bytes for every source, so that what Cargo built from the one holds for the other."""
    with tarfile.open(sdist) as archive:
        root = f"lookalike-{version()}/"
        held = {one.name.removeprefix(root): archive.extractfile(one) for one in archive if one.isfile()}
        written = {"PKG-INFO", "Cargo.toml", "pyproject.toml"}
        contents = {name: file.read() for name, file in held.items() if file and name not in written}
    package = {f"python/lookalike/{name}" for name in sources()}
    assert {name for name in contents if name.startswith("python/")} == package
    assert {"Cargo.lock", "LICENSE", "README.md", "crates/core/src/lib.rs"} <= contents.keys()
    assert [name for name in contents if not name.startswith("crates/") and UNWANTED.search(name)] == []
    assert [name for name, content in contents.items() if content != (ROOT / name).read_bytes()] == []


def test_an_unpacked_sdist_is_as_old_as_the_sources_of_the_repository(sdist: Path, tmp_path: Path):
    """Older dates would let Cargo build from what it made of an earlier sdist."""
    found = unpacked(sdist, tmp_path)
    rust = [path.relative_to(found) for path in found.rglob("*.rs")]
    assert len(rust) > 100
    assert [name for name in rust if (found / name).stat().st_mtime_ns != (ROOT / name).stat().st_mtime_ns] == []


def version() -> str:
    """Return the version that Cargo.toml states."""
    return str(tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"])


def test_the_metadata_say_who_what_and_for_whom(wheel: Path):
    archive = zipfile.ZipFile(wheel)
    metadata = archive.read(f"lookalike-{version()}.dist-info/METADATA").decode().split("\n\n")[0]
    assert "Author: the lookalike developers" in metadata
    assert "Requires-Python: >=3.11.5" in metadata
    assert "License-Expression: Apache-2.0" in metadata
    assert "Classifier: Typing :: Typed" in metadata
    for minor in range(11, 15):
        assert f"Classifier: Programming Language :: Python :: 3.{minor}" in metadata


def test_the_installed_program_works_and_writes_nothing_beside_itself(installed: Installation, tmp_path: Path):
    before = installed.files()
    assert installed.run("lookalike", "--version", cwd=tmp_path) == f"lookalike, version {version()}\n"
    runs_the_demo(installed, tmp_path)
    compares(installed, tmp_path)
    deduplicates(installed, tmp_path)
    assert [name for name in installed.files() - before if "__pycache__" not in name] == []


def runs_the_demo(installed: Installation, folder: Path) -> None:
    """Run the demo, which compares a class and deduplicates a corpus."""
    assert "report.html" in installed.run("lookalike", "demo", "--out", "demo", cwd=folder)
    assert (folder / "demo" / "report.html").stat().st_size > 10_000
    assert any((folder / "demo" / "pairs").iterdir())


def compares(installed: Installation, folder: Path) -> None:
    """Compare three submissions, two of which share a text."""
    shared = prose(1)
    write(folder / "in", {"a.txt": shared, "b.txt": shared + prose(2), "c.txt": prose(3)})
    facts = json.loads(installed.run("lookalike", "compare", "in", "--out", "report", "--json", cwd=folder))
    (pair,) = facts["pairs"]
    assert [facts["entries"][pair[side]]["name"] for side in ("left", "right")] == ["a.txt", "b.txt"]
    assert (folder / "report" / "report.html").exists()


def deduplicates(installed: Installation, folder: Path) -> None:
    """Remove an identical row and a near-duplicate from JSON Lines."""
    texts = [prose(1), prose(2), prose(1), prose(2) + " And more."]
    rows = [json.dumps({"id": at, "text": text}) + "\n" for at, text in enumerate(texts)]
    (folder / "rows.jsonl").write_text("".join(rows))
    installed.run("lookalike", "dedup", "rows.jsonl", "-o", "kept.jsonl", cwd=folder)
    kept = [json.loads(line)["id"] for line in (folder / "kept.jsonl").read_text().splitlines()]
    assert len(kept) == 2


#: Imports every module and prints, for those that cannot be imported, which package is missing.
IMPORTS = """
import importlib, json, pkgutil, lookalike
missing = {}
for one in pkgutil.walk_packages(lookalike.__path__, "lookalike."):
    if ".demo.material" in one.name or one.name == "lookalike.__main__":
        continue
    try:
        importlib.import_module(one.name)
    except ModuleNotFoundError as error:
        missing[one.name] = error.name.split(".")[0]
    except lookalike.MissingExtraError as error:
        missing[one.name] = error.__context__.name.split(".")[0]
print(json.dumps(missing))
"""


#: What needs packages of an extra, by the extra.
OF_EXTRAS = {"lab": "lookalike.lab.", "serve": "lookalike.service.", "scrapy": "lookalike.scrapy"}


def test_modules_lack_only_packages_of_their_extra(installed: Installation, tmp_path: Path):
    missing = json.loads(installed.run("python", "-c", IMPORTS, cwd=tmp_path))
    for extra, module in OF_EXTRAS.items():
        lacked = {missing.pop(name) for name in list(missing) if name.startswith(module)}
        assert lacked
        assert lacked <= names(PROJECT["optional-dependencies"][extra])
    assert missing == {}


#: Reads a file for which an extra is needed, and prints why that fails.
WITHOUT_EXTRA = """
import lookalike
try:
    lookalike.dedup("rows.parquet", out="out.parquet")
except ImportError as error:
    print(error)
"""


def test_a_missing_extra_is_named(installed: Installation, tmp_path: Path):
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    told = installed.run("python", "-c", WITHOUT_EXTRA, cwd=tmp_path)
    assert told.endswith('run pip install "lookalike[data]"\n')


#: A user's program, which a strict type checker accepts.
TYPED = """
import lookalike

found: lookalike.Fingerprints = lookalike.fingerprint("some text", k=5, t=8)
print(len(found), lookalike.hamming(1, 2) + 1)
"""


def test_a_type_checker_reads_the_installed_package(installed: Installation, tmp_path: Path):
    checker = [
        PYTHON,
        "-m",
        "mypy",
        "--strict",
        "--python-executable",
        installed.python,
        "--cache-dir",
        tmp_path / "cache",
    ]
    (tmp_path / "good.py").write_text(TYPED)
    (tmp_path / "bad.py").write_text(TYPED.replace("t=8", "tt=8"))
    assert "Success" in ran(*checker, "good.py", cwd=tmp_path)
    with pytest.raises(AssertionError, match='Unexpected keyword argument "tt" for "fingerprint"'):
        ran(*checker, "bad.py", cwd=tmp_path)


def names(requirements: list[str]) -> set[str]:
    """Return the modules of declared requirements."""
    declared = (re.split(r"[\s<>=!~;\[]", one)[0] for one in requirements)
    return {MODULES.get(name, name) for name in declared}


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the top-level names that a module imports at run time, and whether it does so as soon as it is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    checked = [
        node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    ]
    skipped = {id(below) for node in checked for one in node.body for below in ast.walk(one)}
    at_once = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name.split(".")[0], id(node) in at_once) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0], id(node) in at_once


def test_the_citation_names_this_version_and_the_four_papers():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {version()}\n" in citation
    assert re.findall(r"doi: (\S+)", citation) == [
        "10.1145/872757.872770",
        "10.1109/SEQUEN.1997.666900",
        "10.1007/3-540-45123-4_1",
        "10.1145/1242572.1242592",
    ]


def test_the_paths_that_contributors_are_told_exist():
    told = re.findall(r"`([\w.-]+/[\w./-]*)`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    paths = [path for path in told if not re.search(r"NAME|COMMAND", path)]
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []


#: Folders whose modules are loaded only where the packages of their extra are wanted.
FOLDERS_OF_EXTRAS = {"lab", "service", "scrapy"}


def test_every_import_is_of_a_declared_package():
    own = set(sys.stdlib_module_names) | {"lookalike", "compression"}
    needed = names(PROJECT["dependencies"])
    extras = {name for extra in PROJECT["optional-dependencies"].values() for name in names(extra)} - {"lookalike"}
    modules = [path for path in PACKAGE.rglob("*.py") if "material" not in path.parts]
    for path in modules:
        for name, at_once in imports(path):
            is_extra = not FOLDERS_OF_EXTRAS.isdisjoint(path.relative_to(PACKAGE).parts[:1])
            allowed = own | needed | (extras if is_extra or not at_once else set())
            assert name in allowed, f"{path.relative_to(ROOT)} imports {name}"
