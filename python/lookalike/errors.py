"""The exceptions of this package. All are a ``LookalikeError``; errors of the system stay plain ``OSError``.

Each is also the built-in error that says what kind it is, so ``except ValueError`` catches a refused parameter. They
pickle, so that they reach the caller from another process.
"""

from __future__ import annotations

from lookalike._core import (
    DamagedError,
    FormatError,
    FrontendError,
    LockedError,
    LookalikeError,
    ParameterError,
    VersionError,
)


class MissingExtraError(LookalikeError, ImportError):
    """A command needs packages of an extra that is not installed; the message names the exact install."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f'{what} needs packages that are not installed: run pip install "lookalike[{extra}]"')
        self._asked = what, extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        """Tell pickle how to make the exception again: its message alone would not do."""
        return type(self), self._asked


class NoSpaceError(LookalikeError, OSError):
    """There is no room for an output; what was written of it is removed, and the message tells what is needed."""


class ServiceError(LookalikeError, RuntimeError):
    """A server refused a request, or could not be reached; ``status`` is 0 then. ``code`` stays between versions."""

    def __init__(self, message: str, status: int = 0, code: str = "unreachable") -> None:
        super().__init__(message)
        self.status, self.code = status, code

    def __reduce__(self) -> tuple[type[ServiceError], tuple[str, int, str]]:
        """Tell pickle how to make the exception again: its message alone would not do."""
        return type(self), (str(self), self.status, self.code)


class TooManyErrorsError(LookalikeError, ValueError):
    """More rows of a corpus could not be read than the caller allowed."""


class LedgerError(LookalikeError, ValueError):
    """A ledger is damaged, not one of ours, or not that of these files."""


__all__ = [
    "DamagedError",
    "FormatError",
    "FrontendError",
    "LedgerError",
    "LockedError",
    "LookalikeError",
    "MissingExtraError",
    "NoSpaceError",
    "ParameterError",
    "ServiceError",
    "TooManyErrorsError",
    "VersionError",
]
