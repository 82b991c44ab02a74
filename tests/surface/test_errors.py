"""One base for all errors, each also the built-in one that fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import lookalike as la
from lookalike import errors
from lookalike.documents.reasons import RefusedError

BUILT_IN = {
    "DamagedError": ValueError,
    "FormatError": ValueError,
    "FrontendError": ValueError,
    "LedgerError": ValueError,
    "LockedError": OSError,
    "LookalikeError": Exception,
    "MissingExtraError": ImportError,
    "NoSpaceError": OSError,
    "ParameterError": ValueError,
    "ServiceError": RuntimeError,
    "TooManyErrorsError": ValueError,
    "VersionError": ValueError,
}


def test_every_error_is_in_the_table_above():
    assert BUILT_IN.keys() == set(errors.__all__)


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_error_is_exported_and_of_one_base(name: str):
    kind = getattr(la, name)
    assert name in la.__all__
    assert kind is getattr(errors, name)
    assert issubclass(kind, la.LookalikeError)
    assert issubclass(kind, BUILT_IN[name])
    assert (kind.__module__, kind.__qualname__) == ("lookalike.errors", name)
    assert kind.__doc__


def test_errors_inside_the_package_are_of_that_base_too():
    assert issubclass(RefusedError, la.LookalikeError)


@pytest.mark.parametrize(
    "call",
    [
        lambda: la.fingerprint("text", k=0),
        lambda: la.fingerprint(b"\0\1\2" * 100),
        lambda: la.Sketch.from_bytes(b"no sketch"),
        lambda: la.dedup(5),
        lambda: la.HammingTable.build([1], [1, 2]),
    ],
)
def test_one_clause_catches_what_the_package_raises(call: Callable[[], Any]):
    with pytest.raises(la.LookalikeError):
        call()


def test_no_space_keeps_the_number_of_the_system():
    error = la.NoSpaceError(28, "no space")
    assert (error.errno, error.strerror) == (28, "no space")
