"""What a deduplication may ask of an index: the combinations for which days one by one are all days at once.

Parameters that are not given are those of the index. Everything else is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

from lookalike import params
from lookalike.archive.parameters import Dedup, Parameters
from lookalike.deduplication.settings import Settings, settings
from lookalike.designs.filters import Filter
from lookalike.errors import ParameterError, VersionError

if TYPE_CHECKING:
    from lookalike.archive.parameters import Simhash

#: The values that can be combined with an index.
_ALLOWED = {"method": ("minhash", "exact", "simhash"), "clustering": ("star",), "keep": ("first",)}
#: Parameters that cannot be combined with an index at all.
_REFUSED = ("order", "length_within", "same_language", "contains", "contained")
#: Parameters of how sketches are made, which an index has for ever. Those of containment are not among them.
_KEPT = tuple(field.name for field in fields(Dedup) if field.name != "modulus")


def check(chosen: Mapping[str, Any], others: Mapping[str, Any]) -> None:
    """Refuse what cannot be combined with an index: ``others`` are further arguments. Errors: ``ParameterError``."""
    for name in (name for name, value in others.items() if value is not None and value is not False):
        raise ParameterError(f"{name}=… cannot be combined with index=…: leave it out")
    for name, values in _ALLOWED.items():
        value = chosen.get(name, params.DEDUPLICATION[name].default)
        if value not in values:
            raise ParameterError(
                f"{name} `{value}` cannot be combined with index=…, where an earlier day is never decided again: "
                f"use {' or '.join(values)}"
            )
    for name in _REFUSED:
        if chosen.get(name):
            raise ParameterError(f"{name}=… cannot be combined with index=…: leave it out")
    if chosen.get("recall") == 1:
        raise ParameterError(
            "recall `1` cannot be combined with index=…, which finds pairs by its filter: leave it out"
        )
    if chosen.get("no_verify") and chosen.get("method", "minhash") == "minhash":
        raise ParameterError(
            "no_verify with method `minhash` cannot be combined with index=…: leave it out, or use simhash"
        )


def settings_for(name: str, parameters: Parameters, chosen: dict[str, Any]) -> Settings:
    """Return the settings of a deduplication after the index called ``name``; what is not chosen is the index's.

    Errors: ``ParameterError``, ``VersionError`` if the index was made with other parameters.
    """
    parameters.check_versions(name)
    _check_kind(name, parameters, chosen)
    method = chosen.get("method", "minhash")
    if method == "exact":
        return settings(**chosen)
    theirs = asdict(parameters.dedup)
    if method == "simhash":
        theirs |= {key: getattr(parameters.simhash, key) for key in ("features", "ignore")}
    _check_same(name, theirs, _asked(chosen, parameters.simhash))
    free = {key: value for key, value in chosen.items() if key not in (*_KEPT, "recall")}
    made = settings(**free | {key: theirs[key] for key in _shingled(theirs)} | {"recall": _recall(method)})
    if method == "simhash":
        return made
    filter_ = Filter(*parameters.dedup.filter)
    return replace(made, filter=filter_, size=parameters.dedup.size, recall=chosen.get("recall", params.RECALL.default))


def _recall(method: str) -> float | None:
    """Return a recall for which no filter is designed: the index has one."""
    return 1 if method == "minhash" else None


def _shingled(theirs: Mapping[str, Any]) -> list[str]:
    return [key for key in theirs if key not in ("filter", "size", "modulus")]


def _check_kind(name: str, parameters: Parameters, chosen: Mapping[str, Any]) -> None:
    """Errors: ``VersionError`` if the index does not hold what the method needs."""
    if parameters.kind != "corpus":
        raise VersionError(f"index `{name}` was made for a {parameters.kind}, and dedup needs one made for a corpus")
    method = chosen.get("method", "minhash")
    is_verified = method == "minhash" or (method == "simhash" and not chosen.get("no_verify"))
    needed = {"minhash": "resemblance", "simhash": "distance"}.get(method)
    if needed is not None and needed not in parameters.questions:
        raise VersionError(f"index `{name}` was made without {needed}, and method `{method}` needs it")
    if is_verified and not {"resemblance", "containment"} & set(parameters.questions):
        raise VersionError(f"index `{name}` was made without resemblance, and verification needs it")
    if is_verified and not parameters.texts:
        raise VersionError(
            f"index `{name}` was made without texts, and method `{method}` verifies what it removes: use method exact"
        )


def _asked(chosen: Mapping[str, Any], simhash: Simhash) -> dict[str, Any]:
    """Return those of the chosen parameters that an index has, too, in its form. Errors: ``ParameterError``."""
    asked = {key: value for key, value in chosen.items() if key in _KEPT}
    if "filter" in asked:
        found = Filter.of(asked["filter"])
        asked["filter"] = found.k, found.s, found.r
    if "unit" in asked and "shingle" not in asked:
        asked["shingle"] = params.SHINGLES.get(asked["unit"])
    if chosen.get("method") == "simhash":
        asked |= {key: chosen[key] for key in ("features", "ignore") if key in chosen}
        asked |= {"ignore": params.patterns(asked["ignore"])} if "ignore" in asked else {}
    recall = chosen.get("recall", params.RECALL.default)
    if recall != params.RECALL.default and "filter" not in asked:
        made = settings(**{key: value for key, value in chosen.items() if key not in ("text_column", "id_column")})
        asked["filter"] = None if made.filter is None else (made.filter.k, made.filter.s, made.filter.r)
    return asked


def _check_same(name: str, theirs: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    other = [key for key, value in asked.items() if value != theirs[key]]
    if other:
        raise VersionError(
            f"index `{name}` was made with {_told(other, theirs)}, and {_told(other, asked)} was asked for: "
            "leave it out, or make an index with it"
        )


def _told(names: Iterable[str], values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_value(values[name])}" for name in names)


def _value(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
