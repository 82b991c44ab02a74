"""Shared by all pages: autoescaped templates, inlined style and script, and a policy that allows nothing else."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike._types import counted
from lookalike.comparison.result import File, Report
from lookalike.rendering.html.compiled import compiled_templates
from lookalike.rendering.safe import told, visible
from lookalike.rendering.wording import amount, decimal, left_aside, percent

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
#: Styles and scripts of each kind of page, in their order; all of them share one scope.
_STYLES = {
    "dedup": ("look.css", "overview.css", "dedup.css"),
    "overview": ("look.css", "overview.css", "lists.css"),
    "pair": ("look.css", "pair.css", "evidence.css"),
    "more": ("look.css", "pair.css", "evidence.css"),
    "query": ("look.css", "overview.css", "dedup.css", "query.css"),
    "moss": ("look.css", "overview.css", "dedup.css"),
}
_PAIR = ("dom.js", "reviews.js", "passages.js", "sides.js", "evidence.js", "pair.js")
_SCRIPTS = {
    "overview": (
        *("dom.js", "reviews.js", "state.js", "ties.js", "table.js", "clusters.js", "timeline.js", "submission.js"),
        "overview.js",
    ),
    "pair": (*_PAIR, "start.js"),
    "more": (*_PAIR, "paint.js", "more.js"),
}
#: JSON inside a script element must not end the element.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def page(kind: str, **values: Any) -> str:
    """Return a page. Its template, style and script are named after its kind."""
    return _templates().get_template(f"{kind}.html").render(values, **_inlined(kind))


def part(name: str, **values: Any) -> str:
    """Return a part of a page, without style and script."""
    return _templates().get_template(f"{name}.html").render(values, score=_score())


def data_block(value: Any) -> str:
    """Return JSON that is safe inside a script element."""
    return json.dumps(value, separators=(",", ":")).translate(_ESCAPES)


def lines(first: int, last: int) -> str:
    """Return a range of lines as text."""
    return str(first) if first == last else f"{first}–{last}"


def title(report: Report) -> str:
    """Return the title of the report: the given one, or the number of submissions that were compared."""
    return visible(report.parameters.get("title") or f"Comparison of {counted(report.compared, 'submission')}")


def parameters(report: Report) -> list[tuple[str, str]]:
    """Return the parameters for people, without the title."""
    asked = {name: value for name, value in report.parameters.items() if name not in ("title", "thresholds")}
    shown = [(visible(name).replace("_", " "), visible(plain(value))) for name, value in asked.items()]
    return [*shown, ("shortest passages", thresholds(report))]


def thresholds(report: Report) -> str:
    """Return k and t for each language in words; languages with the same values share an entry."""
    languages: dict[tuple[int, ...], list[str]] = {}
    for language, both in report.parameters.get("thresholds", {}).items():
        languages.setdefault(tuple(both), []).append(visible(language))
    told = (
        f"{k} {'letters' if names == ['text'] else 'tokens'} shown (k), {t} always found (t) for {' and '.join(names)}"
        for (k, t), names in languages.items()
    )
    return "; ".join(told) or "no language was found"


def plain(value: object) -> str:
    """Return a parameter's value for people."""
    if value is None or isinstance(value, bool):
        return {True: "yes", False: "no", None: "not set"}[value]
    return ", ".join(map(plain, value)) if isinstance(value, (list, tuple)) else str(value)


#: Names of formats for people.
_FORMATS = {"pdf": "PDF", "docx": "Word", "html": "HTML"}


def read_as(file: File) -> str:
    """Return the language a file was read as, or its format and the programming languages in it."""
    if not file.format:
        return visible(file.language)
    code = [language for language in file.language.split("+") if language != "text"]
    return visible(", ".join([_FORMATS.get(file.format, file.format), *code]))


def moment(time: str | None) -> str:
    """Return a time of submission without the T of ISO 8601."""
    shown = visible(time or "")
    return f"{shown[:10]} {shown[11:]}" if shown[10:11] == "T" else shown


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        bytecode_cache=compiled_templates(),
    )
    environment.filters |= {"visible": visible, "told": told, "percent": percent}
    environment.filters |= {"number": "{:,}".format, "amount": amount, "share": decimal, "counted": counted}
    environment.filters["left_aside"] = left_aside
    environment.globals |= {"lines": lines}
    return environment


@cache
def _inlined(name: str) -> dict[str, str]:
    """Return the parts that all pages of a kind share: style, script, the text about scores, and the security policy.

    The policy allows only our own style and script, by their hashes, and nothing from the network.
    """
    from markupsafe import Markup

    style = _lean(*_STYLES[name])
    script = f'"use strict";\n{{{_lean(*_SCRIPTS[name])}}}\n' if name in _SCRIPTS else ""
    hashes = [f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in (style, script)]
    policy = (
        f"default-src 'none'; style-src {hashes[0]}; "
        + (f"script-src {hashes[1]}; " if script else "")
        + "img-src data:; base-uri 'none'; form-action 'none'"
    )
    inlined = {"style": Markup(style), "script": Markup(script), "score": _score(), "policy": policy}
    return inlined | {"style_hash": hashes[0], "script_hash": hashes[1]}


def hashes(kind: str) -> tuple[str, str]:
    """Return the hashes of a page's style and script, as a policy names them, for a page that shows it in a frame."""
    inlined = _inlined(kind)
    return inlined["style_hash"], inlined["script_hash"]


@cache
def _score() -> str:
    """Return what a score means, as HTML."""
    from markupsafe import Markup

    return Markup((TEMPLATES / "score.html").read_text(encoding="utf-8"))


def _lean(*names: str) -> str:
    """Return source files without indentation, blank lines and lines that are only a comment."""
    text = "\n".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)
    text = re.sub(r"^\s*(//.*|/\*.*\*/)?$", "", text, flags=re.MULTILINE)
    return "\n" + "\n".join(line.strip() for line in text.splitlines() if line.strip()) + "\n"
