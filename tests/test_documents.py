"""The documentation is true: it builds without a warning, its links lead somewhere, its examples run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from docs.tools import blocks, commands, examples, pictures, surface
from lookalike import lab, params
from lookalike.cli.main import cli

ROOT = blocks.ROOT
PAGES = blocks.pages()
MOST_BYTES = 300_000
#: Words that no page may hold: each was rewritten once (STYLE: plain words).
MANNERED = ("the like of it", "that goes", "nobody's own", "a row a document", "for the sake of", "what pays")


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


every_page = pytest.mark.parametrize("page", PAGES, ids=named)


# --- the site ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx", reason="sphinx is not installed: `make test` installs it")
    out = tmp_path_factory.mktemp("site")
    order = [sys.executable, "-m", "sphinx", "-q", "-E", "-W", "--keep-going", "-b", "html"]
    built = subprocess.run([*order, "docs", str(out)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return out


def test_the_site_builds_without_a_warning(site: Path):
    assert (site / "index.html").is_file()
    assert (site / "howto" / "index.html").is_file()


def test_the_site_loads_nothing_from_the_network(site: Path):
    for page in site.rglob("*.html"):
        assert not re.search(r"""<(?:script|img|iframe)[^>]+src=["']?(?:https?:)?//""", text(page)), page.name
        assert not re.search(r"""<link[^>]+rel="stylesheet"[^>]+href="(?:https?:)?//""", text(page)), page.name


def test_every_link_of_the_site_leads_somewhere(site: Path):
    anchors = {page: set(re.findall(r'\sid="([^"]+)"', text(page))) for page in site.rglob("*.html")}
    for page in anchors:
        for target in re.findall(r'<a [^>]*href="([^"]+)"', text(page)):
            if re.match(r"\w+:", target) or page.name in ("search.html", "genindex.html", "py-modindex.html"):
                continue
            path, _, anchor = target.partition("#")
            place = (page.parent / path).resolve() if path else page
            assert place.exists(), f"{page.name} links to {target}"
            assert not anchor or anchor in anchors.get(place, {anchor}), f"{page.name} links to {target}"


def test_every_page_is_in_the_site(site: Path):
    for page in ROOT.glob("docs/**/*.md"):
        assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).is_file(), named(page)


# --- links in the repository ------------------------------------------------------------------------------------------


def slugs(page: Path) -> set[str]:
    """Anchors of a page as GitHub makes them."""
    lines = re.sub(r"^```.*?^```$", "", text(page), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", lines, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@every_page
def test_links_and_anchors_lead_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text(page))):
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        if "://" in target:
            continue
        assert place.exists(), f"{named(page)} links to {target}"
        assert not anchor or anchor in slugs(place), f"{named(page)} links to {target}"


# --- examples ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "page", [one for one in PAGES if any(map(examples.is_run, blocks.blocks(text(one))))], ids=named
)
def test_examples_run_and_print_what_the_page_shows(page: Path):
    assert examples.check(page) == []


def command_of(call: list[str]) -> tuple[click.Command, click.Context, list[str]]:
    """The command that a call names, and the rest of its words."""
    command: click.Command = cli
    context, words = click.Context(cli), list(call)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        assert words[0] in command.commands, f"`lookalike {' '.join(call)}` names no command"
        command = command.commands[words.pop(0)]
        context = click.Context(command, parent=context)
    return command, context, words


def check_call(call: list[str]) -> None:
    """Parse a call as click does, but open no file. A word in capitals stands for a value."""
    command, context, words = command_of(call)
    given, left, _ = command.make_parser(context).parse_args(words)
    assert not left, f"`lookalike {' '.join(call)}` has words that nothing takes: {left}"
    for parameter in command.params:
        value = given.get(parameter.name or "")
        if isinstance(parameter.type, click.Path | click.File) or not isinstance(value, str) or value.isupper():
            continue
        parameter.type.convert(value, parameter, context)


@every_page
def test_commands_in_the_pages_exist_with_their_options(page: Path):
    for block in blocks.blocks(text(page)):
        if block.language in ("sh", "console"):
            for call in blocks.calls(block):
                check_call(call)


