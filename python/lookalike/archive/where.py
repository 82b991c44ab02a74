"""Conditions on the metadata of documents: ``--where year=2025``. The twin of ``questions/conditions.rs``."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from lookalike.errors import ParameterError

Where: TypeAlias = Mapping[str, Any]
#: Documents that are looked at to explain why nothing was found, and the fields and values that are named.
LOOKED, NAMED_FIELDS, NAMED_VALUES = 10_000, 20, 5


def matches(meta: bytes | Mapping[str, Any], where: Where | None) -> bool:
    """Tell whether metadata meets all conditions.

    A key is looked up among the ``fields`` of the metadata, then at its top level. Strings are compared as they are,
    numbers and truth values by their JSON. A wanted value that ends in ``*`` is met by all values that begin so.

    :param meta: The metadata of a document, as JSON or as a mapping.
    :param where: Keys and the values they must have.

    >>> matches(b'{"label": "2025-hw3", "fields": {"stars": 5}}', {"label": "2025-*", "stars": 5})
    True
    """
    if not where:
        return True
    found = _loaded(meta)
    return all(_is(_value(found, key), wanted) for key, wanted in pairs(where))


def pairs(where: Where | None) -> list[tuple[str, str]]:
    """Return conditions as the core takes them: values as strings."""
    return [(key, _written(value)) for key, value in (where or {}).items()]


def parsed(given: Iterable[str], called: str = "--where") -> dict[str, str]:
    """Return conditions that were written as ``key=value``. Errors: ``ParameterError``, which calls them ``called``.

    >>> parsed(["year=2025", "person=Ann = Bob"])
    {'year': '2025', 'person': 'Ann = Bob'}
    """
    made: dict[str, str] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or not key:
            raise ParameterError(
                f"{called} `{one}` is not a condition: write a name, = and a value, such as label=2025-hw3"
            )
        if made.get(key, value) != value:
            raise ParameterError(f"{called} `{key}` has two values, and no document can have both: give one")
        made[key] = value
    return made


def unmet(where: Where | None, metas: Iterable[bytes]) -> str | None:
    """Return why no document meets the conditions: a field or a value that none has; ``None`` without conditions.

    Only the first ``LOOKED`` documents are looked at. REQUIRES: no document meets all conditions.

    >>> unmet({"label": "2025"}, [b'{"label": "2025-hw1"}', b'{"label": "2025-hw2"}'])
    'no document has label `2025`; values: 2025-hw1, 2025-hw2'
    """
    first = list(itertools.islice(metas, LOOKED if where else 0))
    if not where or not first:
        return None
    if told := unknown(where, first):
        return told
    loaded = [_loaded(meta) for meta in first]
    for key, wanted in pairs(where):
        if not any(matches(one, {key: wanted}) for one in loaded):
            values = sorted({value for one in loaded if (value := _value(one, key)) is not None})
            return f"{_none_of(first)} has {key} `{wanted}`; values: {_listed(values, NAMED_VALUES)}"
    return f"{_none_of(first)} meets all conditions"


def unknown(where: Where | None, metas: Iterable[bytes]) -> str | None:
    """Return which conditions ask for a field that no document has, and the fields there are; ``None`` if none does.

    Only the first ``LOOKED`` documents are looked at. Ask it where nothing was found, for it explains why.

    >>> unknown({"yaer": "2025"}, [b'{"label": "a", "fields": {"year": 2025}}'])
    'no document has a field `yaer`; fields: label, year'
    """
    missing, fields = set(where or {}), set[str]()
    first = list(itertools.islice(metas, LOOKED if missing else 0))
    for found in map(_loaded, first):
        own = found.get("fields")
        named = {**found, **(own if isinstance(own, Mapping) else {})}
        fields |= {key for key, value in named.items() if isinstance(value, str | int | float)}
        missing -= fields
    if not missing or not first:
        return None
    told = " and ".join(f"`{key}`" for key in sorted(missing))
    return f"{_none_of(first)} has a field {told}; fields: {_listed(sorted(fields), NAMED_FIELDS)}"


def _none_of(first: Sequence[bytes]) -> str:
    return "no document" if len(first) < LOOKED else f"none of the first {LOOKED:,} documents"


def _listed(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return (", ".join(names[:most]) or "none") + more


def _loaded(meta: bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(meta, Mapping):
        return meta
    try:
        found = json.loads(meta)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _value(meta: Mapping[str, Any], key: str) -> str | None:
    """Return a value of metadata as conditions are compared with it; ``None`` if it has none."""
    fields = meta.get("fields")
    found = (fields if isinstance(fields, Mapping) else {}).get(key, meta.get(key))
    return found if isinstance(found, str) else json.dumps(found) if isinstance(found, int | float) else None


def _is(found: str | None, wanted: str) -> bool:
    if found is None:
        return False
    return found.startswith(wanted[:-1]) if wanted.endswith("*") else found == wanted


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
