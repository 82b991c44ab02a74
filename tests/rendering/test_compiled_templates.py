"""Compiled templates go to the user's cache folder; the package folder is never written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lookalike.rendering.html import compiled, frame

PACKAGE = Path(frame.__file__).parents[3]


def rendered(package: Path, **environment: str) -> str:
    """Render a page in a process of its own; return what it says about the environment of templates."""
    code = (
        "from lookalike.rendering.html import frame\n"
        "environment = frame._templates()\n"
        "environment.get_template('overview.html'), environment.get_template('pair.html')\n"
        "print('done')"
    )
    kept = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    variables = kept | {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"} | environment
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout


def files(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.skipif(sys.platform != "linux", reason="the folder is the platform's")
def test_they_are_kept_in_the_cache_folder_and_used_again(tmp_path: Path):
    assert rendered(PACKAGE, XDG_CACHE_HOME=str(tmp_path)) == "done\n"
    kept = sorted((tmp_path / "lookalike").glob("templates-*/*"))
    assert len(kept) >= 2
    times = [path.stat().st_mtime_ns for path in kept]
    rendered(PACKAGE, XDG_CACHE_HOME=str(tmp_path))
    assert [path.stat().st_mtime_ns for path in kept] == times


def test_a_read_only_package_folder_is_enough(tmp_path: Path):
    """Nothing is written there either by a user who may write anywhere."""
    package, home = tmp_path / "package", tmp_path / "home"
    home.mkdir()
    shutil.copytree(PACKAGE / "lookalike", package / "lookalike", ignore=shutil.ignore_patterns("__pycache__"))
    folders = [path for path in [package, *package.rglob("*")] if path.is_dir()]
    for path in folders:
        path.chmod(0o555)
    try:
        before = files(package)
        assert rendered(package, XDG_CACHE_HOME=str(home), HOME=str(home)) == "done\n"
        assert files(package) == before
    finally:
        for path in folders:
            path.chmod(0o755)


@pytest.mark.parametrize("kind", ["a file", "read-only", "damaged"])
def test_a_cache_that_cannot_be_used_is_no_error(tmp_path: Path, kind: str):
    if kind == "a file":
        (tmp_path / "lookalike").write_text("in the way", encoding="utf-8")
    elif kind == "read-only":
        tmp_path.chmod(0o500)
    else:
        rendered(PACKAGE, XDG_CACHE_HOME=str(tmp_path), HOME=str(tmp_path))
        for path in tmp_path.rglob("templates-*/*"):
            path.write_bytes(path.read_bytes()[:-100])
    try:
        assert rendered(PACKAGE, XDG_CACHE_HOME=str(tmp_path), HOME=str(tmp_path)) == "done\n"
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/cache"}, "/cache/lookalike"),
        ("linux", {"XDG_CACHE_HOME": "not/absolute", "HOME": "/home/me"}, "/home/me/.cache/lookalike"),
        ("linux", {"HOME": "/home/me"}, "/home/me/.cache/lookalike"),
        ("darwin", {"HOME": "/Users/me"}, "/Users/me/Library/Caches/lookalike"),
        ("win32", {"LOCALAPPDATA": "/Local"}, "/Local/lookalike/Cache"),
        ("win32", {}, None),
    ],
)
def test_the_folder_is_the_one_of_the_platform(
    monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], expected: str | None
):
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    found = compiled.cache_folder()
    assert (found and found.as_posix()) == expected


def test_another_template_has_another_file(tmp_path: Path):
    from jinja2 import DictLoader, Environment

    cache = compiled.compiled_templates()
    assert cache is not None
    buckets = [
        cache.get_bucket(Environment(loader=DictLoader({})), "page.html", None, source) for source in ("one", "two")
    ]
    assert len({compiled._path(tmp_path, bucket) for bucket in buckets}) == 2
