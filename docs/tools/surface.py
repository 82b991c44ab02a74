"""The reference of the Python package, for Sphinx: every exported name, by the part of the package it comes from."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import lookalike
from lookalike import compat

#: Titles by the beginning of a module's name, in the order of the page.
PARTS = {
    "comparison": "Compare submissions",
    "rendering": "Compare submissions",
    "documents": "Compare submissions",
    "deduplication": "Remove near-duplicates",
    "corpora": "Remove near-duplicates",
    "sketches": "Resemblance and containment",
    "simhashes": "Simhash",
    "neighbours": "Fingerprints within a Hamming distance",
    "fingerprints": "Fingerprints of texts",
    "designs": "Designs",
    "tokens": "Your own tokens and formats",
    "frontends": "Your own tokens and formats",
    "errors": "Errors",
}
OTHER = "Other names"
CLASS = ".. autoclass::"
#: Users make small records, such as a ``Filter``, themselves.
MOST_FIELDS = 4


def page() -> str:
    """Return the sections of the page, each with its directives."""
    sections: dict[str, list[str]] = {title: [] for title in [*dict.fromkeys(PARTS.values()), OTHER]}
    for name in lookalike.__all__:
        if not name.startswith("_") and (directive := _directive(name, getattr(lookalike, name))):
            sections[_title(name, getattr(lookalike, name))].append(directive)
    sections["The lab"] = [".. autofunction:: lookalike.lab.run\n\n"]
    sections["Interfaces of other packages"] = [
        f".. automodule:: lookalike.compat.{module.name}\n   :members:\n\n"
        for module in pkgutil.iter_modules(compat.__path__)
    ]
    return "\n".join(_section(title, directives) for title, directives in sections.items() if directives)


def _section(title: str, directives: list[str]) -> str:
    functions_first = sorted(directives, key=lambda directive: (directive.startswith(CLASS), directive))
    return f"## {title}\n\n```{{eval-rst}}\n{''.join(functions_first)}```\n"


def _directive(name: str, value: object) -> str | None:
    """Return what documents a name. Constants have no docstring of their own and are left out."""
    if inspect.isclass(value):
        members = "" if issubclass(value, BaseException) else "   :members:\n"
        if not members or _is_made_by_us(value):
            members += "   :exclude-members: __init__\n"
        return f"{CLASS} lookalike.{name}\n{members}\n"
    return f".. autofunction:: lookalike.{name}\n\n" if callable(value) else None


def _is_made_by_us(value: type) -> bool:
    """Tell whether a class is a result: a record whose constructor no user calls."""
    return is_dataclass(value) and len(fields(value)) > MOST_FIELDS


def _title(name: str, value: object) -> str:
    """Find the part a name belongs to; what the core defines is found by its wrapper's place."""
    if inspect.isclass(value) and issubclass(value, BaseException):
        return PARTS["errors"]
    module = getattr(value, "__module__", "") or ""
    part = next(iter(_parts(module)), "")
    return PARTS.get(part, OTHER)


def _parts(module: str) -> Iterator[str]:
    yield from module.removeprefix("lookalike.").split(".")[:1]
