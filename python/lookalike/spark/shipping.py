"""Sends a step to the workers of a cluster: a function of Arrow batches, its arguments, and what it expects there.

What travels is a closure that needs nothing of this package until it has compared versions. So a worker with another
version refuses by name, where otherwise a function would be missing or, worse, would answer by other rules.

Every step has a number of its own. Spark takes two plans for the same if their steps have the same bytes and their
files the same path; without the number, a job would be given what an earlier one held of files that have changed since.

Arguments are plain values: numbers, strings, tuples, dicts. A worker fills in the parameters again from what the caller
gave, which both do by the same code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import uuid4

from lookalike import _core
from lookalike.deduplication.settings import Settings, settings
from lookalike.errors import LookalikeError, ParameterError, VersionError

if TYPE_CHECKING:
    import pyarrow as pa

Batches = Iterator["pa.RecordBatch"]
#: What a worker says that its user should read: the class of the error, and the sentence.
_TOLD = re.compile(r"lookalike on a worker: (\w+): (.*?) ⏹", re.DOTALL)
#: The errors of this package that a worker may raise, by the name of their class.
_ERRORS = {kind.__name__: kind for kind in (ParameterError, VersionError)}
#: What must be the same everywhere: the package, and the rules by which texts become numbers.
VERSIONS = ("__version__", "TEXT_VERSION", "SHINGLE_VERSION", "SKETCH_VERSION", "SIMHASH_VERSION")


def versions() -> dict[str, str]:
    """Return the versions of this process."""
    return {name: str(getattr(_core, name)) for name in VERSIONS}


def shipped(step: str, *arguments: Any, expected: dict[str, str] | None = None) -> Callable[[Batches], Batches]:
    """Return a function of batches that runs ``module.function`` of this package on a worker, if versions agree."""
    module, function = step.rsplit(".", 1)
    asked = versions() if expected is None else expected
    number = uuid4().hex

    def run(batches: Batches) -> Batches:
        import socket
        from importlib import import_module

        def refuse(reason: str, kind: str = "VersionError") -> NoReturn:
            raise RuntimeError(f"lookalike on a worker: {kind}: {reason} ⏹ step {number}")

        worker = f"worker `{socket.gethostname()}`"
        try:
            core = import_module("lookalike._core")
        except ImportError:
            refuse(f"{worker} has no lookalike: install it there, or send it with spark.archives")
        for name, wanted in asked.items():
            found = str(getattr(core, name, "none"))
            if found != wanted:
                what = "lookalike" if name == "__version__" else f"lookalike with {name}"
                refuse(f"{worker} has {what} {found}, and the driver has {wanted}: install the same on both")
        try:
            yield from getattr(import_module(module), function)(batches, *arguments)
        except import_module("lookalike.errors").ParameterError as error:
            refuse(str(error), "ParameterError")

    return run


@contextmanager
def told() -> Iterator[None]:
    """Turn what a worker refused into an error that says it in one sentence. Errors: ``_ERRORS``."""
    try:
        yield
    except LookalikeError:
        raise
    except Exception as error:
        # A traceback may show the line of the program too, before what it said.
        found = [one for one in _TOLD.findall(str(error)) if one[0] in _ERRORS]
        if missing := re.search(r"No module named '(pyarrow|pandas|numpy|pyspark)'", str(error)):
            raise VersionError(
                f"the Python of the workers has no {missing[1]}: set PYSPARK_PYTHON to one that has it and lookalike, "
                "or send the packages with spark.archives"
            ) from None
        if not found:
            raise
        kind, reason = found[-1]
        raise _ERRORS[kind](reason) from None


@cache
def _filled(items: tuple[tuple[str, type, Any], ...]) -> Settings:
    return settings(**{name: value for name, _, value in items})


def filled(chosen: dict[str, Any]) -> Settings:
    """Fill in the parameters of a job, once per process. Errors: ``ParameterError``."""
    # Without the type, True would be taken for 1, which was checked before.
    return _filled(tuple((name, type(value), value) for name, value in sorted(chosen.items())))


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, list | set | tuple | frozenset):
        return tuple(_plain(name, one) for one in value)
    if isinstance(value, str | bool):
        return value
    if isinstance(value, Real):
        return int(value) if isinstance(value, Integral) else float(value)
    raise ParameterError(f"{name} of type {type(value).__name__} cannot be sent to workers: give a number or a string")


def plain(chosen: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as plain values. Errors: ``ParameterError`` for one that cannot travel."""
    made: dict[str, Any] = {}
    for name, value in chosen.items():
        if name == "filter" and value is not None and not isinstance(value, str):
            k, s, r = (value.k, value.s, value.r) if hasattr(value, "k") else value
            value = f"{k},{s},{r}"
        if value is not None:
            made[name] = _plain(name, value)
    for name in ("format", "max_errors", "max_pairs", "threads"):
        if name in made:
            raise ParameterError(f"{name} has no meaning on a cluster: leave it out")
    return made
