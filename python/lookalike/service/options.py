"""Options in the query string of a request: the same parameters as on the command line, with the same checks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl

from lookalike import _types
from lookalike.params import Parameter
from lookalike.service.faults import Fault, FaultError

#: Most options of one request.
_MOST = 100
_TRUTHS = {"true": True, "1": True, "": True, "false": False, "0": False}


def chosen(query: bytes, parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Return the values of all parameters; those that are not given have their default. Errors: ``FaultError``."""
    known = {parameter.name: parameter for parameter in parameters}
    values: dict[str, Any] = {}
    for name, text in _pairs(query):
        parameter = known.get(name.replace("-", "_"))
        if parameter is None:
            there = ", ".join(known) or "none"
            raise refused(f"parameter `{name}` is not known: use some of {there}")
        value = _value(parameter, text)
        if parameter.many:
            values.setdefault(parameter.name, []).append(value)
        elif parameter.name in values:
            raise refused(f"parameter `{parameter.name}` is given twice: give it once")
        else:
            values[parameter.name] = value
    return {name: parameter.default for name, parameter in known.items()} | values


def refused(message: str) -> FaultError:
    """Return the error for a parameter that is out of range."""
    return FaultError(Fault(422, "bad-parameter", message))


def _pairs(query: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            query.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(query),
            errors="strict",
            max_num_fields=_MOST,
        )
    except ValueError:
        raise FaultError(Fault(400, "bad-query", "the query string is not of the form name=value&name=value")) from None


def _value(parameter: Parameter, text: str) -> Any:
    """Return a value as its parameter has it. Errors: ``FaultError``."""
    name = parameter.name
    if parameter.kind is bool:
        if text.lower() not in _TRUTHS:
            raise refused(f"{name} `{text}` is no truth value: use true or false")
        return _TRUTHS[text.lower()]
    if parameter.kind in (int, float):
        try:
            number = _types.whole(text) if parameter.kind is int else _types.decimal(text)
        except ValueError:
            raise refused(f"{name} `{text[:100]}` is not a number: use the digits 0 to 9") from None
        if refusal := parameter.refusal(number):
            raise refused(f"{name} `{text[:100]}` {refusal}")
        return number
    if parameter.choices and text not in parameter.choices:
        raise refused(f"{name} `{text[:100]}` is not known: use one of {', '.join(parameter.choices)}")
    return text
