"""What all pages share: autoescaped templates, style and script inlined, a policy that lets nothing else run."""

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
from lookalike.rendering.safe import visible

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
#: Pages that look like another one, and then some.
_LIKE = {"dedup": ("overview.css",)}
#: JSON inside a script element must not end it, nor hold what a script's parser takes for a line end.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def page(kind: str, **values: Any) -> str:
    """Return a page of one kind with these values: its template, style and script go by that name."""
    return _templates().get_template(f"{kind}.html").render(values, **_inlined(kind))


def data_block(value: Any) -> str:
    """Return JSON that may stand in a script element."""
    return json.dumps(value, separators=(",", ":")).translate(_ESCAPES)


def percent(share: float) -> str:
    """Print a share as a whole percentage; only what is all of it is 100 %."""
    rounded = round(share * 100)
    return f"{min(rounded, 99) if share < 1 else rounded} %"


def lines(first: int, last: int) -> str:
    """Print a range of lines."""
    return str(first) if first == last else f"{first}–{last}"


def title(report: Report) -> str:
    """Return what the report is called: as asked, else by what was compared."""
    return visible(report.parameters.get("title") or f"Comparison of {counted(len(report.entries), 'submission')}")


def parameters(report: Report) -> list[tuple[str, str]]:
    """Return the parameters as people read them; the title stands above."""
    asked = {name: value for name, value in report.parameters.items() if name not in ("title", "thresholds")}
    shown = [(visible(name).replace("_", " "), visible(plain(value))) for name, value in asked.items()]
    return [*shown, ("k and t", thresholds(report))]


def thresholds(report: Report) -> str:
    """Print k and t of the languages that were met, those with the same together."""
    languages: dict[tuple[int, ...], list[str]] = {}
    for language, both in report.parameters.get("thresholds", {}).items():
        languages.setdefault(tuple(both), []).append(visible(language))
    told = (f"k = {k}, t = {t} for {' and '.join(names)}" for (k, t), names in languages.items())
    return "; ".join(told) or "by language, and none was met"


def plain(value: object) -> str:
    """Print a parameter's value as people read it."""
    if value is None or isinstance(value, bool):
        return {True: "yes", False: "no", None: "not set"}[value]
    return ", ".join(map(plain, value)) if isinstance(value, (list, tuple)) else str(value)


#: What people call the formats.
_FORMATS = {"pdf": "PDF", "docx": "Word", "html": "HTML"}


def read_as(file: File) -> str:
    """Say what a file was read as: its language; of a format the format, and the languages in it that are code."""
    if not file.format:
        return visible(file.language)
    code = [language for language in file.language.split("+") if language != "text"]
    return visible(", ".join([_FORMATS.get(file.format, file.format), *code]))


def moment(time: str | None) -> str:
    """Print when something was handed in; the T of ISO 8601 is for programs."""
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
    environment.filters |= {"visible": visible, "percent": percent}
    environment.filters |= {"number": "{:,}".format, "share": "{:.2f}".format}
    environment.globals |= {"lines": lines}
    return environment


@cache
def _inlined(name: str) -> dict[str, str]:
    """Return what is the same on all pages of a kind: style, script, what a score is, and the content security policy.

    Ours may run, nothing else, from nowhere; where there is no script of ours, none.
    """
    from markupsafe import Markup

    style = _lean("look.css", *_LIKE.get(name, ()), f"{name}.css")
    script = _lean(f"{name}.js") if (TEMPLATES / f"{name}.js").exists() else ""
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (style, script)]
    policy = (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; "
        + (f"script-src 'sha256-{hashes[1]}'; " if script else "")
        + "img-src data:; base-uri 'none'; form-action 'none'"
    )
    score = (TEMPLATES / "score.html").read_text(encoding="utf-8")
    return {"style": Markup(style), "script": Markup(script), "score": Markup(score), "policy": policy}


def _lean(*names: str) -> str:
    """Return source files without indentation, blank lines and lines that are only a comment."""
    text = "\n".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)
    text = re.sub(r"^\s*(//.*|/\*.*\*/)?$", "", text, flags=re.MULTILINE)
    return "\n" + "\n".join(line.strip() for line in text.splitlines() if line.strip()) + "\n"