@pytest.mark.parametrize("call", ["compare x --no-such-option", "no-such-command", "dedup x --method none -o y"])
def test_a_wrong_command_in_a_page_is_found(call: str):
    with pytest.raises((AssertionError, click.UsageError)):
        check_call(call.split())


@pytest.mark.parametrize(
    ("block", "is_right"),
    [
        ("```console\n$ echo right\nright\n```", True),
        ("```console\n$ echo right\nwrong\n```", False),
        ("```console\n$ seq 9\n1\n…\n9\n```", True),
        ("```console\n$ seq 9\n1\n…\n8\n```", False),
        ("```python\nassert 1\n```", True),
        ("```python\na = 1\n```\n\n```python\nassert a == 1\n```", True),
        ("```python\nassert 0\n```", False),
        ("```python\nexit()\n```", False),
    ],
)
def test_a_wrong_example_in_a_page_is_found(
    block: str, is_right: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(examples, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(f"{block}\n", encoding="utf-8")
    assert (examples.check(page) == []) == is_right


def test_examples_are_renewed(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("before\n```console\n$ echo a\nb\n$ echo c\nc\n```\nafter\n", encoding="utf-8")
    assert examples.write(page)
    assert text(page) == "before\n```console\n$ echo a\na\n$ echo c\nc\n```\nafter\n"
    assert not examples.write(page)


def test_console_blocks_hold_commands_only():
    for page in PAGES:
        for block in blocks.blocks(text(page)):
            assert block.language != "console" or block.text.startswith(blocks.PROMPT), named(page)


# --- what the pages must name -----------------------------------------------------------------------------------------


def test_the_reference_names_every_command_and_option():
    page = commands.page()
    for name, command in cli.commands.items():
        assert f"## lookalike {name}\n" in page
        for option in command.params:
            assert not isinstance(option, click.Option) or f"`{option.opts[-1]}`" in page, f"{name} {option.opts}"


def test_the_reference_names_every_export():
    import lookalike

    page = surface.page()
    exported = [name for name in lookalike.__all__ if callable(getattr(lookalike, name))]
    assert all(f":: lookalike.{name}\n" in page for name in exported)


def test_the_readme_is_a_landing_page():
    readme = text(ROOT / "README.md")
    assert len(readme.splitlines()) <= 200
    assert all(f"`{scheme}`" in readme for scheme in params.SCHEMES)
    assert all(f"lookalike {name}" in readme for name in cli.commands)
    assert "make demo" in readme
    assert "make test" in readme


def test_the_guarantees_have_a_row_for_every_scheme():
    page = text(ROOT / "docs" / "guarantees.md")
    assert all(f"\n| `{scheme}`" in page for scheme in params.SCHEMES)


def test_the_figures_of_the_papers_are_experiments():
    page = text(ROOT / "docs" / "papers.md")
    assert set(pictures.FIGURES) <= set(lab.EXPERIMENTS)
    for name in lab.EXPERIMENTS:
        assert f"`{name}`" in page, name
    for name in pictures.FIGURES:
        assert f"pictures/{name}.svg" in page, name


def test_pictures_are_small_and_shown():
    shown = "".join(map(text, PAGES))
    for picture in (ROOT / "docs" / "pictures").iterdir():
        assert picture.stat().st_size < MOST_BYTES, picture.name
        assert f"pictures/{picture.name}" in shown, picture.name


@every_page
def test_pages_use_plain_words(page: Path):
    prose = re.sub(r"^```.*?^```$", "", text(page), flags=re.MULTILINE | re.DOTALL)
    found = [words for words in MANNERED if words in prose]
    assert not found


def test_a_new_picture_is_as_large_as_the_one_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The program that makes pictures still works on the demo's report."""
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not on this machine")
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    pictures.photograph(tmp_path)
    for name in pictures.SHOTS:
        # Width and height stand in bytes 16 to 24 of a PNG.
        kept = (ROOT / "docs" / "pictures" / name).read_bytes()[16:24]
        assert (tmp_path / name).read_bytes()[16:24] == kept, name
