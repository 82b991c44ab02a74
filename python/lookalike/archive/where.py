"""Conditions on the metadata of documents: ``--where year=2025``. The twin of ``questions/conditions.rs``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from lookalike.errors import ParameterError

Where: TypeAlias = Mapping[str, Any]


def matches(meta: bytes | Mapping[str, Any], where: Where | None) -> bool:
    """Tell whether metadata meets all conditions.

    A key is looked up among the ``fields`` of the metadata, then at its top level. Strings are compared as they are,
    numbers and truth values by their JSON.

    :param meta: The metadata of a document, as JSON or as a mapping.
    :param where: Keys and the values they must have.

    >>> matches(b'{"label": "2025", "fields": {"stars": 5}}', {"label": "2025", "stars": 5})
    True
    """
    if not where:
        return True
    found = _loaded(meta)
    fields = found.get("fields")
    fields = fields if isinstance(fields, Mapping) else {}
    return all(_is(fields.get(key, found.get(key)), wanted) for key, wanted in pairs(where))


def pairs(where: Where | None) -> list[tuple[str, str]]:
    """Return conditions as the core takes them: values as strings."""
    return [(key, _written(value)) for key, value in (where or {}).items()]


def parsed(given: Iterable[str]) -> dict[str, str]:
    """Return conditions that were written as ``key=value``. Errors: ``ParameterError``.

    >>> parsed(["year=2025", "person=Ann = Bob"])
    {'year': '2025', 'person': 'Ann = Bob'}
    """
    made: dict[str, str] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or not key:
            raise ParameterError(f"--where `{one}` is not a condition: write a name, = and a value, such as label=2025")
        if made.get(key, value) != value:
            raise ParameterError(f"--where `{key}` has two values, and no document can have both: give one")
        made[key] = value
    return made


def _loaded(meta: bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(meta, Mapping):
        return meta
    try:
        found = json.loads(meta)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is(found: object, wanted: str) -> bool:
    if isinstance(found, str):
        return found == wanted
    return isinstance(found, int | float) and json.dumps(found) == wanted


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
