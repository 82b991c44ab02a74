"""How Sphinx builds the documentation: ``make docs`` writes it to ``out/docs``.

The pages are the Markdown files of this folder, and those of the repository's root, which ``ROOT_PAGES`` gives a place
here. Links are written as they work in the repository; they are turned into links of the site while a page is read.
The site loads nothing from the network.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sphinx.application import Sphinx  # noqa: E402
from sphinx.ext.napoleon import Config, GoogleDocstring  # noqa: E402

import lookalike  # noqa: E402
from docs.tools import commands, surface  # noqa: E402

project = "lookalike"
author = "the lookalike developers"
version = release = lookalike.__version__
html_title = "lookalike"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["tools"]
html_theme = "furo"
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["site"]
html_css_files = ["site.css"]
myst_heading_anchors = 4
# `$ lookalike …` in a text block and tables in ``text`` need no highlighting.
highlight_language = "text"
# Signatures show one argument per line with its type; a class shows its members, not how it is made.
python_maximum_signature_line_length = 88
autodoc_preserve_defaults = True
autodoc_class_signature = "separated"
autodoc_member_order = "bysource"
# A type such as `bytes` is also the name of a member of two classes; the link then goes nowhere, which is right.
suppress_warnings = ["ref.python"]
# `--option` in prose must stay two hyphens.
smartquotes = False

#: Pages of the repository's root, by the page of the site that shows them.
ROOT_PAGES = {
    "index": "README.md",
    "formats": "FORMAT.md",
    "changelog": "CHANGELOG.md",
    "architecture": "ARCHITECTURE.md",
    "contributing": "CONTRIBUTING.md",
}


def _others() -> str:
    """Name the pages of this folder that index.md does not name, so that a new page is in the menu at once."""
    listed = {"index", *(ROOT / "docs" / "index.md").read_text(encoding="utf-8").split()}
    return "\n".join(
        page.stem for page in sorted((ROOT / "docs").glob("*.md")) if not {page.stem, f"<{page.stem}>"} & listed
    )


#: What stands in the place of a comment ``<!-- name -->``.
GENERATED = {"commands": commands.page, "surface": surface.page, "others": _others}
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_PLACE = re.compile(r"<!-- (\S+) -->")
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def _read(_app: Sphinx, name: str, source: list[str]) -> None:
    """Fill in what a page stands for, and turn its links into links of the site."""
    text = _PLACE.sub(lambda place: _content(place, name), source[0])
    if name not in ROOT_PAGES:
        text = _linked(text, PurePosixPath("docs") / f"{name}.md", name)
    source[0] = text


def _content(place: re.Match[str], name: str) -> str:
    if place[1] in GENERATED:
        return GENERATED[place[1]]()
    if place[1] == ROOT_PAGES.get(name):
        return _linked((ROOT / place[1]).read_text(encoding="utf-8"), PurePosixPath(place[1]), name)
    return place[0]


def _linked(text: str, origin: PurePosixPath, name: str) -> str:
    """Turn the links of a page that lies at ``origin`` in the repository; code stays as it is."""
    parts = _FENCED.split(text)
    return "".join(
        part if part.startswith("```") else _LINK.sub(lambda link: _link(link, origin, name), part) for part in parts
    )


def _link(link: re.Match[str], origin: PurePosixPath, name: str) -> str:
    """Turn one link. What is no page of the site, such as a source file, becomes plain text."""
    sign, words, target = link.groups()
    if "://" in target or target.startswith("#"):
        return link[0]
    path, _, anchor = target.partition("#")
    place = os.path.normpath(origin.parent / path)
    pages = {page: f"docs/{site}.md" for site, page in ROOT_PAGES.items()}
    place = pages.get(place, place)
    if not place.startswith("docs/"):
        return words
    here = os.path.relpath(place, PurePosixPath("docs", name).parent)
    return f"{sign}[{words}]({here}{'#' + anchor if anchor else ''})"


def _docstring(app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Read the sections of a docstring (Args, Returns, Example).

    Napoleon as an extension would also take "Note: text" beside an attribute for a type and a text.
    """
    if what not in ("attribute", "property"):
        escaped = [_escaped(line) if line.startswith(":param") else line for line in lines]
        lines[:] = GoogleDocstring(escaped, Config(), app, what, name, value, options).lines()


def _escaped(line: str) -> str:
    """Keep the asterisks of a parameter's help, such as those of `*.py`: they are no emphasis. Literals stay."""
    parts = line.split("``")
    return "``".join(part if i % 2 else part.replace("*", "\\*") for i, part in enumerate(parts))


def setup(app: Sphinx) -> None:
    """Tell Sphinx to ask us about every page and docstring it reads."""
    app.connect("source-read", _read)
    app.connect("autodoc-process-docstring", _docstring)
