"""Sends a step to the workers of a cluster: a function of Arrow batches, its arguments, and what it expects there.

What travels is a closure that needs nothing of this package until it has compared versions. So a worker with another
version refuses by name, where otherwise a function would be missing or, worse, would answer by other rules.

Arguments are plain values: numbers, strings, tuples, dicts. A worker fills in the parameters again from what the caller
gave, which both do by the same code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from lookalike import _core
from lookalike.deduplication.settings import Settings, settings
from lookalike.errors import LookalikeError, ParameterError, VersionError

if TYPE_CHECKING:
    import pyarrow as pa

Batches = Iterator["pa.RecordBatch"]
#: Stands before what a worker says that its user should read, and after it.
_TOLD = re.compile(r"lookalike on a worker: (.*?) ⏹", re.DOTALL)
#: What must be the same everywhere: the package, and the rules by which texts become numbers.
VERSIONS = ("__version__", "TEXT_VERSION", "SHINGLE_VERSION", "SKETCH_VERSION", "SIMHASH_VERSION")


def versions() -> dict[str, str]:
    """Return the versions of this process."""
    return {name: str(getattr(_core, name)) for name in VERSIONS}


def shipped(step: str, *arguments: Any, expected: dict[str, str] | None = None) -> Callable[[Batches], Batches]:
    """Return a function of batches that runs ``module.function`` of this package on a worker, if versions agree."""
    module, function = step.rsplit(".", 1)
    asked = versions() if expected is None else expected

    def run(batches: Batches) -> Batches:
        import socket
        from importlib import import_module

        def refuse(reason: str) -> None:
            raise RuntimeError(f"lookalike on a worker: worker `{socket.gethostname()}` {reason} ⏹")

        try:
            core = import_module("lookalike._core")
        except ImportError:
            refuse("has no lookalike: install it there, or send it with spark.archives")
        for name, wanted in asked.items():
            found = str(getattr(core, name, "none"))
            if found != wanted:
                what = "lookalike" if name == "__version__" else f"lookalike with {name}"
                refuse(f"has {what} {found}, and the driver has {wanted}: install the same on both")
        yield from getattr(import_module(module), function)(batches, *arguments)

    return run


@contextmanager
def told() -> Iterator[None]:
    """Turn what a worker refused into an error that says it in one sentence. Errors: ``VersionError``."""
    try:
        yield
    except LookalikeError:
        raise
    except Exception as error:
        # A traceback may show the line of the program too, before what it said.
        found = _TOLD.findall(str(error))
        if not found:
            raise
        raise VersionError(found[-1]) from None


@cache
def _filled(items: tuple[tuple[str, Any], ...]) -> Settings:
    return settings(**dict(items))


def filled(chosen: dict[str, Any]) -> Settings:
    """Fill in the parameters of a job, once per process. Errors: ``ParameterError``."""
    return _filled(tuple(sorted(chosen.items())))


def plain(chosen: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as plain values. Errors: ``ParameterError`` for one that cannot travel."""
    made: dict[str, Any] = {}
    for name, value in chosen.items():
        if name == "filter" and value is not None and not isinstance(value, str):
            k, s, r = (value.k, value.s, value.r) if hasattr(value, "k") else value
            value = f"{k},{s},{r}"
        elif isinstance(value, list | set | tuple | frozenset):
            value = tuple(value)
        if value is not None:
            made[name] = value
    for name in ("format", "max_errors", "threads"):
        if name in made:
            raise ParameterError(f"{name} has no meaning on a cluster: leave it out")
    return made
